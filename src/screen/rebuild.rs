//! Puts the screens together anew: for another size, or after the emulator failed.

use crate::model::Size;

use super::canvas::{Canvas, Margins};
use super::draw::{Bare, Drawing};
use super::emulator::Emulator;
use super::line::Line;
use super::look::write_pen;
use super::reflow::{Past, Reflow};

impl Canvas {
    /// Gives the screens another size: the primary one keeps its lines, wrapped anew; of the
    /// alternate one what fits stays until the application draws it again.
    pub(super) fn resize(&mut self, size: Size) {
        self.leave_flow();
        self.flush();
        let cursor = self.emulator.cursor();
        let alternate = self.is_alternate().then(|| (self.emulator.lines(), cursor));
        let read = |screen: &vt100::Screen| -> Vec<Line> {
            (0..self.size().rows).map(|row| Line::read(screen, row)).collect()
        };
        let (lines, cursor) = (read(self.primary()), self.primary().cursor_position());
        if size.cols != self.size().cols {
            self.history.rewrap(size.cols);
        }
        let Self { looks, clusters, links, history, .. } = self;
        let past = Past { history, looks, clusters, links };
        let mut reflow = Reflow::new(lines, cursor, size, past);
        let seen = reflow.seen(self.tables());
        self.history.set_taken_back(seen);
        let lines = reflow.lines.split_off(reflow.over);
        for line in &reflow.lines {
            self.commit(line);
        }
        let row = u16::try_from(reflow.cursor.0.saturating_sub(reflow.over)).unwrap_or(0);
        self.margins = [Margins::whole(size); 2];
        self.parked = None;
        self.replace(size, &lines, (row, reflow.cursor.1));
        if let Some((lines, (row, col))) = alternate {
            self.parked = Some(Box::new(self.emulator.screen().clone()));
            self.emulator.pending().extend_from_slice(b"\x1b[?47h");
            // Rows below the cursor go first, and then those at the top, until the cursor's fits.
            let over = (row + 1).saturating_sub(size.rows);
            let cursor = (row - over, col.min(size.cols - 1));
            self.draw(&lines[usize::from(over)..], cursor, size);
        }
    }

    /// Goes on with a new emulator that shows these rows; the parked screen is drawn first.
    pub(super) fn replace(&mut self, size: Size, lines: &[Line], cursor: (u16, u16)) {
        self.emulator = Emulator::new(size);
        self.hidden = None;
        self.changed.note_all();
        if let Some(parked) = self.parked.take() {
            let primary: Vec<Line> = (0..size.rows).map(|row| Line::read(&parked, row)).collect();
            self.draw(&primary, parked.cursor_position(), size);
            self.parked = Some(Box::new(self.emulator.screen().clone()));
            self.emulator.pending().extend_from_slice(b"\x1b[?47h");
        }
        self.draw(lines, cursor, size);
    }

    /// Draws rows onto the empty screen that is shown, and restores cursor, margins and pen.
    fn draw(&mut self, lines: &[Line], cursor: (u16, u16), size: Size) {
        let margins = self.margins();
        let out = self.emulator.pending();
        let mut drawing = Drawing { ink: &Bare, cols: size.cols, pen: None, out };
        drawing.lines(&lines[..lines.len().min(usize::from(size.rows))]);
        margins.write(drawing.out);
        drawing.place(lines.get(usize::from(cursor.0)), cursor.0, cursor.1, margins.above());
        write_pen(self.pen, self.emulator.pending());
        if !self.emulator.flush() {
            self.emulator = Emulator::new(size);
            self.parked = None;
        }
        self.emulator.scrolled().drain(|_, _| {});
    }
}
