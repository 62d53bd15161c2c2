//! Hands one prompt to one pane: types it, sees it, submits it once, and looks for proof.

use std::time::Duration;

use crate::detect::Sight;
use crate::model::{Key, KeyCode, Keys, Moment, Submit};
use crate::screen::key_bytes;

use super::action::StageRecord;
use super::action::{DeliveryStage, PaneAction};
use super::key_hints::completes;
use super::outgoing_prompt::{OutgoingPrompt, TypedLine, TypedPrompt, echoes};
use super::output_clock::OutputClock;
use super::pane_snapshot::PaneSnapshot;
use super::verify::{ENTER_PATIENCE, PROOF_PATIENCE};

/// How much is typed at once; keys of a person may go in between.
const PIECE_BYTES: usize = 8 * 1024;
/// How soon it is tried again to type where there was no room.
const ROOM_PAUSE: Duration = Duration::from_millis(20);
/// A program that has read nothing for this long does not read.
const ROOM_PATIENCE: Duration = Duration::from_secs(15);
/// A program that shows nothing new for this long will not show the text any more.
const ECHO_PATIENCE: Duration = Duration::from_secs(8);
/// Nor will one that has been busy with it for so long.
const ECHO_PATIENCE_MAX: Duration = Duration::from_secs(30);
/// A screen that never rests is as still as it gets.
const QUIET_MAX: Duration = Duration::from_secs(8);
/// An agent that began something else while the text was typed is done with it by then.
const FREE_PATIENCE: Duration = Duration::from_secs(30);
/// Between two lines a program is back at its prompt by then.
const PROMPT_PATIENCE: Duration = Duration::from_secs(30);
/// What the screen shows counts for the detector by then, or it has better sources.
const DETECTOR_PATIENCE: Duration = Duration::from_secs(2);
/// A program that shows its prompt has asked for pastes by then, if it takes any.
const PASTE_PATIENCE: Duration = Duration::from_secs(10);
const PASTE_END: &[u8] = b"\x1b[201~";

/// One prompt on its way into one pane.
#[derive(Debug)]
pub struct Delivery {
    pub(super) letter: OutgoingPrompt,
    how: Submit,
    pub(super) parcel: Result<TypedPrompt, String>,
    /// It takes pastes, and has not asked for them yet.
    awaits_paste: bool,
    pub(super) key: Key,
    quiet: Duration,
    pub(super) phase: DeliveryPhase,
    /// Which of the lines is at hand, and how many of its bytes were typed.
    pub(super) line: usize,
    pub(super) typed: usize,
    /// How often the conversation showed the text before.
    pub(super) echoes: usize,
    pub(super) begun_at: Moment,
    pace: OutputClock,
    progress: StageRecord,
    /// They empty the composer.
    pub(super) clear: Vec<Key>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeliveryPhase {
    /// The pane has yet to be found free.
    Ready {
        since: Moment,
    },
    /// `since` the last piece was typed.
    Typing {
        since: Moment,
        has_room: bool,
    },
    /// All of the line is typed; the screen has yet to show it.
    Echo {
        since: Moment,
    },
    /// The screen shows it, and has yet to rest.
    Quiet {
        since: Moment,
    },
    /// The key was pressed.
    Sent {
        first: Moment,
        last: Moment,
        presses: u8,
    },
    Over,
}

/// Whether something is left to do with what is in sight.
#[derive(PartialEq, Eq)]
pub(super) enum DeliveryFlow {
    Next,
    Wait,
}

impl Delivery {
    /// Prepares a delivery; the first `observe` begins it.
    pub fn begin(letter: &OutgoingPrompt, how: &Submit, scene: &PaneSnapshot, now: Moment) -> Self {
        let modes = scene.screen.modes();
        let parcel = letter.parcel(how, &modes);
        Self {
            letter: letter.clone(),
            how: how.clone(),
            echoes: echoes(&parcel, &scene.sight()),
            parcel,
            awaits_paste: how.paste && !modes.bracketed_paste,
            key: how.key.parse().unwrap_or(Key::plain(KeyCode::Enter)),
            quiet: Duration::from_millis(u64::from(how.quiet_ms)),
            phase: DeliveryPhase::Ready { since: now },
            line: 0,
            typed: 0,
            begun_at: now,
            pace: OutputClock::new(scene.screen, now),
            progress: StageRecord::default(),
            clear: Vec::new(),
        }
    }

    /// Lets it take a text of its own away again that was not submitted, by these keys: what comes
    /// after it could not be typed there.
    #[must_use]
    pub fn with_keys(mut self, keys: &Keys) -> Self {
        self.clear = keys.clear.iter().filter_map(|name| name.parse().ok()).collect();
        self
    }

    /// Notes that the stage that was told last is on record. The next `observe` looks at the screen
    /// anew: it may have changed while the disk was waited for.
    pub fn note_recorded(&mut self, now: Moment) {
        self.progress.note_recorded();
        if let DeliveryPhase::Typing { since, .. } | DeliveryPhase::Quiet { since } =
            &mut self.phase
        {
            *since = now;
        }
    }

    /// Takes what the pane shows now, and returns what to do. To be called after output, at the
    /// deadline, and when the agent's state has changed.
    #[must_use]
    pub fn observe(&mut self, scene: &PaneSnapshot, now: Moment) -> Vec<PaneAction> {
        let mut acts = Vec::new();
        let is_readable = self.pace.note(scene.screen, now);
        if self.phase == DeliveryPhase::Over || self.progress.awaits_record() || !is_readable {
            return acts;
        }
        let sight = scene.sight();
        while self.step(scene, &sight, now, &mut acts) == DeliveryFlow::Next {}
        acts
    }

    /// Returns the moment at which `observe` has something to do though nothing was written.
    pub fn next_deadline(&self) -> Option<Moment> {
        match self.phase {
            _ if self.progress.awaits_record() => None,
            DeliveryPhase::Ready { since } if self.awaits_paste => {
                self.pace.next_of(&[since, since + PASTE_PATIENCE])
            }
            DeliveryPhase::Ready { since } if self.line == 0 => {
                self.pace.next_of(&[since, since + DETECTOR_PATIENCE])
            }
            DeliveryPhase::Ready { since } => self.pace.next_of(&[since + PROMPT_PATIENCE]),
            DeliveryPhase::Typing { since, has_room: true } => Some(since),
            DeliveryPhase::Typing { .. } => Some(self.pace.looked_at() + ROOM_PAUSE),
            DeliveryPhase::Echo { since } => self.pace.next_of(&[self.echo_deadline(since)]),
            DeliveryPhase::Quiet { since } => {
                let quiet = self.pace.output_at + self.quiet;
                self.pace.next_of(&[quiet, since + QUIET_MAX, since + FREE_PATIENCE])
            }
            DeliveryPhase::Sent { first, last, .. } => {
                self.pace.next_of(&[last + ENTER_PATIENCE, first + PROOF_PATIENCE])
            }
            DeliveryPhase::Over => None,
        }
    }

    /// Says whether the text is one that this program could take at all.
    pub fn can_be_typed(&self) -> bool {
        self.awaits_paste || self.parcel.is_ok()
    }

    fn step(
        &mut self,
        scene: &PaneSnapshot,
        sight: &Sight,
        now: Moment,
        acts: &mut Vec<PaneAction>,
    ) -> DeliveryFlow {
        match self.phase {
            DeliveryPhase::Ready { since } => self.start_line(scene, sight, (since, now), acts),
            DeliveryPhase::Typing { since, .. } => {
                self.type_piece(scene, sight, (since, now), acts)
            }
            DeliveryPhase::Echo { since } => self.await_echo(scene, sight, (since, now), acts),
            DeliveryPhase::Quiet { since } => self.submit(scene, sight, (since, now), acts),
            DeliveryPhase::Sent { .. } => self.verify(scene, sight, now, acts),
            DeliveryPhase::Over => DeliveryFlow::Wait,
        }
    }

    /// Begins to type if the pane is free.
    fn start_line(
        &mut self,
        scene: &PaneSnapshot,
        sight: &Sight,
        (since, now): (Moment, Moment),
        acts: &mut Vec<PaneAction>,
    ) -> DeliveryFlow {
        if self.awaits_paste && self.keeps_waiting(scene, sight, now) {
            return DeliveryFlow::Wait;
        }
        let obstacle = match &self.parcel {
            Err(why) if !self.awaits_paste => Some((why.clone(), 0)),
            Ok(TypedPrompt { lines, .. }) => scene.obstacle(sight).map(|why| (why, lines.len())),
            Err(_) => scene.obstacle(sight).map(|why| (why, 0)),
        };
        let Some((why, lines)) = obstacle else {
            // The screen says otherwise: the detector believes it in a moment, or knows better.
            let is_doubted = scene.drawn(sight) != scene.state(sight);
            if is_doubted && now.since(since) < DETECTOR_PATIENCE {
                return DeliveryFlow::Wait;
            }
            self.phase = DeliveryPhase::Typing { since: now, has_room: true };
            return DeliveryFlow::Next;
        };
        if self.line == 0 {
            return self.end(DeliveryStage::Refused { reason: why }, acts);
        }
        let stop = scene.stop_sign(sight, self.begun_at);
        if stop.is_some() || now.since(since) >= PROMPT_PATIENCE {
            let why = stop.unwrap_or(why);
            let reason = format!("{} of {lines} lines were taken, then {why}", self.line);
            return self.end(DeliveryStage::Stalled { reason }, acts);
        }
        DeliveryFlow::Wait
    }

    /// Says whether the program may yet ask for pastes, and nothing else stands in the way.
    fn keeps_waiting(&mut self, scene: &PaneSnapshot, sight: &Sight, now: Moment) -> bool {
        let modes = scene.screen.modes();
        if modes.bracketed_paste || now.since(self.begun_at) >= PASTE_PATIENCE {
            self.awaits_paste = false;
            self.parcel = self.letter.parcel(&self.how, &modes);
            self.echoes = echoes(&self.parcel, sight);
        }
        self.awaits_paste && scene.obstacle(sight).is_none()
    }

    fn type_piece(
        &mut self,
        scene: &PaneSnapshot,
        sight: &Sight,
        (since, now): (Moment, Moment),
        acts: &mut Vec<PaneAction>,
    ) -> DeliveryFlow {
        let Ok(parcel) = &self.parcel else { return DeliveryFlow::Wait };
        let TypedLine { bytes, .. } = &parcel.lines[self.line];
        let (done, all) = (self.typed, bytes.len());
        let lost_paste = parcel.is_paste && !scene.screen.modes().bracketed_paste;
        let is_untouched = self.line == 0 && done == 0;
        let obstacle = if is_untouched { scene.obstacle(sight) } else { None };
        let why = scene
            .stop_sign(sight, self.begun_at)
            .or(obstacle)
            .or_else(|| lost_paste.then(|| "the program takes no paste any more".into()));
        let is_stuck = !scene.has_room && now.since(since) >= ROOM_PATIENCE;
        let why = why.or_else(|| is_stuck.then(|| "the program does not read its input".into()));
        if let Some(why) = why {
            if parcel.is_paste && done > 0 {
                // Keys that follow must not become part of the paste.
                acts.push(PaneAction::Write(PASTE_END.to_vec()));
            }
            let reason = format!("{done} of {all} bytes were typed, then {why}");
            let refused = || DeliveryStage::Refused { reason: why };
            let stage = if is_untouched { refused() } else { DeliveryStage::Stalled { reason } };
            return self.end(stage, acts);
        }
        if !scene.has_room {
            self.phase = DeliveryPhase::Typing { since, has_room: false };
            return DeliveryFlow::Wait;
        }
        if self.progress.tell(DeliveryStage::Typed { left_out: parcel.left_out }, acts) {
            return DeliveryFlow::Wait;
        }
        let piece = bytes[done..all.min(done + PIECE_BYTES)].to_vec();
        self.typed += piece.len();
        acts.push(PaneAction::Write(piece));
        self.phase = if self.typed == all {
            DeliveryPhase::Echo { since: now }
        } else {
            DeliveryPhase::Typing { since: now, has_room: true }
        };
        DeliveryFlow::Wait
    }

    fn await_echo(
        &mut self,
        scene: &PaneSnapshot,
        sight: &Sight,
        (since, now): (Moment, Moment),
        acts: &mut Vec<PaneAction>,
    ) -> DeliveryFlow {
        if self.stands(sight) == Some(true) {
            self.progress.tell(DeliveryStage::Seen, acts);
            self.phase = DeliveryPhase::Quiet { since: now };
            return DeliveryFlow::Next;
        }
        let stop = scene.stop_sign(sight, self.begun_at);
        if stop.is_none() && now < self.echo_deadline(since) {
            return DeliveryFlow::Wait;
        }
        let why = stop.unwrap_or_else(|| "the screen does not show it".into());
        let reason = format!("the prompt was typed and not submitted: {why}");
        self.leave((scene, sight), reason, acts)
    }

    /// Presses the key once the screen rests.
    fn submit(
        &mut self,
        scene: &PaneSnapshot,
        sight: &Sight,
        (since, now): (Moment, Moment),
        acts: &mut Vec<PaneAction>,
    ) -> DeliveryFlow {
        if let Some(why) = scene.stop_sign(sight, self.begun_at) {
            let reason = format!("the prompt was typed and not submitted: {why}");
            return self.end(DeliveryStage::Stalled { reason }, acts);
        }
        if self.stands(sight) != Some(true) {
            let is_over = now.since(since) >= QUIET_MAX;
            let reason = "the prompt was typed, and was gone before it was submitted".into();
            return if is_over {
                self.end(DeliveryStage::Unknown { reason }, acts)
            } else {
                DeliveryFlow::Wait
            };
        }
        let is_still = now.since(self.pace.output_at) >= self.quiet;
        if !is_still && now.since(since) < QUIET_MAX {
            return DeliveryFlow::Wait;
        }
        let is_list = !self.letter.is_command && completes(scene.screen, &self.letter.text);
        if is_list || !scene.is_free(sight) {
            let state = scene.state(sight);
            let why = if is_list {
                "a list of completions is open over it".into()
            } else {
                format!("it is {state}")
            };
            let reason = format!("the prompt stands there and was not submitted: {why}");
            let is_over = now.since(since) >= FREE_PATIENCE;
            return if is_over {
                self.leave((scene, sight), reason, acts)
            } else {
                DeliveryFlow::Wait
            };
        }
        if self.progress.tell(DeliveryStage::Submitted, acts) {
            return DeliveryFlow::Wait;
        }
        acts.push(PaneAction::Write(key_bytes(self.key, &scene.screen.modes())));
        self.phase = DeliveryPhase::Sent { first: now, last: now, presses: 1 };
        DeliveryFlow::Wait
    }

    fn echo_deadline(&self, since: Moment) -> Moment {
        let still = self.pace.output_at.max(since) + ECHO_PATIENCE;
        still.min(since + ECHO_PATIENCE_MAX)
    }
}
