//! A terminal's screen: output in, rows, answers and signals out.

use std::ops::Range;

use crate::model::{Color, Moment, Row, ScreenLink, Size, Style, Underline};

use super::history::HistoryLimit;
use super::look::{Look, look_id};
use super::mode::Modes;
use super::palette::Palette;
use super::restore;
use super::scanner::Scanner;
use super::signal::Signal;
use super::terminal::{CursorShape, HOLD_MAX, Terminal};

/// A screen and its history.
pub struct Screen {
    scanner: Scanner,
    terminal: Terminal,
    generation: u64,
}

/// What came of a chunk of output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// To be written to the application, in this order.
    pub answers: Vec<u8>,
    pub signals: Vec<Signal>,
    /// The emulator failed; the screen was put together again, less a part of this chunk.
    pub rebuilt: bool,
}

/// Where the cursor is and how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub row: u16,
    pub col: u16,
    pub visible: bool,
    pub shape: CursorShape,
}

impl Screen {
    /// Returns an empty screen; a size that no terminal has is brought into range.
    pub fn new(size: Size, limit: HistoryLimit) -> Self {
        let terminal = Terminal::new(size.clamped(), limit);
        Self { scanner: Scanner::default(), terminal, generation: 0 }
    }

    /// Takes output of the application, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8], now: Moment) -> Fed {
        let rebuilds = self.rebuilds();
        self.terminal.now = now;
        self.terminal.released = None;
        let cells = self.terminal.canvas.cells();
        self.terminal.canvas.budget.earn(bytes.len(), cells);
        self.scanner.scan(bytes, &mut self.terminal);
        self.terminal.canvas.flush();
        self.generation += u64::from(!bytes.is_empty());
        Fed {
            answers: std::mem::take(&mut self.terminal.answers),
            signals: std::mem::take(&mut self.terminal.signals),
            rebuilt: self.rebuilds() > rebuilds,
        }
    }

    /// Gives the screen another size. The primary screen keeps its text and wraps it anew; the
    /// application is expected to draw the alternate one again. A larger screen takes rows back
    /// from the history, so read those that are new before.
    pub fn resize(&mut self, size: Size) {
        let size = size.clamped();
        if size != self.size() {
            self.terminal.resize(size);
            self.generation += 1;
        }
    }

    pub fn size(&self) -> Size {
        self.terminal.canvas.size()
    }

    /// Returns a number that grows whenever something visible may have changed.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns a number that grows with every change of a row.
    pub fn changes(&self) -> u64 {
        self.terminal.canvas.changed.count()
    }

    /// Returns what `changes` was right after a row last may have changed.
    pub fn row_changed_at(&self, index: u16) -> u64 {
        self.terminal.canvas.changed.at(index)
    }

    /// Returns a row of the live screen, counted from zero.
    pub fn row(&self, index: u16) -> Row {
        self.terminal.canvas.row(index)
    }

    pub fn rows(&self) -> Vec<Row> {
        (0..self.size().rows).map(|row| self.row(row)).collect()
    }

    pub fn cursor(&self) -> Cursor {
        let (row, col) = self.terminal.canvas.position();
        Cursor {
            row,
            col: col.min(self.size().cols - 1),
            visible: self.terminal.cursor_is_visible,
            shape: self.terminal.cursor_shape,
        }
    }

    /// Returns what the application asked for.
    pub fn modes(&self) -> Modes {
        self.terminal.modes
    }

    pub fn title(&self) -> &str {
        &self.terminal.title
    }

    /// Says whether the application is in the middle of a frame that it wants shown as a whole.
    /// The rows are those of the unfinished frame: do not show them yet.
    pub fn is_held(&self, now: Moment) -> bool {
        self.held_until().is_some_and(|until| now < until)
    }

    /// Returns the moment at which an unfinished frame is shown all the same.
    pub fn held_until(&self) -> Option<Moment> {
        self.terminal.held_since.map(|since| since + HOLD_MAX)
    }

    /// Sets the colours that the application is told when it asks.
    pub fn set_palette(&mut self, palette: Palette) {
        self.terminal.palette = palette;
    }

    /// Returns how many rows ever went to the history.
    pub fn committed(&self) -> u64 {
        self.terminal.canvas.history.committed()
    }

    /// Numbers the history so that this many rows were ever committed: for a screen that was
    /// restored and shall go on counting.
    pub fn set_committed(&mut self, committed: u64) {
        self.terminal.canvas.history.set_committed(committed);
    }

    /// Returns the numbers of the rows that the history still keeps.
    ///
    /// A row that a larger screen took back has no number until it leaves the screen again; so
    /// the range may end before `committed`. A change of the width renumbers the rows if it
    /// takes some back.
    pub fn history_range(&self) -> Range<u64> {
        self.terminal.canvas.history.range()
    }

    pub fn history_row(&self, number: u64) -> Option<Row> {
        self.terminal.canvas.history.row(number)
    }

    /// Returns the live screen as plain text, without blanks and empty rows at the ends.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for row in self.rows() {
            text.push_str(row.text().trim_end());
            text.push('\n');
        }
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    /// Returns the last rows of the history as plain text.
    pub fn history_text(&self, last_lines: usize) -> String {
        let range = self.history_range();
        let count = u64::try_from(last_lines).unwrap_or(u64::MAX);
        let start = range.start.max(range.end.saturating_sub(count));
        let rows = (start..range.end).filter_map(|number| self.history_row(number));
        rows.map(|row| row.text().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// Returns the target of the hyperlink on a cell.
    pub fn link_at(&self, row: u16, col: u16) -> Option<&str> {
        self.terminal.canvas.links.get(self.look_at(row, col).link)
    }

    /// Returns the hyperlinks on the screen, row by row.
    pub fn links(&self) -> Vec<ScreenLink> {
        let size = self.size();
        let mut found: Vec<ScreenLink> = Vec::new();
        for row in 0..size.rows {
            let mut last = 0;
            for col in 0..size.cols {
                let number = self.look_at(row, col).link;
                match found.last_mut() {
                    Some(link) if number != 0 && number == last => link.columns += 1,
                    _ => {
                        if let Some(target) = self.terminal.canvas.links.get(number) {
                            let target = target.to_owned();
                            found.push(ScreenLink { row, col, columns: 1, target });
                        }
                    }
                }
                last = number;
            }
        }
        found
    }

    /// Returns how a cell is underlined, and in which colour.
    pub fn underline_at(&self, row: u16, col: u16) -> (Option<Underline>, Color) {
        let style = self.look_at(row, col).style;
        (style.has(Style::UNDERLINE).then_some(style.underline), style.underline_color)
    }

    fn look_at(&self, row: u16, col: u16) -> Look {
        let cell = self.terminal.canvas.screen().cell(row, col);
        let id = cell.filter(|cell| cell.has_contents()).map_or(0, |cell| look_id(cell.fgcolor()));
        self.terminal.canvas.looks.get(id)
    }

    /// Returns output that rebuilds this screen, its history and its modes on a new screen of
    /// the same size. It asks nothing.
    pub fn restore_stream(&self) -> Vec<u8> {
        restore::stream(&self.terminal, usize::MAX)
    }

    /// Returns such output with only the last rows of the history.
    pub fn restore_stream_with(&self, history_rows: usize) -> Vec<u8> {
        restore::stream(&self.terminal, history_rows)
    }

    /// Says whether the output so far ends between two sequences and two characters: only then can
    /// what comes next be read by another screen.
    pub fn is_between_sequences(&self) -> bool {
        self.scanner.is_at_rest()
    }

    /// Returns how often the emulator failed and was replaced.
    pub fn rebuilds(&self) -> u64 {
        self.terminal.canvas.rebuilds
    }

    /// Returns how much work the output caused so far, in units of about a nanosecond. It is counted, so
    /// that a test need not measure time.
    pub fn work(&self) -> u64 {
        self.terminal.canvas.budget.work() + self.scanner.examined()
    }

    /// Returns the memory of all that grows with the output.
    pub fn memory_bytes(&self) -> usize {
        self.terminal.canvas.memory_bytes() + self.scanner.memory_bytes()
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("size", &self.size()).finish_non_exhaustive()
    }
}
