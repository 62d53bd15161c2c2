//! Answers what an application asks the terminal, in fixed forms: nothing it sent comes back.

use super::csi::Csi;
use super::palette::Rgb;
use super::terminal::Terminal;

/// A guess that programs use to scale pictures, which we do not show.
const CELL_PIXELS: (u32, u32) = (20, 10);
/// The mode in which several characters that make one picture take its cells, and what says that it
/// is on and stays on.
const CLUSTERS: u16 = 2027;
const ALWAYS: u8 = 3;
const NAME: &str = concat!("wheelhouse ", env!("CARGO_PKG_VERSION"));

impl Terminal {
    pub(super) fn report(&mut self, csi: &Csi) {
        let size = self.canvas.size();
        let (rows, cols) = (u32::from(size.rows), u32::from(size.cols));
        match (csi.last, csi.get(0)) {
            (b'c', 0) => self.answer(b"\x1b[?62;22c"),
            (b'n', 5) => self.answer(b"\x1b[0n"),
            (b'n', 6) => self.report_cursor(""),
            (b't', 11) => self.answer(b"\x1b[1t"),
            (b't', 14) => {
                let (height, width) = (rows * CELL_PIXELS.0, cols * CELL_PIXELS.1);
                self.answer_text(&format!("\x1b[4;{height};{width}t"));
            }
            (b't', 16) => {
                self.answer_text(&format!("\x1b[6;{};{}t", CELL_PIXELS.0, CELL_PIXELS.1));
            }
            (b't', 18) => self.answer_text(&format!("\x1b[8;{rows};{cols}t")),
            (b't', 19) => self.answer_text(&format!("\x1b[9;{rows};{cols}t")),
            _ => {}
        }
    }

    pub(super) fn report_private(&mut self, csi: &Csi) {
        match (csi.last, csi.get(0)) {
            (b'u', _) => self.answer_text(&format!("\x1b[?{}u", self.modes.kitty_flags)),
            (b'm', 4) => self.answer_text(&format!("\x1b[>4;{}m", self.modes.modify_other_keys)),
            (b'n', 6) => self.report_cursor("?"),
            (b'n', 996) => {
                let scheme = if self.palette.is_dark() { 1 } else { 2 };
                self.answer_text(&format!("\x1b[?997;{scheme}n"));
            }
            _ => {}
        }
    }

    pub(super) fn report_secondary(&mut self, last: u8) {
        match last {
            b'c' => self.answer(b"\x1b[>1;10;0c"),
            _ => self.answer_text(&format!("\x1bP>|{NAME}\x1b\\")),
        }
    }

    pub(super) fn report_private_mode(&mut self, mode: u16) {
        if mode == CLUSTERS {
            return self.answer_text(&format!("\x1b[?{mode};{ALWAYS}$y"));
        }
        let on = self.modes.get(mode).or(match mode {
            6 => Some(self.canvas.margins().is_origin),
            7 => Some(self.wraps),
            25 => Some(self.cursor_is_visible),
            45 => Some(self.wraps_back),
            2026 => Some(self.held_since.is_some()),
            _ => None,
        });
        self.answer_text(&format!("\x1b[?{mode};{}$y", mode_number(on)));
    }

    pub(super) fn report_mode(&mut self, mode: u16) {
        let on = match mode {
            4 => Some(self.inserts),
            20 => Some(self.line_feed_returns),
            _ => None,
        };
        self.answer_text(&format!("\x1b[{mode};{}$y", mode_number(on)));
    }

    pub(super) fn report_color(&mut self, what: &str, (r, g, b): Rgb, by_bell: bool) {
        let end = if by_bell { "\x07" } else { "\x1b\\" };
        let hex = |part: u8| format!("{part:02x}{part:02x}");
        self.answer_text(&format!("\x1b]{what};rgb:{}/{}/{}{end}", hex(r), hex(g), hex(b)));
    }

    fn report_cursor(&mut self, prefix: &str) {
        let (row, col) = self.canvas.cursor();
        let above = self.canvas.margins().above();
        let (row, col) = (row.saturating_sub(above) + 1, col.min(self.canvas.size().cols - 1) + 1);
        self.answer_text(&format!("\x1b[{prefix}{row};{col}R"));
    }

    fn answer_text(&mut self, text: &str) {
        self.answer(text.as_bytes());
    }
}

fn mode_number(on: Option<bool>) -> u8 {
    match on {
        None => 0,
        Some(true) => 1,
        Some(false) => 2,
    }
}
