//! Turns what the agent shows into bytes for the terminal, and no more of them than needed.

use std::fmt::Write;

use crate::model::Size;

use super::line::Line;
use super::ui::{Live, Place, TurnState, Ui};

/// Bracketed paste and focus reports on.
pub(super) const ENTER: &str = "\x1b[?2004h\x1b[?1004h";

/// Remembers what is on the terminal.
#[derive(Debug, Default)]
pub(super) struct Painter {
    size: Option<Size>,
    place: Place,
    live: Live,
    /// The line of the live part that the cursor is on.
    cursor_row: usize,
    title: String,
    state: Option<&'static str>,
}

impl Painter {
    /// Returns the bytes that bring the terminal from what it shows to what it should show.
    pub(super) fn draw(&mut self, ui: &Ui, size: Size, reports_state: bool) -> String {
        let mut out = String::new();
        if self.size.is_some_and(|known| known != size) {
            // The terminal has wrapped our lines anew, so nothing is where we left it.
            out.push_str("\x1b[2J\x1b[3J\x1b[H");
            self.place = Place { block: ui.first_block, line: 0 };
            self.live = Live::default();
            self.cursor_row = 0;
        }
        self.size = Some(size);
        self.announce(ui, reports_state, &mut out);
        let width = usize::from(size.cols);
        let (settled, place) = ui.settled(self.place, width);
        let live = ui.live(place, width, usize::from(size.rows));
        self.place = place;
        if settled.is_empty() && live == self.live {
            return out;
        }
        out.push_str("\x1b[?25l");
        if settled.is_empty() && live.lines.len() == self.live.lines.len() {
            self.change(&live, &mut out);
        } else {
            self.to_row(0, &mut out);
            out.push_str("\r\x1b[J");
            self.print(settled, &live, &mut out);
        }
        self.place_cursor(live, &mut out);
        out
    }

    /// Returns the bytes that paint the whole screen again, as careless programs do.
    pub(super) fn repaint(&mut self, ui: &Ui, size: Size) -> String {
        let mut out = String::from("\x1b[?25l\x1b[H\x1b[2J");
        let (width, rows) = (usize::from(size.cols), usize::from(size.rows));
        let start = Place { block: ui.first_block, line: 0 };
        let (mut settled, place) = ui.settled(start, width);
        let live = ui.live(place, width, rows);
        let room = rows.saturating_sub(live.lines.len());
        settled.drain(..settled.len().saturating_sub(room));
        self.size = Some(size);
        self.place = place;
        self.print(settled, &live, &mut out);
        self.place_cursor(live, &mut out);
        out
    }

    /// Returns the bytes that leave the terminal as it was found, below all output.
    pub(super) fn leave(&mut self, reports_state: bool) -> String {
        let mut out = String::new();
        self.to_row(self.live.lines.len().saturating_sub(1), &mut out);
        out.push_str("\r\n\x1b[?25h\x1b[?1004l\x1b[?2004l\x1b]0;\x07");
        if reports_state {
            out.push_str("\x1b]7501;state=clear:app=sim\x1b\\");
        }
        out
    }

    /// Returns the bytes after which somebody else may write; the next draw starts below.
    pub(super) fn step_aside(&mut self) -> String {
        let mut out = String::new();
        self.to_row(self.live.lines.len().saturating_sub(1), &mut out);
        out.push_str("\r\n");
        self.live = Live::default();
        self.cursor_row = 0;
        out
    }

    /// Writes the title and the state of the turn where they have changed.
    fn announce(&mut self, ui: &Ui, reports_state: bool, out: &mut String) {
        let mark = match (&ui.turn, &ui.spinner) {
            (TurnState::Working, Some(spinner)) if spinner.seconds % 2 == 1 => "⠐",
            (TurnState::Working, _) => "⠂",
            _ => "✳",
        };
        let title = format!("{mark} {}", ui.title);
        if title != self.title {
            push(out, format_args!("\x1b]0;{title}\x07"));
            self.title = title;
        }
        let state = match ui.turn {
            TurnState::Idle => "state=idle:app=sim",
            TurnState::Working => "state=working:app=sim",
            TurnState::Permission => "state=blocked:app=sim:kind=permission",
            TurnState::Question => "state=blocked:app=sim:kind=question",
            TurnState::Done => "state=done:app=sim",
            TurnState::Failed => "state=error:app=sim",
        };
        if reports_state && self.state != Some(state) {
            push(out, format_args!("\x1b]7501;{state}\x1b\\"));
            self.state = Some(state);
        }
    }

    fn change(&mut self, live: &Live, out: &mut String) {
        for (row, line) in live.lines.iter().enumerate() {
            if self.live.lines[row] != *line {
                self.to_row(row, out);
                out.push('\r');
                line.paint(out);
                // After a full line the cursor stands on its last column, which must stay.
                if line.plain().is_empty() || !self.is_full(line) {
                    out.push_str("\x1b[K");
                }
            }
        }
    }

    fn is_full(&self, line: &Line) -> bool {
        let width = self.size.map_or(0, |size| usize::from(size.cols));
        unicode_width::UnicodeWidthStr::width(line.plain().as_str()) >= width
    }

    fn print(&mut self, settled: Vec<Line>, live: &Live, out: &mut String) {
        for line in settled {
            line.paint(out);
            out.push_str("\r\n");
        }
        for (row, line) in live.lines.iter().enumerate() {
            if row > 0 {
                out.push_str("\r\n");
            }
            line.paint(out);
        }
        self.cursor_row = live.lines.len().saturating_sub(1);
    }

    fn place_cursor(&mut self, live: Live, out: &mut String) {
        if let Some((row, col)) = live.cursor {
            self.to_row(row, out);
            push(out, format_args!("\x1b[{}G\x1b[?25h", col + 1));
        }
        self.live = live;
    }

    fn to_row(&mut self, row: usize, out: &mut String) {
        if row < self.cursor_row {
            push(out, format_args!("\x1b[{}A", self.cursor_row - row));
        } else if row > self.cursor_row {
            push(out, format_args!("\x1b[{}B", row - self.cursor_row));
        }
        self.cursor_row = row;
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes all that is written to it");
}
