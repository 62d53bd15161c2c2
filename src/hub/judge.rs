//! Asks each pane's detector what its screen means, and tells the engine.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use super::pane::Pane;
use super::state::Hub;
use crate::config::Settings;
use crate::detect::{Detector, Finding, Options, Rules};
use crate::engine::RunEvent;
use crate::model::{AgentName, AgentState, Moment};
use crate::screen::{Screen, Signal};
use crate::wire::{FromHub, Notice};

/// How often it is looked whether an agent at work shows other words than before.
const MOVE_PAUSE: Duration = Duration::from_secs(2);

/// The cli whose rules fit any program.
const ANY_PROGRAM: &str = "shell";

impl Hub {
    /// Takes over how each cli's screen is to be read; the rules are compiled when they are needed.
    pub(super) fn heed_rules(&mut self, settings: &Settings) {
        for (name, cli) in settings.clis() {
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

    /// Lets the detector of a pane look, and carries what it found on.
    pub(super) fn judge(&mut self, agent: &AgentName, signals: &[Signal], now: Moment) {
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let run = pane.run;
        let found = pane.observe(signals, now);
        for finding in found {
            self.casts.mark(agent, &finding, now);
            match finding {
                Finding::State(shown) => {
                    let (state, source) = (shown.state, shown.source);
                    self.note_run(agent, run, RunEvent::Did { state, source });
                    self.views.note_status_change();
                }
                Finding::Report(report) => {
                    self.note_run(agent, run, RunEvent::Reported(report.clone()));
                    self.views.note_status_change();
                    let notice = Notice::Report { agent: agent.clone(), report };
                    self.views.tell_subscribers(&FromHub::Notice(notice));
                }
                Finding::Foreign(report) => {
                    tracing::info!(%agent, line = report.raw, "a report of another attempt");
                }
            }
        }
        self.note_movement(agent, now);
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
        match &mut self.detector {
            Some(detector) => detector.observe(&self.screen, signals, now),
            None => Vec::new(),
        }
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
