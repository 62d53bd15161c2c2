//! A report of which more words were read than at first: what was made of it is put right.

use crate::engine::journal::Place;
use crate::engine::{Effect, Engine};
use crate::model::{AgentName, Entry, Hold, Moment, NeedState, Stage, Task, TaskId, TaskState};
use crate::protocol::{Evidence, Report, ReportKind, Status, evidence};

impl Engine {
    /// Takes over the rest of a report. It is the same report: nothing is counted again.
    pub(in crate::engine) fn amend(
        &mut self,
        agent: &AgentName,
        report: &Report,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let Ok(task) = self.addressed(agent, report) else { return };
        let mut entry = Entry::new("report.amended", report.raw.clone()).of(agent);
        entry.task = task.map(|id| id.to_string());
        self.tell(entry);
        if let Some(seat) = self.seats.get_mut(agent) {
            seat.pace.last_report = Some(report.raw.clone());
            self.touch_seat(agent);
        }
        match (report.kind, task) {
            (ReportKind::Status(Status::Done), Some(id)) if report.tag.is_some() => {
                self.amend_claim(id, &report.text, now, effects);
            }
            (ReportKind::Status(Status::Blocked), Some(id)) => {
                self.amend_block(id, agent, &report.text, now);
            }
            // What failed, and what was built or handed on, has had its consequence; the journal has
            // the words.
            (
                ReportKind::Status(_)
                | ReportKind::Progress { .. }
                | ReportKind::Build { .. }
                | ReportKind::Need
                | ReportKind::Contract
                | ReportKind::Artifact,
                _,
            ) => {}
        }
    }

    fn amend_claim(&mut self, id: TaskId, text: &str, now: Moment, effects: &mut Vec<Effect>) {
        let is_concrete = evidence(text) == Evidence::Concrete;
        let Some(open) = self.tasks.get_mut(&id).and_then(Task::open_mut) else { return };
        if let Some(claim) = &mut open.claim {
            text.clone_into(&mut claim.text);
            claim.is_concrete = is_concrete;
            return self.touch(Place::Task(id));
        }
        // It was sent back for evidence that had only not been read yet.
        let (receipt, was_sent_back) = (open.last_receipt, open.told.evidence);
        let is_waiting =
            |id| self.dispatches.get(&id).is_some_and(|one| one.stage == Stage::Queued);
        if was_sent_back && is_concrete && is_waiting(receipt) {
            self.note_stage(receipt, Stage::Withdrawn, None, now);
            self.note_prompt(receipt, now);
            self.claim(id, text, now, effects);
        }
    }

    fn amend_block(&mut self, id: TaskId, agent: &AgentName, text: &str, now: Moment) {
        let task = &self.tasks[&id];
        let is_it = |open: &crate::model::Attempt| open.hold == Some(Hold::Need);
        if task.state != TaskState::Blocked || !task.open().is_some_and(is_it) {
            return;
        }
        // What was passed on already reached someone as it was.
        let is_held = |need: &&mut crate::model::Need| {
            (&need.from, need.task, need.state) == (agent, Some(id), NeedState::Held)
        };
        if let Some(need) = self.needs.values_mut().rev().find(is_held) {
            text.clone_into(&mut need.text);
            let need = need.id;
            self.touch(Place::Need(need));
        }
        self.set_task(id, TaskState::Blocked, Some(text.to_owned()), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RunEvent;
    use crate::engine::fixture::{Bench, Work};
    use crate::model::AgentState;
    use crate::protocol::read;

    fn amended(bench: &mut Bench, text: &str) {
        let mut report = read(text).remove(0);
        let task = bench.engine.task(TaskId(1)).unwrap();
        report.tag = task.attempts.last().map(|attempt| attempt.tag.clone());
        let _ = bench.tell("one", RunEvent::Amended(report));
    }

    #[test]
    fn a_claim_that_was_read_in_part_counts_with_all_its_words() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE");
        assert_eq!(bench.states(), [TaskState::Running], "it was asked for evidence");
        amended(&mut bench, "STATUS: DONE — 6 files in src/api, 23 tests pass");
        bench.answer_looks();
        assert_eq!(bench.states(), [TaskState::Done]);
        let waiting = bench.engine.dispatches().filter(|one| one.stage == Stage::Queued);
        assert_eq!(waiting.count(), 0, "nobody asks for evidence any more");
    }

    #[test]
    fn a_block_that_was_read_in_part_says_all_that_is_needed() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.did("one", AgentState::Working);
        bench.report("one", 1, "STATUS: BLOCKED — the");
        amended(&mut bench, "STATUS: BLOCKED — the key of the database");
        assert_eq!(bench.states(), [TaskState::Blocked]);
        let task = bench.engine.task(TaskId(1)).unwrap();
        assert_eq!(task.note.as_deref(), Some("the key of the database"));
        let needs: Vec<&str> = bench.engine.needs.values().map(|need| need.text.as_str()).collect();
        assert_eq!(needs, ["the key of the database"]);
    }
}
