//! Shows what a recorded terminal showed at any moment.

use crate::model::{Moment, Row, Size};
use crate::screen::{HistoryLimit, Screen};

use super::asciicast::{Cast, CastEvent};
use super::keyframe::RESET;

/// Only the screen is shown: what has scrolled off it is let go.
const HISTORY: HistoryLimit = HistoryLimit { lines: 0, bytes: 0 };

/// A recording that can be wound to and fro.
#[derive(Debug)]
pub struct Playback {
    cast: Cast,
    /// Where the screen needs nothing of what came before: the event, and the size by then.
    starts: Vec<(usize, Size)>,
    screen: Screen,
    /// The next event that the screen has not seen.
    next: usize,
}

impl Playback {
    pub fn new(cast: Cast) -> Self {
        let mut size = cast.size;
        let mut starts = vec![(0, size)];
        for (index, (_, event)) in cast.events.iter().enumerate() {
            match event {
                CastEvent::Resize(new) => size = *new,
                CastEvent::Output(output) if output.starts_with(RESET) => {
                    starts.push((index, size));
                }
                CastEvent::Output(_) | CastEvent::Marker(_) => {}
            }
        }
        Self { screen: Screen::new(cast.size, HISTORY), cast, starts, next: 0 }
    }

    /// Returns when the recording begins.
    pub fn began(&self) -> Moment {
        self.cast.started
    }

    /// Returns what the screen showed at a moment; nothing if that lies before the recording.
    pub fn rows_at(&mut self, at: Moment) -> Option<Vec<Row>> {
        let since = at.0.checked_sub(self.cast.started.0)?;
        let end = self.cast.events.partition_point(|(time, _)| time.0 <= since);
        let is_passed = |(index, _): &&(usize, Size)| *index < end;
        let &(start, size) = self.starts.iter().rev().find(is_passed).unwrap_or(&self.starts[0]);
        if end < self.next || start > self.next {
            (self.screen, self.next) = (Screen::new(size, HISTORY), start);
        }
        for (time, event) in &self.cast.events[self.next..end] {
            match event {
                CastEvent::Output(output) => drop(self.screen.feed(output.as_bytes(), *time)),
                CastEvent::Resize(size) => self.screen.resize(*size),
                CastEvent::Marker(_) => {}
            }
        }
        self.next = end;
        Some(self.screen.rows())
    }
}

/// How many lines of the past are kept while a recording is read for its text.
const READ_LIMIT: HistoryLimit = HistoryLimit { lines: 20_000, bytes: 16 * 1024 * 1024 };

/// Returns every line that a recorded terminal has shown, and when it scrolled off; what was on the
/// screen at the end comes last. A line that the terminal broke is whole.
pub fn recorded_lines(cast: &Cast) -> Vec<(Moment, String)> {
    let mut screen = Screen::new(cast.size, READ_LIMIT);
    let (mut lines, mut whole, mut seen) = (Vec::new(), String::new(), 0);
    let mut now = cast.started;
    let mut take = |row: &Row, at: Moment| {
        whole.push_str(&row.text());
        if !row.wrapped {
            let line = std::mem::take(&mut whole);
            lines.extend(
                Some((at, line.trim_end().to_owned())).filter(|(_, line)| !line.is_empty()),
            );
        }
    };
    for (time, event) in &cast.events {
        now = cast.started + std::time::Duration::from_millis(time.0);
        match event {
            CastEvent::Output(output) => drop(screen.feed(output.as_bytes(), *time)),
            CastEvent::Resize(size) => screen.resize(*size),
            CastEvent::Marker(_) => {}
        }
        let range = screen.history_range();
        for number in range.start.max(seen)..range.end {
            screen.history_row(number).iter().for_each(|row| take(row, now));
        }
        seen = seen.max(range.end);
    }
    screen.rows().iter().for_each(|row| take(row, now));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(playback: &mut Playback, at: u64) -> Option<String> {
        let rows = playback.rows_at(Moment(at))?;
        let lines: Vec<String> = rows.iter().map(|row| row.text().trim_end().to_owned()).collect();
        Some(lines.join("\n").trim_end().to_owned())
    }

    #[test]
    fn every_line_is_read_with_the_moment_at_which_it_was_gone() {
        let output = |text: &str| CastEvent::Output(text.to_owned());
        let events = vec![
            (Moment(0), output("one\r\ntwo\r\n")),
            (Moment(1000), output("a line that is broken\r\nlast")),
        ];
        let size = Size { rows: 2, cols: 10 };
        let (started, title) = (Moment(10_000), String::new());
        let lines = recorded_lines(&Cast { size, started, title, events, typed: Vec::new() });
        let expected =
            [(10_000, "one"), (11_000, "two"), (11_000, "a line that is broken"), (11_000, "last")];
        assert_eq!(lines, expected.map(|(at, line)| (Moment(at), line.to_owned())));
    }

    fn recording() -> Playback {
        let output = |text: &str| CastEvent::Output(text.to_owned());
        let events = vec![
            (Moment(0), output("one")),
            (Moment(1000), output(" two")),
            (Moment(2000), CastEvent::Resize(Size { rows: 3, cols: 30 })),
            (Moment(2000), output("\x1bcthree")),
            (Moment(2500), CastEvent::Marker("state working".to_owned())),
            (Moment(3000), output("\r\nfour")),
        ];
        let size = Size { rows: 2, cols: 20 };
        let (started, title) = (Moment(10_000), String::new());
        Playback::new(Cast { size, started, title, events, typed: Vec::new() })
    }

    #[test]
    fn every_moment_shows_the_same_whichever_way_it_is_reached() {
        let moments = [
            (9_999, None),
            (10_000, Some("one")),
            (10_999, Some("one")),
            (11_000, Some("one two")),
            (12_400, Some("three")),
            (13_000, Some("three\nfour")),
            (99_000, Some("three\nfour")),
        ];
        let mut playback = recording();
        for (at, expected) in moments {
            assert_eq!(text(&mut playback, at).as_deref(), expected, "{at}");
            assert_eq!(text(&mut recording(), at).as_deref(), expected, "{at}, at once");
        }
        for (at, expected) in moments.into_iter().rev() {
            assert_eq!(text(&mut playback, at).as_deref(), expected, "{at}, backwards");
        }
    }
}
