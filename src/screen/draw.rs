//! Writes rows as the output that would have drawn them on an empty screen.

use super::line::Line;
use super::look::{LookId, write_number, write_pen};

/// Says how a look and a text are written: for the emulator, or for a whole terminal.
pub(super) trait Ink {
    fn pen(&self, look: LookId, out: &mut Vec<u8>);
    fn text(&self, text: &str, out: &mut Vec<u8>);
}

/// Begins a row by a wrap that is pending, and leaves it empty.
pub(super) const EMPTY_ROW: &[u8] = b" \x08\x1b[X";

/// Writes for the emulator: numbers as colours, stand-ins as they are.
pub(super) struct Bare;

impl Ink for Bare {
    fn pen(&self, look: LookId, out: &mut Vec<u8>) {
        write_pen(look, out);
    }

    fn text(&self, text: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(text.as_bytes());
    }
}

/// Writes rows one below the other, those that wrapped so that they wrap again.
pub(super) struct Drawing<'a, I> {
    pub(super) ink: &'a I,
    pub(super) cols: u16,
    pub(super) pen: Option<LookId>,
    pub(super) out: &'a mut Vec<u8>,
}

impl<I: Ink> Drawing<'_, I> {
    /// Draws the rows from the top of the screen; what does not fit on a row is cut.
    pub(super) fn lines(&mut self, lines: &[Line]) {
        let mut goes_on = false;
        for (row, line) in (0_u16..).zip(lines) {
            if !goes_on {
                self.go_to(row, 0);
            }
            goes_on = self.line(line, goes_on) && line.is_wrapped;
        }
    }

    /// Draws one row at the cursor and says whether it ends at the margin with the wrap pending.
    pub(super) fn line(&mut self, line: &Line, goes_on: bool) -> bool {
        if goes_on && line.spots.first().is_none_or(|spot| spot.is_blank()) {
            self.begin_next_row();
        }
        let (mut at, mut col) = (0, 0);
        let mut cells = line.cells().peekable();
        while let Some((spot, text)) = cells.next() {
            let mut columns = u16::from(spot.columns);
            if col + columns > self.cols {
                break;
            }
            if spot.is_blank() {
                while cells.next_if(|(next, _)| *next == spot).is_some() {
                    columns += 1;
                }
                self.erase(spot.look, columns, &mut at, col);
            } else {
                self.forward(&mut at, col);
                self.set_pen(spot.look);
                self.ink.text(text, self.out);
                at = col + columns;
            }
            col += columns;
        }
        at == self.cols
    }

    pub(super) fn set_pen(&mut self, look: LookId) {
        if self.pen != Some(look) {
            self.ink.pen(look, self.out);
            self.pen = Some(look);
        }
    }

    pub(super) fn go_to(&mut self, row: u16, col: u16) {
        write_csi(&[row + 1, col + 1], b'H', self.out);
    }

    /// Puts the cursor where it was, with a pending wrap if it had one.
    pub(super) fn place(&mut self, line: Option<&Line>, row: u16, col: u16, rows_above: u16) {
        let row = row.saturating_sub(rows_above);
        let full = line.filter(|line| col >= self.cols && line.columns() == self.cols);
        match full.and_then(|line| line.cells().last()) {
            Some((spot, text)) if !spot.is_blank() => {
                self.go_to(row, self.cols - u16::from(spot.columns));
                self.set_pen(spot.look);
                self.ink.text(text, self.out);
            }
            _ => self.go_to(row, col.min(self.cols - 1)),
        }
    }

    /// Lets a pending wrap happen without leaving anything on the next row.
    pub(super) fn begin_next_row(&mut self) {
        self.set_pen(0);
        self.out.extend_from_slice(EMPTY_ROW);
    }

    fn forward(&mut self, at: &mut u16, col: u16) {
        if col > *at {
            write_csi(&[col - *at], b'C', self.out);
            *at = col;
        }
    }

    fn erase(&mut self, look: LookId, columns: u16, at: &mut u16, col: u16) {
        if look != 0 && col < self.cols {
            self.forward(at, col);
            self.set_pen(look);
            write_csi(&[columns], b'X', self.out);
        }
    }
}

/// Writes `ESC [ params last`.
pub(super) fn write_csi(params: &[u16], last: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x1b[");
    for (index, param) in params.iter().enumerate() {
        if index > 0 {
            out.push(b';');
        }
        write_number(u32::from(*param), out);
    }
    out.push(last);
}
