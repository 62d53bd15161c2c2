//! Plans from a copy of what the hub knows, so that planning does not hold its thread.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::state::Agents;
use crate::config::Paths;
use crate::engine::{Engine, Seat};
use crate::model::{AgentName, Environment, Size, Workspace};

/// Plans runs: which agents, with which command, environment and workspace.
#[derive(Debug)]
pub(in crate::hub) struct Planner {
    pub(in crate::hub) paths: Paths,
    /// Our own binary.
    pub(in crate::hub) program: PathBuf,
    pub(in crate::hub) known: KnownAgents,
    /// What was set for agents that were added.
    pub(in crate::hub) added_env: BTreeMap<AgentName, Environment>,
    pub(in crate::hub) default_size: Size,
    /// Reporters made for other tools are listened to.
    pub(in crate::hub) has_reporters: bool,
}

/// What the engine knew when planning began.
#[derive(Debug)]
pub(in crate::hub) struct KnownAgents {
    seats: BTreeMap<AgentName, Seat>,
    workspaces: BTreeMap<AgentName, Workspace>,
    /// Those who take part in a run of a playbook.
    players: BTreeSet<AgentName>,
}

impl Planner {
    pub(in crate::hub) fn of(
        engine: &Engine,
        agents: &Agents,
        (paths, program): (Paths, PathBuf),
        default_size: Size,
        has_reporters: bool,
    ) -> Self {
        let by_name = |seat: &Seat| (seat.member.name.clone(), seat.clone());
        let names = engine.seats().map(|seat| &seat.member.name);
        let known = KnownAgents {
            seats: engine.seats().map(by_name).collect(),
            workspaces: engine.workspaces().map(|one| (one.agent.clone(), one.clone())).collect(),
            players: names.filter(|name| engine.play_of(name).is_some()).cloned().collect(),
        };
        let added_env = agents.added_env().clone();
        Self { paths, program, known, added_env, default_size, has_reporters }
    }
}

impl KnownAgents {
    pub(in crate::hub) fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values()
    }

    pub(in crate::hub) fn seat(&self, agent: &AgentName) -> Option<&Seat> {
        self.seats.get(agent)
    }

    pub(in crate::hub) fn workspace(&self, agent: &AgentName) -> Option<&Workspace> {
        self.workspaces.get(agent)
    }

    pub(in crate::hub) fn is_in_play(&self, agent: &AgentName) -> bool {
        self.players.contains(agent)
    }
}
