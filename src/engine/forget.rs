//! What has ended leaves memory for the record, unless something open refers to it.
//!
//! One rule for all that is counted over a project's life, applied in one place after every event: the
//! newest of what has ended stay whole, and of the rest the record alone tells. A request that names a
//! task which has left brings it along (`Event::LookedUp`); what nothing came of leaves again.

use std::collections::BTreeSet;

use crate::engine::journal::Place;
use crate::engine::{Dispatch, Engine};
use crate::model::{
    AttentionKind, Condition, MergeId, NeedId, NeedState, PlayId, ReceiptId, Task, TaskId,
};

/// What has ended and stays in memory: what people still look at, and a call that is repeated finds.
const TASKS_KEPT: usize = 200;
const DISPATCHES_KEPT: usize = 256;
const NEEDS_KEPT: usize = 256;
const PLAYS_KEPT: usize = 50;
const MERGES_KEPT: usize = 100;

impl Engine {
    /// Lets go of what has ended and nothing open refers to, but for the newest.
    pub(super) fn forget_ended(&mut self) {
        if !self.has_changes() {
            return;
        }
        self.keep_looked_up();
        self.forget_tasks();
        self.forget_dispatches();
        self.forget_needs();
        self.forget_plays();
        self.forget_merges();
    }

    /// Takes what had left memory, for the request that comes next; that of the last request leaves
    /// again, unless something came of it.
    pub(super) fn take_looked_up(&mut self, tasks: Vec<Task>, dispatches: Vec<Dispatch>) {
        self.keep_looked_up();
        for id in std::mem::take(&mut self.looked_up) {
            self.tasks.remove(&id);
        }
        for id in std::mem::take(&mut self.looked_up_prompts) {
            self.dispatches.remove(&id);
        }
        for mut task in tasks {
            let id = task.id;
            let is_out = self.was_added(id) && !self.tasks.contains_key(&id);
            if is_out && task.state.is_final() {
                task.is_from_record = true;
                self.tasks.insert(id, task);
                self.looked_up.insert(id);
            }
        }
        for dispatch in dispatches {
            let id = dispatch.id;
            let is_out = self.was_sent(id) && !self.dispatches.contains_key(&id);
            if is_out && dispatch.stage.is_final() {
                self.dispatches.insert(id, dispatch);
                self.looked_up_prompts.insert(id);
            }
        }
    }

    /// Puts what was looked up back among the rows, if something open refers to it from now on.
    fn keep_looked_up(&mut self) {
        if !self.looked_up.is_empty() {
            let referred = self.referred_tasks();
            for id in self.looked_up.clone() {
                let is_open = !self.tasks[&id].state.is_final();
                if is_open || referred.contains(&id) {
                    self.looked_up.remove(&id);
                    self.touch(Place::Task(id));
                }
            }
        }
        if !self.looked_up_prompts.is_empty() {
            let referred = self.referred_prompts();
            for id in self.looked_up_prompts.clone() {
                if referred.contains(&id) {
                    self.looked_up_prompts.remove(&id);
                    self.touch(Place::Dispatch(id));
                }
            }
        }
    }

    fn forget_tasks(&mut self) {
        let is_over = |task: &&Task| task.state.is_final() && !self.looked_up.contains(&task.id);
        if self.tasks.values().filter(is_over).count() <= TASKS_KEPT {
            return;
        }
        let referred = self.referred_tasks();
        let unresolved = self.attention.values().filter(|item| {
            item.kind == AttentionKind::Failed && !item.is_resolved && item.task.is_some()
        });
        // What failed, and nobody has dealt with, goes last.
        let unresolved: BTreeSet<TaskId> = unresolved.filter_map(|item| item.task).collect();
        let free = self.tasks.values().filter(is_over).filter(|task| !referred.contains(&task.id));
        let order = |task: &Task| ((unresolved.contains(&task.id), task.since), task.id);
        let old = all_but_newest(free.map(order), TASKS_KEPT);
        self.note_tasks_of_plays(&old);
        for id in old {
            self.tasks.remove(&id);
            self.touch(Place::Task(id));
        }
    }

    /// Returns the tasks that something open refers to.
    fn referred_tasks(&self) -> BTreeSet<TaskId> {
        let mut referred = BTreeSet::new();
        for task in self.tasks.values() {
            let is_of_run = task.play.and_then(|id| self.plays.get(&id));
            if is_of_run.is_some_and(|play| !play.state.is_over()) {
                referred.insert(task.id);
            }
            if task.state.is_final() {
                // A verdict belongs to the task that it is about.
                let about = task.verifies.and_then(|id| self.tasks.get(&id));
                if about.is_some_and(|about| !about.state.is_final()) {
                    referred.insert(task.id);
                }
                continue;
            }
            referred.extend(task.needs.iter().copied().chain(task.verifies));
            let claim = task.open().and_then(|open| open.claim.as_ref());
            referred.extend(claim.into_iter().flat_map(|claim| claim.verifications.clone()));
        }
        let merges = self.merges.values().filter(|merge| !merge.state.is_final());
        referred.extend(merges.filter_map(|merge| merge.task));
        let needs = self.needs.values().filter(|need| need.state != NeedState::Met);
        referred.extend(needs.filter_map(|need| need.task));
        referred.extend(self.locks.values().filter_map(|lock| lock.holder.task));
        for watch in &self.watches {
            if let Condition::Task { task, .. } = &watch.condition {
                referred.insert(*task);
            }
        }
        referred
    }

    /// Has the runs that are over note what their tasks were, before some of these leave.
    fn note_tasks_of_plays(&mut self, leaving: &[TaskId]) {
        let plays: BTreeSet<PlayId> =
            leaving.iter().filter_map(|id| self.tasks.get(id)?.play).collect();
        for id in plays {
            let tasks = self.play_tasks(id).into_iter().map(|task| (task.label(), task.id));
            let tasks: Vec<(String, TaskId)> = tasks.collect();
            if let Some(play) = self.plays.get_mut(&id).filter(|play| play.tasks.is_empty()) {
                play.tasks = tasks;
                self.touch(Place::Play(id));
            }
        }
    }

    fn forget_dispatches(&mut self) {
        if self.dispatches.len() - self.open_dispatches.len() <= DISPATCHES_KEPT {
            return;
        }
        let referred = self.referred_prompts();
        let is_over = |one: &&Dispatch| {
            one.stage.is_final()
                && !referred.contains(&one.id)
                && !self.looked_up_prompts.contains(&one.id)
        };
        let free = self.dispatches.values().filter(is_over).map(|one| (one.id, one.id));
        for id in all_but_newest(free, DISPATCHES_KEPT) {
            self.dispatches.remove(&id);
            self.touch(Place::Dispatch(id));
        }
    }

    /// Returns the prompts that someone waits for, and those of the attempts that are under way.
    fn referred_prompts(&self) -> BTreeSet<ReceiptId> {
        let awaited = self.watches.iter().flat_map(|watch| match &watch.condition {
            Condition::Receipts(receipts) => receipts.clone(),
            Condition::Agent { .. } | Condition::Task { .. } | Condition::Lock { .. } => Vec::new(),
        });
        let in_hand = self.open_tasks.iter().filter_map(|id| self.tasks[id].open());
        awaited.chain(in_hand.flat_map(|open| [open.receipt, open.last_receipt])).collect()
    }

    fn forget_needs(&mut self) {
        let over = self.needs.values().filter(|need| {
            let is_over = matches!(need.state, NeedState::Met | NeedState::Dropped);
            is_over || !self.seats.contains_key(&need.from)
        });
        let old: Vec<NeedId> = all_but_newest(over.map(|need| (need.id, need.id)), NEEDS_KEPT);
        for id in old {
            self.needs.remove(&id);
            self.touch(Place::Need(id));
        }
    }

    fn forget_plays(&mut self) {
        let over = self.plays.values().filter(|play| play.state.is_over());
        let old: Vec<PlayId> = all_but_newest(over.map(|play| (play.id, play.id)), PLAYS_KEPT);
        for id in old {
            self.plays.remove(&id);
            self.touch(Place::Play(id));
        }
    }

    fn forget_merges(&mut self) {
        let over = self.merges.values().filter(|merge| merge.state.is_final());
        let old: Vec<MergeId> = all_but_newest(over.map(|one| (one.id, one.id)), MERGES_KEPT);
        for id in old {
            self.merges.remove(&id);
            self.touch(Place::Merge(id));
        }
    }
}

/// Returns the names of all but the newest, by their age.
pub(super) fn all_but_newest<A: Ord, N: Ord>(
    ended: impl Iterator<Item = (A, N)>,
    kept: usize,
) -> Vec<N> {
    let mut ended: Vec<(A, N)> = ended.collect();
    let excess = ended.len().saturating_sub(kept);
    if excess == 0 {
        return Vec::new();
    }
    ended.sort();
    ended.truncate(excess);
    ended.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::engine::fixture::{Bench, Work};
    use crate::engine::{Effect, Event, Record};
    use crate::model::{Command, OnFailure, Refusal, RowChange, TaskCommand, TaskState};

    fn cancel(bench: &mut Bench, task: u64) -> Vec<Effect> {
        bench.ask(Command::Task(TaskCommand::Cancel { task: TaskId(task) }))
    }

    fn retry(bench: &mut Bench, task: u64) -> Vec<Effect> {
        let task = TaskId(task);
        bench.ask(Command::Task(TaskCommand::Retry { task, advice: None, agent: None }))
    }

    /// Adds tasks and ends each, so that older ones leave.
    fn pass(bench: &mut Bench, count: u64) {
        for _ in 0..count {
            let _ = bench.add(vec![Work::new("a")]);
            let last = bench.engine.task_count;
            let _ = cancel(bench, last);
        }
    }

    fn outcome(effects: &[Effect]) -> Result<(), Refusal> {
        let answer = effects.iter().find_map(|effect| {
            let Effect::Answer { outcome, .. } = effect else { return None };
            Some(outcome.clone().map(drop))
        });
        answer.unwrap_or_else(|| panic!("{effects:?}"))
    }

    /// Returns the rows that the changes so far amount to, and the last value of each task ever.
    fn folded(bench: &Bench) -> (BTreeMap<(String, String), RowChange>, BTreeMap<String, Task>) {
        let (mut rows, mut tasks) = (BTreeMap::new(), BTreeMap::new());
        for effect in &bench.seen {
            let Effect::Save(changes) = effect else { continue };
            for row in &changes.rows {
                let place = (row.table.clone(), row.key.clone());
                if row.table == "task"
                    && let Some(value) = &row.value
                {
                    tasks.insert(row.key.clone(), serde_json::from_value(value.clone()).unwrap());
                }
                match row.value {
                    Some(_) => rows.insert(place, row.clone()),
                    None => rows.remove(&place),
                };
            }
        }
        (rows, tasks)
    }

    fn look_up(bench: &mut Bench, tasks: &[u64]) {
        let (_, known) = folded(bench);
        let tasks = tasks.iter().map(|task| known[&TaskId(*task).to_string()].clone()).collect();
        bench.handle(Event::LookedUp { tasks, dispatches: Vec::new() });
    }

    fn state(bench: &Bench, task: u64) -> Option<TaskState> {
        bench.engine.task(TaskId(task)).map(|task| task.state)
    }

    #[test]
    fn tasks_that_have_ended_keep_nobody_from_adding_more_and_leave_memory() {
        let mut bench = Bench::new();
        pass(&mut bench, 1500);
        assert_eq!(bench.engine.task_count, 1500, "each was added");
        assert_eq!(bench.engine.tasks.len(), TASKS_KEPT);
        assert!(bench.engine.task(TaskId(1500)).is_some(), "the newest stay");
        let (rows, told) = folded(&bench);
        assert_eq!(told.len(), 1500, "the record tells of all");
        let own = bench.engine.record().rows().into_iter();
        let own: BTreeMap<_, _> =
            own.map(|row| ((row.table.clone(), row.key.clone()), row)).collect();
        assert_eq!(rows, own, "the rows are what is in memory");
    }

    #[test]
    fn open_tasks_are_bounded_and_a_retry_counts_as_one() {
        let mut bench = Bench::new();
        let _ = bench.add((0..1000).map(|_| Work::plain("a")).collect());
        let full =
            |effects: &[Effect]| matches!(outcome(effects), Err(Refusal::TooManyTasks { .. }));
        assert!(full(&bench.add(vec![Work::plain("a")])));
        assert_eq!(outcome(&cancel(&mut bench, 7)), Ok(()));
        assert_eq!(outcome(&bench.add(vec![Work::plain("a")])), Ok(()));
        assert!(full(&retry(&mut bench, 7)));
    }

    #[test]
    fn what_an_open_task_needs_stays_and_leaves_with_it() {
        let mut bench = Bench::new();
        let _ = bench.add(vec![Work::new("a"), Work::new("b").needing(&["a"])]);
        let _ = cancel(&mut bench, 1);
        pass(&mut bench, 300);
        assert_eq!(state(&bench, 1), Some(TaskState::Cancelled));
        bench.crash();
        bench.handle(Event::Began { seed: 1 });
        assert_eq!(state(&bench, 1), Some(TaskState::Cancelled), "after a crash too");
        let _ = cancel(&mut bench, 2);
        pass(&mut bench, 300);
        assert_eq!((state(&bench, 1), state(&bench, 2)), (None, None));
    }

    #[test]
    fn what_has_left_can_be_needed_retried_and_waited_for_once_it_is_looked_up() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 2 tests pass");
        bench.answer_looks();
        assert_eq!(state(&bench, 1), Some(TaskState::Done));
        let nobody = || Work::new("b").with(|terms| terms.requires = vec!["x".to_owned()]);
        let _ = bench.add(vec![nobody().needing(&["t1"])]);
        let _ = cancel(&mut bench, 2);
        pass(&mut bench, 300);
        assert_eq!((state(&bench, 1), state(&bench, 2)), (None, None));

        let unknown = Err(Refusal::UnknownTask { task: "t1".to_owned() });
        assert_eq!(outcome(&bench.add(vec![nobody().needing(&["t1"])])), unknown);
        look_up(&mut bench, &[1]);
        assert_eq!(outcome(&bench.add(vec![nobody().needing(&["t1"])])), Ok(()));
        let new = bench.engine.task_count;
        assert_eq!(state(&bench, new), Some(TaskState::Ready), "what it needs is done");
        look_up(&mut bench, &[2]);
        assert_eq!(state(&bench, 1), Some(TaskState::Done), "it stays while that one is open");
        assert!(!bench.waits_for("finished", 1), "its end is no news");

        assert_eq!(outcome(&retry(&mut bench, 2)), Ok(()));
        bench.handle(Event::LookedUp { tasks: Vec::new(), dispatches: Vec::new() });
        assert_eq!(state(&bench, 2), Some(TaskState::Ready), "and it stays");
        bench.crash();
        assert_eq!(state(&bench, 1), Some(TaskState::Done));

        let (_, told) = folded(&bench);
        let gone = told
            .keys()
            .filter_map(|id| id.parse().ok())
            .find(|id| bench.engine.task(*id).is_none());
        let gone: TaskId = gone.unwrap();
        look_up(&mut bench, &[gone.0]);
        let condition = Condition::Task { task: gone, states: vec![TaskState::Cancelled] };
        assert_eq!(outcome(&bench.ask(Command::Wait { condition })), Ok(()));
        let saves =
            |bench: &Bench| bench.seen.iter().filter(|one| matches!(one, Effect::Save(_))).count();
        let before = saves(&bench);
        bench.handle(Event::LookedUp { tasks: Vec::new(), dispatches: Vec::new() });
        assert_eq!((state(&bench, gone.0), saves(&bench)), (None, before), "and leaves unsaid");
    }

    #[test]
    fn a_retry_is_refused_while_what_the_task_needs_is_not_there() {
        let mut bench = Bench::new();
        let _ = bench.add(vec![Work::new("a"), Work::new("b").needing(&["a"])]);
        let _ = cancel(&mut bench, 1);
        let _ = cancel(&mut bench, 2);
        pass(&mut bench, 300);
        look_up(&mut bench, &[2]);
        let unknown = Err(Refusal::UnknownTask { task: "t1".to_owned() });
        assert_eq!(outcome(&retry(&mut bench, 2)), unknown);
        look_up(&mut bench, &[1, 2]);
        assert_eq!(outcome(&retry(&mut bench, 2)), Ok(()));
        assert_eq!(state(&bench, 1), Some(TaskState::Cancelled));
    }

    #[test]
    fn what_failed_leaves_last_as_long_as_nobody_has_dealt_with_it() {
        let mut bench = Bench::new();
        let stops = |terms: &mut crate::model::Terms| terms.on_failure = OnFailure::Stop;
        let _ = bench.add(vec![Work::new("a").with(stops), Work::new("b").needing(&["a"])]);
        bench.engine.give_up(TaskId(1), "no", bench.now);
        pass(&mut bench, 300);
        assert!(bench.waits_for("failed", 1) && bench.waits_for("failed", 2));
        let items = bench.engine.attention().iter().map(|item| item.id).collect();
        let _ = bench.ask(Command::Task(TaskCommand::Resolve { items }));
        pass(&mut bench, 2);
        assert_eq!((state(&bench, 1), state(&bench, 2)), (None, None));
    }

    #[test]
    fn a_record_of_before_with_many_ended_tasks_is_read_and_they_leave() {
        let mut bench = Bench::new();
        let _ = bench.add((0..900).map(|_| Work::plain("a")).collect());
        let mut record: Record = bench.engine.record();
        for task in &mut record.work.tasks {
            task.state = TaskState::Cancelled;
        }
        bench.engine = Engine::recover(record, bench.now).0;
        assert_eq!(bench.engine.tasks.len(), 900);
        let _ = bench.add(vec![Work::plain("a")]);
        assert_eq!(bench.engine.tasks.len(), TASKS_KEPT + 1);
    }

    #[test]
    fn receipts_that_someone_waits_for_stay() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        bench.send("one", "hello");
        let first = bench.engine.dispatches().last().unwrap().id;
        bench.begin("one");
        bench.send("one", "more");
        let last = bench.engine.dispatches().last().unwrap().id;
        let _ = bench.ask(Command::Wait { condition: Condition::Receipts(vec![first, last]) });
        for _ in 0..300 {
            bench.send("two", "again");
            let receipt = bench.engine.dispatches().last().unwrap().id;
            let _ = bench.ask(Command::Withdraw { receipt });
            bench.accept("two");
        }
        assert!(bench.engine.dispatches.contains_key(&first));
        let old = bench.seen.iter().find_map(|effect| {
            let Effect::Save(changes) = effect else { return None };
            let ends = |row: &&RowChange| row.table == "dispatch" && row.value.is_none();
            changes.rows.iter().find(ends).map(|row| row.key.clone())
        });
        let old: ReceiptId = old.unwrap().parse().unwrap();
        let ended = bench.engine.dispatches.len() - bench.engine.open_dispatches.len();
        assert_eq!(ended, DISPATCHES_KEPT + 1);

        let ask = |bench: &mut Bench| {
            bench.ask(Command::Wait { condition: Condition::Receipts(vec![old]) })
        };
        assert_eq!(outcome(&ask(&mut bench)), Err(Refusal::UnknownReceipt { receipt: old }));
        let last = bench.seen.iter().rev().find_map(|effect| {
            let Effect::Save(changes) = effect else { return None };
            let is_it = |row: &&RowChange| row.key == old.to_string() && row.value.is_some();
            changes.rows.iter().find(is_it).and_then(|row| row.value.clone())
        });
        let dispatches = vec![serde_json::from_value(last.unwrap()).unwrap()];
        bench.handle(Event::LookedUp { tasks: Vec::new(), dispatches });
        assert_eq!(outcome(&ask(&mut bench)), Ok(()));
        bench.handle(Event::LookedUp { tasks: Vec::new(), dispatches: Vec::new() });
        assert!(!bench.engine.dispatches.contains_key(&old), "it leaves again");
    }
}
