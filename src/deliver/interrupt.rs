//! Stops an agent at work: its keys one by one, until it has stopped.

use std::time::Duration;

use crate::model::{AgentState, Key, Moment};
use crate::screen::key_bytes;

use super::act::{Act, Stage};
use super::pace::Pace;
use super::scene::Scene;

/// What a key does shows by then; only after that the next is pressed.
const KEY_PAUSE: Duration = Duration::from_millis(1200);
/// An agent that still works by then did not react.
const PATIENCE: Duration = Duration::from_secs(8);

/// One interrupt on its way.
#[derive(Debug)]
pub struct Interrupt {
    keys: Vec<Key>,
    pressed: usize,
    begun_at: Moment,
    pressed_at: Moment,
    pace: Pace,
    is_over: bool,
}

impl Interrupt {
    /// Prepares an interrupt by these keys; the first `observe` begins it.
    pub fn begin(keys: &[String], scene: &Scene, now: Moment) -> Self {
        Self {
            keys: keys.iter().filter_map(|key| key.parse().ok()).collect(),
            pressed: 0,
            begun_at: now,
            pressed_at: now,
            pace: Pace::new(scene.screen, now),
            is_over: false,
        }
    }

    /// Takes what the pane shows now, and returns what to do.
    #[must_use]
    pub fn observe(&mut self, scene: &Scene, now: Moment) -> Vec<Act> {
        if self.is_over || !self.pace.note(scene.screen, now) {
            return Vec::new();
        }
        let sight = scene.sight();
        let state = scene.state(&sight);
        // The end of work must have lasted before it is believed, and that is for the detector to
        // say; but no key is pressed at a dialog or a prompt that is in sight now.
        let has_stopped = scene.shown.state != AgentState::Working;
        match state {
            AgentState::Exited if self.pressed > 0 => {
                return self.end(Stage::Accepted { evidence: "the agent has ended".into() });
            }
            AgentState::Waiting => {
                let why = scene.dialog_words(&sight);
                return self.stop(&why);
            }
            AgentState::Exited
            | AgentState::Starting
            | AgentState::Idle
            | AgentState::Working
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error
            | AgentState::Limited
            | AgentState::Unknown => {}
        }
        if has_stopped && self.pressed > 0 {
            let evidence = format!("the agent is {}", scene.shown.state);
            return self.end(Stage::Accepted { evidence });
        }
        if has_stopped {
            return self.stop(&format!("the agent is not at work: it is {}", scene.shown.state));
        }
        let is_time = self.pressed == 0 || now.since(self.pressed_at) >= KEY_PAUSE;
        if let Some(key) = self.keys.get(self.pressed).filter(|_| is_time) {
            if self.pressed > 0 && state != AgentState::Working {
                return self.give_up_if_late(now);
            }
            return self.press(*key, scene, now);
        }
        self.give_up_if_late(now)
    }

    /// Returns the moment at which `observe` has something to do though nothing was written.
    pub fn next_deadline(&self) -> Option<Moment> {
        if self.is_over {
            return None;
        }
        let (next, last) = (self.pressed_at + KEY_PAUSE, self.pressed_at + PATIENCE);
        match self.pressed {
            0 => Some(self.begun_at),
            pressed if pressed < self.keys.len() => self.pace.next_of(&[next, last]),
            _ => self.pace.next_of(&[last]),
        }
    }

    fn press(&mut self, key: Key, scene: &Scene, now: Moment) -> Vec<Act> {
        let mut acts = Vec::new();
        if self.pressed == 0 {
            acts.push(Act::Stage(Stage::Submitted));
        }
        acts.push(Act::Write(key_bytes(key, &scene.screen.modes())));
        self.pressed += 1;
        self.pressed_at = now;
        acts
    }

    fn give_up_if_late(&mut self, now: Moment) -> Vec<Act> {
        if self.keys.is_empty() {
            return self.stop("its cli names no keys that interrupt it");
        }
        if now.since(self.pressed_at) < PATIENCE {
            return Vec::new();
        }
        let keys: Vec<String> =
            self.keys[..self.pressed].iter().map(|key| format!("`{key}`")).collect();
        let reason = format!("the agent did not react to {}", keys.join(" and "));
        self.end(Stage::Stalled { reason })
    }

    /// Ends because no more may be pressed.
    fn stop(&mut self, why: &str) -> Vec<Act> {
        let stage = match self.pressed {
            0 => Stage::Refused { reason: why.into() },
            _ => Stage::Unknown { reason: format!("after a key was pressed, {why}") },
        };
        self.end(stage)
    }

    fn end(&mut self, stage: Stage) -> Vec<Act> {
        self.is_over = true;
        vec![Act::Stage(stage)]
    }
}
