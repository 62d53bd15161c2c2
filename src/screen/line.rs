//! A row as the emulator holds it, and how it becomes runs of text that look alike.

use unicode_width::UnicodeWidthChar as _;

use crate::model::{Row, Run, Style};

use super::cluster::{Clusters, is_cluster, printable};
use super::look::{Look, LookId, Looks, look_id};

/// Takes the runs of a row from left to right; neighbours that look alike may be merged.
pub(super) trait Runs {
    /// `is_single` marks one cell with a wide or composed character.
    fn run(&mut self, style: Style, text: &str, columns: u16, is_single: bool);
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
    pub(super) fn from_row(row: &Row, looks: &mut Looks, clusters: &mut Clusters) -> Self {
        let mut line = Self { is_wrapped: row.wrapped, ..Self::default() };
        let mut buffer = [0; 4];
        for run in &row.runs {
            let look = looks.intern(Look::plain(run.style)).unwrap_or(0);
            let mut chars = run.text.chars().map(printable);
            if usize::from(run.columns) == run.text.chars().count() {
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

    pub(super) fn runs(&self, looks: &Looks, clusters: &Clusters, runs: &mut impl Runs) {
        let mut seen = (0, Style::default());
        for (spot, text) in self.cells() {
            if spot.look != seen.0 {
                seen = (spot.look, looks.get(spot.look).style);
            }
            if spot.is_blank() {
                // Half of a wide character may be gone; of what it looked like only this stays.
                let style = Style { background: seen.1.background, ..Style::default() };
                runs.run(style, " ", 1, false);
            } else {
                cell_run(seen.1, text, clusters, runs);
            }
        }
    }

    pub(super) fn row(&self, looks: &Looks, clusters: &Clusters) -> Row {
        let mut row = RowBuilder::default();
        self.runs(looks, clusters, &mut row);
        row.finish(self.is_wrapped)
    }
}

fn cell_run(style: Style, text: &str, clusters: &Clusters, runs: &mut impl Runs) {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if c.is_ascii() => runs.run(style, text, 1, false),
        (Some(c), None) => {
            let columns = u16::from(width(c) > 1) + 1;
            let meaning = clusters.meaning(c).unwrap_or(text);
            runs.run(style, meaning, columns, columns == 2);
        }
        (Some(c), Some(_)) => {
            let columns = u16::from(width(c) > 1 || text.contains('\u{fe0f}') && is_wide(text)) + 1;
            match clusters.meaning(c) {
                None => runs.run(style, text, columns, true),
                Some(meaning) => {
                    let whole = format!("{meaning}{}", &text[c.len_utf8()..]);
                    runs.run(style, &whole, columns, true);
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
pub(super) fn captured_runs(
    mut raw: &[u8],
    looks: &Looks,
    clusters: &Clusters,
    runs: &mut impl Runs,
) {
    let mut look = Look::default();
    while let [first, rest @ ..] = raw {
        match *first {
            0x1b => {
                let end = rest.iter().position(|byte| *byte == b'm').unwrap_or(rest.len());
                look = looks.get(pen_id(&rest[..end]));
                raw = rest.get(end + 1..).unwrap_or_default();
            }
            BLANK => {
                // The capture does not tell unused cells from erased ones of the same look as
                // their neighbour; text never has the look of an erased cell.
                let style = if look.is_erased { look.style } else { Style::default() };
                let count =
                    raw.iter().take(BLANKS.len()).take_while(|byte| **byte == BLANK).count();
                let columns = u16::try_from(count).unwrap_or(1);
                runs.run(style, &BLANKS[..count], columns, false);
                raw = &raw[count..];
            }
            _ => {
                let is_end = |byte: &u8| matches!(*byte, 0x1b | BLANK);
                let end = raw.iter().position(is_end).unwrap_or(raw.len());
                text_runs(look.style, &raw[..end], clusters, runs);
                raw = &raw[end..];
            }
        }
    }
}

fn text_runs(style: Style, bytes: &[u8], clusters: &Clusters, runs: &mut impl Runs) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if text.is_ascii() {
        runs.run(style, text, u16::try_from(text.len()).unwrap_or(u16::MAX), false);
        return;
    }
    let mut start = 0;
    for (at, c) in text.char_indices() {
        if at > start && (c.is_ascii() || width(c) > 0) {
            cell_run(style, &text[start..at], clusters, runs);
            start = at;
        }
    }
    cell_run(style, &text[start..], clusters, runs);
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

/// Collects runs into a row.
#[derive(Default)]
pub(super) struct RowBuilder {
    runs: Vec<Run>,
    last_is_single: bool,
}

impl Runs for RowBuilder {
    fn run(&mut self, style: Style, text: &str, columns: u16, is_single: bool) {
        match self.runs.last_mut() {
            Some(last) if last.style == style && !is_single && !self.last_is_single => {
                last.text.push_str(text);
                last.columns += columns;
            }
            _ => self.runs.push(Run { text: text.to_owned(), columns, style }),
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
