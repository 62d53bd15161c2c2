//! Asks each pane's detector what its screen means, and tells the engine.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use super::pane::Pane;
use crate::config::{Settings, is_built_in_cli};
use crate::detect::{Detector, Dialog, Finding, HookRules, Options, Rules};
use crate::engine::RunEvent;
use crate::hub::Hub;
use crate::model::{AgentName, AgentState, Exit, Manifest, Moment, Source};
use crate::screen::{Screen, Signal};

/// How often it is looked whether an agent at work shows other words than before.
const MOVE_PAUSE: Duration = Duration::from_secs(2);

/// How often it is told what an agent at work uses: each time is written down.
const TOKENS_PAUSE: Duration = Duration::from_secs(3);

/// The cli whose rules fit any program.
const ANY_PROGRAM: &str = "shell";

impl Hub {
    /// Drops the rules of clis whose screens are to be read otherwise than before, and lets the
    /// panes that run go on with the new ones.
    pub(in crate::hub) fn heed_rules(&mut self, before: &Settings) {
        let is_same = |name: &String| {
            let manifest = |settings: &Settings| settings.cli(name).map(|cli| cli.manifest.clone());
            manifest(before) == manifest(&self.settings)
        };
        self.rules.retain(|name, _| is_same(name));
        self.heed_hooks();
        let now = self.clock.now();
        let agents: Vec<AgentName> = self.panes.keys().cloned().collect();
        for agent in agents {
            let Some(rules) = self.rules_of(&agent) else { continue };
            let hands_over = self.hands_over_messages(&agent);
            let pane = self.panes.get_mut(&agent).filter(|pane| pane.link.is_some());
            let Some(pane) = pane else { continue };
            match &mut pane.detector {
                Some(detector) => detector.set_rules(rules, pane.screen.title(), now),
                detector @ None => {
                    let detector = detector.insert(Detector::new(rules, Options::default(), now));
                    detector.expect_messages(hands_over);
                }
            }
        }
    }

    /// Takes over what the hooks of each cli mean.
    fn heed_hooks(&mut self) {
        for (name, cli) in self.settings.clis() {
            if self.hook_rules.get(name).is_some_and(|rules| rules.are_of(&cli.hooks)) {
                continue;
            }
            match HookRules::new(name, &cli.hooks) {
                Ok(rules) => {
                    self.hook_rules.insert(name.to_owned(), rules);
                }
                Err(error) => tracing::error!(cli = name, %error, "its hooks cannot be used"),
            }
        }
    }

    /// Returns a detector for an agent's pane, by the rules of its cli.
    pub(in crate::hub) fn detector(&mut self, agent: &AgentName) -> Option<Detector> {
        let rules = self.rules_of(agent)?;
        let mut detector = Detector::new(rules, Options::default(), self.clock.now());
        detector.expect_messages(self.hands_over_messages(agent));
        Some(detector)
    }

    /// Says whether an agent's cli was started so that it hands over its last message of each turn.
    fn hands_over_messages(&self, agent: &AgentName) -> bool {
        self.engine.seat(agent).is_some_and(|seat| {
            let rules = self.hook_rules.get(&seat.member.cli);
            let has_hooks = seat.member.contact.no_hooks.is_none();
            has_hooks && rules.is_some_and(HookRules::hand_over_messages)
        })
    }

    /// Returns the rules of an agent's cli, compiled when they are first needed.
    fn rules_of(&mut self, agent: &AgentName) -> Option<Arc<Rules>> {
        let settings = &self.settings;
        let name = self.engine.seat(agent).map_or(ANY_PROGRAM, |seat| &seat.member.cli);
        let cli = settings.cli(name).or_else(|| settings.cli(ANY_PROGRAM))?;
        // Clis of your own that show the same share their rules: compiled, they are not small.
        let alike = || settings.clis().find(|(_, known)| known.manifest == cli.manifest);
        let cli = if is_built_in_cli(name) { name } else { alike()?.0 }.to_owned();
        let wanted = &settings.cli(&cli)?.manifest;
        if !self.rules.contains_key(&cli) {
            match Rules::new(&cli, wanted) {
                Ok(rules) => drop(self.rules.insert(cli.clone(), Arc::new(rules))),
                Err(error) => {
                    let fault = match std::error::Error::source(&error) {
                        Some(cause) => format!("[cli.{cli}]: {error}: {cause}"),
                        None => format!("[cli.{cli}]: {error}"),
                    };
                    self.note_settings_fault(fault);
                }
            }
        }
        self.rules.get(&cli).map(Arc::clone)
    }

    /// Returns how an agent's cli shows what it does, and how to talk to it.
    pub(in crate::hub) fn manifest_of(&self, agent: &AgentName) -> Option<&Manifest> {
        let cli = self.engine.seat(agent).and_then(|seat| self.settings.cli(&seat.member.cli));
        cli.or_else(|| self.settings.cli(ANY_PROGRAM)).map(|cli| &cli.manifest)
    }

    /// Lets the detector of a pane look, and carries what it found on.
    pub(in crate::hub) fn judge(&mut self, agent: &AgentName, signals: &[Signal], now: Moment) {
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let before = pane.dialog_id();
        let heeds = |signal: &&Signal| !matches!(signal, Signal::Notification { .. });
        let found = if self.settings.reporters.enabled {
            pane.observe(signals, now)
        } else {
            let signals: Vec<Signal> = signals.iter().filter(heeds).cloned().collect();
            pane.observe(&signals, now)
        };
        let run = pane.run;
        if pane.dialog_id() != before {
            self.views.note_status_change();
        }
        self.deliver(agent, run, Source::Line, found);
        if let Some(pane) = self.panes.get_mut(agent) {
            pane.note_asking(now);
        }
        self.run_errand(agent, now);
        self.note_movement(agent, now);
        self.note_tokens(agent, now);
    }

    /// Lets the detector look for the last time, so that last words count.
    pub(in crate::hub) fn judge_end(&mut self, agent: &AgentName, exit: Exit) {
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
        // What a hub sees first may have stood there for long.
        if pane.words.replace(words).is_some_and(|before| before != words) {
            let run = pane.run;
            self.note_run(agent, run, RunEvent::Moved);
        }
    }

    /// Tells the engine what an agent was seen to use, at the end of a turn and now and then in it.
    fn note_tokens(&mut self, agent: &AgentName, now: Moment) {
        let is_at_work =
            self.engine.seat(agent).is_some_and(|seat| seat.state == AgentState::Working);
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let total = pane.detector.as_ref().and_then(Detector::tokens).unwrap_or_default();
        let tokens = total.saturating_sub(pane.tokens_told);
        if tokens == 0 || is_at_work && now.since(pane.tokens_told_at) < TOKENS_PAUSE {
            return;
        }
        (pane.tokens_told, pane.tokens_told_at) = (total, now);
        let run = pane.run;
        // The next hub goes on from here.
        self.save_reports(agent);
        self.note_run(agent, run, RunEvent::Used { tokens });
    }

    /// Lets every detector look whose time has come.
    pub(in crate::hub) fn judge_due(&mut self, now: Moment) {
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

    fn dialog_id(&self) -> Option<String> {
        self.detector.as_ref().and_then(Detector::dialog).map(Dialog::fingerprint)
    }

    /// Returns the rule that gave the state.
    pub(in crate::hub) fn rule(&self) -> &str {
        self.detector.as_ref().map_or("", |detector| &detector.shown().rule)
    }

    /// Returns when the detector has something to do though nothing was written.
    pub(in crate::hub) fn judge_deadline(&self) -> Option<Moment> {
        // A pane whose agent is gone means nothing any more.
        self.link.is_some().then(|| self.look_deadline())?
    }

    /// Returns when the detector is to look at what this hub has of the pane.
    fn look_deadline(&self) -> Option<Moment> {
        // What an earlier hub has read is looked at as it comes, and not before: it may be long on its way from
        // elsewhere, and what is overdue would be overdue all that time.
        let is_behind = self.offset < self.reports.offset.max(self.caught_up_at);
        self.detector.as_ref().filter(|_| !is_behind)?.next_deadline()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RunId, Size};
    use crate::screen::HistoryLimit;

    #[test]
    fn nothing_is_due_in_a_pane_that_has_not_been_caught_up_with() {
        let mut manifest = Manifest::default();
        manifest.screen.output_means_working = true;
        let rules = Arc::new(Rules::new(ANY_PROGRAM, &manifest).unwrap());
        let now = Moment::default() + Duration::from_secs(1);
        let mut pane = Pane::new(RunId(1), Size::default(), HistoryLimit::default());
        pane.detector = Some(Detector::new(rules, Options::default(), now));
        assert!(pane.look_deadline().is_some(), "a start that takes too long is told");
        // As it is until the keeper has said how much there is to read: for ever, if it is out of reach.
        pane.caught_up_at = u64::MAX;
        assert_eq!(pane.look_deadline(), None);
        (pane.caught_up_at, pane.reports.offset) = (0, 7);
        assert_eq!(pane.look_deadline(), None);
        pane.offset = 7;
        assert!(pane.look_deadline().is_some());
    }
}
