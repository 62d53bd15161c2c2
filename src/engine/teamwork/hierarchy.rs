//! Who leads whom in a chain, and so whose words go where.

use crate::engine::Engine;
use crate::model::{AgentName, Pattern, Play, Role};

impl Engine {
    /// Returns the chain in which an agent takes part.
    fn chain_of(&self, agent: &AgentName) -> Option<&Play> {
        self.play_of(agent).filter(|play| play.cast.pattern == Pattern::Chain)
    }

    /// Says whether an agent takes part in a chain.
    pub(in crate::engine) fn is_chained(&self, agent: &AgentName) -> bool {
        self.chain_of(agent).is_some()
    }

    /// Returns who stands directly above an agent of a chain, and lives.
    pub(in crate::engine) fn chain_lead_of(&self, agent: &AgentName) -> Option<AgentName> {
        let play = self.chain_of(agent)?;
        let is_there =
            |lead: &AgentName| self.seats.get(lead).is_some_and(crate::engine::Seat::is_live);
        above(play, agent).filter(is_there)
    }

    /// Says whether an agent of a chain stands above another, directly or through others.
    pub(in crate::engine) fn is_above(&self, who: &AgentName, agent: &AgentName) -> bool {
        let Some(play) = self.chain_of(agent) else { return false };
        let first = above(play, agent);
        // A troop that holds whoever orchestrates would be a ring.
        let mut line = std::iter::successors(first, |lead| above(play, lead)).take(64);
        line.any(|lead| lead == *who)
    }

    /// Says whether a chain lets one agent's words reach another: up and down along the tree, from
    /// lead to lead, and inside a team. Without a chain, nothing.
    pub(in crate::engine) fn chain_lets(&self, from: &AgentName, to: &AgentName) -> Option<bool> {
        let play = self.chain_of(from).or_else(|| self.chain_of(to))?;
        let leads = |agent: &AgentName| play.cast.teams.iter().any(|team| team.lead == *agent);
        let is_link =
            above(play, from).as_ref() == Some(to) || above(play, to).as_ref() == Some(from);
        Some(is_link || leads(from) && leads(to) || is_one_team(play, from, to))
    }

    /// Returns who shares the state of a mesh with an agent, and has a task in hand.
    pub(in crate::engine) fn sharers(&self, agent: &AgentName) -> Vec<AgentName> {
        let play = self.play_of(agent).filter(|play| play.cast.pattern == Pattern::Mesh);
        let players = play.iter().flat_map(|play| &play.cast.agents).map(|player| &player.name);
        players.filter(|name| self.task_of(name).is_some()).cloned().collect()
    }
}

fn is_one_team(play: &Play, one: &AgentName, other: &AgentName) -> bool {
    let holds = |team: &crate::model::Troop, agent| team.members.contains(agent);
    play.cast.teams.iter().any(|team| holds(team, one) && holds(team, other))
}

/// Returns the lead of an agent's team; of who leads or belongs to none, whoever orchestrates.
fn above(play: &Play, agent: &AgentName) -> Option<AgentName> {
    let team = play.cast.teams.iter().find(|team| team.members.contains(agent));
    if let Some(team) = team.filter(|team| team.lead != *agent) {
        return Some(team.lead.clone());
    }
    let top = play.cast.agents.iter().find(|player| player.role == Role::Orchestrator)?;
    (top.name != *agent).then(|| top.name.clone())
}
