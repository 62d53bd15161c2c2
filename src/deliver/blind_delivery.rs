//! Types a prompt into a program that no rule can read, because a person says that it waits for one.

use std::time::Duration;

use crate::model::{Key, KeyCode, Moment, Submit};
use crate::screen::key_bytes;

use super::action::StageRecord;
use super::action::{DeliveryStage, PaneAction};
use super::outgoing_prompt::OutgoingPrompt;
use super::output_clock::OutputClock;
use super::pane_snapshot::PaneSnapshot;

/// A screen that never rests is as still as it gets.
const QUIET_MAX: Duration = Duration::from_secs(4);

/// One prompt on its way into the dark: typed, submitted, and no more is known.
#[derive(Debug)]
pub struct BlindDelivery {
    text: Result<Vec<u8>, String>,
    key: Key,
    quiet: Duration,
    begun_at: Moment,
    typed_at: Option<Moment>,
    pace: OutputClock,
    progress: StageRecord,
    is_over: bool,
}

impl BlindDelivery {
    /// Prepares it; the first `observe` begins it.
    pub fn begin(letter: &OutgoingPrompt, how: &Submit, scene: &PaneSnapshot, now: Moment) -> Self {
        let parcel = letter.parcel(how, &scene.screen.modes());
        let text = parcel.and_then(|parcel| {
            let mut lines = parcel.lines.into_iter();
            match (lines.next(), lines.next()) {
                (Some(only), None) => Ok(only.bytes),
                (_, Some(_)) => Err("several lines cannot be typed where nobody can read the \
                                     screen: send them one by one"
                    .into()),
                (None, None) => Err("the prompt is empty".into()),
            }
        });
        Self {
            text,
            key: how.key.parse().unwrap_or(Key::plain(KeyCode::Enter)),
            quiet: Duration::from_millis(u64::from(how.quiet_ms)),
            begun_at: now,
            typed_at: None,
            pace: OutputClock::new(scene.screen, now),
            progress: StageRecord::default(),
            is_over: false,
        }
    }

    /// Notes that the stage that was told last is on record. The next `observe` looks at the screen
    /// anew: it may have changed while the disk was waited for.
    pub fn note_recorded(&mut self) {
        self.progress.note_recorded();
    }

    /// Takes what the pane shows now, and returns what to do.
    #[must_use]
    pub fn observe(&mut self, scene: &PaneSnapshot, now: Moment) -> Vec<PaneAction> {
        let is_readable = self.pace.note(scene.screen, now);
        if self.is_over || self.progress.awaits_record() || !is_readable {
            return Vec::new();
        }
        let Some(typed_at) = self.typed_at else { return self.type_text(scene, now) };
        if let Some(why) = scene.stop_sign(&scene.sight(), self.begun_at) {
            let reason = format!("the prompt was typed and not submitted: {why}");
            return self.end(Vec::new(), DeliveryStage::Stalled { reason });
        }
        let is_still = now.since(self.pace.output_at.max(typed_at)) >= self.quiet;
        if !is_still && now.since(typed_at) < QUIET_MAX {
            return Vec::new();
        }
        let mut acts = Vec::new();
        if self.progress.tell(DeliveryStage::Submitted, &mut acts) {
            return acts;
        }
        let enter = key_bytes(self.key, &scene.screen.modes());
        let reason = "it was typed and submitted, and no rule tells whether it was taken".into();
        self.end(vec![PaneAction::Write(enter)], DeliveryStage::Unknown { reason })
    }

    /// Returns the moment at which `observe` has something to do though nothing was written.
    pub fn next_deadline(&self) -> Option<Moment> {
        match self.typed_at {
            _ if self.is_over || self.progress.awaits_record() => None,
            None => Some(self.begun_at),
            Some(typed_at) => {
                let quiet = self.pace.output_at.max(typed_at) + self.quiet;
                self.pace.next_of(&[quiet, typed_at + QUIET_MAX])
            }
        }
    }

    fn type_text(&mut self, scene: &PaneSnapshot, now: Moment) -> Vec<PaneAction> {
        let stop = scene.stop_sign(&scene.sight(), self.begun_at).map_or(Ok(()), Err);
        let mut acts = Vec::new();
        match stop.and_then(|()| self.text.clone()) {
            Ok(bytes) => {
                if !self.progress.tell(DeliveryStage::Typed { left_out: 0 }, &mut acts) {
                    self.typed_at = Some(now);
                    acts.push(PaneAction::Write(bytes));
                }
                acts
            }
            Err(reason) => self.end(Vec::new(), DeliveryStage::Refused { reason }),
        }
    }

    fn end(&mut self, mut acts: Vec<PaneAction>, stage: DeliveryStage) -> Vec<PaneAction> {
        self.is_over = true;
        acts.push(PaneAction::Stage(stage));
        acts
    }
}
