//! Holds the record, what waits for it, the way back from what it does not take, and the files beside it.

use std::time::Duration;

use super::commit_queue::{CommitQueue, PendingEffect};
use super::file_writer::{FileWriter, Files};
use super::recordings::Recordings;
use super::undo::Undo;
use crate::config::{Paths, RecordSettings, Settings};
use crate::engine::{Effect, Engine};
use crate::model::{Moment, RequestId};
use crate::store::{Keep, Outcome, Store};

const DAY: Duration = Duration::from_hours(24);

/// The record of a hub.
#[derive(Debug)]
pub(in crate::hub) struct HubRecord {
    pub(super) queue: CommitQueue,
    pub(super) undo: Undo,
    pub(in crate::hub) recordings: Recordings,
    /// Ends last: what the others hand over is written.
    writer: FileWriter,
}

/// What news of the record's thread mean.
#[derive(Debug, Default)]
pub(in crate::hub) struct RecordNews {
    /// Requests that were taken back, because of this.
    pub(in crate::hub) refused: Option<(Vec<RequestId>, String)>,
    /// The record can be written again, or can no longer.
    pub(in crate::hub) is_other_trouble: bool,
}

impl HubRecord {
    pub(in crate::hub) fn new(store: Store, writer: FileWriter, paths: Paths) -> Self {
        let recordings = Recordings::new(paths, writer.files().clone());
        Self { queue: CommitQueue::new(store), undo: Undo::default(), recordings, writer }
    }

    pub(in crate::hub) fn files(&self) -> &Files {
        self.writer.files()
    }

    /// Goes by other settings from now on. Where they could not be used, nobody knows how much is to be kept.
    pub(in crate::hub) fn change_settings(&mut self, settings: &Settings, are_usable: bool) {
        self.recordings.change_settings(settings.casts);
        let record = are_usable.then_some(settings.record);
        self.queue.set_keep(record.map(keep).unwrap_or_default());
    }

    /// Hands over what was decided, and what follows from it.
    pub(in crate::hub) fn enter(&mut self, effects: Vec<Effect>, now: Moment) {
        self.queue.enter(effects, now);
    }

    /// Queues something behind all that was decided so far.
    pub(in crate::hub) fn push(&mut self, effect: PendingEffect) {
        self.queue.push(effect);
    }

    /// Keeps something until the record can be written again.
    pub(in crate::hub) fn park(&mut self, effect: PendingEffect) {
        self.queue.park(effect);
    }

    /// Takes note of what the record's thread tells; nothing follows from an error that is none.
    pub(in crate::hub) fn note(
        &mut self,
        outcome: Outcome,
        engine: &mut Engine,
        now: Moment,
    ) -> Option<RecordNews> {
        let mut news = RecordNews::default();
        if let Outcome::Failing { reason } = &outcome {
            let was_asked = self.undo.is_needed();
            let refused = self.take_back(engine, reason, now)?;
            news.refused = was_asked.then(|| (refused, reason.clone()));
        }
        let trouble = self.queue.trouble();
        self.queue.note(outcome, now);
        self.undo.settle(self.queue.committed());
        news.is_other_trouble = self.queue.trouble() != trouble;
        Some(news)
    }

    /// Takes up what waits, unless somebody is at work on it: what is decided meanwhile comes after it.
    pub(in crate::hub) fn begin_work(&mut self) -> bool {
        self.queue.begin_work()
    }

    /// Returns the next thing that can be done, or that must be refused, and then why. Once there is none,
    /// the work is done.
    pub(in crate::hub) fn next(&mut self) -> Option<(PendingEffect, Option<String>)> {
        self.queue.next()
    }

    /// Says whether a task that is done is on record as done.
    pub(in crate::hub) fn may_show(&self, task: &str) -> bool {
        self.queue.may_show(task)
    }

    pub(in crate::hub) fn show(&mut self, task: &str) {
        self.queue.show(task);
    }

    /// Returns why the record cannot be written, if it cannot.
    pub(in crate::hub) fn trouble(&self) -> Option<String> {
        self.queue.trouble()
    }

    /// Returns why no request can be put on record now, if none can.
    pub(in crate::hub) fn obstacle(&self) -> Option<String> {
        self.queue.obstacle()
    }
}

fn keep(settings: RecordSettings) -> Keep {
    let RecordSettings { days, megabytes } = settings;
    let age = (days > 0).then(|| DAY * days);
    let bytes = (megabytes > 0).then(|| u64::from(megabytes) << 20);
    Keep { age, bytes }
}
