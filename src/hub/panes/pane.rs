//! An agent's terminal as the hub keeps it: its screen, and how far the output has been read.

use std::time::Duration;

use super::approvals::Asking;
use super::event_stream::EventStream;
use super::keystrokes::Keystrokes;
use super::link::Link;
use super::reports::SentReports;
use crate::detect::Detector;
use crate::hub::clients::socket::AgentSocket;
use crate::keeper::ToKeeper;
use crate::model::{Moment, Row, RunId, Size};
use crate::screen::{HistoryLimit, Screen};

/// A pane: it outlives the run that fills it, so that the last words of an agent can be read.
#[derive(Debug)]
pub(in crate::hub) struct Pane {
    pub(in crate::hub) run: RunId,
    pub(in crate::hub) screen: Screen,
    /// The line to the run's keeper, while there is one.
    pub(in crate::hub) link: Option<Link>,
    /// Through which the agent's own programs come, where they see no other.
    pub(in crate::hub) door: Option<AgentSocket>,
    /// All output before this offset is on the screen.
    pub(in crate::hub) offset: u64,
    /// Queries in output before this offset have been answered.
    pub(in crate::hub) answered: u64,
    pub(in crate::hub) checkpoint: LastCheckpoint,
    /// Someone typed into this pane at this time.
    pub(in crate::hub) typed_at: Option<Moment>,
    /// A person pressed a key in it at this time.
    pub(in crate::hub) disturbed_at: Option<Moment>,
    /// What the hub itself is about to press in it.
    pub(in crate::hub) errand: Option<Keystrokes>,
    /// The permission that the dialog in it asks for.
    pub(in crate::hub) asking: Option<Asking>,
    /// Says what the screen means.
    pub(in crate::hub) detector: Option<Detector>,
    /// What was told of this run, by this hub and those before it.
    pub(in crate::hub) reports: SentReports,
    /// Output before this offset was printed while no hub read it.
    pub(in crate::hub) caught_up_at: u64,
    /// Listens to the events that the agent serves.
    pub(in crate::hub) ear: Option<EventStream>,
    /// A number for the words on the screen, and when it was last taken.
    pub(in crate::hub) words: Option<u64>,
    pub(in crate::hub) words_seen_at: Moment,
    /// How many tokens the engine was told of, and when.
    pub(in crate::hub) tokens_told: u64,
    pub(in crate::hub) tokens_told_at: Moment,
}

/// Up to where, and when, the screen was last written to disk, and how long that took.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::hub) struct LastCheckpoint {
    pub(in crate::hub) offset: u64,
    pub(in crate::hub) at: Moment,
    pub(in crate::hub) cost: Duration,
}

impl Pane {
    pub(in crate::hub) fn new(run: RunId, size: Size, limit: HistoryLimit) -> Self {
        Self {
            run,
            screen: Screen::new(size, limit),
            link: None,
            door: None,
            offset: 0,
            answered: 0,
            checkpoint: LastCheckpoint::default(),
            typed_at: None,
            disturbed_at: None,
            errand: None,
            asking: None,
            detector: None,
            reports: SentReports::default(),
            caught_up_at: 0,
            ear: None,
            words: None,
            words_seen_at: Moment::default(),
            tokens_told: 0,
            tokens_told_at: Moment::default(),
        }
    }

    /// Returns the text of the screen, and of the history above it if it is wanted, from the last
    /// line up. Empty rows at the end of the screen are no lines.
    pub(in crate::hub) fn last_lines(&self, with_history: bool) -> impl Iterator<Item = String> {
        let screen = &self.screen;
        let text = |row: Row| row.text().trim_end().to_owned();
        let present = (0..screen.size().rows).rev().map(move |index| text(screen.row(index)));
        let present = present.skip_while(String::is_empty);
        let past = if with_history { screen.history_range() } else { 0..0 };
        present.chain(past.rev().filter_map(|number| screen.history_row(number)).map(text))
    }

    /// Sends an order to the keeper, and says whether it was taken.
    pub(in crate::hub) fn order(&self, order: &ToKeeper) -> bool {
        self.link.as_ref().is_some_and(|link| link.send(order))
    }

    /// Types bytes into the terminal.
    pub(in crate::hub) fn type_bytes(&mut self, bytes: Vec<u8>, now: Moment) -> bool {
        self.typed_at = Some(now);
        if let Some(link) = &self.link {
            link.set_urgent(true);
        }
        bytes.is_empty() || self.order(&ToKeeper::Input { answers_to: None, bytes })
    }
}
