//! Whom an agent's say reaches: who leads whom, whose a task is, and so what an agent may name.

use crate::engine::{Engine, Seat};
use crate::model::{AgentName, Named, NeedId, Reach, Refusal, Role, Task, TaskId};

/// Agents that agents started are never deeper than this; a longer way round would be a ring.
const DEPTH_MAX: usize = 64;

impl Engine {
    /// Says whether an agent may name this with a say that goes so far. What is not there it may
    /// not name either, so that it learns nothing of what is.
    pub fn reaches(&self, who: &AgentName, reach: Reach, named: &Named) -> bool {
        if reach == Reach::All {
            return true;
        }
        match named {
            Named::Agent(name) => {
                name.parse().is_ok_and(|agent| self.reaches_agent(who, reach, &agent))
            }
            Named::Task(name) => {
                self.named_task(name).is_some_and(|task| self.reaches_task(who, reach, task))
            }
            Named::Offer(name) => self.named_task(name).is_some_and(|task| {
                self.reaches_task(who, reach, task) || self.is_offered(who, reach, task)
            }),
            Named::Receipt(receipt) => self
                .dispatches
                .get(receipt)
                .is_some_and(|dispatch| self.reaches_agent(who, reach, &dispatch.agent)),
            Named::Need(name) => {
                let need = name.parse::<NeedId>().ok().and_then(|id| self.needs.get(&id));
                need.is_some_and(|need| self.reaches_agent(who, reach, &need.from))
            }
            Named::Run(name) => {
                let play = self.play_of(who).filter(|_| reach >= Reach::Own);
                play.is_some_and(|play| play.id.to_string() == *name)
            }
            Named::Everyone => false,
        }
    }

    /// Says whether an agent's say of this kind reaches another that is on record.
    pub fn reaches_agent(&self, who: &AgentName, reach: Reach, agent: &AgentName) -> bool {
        let Some(seat) = self.seats.get(agent) else { return false };
        let is_self = agent == who;
        match reach {
            Reach::Never => false,
            Reach::Own => is_self,
            Reach::Started => self.has_started(who, agent),
            Reach::Led => is_self || self.leads(who, seat),
            Reach::Team => is_self || self.has_started(who, agent) || self.is_mate(who, seat),
            Reach::All => true,
        }
    }

    /// Returns everyone whom an agent's say of this kind reaches.
    pub fn reached(&self, who: &AgentName, reach: Reach) -> Vec<AgentName> {
        let names = self.seats.keys();
        names.filter(|agent| self.reaches_agent(who, reach, agent)).cloned().collect()
    }

    /// Says whether a task is an agent's, or that of someone whom its say reaches: who has it or
    /// had it last, whom it is meant for, who added it. What its own task needs or looks at is an
    /// agent's own too.
    pub fn reaches_task(&self, who: &AgentName, reach: Reach, task: &Task) -> bool {
        let last = task.attempts.last().map(|last| &last.agent);
        let people = [last, task.terms.agent.as_ref(), task.terms.by.as_ref()];
        let is_reached = |agent: &AgentName| self.reaches_agent(who, reach, agent);
        let in_hand = self.task_of(who).filter(|_| reach >= Reach::Own);
        let is_before = |own: &Task| own.needs.contains(&task.id) || own.verifies == Some(task.id);
        let play = self.play_of(who).filter(|_| reach >= Reach::Team);
        people.into_iter().flatten().any(is_reached)
            || in_hand.is_some_and(is_before)
            || play.is_some_and(|play| task.play == Some(play.id))
    }

    /// Says whether a task is free, and someone whom this say reaches could take it.
    pub fn is_offered(&self, who: &AgentName, reach: Reach, task: &Task) -> bool {
        let could = |seat: &Seat| {
            self.reaches_agent(who, reach, &seat.member.name) && self.may_try(task, seat)
        };
        task.open().is_none() && !task.state.is_final() && self.seats.values().any(could)
    }

    /// Says whether an agent may read what another publishes for others.
    pub fn may_read_contracts(&self, who: &AgentName, publisher: &AgentName) -> bool {
        self.reaches_agent(who, Reach::Team, publisher)
            && self.chain_lets(publisher, who) != Some(false)
            || who == publisher
            || self.may_reach(publisher, who)
    }

    /// Refuses what an agent says of an attempt that is not the one in hand. Who says of none means
    /// whatever is in hand.
    pub fn refuse_stale(&self, agent: &AgentName, tag: Option<&str>) -> Result<(), Refusal> {
        let Some(tag) = tag else { return Ok(()) };
        let is_over = match self.task_of(agent).and_then(Task::open) {
            Some(open) => open.tag != tag,
            None => self.tasks.values().flat_map(|task| &task.attempts).any(|one| one.tag == tag),
        };
        let tag = tag.chars().filter(|c| !c.is_control()).take(16).collect();
        if is_over { Err(Refusal::StaleAttempt { tag }) } else { Ok(()) }
    }

    /// Says whether whoever added a task may give it to this agent.
    pub(in crate::engine) fn may_be_given(&self, task: &Task, seat: &Seat) -> bool {
        let adder = task.terms.by.as_ref().and_then(|by| self.seats.get(by));
        // In a run everyone in it may take what anyone in it adds.
        adder.filter(|_| task.play.is_none()).is_none_or(|adder| {
            let (by, role) = (&adder.member.name, adder.member.role);
            self.reaches_agent(by, role.reach(), &seat.member.name)
        })
    }

    /// Returns how many agents stand between an agent and one that a person started.
    pub(in crate::engine) fn depth(&self, agent: &AgentName) -> usize {
        self.starters(agent).count()
    }

    /// Returns who started an agent, who started that one, and so on.
    pub fn starters<'a>(&'a self, agent: &AgentName) -> impl Iterator<Item = &'a AgentName> {
        let starter = |agent: &AgentName| self.seats.get(agent)?.member.started_by();
        std::iter::successors(starter(agent), move |agent| starter(agent)).take(DEPTH_MAX)
    }

    fn has_started(&self, who: &AgentName, agent: &AgentName) -> bool {
        agent != who && self.starters(agent).any(|starter| starter == who)
    }

    /// Says whether an agent leads another: it started it, or it is the lead of its team. Who was
    /// started by an agent is led by that one and by nobody else; in a chain the tree of the run
    /// says who leads whom.
    fn leads(&self, who: &AgentName, seat: &Seat) -> bool {
        let agent = &seat.member.name;
        if seat.member.started_by().is_some() {
            return self.has_started(who, agent);
        }
        if self.is_chained(who) || self.is_chained(agent) {
            return self.is_above(who, agent);
        }
        let is_lead = self.seats.get(who).is_some_and(|lead| {
            lead.member.team == seat.member.team
                && matches!(lead.member.role, Role::Lead | Role::Orchestrator)
        });
        is_lead && matches!(seat.member.role, Role::Worker | Role::Verifier)
    }

    fn is_mate(&self, who: &AgentName, seat: &Seat) -> bool {
        let is_team = self.seats.get(who).is_some_and(|own| own.member.team == seat.member.team);
        is_team || self.play_of(who).is_some_and(|play| play.casts(&seat.member.name))
    }

    fn named_task(&self, name: &str) -> Option<&Task> {
        self.tasks.get(&name.parse::<TaskId>().ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, Work, name};

    #[test]
    fn what_an_agent_adds_is_given_to_those_whom_its_say_reaches() {
        let mut bench = Bench::with_idle(&["work", "mate", "lead"]);
        bench.seat_mut("lead").member.role = Role::Lead;
        let by = |agent: &str| {
            let adder = Some(name(agent));
            Work::new(agent).with(|terms| terms.by = adder)
        };
        let _ = bench.add(vec![by("work"), by("lead")]);
        let given = |task: u64| {
            let task = bench.engine.task(TaskId(task)).expect("it was added");
            let seats = bench.engine.seats();
            let may = seats.filter(|seat| bench.engine.may_be_given(task, seat));
            may.map(|seat| seat.member.name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(given(1), ["work"]);
        assert_eq!(given(2), ["lead", "mate", "work"]);
    }

    #[test]
    fn needs_and_contracts_of_another_team_are_out_of_reach() {
        let mut bench = Bench::with_idle(&["top", "work"]);
        bench.seat_mut("top").member.role = Role::Orchestrator;
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.agent = Some(name("work")))]);
        bench.begin("work");
        bench.report("work", 1, "NEED: a key — to log in");
        let (top, work) = (name("top"), name("work"));
        let need = bench.engine.needs.keys().next().expect("one was told").to_string();
        let need = Named::Need(need);
        assert!(bench.engine.reaches(&top, Reach::Team, &need));
        assert!(bench.engine.may_read_contracts(&top, &work));

        bench.seat_mut("work").member.team = "other".to_owned();
        for reach in [Reach::Never, Reach::Own, Reach::Started, Reach::Led, Reach::Team] {
            assert!(!bench.engine.reaches(&top, reach, &need), "{reach:?}");
        }
        assert!(bench.engine.reaches(&work, Reach::Own, &need), "it is its own");
        assert!(!bench.engine.may_read_contracts(&top, &work));
        assert!(bench.engine.may_read_contracts(&work, &work));
    }
}
