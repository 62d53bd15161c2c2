//! Reads screens: keeps a detector for each pane, by the rules of its agent's cli.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::pane::Pane;
use super::state::Panes;
use crate::config::{Settings, is_built_in_cli};
use crate::detect::{
    Detector, Dialog, Finding, HookNews, HookRules, Options, Rules, StreamNews, Told,
};
use crate::model::{AgentName, Exit, HOOKS_FILE_KIND, Manifest, Moment};
use crate::screen::{Screen, Signal};

/// How often it is looked whether an agent at work shows other words than before.
const MOVE_PAUSE: Duration = Duration::from_secs(2);

/// How often it is told what an agent at work uses: each time is written down.
const TOKENS_PAUSE: Duration = Duration::from_secs(3);

/// The cli whose rules fit any program.
const ANY_PROGRAM: &str = "shell";

/// How to read the screen of each cli, and what its hooks mean.
#[derive(Debug, Default)]
pub(super) struct ReadingRules {
    /// Compiled when they are first needed.
    screens: BTreeMap<String, Arc<Rules>>,
    hooks: BTreeMap<String, HookRules>,
}

impl ReadingRules {
    /// Drops the rules of clis whose screens are to be read otherwise than before, and takes over what
    /// hooks mean.
    pub(super) fn change(&mut self, before: &Settings, settings: &Settings) {
        let is_same = |name: &String| {
            let manifest = |settings: &Settings| settings.cli(name).map(|cli| cli.manifest.clone());
            manifest(before) == manifest(settings)
        };
        self.screens.retain(|name, _| is_same(name));
        for (name, cli) in settings.clis() {
            if self.hooks.get(name).is_some_and(|rules| rules.are_of(&cli.hooks)) {
                continue;
            }
            match HookRules::new(name, &cli.hooks) {
                Ok(rules) => drop(self.hooks.insert(name.to_owned(), rules)),
                Err(error) => tracing::error!(cli = name, %error, "its hooks cannot be used"),
            }
        }
    }

    /// Returns the rules of a cli, or why they cannot be used. Whoever has no known cli is read as any
    /// program is.
    pub(super) fn screen(
        &mut self,
        cli: Option<&str>,
        settings: &Settings,
    ) -> Result<Option<Arc<Rules>>, String> {
        let name = cli.unwrap_or(ANY_PROGRAM);
        let Some(found) = settings.cli(name).or_else(|| settings.cli(ANY_PROGRAM)) else {
            return Ok(None);
        };
        // Clis of your own that show the same share their rules: compiled, they are not small.
        let alike = || settings.clis().find(|(_, known)| known.manifest == found.manifest);
        let own_name = is_built_in_cli(name).then_some(name);
        let Some(cli) = own_name.or_else(|| Some(alike()?.0)) else { return Ok(None) };
        let Some(wanted) = settings.cli(cli).map(|cli| &cli.manifest) else { return Ok(None) };
        if let Some(rules) = self.screens.get(cli) {
            return Ok(Some(Arc::clone(rules)));
        }
        match Rules::new(cli, wanted) {
            Ok(rules) => {
                let rules = self.screens.entry(cli.to_owned()).or_insert(Arc::new(rules));
                Ok(Some(Arc::clone(rules)))
            }
            Err(error) => Err(match std::error::Error::source(&error) {
                Some(cause) => format!("[cli.{cli}]: {error}: {cause}"),
                None => format!("[cli.{cli}]: {error}"),
            }),
        }
    }
}

impl Panes {
    /// Says whether the hooks of a cli hand over the last message of each turn.
    pub(in crate::hub) fn hooks_hand_over_messages(&self, cli: &str) -> bool {
        self.rules.hooks.get(cli).is_some_and(HookRules::hand_over_messages)
    }

    /// Returns what the names of the files end in that tell agents of their hooks, each once.
    pub(in crate::hub) fn hook_file_kinds(&self) -> BTreeSet<String> {
        let kinds = self.rules.hooks.values().map(|rules| rules.file_kind().to_owned());
        kinds.chain([HOOKS_FILE_KIND.to_owned()]).collect()
    }

    /// Takes what a hook of an agent's cli said. Nothing comes of what was said before or means nothing.
    pub(in crate::hub) fn take_hook(
        &mut self,
        (agent, cli): (&AgentName, &str),
        (call, said): (&str, &Value),
        now: Moment,
    ) -> Option<(HookNews, Vec<Finding>)> {
        let rules = self.rules.hooks.get(cli)?;
        let news = rules.read(said)?;
        let pane = self.by_agent.get_mut(agent)?;
        if !pane.note_call(call) {
            return None;
        }
        let Some(detector) = &mut pane.detector else { return Some((news, Vec::new())) };
        if let Some(command) = rules.read_command(said) {
            detector.tell_command(command, now);
        }
        let found = detector.hook(&news, now);
        Some((news, found))
    }
}

/// Returns how an agent's cli shows what it does, and how to talk to it.
pub(in crate::hub) fn manifest_of<'a>(
    settings: &'a Settings,
    cli: Option<&str>,
) -> Option<&'a Manifest> {
    let found = cli.and_then(|cli| settings.cli(cli));
    found.or_else(|| settings.cli(ANY_PROGRAM)).map(|cli| &cli.manifest)
}

/// Returns a detector that goes by these rules.
pub(super) fn detector(rules: Arc<Rules>, expects_messages: bool, now: Moment) -> Detector {
    let mut detector = Detector::new(rules, Options::default(), now);
    detector.expect_messages(expects_messages);
    detector
}

impl Pane {
    /// Reads the screen by other rules from now on.
    pub(super) fn read_by(&mut self, rules: Arc<Rules>, expects_messages: bool, now: Moment) {
        match &mut self.detector {
            Some(known) => known.set_rules(rules, self.screen.title(), now),
            none @ None => *none = Some(detector(rules, expects_messages, now)),
        }
    }

    /// Lets the detector look, and returns what it found, and whether another dialog is open than before.
    pub(in crate::hub) fn inspect(
        &mut self,
        signals: &[Signal],
        heeds_reporters: bool,
        now: Moment,
    ) -> (Vec<Finding>, bool) {
        let before = self.dialog_id();
        let is_heeded =
            |one: &&Signal| heeds_reporters || !matches!(one, Signal::Notification { .. });
        let found = if heeds_reporters {
            self.observe(signals, now)
        } else {
            let heeded: Vec<Signal> = signals.iter().filter(is_heeded).cloned().collect();
            self.observe(&heeded, now)
        };
        (found, self.dialog_id() != before)
    }

    /// Lets the detector look for the last time, so that last words count.
    pub(in crate::hub) fn inspect_end(&mut self, exit: Exit, now: Moment) -> Vec<Finding> {
        let detector = self.detector.as_mut();
        detector.map(|one| one.process_exited(exit, &self.screen, now)).unwrap_or_default()
    }

    /// Takes what the agent's own server says, or that it says nothing any more.
    pub(in crate::hub) fn take_stream(
        &mut self,
        news: Option<&StreamNews>,
        now: Moment,
    ) -> Option<Vec<Finding>> {
        let detector = self.detector.as_mut()?;
        if let Some(command) = news.and_then(|news| news.command.clone()) {
            detector.tell_command(command, now);
        }
        Some(detector.stream(news, now))
    }

    /// Takes what a reporter says that the agent does.
    pub(in crate::hub) fn take_reported(&mut self, told: &Told, now: Moment) -> Vec<Finding> {
        let detector = self.detector.as_mut();
        detector.map(|detector| detector.reported(told, now)).unwrap_or_default()
    }

    /// Says whether the screen shows other words than when this was last asked; it is asked seldom.
    pub(in crate::hub) fn has_moved(&mut self, now: Moment) -> bool {
        if now.since(self.words_seen_at) < MOVE_PAUSE {
            return false;
        }
        self.words_seen_at = now;
        let words = words(&self.screen);
        // What a hub sees first may have stood there for long.
        self.words.replace(words).is_some_and(|before| before != words)
    }

    /// Returns how many tokens were used since this was last told; now and then while the agent works.
    pub(in crate::hub) fn new_tokens(&mut self, is_at_work: bool, now: Moment) -> Option<u64> {
        let total = self.detector.as_ref().and_then(Detector::tokens).unwrap_or_default();
        let tokens = total.saturating_sub(self.tokens_told);
        if tokens == 0 || is_at_work && now.since(self.tokens_told_at) < TOKENS_PAUSE {
            return None;
        }
        (self.tokens_told, self.tokens_told_at) = (total, now);
        Some(tokens)
    }

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
    pub(super) fn inspection_deadline(&self) -> Option<Moment> {
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
