//! The life of an attempt: its prompts, its end, and what follows a failure.

use crate::engine::journal::Place;
use crate::engine::prompts::prompt_texts;
use crate::engine::record::AWAITED;
use crate::engine::{Engine, Phase};
use crate::model::{
    AgentName, Ending, Entry, Hold, Letter, Moment, Outcome, ReceiptId, RunId, Stage, Task, TaskId,
    TaskState,
};

/// A prompt that could not be typed this often will not be.
const UNDELIVERED_MAX: usize = 5;

impl Engine {
    /// Ends the attempt that is under way, if there is one, with all that belongs to it.
    pub(in crate::engine) fn close_attempt(
        &mut self,
        id: TaskId,
        outcome: Outcome,
        summary: &str,
        now: Moment,
    ) {
        let Some(open) = self.tasks.get_mut(&id).and_then(Task::open_mut) else { return };
        (open.ended, open.outcome, open.hold) = (Some(now), Some(outcome), None);
        summary.clone_into(&mut open.summary);
        self.open_tasks.remove(&id);
        let tag = open.tag.clone();
        let looking = open.claim.as_ref().map(|claim| claim.verifications.clone());
        self.touch(Place::Task(id));
        self.drop_needs(id);
        self.free_locks(id, now);
        self.withdraw_tagged(&tag, now);
        for verification in looking.unwrap_or_default() {
            if !self.tasks[&verification].state.is_final() {
                self.close_attempt(verification, Outcome::Cancelled, "no longer wanted", now);
                self.set_task(verification, TaskState::Cancelled, None, now);
            }
        }
    }

    /// Ends the attempt that is under way as a failure, and sees what follows.
    pub(in crate::engine) fn fail_attempt(&mut self, id: TaskId, reason: &str, now: Moment) {
        self.close_attempt(id, Outcome::Failed, reason, now);
        self.try_again(id, reason, now);
    }

    /// Has a task tried again if someone may; otherwise it has failed.
    fn try_again(&mut self, id: TaskId, reason: &str, now: Moment) {
        let task = &self.tasks[&id];
        if self.seats.values().any(|seat| self.may_try(task, seat)) {
            return self.set_task(id, TaskState::Pending, None, now);
        }
        self.give_up(id, reason, now);
    }

    /// A task has failed for good.
    pub(in crate::engine) fn give_up(&mut self, id: TaskId, reason: &str, now: Moment) {
        if self.reduce(id, reason, now) {
            return;
        }
        self.set_task(id, TaskState::Failed, Some(reason.to_owned()), now);
        self.notify_lead(id, now);
    }

    /// Sends the next prompt of the attempt that is under way.
    pub(in crate::engine) fn send_on(&mut self, id: TaskId, text: &str, now: Moment) {
        self.send_next(id, text, None, now);
    }

    /// Sends a claim back; why is noted, so that whoever looks at the task sees it.
    pub(in crate::engine) fn send_back(&mut self, id: TaskId, text: &str, why: &str, now: Moment) {
        self.send_next(id, text, Some(format!("sent back: {why}")), now);
    }

    fn send_next(&mut self, id: TaskId, text: &str, note: Option<String>, now: Moment) {
        let task = &self.tasks[&id];
        let Some(open) = task.open() else { return };
        let seat = self.seats.get(&open.agent).filter(|seat| seat.run == open.run);
        let (state, note) = match seat.map(|seat| seat.phase) {
            Some(Phase::Running) => (TaskState::Running, note),
            // What a hub that came back has checked again may be known before its agent is seen.
            Some(Phase::Starting) => {
                (TaskState::Interrupted, Some(note.unwrap_or_else(|| AWAITED.to_owned())))
            }
            Some(Phase::Stopping | Phase::Leaving(_) | Phase::Sweeping(_) | Phase::Ended(_))
            | None => {
                let reason = "its agent is gone";
                self.close_attempt(id, Outcome::Interrupted, reason, now);
                return self.try_again(id, reason, now);
            }
        };
        if task.terms.turns_max.is_some_and(|max| open.turns >= max) {
            let note = format!("it has taken {} prompts, as many as it may", open.turns);
            return self.hold_task(id, Hold::Turns, note, now);
        }
        let (agent, tag) = (open.agent.clone(), open.tag.clone());
        let text = prompt_texts::next_prompt(text, &tag);
        let receipt = self.post(Letter { agent, text, tag: Some(tag) }, now);
        let task = self.tasks.get_mut(&id).expect("it was just found");
        if let Some(open) = task.open_mut() {
            (open.last_receipt, open.claim, open.hold) = (receipt, None, None);
        }
        self.touch(Place::Task(id));
        self.set_task(id, state, note, now);
    }

    /// Lets a task wait for someone.
    pub(in crate::engine) fn hold_task(
        &mut self,
        id: TaskId,
        hold: Hold,
        note: String,
        now: Moment,
    ) {
        if let Some(open) = self.tasks.get_mut(&id).and_then(Task::open_mut) {
            (open.hold, open.claim) = (Some(hold), None);
        }
        self.touch(Place::Task(id));
        self.set_task(id, TaskState::Blocked, Some(note), now);
    }

    /// Lets a task go on that waited for something.
    pub(in crate::engine) fn unhold(&mut self, id: TaskId, hold: Hold, now: Moment) {
        let task = self.tasks.get_mut(&id).expect("only known tasks go on");
        let Some(open) = task.open_mut().filter(|open| open.hold == Some(hold)) else { return };
        open.hold = None;
        self.touch(Place::Task(id));
        self.set_task(id, TaskState::Running, None, now);
    }

    /// Notes what became of a prompt that belongs to an attempt.
    pub(in crate::engine) fn note_prompt(&mut self, receipt: ReceiptId, now: Moment) {
        let Some(dispatch) = self.dispatches.get(&receipt) else { return };
        let (stage, agent) = (dispatch.stage, dispatch.agent.clone());
        let Some(task) = self.task_of(&agent) else { return };
        let (id, Some(open)) = (task.id, task.open()) else { return };
        let (is_ours, is_first) =
            (dispatch.tag.as_ref() == Some(&open.tag), open.receipt == receipt);
        match stage {
            Stage::Accepted => {
                if is_ours && let Some(open) = self.tasks.get_mut(&id).and_then(Task::open_mut) {
                    open.turns += 1;
                    self.touch(Place::Task(id));
                }
                self.hear_answer(id, receipt, now);
            }
            Stage::Refused if is_first => self.note_undelivered(id, &agent, now),
            Stage::Withdrawn if is_first => {
                self.close_attempt(id, Outcome::Cancelled, "its prompt was taken back", now);
                let note = "its prompt was taken back".to_owned();
                self.set_task(id, TaskState::Cancelled, Some(note), now);
            }
            // Where nobody can tell whether it was taken, a person is told; nothing is sent again.
            Stage::Stalled
            | Stage::Unknown
            | Stage::Queued
            | Stage::Typed
            | Stage::Seen
            | Stage::Submitted
            | Stage::Refused
            | Stage::Withdrawn => {}
        }
    }

    fn note_undelivered(&mut self, id: TaskId, agent: &AgentName, now: Moment) {
        self.close_attempt(id, Outcome::Undelivered, "its prompt was not typed", now);
        self.hold(agent, now);
        let task = &self.tasks[&id];
        let tries = task.attempts.iter().skip(task.forgiven);
        let missed = tries.filter(|one| one.outcome == Some(Outcome::Undelivered)).count();
        if missed >= UNDELIVERED_MAX {
            self.give_up(id, "its prompt could not be typed", now);
        } else {
            self.set_task(id, TaskState::Pending, None, now);
        }
    }

    /// Notes that an agent is gone: its task does not run, and nobody else has it yet.
    pub(in crate::engine) fn interrupt_task(&mut self, agent: &AgentName, now: Moment) {
        let run = self.seats[agent].run;
        let Some(task) = self.task_of(agent) else { return };
        let is_current = task.open().is_some_and(|open| open.run == run);
        if is_current && matches!(task.state, TaskState::Running | TaskState::Blocked) {
            let id = task.id;
            if let Some(open) = self.tasks.get_mut(&id).and_then(Task::open_mut) {
                open.hold = None;
            }
            self.set_task(id, TaskState::Interrupted, Some(lost(agent)), now);
        }
    }

    /// Lets a task go on whose agent turned out to be alive.
    pub(in crate::engine) fn resume_task(&mut self, agent: &AgentName, run: RunId, now: Moment) {
        let Some(task) = self.task_of(agent) else { return };
        let (id, state) = (task.id, task.state);
        let is_current = task.open().is_some_and(|open| open.run == run);
        if is_current {
            if state == TaskState::Interrupted && self.seats[agent].phase == Phase::Running {
                let is_over = |note: &String| note == AWAITED || *note == lost(agent);
                let note = task.note.clone().filter(|note| !is_over(note));
                self.doubt_task(id, TaskState::Running, note, now);
            }
        } else if state != TaskState::Claimed {
            // Another run holds the agent's lock: nothing is left of the one that had the task.
            self.close_attempt(id, Outcome::Interrupted, "its agent was lost", now);
            self.try_again(id, "its agent was lost", now);
        }
    }

    /// Doubts that a task runs, or no longer: nothing happened to it, so that it is as old as before.
    pub(in crate::engine) fn doubt_task(
        &mut self,
        id: TaskId,
        state: TaskState,
        note: Option<String>,
        now: Moment,
    ) {
        let since = self.tasks[&id].since;
        self.set_task(id, state, note, now);
        self.tasks.get_mut(&id).expect("it was just set").since = since;
    }

    /// Frees the task of an agent of which nothing is left.
    pub(in crate::engine) fn release_task(
        &mut self,
        agent: &AgentName,
        ending: Ending,
        now: Moment,
    ) {
        let Some(task) = self.task_of(agent) else { return };
        let id = task.id;
        // A claim stands without the one who made it: the gates decide.
        if task.state == TaskState::Claimed {
            return;
        }
        self.tell(Entry::new("task.released", ending.to_string()).about(id).of(agent));
        if ending == Ending::Stopped {
            self.close_attempt(id, Outcome::Stopped, "its agent was stopped", now);
            return self.set_task(id, TaskState::Pending, None, now);
        }
        let reason = format!("its agent has ended: {ending}");
        self.close_attempt(id, Outcome::Interrupted, &reason, now);
        self.try_again(id, &reason, now);
    }
}

fn lost(agent: &AgentName) -> String {
    format!("{agent} was lost")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::fixture::{Bench, Work, seen};
    use crate::engine::{Event, RunEvent};
    use crate::model::{AgentState, Checks, Command, Exit, GateResult, OnFailure, TaskCommand};

    fn outcomes(bench: &Bench) -> Vec<Option<Outcome>> {
        let task = bench.engine.task(TaskId(1)).unwrap();
        task.attempts.iter().map(|attempt| attempt.outcome).collect()
    }

    #[test]
    fn an_error_is_retried_with_what_was_said_then_by_another_then_it_fails() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.attempts_max = 2)]);
        for round in ["one", "one", "two", "two"] {
            assert_eq!(bench.worker(1).as_deref(), Some(round));
            bench.begin(round);
            bench.report(round, 1, "STATUS: ERROR — no disk, tried df, suggest cleaning /var");
            bench.did(round, AgentState::Idle);
        }
        assert_eq!(bench.states(), [TaskState::Failed]);
        assert!(bench.prompts("one")[1].contains("| no disk, tried df, suggest cleaning /var"));
        assert!(bench.waits_for("failed", 1));
    }

    #[test]
    fn what_needs_a_failed_task_waits_goes_on_or_fails_as_its_terms_say() {
        let policies = [
            (OnFailure::Reassign, TaskState::Pending),
            (OnFailure::Skip, TaskState::Running),
            (OnFailure::Stop, TaskState::Failed),
        ];
        for (policy, expected) in policies {
            let mut bench = Bench::with_idle(&["one"]);
            let fragile = Work::new("a").with(|terms| {
                (terms.attempts_max, terms.on_failure) = (1, policy);
            });
            let _ = bench.add(vec![fragile, Work::new("b").needing(&["a"])]);
            bench.begin("one");
            bench.report("one", 1, "STATUS: ERROR — no");
            bench.did("one", AgentState::Idle);
            assert_eq!(bench.states(), [TaskState::Failed, expected], "{policy:?}");
            let note = bench.engine.task(TaskId(2)).unwrap().note.clone().unwrap();
            assert!(note.contains("t1"), "{note}");
        }
    }

    #[test]
    fn a_lost_agents_task_is_handed_out_again_only_once_nothing_of_it_is_left() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        let _ = bench.tell("one", RunEvent::KeeperLost);
        assert_eq!(bench.states(), [TaskState::Interrupted]);
        let _ = bench.tell("one", RunEvent::Swept { survivors: Vec::new() });
        assert_eq!(bench.worker(1).as_deref(), Some("two"));
        assert_eq!(outcomes(&bench), [Some(Outcome::Interrupted), None]);
    }

    #[test]
    fn an_exit_without_a_report_is_no_end_of_the_work() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        let _ = bench.tell("one", RunEvent::Exited { exit: Exit::Code(0) });
        let _ = bench.tell("one", RunEvent::KeeperLost);
        assert_eq!(bench.states(), [TaskState::Ready]);
        assert!(bench.waits_for("unfit", 1), "nobody is there to do it");
    }

    #[test]
    fn after_a_crash_nothing_runs_until_its_agent_is_seen_and_what_is_done_stays_done() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let _ = bench.add(vec![Work::new("a"), Work::new("b")]);
        bench.begin("one");
        bench.begin("two");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        bench.crash();
        assert_eq!(bench.states(), [TaskState::Done, TaskState::Interrupted]);
        let _ = bench.tell("two", seen());
        assert_eq!(bench.states(), [TaskState::Done, TaskState::Running]);
        assert_eq!(bench.engine.task(TaskId(2)).unwrap().note, None);
    }

    #[test]
    fn a_crash_is_not_seen_at_a_task_whose_agent_lived() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — looks good");
        let known = bench.engine.task(TaskId(1)).unwrap().clone();
        assert_eq!(known.note.as_deref(), Some("sent back: it shows no evidence"));
        bench.now = bench.now + Duration::from_secs(9);
        bench.crash();
        bench.crash();
        let _ = bench.tell("one", seen());
        assert_eq!(*bench.engine.task(TaskId(1)).unwrap(), known, "as old as it was, too");
    }

    #[test]
    fn what_is_checked_again_before_the_agent_is_seen_costs_no_attempt() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.gates = vec!["make".to_owned()])]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        bench.crash();
        let failed =
            GateResult { gate: "make".into(), passed: false, output: "2 of 9 fail".into() };
        let tree = Some("x".to_owned());
        let checks = Checks { results: vec![failed], tree_before: tree.clone(), tree_after: tree };
        bench.handle(Event::Gates { task: TaskId(1), attempt: 1, checks });
        assert_eq!(bench.states(), [TaskState::Interrupted]);
        let _ = bench.tell("one", seen());
        assert_eq!(bench.states(), [TaskState::Running]);
        bench.did("one", AgentState::Idle);
        assert!(bench.prompts("one")[1].contains("| 2 of 9 fail"), "{:?}", bench.prompts("one"));
        assert_eq!(outcomes(&bench), [None]);
    }

    #[test]
    fn a_persons_retry_forgives_what_was_before_and_passes_advice_on() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.attempts_max = 1)]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: ERROR — no");
        assert_eq!(bench.states(), [TaskState::Failed]);
        bench.did("one", AgentState::Idle);
        let advice = Some("use the other door".to_owned());
        let retry = TaskCommand::Retry { task: TaskId(1), advice, agent: None };
        let _ = bench.ask(Command::Task(retry));
        assert_eq!(bench.states(), [TaskState::Running]);
        assert!(bench.prompts("one")[1].contains("use the other door"));
        assert!(!bench.waits_for("failed", 1), "what was raised is gone with its cause");
    }

    #[test]
    fn a_prompt_that_was_not_typed_costs_no_attempt() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        let receipt = bench.engine.task(TaskId(1)).unwrap().open().unwrap().receipt;
        let stage = Stage::Refused;
        let _ = bench.tell("one", RunEvent::Delivery { receipt, stage, reason: None });
        assert_eq!(bench.states(), [TaskState::Ready]);
        bench.pass_time();
        assert_eq!(outcomes(&bench), [Some(Outcome::Undelivered), None]);
    }

    #[test]
    fn a_prompt_of_which_nobody_can_tell_is_a_persons_matter_and_is_not_sent_again() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        let receipt = bench.engine.task(TaskId(1)).unwrap().open().unwrap().receipt;
        let stage = Stage::Unknown;
        let _ = bench.tell("one", RunEvent::Delivery { receipt, stage, reason: None });
        assert_eq!((bench.states(), bench.prompts("one").len()), (vec![TaskState::Running], 1));
        assert!(bench.waits_for("receipt", 0));
    }

    #[test]
    fn a_cancelled_task_lets_its_agent_go() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a"), Work::new("b")]);
        bench.begin("one");
        let effects = bench.ask(Command::Task(TaskCommand::Cancel { task: TaskId(1) }));
        assert!(
            effects.iter().any(|effect| matches!(effect, crate::engine::Effect::Interrupt { .. }))
        );
        assert_eq!(bench.states(), [TaskState::Cancelled, TaskState::Ready]);
        bench.did("one", AgentState::Idle);
        assert_eq!(bench.states(), [TaskState::Cancelled, TaskState::Running]);
    }
}
