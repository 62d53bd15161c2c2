//! What takes too long: a task's limit of time, and silence.

use std::time::Duration;

use crate::engine::journal::Place;
use crate::engine::prompts::prompt_texts;
use crate::engine::{Effect, Engine};
use crate::model::{AgentName, AgentState, Hold, Moment, Task, TaskId, TaskState};

impl Engine {
    /// Holds what has used up its time, and asks after those of whom nothing is heard.
    pub(in crate::engine) fn watch_limits(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        let running: Vec<TaskId> = self
            .tasks
            .values()
            .filter(|task| task.state == TaskState::Running)
            .map(|task| task.id)
            .collect();
        for id in running {
            let task = &self.tasks[&id];
            if time_is_up_at(task).is_some_and(|at| at <= now) {
                let note = "it has taken as long as it may".to_owned();
                self.interrupt_worker(id, effects);
                self.hold_task(id, Hold::Time, note, now);
            } else if self.silent_from(task).is_some_and(|at| at <= now) {
                self.break_silence(id, now);
            }
        }
    }

    /// Counts what a run was seen to use, and holds the task that has used up its tokens.
    pub(in crate::engine) fn note_tokens(
        &mut self,
        agent: &AgentName,
        tokens: u64,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let Some(seat) = self.seats.get_mut(agent) else { return };
        seat.tokens = Some(seat.tokens.unwrap_or_default().saturating_add(tokens));
        let run = seat.run;
        self.touch_seat(agent);
        let Some(id) = self.task_of(agent).map(|task| task.id) else { return };
        let task = self.tasks.get_mut(&id).expect("it was just found");
        let (state, max) = (task.state, task.terms.tokens_max);
        let Some(open) = task.open_mut().filter(|open| open.run == run) else { return };
        open.tokens = open.tokens.saturating_add(tokens);
        let total = open.tokens;
        self.touch(Place::Task(id));
        if state == TaskState::Running && max.is_some_and(|max| total >= max) {
            let note = format!("it has used {total} tokens, as many as it may");
            self.interrupt_worker(id, effects);
            self.hold_task(id, Hold::Tokens, note, now);
        }
    }

    /// Asks once; after that a person is told.
    fn break_silence(&mut self, id: TaskId, now: Moment) {
        self.touch(Place::Task(id));
        let Some(open) = self.tasks.get_mut(&id).and_then(Task::open_mut) else { return };
        if open.told.silence.is_some() {
            open.told.is_silent = true;
            return;
        }
        open.told.silence = Some(now);
        self.send_on(id, prompt_texts::SILENCE, now);
    }

    pub(in crate::engine) fn limits_deadline(&self) -> Option<Moment> {
        let running = self.tasks.values().filter(|task| task.state == TaskState::Running);
        running.flat_map(|task| [time_is_up_at(task), self.silent_from(task)]).flatten().min()
    }

    /// Returns when it is time to ask after an agent, or to tell a person that it does not answer.
    fn silent_from(&self, task: &Task) -> Option<Moment> {
        let open = task.open().filter(|open| !open.told.is_silent)?;
        let seat = self.seats.get(&open.agent)?;
        match seat.state {
            // Others see to these: a dialog, a quota, an end.
            AgentState::Waiting | AgentState::Limited | AgentState::Exited => return None,
            AgentState::Starting
            | AgentState::Idle
            | AgentState::Working
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error
            | AgentState::Unknown => {}
        }
        let heard = seat.moved_at().max(open.started);
        Some(heard.max(open.told.silence.unwrap_or_default()) + self.patience)
    }
}

pub(in crate::engine) fn time_is_up_at(task: &Task) -> Option<Moment> {
    let limit = Duration::from_millis(task.terms.time_limit_ms?);
    Some(task.open()?.started + limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RunEvent;
    use crate::engine::fixture::{Bench, Work};

    #[test]
    fn a_task_that_has_used_up_its_time_waits_for_a_person_and_nobody_is_killed() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.time_limit_ms = Some(60_000))]);
        bench.begin("one");
        bench.pass_time();
        assert_eq!(bench.states(), [TaskState::Blocked]);
        assert!(bench.waits_for("limit", 1));
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(bench.states(), [TaskState::Done], "late is better than never");
    }

    #[test]
    fn a_task_takes_no_more_prompts_than_it_may() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.turns_max = Some(1))]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — looks good");
        assert_eq!(bench.states(), [TaskState::Blocked]);
        assert_eq!(bench.prompts("one").len(), 1);
        assert!(bench.waits_for("limit", 1));
    }

    #[test]
    fn a_task_that_has_used_up_its_tokens_is_interrupted_and_waits_for_a_person() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.tell("one", RunEvent::Used { tokens: 900 });
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.tokens_max = Some(1000))]);
        bench.begin("one");
        let _ = bench.tell("one", RunEvent::Used { tokens: 900 });
        assert_eq!(bench.states(), [TaskState::Running], "what was used before is not its own");
        bench.crash();
        let _ = bench.tell("one", crate::engine::fixture::seen());
        bench.did("one", AgentState::Working);
        let effects = bench.tell("one", RunEvent::Used { tokens: 100 });
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Interrupt { .. })));
        assert_eq!(bench.states(), [TaskState::Blocked]);
        assert!(bench.waits_for("limit", 1));
        assert_eq!(bench.engine.task(TaskId(1)).unwrap().open().unwrap().tokens, 1000);
    }

    #[test]
    fn a_silent_agent_is_asked_once_and_then_a_person_is_told() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.did("one", AgentState::Idle);
        bench.pass_time();
        assert_eq!(bench.prompts("one").len(), 2, "it is asked");
        bench.begin("one");
        bench.did("one", AgentState::Idle);
        assert!(!bench.waits_for("stuck", 1));
        bench.pass_time();
        assert!(bench.waits_for("stuck", 1));
        assert_eq!(bench.prompts("one").len(), 2, "it is asked once");
        bench.report("one", 1, "PROGRESS: [1/2] — half");
        assert!(!bench.waits_for("stuck", 1));
        assert_eq!(bench.states(), [TaskState::Running]);
    }
}
