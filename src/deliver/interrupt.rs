//! Stops an agent at work: its keys one by one, until it has stopped.

use std::time::Duration;

use crate::detect::Sight;
use crate::model::{AgentState, Key, Keys, Moment};
use crate::screen::key_bytes;

use super::action::{DeliveryStage, PaneAction};
use super::key_hints::{is_awaited, is_offered, offered};
use super::output_clock::OutputClock;
use super::pane_snapshot::PaneSnapshot;

/// A prompt that was just submitted is gone from the composer by then.
const SUBMIT_PAUSE: Duration = Duration::from_millis(1500);
/// An agent that took a prompt a moment ago is seen at work by then.
const TURN_PATIENCE: Duration = Duration::from_secs(10);
/// What a key does shows by then; only after that the next is pressed.
const KEY_PAUSE: Duration = Duration::from_millis(1200);
/// What a program asks for is not pressed faster than a person would.
const AWAITED_PAUSE: Duration = Duration::from_millis(200);
/// A program that still works by then did not react to its keys: one that is busy drawing may lose
/// them, and forgets the first of two when the second comes late.
const ROUND_PATIENCE: Duration = Duration::from_secs(6);
/// How often its keys are pressed before it counts as one that does not react.
const ROUNDS_MAX: usize = 3;
/// A program that has stopped, and has written nothing for this long, has drawn what it leaves.
const QUIET: Duration = Duration::from_millis(300);
/// One that never rests has drawn it by then.
const QUIET_MAX: Duration = Duration::from_secs(2);
/// What the keys that empty the composer do shows by then.
const CLEAR_PATIENCE: Duration = Duration::from_secs(5);

/// One interrupt on its way.
#[derive(Debug)]
pub struct Interrupt {
    keys: Vec<Key>,
    /// They end the program where nothing runs.
    ends: Vec<Key>,
    clear: Vec<Key>,
    /// How many were pressed, in all rounds.
    pressed: usize,
    begun_at: Moment,
    pressed_at: Moment,
    /// Nothing was typed when the first key was pressed: what stands there afterwards is the interrupted prompt.
    was_empty: bool,
    /// The screen asks for the next key.
    is_awaited: bool,
    phase: Phase,
    pace: OutputClock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its keys are pressed until it has stopped.
    Stopping,
    /// It has stopped, and has yet to draw what it leaves.
    Stopped {
        since: Moment,
    },
    /// The keys were pressed that empty the composer.
    Cleared {
        since: Moment,
    },
    Over,
}

impl Interrupt {
    /// Prepares an interrupt by these keys; the first `observe` begins it.
    pub fn begin(keys: &Keys, scene: &PaneSnapshot, now: Moment) -> Self {
        let parsed = |names: &[String]| names.iter().filter_map(|key| key.parse().ok()).collect();
        let ends: Vec<Key> = parsed(&keys.exit);
        let own: Vec<Key> = parsed(&keys.interrupt);
        Self {
            keys: if own.is_empty() { offered(scene.screen) } else { own },
            ends,
            clear: parsed(&keys.clear),
            pressed: 0,
            begun_at: now,
            pressed_at: now,
            was_empty: false,
            is_awaited: false,
            phase: Phase::Stopping,
            pace: OutputClock::new(scene.screen, now),
        }
    }

    /// Takes what the pane shows now, and returns what to do.
    #[must_use]
    pub fn observe(&mut self, scene: &PaneSnapshot, now: Moment) -> Vec<PaneAction> {
        if self.phase == Phase::Over || !self.pace.note(scene.screen, now) {
            return Vec::new();
        }
        let sight = scene.sight();
        self.is_awaited = is_awaited(scene.screen);
        match self.phase {
            Phase::Stopping => self.stop_it(scene, &sight, now),
            Phase::Stopped { since } => self.tidy(scene, &sight, (since, now)),
            Phase::Cleared { since } => {
                let is_left = typed(&sight).is_some_and(|typed| !typed.is_empty());
                if is_left && now.since(since) < CLEAR_PATIENCE {
                    return Vec::new();
                }
                self.accept(scene, is_left)
            }
            Phase::Over => Vec::new(),
        }
    }

    /// Returns the moment at which `observe` has something to do though nothing was written.
    pub fn next_deadline(&self) -> Option<Moment> {
        match self.phase {
            Phase::Stopping => {
                let late = [self.begun_at + SUBMIT_PAUSE, self.pressed_at + ROUND_PATIENCE];
                let patience = self.begun_at + TURN_PATIENCE;
                self.pace.next_of(&[self.next_press(), late[0], late[1], patience])
            }
            Phase::Stopped { since } => {
                self.pace.next_of(&[self.pace.output_at.max(since) + QUIET, since + QUIET_MAX])
            }
            Phase::Cleared { since } => self.pace.next_of(&[since + CLEAR_PATIENCE]),
            Phase::Over => None,
        }
    }

    fn stop_it(&mut self, scene: &PaneSnapshot, sight: &Sight, now: Moment) -> Vec<PaneAction> {
        let (state, shown) = (scene.drawn(sight), scene.shown.state);
        if state == AgentState::Exited && self.pressed > 0 {
            return self.end(DeliveryStage::Accepted { evidence: "the agent has ended".into() });
        }
        if state == AgentState::Waiting {
            let why = scene.dialog_words(sight);
            return self.give_up(&why);
        }
        // The end of work must have lasted before it is believed, and that is for the detector to
        // say; but no key is pressed at a prompt that is in sight now.
        if shown == AgentState::Unknown && self.pressed > 0 {
            return self.give_up("its screen does not tell what it does");
        }
        if shown != AgentState::Working && self.pressed > 0 {
            self.phase = Phase::Stopped { since: now };
            return self.tidy(scene, sight, (now, now));
        }
        if shown != AgentState::Working {
            // There is nothing to interrupt yet, and there will be.
            if scene.awaits_turn && now.since(self.begun_at) < TURN_PATIENCE {
                return Vec::new();
            }
            return self.give_up(&format!("the agent is not at work: it is {shown}"));
        }
        if self.keys.is_empty() {
            return self.give_up("its cli names no keys that interrupt it");
        }
        if now < self.next_press() {
            return Vec::new();
        }
        if self.pressed == 0 {
            let typed = typed(sight);
            self.was_empty = typed == Some("");
            let is_left = typed.is_some() && !self.was_empty;
            if is_left && now.since(self.begun_at) < SUBMIT_PAUSE {
                return Vec::new();
            }
        }
        // At an idle prompt some keys end the program: they need work in sight.
        let next = self.keys[self.pressed % self.keys.len()];
        let is_harmless = self.pressed == 0 && !self.ends.contains(&next);
        let is_at_work = is_harmless || state == AgentState::Working || is_offered(scene.screen);
        if is_at_work && self.pressed < self.keys.len() * ROUNDS_MAX {
            return self.press(next, scene, now);
        }
        if now.since(self.pressed_at) < ROUND_PATIENCE {
            return Vec::new();
        }
        let keys: Vec<String> = self.keys.iter().map(|key| format!("`{key}`")).collect();
        let times = self.pressed.div_ceil(self.keys.len());
        let times = if times > 1 { format!(", {times} times") } else { String::new() };
        let reason = format!("the agent did not react to {}{times}", keys.join(" and "));
        self.end(DeliveryStage::Stalled { reason })
    }

    /// Returns when the next key may be pressed, or has not to be waited for any longer.
    fn next_press(&self) -> Moment {
        match self.pressed {
            0 => self.begun_at,
            pressed if pressed % self.keys.len().max(1) == 0 => self.pressed_at + ROUND_PATIENCE,
            // It waits for the second of two, and forgets the first one soon.
            _ if self.is_awaited => self.pressed_at + AWAITED_PAUSE,
            _ => self.pressed_at + KEY_PAUSE,
        }
    }

    fn press(&mut self, key: Key, scene: &PaneSnapshot, now: Moment) -> Vec<PaneAction> {
        let mut acts = Vec::new();
        if self.pressed == 0 {
            acts.push(PaneAction::Stage(DeliveryStage::Submitted));
        }
        acts.push(PaneAction::Write(key_bytes(key, &scene.screen.modes())));
        self.pressed += 1;
        self.pressed_at = now;
        acts
    }

    /// Takes a prompt away again that the program has put back where it was typed: the next one
    /// could not be typed there.
    fn tidy(
        &mut self,
        scene: &PaneSnapshot,
        sight: &Sight,
        (since, now): (Moment, Moment),
    ) -> Vec<PaneAction> {
        let is_still = now.since(self.pace.output_at.max(since)) >= QUIET;
        if !is_still && now.since(since) < QUIET_MAX {
            return Vec::new();
        }
        let is_left = typed(sight).is_some_and(|typed| !typed.is_empty());
        let is_own = self.was_empty && scene.typed_at.is_none_or(|at| at < self.begun_at);
        let is_idle = !matches!(scene.drawn(sight), AgentState::Working | AgentState::Waiting);
        if !(is_left && is_own && is_idle) || self.clear.is_empty() {
            return self.accept(scene, is_left);
        }
        self.phase = Phase::Cleared { since: now };
        let bytes = |key: &Key| key_bytes(*key, &scene.screen.modes());
        self.clear.iter().map(|key| PaneAction::Write(bytes(key))).collect()
    }

    fn accept(&mut self, scene: &PaneSnapshot, is_left: bool) -> Vec<PaneAction> {
        let left = if is_left { ", and a text stands where prompts are typed" } else { "" };
        let evidence = format!("the agent is {}{left}", scene.shown.state);
        self.end(DeliveryStage::Accepted { evidence })
    }

    /// Ends because no more may be pressed.
    fn give_up(&mut self, why: &str) -> Vec<PaneAction> {
        let stage = match self.pressed {
            0 => DeliveryStage::Refused { reason: why.into() },
            _ => DeliveryStage::Unknown { reason: format!("after a key was pressed, {why}") },
        };
        self.end(stage)
    }

    fn end(&mut self, stage: DeliveryStage) -> Vec<PaneAction> {
        self.phase = Phase::Over;
        vec![PaneAction::Stage(stage)]
    }
}

/// Returns what stands in the composer, if it is in sight.
fn typed(sight: &Sight) -> Option<&str> {
    let input = sight.input.as_ref().filter(|input| input.is_composer)?;
    input.typed.as_deref()
}
