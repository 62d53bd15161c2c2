//! Holds the panes of all agents: opens, saves and closes them, and says when one has something to do.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::detection::{ReadingRules, detector};
use super::event_stream::EventStream;
use super::link::{KeeperStart, Link, Route};
use super::pane::Pane;
use crate::config::{Paths, Settings};
use crate::detect::Rules;
use crate::hub::inbox::Senders;
use crate::hub::record::file_writer::Files;
use crate::hub::remote::place::KeeperAddress;
use crate::keeper::ToKeeper;
use crate::model::{AgentName, Moment, RunId, Size};
use crate::screen::HistoryLimit;

/// The panes of all agents.
#[derive(Debug)]
pub(in crate::hub) struct Panes {
    pub(super) by_agent: BTreeMap<AgentName, Pane>,
    pub(super) rules: ReadingRules,
    pub(super) paths: Paths,
    pub(super) files: Files,
    pub(super) history_limit: HistoryLimit,
    default_size: Size,
    /// The size that each pane was last asked to have, by whichever dashboard.
    wanted_sizes: BTreeMap<AgentName, Size>,
}

/// How a pane's screen is read from the beginning of a run.
#[derive(Debug, Default)]
pub(in crate::hub) struct PaneReading {
    pub(in crate::hub) rules: Option<Arc<Rules>>,
    /// The hooks of its cli hand over the last message of each turn.
    pub(in crate::hub) expects_messages: bool,
    /// The port at which its program tells of events.
    pub(in crate::hub) port: Option<u16>,
}

impl Panes {
    pub(in crate::hub) fn new(paths: Paths, files: Files) -> Self {
        let (by_agent, rules) = (BTreeMap::new(), ReadingRules::default());
        let (history_limit, default_size) = (HistoryLimit::default(), Size::default());
        let wanted_sizes = BTreeMap::new();
        Self { by_agent, rules, paths, files, history_limit, default_size, wanted_sizes }
    }

    /// Goes by other settings from now on.
    pub(in crate::hub) fn change_settings(&mut self, before: &Settings, settings: &Settings) {
        let lines = settings.pane.scrollback.try_into().unwrap_or(usize::MAX);
        self.history_limit = HistoryLimit { lines, ..HistoryLimit::default() };
        self.default_size = Size { rows: settings.pane.min_rows, cols: settings.pane.min_cols };
        self.rules.change(before, settings);
    }

    /// Returns the rules by which a cli's screen is read, or why they cannot be used.
    pub(in crate::hub) fn rules_of(
        &mut self,
        cli: Option<&str>,
        settings: &Settings,
    ) -> Result<Option<Arc<Rules>>, String> {
        self.rules.screen(cli, settings)
    }

    /// Reads the pane of an agent that runs by other rules from now on.
    pub(in crate::hub) fn read_by(&mut self, agent: &AgentName, reading: PaneReading, now: Moment) {
        if let (Some(pane), Some(rules)) = (self.live_mut(agent), reading.rules) {
            pane.read_by(rules, reading.expects_messages, now);
        }
    }

    pub(in crate::hub) fn default_size(&self) -> Size {
        self.default_size
    }

    pub(in crate::hub) fn names(&self) -> Vec<AgentName> {
        self.by_agent.keys().cloned().collect()
    }

    pub(in crate::hub) fn get(&self, agent: &AgentName) -> Option<&Pane> {
        self.by_agent.get(agent)
    }

    pub(in crate::hub) fn get_mut(&mut self, agent: &AgentName) -> Option<&mut Pane> {
        self.by_agent.get_mut(agent)
    }

    /// Returns the pane of an agent if this run fills it.
    pub(in crate::hub) fn of_run(&mut self, agent: &AgentName, run: RunId) -> Option<&mut Pane> {
        self.by_agent.get_mut(agent).filter(|pane| pane.run == run)
    }

    /// Returns the pane of an agent that runs.
    pub(in crate::hub) fn live_mut(&mut self, agent: &AgentName) -> Option<&mut Pane> {
        self.by_agent.get_mut(agent).filter(|pane| pane.is_live())
    }

    /// Returns the size of what shows an agent's pane, or else that of its screen, if it has one.
    pub(in crate::hub) fn size_of(&self, agent: &AgentName) -> Option<Size> {
        let of_screen = || self.by_agent.get(agent).map(|pane| pane.screen.size());
        self.wanted_sizes.get(agent).copied().or_else(of_screen)
    }

    /// Gives an agent's terminal the size of what shows it; one that does not run yet begins with it. Returns
    /// true where the screen has that size at once.
    pub(in crate::hub) fn want_size(&mut self, agent: &AgentName, size: Size) -> bool {
        self.wanted_sizes.insert(agent.clone(), size);
        self.by_agent.get_mut(agent).is_some_and(|pane| pane.want_size(size))
    }

    /// Returns an empty pane for a run that begins.
    pub(in crate::hub) fn empty(&self, run: RunId, size: Size) -> Pane {
        Pane::new(run, size, self.history_limit)
    }

    /// Returns a pane for a run that an earlier hub began, as that hub left it.
    pub(in crate::hub) fn adopted(&self, agent: &AgentName, run: RunId, now: Moment) -> Pane {
        let saved = self.saved(agent, run, now);
        let mut pane = saved.unwrap_or_else(|| self.empty(run, self.default_size));
        pane.reports = self.saved_reports(agent, run);
        // Until its keeper has said how much there is to read.
        pane.caught_up_at = u64::MAX;
        pane
    }

    /// Shows the last words of an agent that has ended.
    pub(in crate::hub) fn show_ended(&mut self, agent: AgentName, run: RunId, now: Moment) {
        if let Some(pane) = self.saved(&agent, run, now) {
            self.by_agent.insert(agent, pane);
        }
    }

    /// Puts a pane in the place of the agent's last one, and opens the line to its keeper.
    pub(in crate::hub) fn open(
        &mut self,
        agent: &AgentName,
        mut pane: Pane,
        reading: PaneReading,
        (start, address): (KeeperStart, KeeperAddress),
        (senders, now): (&Senders, Moment),
    ) {
        let (run, from) = (pane.run, pane.offset);
        let route = Route { agent: agent.clone(), run, address, from, start };
        pane.link = Some(Link::open(route, senders.clone()));
        let PaneReading { rules, expects_messages, port } = reading;
        pane.detector = rules.map(|rules| detector(rules, expects_messages, now));
        if let (Some(detector), Some(memory)) = (&mut pane.detector, pane.reports.take_memory()) {
            detector.remember(memory);
            pane.tokens_told = detector.tokens().unwrap_or_default();
        }
        let listen = |port| EventStream::open(agent.clone(), run, port, senders.clone());
        pane.events = port.map(listen);
        let wanted = self.wanted_sizes.get(agent).filter(|size| **size != pane.screen.size());
        if let Some(size) = wanted {
            pane.order(&ToKeeper::Resize(*size));
        }
        let before = self.by_agent.insert(agent.clone(), pane);
        if let Some(link) = before.and_then(|pane| pane.link) {
            link.retire();
        }
    }

    /// Sends an order to an agent's keeper, and says whether it was taken.
    pub(in crate::hub) fn order(&self, agent: &AgentName, order: &ToKeeper) -> bool {
        self.by_agent.get(agent).is_some_and(|pane| pane.order(order))
    }

    /// Takes note that news of a run's keeper is dealt with, and says whether it still matters: output of
    /// an earlier run means nothing for the one that follows it.
    pub(in crate::hub) fn note_news(&self, agent: &AgentName, run: RunId) -> Option<RunId> {
        let pane = self.by_agent.get(agent)?;
        pane.link.as_ref().filter(|link| link.run == run)?.note_heard();
        Some(pane.run)
    }

    /// Says whether a keeper that is not on record has yet to say which run it keeps.
    pub(in crate::hub) fn awaits_stray(&self) -> bool {
        self.by_agent.values().any(|pane| pane.is_live() && pane.run == RunId::default())
    }

    /// Returns the agents whose detectors have something to do.
    pub(in crate::hub) fn inspections_due(&self, now: Moment) -> Vec<AgentName> {
        self.due(now, Pane::inspection_deadline)
    }

    /// Returns the agents in whose panes there is something to press.
    pub(in crate::hub) fn keystrokes_due(&self, now: Moment) -> Vec<AgentName> {
        self.due(now, Pane::keystroke_deadline)
    }

    fn due(&self, now: Moment, deadline: impl Fn(&Pane) -> Option<Moment>) -> Vec<AgentName> {
        let is_due = |pane: &Pane| deadline(pane).is_some_and(|deadline| deadline <= now);
        let due = self.by_agent.iter().filter(|(_, pane)| is_due(pane));
        due.map(|(agent, _)| agent.clone()).collect()
    }

    /// Returns when one of them has something to do though nothing was written.
    pub(in crate::hub) fn next_deadline(&self) -> Option<Moment> {
        let deadlines = |pane: &Pane| {
            [pane.inspection_deadline(), pane.keystroke_deadline(), pane.dialog_deadline()]
        };
        self.by_agent.values().flat_map(deadlines).flatten().min()
    }
}
