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
            self.move_to(0, &mut out);
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
        self.move_to(self.live.lines.len().saturating_sub(1), &mut out);
        out.push_str("\r\n\x1b[?25h\x1b[?1004l\x1b[?2004l\x1b]0;\x07");
        if reports_state {
            out.push_str("\x1b]7501;state=clear:app=sim\x1b\\");
        }
        out
    }

    /// Returns the bytes after which somebody else may write; the next draw starts below.
    pub(super) fn step_aside(&mut self) -> String {
        let mut out = String::new();
        self.move_to(self.live.lines.len().saturating_sub(1), &mut out);
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
                self.move_to(row, out);
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
            self.move_to(row, out);
            push(out, format_args!("\x1b[{}G\x1b[?25h", col + 1));
        }
        self.live = live;
    }

    fn move_to(&mut self, row: usize, out: &mut String) {
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;
    use crate::model::Moment;
    use crate::sim::input::Typed;
    use crate::sim::order::Facts;
    use crate::sim::player::Player;
    use crate::sim::script::Script;

    const STORY: &str = r#"
title Backend
on prompt
  todo "Write the handler" "Write a test"
  say "I will add the endpoint and then write a test that shows that it answers."
  tool "Edit(src/api.rs)" 0s "Added 12 lines" "a" "b" "c" "d" "e" "f" "g"
  tick 1
  progress 1/2 "handler written"
  think 60s "Writing a test"
  approve "cargo add axum --features macros" because "Adds the web framework"
"#;

    fn length(length: u16) -> NonZeroU16 {
        NonZeroU16::new(length).unwrap()
    }

    /// A terminal that the story is played on.
    struct Theatre {
        player: Player,
        painter: Painter,
        terminal: vt100::Parser,
        size: Size,
    }

    impl Theatre {
        fn new(rows: u16, cols: u16) -> Self {
            let script = Script::parse(STORY).unwrap();
            let facts = Facts { name: "sim".into(), directory: "~/demo".into(), files: Vec::new() };
            Self {
                player: Player::new(script, &facts, Moment(0)),
                painter: Painter::default(),
                terminal: vt100::Parser::new(length(rows), length(cols), 100),
                size: Size { rows, cols },
            }
        }

        fn draw(&mut self) -> usize {
            let bytes = self.painter.draw(&self.player.ui, self.size, true);
            self.terminal.process(bytes.as_bytes());
            bytes.len()
        }

        /// Plays up to the moment, with a frame every 50 ms.
        fn play(&mut self, from: u64, to: u64) {
            for now in (from..=to).step_by(50) {
                self.player.advance(Moment(now));
                self.draw();
            }
        }

        fn start(&mut self) {
            self.draw();
            self.player.typed(Typed::Paste("Add GET /users to the API, please.".into()), Moment(0));
            self.draw();
            self.player.typed(Typed::Key("enter".parse().unwrap()), Moment(0));
            self.play(0, 3000);
        }

        fn screen(&self) -> String {
            let contents = self.terminal.screen().contents();
            let lines: Vec<&str> = contents.trim_start().lines().map(str::trim_end).collect();
            lines.join("\n")
        }
    }

    #[test]
    fn a_working_agent_at_80_columns() {
        let mut theatre = Theatre::new(30, 80);
        theatre.start();
        insta::assert_snapshot!(theatre.screen(), @r"
        ╭──────────────────────────────────────────────────────────╮
        │ ⎈ Backend · sim 0.1.0                                    │
        │   ~/demo                                                 │
        ╰──────────────────────────────────────────────────────────╯

        ❯ Add GET /users to the API, please.

        ● I will add the endpoint and then write a test that shows that it answers.

        ● Edit(src/api.rs)
          ⎿  Added 12 lines
             a
             b
             c
             d
             e
             … +2 lines (ctrl+o to expand)

        ● PROGRESS: [1/2] — handler written

        · Writing a test… (3s · ↓ 137 tokens)
          ⎿  ☒ Write the handler
             ☐ Write a test

        ────────────────────────────────────────────────────────────────────────────────
        ❯
        ────────────────────────────────────────────────────────────────────────────────
          esc to interrupt
        ");
    }

    #[test]
    fn a_working_agent_at_40_columns() {
        let mut theatre = Theatre::new(30, 40);
        theatre.start();
        insta::assert_snapshot!(theatre.screen(), @r"
        ╭──────────────────────────────────────╮
        │ ⎈ Backend · sim 0.1.0                │
        │   ~/demo                             │
        ╰──────────────────────────────────────╯

        ❯ Add GET /users to the API, please.

        ● I will add the endpoint and then write
          a test that shows that it answers.

        ● Edit(src/api.rs)
          ⎿  Added 12 lines
             a
             b
             c
             d
             e
             … +2 lines (ctrl+o to expand)

        ● PROGRESS: [1/2] — handler written

        · Writing a test… (3s · ↓ 137 tokens)
          ⎿  ☒ Write the handler
             ☐ Write a test

        ────────────────────────────────────────
        ❯
        ────────────────────────────────────────
          esc to interrupt
        ");
    }

    #[test]
    fn an_approval_stands_in_place_of_the_box() {
        let mut theatre = Theatre::new(24, 80);
        theatre.start();
        theatre.play(60_000, 64_000);
        insta::assert_snapshot!(theatre.screen(), @r"
        ● Edit(src/api.rs)
          ⎿  Added 12 lines
             a
             b
             c
             d
             e
             … +2 lines (ctrl+o to expand)

        ● PROGRESS: [1/2] — handler written

        ────────────────────────────────────────────────────────────────────────────────
         Bash command

           cargo add axum --features macros
           Adds the web framework

         Do you want to proceed?
         ❯ 1. Yes
           2. Yes, and don't ask again for: cargo add
           3. No

         Esc to cancel · Tab to amend
        ");
    }

    #[test]
    fn a_resize_draws_the_same_as_a_terminal_that_always_had_that_size() {
        let mut theatre = Theatre::new(40, 80);
        theatre.start();
        theatre.size = Size { rows: 40, cols: 44 };
        theatre.terminal.screen_mut().set_size(length(40), length(44));
        theatre.draw();
        let mut other = Theatre::new(40, 44);
        other.start();
        assert_eq!(theatre.screen(), other.screen());
    }

    #[test]
    fn a_repaint_shows_the_same_screen_again() {
        for rows in [12, 24, 40] {
            let mut theatre = Theatre::new(rows, 80);
            theatre.start();
            let before = theatre.screen();
            let bytes = theatre.painter.repaint(&theatre.player.ui, theatre.size);
            theatre.terminal.process(bytes.as_bytes());
            assert_eq!(theatre.screen(), before, "{rows}");
            theatre.play(3000, 3050);
            assert_eq!(theatre.screen().lines().count(), before.lines().count(), "{rows}");
        }
    }

    #[test]
    fn nothing_is_written_when_nothing_has_changed_and_little_for_the_spinner() {
        let mut theatre = Theatre::new(24, 80);
        theatre.start();
        assert_eq!(theatre.draw(), 0);
        theatre.player.advance(Moment(3100));
        let bytes = theatre.draw();
        assert!((1..200).contains(&bytes), "{bytes}");
    }

    #[test]
    fn the_state_of_the_turn_is_announced_once() {
        let mut theatre = Theatre::new(24, 80);
        let first = theatre.painter.draw(&theatre.player.ui, theatre.size, true);
        assert!(first.contains("\x1b]0;✳ Backend\x07"));
        assert!(first.contains("\x1b]7501;state=idle:app=sim\x1b\\"));
        theatre.player.line("Go", Moment(0));
        let second = theatre.painter.draw(&theatre.player.ui, theatre.size, true);
        assert!(second.contains("\x1b]0;⠂ Backend\x07"));
        assert!(second.contains("state=working:app=sim"));
        assert!(!theatre.painter.draw(&theatre.player.ui, theatre.size, true).contains("7501"));
    }

    #[test]
    fn a_tiny_terminal_is_drawn_without_harm() {
        for (rows, cols) in [(2, 2), (3, 5), (5, 10), (1000, 3)] {
            let mut theatre = Theatre::new(rows, cols);
            theatre.start();
            theatre.play(60_000, 60_100);
        }
    }
}
