//! Answers a dialog: the very one that was shown, and one key at a time.

use std::time::Duration;

use crate::detect::{Dialog, Sight};
use crate::model::{Key, KeyCode, Keys, Moment};
use crate::screen::key_bytes;

use super::action::{DeliveryStage, PaneAction};
use super::output_clock::OutputClock;
use super::output_clock::SteadyReading;
use super::pane_snapshot::{PaneSnapshot, quote};

/// Keys that come faster act on what was selected before.
const KEY_PAUSE: Duration = Duration::from_millis(300);
/// What a key does shows by then, even on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(15);
/// The digits go no further.
const DIGIT_OPTIONS_MAX: usize = 9;

/// What a person wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// One of the options, counted from zero.
    Option(usize),
    /// Yes, or no, in a dialog that lists no options: by the keys of its cli.
    Approve,
    Deny,
}

/// One answer on its way.
#[derive(Debug)]
pub struct DialogAnswer {
    /// Of the dialog as it was shown to whoever answers.
    fingerprint: String,
    choice: Choice,
    keys: Keys,
    phase: Phase,
    begun_at: Moment,
    pace: OutputClock,
    /// Half of a frame is neither answered nor taken for the end of the dialog.
    steady: SteadyReading<Reading>,
    has_moved: bool,
    /// Where keys are typed behind the question: the question.
    asked: Option<String>,
}

/// What a look tells of the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reading {
    is_there: bool,
    selected: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Ready,
    /// A key was pressed that moves the mark; it stood on `from`.
    Moving {
        from: usize,
        since: Moment,
    },
    /// Keys of the cli are pressed, so many so far.
    Pressing {
        pressed: usize,
        since: Moment,
    },
    /// The last key was pressed; the dialog has yet to go.
    Sent {
        since: Moment,
    },
    Over,
}

impl DialogAnswer {
    /// Prepares an answer to the dialog with this fingerprint; the first `observe` begins it.
    pub fn begin(
        fingerprint: &str,
        choice: Choice,
        keys: &Keys,
        scene: &PaneSnapshot,
        now: Moment,
    ) -> Self {
        Self {
            fingerprint: fingerprint.to_owned(),
            choice,
            keys: keys.clone(),
            phase: Phase::Ready,
            begun_at: now,
            pace: OutputClock::new(scene.screen, now),
            steady: SteadyReading::new(now),
            has_moved: false,
            asked: None,
        }
    }

    /// Takes what the pane shows now, and returns what to do.
    #[must_use]
    pub fn observe(&mut self, scene: &PaneSnapshot, now: Moment) -> Vec<PaneAction> {
        if self.phase == Phase::Over || !self.pace.note(scene.screen, now) {
            return Vec::new();
        }
        let sight = scene.sight();
        let is_there = self.is_there(&sight);
        let selected = sight.dialog.as_ref().and_then(|dialog| dialog.selected);
        self.steady.note(Reading { is_there, selected: selected.filter(|_| is_there) }, now);
        if let Phase::Sent { since } = self.phase {
            return self.verify(is_there, since, now);
        }
        if scene.typed_at.is_some_and(|at| at >= self.begun_at) {
            return self.stop("someone else typed into the pane");
        }
        if !is_there && self.steady.is_missed(now) {
            return self.stop(&gone(&sight));
        }
        if !is_there || !self.steady.is_drawn(&self.pace, now) {
            let is_late = self.phase_since().is_some_and(|since| now.since(since) >= PATIENCE);
            return if is_late { self.stop("the screen does not rest") } else { Vec::new() };
        }
        match (self.phase, &sight.dialog) {
            (Phase::Ready, Some(dialog)) => self.choose(dialog, scene, now),
            (Phase::Moving { from, since }, Some(dialog)) => {
                self.follow(dialog, from, since, scene, now)
            }
            (Phase::Pressing { pressed, since }, _) => self.press_next(pressed, since, scene, now),
            (Phase::Ready | Phase::Moving { .. } | Phase::Sent { .. } | Phase::Over, _) => {
                Vec::new()
            }
        }
    }

    /// Says whether the very dialog is in sight that was shown to whoever answers.
    fn is_there(&self, sight: &Sight) -> bool {
        match &self.asked {
            // What is typed behind a question changes what the dialog says.
            Some(asked) => sight.line.contains(asked),
            None => {
                sight.dialog.as_ref().is_some_and(|dialog| dialog.fingerprint() == self.fingerprint)
            }
        }
    }

    /// Returns the moment at which `observe` has something to do though nothing was written.
    pub fn next_deadline(&self) -> Option<Moment> {
        let since = self.phase_since()?;
        let [drawn, lasting, missed] = self.steady.deadlines(&self.pace);
        let (next, late) = (since + KEY_PAUSE, since + PATIENCE);
        self.pace.next_of(&[since, next, late, drawn, lasting, missed])
    }

    fn phase_since(&self) -> Option<Moment> {
        match self.phase {
            Phase::Ready => Some(self.begun_at),
            Phase::Moving { since, .. } | Phase::Pressing { since, .. } | Phase::Sent { since } => {
                Some(since)
            }
            Phase::Over => None,
        }
    }

    fn choose(&mut self, dialog: &Dialog, scene: &PaneSnapshot, now: Moment) -> Vec<PaneAction> {
        let count = dialog.options.len();
        match self.choice {
            Choice::Option(wanted) if wanted >= count => {
                self.stop(&format!("the dialog has {count} options"))
            }
            // Enter there asks for words, and leaves the dialog open.
            Choice::Option(wanted)
                if dialog.options[wanted].to_lowercase().contains("(esc to ") =>
            {
                self.confirm(KeyCode::Escape, scene, now)
            }
            Choice::Option(wanted) if self.keys.digits && wanted < DIGIT_OPTIONS_MAX => {
                let digit = char::from_digit(u32::try_from(wanted + 1).unwrap_or(0), 10);
                self.confirm(KeyCode::Char(digit.unwrap_or('0')), scene, now)
            }
            Choice::Option(wanted) => match dialog.selected {
                Some(selected) if selected == wanted => self.confirm(KeyCode::Enter, scene, now),
                Some(selected) => self.step_towards(wanted, selected, dialog.is_row, scene, now),
                None => self.stop("the screen does not show which option is selected"),
            },
            Choice::Approve | Choice::Deny if count > 0 => {
                self.stop("the dialog lists options: name one of them")
            }
            Choice::Approve | Choice::Deny => {
                let asked = dialog.text.lines().next_back().unwrap_or_default();
                self.asked = Some(asked.trim().to_owned());
                self.press_next(0, now, scene, now)
            }
        }
    }

    /// Moves the mark by one option.
    fn step_towards(
        &mut self,
        wanted: usize,
        selected: usize,
        is_row: bool,
        scene: &PaneSnapshot,
        now: Moment,
    ) -> Vec<PaneAction> {
        let code = match (is_row, wanted > selected) {
            (false, true) => KeyCode::Down,
            (false, false) => KeyCode::Up,
            (true, true) => KeyCode::Right,
            (true, false) => KeyCode::Left,
        };
        self.has_moved = true;
        self.phase = Phase::Moving { from: selected, since: now };
        vec![PaneAction::Write(key_bytes(Key::plain(code), &scene.screen.modes()))]
    }

    /// Waits until the mark has moved, and goes on from where it stands.
    fn follow(
        &mut self,
        dialog: &Dialog,
        from: usize,
        since: Moment,
        scene: &PaneSnapshot,
        now: Moment,
    ) -> Vec<PaneAction> {
        if now.since(since) < KEY_PAUSE {
            return Vec::new();
        }
        let Choice::Option(wanted) = self.choice else { return Vec::new() };
        match dialog.selected {
            Some(selected) if selected == wanted => self.confirm(KeyCode::Enter, scene, now),
            // Away from where it was and nearer: the next step goes on from there.
            Some(selected) if selected.abs_diff(wanted) < from.abs_diff(wanted) => {
                self.step_towards(wanted, selected, dialog.is_row, scene, now)
            }
            Some(_) | None if now.since(since) >= PATIENCE => {
                self.stop("the mark did not move to the option")
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// Presses the last key, on the option that was checked a moment ago.
    fn confirm(&mut self, code: KeyCode, scene: &PaneSnapshot, now: Moment) -> Vec<PaneAction> {
        self.phase = Phase::Sent { since: now };
        let bytes = key_bytes(Key::plain(code), &scene.screen.modes());
        vec![PaneAction::Stage(DeliveryStage::Submitted), PaneAction::Write(bytes)]
    }

    fn press_next(
        &mut self,
        pressed: usize,
        since: Moment,
        scene: &PaneSnapshot,
        now: Moment,
    ) -> Vec<PaneAction> {
        if pressed > 0 && now.since(since) < KEY_PAUSE {
            return Vec::new();
        }
        let names = if self.choice == Choice::Deny { &self.keys.deny } else { &self.keys.approve };
        let keys: Vec<Key> = names.iter().filter_map(|name| name.parse().ok()).collect();
        let Some(key) = keys.get(pressed) else {
            return self.stop("its cli names no keys for this answer");
        };
        let mut acts = Vec::new();
        if pressed == 0 {
            acts.push(PaneAction::Stage(DeliveryStage::Submitted));
        }
        acts.push(PaneAction::Write(key_bytes(*key, &scene.screen.modes())));
        self.phase = if pressed + 1 == keys.len() {
            Phase::Sent { since: now }
        } else {
            Phase::Pressing { pressed: pressed + 1, since: now }
        };
        acts
    }

    fn verify(&mut self, is_there: bool, since: Moment, now: Moment) -> Vec<PaneAction> {
        if !is_there && self.steady.is_missed(now) {
            return self.end(DeliveryStage::Accepted { evidence: "the dialog is gone".into() });
        }
        if !is_there || now.since(since) < PATIENCE {
            return Vec::new();
        }
        let reason = "the dialog was answered, and it, or one like it, is still there".into();
        self.end(DeliveryStage::Unknown { reason })
    }

    /// Ends because no more may be pressed.
    fn stop(&mut self, why: &str) -> Vec<PaneAction> {
        let is_pressing = matches!(self.phase, Phase::Pressing { .. });
        let stage = if is_pressing {
            DeliveryStage::Unknown {
                reason: format!("after a part of its keys was pressed, {why}"),
            }
        } else if self.has_moved {
            DeliveryStage::Stalled { reason: format!("nothing was chosen: {why}") }
        } else {
            DeliveryStage::Refused { reason: why.into() }
        };
        self.end(stage)
    }

    fn end(&mut self, stage: DeliveryStage) -> Vec<PaneAction> {
        self.phase = Phase::Over;
        vec![PaneAction::Stage(stage)]
    }
}

fn gone(sight: &Sight) -> String {
    match &sight.dialog {
        Some(dialog) => {
            let last = dialog.text.lines().next_back().unwrap_or_default();
            format!("the dialog is another one now: `{}`", quote(last))
        }
        None => "the dialog is not there any more".into(),
    }
}
