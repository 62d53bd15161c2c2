//! What must hold after every event, checked from scratch.

use std::collections::BTreeSet;

use crate::engine::{Engine, Phase};
use crate::model::{AgentState, Task, TaskState};

impl Engine {
    /// Panics if the state contradicts itself; a wrong engine must not act.
    pub(super) fn assert_invariants(&self) {
        for (name, seat) in &self.seats {
            assert_eq!(*name, seat.member.name, "a seat stands under its own name");
            let is_shown_gone = seat.state == AgentState::Exited;
            assert_eq!(is_shown_gone, seat.is_gone(), "{name} is shown as gone when it is");
            if seat.phase == Phase::Running {
                assert!(seat.process.is_some(), "{name} runs, so its process is known");
            }
            assert!(seat.is_live() || seat.next.is_none(), "{name}: nothing waits behind an end");
        }
        let mut typed = BTreeSet::new();
        for (id, dispatch) in &self.dispatches {
            let is_open = self.open_dispatches.contains(id);
            assert_eq!(is_open, !dispatch.stage.is_final(), "{id} is open while it goes further");
            assert_eq!(*id, dispatch.id, "a dispatch stands under its own number");
            assert!(dispatch.id.0 <= self.receipts, "{id} was given out");
            if dispatch.stage.is_under_way() {
                assert!(dispatch.run.is_some(), "{id} is typed into a run");
                let agent = &dispatch.agent;
                assert!(typed.insert(agent), "{agent} gets one prompt at a time");
                let live = self.seats.get(agent).is_some_and(crate::engine::Seat::is_live);
                assert!(live, "{id} may still come somewhere");
            }
        }
        for wait in &self.waits {
            assert!(!wait.pending.is_empty(), "a request that waits for nothing is answered");
            for agent in &wait.pending {
                let live = self.seats.get(agent).is_some_and(crate::engine::Seat::is_live);
                assert!(live, "{agent} may still come where a request waits for it");
            }
        }
    }

    /// The same for the work.
    pub(super) fn assert_work(&self) {
        let mut busy = BTreeSet::new();
        for (id, task) in &self.tasks {
            assert_eq!(*id, task.id, "a task stands under its own number");
            assert!(id.0 <= self.task_count, "{id} was given out");
            let closed = task.attempts.len().saturating_sub(usize::from(task.open().is_some()));
            let is_closed = task.attempts.iter().take(closed).all(|one| one.ended.is_some());
            assert!(is_closed, "{id} has at most one attempt under way, the last");
            let is_open = self.open_tasks.contains(id);
            assert_eq!(is_open, task.open().is_some(), "{id} is open while someone has it");
            if let Some(open) = task.open() {
                assert!(busy.insert(&open.agent), "{} has one task at a time", open.agent);
            }
            self.assert_task(task);
        }
        for (id, play) in &self.plays {
            assert!(*id == play.id && id.0 <= self.play_count, "{id} was given out");
            let own = || self.tasks.values().filter(|task| task.play == Some(*id));
            let is_over = play.state.is_over();
            assert!(!is_over || own().all(|task| task.open().is_none()), "{id} is over");
        }
        for lock in self.locks.values() {
            let task = lock.holder.task.map(|id| &self.tasks[&id]);
            let holder = &lock.holder.agent;
            let is_its =
                |task: &Task| task.open().is_some_and(|open| Some(&open.agent) == holder.as_ref());
            assert!(task.is_none_or(is_its), "{} is held for a task that is over", lock.name);
            assert!(lock.waiting.iter().all(|one| one.agent != *holder), "{} twice", lock.name);
        }
        for item in self.attention.values() {
            assert!(item.id.0 <= self.attention_count, "{} was given out", item.id);
        }
    }

    fn assert_task(&self, task: &Task) {
        let (id, state) = (task.id, task.state);
        let open = task.open();
        match state {
            TaskState::Running | TaskState::Blocked | TaskState::Interrupted => {
                let open = open.unwrap_or_else(|| panic!("{id} is {state} without an attempt"));
                let seat = self.seats.get(&open.agent);
                let seat = seat.filter(|seat| seat.run == open.run && seat.is_live());
                assert!(seat.is_some(), "{id} is {state} without its run");
                let is_gone = seat.is_some_and(crate::engine::Seat::is_gone);
                assert!(!is_gone || state == TaskState::Interrupted, "{id} is {state} by nobody");
                assert_eq!(open.hold.is_some(), state == TaskState::Blocked, "{id}: why it waits");
            }
            TaskState::Claimed => {
                assert!(open.is_some_and(|open| open.claim.is_some()), "{id} has a claim");
            }
            TaskState::Pending
            | TaskState::Ready
            | TaskState::Done
            | TaskState::Failed
            | TaskState::Cancelled => assert!(open.is_none(), "{id} is {state} and under way"),
        }
        let is_done = |need: &crate::model::TaskId| {
            let need = &self.tasks[need];
            need.state == TaskState::Done || need.state == TaskState::Failed
        };
        let is_begun = matches!(state, TaskState::Ready | TaskState::Running);
        assert!(!is_begun || task.needs.iter().all(is_done), "{id} began before what it needs");
        if state == TaskState::Done {
            assert_checked(task);
        }
    }
}

/// A task is done by its last attempt, whose claim was checked.
fn assert_checked(task: &Task) {
    let id = task.id;
    let claim = task.attempts.last().and_then(|last| last.claim.as_ref());
    let claim = claim.unwrap_or_else(|| panic!("{id} is done without a claim"));
    let passed: Vec<&String> =
        claim.gates.iter().filter(|gate| gate.passed).map(|gate| &gate.gate).collect();
    assert_eq!(passed, task.terms.gates.iter().collect::<Vec<_>>(), "{id}: every gate passed");
    assert!(claim.is_concrete || !passed.is_empty(), "{id} is done without evidence");
}
