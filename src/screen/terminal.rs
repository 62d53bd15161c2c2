//! The state of a terminal, and what the short sequences and controls do to it.

use std::time::Duration;

use crate::model::{Moment, Size};

use super::canvas::Canvas;
use super::csi::Csi;
use super::draw::write_csi;
use super::history::HistoryLimit;
use super::line::width;
use super::look::Look;
use super::mode::{KeyboardStack, Modes};
use super::palette::Palette;
use super::scanner::Listener;
use super::signal::Signal;
use super::tabs::Tabs;

/// How the cursor is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CursorShape {
    /// Whatever the user's terminal uses.
    #[default]
    Default,
    BlinkingBlock,
    SteadyBlock,
    BlinkingUnderline,
    SteadyUnderline,
    BlinkingBar,
    SteadyBar,
}

impl CursorShape {
    const ALL: [Self; 7] = [
        Self::Default,
        Self::BlinkingBlock,
        Self::SteadyBlock,
        Self::BlinkingUnderline,
        Self::SteadyUnderline,
        Self::BlinkingBar,
        Self::SteadyBar,
    ];

    /// Returns the shape with a number of DECSCUSR.
    pub(super) fn numbered(number: u16) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or_default()
    }

    pub fn number(self) -> u8 {
        (0..).zip(Self::ALL).find(|(_, shape)| *shape == self).map_or(0, |(number, _)| number)
    }
}

/// Which characters the two halves of the shift mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Charsets {
    /// Of G0 and of G1: whether it is the set of line drawing characters.
    pub(super) is_drawing: [bool; 2],
    pub(super) is_shifted: bool,
}

impl Charsets {
    pub(super) fn draws_lines(self) -> bool {
        self.is_drawing[usize::from(self.is_shifted)]
    }
}

/// What DECSC keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Saved {
    pub(super) row: u16,
    pub(super) col: u16,
    pub(super) pen: Look,
    pub(super) charsets: Charsets,
    pub(super) is_origin: bool,
}

/// An application that dies inside a frame must not freeze its pane.
pub(super) const HOLD_MAX: Duration = Duration::from_millis(150);
/// An application that asks without end is answered this much at a time.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Keeps what follows apart from the character before it; to other terminals it means nothing.
pub(super) const APART: u8 = 0;
/// When an application says more at once, the older half is forgotten.
const SIGNALS_MAX: usize = 512;

#[expect(clippy::struct_excessive_bools, reason = "each is a mode of its own")]
pub(super) struct Terminal {
    pub(super) canvas: Canvas,
    pub(super) modes: Modes,
    pub(super) pen: Look,
    pub(super) charsets: Charsets,
    /// Of the primary and of the alternate screen.
    pub(super) saved: [Saved; 2],
    pub(super) keyboards: [KeyboardStack; 2],
    pub(super) tabs: Tabs,
    pub(super) title: String,
    pub(super) cursor_is_visible: bool,
    pub(super) cursor_shape: CursorShape,
    pub(super) wraps: bool,
    /// A backspace in the first column goes to the row above.
    pub(super) wraps_back: bool,
    pub(super) inserts: bool,
    pub(super) line_feed_returns: bool,
    /// The last character asks for the next one to be joined to it.
    pub(super) joins_next: bool,
    /// The next character is not joined to the one before it, whatever the two are.
    pub(super) stands_alone: bool,
    /// The last thing was a character, which can be repeated.
    pub(super) can_repeat: bool,
    pub(super) palette: Palette,
    pub(super) answers: Vec<u8>,
    pub(super) signals: Vec<Signal>,
    pub(super) now: Moment,
    pub(super) held_since: Option<Moment>,
    /// When the frame that ended in this chunk had begun.
    pub(super) released: Option<Moment>,
}

impl Terminal {
    pub(super) fn new(size: Size, limit: HistoryLimit) -> Self {
        Self {
            canvas: Canvas::new(size, limit),
            modes: Modes::default(),
            pen: Look::default(),
            charsets: Charsets::default(),
            saved: Default::default(),
            keyboards: Default::default(),
            tabs: Tabs::default(),
            title: String::new(),
            cursor_is_visible: true,
            cursor_shape: CursorShape::default(),
            wraps: true,
            wraps_back: false,
            inserts: false,
            line_feed_returns: false,
            joins_next: false,
            stands_alone: false,
            can_repeat: false,
            palette: Palette::default(),
            answers: Vec::new(),
            signals: Vec::new(),
            now: Moment::default(),
            held_since: None,
            released: None,
        }
    }

    pub(super) fn answer(&mut self, bytes: &[u8]) {
        if self.answers.len() + bytes.len() <= ANSWER_BYTES_MAX {
            self.answers.extend_from_slice(bytes);
        }
    }

    pub(super) fn signal(&mut self, signal: Signal) {
        if self.signals.last() == Some(&signal) {
            return;
        }
        if self.signals.len() == SIGNALS_MAX {
            self.signals.drain(..SIGNALS_MAX / 2);
        }
        self.signals.push(signal);
    }

    /// Gives the screens another size. A cursor that was saved where the primary screen has it,
    /// as full-screen programs do, moves with the text.
    pub(super) fn resize(&mut self, size: Size) {
        let before = self.canvas.primary().cursor_position();
        self.canvas.resize(size);
        let saved = &mut self.saved[0];
        if (saved.row, saved.col) == before {
            (saved.row, saved.col) = self.canvas.primary().cursor_position();
        }
    }

    /// Notes that something else follows the text: what is printed then is neither joined to it by its
    /// own wish, nor can it be repeated.
    fn end_text(&mut self) {
        (self.joins_next, self.can_repeat) = (false, false);
    }

    /// Returns the index of what each screen has for itself.
    pub(super) fn side(&self) -> usize {
        usize::from(self.canvas.is_alternate())
    }

    pub(super) fn save_cursor(&mut self) {
        let (row, col) = self.canvas.cursor();
        let is_origin = self.canvas.margins().is_origin;
        let saved = Saved { row, col, pen: self.pen, charsets: self.charsets, is_origin };
        self.saved[self.side()] = saved;
    }

    pub(super) fn restore_cursor(&mut self) {
        let saved = self.saved[self.side()];
        let mut margins = self.canvas.margins();
        if margins.is_origin != saved.is_origin {
            margins.is_origin = saved.is_origin;
            self.canvas.set_margins(margins);
        }
        let size = self.canvas.size();
        self.canvas.go_to(saved.row.min(size.rows - 1), saved.col.min(size.cols - 1));
        self.pen = saved.pen;
        self.charsets = saved.charsets;
        self.canvas.set_pen(saved.pen);
    }

    /// Ends a pending wrap: the cursor stays on the last column.
    pub(super) fn forget_wrap(&mut self) {
        let cols = self.canvas.size().cols;
        if self.canvas.cursor().1 >= cols {
            write_csi(&[cols], b'G', self.canvas.out());
        }
    }

    pub(super) fn line_feed(&mut self) {
        self.feed(if self.line_feed_returns { "\r\n" } else { "\n" });
    }

    fn feed(&mut self, line_end: &str) {
        if self.has_background() {
            self.feed_on_background(line_end);
        } else {
            self.canvas.plain_text(line_end);
        }
    }

    /// Says whether the cursor went back over the left edge to the rows above, which is done only in
    /// the mode for it.
    pub(super) fn goes_back_over_margin(&mut self, count: u16) -> bool {
        if !(self.wraps_back && self.wraps) {
            return false;
        }
        let (row, col) = self.canvas.cursor();
        let cols = self.canvas.size().cols;
        let top = self.canvas.margins().above();
        let has_rows = count > col.min(cols - 1) && row > top;
        if has_rows {
            let at = usize::from(row - top) * usize::from(cols) + usize::from(col.min(cols - 1));
            let at = at.saturating_sub(usize::from(count));
            let part = |number: usize| u16::try_from(number).unwrap_or(0);
            let cols = usize::from(cols);
            self.canvas.go_to(top + part(at / cols), part(at % cols));
        }
        has_rows
    }

    /// Moves the cursor over tab stops, backwards if negative.
    pub(super) fn tab(&mut self, count: u16, is_back: bool) {
        let cols = self.canvas.size().cols;
        let mut col = self.canvas.cursor().1.min(cols - 1);
        for _ in 0..count.min(cols) {
            col = if is_back { self.tabs.previous(col) } else { self.tabs.next(col, cols) };
        }
        write_csi(&[col + 1], b'G', self.canvas.out());
    }

    fn reset(&mut self) {
        if self.canvas.budget.afford(40 * self.canvas.cells()) {
            if !self.canvas.is_alternate() {
                self.canvas.commit_screen();
            }
            self.canvas.reset();
        }
        self.modes = Modes::default();
        self.pen = Look::default();
        self.canvas.set_pen(self.pen);
        self.charsets = Charsets::default();
        self.saved = Default::default();
        self.keyboards = Default::default();
        self.tabs = Tabs::default();
        self.cursor_is_visible = true;
        self.cursor_shape = CursorShape::default();
        self.wraps = true;
        self.wraps_back = false;
        self.inserts = false;
        self.line_feed_returns = false;
        self.held_since = None;
    }

    /// Resets what DECSTR resets: the modes of printing, not what the screen shows.
    pub(super) fn soft_reset(&mut self) {
        let (row, col) = self.canvas.cursor();
        self.canvas.reset_margins();
        self.canvas.go_to(row, col.min(self.canvas.size().cols - 1));
        self.pen = Look::default();
        self.canvas.set_pen(self.pen);
        self.charsets = Charsets::default();
        self.saved[self.side()] = Saved::default();
        self.wraps = true;
        self.wraps_back = false;
        self.inserts = false;
        self.cursor_is_visible = true;
        self.modes.application_cursor = false;
        self.modes.application_keypad = false;
    }

    /// Fills the screen with the letter E, as DECALN asks.
    fn align(&mut self) {
        let size = self.canvas.size();
        if !self.canvas.budget.afford(20 * self.canvas.cells()) {
            return;
        }
        self.canvas.reset_margins();
        self.canvas.set_pen(Look::default());
        for row in 0..size.rows {
            self.canvas.go_to(row, 0);
            self.canvas.text("E");
            write_csi(&[size.cols - 1], b'b', self.canvas.out());
        }
        self.canvas.go_to(0, 0);
        self.canvas.set_pen(self.pen);
    }
}

impl Listener for Terminal {
    fn text(&mut self, text: &str) {
        self.print(text);
        let is_seen = |c: char| !c.is_control() && width(c) > 0;
        self.can_repeat = text.chars().next_back().is_some_and(is_seen);
    }

    fn control(&mut self, byte: u8) {
        self.end_text();
        match byte {
            APART => self.stands_alone = true,
            0x07 => self.signal(Signal::Bell),
            0x08 if self.goes_back_over_margin(1) => {}
            0x08 if self.canvas.backspace_in_flow() => {}
            0x08 => {
                self.forget_wrap();
                self.canvas.out().push(0x08);
            }
            b'\t' if !self.tabs.is_default() => self.tab(1, false),
            b'\t' if self.canvas.tab_in_flow() => {}
            b'\t' => self.canvas.out().push(b'\t'),
            0x0b | 0x0c => self.line_feed(),
            0x0e => self.charsets.is_shifted = true,
            0x0f => self.charsets.is_shifted = false,
            _ => {}
        }
    }

    fn escape(&mut self, intermediate: Option<u8>, last: u8) {
        self.end_text();
        match (intermediate, last) {
            (None, b'7') => self.save_cursor(),
            (None, b'8') => self.restore_cursor(),
            (None, b'=') => self.modes.application_keypad = true,
            (None, b'>') => self.modes.application_keypad = false,
            (None, b'D') => self.feed("\n"),
            (None, b'E') => self.feed("\r\n"),
            (None, b'H') => {
                let cols = self.canvas.size().cols;
                let col = self.canvas.cursor().1.min(cols - 1);
                self.tabs.set(col, cols, true);
            }
            (None, b'M') => {
                self.forget_wrap();
                self.reverse_feed();
            }
            (None, b'c') => self.reset(),
            (Some(b'('), set) => self.charsets.is_drawing[0] = set == b'0',
            (Some(b')'), set) => self.charsets.is_drawing[1] = set == b'0',
            (Some(b'#'), b'8') => self.align(),
            _ => {}
        }
    }

    fn csi(&mut self, csi: &Csi) {
        if csi.last != b'b' {
            self.end_text();
        }
        self.sequence(csi);
    }

    fn osc(&mut self, payload: &[u8], by_bell: bool) {
        self.command(payload, by_bell);
    }

    fn dcs(&mut self, payload: &[u8]) {
        if payload.starts_with(b"+q") {
            self.answer(b"\x1bP0+r\x1b\\");
        } else if payload.starts_with(b"$q") {
            self.answer(b"\x1bP0$r\x1b\\");
        }
    }
}
