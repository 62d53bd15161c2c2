//! Writes the shortest way from one look to another, and from one place to another.

use std::io::Write;

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

use super::abilities::{Abilities, named, shape_number};

/// Where the terminal's cursor is and how its next character will look.
#[derive(Debug, Default)]
pub(super) struct Pen {
    /// Column and row; unknown after anything that may have moved it.
    place: Option<(u16, u16)>,
    look: Option<Look>,
    pub(super) abilities: Abilities,
    /// Where the next symbol would lead.
    link: Option<Box<str>>,
}

/// How a symbol looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    text: Color,
    back: Color,
    modifier: Modifier,
    /// The number of the underline's shape; none is one.
    shape: u8,
    line: Color,
}

const PLAIN: Look = Look {
    text: Color::Reset,
    back: Color::Reset,
    modifier: Modifier::empty(),
    shape: 1,
    line: Color::Reset,
};

/// Each attribute and the number that turns it on.
const MODIFIERS: [(Modifier, u8); 9] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::SLOW_BLINK, 5),
    (Modifier::RAPID_BLINK, 6),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

impl Pen {
    pub(super) fn new(abilities: Abilities) -> Self {
        Self { abilities, ..Self::default() }
    }

    /// Goes to a cell.
    pub(super) fn go(&mut self, out: &mut Vec<u8>, x: u16, y: u16) {
        match self.place {
            Some(place) if place == (x, y) => {}
            Some((from, row)) if row == y && from < x && x - from == 1 => put(out, b"\x1b[C"),
            Some((from, row)) if row == y && from < x => {
                sequence(out, format_args!("\x1b[{}C", x - from));
            }
            _ if x == 0 => sequence(out, format_args!("\x1b[{}H", y + 1)),
            _ => sequence(out, format_args!("\x1b[{};{}H", y + 1, x + 1)),
        }
        self.place = Some((x, y));
    }

    /// Writes a cell's symbol, `width` columns wide, in its look.
    pub(super) fn write(&mut self, out: &mut Vec<u8>, cell: &Cell, width: u16) {
        self.dress(out, self.look_of(cell));
        let symbol = cell.symbol();
        put(out, if symbol.is_empty() { b" " } else { symbol.as_bytes() });
        // Beyond the last column no place matches, so that the next one is named in full.
        self.place = self.place.map(|(x, y)| (x + width, y));
    }

    /// Blanks the next two cells in a cell's look without moving.
    pub(super) fn blank_two(&mut self, out: &mut Vec<u8>, cell: &Cell) {
        self.dress(out, self.look_of(cell));
        put(out, b"  \x1b[2D");
    }

    /// Lets the next place be named in full: terminals differ in how far the last symbol went.
    pub(super) fn forget_place(&mut self) {
        self.place = None;
    }

    /// Blanks cells without moving.
    pub(super) fn erase(&mut self, out: &mut Vec<u8>, count: u16) {
        self.dress(out, PLAIN);
        sequence(out, format_args!("\x1b[{count}X"));
    }

    /// Says whether a cell looks like the pen, so that it could be written as cheaply as skipped.
    pub(super) fn looks_like(&self, cell: &Cell) -> bool {
        self.look == Some(self.look_of(cell))
    }

    /// Lets the next symbols lead somewhere, or nowhere.
    pub(super) fn lead(&mut self, out: &mut Vec<u8>, target: Option<&str>) {
        let target = target.filter(|_| self.abilities.links);
        if self.link.as_deref() != target {
            put(out, b"\x1b]8;;");
            put(out, target.unwrap_or_default().as_bytes());
            put(out, b"\x1b\\");
            self.link = target.map(Box::from);
        }
    }

    /// Says whether the next symbol would lead somewhere.
    pub(super) fn leads(&self) -> bool {
        self.link.is_some()
    }

    /// Returns the look of a cell, as far as the terminal can show it.
    fn look_of(&self, cell: &Cell) -> Look {
        let knows = self.abilities.underlines && cell.modifier.contains(Modifier::UNDERLINED);
        Look {
            text: cell.fg,
            back: cell.bg,
            modifier: named(cell.modifier),
            shape: if knows { shape_number(cell.modifier) } else { 1 },
            line: if knows { cell.underline_color } else { Color::Reset },
        }
    }

    /// Returns the place after which the next symbol would be written.
    pub(super) fn place(&self) -> Option<(u16, u16)> {
        self.place
    }

    fn dress(&mut self, out: &mut Vec<u8>, wanted: Look) {
        if self.look == Some(wanted) {
            return;
        }
        put(out, b"\x1b[");
        let kept = self.look.filter(|look| wanted.modifier.contains(look.modifier));
        let needs_reset = kept.is_none() || wanted == PLAIN;
        let had = if needs_reset { PLAIN } else { kept.unwrap_or(PLAIN) };
        let mut first = !needs_reset;
        if needs_reset && wanted != PLAIN {
            put(out, b"0");
        }
        let mut separate = |out: &mut Vec<u8>| {
            if !std::mem::take(&mut first) {
                put(out, b";");
            }
        };
        for (_, code) in MODIFIERS
            .iter()
            .filter(|(m, _)| wanted.modifier.contains(*m) && !had.modifier.contains(*m))
        {
            separate(out);
            sequence(out, format_args!("{code}"));
        }
        if wanted.shape != had.shape {
            separate(out);
            sequence(out, format_args!("4:{}", wanted.shape));
        }
        if wanted.line != had.line {
            separate(out);
            select_line(out, wanted.line);
        }
        for (color, before, base) in [(wanted.text, had.text, 30), (wanted.back, had.back, 40)] {
            if color != before {
                separate(out);
                select(out, color, base);
            }
        }
        put(out, b"m");
        self.look = Some(wanted);
    }
}

/// Writes the parameters that select the colour of an underline.
#[expect(clippy::wildcard_enum_match_arm, reason = "an enum of another crate, used in part")]
fn select_line(out: &mut Vec<u8>, color: Color) {
    match color {
        Color::Indexed(index) => sequence(out, format_args!("58:5:{index}")),
        Color::Rgb(r, g, b) => sequence(out, format_args!("58:2::{r}:{g}:{b}")),
        _ => put(out, b"59"),
    }
}

/// Writes the parameters that select a colour; `base` is 30 for the text and 40 for what is behind.
#[expect(clippy::wildcard_enum_match_arm, reason = "an enum of another crate, used in part")]
fn select(out: &mut Vec<u8>, color: Color, base: u8) {
    match color {
        Color::Indexed(index @ 0..=7) => sequence(out, format_args!("{}", base + index)),
        Color::Indexed(index @ 8..=15) => sequence(out, format_args!("{}", base + 52 + index)),
        Color::Indexed(index) => sequence(out, format_args!("{};5;{index}", base + 8)),
        Color::Rgb(r, g, b) => sequence(out, format_args!("{};2;{r};{g};{b}", base + 8)),
        // Nothing in this room makes the named ones.
        _ => sequence(out, format_args!("{}", base + 9)),
    }
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
}

fn sequence(out: &mut Vec<u8>, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("a vector takes all that is written");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(symbol: &str, fg: Color, modifier: Modifier) -> Cell {
        let mut cell = Cell::default();
        cell.set_symbol(symbol).set_fg(fg);
        cell.modifier = modifier;
        cell
    }

    fn written(cells: &[Cell]) -> String {
        let (mut pen, mut out) = (Pen::default(), Vec::new());
        pen.go(&mut out, 4, 2);
        for cell in cells {
            pen.write(&mut out, cell, 1);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_look_is_set_once_and_only_what_differs() {
        let blue = |symbol| cell(symbol, Color::Indexed(4), Modifier::empty());
        let bold = cell("c", Color::Indexed(4), Modifier::BOLD);
        let bright = cell("d", Color::Indexed(12), Modifier::BOLD);
        let plain = cell("e", Color::Reset, Modifier::empty());
        let line = written(&[blue("a"), blue("b"), bold, bright, plain]);
        assert_eq!(line, "\x1b[3;5H\x1b[0;34mab\x1b[1mc\x1b[94md\x1b[me");
    }

    #[test]
    fn an_attribute_that_goes_takes_a_reset() {
        let bold = cell("a", Color::Reset, Modifier::BOLD);
        let red = cell("b", Color::Rgb(1, 2, 3), Modifier::empty());
        assert_eq!(written(&[bold, red]), "\x1b[3;5H\x1b[0;1ma\x1b[0;38;2;1;2;3mb");
    }

    #[test]
    fn the_shape_and_the_colour_of_an_underline_reach_a_terminal_that_knows_them() {
        use super::super::abilities::shape_modifier;
        use crate::model::Underline;
        let under = |symbol, shape| {
            let mut cell = cell(symbol, Color::Reset, Modifier::UNDERLINED | shape_modifier(shape));
            cell.underline_color = Color::Indexed(1);
            cell
        };
        let cells = [under("a", Underline::Curly), under("b", Underline::Double)];
        assert_eq!(written(&cells), "\x1b[3;5H\x1b[0;4mab", "an old terminal");
        let mut pen = Pen::default();
        pen.abilities.underlines = true;
        let mut out = Vec::new();
        for cell in &cells {
            pen.write(&mut out, cell, 1);
        }
        pen.write(&mut out, &cell("c", Color::Reset, Modifier::empty()), 1);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "\x1b[0;4;4:3;58:5:1ma\x1b[4:2mb\x1b[mc");
    }

    #[test]
    fn a_link_is_opened_and_closed_once() {
        let (mut pen, mut out) = (Pen::default(), Vec::new());
        pen.lead(&mut out, Some("http://x"));
        assert!(out.is_empty(), "an old terminal");
        pen.abilities.links = true;
        for target in [Some("http://x"), Some("http://x"), Some("http://y"), None, None] {
            pen.lead(&mut out, target);
        }
        let wanted = "\x1b]8;;http://x\x1b\\\x1b]8;;http://y\x1b\\\x1b]8;;\x1b\\";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }

    #[test]
    fn steps_to_the_right_are_short() {
        let (mut pen, mut out) = (Pen::default(), Vec::new());
        for (x, y) in [(0, 0), (1, 0), (9, 0), (9, 0), (3, 0), (0, 4)] {
            pen.go(&mut out, x, y);
        }
        assert_eq!(String::from_utf8(out).unwrap(), "\x1b[1H\x1b[C\x1b[8C\x1b[1;4H\x1b[5H");
    }
}
