//! Whose words may reach whom, how often, and how.

use std::collections::VecDeque;
use std::time::Duration;

use crate::engine::Engine;
use crate::engine::journal::Place;
use crate::engine::prompts::prompt_texts;
use crate::model::{
    AgentName, Edge, Entry, Letter, Moment, NeedState, Refusal, Role, Task, TaskId,
};

/// Texts of one agent that are passed on within a minute: more is a flood.
const ROUTED_MAX: usize = 20;
const ROUTED_WINDOW: Duration = Duration::from_mins(1);

impl Engine {
    /// Says whether one agent's words may reach another: through whoever leads, along a dependency
    /// between their tasks, as their team's policy says, or with a person's consent. In a chain it
    /// is the tree of the run that says so.
    pub(in crate::engine) fn may_reach(&self, from: &AgentName, to: &AgentName) -> bool {
        let (Some(sender), Some(receiver)) = (self.seats.get(from), self.seats.get(to)) else {
            return false;
        };
        let (sender, receiver) = (&sender.member, &receiver.member);
        let edge = Edge { from: from.clone(), to: to.clone() };
        if let Some(is_let) = self.chain_lets(from, to) {
            return is_let || self.edges.contains(&edge);
        }
        let is_team = sender.team == receiver.team;
        let leads = |role: Role| matches!(role, Role::Lead | Role::Orchestrator);
        let speaks = sender.speaks_freely || sender.speaks_to.contains(to);
        (is_team && (leads(sender.role) || leads(receiver.role) || speaks))
            || leads(sender.role) && leads(receiver.role)
            || self.edges.contains(&edge)
            || self.depends_on(to, from)
    }

    /// Says whether a task of the one needs a task of the other: a person said so.
    fn depends_on(&self, agent: &AgentName, other: &AgentName) -> bool {
        let worked_on = |id: &TaskId| {
            let tries = self.tasks.get(id).into_iter().flat_map(|task| &task.attempts);
            tries.into_iter().any(|attempt| attempt.agent == *other)
        };
        self.task_of(agent).is_some_and(|task| task.needs.iter().any(worked_on))
    }

    /// Passes an agent's words on, unless it has said too much already. Returns what came of it.
    pub(in crate::engine) fn pass_on(
        &mut self,
        from: &AgentName,
        to: &AgentName,
        what: &str,
        text: &str,
        now: Moment,
    ) -> NeedState {
        if !self.may_reach(from, to) {
            return NeedState::Held;
        }
        let said = self.routed.entry(from.clone()).or_default();
        while said.front().is_some_and(|at| *at + ROUTED_WINDOW <= now) {
            said.pop_front();
        }
        if said.len() >= ROUTED_MAX {
            let words = format!("more than {ROUTED_MAX} texts within a minute: not passed on");
            self.tell(Entry::new("routing.dropped", words).of(from));
            return NeedState::Dropped;
        }
        said.push_back(now);
        let text = prompt_texts::passed_on(from, what, text);
        self.post(Letter { agent: to.clone(), text, tag: None }, now);
        NeedState::Sent
    }

    /// Lets one agent's words reach another from now on, and passes on what waited for that.
    pub(in crate::engine) fn consent(
        &mut self,
        from: AgentName,
        to: AgentName,
        now: Moment,
    ) -> Result<Vec<TaskId>, Refusal> {
        self.refuse_unknown(&[from.clone(), to.clone()])?;
        let edge = Edge { from, to };
        self.tell(Entry::new("routing.consent", edge.to_string()).of(&edge.from));
        self.edges.insert(edge.clone());
        self.touch(Place::Edge(edge.clone()));
        let is_held = |need: &&crate::model::Need| {
            need.state == NeedState::Held
                && need.from == edge.from
                && need.to.as_ref() == Some(&edge.to)
        };
        let held: Vec<_> = self.needs.values().filter(is_held).map(|need| need.id).collect();
        for id in held {
            self.send_need(id, now);
        }
        self.break_deadlocks(now);
        let task = self.task_of(&edge.from).map(|task: &Task| task.id);
        Ok(task.into_iter().collect())
    }
}

/// When each agent's words were passed on; nothing of this outlives the hub.
pub(in crate::engine) type Routed = std::collections::BTreeMap<AgentName, VecDeque<Moment>>;
