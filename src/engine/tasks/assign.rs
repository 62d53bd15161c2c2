//! Gives ready tasks to idle agents.

use std::cmp::Reverse;

use crate::engine::journal::Place;
use crate::engine::prompts::prompt_texts;
use crate::engine::{Effect, Engine, Phase, Seat};
use crate::model::{
    AgentName, AgentState, Attempt, Letter, Moment, OnFailure, Outcome, Role, Task, TaskId,
    TaskState, Told, overlap,
};

impl Engine {
    /// Hands out what can be handed out: the most urgent task first, then the oldest; to the first
    /// agent of the team that is free and fits.
    pub(in crate::engine) fn hand_out(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        if self.tasks.is_empty() {
            return;
        }
        self.refresh_readiness(now);
        if self.going_down {
            return;
        }
        self.leave_limited(now, effects);
        let mut ready: Vec<(Reverse<i32>, TaskId)> = self
            .tasks
            .values()
            .filter(|task| task.state == TaskState::Ready)
            .map(|task| (Reverse(task.terms.priority), task.id))
            .collect();
        ready.sort_unstable();
        for (_, id) in ready {
            let task = &self.tasks[&id];
            let picked = self.pick(task, now).filter(|_| self.has_locks_for(task));
            let Some(agent) = picked else { continue };
            if !self.seats[&agent].must_renew(task) {
                self.open_attempt(id, &agent, now);
            } else if !self.is_awaiting_renewal(task) {
                self.renew(id, &agent, effects);
            }
        }
    }

    fn pick(&self, task: &Task, now: Moment) -> Option<AgentName> {
        let is_open = |seat: &&Seat| self.may_try(task, seat);
        let last = task.attempts.last().filter(|last| is_same_again(last.outcome));
        let same = last.and_then(|last| self.seats.get(&last.agent)).filter(is_open);
        let same = same.filter(|seat| seat.is_live());
        let can_start = |seat: &&Seat| {
            (self.is_free(seat, now) || self.is_answered(task, seat, now))
                && !self.shares_paths(task, seat)
        };
        if let Some(seat) = same.filter(|_| !task.wants_fresh()) {
            return Some(seat).filter(can_start).map(|seat| seat.member.name.clone());
        }
        let mut seats: Vec<&Seat> = self.seats.values().filter(is_open).filter(can_start).collect();
        seats.retain(|seat| seat.can_begin(task));
        let is_tried = |seat: &Seat| task.attempts.iter().any(|one| one.agent == seat.member.name);
        seats.sort_by_key(|seat| {
            let is_late = task.wants_fresh() && is_tried(seat);
            (
                seat.must_renew(task),
                is_late,
                &seat.member.team,
                seat.member.place,
                &seat.member.name,
            )
        });
        seats.first().map(|seat| seat.member.name.clone())
    }

    /// Says whether an agent may be given a task, now or later.
    pub(in crate::engine) fn may_try(&self, task: &Task, seat: &Seat) -> bool {
        let (terms, member) = (&task.terms, &seat.member);
        let has_all = terms.requires.iter().all(|one| member.capabilities.contains(one));
        let fits = match &terms.agent {
            Some(agent) => *agent == member.name,
            None => has_all && member.role == terms.role.unwrap_or(Role::Worker),
        };
        let is_impartial = task.verifies.is_none_or(|parent| {
            let involved = |task: &Task| task.attempts.iter().any(|one| one.agent == member.name);
            let others = self.tasks.values().filter(|other| other.verifies == Some(parent));
            let is_partner = |other: &Task| other.id != task.id && !other.state.is_final();
            !self.tasks.get(&parent).is_some_and(involved)
                && !others.filter(|other| is_partner(other)).any(involved)
        });
        let max = usize::try_from(terms.attempts_max).unwrap_or(usize::MAX);
        let is_left = match terms.on_failure {
            OnFailure::Retry => task.failures().count() < max,
            OnFailure::Reassign | OnFailure::Skip | OnFailure::Stop => {
                task.failures_by(&member.name) < max
            }
        };
        fits && is_impartial
            && is_left
            && self.is_cast_for(task, seat)
            && self.may_be_given(task, seat)
    }

    /// Says whether an agent that said it was blocked waits for this very task: someone has asked
    /// for another attempt, and so answered it.
    fn is_answered(&self, task: &Task, seat: &Seat, now: Moment) -> bool {
        let agent = &seat.member.name;
        let last = task.attempts.last().filter(|last| last.agent == *agent && last.run == seat.run);
        seat.state == AgentState::Blocked
            && seat.phase == Phase::Running
            && last.is_some_and(|last| last.outcome == Some(Outcome::Replaced))
            && seat.earliest_prompt() <= now
            && self.task_of(agent).is_none()
            && !self.has_open_dispatch(agent)
            && !seat.is_renewing()
    }

    /// Says whether an agent could be handed a task right now: nothing else is on its way to it,
    /// and it is not busy with what a person told it.
    fn is_free(&self, seat: &Seat, now: Moment) -> bool {
        let agent = &seat.member.name;
        seat.may_be_handed_work()
            && seat.earliest_prompt() <= now
            && self.task_of(agent).is_none()
            && !self.has_open_dispatch(agent)
            && !seat.is_renewing()
    }

    /// Says whether a task changes the same paths as another that is under way in this directory.
    pub(in crate::engine) fn shares_paths(&self, task: &Task, seat: &Seat) -> bool {
        let under_way = self.open_tasks.iter().filter(|id| **id != task.id);
        let under_way = under_way.map(|id| &self.tasks[id]);
        under_way.filter_map(|other| Some((other, other.open()?))).any(|(other, open)| {
            let Some(worker) = self.seats.get(&open.agent) else { return false };
            let (mine, theirs) = (paths_of(task, seat), paths_of(other, worker));
            let is_shared = |one: &String| theirs.iter().any(|other| overlap(one, other));
            worker.member.root() == seat.member.root() && mine.iter().any(is_shared)
        })
    }

    pub(in crate::engine) fn open_attempt(&mut self, id: TaskId, agent: &AgentName, now: Moment) {
        let tag = self.next_tag();
        let text = prompt_texts::task_prompt(self, id, &tag);
        let letter = Letter { agent: agent.clone(), text, tag: Some(tag.clone()) };
        let receipt = self.post(letter, now);
        let seat = self.seats.get_mut(agent).expect("work goes to known agents");
        seat.pace.forget_failures();
        seat.renews_for = None;
        let run = seat.run;
        self.touch_seat(agent);
        let attempt = Attempt {
            tag,
            agent: agent.clone(),
            run,
            receipt,
            last_receipt: receipt,
            started: now,
            ended: None,
            outcome: None,
            summary: String::new(),
            steps: Vec::new(),
            artifacts: Vec::new(),
            build: None,
            turns: 0,
            told: Told::default(),
            refusals: 0,
            claim: None,
            claimed: None,
            hold: None,
            is_lost: false,
            is_compacted: false,
            next: None,
            tokens: 0,
        };
        let task = self.tasks.get_mut(&id).expect("only known tasks are handed out");
        task.attempts.push(attempt);
        self.open_tasks.insert(id);
        let note = task.note.clone();
        self.set_task(id, TaskState::Running, note, now);
        self.touch(Place::Task(id));
        self.take_locks(id, now);
    }

    /// Takes tasks from agents that a quota holds up, where another could do them now.
    fn leave_limited(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        let held: Vec<(TaskId, AgentName)> = self
            .open_tasks
            .iter()
            .map(|id| &self.tasks[id])
            .filter(|task| task.state == TaskState::Running)
            .filter_map(|task| Some((task.id, task.open()?.agent.clone())))
            .filter(|(_, agent)| self.seats[agent].state == AgentState::Limited)
            .collect();
        for (id, agent) in held {
            let task = &self.tasks[&id];
            let could = |seat: &Seat| {
                seat.member.name != agent && self.may_try(task, seat) && self.is_free(seat, now)
            };
            if self.seats.values().any(could) {
                let run = self.seats[&agent].run;
                effects.push(Effect::Interrupt { agent, run });
                self.close_attempt(id, Outcome::Limited, "its agent has reached a limit", now);
                let note = "its agent has reached a limit: another takes over".to_owned();
                self.set_task(id, TaskState::Ready, Some(note), now);
            }
        }
    }

    /// Returns when an agent that is only held up by time may be handed a task.
    pub(in crate::engine) fn hand_out_deadline(&self) -> Option<Moment> {
        let ready = self.tasks.values().filter(|task| task.state == TaskState::Ready);
        let could = |task: &Task| {
            let seats = self.seats.values().filter(|seat| seat.may_be_handed_work());
            let later = seats.filter(|seat| self.may_try(task, seat));
            later.map(Seat::earliest_prompt).filter(|at| *at > self.handled_at).min()
        };
        ready.filter_map(could).min()
    }
}

/// Says whether the agent of such an attempt is the one to try again.
fn is_same_again(outcome: Option<Outcome>) -> bool {
    match outcome {
        Some(Outcome::Failed | Outcome::Replaced | Outcome::Undelivered) => true,
        Some(
            Outcome::Done
            | Outcome::Interrupted
            | Outcome::Stopped
            | Outcome::Limited
            | Outcome::Cancelled,
        )
        | None => false,
    }
}

impl Seat {
    pub(in crate::engine) fn may_be_handed_work(&self) -> bool {
        let is_idle = match self.state {
            AgentState::Idle | AgentState::Done | AgentState::Error => true,
            AgentState::Starting
            | AgentState::Working
            | AgentState::Waiting
            | AgentState::Blocked
            | AgentState::Unknown
            | AgentState::Exited => false,
            AgentState::Limited => self.readiness.is_reset(),
        };
        is_idle && self.phase == Phase::Running
    }
}

/// Returns the paths that a task changes: its own, else those of the agent that has it.
fn paths_of<'a>(task: &'a Task, seat: &'a Seat) -> &'a [String] {
    if task.terms.owns.is_empty() { &seat.member.owns } else { &task.terms.owns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, Work, name};
    use crate::model::{Command, TaskCommand};

    fn agents(bench: &Bench) -> Vec<Option<String>> {
        bench.engine.tasks().map(|task| Some(task.open()?.agent.to_string())).collect()
    }

    #[test]
    fn the_most_urgent_task_goes_first_and_each_agent_has_one() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let _ = bench.add(vec![Work::new("a"), Work::new("b").with(|terms| terms.priority = 5)]);
        let _ = bench.add(vec![Work::new("c")]);
        let expected = [Some("two".to_owned()), Some("one".to_owned()), None];
        assert_eq!(agents(&bench), expected);
    }

    #[test]
    fn a_task_goes_only_to_whom_it_is_meant_for() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        bench.seat_mut("two").member.capabilities = vec!["web".to_owned()];
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.requires = vec!["web".into()])]);
        let _ = bench.add(vec![Work::new("b").with(|terms| terms.role = Some(Role::Verifier))]);
        let _ = bench.add(vec![Work::new("c").with(|terms| terms.agent = Some(name("two")))]);
        assert_eq!(agents(&bench), [Some("two".to_owned()), None, None]);
        assert!(bench.waits_for("unfit", 2), "nobody verifies");
    }

    #[test]
    fn an_agent_that_is_busy_with_a_persons_prompt_is_not_taken() {
        let mut bench = Bench::with_idle(&["one"]);
        let letters = vec![Letter { agent: name("one"), text: "mine".to_owned(), tag: None }];
        let (idempotency_key, manner) = (None, crate::model::Manner::default());
        let _ = bench.ask(Command::Dispatch { letters, idempotency_key, manner });
        let _ = bench.add(vec![Work::new("a")]);
        assert_eq!(agents(&bench), [None]);
        bench.accept("one");
        assert_eq!(agents(&bench), [None], "its turn has not been seen yet");
        bench.did("one", AgentState::Working);
        bench.did("one", AgentState::Idle);
        assert_eq!(agents(&bench), [Some("one".to_owned())]);
    }

    #[test]
    fn tasks_that_share_paths_do_not_run_at_once() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let owns = |glob: &str| vec![glob.to_owned()];
        let _ = bench.add(vec![
            Work::new("a").with(|terms| terms.owns = owns("src/api/**")),
            Work::new("b").with(|terms| terms.owns = owns("src/**/mod.rs")),
            Work::new("c").with(|terms| terms.owns = owns("docs/*.md")),
        ]);
        assert_eq!(agents(&bench), [Some("one".to_owned()), None, Some("two".to_owned())]);
    }

    #[test]
    fn a_task_without_paths_of_its_own_changes_those_of_its_agent() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        bench.seat_mut("one").member.owns = vec!["src/api/**".to_owned()];
        let to = |agent| Work::new(agent).with(|terms| terms.agent = Some(name(agent)));
        let on = |glob: &'static str| to("two").with(|terms| terms.owns = vec![glob.to_owned()]);
        let _ = bench.add(vec![to("one")]);
        let _ = bench.add(vec![on("src/api/mod.rs")]);
        assert_eq!(agents(&bench), [Some("one".to_owned()), None], "both change one file");
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        bench.answer_looks();
        assert_eq!(agents(&bench), [None, Some("two".to_owned())]);
        let mut bench = Bench::with_idle(&["one", "two"]);
        bench.seat_mut("one").member.owns = vec!["src/api/**".to_owned()];
        bench.seat_mut("two").member.workspace = "/elsewhere".into();
        let _ = bench.add(vec![to("one"), on("src/api/mod.rs")]);
        assert!(agents(&bench).iter().all(Option::is_some), "they work on other files");
    }

    #[test]
    fn what_needs_others_waits_for_them() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let _ = bench.add(vec![Work::new("a"), Work::new("b").needing(&["a"])]);
        assert_eq!(bench.states(), [TaskState::Running, TaskState::Pending]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(bench.states(), [TaskState::Done, TaskState::Running]);
    }

    #[test]
    fn a_limited_agents_task_goes_to_another_that_is_free() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.did("one", AgentState::Limited);
        assert_eq!(agents(&bench), [Some("one".to_owned())], "it waits for the reset");
        bench.join("two");
        assert_eq!(agents(&bench), [Some("two".to_owned())]);
        assert!(bench.seen.iter().any(|effect| matches!(effect, Effect::Interrupt { .. })));
    }

    #[test]
    fn an_agent_that_was_blocked_goes_on_once_its_task_is_tried_again() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: BLOCKED — the name of the database");
        bench.did("one", AgentState::Blocked);
        let _ = bench.add(vec![Work::new("b")]);
        assert_eq!(agents(&bench), [Some("one".to_owned()), None], "it waits for an answer");
        let (task, agent) = (TaskId(1), None);
        let advice = Some("It is called orders".to_owned());
        let _ = bench.ask(Command::Task(TaskCommand::Retry { task, advice, agent }));
        assert_eq!(agents(&bench), [Some("one".to_owned()), None]);
        assert_eq!(bench.engine.task(task).unwrap().attempts.len(), 2);
    }

    #[test]
    fn an_agent_may_take_a_ready_task_for_itself() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let _ = bench.add(vec![Work::new("a"), Work::new("b"), Work::new("c")]);
        let claim = |task, agent| TaskCommand::Claim { task: TaskId(task), agent: name(agent) };
        let refused = bench.ask(Command::Task(claim(3, "two")));
        assert!(matches!(refused[..], [Effect::Answer { outcome: Err(_), .. }]), "it has one");
        bench.join("three");
        assert_eq!(agents(&bench)[2].as_deref(), Some("three"));
    }
}
