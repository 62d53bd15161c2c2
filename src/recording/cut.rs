//! Puts recordings together, and takes the end of one.

use std::time::Duration;

use crate::model::Moment;
use crate::screen::{HistoryLimit, Screen};

use super::asciicast::{Cast, CastEvent};
use super::keyframe::Keyframes;

impl Cast {
    /// Returns this recording with one that was begun later at its end.
    #[must_use]
    pub fn followed_by(mut self, later: Self) -> Self {
        let gap = later.started.since(self.started);
        let last = self.end();
        // The clock may have been set back between the two; a recording's time never is.
        let shifted = |at: Moment| (at + gap).max(last);
        self.events.push((shifted(Moment(0)), CastEvent::Resize(later.size)));
        self.events.extend(later.events.into_iter().map(|(at, event)| (shifted(at), event)));
        self
    }

    /// Returns the time of the last event.
    pub fn end(&self) -> Moment {
        self.events.last().map_or(Moment(0), |(at, _)| *at)
    }

    /// Returns the last `span` of it, beginning with the screen as it was then.
    #[must_use]
    pub fn last(self, span: Duration) -> Self {
        // Times are told from a whole second on.
        let start = Moment(self.end().since(Moment(0) + span).as_secs() * 1000);
        if start == Moment(0) {
            return self;
        }
        let mut screen = Screen::new(self.size, HistoryLimit::default());
        let mut keyframes = Keyframes::default();
        let mut events = self.events.into_iter().peekable();
        while let Some((at, event)) = events.next_if(|(at, _)| {
            // What was cut within a sequence is whole only with what follows.
            *at < start || !screen.is_between_sequences()
        }) {
            match event {
                CastEvent::Output(output) => {
                    keyframes.note(&screen.feed(output.as_bytes(), at).signals);
                }
                CastEvent::Resize(size) => screen.resize(size),
                CastEvent::Marker(_) => {}
            }
        }
        let keyframe = (Moment(0), CastEvent::Output(keyframes.keyframe(&screen)));
        let rest = events.map(|(at, event)| (Moment(0) + at.since(start), event));
        let events = std::iter::once(keyframe).chain(rest).collect();
        let started = self.started + start.since(Moment(0));
        Self { size: screen.size(), started, title: self.title, events, typed: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Size;

    const SIZE: Size = Size { rows: 5, cols: 20 };

    fn cast(started: u64, events: &[(u64, &str)]) -> Cast {
        let events = events
            .iter()
            .map(|(at, text)| (Moment(*at), CastEvent::Output((*text).into())))
            .collect();
        Cast {
            size: SIZE,
            started: Moment(started),
            title: String::new(),
            events,
            typed: Vec::new(),
        }
    }

    fn final_text(cast: &Cast) -> String {
        let mut screen = Screen::new(cast.size, HistoryLimit::default());
        for (at, event) in &cast.events {
            match event {
                CastEvent::Output(output) => drop(screen.feed(output.as_bytes(), *at)),
                CastEvent::Resize(size) => screen.resize(*size),
                CastEvent::Marker(_) => {}
            }
        }
        screen.text()
    }

    #[test]
    fn the_end_of_a_recording_shows_what_the_whole_shows() {
        let whole =
            cast(5000, &[(0, "one\r\n"), (9_500, "t\x1b[3"), (10_500, "1mwo"), (11_000, "!")]);
        let text = final_text(&whole);
        for seconds in 0..14 {
            let last = whole.clone().last(Duration::from_secs(seconds));
            assert_eq!(final_text(&last), text, "{seconds}");
            let skipped = 11_u64.saturating_sub(seconds);
            assert_eq!(last.started, Moment(5000 + skipped * 1000));
        }
        assert_eq!(whole.clone().last(Duration::from_mins(1)), whole);
    }

    #[test]
    fn two_recordings_become_one_in_order() {
        let first = cast(1000, &[(0, "a"), (7000, "b")]);
        let mut second = cast(11_000, &[(0, "\x1bcab"), (500, "c")]);
        second.size = Size { rows: 9, cols: 9 };
        let joined = first.clone().followed_by(second);
        let times: Vec<u64> = joined.events.iter().map(|(at, _)| at.0).collect();
        assert_eq!(times, [0, 7000, 10_000, 10_000, 10_500]);
        assert_eq!(final_text(&joined).trim_end(), "abc");
        let set_back = first.followed_by(cast(0, &[(500, "c")]));
        assert_eq!(set_back.end(), Moment(7000));
    }
}
