//! An agent's terminal as the hub keeps it: its screen, and how far the output has been read.

use std::time::Duration;

use super::approvals::Asking;
use super::door::Door;
use super::errands::Errand;
use super::link::Link;
use super::opencode::Ear;
use super::reports::Reports;
use crate::detect::Detector;
use crate::keeper::ToKeeper;
use crate::model::{Moment, Row, RunId, Size};
use crate::screen::{HistoryLimit, Screen};

/// A pane: it outlives the run that fills it, so that the last words of an agent can be read.
#[derive(Debug)]
pub(super) struct Pane {
    pub(super) run: RunId,
    pub(super) screen: Screen,
    /// The line to the run's keeper, while there is one.
    pub(super) link: Option<Link>,
    /// Through which the agent's own programs come, where they see no other.
    pub(super) door: Option<Door>,
    /// All output before this offset is on the screen.
    pub(super) offset: u64,
    /// Queries in output before this offset have been answered.
    pub(super) answered: u64,
    pub(super) checkpoint: LastCheckpoint,
    /// Someone typed into this pane at this time.
    pub(super) typed_at: Option<Moment>,
    /// A person pressed a key in it at this time.
    pub(super) disturbed_at: Option<Moment>,
    /// What the hub itself is about to press in it.
    pub(super) errand: Option<Errand>,
    /// The permission that the dialog in it asks for.
    pub(super) asking: Option<Asking>,
    /// Says what the screen means.
    pub(super) detector: Option<Detector>,
    /// What was told of this run, by this hub and those before it.
    pub(super) reports: Reports,
    /// Output before this offset was printed while no hub read it.
    pub(super) caught_up_at: u64,
    /// Listens to the events that the agent serves.
    pub(super) ear: Option<Ear>,
    /// A number for the words on the screen, and when it was last taken.
    pub(super) words: Option<u64>,
    pub(super) words_seen_at: Moment,
    /// How many tokens the engine was told of, and when.
    pub(super) tokens_told: u64,
    pub(super) tokens_told_at: Moment,
}

/// Up to where, and when, the screen was last written to disk, and how long that took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastCheckpoint {
    pub(super) offset: u64,
    pub(super) at: Moment,
    pub(super) cost: Duration,
}

impl Pane {
    pub(super) fn new(run: RunId, size: Size, limit: HistoryLimit) -> Self {
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
            reports: Reports::default(),
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
    pub(super) fn last_lines(&self, with_history: bool) -> impl Iterator<Item = String> {
        let screen = &self.screen;
        let text = |row: Row| row.text().trim_end().to_owned();
        let present = (0..screen.size().rows).rev().map(move |index| text(screen.row(index)));
        let present = present.skip_while(String::is_empty);
        let past = if with_history { screen.history_range() } else { 0..0 };
        present.chain(past.rev().filter_map(|number| screen.history_row(number)).map(text))
    }

    /// Sends an order to the keeper, and says whether it was taken.
    pub(super) fn order(&self, order: &ToKeeper) -> bool {
        self.link.as_ref().is_some_and(|link| link.send(order))
    }

    /// Types bytes into the terminal.
    pub(super) fn type_bytes(&mut self, bytes: Vec<u8>, now: Moment) -> bool {
        self.typed_at = Some(now);
        if let Some(link) = &self.link {
            link.set_urgent(true);
        }
        bytes.is_empty() || self.order(&ToKeeper::Input { answers_to: None, bytes })
    }
}
