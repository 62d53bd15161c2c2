//! Carries out control sequences: those that the emulator knows, and those it must be told otherwise.

use crate::model::Moment;

use super::canvas::Margins;
use super::csi::Csi;
use super::draw::write_csi;
use super::mode::KeyboardStack;
use super::sgr;
use super::terminal::{CursorShape, HOLD_MAX, Saved, Terminal};

impl Terminal {
    pub(super) fn sequence(&mut self, csi: &Csi) {
        match (csi.prefix, csi.intermediate) {
            (0, 0) => self.plain(csi),
            (b'?', 0) => self.private(csi),
            (b'>', 0) => self.secondary(csi),
            (b'=', 0) => match csi.last {
                b'u' => self.change_keyboard(|stack| stack.change(csi.get(0), csi.get(1))),
                b'c' => self.answer(b"\x1bP!|00000000\x1b\\"),
                _ => {}
            },
            (b'<', 0) if csi.last == b'u' => {
                self.change_keyboard(|stack| stack.pop(csi.first(1)));
            }
            (b'?', b'$') if csi.last == b'p' => self.report_private_mode(csi.get(0)),
            (0, b'$') if csi.last == b'p' => self.report_mode(csi.get(0)),
            (0, b' ') if csi.last == b'q' => self.cursor_shape = CursorShape::numbered(csi.get(0)),
            (0, b'!') if csi.last == b'p' => self.soft_reset(),
            _ => {}
        }
    }

    fn plain(&mut self, csi: &Csi) {
        let size = self.canvas.size();
        let count = csi.first(1);
        match csi.last {
            b'm' => {
                sgr::apply(csi, &mut self.pen);
                self.canvas.set_pen(self.pen);
            }
            b'D' if self.goes_back_over_margin(count) => {}
            b'A' | b'B' | b'D' => {
                self.forget_wrap();
                write_csi(&[count], csi.last, self.canvas.out());
            }
            b'C' | b'E' | b'F' | b'G' | b'`' => write_csi(&[count], csi.last, self.canvas.out()),
            b'a' => write_csi(&[count], b'C', self.canvas.out()),
            b'e' => {
                self.forget_wrap();
                write_csi(&[count], b'B', self.canvas.out());
            }
            b'd' => self.go_to_row(count),
            b'H' | b'f' => {
                write_csi(&[count, csi.get(1).max(1)], b'H', self.canvas.out());
            }
            b'J' => self.erase_display(csi.get(0)),
            b'K' if csi.get(0) <= 2 => self.canvas.erase(self.pen, &[csi.get(0)], b'K'),
            b'X' => self.canvas.erase(self.pen, &[count], b'X'),
            b'@' => self.insert_cells(count.min(size.cols)),
            b'P' => self.delete_cells(count.min(size.cols)),
            b'L' | b'M' | b'S' | b'T' => self.move_lines(count.min(size.rows), csi),
            b'b' => self.repeat(count),
            b'I' => self.tab(count, false),
            b'Z' => self.tab(count, true),
            b'g' => self.clear_tabs(csi.get(0)),
            b'r' => self.set_margins(csi),
            b'h' | b'l' => self.set_mode(csi),
            b's' if csi.params().is_empty() => self.save_cursor(),
            b'u' if csi.params().is_empty() => self.restore_cursor(),
            b'c' | b'n' | b't' => self.report(csi),
            _ => {}
        }
    }

    fn private(&mut self, csi: &Csi) {
        match csi.last {
            b'h' | b'l' => {
                for mode in csi.params() {
                    self.set_private_mode(*mode, csi.last == b'h');
                }
            }
            b'J' => self.erase_display(csi.get(0)),
            b'K' if csi.get(0) <= 2 => self.canvas.erase(self.pen, &[csi.get(0)], b'K'),
            b'u' | b'n' | b'm' => self.report_private(csi),
            _ => {}
        }
    }

    fn secondary(&mut self, csi: &Csi) {
        match csi.last {
            b'u' => self.change_keyboard(|stack| stack.push(csi.get(0))),
            b'm' if csi.get(0) == 4 => {
                self.modes.modify_other_keys = csi.get(1).min(2).to_le_bytes()[0];
            }
            b'm' if csi.params().is_empty() => self.modes.modify_other_keys = 0,
            b'n' if csi.get(0) == 4 => self.modes.modify_other_keys = 0,
            b'c' | b'q' if csi.get(0) == 0 => self.report_secondary(csi.last),
            _ => {}
        }
    }

    fn change_keyboard(&mut self, change: impl FnOnce(&mut KeyboardStack)) {
        let side = self.side();
        change(&mut self.keyboards[side]);
        self.modes.kitty_flags = self.keyboards[side].top();
    }

    fn set_mode(&mut self, csi: &Csi) {
        let on = csi.last == b'h';
        for mode in csi.params() {
            match mode {
                4 => self.inserts = on,
                20 => self.line_feed_returns = on,
                _ => {}
            }
        }
    }

    fn set_private_mode(&mut self, mode: u16, on: bool) {
        if self.modes.set(mode, on) {
            return;
        }
        match mode {
            6 => {
                let margins = self.canvas.margins();
                self.canvas.set_margins(Margins { is_origin: on, ..margins });
            }
            7 => self.wraps = on,
            25 => self.cursor_is_visible = on,
            45 => self.wraps_back = on,
            47 => self.show_alternate(on, false, false),
            1047 => self.show_alternate(on, true, false),
            1048 if on => self.save_cursor(),
            1048 => self.restore_cursor(),
            1049 => self.show_alternate(on, true, true),
            2026 => self.hold(on),
            _ => {}
        }
    }

    fn show_alternate(&mut self, on: bool, clear: bool, saves: bool) {
        if on && !self.canvas.is_alternate() {
            if saves {
                self.save_cursor();
            }
            if clear {
                // Nothing of the program that was here before.
                self.saved[1] = Saved::default();
                self.keyboards[1] = KeyboardStack::default();
            }
            self.canvas.enter_alternate(clear);
        } else if !on {
            self.canvas.leave_alternate(clear, !saves);
            if saves {
                self.restore_cursor();
            }
        }
        self.modes.alternate_screen = self.canvas.is_alternate();
        self.modes.kitty_flags = self.keyboards[self.side()].top();
    }

    /// Begins or ends a frame. One that begins in the chunk in which the last one ended was
    /// never seen finished, so it does not get more time.
    fn hold(&mut self, on: bool) {
        if on {
            let now = self.now;
            let fresh = |since: &Moment| now < *since + HOLD_MAX;
            let since = self.held_since.or(self.released.take()).filter(fresh).unwrap_or(now);
            self.held_since = Some(since);
        } else {
            self.released = self.held_since.take().or(self.released);
        }
    }

    fn go_to_row(&mut self, row: u16) {
        let (_, col) = self.canvas.cursor();
        let col = col.min(self.canvas.size().cols - 1) + 1;
        write_csi(&[row, col], b'H', self.canvas.out());
    }

    fn erase_display(&mut self, how: u16) {
        if how == 3 {
            self.canvas.flush();
            self.canvas.history.clear();
        }
        if how > 2 || !self.canvas.budget.afford(2 * self.canvas.cells()) {
            return;
        }
        if how == 2 && !self.canvas.is_alternate() {
            if !self.canvas.budget.afford(24 * self.canvas.cells()) {
                return;
            }
            self.canvas.commit_screen();
        }
        self.canvas.erase(self.pen, &[how], b'J');
    }

    fn insert_cells(&mut self, count: u16) {
        write_csi(&[count], b'@', self.canvas.out());
        if self.has_background() {
            self.canvas.erase(self.pen, &[count], b'X');
        }
    }

    fn delete_cells(&mut self, count: u16) {
        write_csi(&[count], b'P', self.canvas.out());
        if self.has_background() {
            let cols = self.canvas.size().cols;
            let (row, col) = self.canvas.cursor();
            if col < cols {
                write_csi(&[(cols - count).max(col) + 1], b'G', self.canvas.out());
                self.canvas.erase(self.pen, &[0], b'K');
                self.canvas.go_to(row, col);
            }
        }
    }

    fn move_lines(&mut self, count: u16, csi: &Csi) {
        let cells = usize::from(count) * usize::from(self.canvas.size().cols);
        // `CSI … T` with more parameters tracks the mouse, and is obsolete.
        let cost = if csi.last == b'S' { 8 * cells } else { 2 * cells };
        if csi.params().len() <= 1 && self.canvas.budget.afford(cost) {
            write_csi(&[count], csi.last, self.canvas.out());
            if self.has_background() {
                let blank = self.rows_left_blank(count, csi.last);
                self.fill_rows(blank);
            }
        }
    }

    fn repeat(&mut self, count: u16) {
        let count = usize::from(count).min(self.canvas.cells());
        if self.can_repeat && self.canvas.budget.afford(24 * count) {
            write_csi(&[u16::try_from(count).unwrap_or(u16::MAX)], b'b', self.canvas.out());
        }
    }

    fn clear_tabs(&mut self, how: u16) {
        match how {
            0 => {
                let cols = self.canvas.size().cols;
                let col = self.canvas.cursor().1.min(cols - 1);
                self.tabs.set(col, cols, false);
            }
            3 => self.tabs.clear(),
            _ => {}
        }
    }

    fn set_margins(&mut self, csi: &Csi) {
        let rows = self.canvas.size().rows;
        let top = csi.first(1) - 1;
        let bottom = match csi.get(1) {
            0 => rows - 1,
            bottom => (bottom - 1).min(rows - 1),
        };
        if top < bottom {
            let is_origin = self.canvas.margins().is_origin;
            self.canvas.set_margins(Margins { top, bottom, is_origin });
        }
    }
}
