//! Packs a row of the history into few bytes, reads it back, and breaks a line into rows anew.

use crate::model::{Row, Run, Style};

use super::line::{FILLER, ROW_LINK_BYTES_MAX, RunLook, Runs};

/// One run of the row that is being written.
#[derive(Clone, Copy, Debug)]
struct Piece {
    style: usize,
    length: usize,
    columns: u16,
    is_single: bool,
}

/// Writes one row: its runs first, then all its text.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    text: Vec<u8>,
    pieces: Vec<Piece>,
    pub(super) styles: Vec<PackedStyle>,
    last_style: (Style, usize),
    /// What the links take that this row is the first to have.
    pub(super) link_bytes: usize,
}

impl Runs for Encoder {
    fn run(&mut self, look: RunLook<'_>, text: &str, columns: u16, is_single: bool) {
        let style = self.style(look);
        self.text.extend_from_slice(text.as_bytes());
        match self.pieces.last_mut() {
            Some(last) if last.style == style && !is_single && !last.is_single => {
                last.length += text.len();
            }
            _ => self.pieces.push(Piece { style, length: text.len(), columns, is_single }),
        }
    }
}

impl Encoder {
    pub(super) fn start(&mut self, styles: Vec<PackedStyle>) {
        self.link_bytes = 0;
        self.text.clear();
        self.pieces.clear();
        self.styles = styles;
        self.last_style.1 = usize::MAX;
    }

    fn style(&mut self, look: RunLook<'_>) -> usize {
        let RunLook { style, link } = look;
        if link.is_empty() && self.last_style.0 == style && self.last_style.1 != usize::MAX {
            return self.last_style.1;
        }
        let fits = self.link_bytes + link.len() <= ROW_LINK_BYTES_MAX;
        let link = if fits { link } else { "" };
        let is_known = |known: &PackedStyle| known.style == style && *known.link == *link;
        let index = self.styles.iter().position(is_known).unwrap_or_else(|| {
            self.link_bytes += link.len();
            self.styles.push(PackedStyle { style, link: link.into() });
            self.styles.len() - 1
        });
        self.last_style = (style, if link.is_empty() { index } else { usize::MAX });
        index
    }

    pub(super) fn plain_text(&self) -> String {
        String::from_utf8_lossy(&self.text).trim_end().to_owned()
    }

    pub(super) fn finish(&mut self, wrapped: bool, out: &mut Vec<u8>) {
        if !wrapped {
            self.trim();
        }
        write_varint(self.pieces.len() << 1 | usize::from(wrapped), out);
        for piece in &self.pieces {
            write_varint(piece.style << 1 | usize::from(piece.is_single), out);
            write_varint(piece.length, out);
            if piece.is_single {
                write_varint(usize::from(piece.columns), out);
            }
        }
        out.extend_from_slice(&self.text);
    }

    /// Drops blanks without a style from the end.
    fn trim(&mut self) {
        while let Some(last) = self.pieces.last_mut() {
            if self.styles[last.style] != PackedStyle::default() {
                return;
            }
            let start = self.text.len() - last.length;
            let kept = self.text[start..].iter().rposition(|byte| *byte != b' ');
            last.length = kept.map_or(0, |at| at + 1);
            self.text.truncate(start + last.length);
            if last.length > 0 {
                return;
            }
            self.pieces.pop();
        }
    }
}

/// How runs look and where they lead, once for all rows of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PackedStyle {
    pub(super) style: Style,
    /// Empty, if they lead nowhere.
    pub(super) link: Box<str>,
}

impl PackedStyle {
    fn look(&self) -> RunLook<'_> {
        RunLook { style: self.style, link: &self.link }
    }
}

/// A part of a row that looks alike; one cell with a wide or composed character stands alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) look: RunLook<'a>,
    pub(super) text: &'a str,
    /// Zero where each character fills one.
    pub(super) columns: u16,
    pub(super) is_single: bool,
}

/// A row as it was read back.
pub(super) struct PackedRow<'a> {
    parts: Vec<Part<'a>>,
    pub(super) wrapped: bool,
}

impl<'a> PackedRow<'a> {
    pub(super) fn read(mut bytes: &'a [u8], styles: &'a [PackedStyle]) -> Option<Self> {
        let head = read_varint(&mut bytes)?;
        let mut pieces = Vec::with_capacity((head >> 1).min(bytes.len()));
        for _ in 0..head >> 1 {
            let style = read_varint(&mut bytes)?;
            let length = read_varint(&mut bytes)?;
            let is_single = style & 1 == 1;
            let columns = if is_single { read_varint(&mut bytes)? } else { 0 };
            pieces.push((
                styles.get(style >> 1)?.look(),
                length,
                u16::try_from(columns).ok()?,
                is_single,
            ));
        }
        let mut parts = Vec::with_capacity(pieces.len());
        for (look, length, columns, is_single) in pieces {
            let (text, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            parts.push(Part { look, text: str::from_utf8(text).ok()?, columns, is_single });
        }
        Some(Self { parts, wrapped: head & 1 == 1 })
    }

    pub(super) fn row(&self) -> Row {
        let run = |part: &Part<'_>| {
            let columns = match part.columns {
                0 => u16::try_from(part.text.chars().count()).unwrap_or(u16::MAX),
                columns => columns,
            };
            let RunLook { style, link } = part.look;
            let link = Some(link).filter(|link| !link.is_empty()).map(Box::from);
            Run { text: part.text.to_owned(), columns, style, link }
        };
        Row { runs: self.parts.iter().map(run).collect(), wrapped: self.wrapped }
    }
}

/// Rows that are one line to the application.
#[derive(Debug, Default)]
pub(super) struct LogicalLine {
    text: String,
    pieces: Vec<(PackedStyle, usize, u16, bool)>,
    has_rows: bool,
}

impl LogicalLine {
    pub(super) fn add(&mut self, row: &PackedRow<'_>) {
        self.has_rows = true;
        for part in row.parts.iter().filter(|part| part.look != FILLER) {
            self.text.push_str(part.text);
            let style = PackedStyle { style: part.look.style, link: part.look.link.into() };
            self.pieces.push((style, part.text.len(), part.columns, part.is_single));
        }
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.pieces.clear();
        self.has_rows = false;
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.has_rows
    }

    /// Returns the rows that the line takes. Blanks at its end do not wrap: they may be a background
    /// that reached to the margin.
    pub(super) fn wrap(&self, cols: u16) -> Vec<Vec<Part<'_>>> {
        let cols = usize::from(cols);
        let written = self.text.trim_end_matches(' ').len();
        let mut rows = vec![Vec::new()];
        let (mut start, mut col) = (0, 0);
        for (style, length, columns, is_single) in &self.pieces {
            let mut text = &self.text[start..start + length];
            while !text.is_empty() {
                let room = cols - col;
                let (taken, width) = match is_single {
                    true if usize::from(*columns) > room && col > 0 => (0, 0),
                    true => (text.len(), usize::from(*columns)),
                    false => stretch(text, room),
                };
                if taken == 0 {
                    if start >= written {
                        return rows;
                    }
                    if room > 0
                        && let Some(row) = rows.last_mut()
                    {
                        row.push(Part { look: FILLER, text: " ", columns: 0, is_single: false });
                    }
                    rows.push(Vec::new());
                    col = 0;
                    continue;
                }
                let (part, rest) = text.split_at(taken);
                let part = Part {
                    look: style.look(),
                    text: part,
                    columns: *columns,
                    is_single: *is_single,
                };
                if let Some(row) = rows.last_mut() {
                    row.push(part);
                }
                text = rest;
                start += taken;
                col = (col + width).min(cols);
            }
        }
        rows
    }
}

/// Returns the bytes and the number of the characters that there is room for.
fn stretch(text: &str, room: usize) -> (usize, usize) {
    if text.is_ascii() {
        let taken = text.len().min(room);
        return (taken, taken);
    }
    let end = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
    (end, text[..end].chars().count())
}

fn write_varint(number: usize, out: &mut Vec<u8>) {
    let mut rest = number;
    while rest >= 0x80 {
        out.push(0x80 | rest.to_le_bytes()[0]);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
}

fn read_varint(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..28).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
