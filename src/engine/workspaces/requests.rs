//! What people ask about workspaces, and who waits for what becomes of it.

use std::collections::BTreeSet;

use crate::engine::{Effect, Engine, Seat, WorkspaceOrder};
use crate::model::{
    AgentName, Clearing, Done, Entry, Failure, Moment, Plot, Refusal, RequestId, WorkspaceCommand,
    WorkspaceState,
};

/// Someone who waits until workspaces are gone, or rescued.
#[derive(Clone, Debug)]
pub(in crate::engine) struct SpaceWait {
    request: RequestId,
    /// On which terms they are to be removed, if that is what it waits for.
    terms: Option<Clearing>,
    pending: BTreeSet<AgentName>,
    done: Done,
    failures: Vec<Failure>,
}

impl Engine {
    pub(in crate::engine) fn obey_about_workspaces(
        &mut self,
        request: RequestId,
        command: WorkspaceCommand,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let terms = match &command {
            WorkspaceCommand::Clean { clearing, .. } => Some(*clearing),
            WorkspaceCommand::Rescue { .. }
            | WorkspaceCommand::Restore { .. }
            | WorkspaceCommand::Merge { .. } => None,
        };
        let begun = match command {
            WorkspaceCommand::Clean { agents, clearing } => self.clean(agents, clearing, effects),
            WorkspaceCommand::Rescue { agents } => self.rescue(agents, effects),
            WorkspaceCommand::Restore { agent, plot } => self.restore(&agent, *plot, now, effects),
            WorkspaceCommand::Merge { agent, terms } => {
                return self.ask_to_merge(request, &agent, terms, now, effects);
            }
        };
        match begun {
            Ok((pending, failures)) => {
                let done = Done::default();
                let wait = SpaceWait { request, terms, pending, done, failures };
                self.space_waits.push(wait);
                self.answer_space_waits(effects);
            }
            Err(refusal) => effects.push(Effect::Answer { request, outcome: Err(refusal) }),
        }
    }

    /// Begins to remove workspaces, and says whose it waits for and whose it cannot remove.
    fn clean(
        &mut self,
        agents: Vec<AgentName>,
        clearing: Clearing,
        effects: &mut Vec<Effect>,
    ) -> Result<(BTreeSet<AgentName>, Vec<Failure>), Refusal> {
        let is_for_all = agents.is_empty();
        let agents = if is_for_all { self.workspaces.keys().cloned().collect() } else { agents };
        let (mut pending, mut failures) = (BTreeSet::new(), Vec::new());
        for agent in agents {
            let state = self.known_workspace(&agent)?.state;
            let obstacle = if self.seats.get(&agent).is_some_and(Seat::is_live) {
                Some("its agent runs")
            } else if self.is_merging(&agent) {
                Some("its work is being brought back")
            } else {
                None
            };
            match obstacle {
                Some(_) if is_for_all => {}
                Some(reason) => {
                    failures.push(Failure::new(agent, reason.to_owned()));
                }
                None => {
                    if state == WorkspaceState::Ready {
                        self.clear_workspace(&agent, clearing, effects);
                    }
                    pending.insert(agent);
                }
            }
        }
        Ok((pending, failures))
    }

    fn rescue(
        &mut self,
        agents: Vec<AgentName>,
        effects: &mut Vec<Effect>,
    ) -> Result<(BTreeSet<AgentName>, Vec<Failure>), Refusal> {
        for agent in &agents {
            let workspace = self.known_workspace(agent)?.clone();
            if workspace.state != WorkspaceState::Ready {
                return Err(Refusal::WorkspaceIs { agent: agent.clone(), state: workspace.state });
            }
            effects.push(Effect::Workspace(WorkspaceOrder::Rescue(Box::new(workspace))));
        }
        Ok((agents.into_iter().collect(), Vec::new()))
    }

    fn restore(
        &mut self,
        agent: &AgentName,
        plot: Plot,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<(BTreeSet<AgentName>, Vec<Failure>), Refusal> {
        self.refuse_if_going_down()?;
        if self.workspaces.contains_key(agent) {
            return Err(Refusal::HasWorkspace { agent: agent.clone() });
        }
        self.make_workspace(agent, plot, now, effects);
        Ok(([agent.clone()].into(), Vec::new()))
    }

    /// Returns the terms on which people wait for the removal of a workspace.
    pub(in crate::engine) fn removal_awaited(&self, agent: &AgentName) -> Option<Clearing> {
        let waits = self.space_waits.iter().filter(|wait| wait.pending.contains(agent));
        waits.filter_map(|wait| wait.terms).reduce(|one, other| Clearing {
            rescues: one.rescues || other.rescues,
            drops_ignored: one.drops_ignored || other.drops_ignored,
            is_unfinished: one.is_unfinished || other.is_unfinished,
            is_repeated: one.is_repeated || other.is_repeated,
            accepts_missing: one.accepts_missing || other.accepts_missing,
        })
    }

    /// Tells those who wait what became of a workspace: the name of a rescue, or why it was kept.
    pub(in crate::engine) fn settle_space(
        &mut self,
        agent: &AgentName,
        outcome: &Result<Option<String>, String>,
        effects: &mut Vec<Effect>,
    ) {
        self.settle_space_for(|_| true, agent, outcome, effects);
    }

    /// Tells those among them whose terms are such.
    pub(in crate::engine) fn settle_space_for(
        &mut self,
        are_meant: impl Fn(Option<Clearing>) -> bool,
        agent: &AgentName,
        outcome: &Result<Option<String>, String>,
        effects: &mut Vec<Effect>,
    ) {
        let are_meant =
            |wait: &&mut SpaceWait| wait.pending.contains(agent) && are_meant(wait.terms);
        for wait in self.space_waits.iter_mut().filter(are_meant) {
            wait.pending.remove(agent);
            match outcome.clone() {
                Ok(rescue) => {
                    wait.done.unchanged.push(agent.clone());
                    wait.done.rescues.extend(rescue.map(|name| (agent.clone(), name)));
                }
                Err(reason) => {
                    wait.failures.push(Failure::new(agent.clone(), reason));
                }
            }
        }
        self.answer_space_waits(effects);
    }

    fn answer_space_waits(&mut self, effects: &mut Vec<Effect>) {
        let settled = self.space_waits.extract_if(.., |wait| wait.pending.is_empty());
        for SpaceWait { request, done, failures, .. } in settled {
            let outcome = if failures.is_empty() {
                Ok(done)
            } else {
                Err(Refusal::Kept { failures, removed: done.unchanged })
            };
            effects.push(Effect::Answer { request, outcome });
        }
    }

    /// Returns the workspaces that a request waits for, and on which terms they are to be removed, if
    /// they are.
    pub(in crate::engine) fn spaces_awaited(
        &self,
        request: RequestId,
    ) -> (Vec<AgentName>, Option<Clearing>) {
        let own = self.space_waits.iter().find(|wait| wait.request == request);
        own.map(|wait| (wait.pending.iter().cloned().collect(), wait.terms)).unwrap_or_default()
    }

    /// Waits for workspaces about which something is being done already.
    pub(in crate::engine) fn await_spaces(
        &mut self,
        request: RequestId,
        agents: Vec<AgentName>,
        terms: Option<Clearing>,
        effects: &mut Vec<Effect>,
    ) {
        let (mut done, mut pending, mut failures) = (Done::default(), BTreeSet::new(), Vec::new());
        for agent in agents {
            // A rescue shows in no state.
            let is_rescued = terms.is_none()
                && self.space_waits.iter().any(|wait| wait.pending.contains(&agent));
            match self.workspaces.get(&agent) {
                Some(workspace) if is_rescued || workspace.state != WorkspaceState::Ready => {
                    pending.insert(agent);
                }
                // It was to be removed, and is there.
                Some(workspace) if terms.is_some() => {
                    let note = workspace.note.clone();
                    let reason = note.unwrap_or_else(|| "there is work in it".to_owned());
                    failures.push(Failure::new(agent, reason));
                }
                Some(_) | None => done.unchanged.push(agent),
            }
        }
        self.space_waits.push(SpaceWait { request, terms, pending, done, failures });
        self.answer_space_waits(effects);
    }

    pub(in crate::engine) fn drop_space_waits(&mut self, request: RequestId) {
        self.space_waits.retain(|wait| wait.request != request);
        self.merge_waits.retain(|(waiting, _)| *waiting != request);
    }
}

/// Returns what is told of a command about workspaces.
pub(in crate::engine) fn told(command: &WorkspaceCommand) -> Vec<Entry> {
    match command {
        WorkspaceCommand::Clean { agents, .. } => {
            agents.iter().map(|agent| Entry::new("person.clean", "").of(agent)).collect()
        }
        WorkspaceCommand::Merge { agent, terms } if !terms.is_trial => {
            vec![Entry::new("person.merge", format!("into {}", terms.into)).of(agent)]
        }
        WorkspaceCommand::Restore { agent, .. } => {
            vec![Entry::new("person.restore", "").of(agent)]
        }
        WorkspaceCommand::Rescue { .. } | WorkspaceCommand::Merge { .. } => Vec::new(),
    }
}
