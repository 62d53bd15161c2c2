//! Asks each pane's detector what its screen means, and tells the engine.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use super::pane::Pane;
use super::state::Hub;
use crate::config::Settings;
use crate::detect::{Detector, Finding, HookRules, Options, Rules};
use crate::engine::RunEvent;
use crate::model::{AgentName, AgentState, Exit, Manifest, Moment, Source};
use crate::screen::{Screen, Signal};

/// How often it is looked whether an agent at work shows other words than before.
const MOVE_PAUSE: Duration = Duration::from_secs(2);

/// The cli whose rules fit any program.
const ANY_PROGRAM: &str = "shell";

impl Hub {
    /// Takes over how each cli's screen is to be read; the rules are compiled when they are needed.
    pub(super) fn heed_rules(&mut self, settings: &Settings) {
        for (name, cli) in settings.clis() {
            if !self.hook_rules.get(name).is_some_and(|rules| rules.are_of(&cli.hooks)) {
                match HookRules::new(name, &cli.hooks) {
                    Ok(rules) => {
                        self.hook_rules.insert(name.to_owned(), rules);
                    }
                    Err(error) => tracing::error!(cli = name, %error, "its hooks cannot be used"),
                }
            }
            if self.manifests.get(name) != Some(&cli.manifest) {
                self.manifests.insert(name.to_owned(), cli.manifest.clone());
                self.rules.remove(name);
            }
        }
    }

    /// Returns a detector for an agent's pane, by the rules of its cli.
    pub(super) fn detector(&mut self, agent: &AgentName) -> Option<Detector> {
        let cli = self.engine.seat(agent).map(|seat| seat.member.cli.clone());
        let wanted = cli.and_then(|cli| self.manifests.get(&cli));
        let wanted = wanted.or_else(|| self.manifests.get(ANY_PROGRAM))?;
        // Clis that show the same share their rules: compiled, they are not small.
        let cli = self.manifests.iter().find(|(_, known)| *known == wanted)?.0.clone();
        if !self.rules.contains_key(&cli) {
            match Rules::new(&cli, self.manifests.get(&cli)?) {
                Ok(rules) => {
                    self.rules.insert(cli.clone(), Arc::new(rules));
                }
                Err(error) => tracing::error!(cli, %error, "its rules cannot be used"),
            }
        }
        let rules = self.rules.get(&cli)?;
        Some(Detector::new(Arc::clone(rules), Options::default(), self.clock.now()))
    }

    /// Returns how an agent's cli shows what it does, and how to talk to it.
    pub(super) fn manifest_of(&self, agent: &AgentName) -> Option<&Manifest> {
        let cli = self.engine.seat(agent).and_then(|seat| self.manifests.get(&seat.member.cli));
        cli.or_else(|| self.manifests.get(ANY_PROGRAM))
    }

    /// Lets the detector of a pane look, and carries what it found on.
    pub(super) fn judge(&mut self, agent: &AgentName, signals: &[Signal], now: Moment) {
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let (run, found) = (pane.run, pane.observe(signals, now));
        self.deliver(agent, run, Source::Line, found);
        self.run_errand(agent, now);
        self.note_movement(agent, now);
    }

    /// Lets the detector look for the last time, so that last words count.
    pub(super) fn judge_end(&mut self, agent: &AgentName, exit: Exit) {
        let now = self.clock.now();
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let Some(detector) = &mut pane.detector else { return };
        let (run, found) = (pane.run, detector.process_exited(exit, &pane.screen, now));
        self.deliver(agent, run, Source::Line, found);
    }

    /// Tells the engine when an agent at work shows other words than before.
    fn note_movement(&mut self, agent: &AgentName, now: Moment) {
        let is_at_work = |state| matches!(state, AgentState::Working | AgentState::Starting);
        if !self.engine.seat(agent).is_some_and(|seat| is_at_work(seat.state)) {
            return;
        }
        let Some(pane) = self.panes.get_mut(agent) else { return };
        if now.since(pane.words_seen_at) < MOVE_PAUSE {
            return;
        }
        pane.words_seen_at = now;
        let words = words(&pane.screen);
        if std::mem::replace(&mut pane.words, words) != words {
            let run = pane.run;
            self.note_run(agent, run, RunEvent::Moved);
        }
    }

    /// Lets every detector look whose time has come.
    pub(super) fn judge_due(&mut self, now: Moment) {
        let is_due = |pane: &Pane| pane.judge_deadline().is_some_and(|deadline| deadline <= now);
        let due: Vec<AgentName> = self
            .panes
            .iter()
            .filter(|(_, pane)| is_due(pane))
            .map(|(name, _)| name.clone())
            .collect();
        for agent in due {
            self.judge(&agent, &[], now);
        }
    }
}

impl Pane {
    fn observe(&mut self, signals: &[Signal], now: Moment) -> Vec<Finding> {
        let Some(detector) = &mut self.detector else { return Vec::new() };
        if self.offset < self.reports.offset {
            // An earlier hub has read this.
            detector.hear(signals, now);
            return Vec::new();
        }
        if self.offset < self.caught_up_at {
            detector.catch_up(&self.screen, signals, now);
            return Vec::new();
        }
        detector.observe(&self.screen, signals, now)
    }

    /// Returns the rule that gave the state.
    pub(super) fn rule(&self) -> &str {
        self.detector.as_ref().map_or("", |detector| &detector.shown().rule)
    }

    /// Returns when the detector has something to do though nothing was written.
    pub(super) fn judge_deadline(&self) -> Option<Moment> {
        // A pane whose agent is gone means nothing any more.
        let detector = self.detector.as_ref().filter(|_| self.link.is_some())?;
        detector.next_deadline()
    }
}

/// Returns a number for the words on a screen; spinners, counters and clocks do not change it.
fn words(screen: &Screen) -> u64 {
    let mut hasher = DefaultHasher::new();
    for letter in screen.text().chars().filter(|letter| letter.is_alphabetic()) {
        letter.hash(&mut hasher);
    }
    hasher.finish()
}
