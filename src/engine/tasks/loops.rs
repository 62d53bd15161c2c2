//! Who goes round in circles: files that come and go while the same gate fails, and agents that
//! send each other back and forth. (The same build failure again: see `patience`.)

use crate::engine::journal::Place;
use crate::engine::{Effect, Engine};
use crate::model::{AgentName, FailedGate, Hold, Moment, Need, NeedId, Task, TaskId};

/// Files that have come back to an earlier state this often come back for ever.
const RETURNS_MAX: usize = 2;

/// Failures that are remembered of one task: what came before them is no circle any more.
const FAILED_MAX: usize = 16;

/// Two agents that have asked each other in turn this often do nothing else.
const VOLLEYS_MAX: usize = 6;

impl Engine {
    /// Notes which gate failed about which files, and holds the task if they only come and go.
    /// Says whether it did.
    pub(in crate::engine) fn note_failed_gate(
        &mut self,
        id: TaskId,
        gate: &str,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(task) = self.tasks.get_mut(&id) else { return false };
        let claim = task.open().and_then(|open| open.claim.as_ref());
        let Some(tree) = claim.and_then(|claim| claim.tree.clone()) else { return false };
        task.failed.push(FailedGate { gate: gate.to_owned(), tree });
        let excess = task.failed.len().saturating_sub(FAILED_MAX);
        task.failed.drain(..excess);
        let trees: Vec<&str> = task
            .failed
            .iter()
            .filter(|failed| failed.gate == gate)
            .map(|failed| failed.tree.as_str())
            .collect();
        let is_circling = returns(&trees) >= RETURNS_MAX;
        if is_circling {
            let note = format!("its files only change back and forth, and `{gate}` still fails");
            self.hold_in_circle(id, note, now, effects);
        }
        is_circling
    }

    /// Holds a task whose agent asks another in turn with being asked. Says whether it did.
    pub(in crate::engine) fn note_volley(
        &mut self,
        id: NeedId,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Need { from, to, task, .. } = self.needs[&id].clone();
        let (Some(to), Some(task)) = (to, task) else { return false };
        let since = self.tasks.get(&task).and_then(Task::open).map(|open| open.started);
        let Some(since) = since else { return false };
        let is_between = |need: &&Need| {
            let ends = (&need.from, need.to.as_ref());
            need.since >= since && (ends == (&from, Some(&to)) || ends == (&to, Some(&from)))
        };
        let askers: Vec<&AgentName> =
            self.needs.values().filter(is_between).map(|need| &need.from).collect();
        let is_volley = volleys(&askers) >= VOLLEYS_MAX;
        if is_volley {
            let note = format!("it and {to} only ask each other, again and again");
            self.hold_in_circle(task, note, now, effects);
        }
        is_volley
    }

    fn hold_in_circle(&mut self, id: TaskId, note: String, now: Moment, effects: &mut Vec<Effect>) {
        self.interrupt_worker(id, effects);
        self.hold_task(id, Hold::Loop, note, now);
    }

    /// A person has had a say: what was before is no circle.
    pub(in crate::engine) fn forget_circles(&mut self, id: TaskId) {
        if let Some(task) = self.tasks.get_mut(&id) {
            task.failed.clear();
            self.touch(Place::Task(id));
        }
    }
}

/// Returns how often a tree came back that had given way to another.
fn returns(trees: &[&str]) -> usize {
    let came_back = |at: &usize| {
        let (before, tree) = (&trees[..*at], trees[*at]);
        before.last().is_some_and(|last| *last != tree) && before.contains(&tree)
    };
    (0..trees.len()).filter(came_back).count()
}

/// Returns for how long two have taken turns, up to now.
fn volleys(askers: &[&AgentName]) -> usize {
    let turns = askers.windows(2).rev().take_while(|pair| pair[0] != pair[1]).count();
    if askers.is_empty() { 0 } else { turns + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Event;
    use crate::engine::fixture::{Bench, Work, name};
    use crate::model::{AgentState, Checks, Command, GateResult, TaskCommand, TaskState};

    /// Has an agent claim to be done with such files, and its gate fail.
    fn fail(bench: &mut Bench, tree: &str) {
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        bench.did("one", AgentState::Idle);
        let attempt = bench.engine.task(TaskId(1)).unwrap().attempts.len();
        let result = GateResult { gate: "make".into(), passed: false, output: "boom".into() };
        let tree = Some(tree.to_owned());
        let checks = Checks { results: vec![result], tree_before: tree.clone(), tree_after: tree };
        bench.handle(Event::Gates { task: TaskId(1), attempt, checks });
        bench.begin("one");
    }

    fn gated() -> Bench {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.gates = vec!["make".to_owned()])]);
        bench.begin("one");
        bench
    }

    #[test]
    fn files_that_go_back_and_forth_while_a_gate_fails_are_a_loop() {
        let mut bench = gated();
        for tree in ["a", "b", "a"] {
            fail(&mut bench, tree);
        }
        assert_eq!(bench.states(), [TaskState::Running], "once may be a second thought");
        fail(&mut bench, "b");
        assert_eq!(bench.states(), [TaskState::Blocked]);
        assert!(bench.waits_for("loop", 1));
        let advice = Some("start over".to_owned());
        let retry = TaskCommand::Retry { task: TaskId(1), advice, agent: None };
        let _ = bench.ask(Command::Task(retry));
        bench.did("one", AgentState::Idle);
        bench.begin("one");
        fail(&mut bench, "a");
        assert_eq!(bench.states(), [TaskState::Running], "a person had a say");
    }

    #[test]
    fn files_that_get_on_or_stay_as_they_are_are_none() {
        for trees in [["a", "b", "c", "d"], ["a", "a", "a", "a"]] {
            let mut bench = gated();
            for tree in trees {
                fail(&mut bench, tree);
            }
            assert_eq!(bench.states(), [TaskState::Running], "{trees:?}");
        }
    }

    #[test]
    fn two_who_only_ask_each_other_are_held() {
        let mut bench = Bench::with_idle(&["api", "web"]);
        for agent in ["api", "web"] {
            bench.seat_mut(agent).member.speaks_freely = true;
        }
        let of = |agent: &str| Some(name(agent));
        let _ = bench.add(vec![
            Work::new("a").with(|terms| terms.agent = of("api")),
            Work::new("b").with(|terms| terms.agent = of("web")),
        ]);
        bench.begin("api");
        bench.begin("web");
        for round in 0..2 {
            bench.report("web", 2, &format!("NEED: the answer to {round} from api — why"));
            bench.report("api", 1, &format!("NEED: a clearer question {round} from web — why"));
            assert_eq!(bench.states(), [TaskState::Running, TaskState::Running]);
        }
        bench.report("web", 2, "NEED: the answer from api — why");
        assert_eq!(bench.states(), [TaskState::Running, TaskState::Running]);
        bench.report("api", 1, "NEED: a clearer question from web — why");
        assert_eq!(bench.states(), [TaskState::Blocked, TaskState::Running]);
        assert!(bench.waits_for("loop", 1));
    }

    #[test]
    fn what_comes_back_and_who_takes_turns_is_counted() {
        assert_eq!(returns(&["a", "b", "a", "b", "a"]), 3);
        assert_eq!(returns(&["a", "a", "b", "c"]), 0);
        let (one, two) = (name("one"), name("two"));
        assert_eq!(volleys(&[&one, &one, &two, &one]), 3);
        assert_eq!(volleys(&[]), 0);
    }
}
