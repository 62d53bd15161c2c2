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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(playback: &mut Playback, at: u64) -> Option<String> {
        let rows = playback.rows_at(Moment(at))?;
        let lines: Vec<String> = rows.iter().map(|row| row.text().trim_end().to_owned()).collect();
        Some(lines.join("\n").trim_end().to_owned())
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
