//! A row as the emulator holds it, and how it becomes runs of text that look alike.

use unicode_width::UnicodeWidthChar as _;

use crate::model::{Color, Row, Run, Style, Underline};

use super::cluster::{Clusters, is_cluster, printable};
use super::links::Links;
use super::look::{Look, LookId, Looks, look_id};

/// How a run looks, and where it leads: nowhere, if that is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunLook<'a> {
    pub(super) style: Style,
    pub(super) link: &'a str,
}

impl RunLook<'_> {
    fn plain(style: Style) -> Self {
        Self { style, link: "" }
    }
}

/// Fills a row in which a wide character did not fit any more, so that the emulator takes it for one
/// that wrapped. Nothing that a program prints looks like that, so it can be left out again.
pub(super) const FILLER: RunLook<'static> = RunLook {
    style: Style {
        foreground: Color::Default,
        background: Color::Default,
        attributes: Style::HIDDEN | Style::BLINK | Style::DIM,
        underline: Underline::Single,
        underline_color: Color::Default,
    },
    link: "",
};

/// Takes the runs of a row from left to right; neighbours that look alike may be merged.
pub(super) trait Runs {
    /// `is_single` marks one cell with a wide or composed character.
    fn run(&mut self, look: RunLook<'_>, text: &str, columns: u16, is_single: bool);
}

/// What the cells name by numbers and stand-ins.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a> {
    pub(super) looks: &'a Looks,
    pub(super) clusters: &'a Clusters,
    pub(super) links: &'a Links,
}

impl<'a> Tables<'a> {
    fn run_look(self, look: Look) -> RunLook<'a> {
        RunLook { style: look.style, link: self.links.get(look.link).unwrap_or_default() }
    }
}

/// One cell of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// The bytes of its text; zero for a cell that is blank.
    pub(super) length: u8,
    pub(super) columns: u8,
    pub(super) look: LookId,
}

impl Spot {
    pub(super) fn is_blank(self) -> bool {
        self.length == 0
    }

    fn is_unused(self) -> bool {
        self.length == 0 && self.look == 0
    }
}

/// One row, in the emulator's own characters and looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) spots: Vec<Spot>,
    pub(super) is_wrapped: bool,
}

impl Line {
    /// Reads a row of the emulator; unused cells at its end are left out.
    pub(super) fn read(screen: &vt100::Screen, row: u16) -> Self {
        let mut line = Self { is_wrapped: screen.row_wrapped(row), ..Self::default() };
        let mut used = (0, 0);
        let mut col = 0;
        while let Some(cell) = screen.cell(row, col) {
            let columns = if cell.is_wide() { 2 } else { 1 };
            line.push(cell.contents(), columns, look_id(cell.fgcolor()));
            col += u16::from(columns);
            if line.spots.last().is_some_and(|spot| !spot.is_unused()) {
                used = (line.spots.len(), line.text.len());
            }
        }
        line.spots.truncate(used.0);
        line.text.truncate(used.1);
        line
    }

    /// Turns a row of the history back into cells.
    pub(super) fn from_row(
        row: &Row,
        looks: &mut Looks,
        clusters: &mut Clusters,
        links: &mut Links,
    ) -> Self {
        let mut line = Self { is_wrapped: row.wrapped, ..Self::default() };
        let mut buffer = [0; 4];
        for run in &row.runs {
            let target = run.link.as_deref().and_then(|target| links.intern(target));
            let look = Look { style: run.style, link: target.unwrap_or(0), ..Look::default() };
            let look = looks.intern(look).unwrap_or(0);
            let mut chars = run.text.chars().map(printable);
            if !run.is_single() {
                chars.for_each(|c| line.push(c.encode_utf8(&mut buffer), 1, look));
            } else if run.columns == 1 {
                line.push(&chars.collect::<String>(), 1, look);
            } else if run.text.chars().nth(1).is_some() {
                let stand_in = clusters.intern(&run.text).or_else(|| chars.next());
                let text = stand_in.map_or("", |c| c.encode_utf8(&mut buffer));
                line.push(text, 2, look);
            } else {
                line.push(&run.text, 2, look);
            }
        }
        line
    }

    pub(super) fn push(&mut self, text: &str, columns: u8, look: LookId) {
        let length = u8::try_from(text.len()).unwrap_or(0);
        self.text.push_str(if length == 0 { "" } else { text });
        self.spots.push(Spot { length, columns, look });
    }

    /// Takes the last cell away if it looks like this.
    pub(super) fn leave_out(&mut self, filler: LookId) {
        let last = self.spots.pop_if(|spot| spot.look == filler && spot.length == 1);
        if last.is_some() {
            self.text.pop();
        }
    }

    /// Returns each cell with its text.
    pub(super) fn cells(&self) -> impl Iterator<Item = (Spot, &str)> {
        let mut at = 0;
        self.spots.iter().map(move |spot| {
            let start = at;
            at += usize::from(spot.length);
            (*spot, &self.text[start..at])
        })
    }

    pub(super) fn columns(&self) -> u16 {
        self.spots.iter().map(|spot| u16::from(spot.columns)).sum()
    }

    pub(super) fn runs(&self, tables: Tables<'_>, runs: &mut impl Runs) {
        let mut seen = (0, RunLook::default());
        for (spot, text) in self.cells() {
            if spot.look != seen.0 {
                seen = (spot.look, tables.run_look(tables.looks.get(spot.look)));
            }
            if spot.is_blank() {
                // Half of a wide character may be gone; of what it looked like only this stays.
                let style = Style { background: seen.1.style.background, ..Style::default() };
                runs.run(RunLook::plain(style), " ", 1, false);
            } else {
                cell_run(seen.1, text, tables.clusters, runs);
            }
        }
    }

    pub(super) fn row(&self, tables: Tables<'_>) -> Row {
        let mut row = RowBuilder::default();
        self.runs(tables, &mut row);
        row.finish(self.is_wrapped)
    }
}

fn cell_run(look: RunLook<'_>, text: &str, clusters: &Clusters, runs: &mut impl Runs) {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if c.is_ascii() => runs.run(look, text, 1, false),
        (Some(c), None) => {
            let columns = u16::from(width(c) > 1) + 1;
            let meaning = clusters.meaning(c).unwrap_or(text);
            runs.run(look, meaning, columns, columns == 2);
        }
        (Some(c), Some(_)) => {
            let columns = u16::from(width(c) > 1 || text.contains('\u{fe0f}') && is_wide(text)) + 1;
            match clusters.meaning(c) {
                None => runs.run(look, text, columns, true),
                Some(meaning) => {
                    let whole = format!("{meaning}{}", &text[c.len_utf8()..]);
                    runs.run(look, &whole, columns, true);
                }
            }
        }
        (None, _) => {}
    }
}

fn is_wide(text: &str) -> bool {
    unicode_width::UnicodeWidthStr::width(text) > 1
}

/// Returns the columns that the emulator gives a character.
pub(super) fn width(c: char) -> usize {
    if is_cluster(c) { 2 } else { c.width().unwrap_or(1).min(2) }
}

/// Marks a blank cell in a captured row: the emulator reports it as a character, not as text.
pub(super) const BLANK: u8 = 0x1f;

/// Blank cells come in long stretches.
const BLANKS: &str = "                                                                ";

/// Turns a captured row into runs.
pub(super) fn captured_runs(mut raw: &[u8], tables: Tables<'_>, runs: &mut impl Runs) {
    let mut look = Look::default();
    while let [first, rest @ ..] = raw {
        match *first {
            0x1b => {
                let end = rest.iter().position(|byte| *byte == b'm').unwrap_or(rest.len());
                look = tables.looks.get(pen_id(&rest[..end]));
                raw = rest.get(end + 1..).unwrap_or_default();
            }
            BLANK => {
                // The capture does not tell unused cells from erased ones of the same look as
                // their neighbour; text never has the look of an erased cell.
                let style = if look.is_erased { look.style } else { Style::default() };
                let count =
                    raw.iter().take(BLANKS.len()).take_while(|byte| **byte == BLANK).count();
                let columns = u16::try_from(count).unwrap_or(1);
                runs.run(RunLook::plain(style), &BLANKS[..count], columns, false);
                raw = &raw[count..];
            }
            _ => {
                let is_end = |byte: &u8| matches!(*byte, 0x1b | BLANK);
                let end = raw.iter().position(is_end).unwrap_or(raw.len());
                text_runs(tables.run_look(look), &raw[..end], tables.clusters, runs);
                raw = &raw[end..];
            }
        }
    }
}

fn text_runs(look: RunLook<'_>, bytes: &[u8], clusters: &Clusters, runs: &mut impl Runs) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if text.is_ascii() {
        runs.run(look, text, u16::try_from(text.len()).unwrap_or(u16::MAX), false);
        return;
    }
    let mut start = 0;
    for (at, c) in text.char_indices() {
        if at > start && (c.is_ascii() || width(c) > 0) {
            cell_run(look, &text[start..at], clusters, runs);
            start = at;
        }
    }
    cell_run(look, &text[start..], clusters, runs);
}

/// Reads the number of a look from the body of `ESC [ … m`.
fn pen_id(body: &[u8]) -> LookId {
    let mut numbers = [0_u32; 5];
    let mut count = 0;
    for byte in body.iter().filter(|byte| **byte != b'[') {
        match byte {
            b'0'..=b'9' => numbers[count] = numbers[count] * 10 + u32::from(byte - b'0'),
            _ => count = (count + 1).min(4),
        }
    }
    match numbers {
        [30..=37, ..] => numbers[0] - 29,
        [90..=97, ..] => numbers[0] - 81,
        [38, 5, index, ..] => index + 1,
        [38, 2, high, middle, low] => high << 16 | middle << 8 | low,
        _ => 0,
    }
}

/// All the targets of one row: each cell of it may lead elsewhere.
pub(super) const ROW_LINK_BYTES_MAX: usize = 32 * 1024;

/// Collects runs into a row.
#[derive(Default)]
pub(super) struct RowBuilder {
    runs: Vec<Run>,
    last_is_single: bool,
    link_bytes: usize,
}

impl Runs for RowBuilder {
    fn run(&mut self, look: RunLook<'_>, text: &str, columns: u16, is_single: bool) {
        let RunLook { style, link } = look;
        let fits = self.link_bytes + link.len() <= ROW_LINK_BYTES_MAX;
        let link = Some(link).filter(|link| !link.is_empty() && fits);
        match self.runs.last_mut() {
            Some(last)
                if last.style == style
                    && last.link.as_deref() == link
                    && !is_single
                    && !self.last_is_single =>
            {
                last.text.push_str(text);
                last.columns += columns;
            }
            _ => {
                self.link_bytes += link.map_or(0, str::len);
                let link = link.map(Box::from);
                self.runs.push(Run { text: text.to_owned(), columns, style, link });
            }
        }
        self.last_is_single = is_single;
    }
}

impl RowBuilder {
    pub(super) fn finish(mut self, wrapped: bool) -> Row {
        while let Some(last) = self.runs.last_mut().filter(|_| !wrapped) {
            if last.style != Style::default() || !last.text.ends_with(' ') {
                break;
            }
            let kept = last.text.trim_end_matches(' ').len();
            if kept > 0 {
                let cut = last.text.len() - kept;
                last.text.truncate(kept);
                last.columns -= u16::try_from(cut).unwrap_or(0);
                break;
            }
            self.runs.pop();
        }
        Row { runs: self.runs, wrapped }
    }
}
