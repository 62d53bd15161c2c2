//! Agents that lost their thread: when they are told where they stand.
//!
//! One says so itself with a BLOCKED, and is told at once. Of another its cli shows that the
//! conversation was compacted; it may know enough to go on, so it is told when its turn ends and
//! it has not said what became of its task.

use crate::engine::journal::Place;
use crate::engine::{Effect, Engine};
use crate::model::{AgentName, AgentState, Entry, Task, TaskState};

impl Engine {
    /// Notes that the cli of an agent has compacted its conversation.
    pub(in crate::engine) fn note_compaction(
        &mut self,
        agent: &AgentName,
        effects: &mut Vec<Effect>,
    ) {
        let Some(task) = self.task_of(agent) else { return };
        let id = task.id;
        self.tell(Entry::new("agent.compacted", "").about(id).of(agent));
        if let Some(open) = self.tasks.get_mut(&id).and_then(Task::open_mut) {
            open.is_compacted = true;
        }
        self.touch(Place::Task(id));
        self.orient_compacted(agent, effects);
    }

    /// Has an agent told where it stands whose turn has ended after a compaction.
    pub(in crate::engine) fn orient_compacted(
        &mut self,
        agent: &AgentName,
        effects: &mut Vec<Effect>,
    ) {
        let rests = self.seats.get(agent).is_some_and(|seat| seat.state == AgentState::Idle);
        let Some(task) = self.task_of(agent).filter(|task| task.state == TaskState::Running) else {
            return;
        };
        let (id, number) = (task.id, task.attempts.len());
        if !rests || !task.open().is_some_and(|open| open.is_compacted && !open.is_lost) {
            return;
        }
        if let Some(open) = self.tasks.get_mut(&id).and_then(Task::open_mut) {
            (open.is_compacted, open.is_lost) = (false, true);
        }
        self.touch(Place::Task(id));
        self.survey(id, number, effects);
    }
}

/// Splits what was completed from what the agent says that it does next:
/// `schema written; next: migrate the users`.
pub(in crate::engine) fn split_next(text: &str) -> (&str, Option<&str>) {
    let at = text.to_ascii_lowercase().find("next:");
    let is_apart = |at: &usize| !text[..*at].ends_with(char::is_alphanumeric);
    let Some(at) = at.filter(is_apart) else { return (text, None) };
    let (done, next) = (&text[..at], text[at + "next:".len()..].trim());
    let done = done.trim_end_matches([' ', ';', ',', '.', '(', '—', '-']);
    (done, Some(next).filter(|next| !next.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, Work};
    use crate::engine::{Event, RunEvent};
    use crate::model::TaskId;

    fn surveys(bench: &Bench) -> usize {
        let is_survey = |effect: &&Effect| matches!(effect, Effect::Survey { .. });
        bench.seen.iter().filter(is_survey).count()
    }

    fn compacted() -> Bench {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "PROGRESS: [1/3] — schema written; next: migrate the users");
        let _ = bench.tell("one", RunEvent::Compacted);
        bench
    }

    #[test]
    fn who_was_compacted_is_told_where_it_stands_when_its_turn_ends() {
        let mut bench = compacted();
        assert_eq!(surveys(&bench), 0, "it may know enough to go on");
        bench.did("one", AgentState::Idle);
        assert_eq!(surveys(&bench), 1);
        bench.did("one", AgentState::Error);
        bench.did("one", AgentState::Idle);
        assert_eq!(surveys(&bench), 1);
        let files = vec!["src/schema.rs".to_owned()];
        bench.handle(Event::Surveyed { task: TaskId(1), attempt: 1, files });
        let prompt = bench.prompts("one")[1].clone();
        for part in ["| do a", "| 1/3 schema written", "| src/schema.rs", "| migrate the users"] {
            assert!(prompt.contains(part), "{part}: {prompt}");
        }
    }

    #[test]
    fn who_has_said_what_became_of_the_task_needs_no_orientation() {
        let mut bench = compacted();
        bench.did("one", AgentState::Idle);
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        bench.handle(Event::Surveyed { task: TaskId(1), attempt: 1, files: Vec::new() });
        assert_eq!(bench.states(), [TaskState::Done]);
        assert_eq!(bench.prompts("one").len(), 1);
    }

    #[test]
    fn what_comes_next_is_read_from_the_words_of_a_progress() {
        assert_eq!(split_next("half"), ("half", None));
        assert_eq!(split_next("half; next: the rest"), ("half", Some("the rest")));
        assert_eq!(split_next("half. Next:  the rest "), ("half", Some("the rest")));
        assert_eq!(split_next("made the context: it works"), ("made the context: it works", None));
        assert_eq!(split_next("half; next:"), ("half", None));
    }
}
