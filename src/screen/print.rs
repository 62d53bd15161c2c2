//! Prints text: joins what belongs together, and does what the emulator cannot.

use unicode_width::UnicodeWidthStr as _;

use super::cluster::{CLUSTER_BYTES_MAX, CLUSTER_CHARS_MAX, is_cluster, is_reserved, printable};
use super::draw::write_csi;
use super::line::width;
use super::signal::is_reordering;
use super::terminal::Terminal;

pub(super) const JOINER: char = '\u{200d}';
const EMOJI_PRESENTATION: char = '\u{fe0f}';

/// What it costs to see whether a character belongs to the one before it.
const WORK_PER_JOIN: usize = 500;

impl Terminal {
    /// Prints text with line ends, and no other control, in it.
    pub(super) fn print(&mut self, text: &str) {
        if self.has_background() {
            self.print_on_background(text);
        } else {
            self.print_anywhere(text);
        }
    }

    pub(super) fn print_anywhere(&mut self, text: &str) {
        if !self.is_plain() {
            text.chars().for_each(|c| self.print_carefully(c));
        } else if self.line_feed_returns && text.contains('\n') {
            self.print_plain(&text.replace('\n', "\r\n"));
        } else {
            self.print_plain(text);
        }
    }

    fn print_plain(&mut self, text: &str) {
        if text.is_ascii() {
            (self.joins_next, self.stands_alone) = (false, false);
            self.canvas.plain_text(text);
        } else {
            self.print_unicode(text);
        }
    }

    /// Says whether text means nothing but itself, its line ends aside.
    fn is_plain(&self) -> bool {
        self.wraps && !self.inserts && !self.charsets.draws_lines()
    }

    fn print_unicode(&mut self, text: &str) {
        let mut start = 0;
        for (at, c) in text.char_indices() {
            if c.is_ascii() || is_ordinary(c) && !self.joins_next {
                (self.joins_next, self.stands_alone) = (false, false);
                continue;
            }
            self.canvas.plain_text(&text[start..at]);
            self.print_special(c);
            start = at + c.len_utf8();
        }
        self.canvas.plain_text(&text[start..]);
    }

    /// Prints a character that may belong to the one before it.
    fn print_special(&mut self, c: char) {
        let joins = std::mem::replace(&mut self.joins_next, c == JOINER);
        let is_apart = std::mem::take(&mut self.stands_alone);
        if ('\u{80}'..='\u{9f}').contains(&c) || is_reordering(c) {
            return;
        }
        let is_mark = width(c) == 0;
        let may_join = !is_apart && (is_mark || joins || is_modifier(c));
        if may_join && self.join(c) || is_mark && is_reserved(c) {
            return;
        }
        let mut buffer = [0; 4];
        self.canvas.text(printable(c).encode_utf8(&mut buffer));
    }

    /// Makes a character part of the cell before the cursor; says no if the emulator can do
    /// that itself, or if the two do not belong together.
    fn join(&mut self, c: char) -> bool {
        self.canvas.budget.note_work(WORK_PER_JOIN);
        let (row, col) = self.canvas.cursor();
        let screen = self.canvas.screen();
        let cell_at = |back: u16| Some((screen.cell(row, col.checked_sub(back)?)?, back));
        let is_second_half = cell_at(1).is_some_and(|(cell, _)| cell.is_wide_continuation());
        let Some((cell, back)) = cell_at(if is_second_half { 2 } else { 1 }) else {
            return false;
        };
        let Some(base) = cell.contents().chars().next() else {
            // A mark on a cell without a letter has nothing to change.
            return width(c) == 0;
        };
        if width(c) == 0 && c != EMOJI_PRESENTATION && !is_cluster(base) {
            return false;
        }
        let had = if cell.is_wide() { 2 } else { 1 };
        let rest = &cell.contents()[base.len_utf8()..];
        let mut text = match self.canvas.clusters.meaning(base) {
            Some(meaning) => format!("{meaning}{rest}"),
            None => cell.contents().to_owned(),
        };
        if width(c) > 0 && !belongs(&text, c) {
            return false;
        }
        text.push(c);
        let is_too_long =
            text.len() > CLUSTER_BYTES_MAX || text.chars().count() > CLUSTER_CHARS_MAX;
        if is_too_long {
            return width(c) == 0;
        }
        let columns = text.width();
        if columns > 2 || columns == had && !is_cluster(base) && width(c) == 0 || columns < 2 {
            return false;
        }
        self.replace_cell(&text, back, col - back);
        true
    }

    /// Prints a wide picture over the cell that begins `back` columns before the cursor.
    fn replace_cell(&mut self, text: &str, back: u16, col: u16) {
        let stand_in = self.canvas.clusters.intern(text).or_else(|| {
            self.canvas.sweep();
            self.canvas.clusters.intern(text)
        });
        let Some(stand_in) = stand_in else { return };
        let is_at_margin = col + 1 == self.canvas.size().cols;
        if is_at_margin && !self.wraps {
            return;
        }
        write_csi(&[back], b'D', self.canvas.out());
        if is_at_margin {
            self.canvas.erase(self.pen, &[1], b'X');
        }
        self.canvas.text(stand_in.encode_utf8(&mut [0; 4]));
    }

    fn print_carefully(&mut self, c: char) {
        if matches!(c, '\n' | '\r') {
            (self.joins_next, self.stands_alone) = (false, false);
        }
        match c {
            '\n' => return self.line_feed(),
            '\r' => return self.canvas.plain_text("\r"),
            _ => {}
        }
        let c = if self.charsets.draws_lines() { drawn(c) } else { c };
        let columns = u16::try_from(width(c)).unwrap_or(1);
        if !self.wraps && columns > 0 {
            self.canvas.forget_wrap_in_flow();
        }
        if is_ordinary(c) && !self.joins_next && self.canvas.has_blank_ahead(columns) {
            self.stands_alone = false;
            return self.canvas.plain_text(c.encode_utf8(&mut [0; 4]));
        }
        if columns > 0 && (self.inserts || !self.wraps) {
            self.make_room(columns);
        }
        self.print_special(c);
    }

    /// Keeps the next character on the row, and what follows it if it is to be inserted.
    fn make_room(&mut self, columns: u16) {
        let cols = self.canvas.size().cols;
        let (_, col) = self.canvas.cursor();
        let fits = col + columns <= cols;
        if !fits && !self.wraps {
            write_csi(&[cols - columns + 1], b'G', self.canvas.out());
        } else if !fits {
            self.canvas.out().extend_from_slice(b"\r\n");
        }
        if self.inserts && (fits || self.wraps) {
            write_csi(&[columns], b'@', self.canvas.out());
        }
    }
}

/// Says whether a character needs no look at its neighbours; most text is such.
fn is_ordinary(c: char) -> bool {
    match u32::from(c) {
        0x80..=0x9f => false,
        // Letters, punctuation, arrows, boxes, ideographs and most pictures.
        0..=0x7f
        | 0xa0..=0x2ff
        | 0x370..=0x482
        | 0x2010..=0x2027
        | 0x2030..=0x205f
        | 0x2100..=0x2bff
        | 0x3041..=0x3096
        | 0x30a0..=0x9fff
        | 0xac00..=0xd7a3
        | 0x1_f300..=0x1_f3fa
        | 0x1_f400..=0x1_faff => true,
        _ => width(c) > 0 && !is_modifier(c) && c != '\u{fffd}' && !is_reserved(c),
    }
}

/// Says whether a character of its own width may change the one before it: a skin tone, or the
/// second half of a flag.
pub(super) fn is_modifier(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}' | '\u{1f1e6}'..='\u{1f1ff}')
}

/// Says whether a character that has a width is part of the picture before it.
fn belongs(text: &str, c: char) -> bool {
    let is_indicator = |c: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&c);
    let mut chars = text.chars();
    let is_half_flag = chars.next().is_some_and(is_indicator) && chars.next().is_none();
    match c {
        _ if is_indicator(c) => is_half_flag,
        _ if is_modifier(c) => true,
        // Letters are joined by how they are drawn, and keep their cells.
        _ => text.ends_with(JOINER) && is_picture(c) && text.starts_with(is_picture),
    }
}

fn is_picture(c: char) -> bool {
    !c.is_ascii() && !c.is_alphanumeric()
}

/// Returns the line drawing character that a letter stands for.
fn drawn(c: char) -> char {
    const DRAWN: [char; 32] = [
        '\u{a0}', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺',
        '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
    ];
    let index = u32::from(c).checked_sub(0x5f).and_then(|index| usize::try_from(index).ok());
    index.and_then(|index| DRAWN.get(index)).copied().unwrap_or(c)
}
