//! The two screens with all that belongs to their content: looks, pictures, margins, history.

use crate::model::{Row, Size};

use super::budget::Budget;
use super::changed::{Changed, is_local};
use super::cluster::Clusters;
use super::draw::write_csi;
use super::emulator::Emulator;
use super::flow::Flow;
use super::history::{History, HistoryLimit};
use super::line::{Line, Tables, captured_runs};
use super::links::Links;
use super::look::{Look, LookId, Looks, look_id, write_pen};

/// The rows that scroll, and whether positions count from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Margins {
    pub(super) top: u16,
    pub(super) bottom: u16,
    pub(super) is_origin: bool,
}

impl Margins {
    pub(super) fn whole(size: Size) -> Self {
        Self { top: 0, bottom: size.rows - 1, is_origin: false }
    }

    /// Returns how many rows of the screen are above the first that positions count.
    pub(super) fn above(self) -> u16 {
        if self.is_origin { self.top } else { 0 }
    }

    /// Writes the sequences that set these margins; the cursor goes to the first position.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        write_csi(&[self.top + 1, self.bottom + 1], b'r', out);
        out.extend_from_slice(if self.is_origin { b"\x1b[?6h" } else { b"\x1b[?6l" });
    }
}

pub(super) struct Canvas {
    pub(super) emulator: Emulator,
    pub(super) flow: Option<Flow>,
    pub(super) looks: Looks,
    pub(super) clusters: Clusters,
    pub(super) links: Links,
    pub(super) history: History,
    pub(super) budget: Budget,
    /// The primary screen, as it was when the alternate one took its place.
    pub(super) parked: Option<Box<vt100::Screen>>,
    /// The alternate screen, if it was left as it was and could be shown again.
    pub(super) hidden: Option<Box<vt100::Screen>>,
    /// Of the primary and of the alternate screen.
    pub(super) margins: [Margins; 2],
    pub(super) pen: LookId,
    pub(super) rebuilds: u64,
    pub(super) changed: Changed,
    /// How often the tables were asked in vain before they were last swept.
    swept_at: u64,
}

/// What it costs to hand the emulator something, and what each byte of it costs.
const WORK_PER_FLUSH: usize = 200;
const WORK_PER_BYTE: usize = 15;

impl Canvas {
    pub(super) fn new(size: Size, limit: HistoryLimit) -> Self {
        Self {
            emulator: Emulator::new(size),
            flow: None,
            looks: Looks::default(),
            clusters: Clusters::default(),
            links: Links::default(),
            history: History::new(limit),
            budget: Budget::default(),
            parked: None,
            hidden: None,
            margins: [Margins::whole(size); 2],
            pen: 0,
            rebuilds: 0,
            changed: Changed::default(),
            swept_at: 0,
        }
    }

    pub(super) fn size(&self) -> Size {
        self.emulator.size()
    }

    /// Returns the number of cells, which is what an operation on the whole screen costs.
    pub(super) fn cells(&self) -> usize {
        usize::from(self.size().rows) * usize::from(self.size().cols)
    }

    pub(super) fn screen(&self) -> &vt100::Screen {
        self.emulator.screen()
    }

    /// Returns the primary screen, shown or not.
    pub(super) fn primary(&self) -> &vt100::Screen {
        self.parked.as_deref().unwrap_or_else(|| self.emulator.screen())
    }

    pub(super) fn is_alternate(&self) -> bool {
        self.parked.is_some()
    }

    pub(super) fn line(&self, row: u16) -> Line {
        Line::read(self.screen(), row)
    }

    pub(super) fn row(&self, row: u16) -> Row {
        self.line(row).row(self.tables())
    }

    pub(super) fn tables(&self) -> Tables<'_> {
        Tables { looks: &self.looks, clusters: &self.clusters, links: &self.links }
    }

    /// Returns where the cursor is, for the rows as they stand.
    pub(super) fn position(&self) -> (u16, u16) {
        self.emulator.cursor()
    }

    /// Sends what is pending and returns where the cursor is then.
    pub(super) fn cursor(&mut self) -> (u16, u16) {
        self.flush();
        self.emulator.cursor()
    }

    /// Returns the bytes that wait for the emulator, to add whole sequences to.
    pub(super) fn out(&mut self) -> &mut Vec<u8> {
        self.leave_flow();
        self.pending()
    }

    /// Prints text that may hold any character.
    pub(super) fn text(&mut self, text: &str) {
        self.leave_flow();
        self.send(text);
    }

    pub(super) fn send(&mut self, text: &str) {
        let mut rest = text;
        while rest.len() > self.emulator.room() {
            let (part, after) = rest.split_at(rest.floor_char_boundary(self.emulator.room()));
            self.emulator.pending().extend_from_slice(part.as_bytes());
            self.flush();
            rest = after;
        }
        self.pending().extend_from_slice(rest.as_bytes());
    }

    fn pending(&mut self) -> &mut Vec<u8> {
        if self.emulator.is_due() {
            self.flush();
        }
        self.emulator.pending()
    }

    pub(super) fn flush(&mut self) {
        if self.emulator.pending().is_empty() {
            return;
        }
        let length = self.emulator.pending().len();
        self.budget.note_work(WORK_PER_FLUSH + WORK_PER_BYTE * length);
        let (is_local, from) = (self.is_local(), self.emulator.cursor().0);
        let survived = self.emulator.flush();
        let has_scrolled = !self.emulator.scrolled().is_empty();
        if has_scrolled {
            self.collect();
        }
        let to = self.emulator.cursor().0;
        if is_local && !has_scrolled && from <= to {
            self.changed.note_rows(from..=to);
        } else {
            self.changed.note_all();
        }
        if !survived {
            self.rebuilds += 1;
            self.flow = None;
            let cursor = self.emulator.cursor();
            let lines = self.emulator.salvage();
            self.replace(self.size(), &lines, cursor);
        }
    }

    /// Says whether what is pending changes only the rows that the cursor passes, unless some of
    /// them leave the screen.
    fn is_local(&mut self) -> bool {
        let (size, col) = (self.size(), self.emulator.cursor().1);
        let is_caught = !self.is_alternate() && self.margins() == Margins::whole(size);
        let is_followed = self.emulator.scrolled().is_following();
        let bytes = self.emulator.pending();
        // Where nobody tells that rows scroll, there must be nothing that could make them.
        let goes_down = |byte: &u8| matches!(byte, b'\n' | 0x0b | 0x0c);
        let fits = bytes.len() <= usize::from(size.cols.saturating_sub(col));
        let is_still = is_caught || fits && !bytes.iter().any(goes_down);
        !is_followed && is_still && is_local(bytes)
    }

    fn collect(&mut self) {
        let Self { emulator, looks, clusters, links, history, budget, .. } = self;
        let tables = Tables { looks, clusters, links };
        emulator.scrolled().drain(|raw, wrapped| {
            budget.note_work(WORK_PER_BYTE * raw.len());
            history.push(wrapped, |runs| captured_runs(raw, tables, runs));
        });
    }

    /// Makes the emulator print with a look.
    pub(super) fn set_pen(&mut self, look: Look) {
        let id = self.intern(look);
        if id != self.pen {
            self.pen = id;
            self.pen_in_flow();
            write_pen(id, self.pending());
        }
    }

    /// Writes a sequence that erases, so that it leaves the background of the pen.
    pub(super) fn erase(&mut self, pen: Look, params: &[u16], last: u8) {
        let mut erased = Look::default();
        if pen.style.background != erased.style.background {
            erased.style.background = pen.style.background;
            erased.is_erased = true;
        }
        if erased.is_erased || (params, last) != (&[0], b'K') || !self.is_blank_ahead() {
            self.leave_flow();
        }
        self.set_pen(erased);
        write_csi(params, last, self.pending());
        self.set_pen(pen);
    }

    fn intern(&mut self, look: Look) -> LookId {
        if let Some(id) = self.looks.intern(look) {
            return id;
        }
        self.sweep();
        self.looks.intern(look).unwrap_or(0)
    }

    /// Forgets looks, pictures and links that no cell shows any more.
    pub(super) fn sweep(&mut self) {
        // A sweep looks at every cell. Where most entries are in use it would free few, and the next
        // one would soon want another.
        let missed = self.looks.missed() + self.clusters.missed() + self.links.missed();
        let has_many = missed - self.swept_at >= self.cells() as u64 / 4;
        let cost = 32 * self.cells() + self.looks.len();
        if !has_many || !self.budget.afford(cost) {
            return;
        }
        self.swept_at = missed;
        self.flush();
        let mut used = vec![false; self.looks.len()];
        let mut pictures = std::collections::BTreeSet::new();
        let mut mark = |id: LookId| {
            if let Some(slot) = usize::try_from(id).ok().and_then(|id| used.get_mut(id)) {
                *slot = true;
            }
        };
        mark(self.pen);
        let size = self.size();
        for screen in [Some(self.emulator.screen()), self.parked.as_deref()].into_iter().flatten() {
            let cells = (0..size.rows).flat_map(|row| (0..size.cols).map(move |col| (row, col)));
            for cell in cells.filter_map(|(row, col)| screen.cell(row, col)) {
                mark(look_id(cell.fgcolor()));
                pictures.extend(cell.contents().chars().next().filter(|c| !c.is_ascii()));
            }
        }
        let is_used = |id: LookId| usize::try_from(id).is_ok_and(|id| used[id]);
        self.looks.sweep(is_used);
        self.clusters.sweep(|c| pictures.contains(&c));
        self.links.sweep(&self.looks.links().collect());
    }

    pub(super) fn margins(&self) -> Margins {
        self.margins[usize::from(self.is_alternate())]
    }

    pub(super) fn margins_of(&self, side: usize) -> Margins {
        self.margins[side]
    }

    /// Returns the alternate screen that was left as it was.
    pub(super) fn hidden(&self) -> Option<&vt100::Screen> {
        self.hidden.as_deref()
    }

    pub(super) fn set_margins(&mut self, margins: Margins) {
        self.margins[usize::from(self.is_alternate())] = margins;
        margins.write(self.out());
    }

    pub(super) fn reset_margins(&mut self) {
        self.set_margins(Margins::whole(self.size()));
    }

    /// Moves the cursor to a cell of the screen, whatever positions count from.
    pub(super) fn go_to(&mut self, row: u16, col: u16) {
        let row = row.saturating_sub(self.margins().above());
        write_csi(&[row + 1, col + 1], b'H', self.out());
    }

    /// Shows the alternate screen, the cursor where it was.
    pub(super) fn enter_alternate(&mut self, clear: bool) {
        if self.is_alternate() || !self.budget.afford(4 * self.cells()) {
            return;
        }
        let (row, col) = self.cursor();
        self.parked = Some(Box::new(self.emulator.screen().clone()));
        self.hidden = None;
        self.out().extend_from_slice(b"\x1b[?47h");
        if clear {
            self.reset_margins();
            self.clear();
        }
        self.go_to(row, col.min(self.size().cols - 1));
    }

    /// Shows the primary screen again.
    pub(super) fn leave_alternate(&mut self, clear: bool, keep_cursor: bool) {
        if !self.is_alternate() {
            return;
        }
        let (row, col) = self.cursor();
        let hidden = (!clear).then(|| Box::new(self.emulator.screen().clone()));
        if clear {
            self.clear();
        }
        self.out().extend_from_slice(b"\x1b[?47l");
        self.flush();
        (self.parked, self.hidden) = (None, hidden);
        if keep_cursor {
            self.go_to(row, col.min(self.size().cols - 1));
        }
    }

    /// Leaves nothing on the screen that is shown, not even a background.
    fn clear(&mut self) {
        let pen = self.looks.get(self.pen);
        self.erase(Look::default(), &[2], b'J');
        self.set_pen(pen);
    }

    /// Puts what the primary screen shows into the history.
    pub(super) fn commit_screen(&mut self) {
        self.flush();
        let mut lines = self.emulator.lines();
        let used = lines.iter().rposition(|line| !line.spots.is_empty()).map_or(0, |at| at + 1);
        lines.truncate(used);
        for line in &lines {
            self.commit(line);
        }
    }

    pub(super) fn commit(&mut self, line: &Line) {
        let Self { looks, clusters, links, history, .. } = self;
        let tables = Tables { looks, clusters, links };
        history.push(line.is_wrapped, |runs| line.runs(tables, runs));
    }

    /// Starts with two empty screens; the history stays.
    pub(super) fn reset(&mut self) {
        self.emulator = Emulator::new(self.size());
        self.changed.note_all();
        self.flow = None;
        (self.parked, self.hidden) = (None, None);
        self.margins = [Margins::whole(self.size()); 2];
        self.pen = 0;
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.history.memory_bytes()
            + self.looks.memory_bytes()
            + self.clusters.memory_bytes()
            + self.links.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::scanner::Scanner;
    use super::super::terminal::Terminal;
    use super::*;
    use crate::model::{Color, Style};

    fn scan(terminal: &mut Terminal, text: &str) {
        Scanner::default().scan(text.as_bytes(), terminal);
        terminal.canvas.flush();
    }

    fn fail(terminal: &mut Terminal) {
        terminal.canvas.out().extend_from_slice(b"\x1b~");
        terminal.canvas.flush();
    }

    fn texts(canvas: &Canvas) -> Vec<String> {
        (0..canvas.size().rows).map(|row| canvas.row(row).text()).collect()
    }

    #[test]
    fn a_panic_of_the_emulator_costs_neither_rows_nor_cursor_nor_pen() {
        let mut terminal = Terminal::new(Size { rows: 4, cols: 9 }, HistoryLimit::default());
        scan(
            &mut terminal,
            "1\r\n2\r\n3\r\n\x1b[31mkept\r\n👍🏽 and wide \x1b[2;4r\x1b[3;3H\x1b[32m",
        );
        let (before, cursor) = (texts(&terminal.canvas), terminal.canvas.position());
        fail(&mut terminal);
        assert_eq!(terminal.canvas.rebuilds, 1);
        assert_eq!((texts(&terminal.canvas), terminal.canvas.position()), (before, cursor));
        assert!(terminal.canvas.row(2).wrapped);
        scan(&mut terminal, "x\x1b[4;1H\n");
        let green = Style { foreground: Color::Indexed(2), ..Style::default() };
        assert!(terminal.canvas.row(1).runs.iter().any(|run| run.style == green));
        assert_eq!(texts(&terminal.canvas)[0], "3");
        assert_eq!(terminal.canvas.history.committed(), 2);
    }

    #[test]
    fn a_panic_in_the_alternate_screen_keeps_both() {
        let mut terminal = Terminal::new(Size { rows: 3, cols: 9 }, HistoryLimit::default());
        scan(&mut terminal, "main\x1b[?1049h\x1b[Halt");
        fail(&mut terminal);
        assert_eq!(texts(&terminal.canvas), ["alt", "", ""]);
        scan(&mut terminal, "!\x1b[?1049l?");
        assert_eq!(texts(&terminal.canvas), ["main?", "", ""]);
    }
}
