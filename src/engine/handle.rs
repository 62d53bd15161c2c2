//! Takes one event: applies it, then lets everything follow that follows from it.

use std::time::Duration;

use crate::engine::{Effect, Engine, Event, Seat};
use crate::model::{Entry, Moment};

/// A hub that serves nobody and holds no agent ends itself after this long.
const LINGER: Duration = Duration::from_mins(1);

/// One step of what follows from every event, whatever it was.
type Step = fn(&mut Engine, Moment, &mut Vec<Effect>);

/// The steps in their order. A test swaps each with the next, and shows what goes wrong.
const PHASES: [Step; 7] = [
    // What has run out or been decided frees agents, locks and tasks: before anyone is chosen.
    Engine::settle,
    // Ready tasks go to free agents. Their prompts are queued by that: before prompts are typed.
    Engine::assign,
    // Nobody waits for a prompt longer than needed: before files are read, which takes a while.
    Engine::deliver,
    // Workspaces are read as their agents left them: before a merge changes a branch.
    Engine::scan,
    // The next merge begins. All orders to workspaces are given with that: before anyone is answered.
    Engine::merge,
    // People and those who asked are told how things stand after all this. What is raised is on
    // record, too: before that is written.
    Engine::report,
    // The record holds all that this event has changed. It is the first order, so nothing is done
    // that is not on record.
    Engine::save,
];

impl Engine {
    /// Takes one event and returns the orders that follow from it.
    #[must_use]
    pub fn handle(&mut self, event: Event, now: Moment) -> Vec<Effect> {
        self.handle_in(&PHASES, event, now)
    }

    fn handle_in(&mut self, phases: &[Step], event: Event, now: Moment) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.handled_at = now;
        self.apply(event, now, &mut effects);
        for phase in phases {
            phase(self, now, &mut effects);
        }
        self.assert_invariants();
        self.assert_work();
        effects
    }

    /// Takes note of what happened, and does what follows from that alone.
    fn apply(&mut self, event: Event, now: Moment, effects: &mut Vec<Effect>) {
        match event {
            Event::Asked { request, command, by, key } => {
                self.obey_once(request, command, (by, key), now, effects);
            }
            Event::AskedAgain { request, by, key } => {
                self.answer_again(request, by, &key, effects);
            }
            Event::AskerLeft { request } => {
                self.waits.retain(|wait| wait.request != request);
                self.watches.retain(|watch| watch.request != request);
                self.drop_space_waits(request);
            }
            Event::Run { agent, run, event } => self.note_run(&agent, run, event, now, effects),
            Event::Began { seed } => self.begin_hub(seed, now, effects),
            Event::Gates { task, attempt, checks } => {
                self.note_gates(task, attempt, checks, now, effects);
            }
            Event::StageGates { play, stage, round, checks } => {
                self.note_stage_gates(play, stage, round, &checks, now, effects);
            }
            Event::ModifiedListed { task, attempt, files } => {
                self.note_modified(task, attempt, &files, now);
            }
            Event::FileHashed { task, attempt, path, hash } => {
                self.note_hash(task, attempt, &path, hash);
            }
            Event::Scanned { root, changes } => self.note_scan(&root, changes, now),
            Event::Workspace { agent, event } => self.note_workspace(&agent, event, now, effects),
            Event::Merged { merge, outcome } => self.note_merged(merge, &outcome, now, effects),
            Event::LookedUp { tasks, dispatches } => self.take_looked_up(tasks, dispatches),
            Event::ClientCame => self.clients += 1,
            Event::ClientLeft => self.clients = self.clients.saturating_sub(1),
            Event::DeadlineReached => {
                self.mark_stuck(now);
                self.stop_expecting(now);
                self.watch_play_limits(now, effects);
                self.watch_limits(now, effects);
                self.end_if_unneeded(now, effects);
            }
        }
    }

    /// Takes locks back that were held too long, believes claims that enough verifiers agree with, and
    /// lets agents go on whose quota is there again.
    fn settle(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        self.tend_locks(now);
        self.count_verdicts(now, effects);
        self.leave_limits(now);
    }

    /// Hands ready tasks to free agents. A playbook run that goes on may add tasks and free agents, so
    /// both are done until nothing moves.
    fn assign(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        self.hand_out(now, effects);
        while self.follow_plays(now, effects) {
            self.hand_out(now, effects);
        }
    }

    /// Has the prompts typed whose agents are ready.
    fn deliver(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        self.deliver_ready(now, effects);
    }

    /// Orders the looks at workspaces that are wanted: who changed what, and what has become of each.
    fn scan(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        self.note_workers(now, effects);
        self.order_comparisons(effects);
    }

    /// Begins the next merge of the queue.
    fn merge(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        self.advance_merges(now, effects);
    }

    /// Brings attention in line with what is so now, and answers requests whose wait is over. What has
    /// ended leaves memory before that: no item is about something that is gone, and what a request
    /// waits for is still there when it is answered.
    fn report(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        self.forget_ended();
        self.note_attention(now);
        self.settle_watches(now, effects);
        self.note_idleness(now);
    }

    /// Puts what has changed on record, before anything else that was ordered.
    fn save(&mut self, _now: Moment, effects: &mut Vec<Effect>) {
        if let Some(changes) = self.take_changes() {
            effects.insert(0, Effect::Save(changes));
        }
    }

    /// Returns the moment at which the shell must report `DeadlineReached`.
    pub fn next_deadline(&self) -> Option<Moment> {
        let deadlines = [
            self.linger_deadline(),
            self.stuck_deadline(),
            self.delivery_deadline(),
            self.limits_deadline(),
            self.quota_deadline(),
            self.hand_out_deadline(),
            self.stall_deadline(),
            self.lock_deadline(),
            self.attention_due,
        ];
        deadlines.into_iter().flatten().min()
    }

    fn linger_deadline(&self) -> Option<Moment> {
        self.idle_since.map(|since| since + LINGER)
    }

    fn begin_hub(&mut self, seed: u64, now: Moment, effects: &mut Vec<Effect>) {
        self.tags.seed = seed;
        self.recover_workspaces(now, effects);
        self.recover_merges(effects);
        // What agents did since the last entry nobody saw.
        if self.seats.values().any(Seat::is_live) {
            self.tell(Entry::new("hub.back", "a hub takes over from one that is gone"));
        }
    }

    pub(super) fn note_idleness(&mut self, now: Moment) {
        let is_needed = self.clients > 0
            || self.seats.values().any(Seat::is_live)
            || self.is_busy_with_workspaces();
        self.idle_since = if is_needed { None } else { self.idle_since.or(Some(now)) };
    }

    fn end_if_unneeded(&self, now: Moment, effects: &mut Vec<Effect>) {
        if self.linger_deadline().is_some_and(|deadline| deadline <= now) {
            effects.push(Effect::EndHub);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, Work, merge_terms, name, stopped};
    use crate::engine::{RunEvent, WorkspaceOrder};
    use crate::model::{
        AgentState, Command, Condition, LockCommand, MergeId, MergeOutcome, RequestId, RunId,
        Source, TaskCommand, TaskSpec, TaskState, WorkspaceCommand,
    };

    #[test]
    fn a_hub_that_nobody_needs_ends_itself() {
        let mut bench = Bench::with_running(&["one"]);
        let (state, source) = (AgentState::Unknown, Source::Silence);
        let _ = bench.tell("one", RunEvent::Did { state, source });
        assert_eq!(bench.engine.next_deadline(), None, "it holds an agent");
        let _ = bench.stop("one");
        let _ = bench.tell("one", stopped());
        let _ = bench.tell("one", RunEvent::KeeperLost);
        let deadline = bench.engine.next_deadline().unwrap();
        assert_eq!(bench.engine.handle(Event::DeadlineReached, Moment(0)), [], "not yet");
        let effects = bench.engine.handle(Event::DeadlineReached, deadline);
        assert_eq!(effects, [Effect::EndHub]);
    }

    #[test]
    fn a_client_keeps_the_hub() {
        let mut engine = Engine::new(Moment(0));
        let _ = engine.handle(Event::ClientCame, Moment(1));
        assert_eq!(engine.next_deadline(), None);
        let _ = engine.handle(Event::ClientLeft, Moment(2));
        assert_eq!(engine.next_deadline(), Some(Moment(2) + LINGER));
    }

    /// What an event is to come to, if the steps stand in their order.
    type Holds = fn(&[Effect]) -> bool;

    type Scenario = fn() -> (Bench, Event, Holds);

    fn at(effects: &[Effect], is_it: fn(&Effect) -> bool) -> usize {
        effects.iter().position(is_it).unwrap_or(usize::MAX)
    }

    fn is_prompt(effect: &Effect) -> bool {
        matches!(effect, Effect::Deliver { .. })
    }

    fn is_merge(effect: &Effect) -> bool {
        matches!(effect, Effect::Workspace(WorkspaceOrder::Merge(..)))
    }

    /// Says whether the prompt of a task is typed.
    fn hands_out(effects: &[Effect]) -> bool {
        effects.iter().any(|effect| matches!(effect, Effect::Deliver { tag: Some(_), .. }))
    }

    fn rests(agent: &str) -> Event {
        let event = RunEvent::Did { state: AgentState::Idle, source: Source::Screen };
        Event::Run { agent: name(agent), run: RunId(1), event }
    }

    /// A lock runs out for which a task waits: the task goes out at once.
    fn a_lock_runs_out() -> (Bench, Event, Holds) {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let (lock, agent) = ("x".to_owned(), Some(name("one")));
        let take = LockCommand::Take { name: lock, agent, limit_ms: Some(1_000) };
        let _ = bench.ask(Command::Lock(take));
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.locks = vec!["x".to_owned()])]);
        assert_eq!(bench.states(), [TaskState::Ready]);
        bench.now = bench.now + Duration::from_secs(2);
        (bench, Event::DeadlineReached, hands_out)
    }

    /// A task is added that someone is free for: its prompt is typed at once.
    fn a_task_is_added() -> (Bench, Event, Holds) {
        let title = "a".to_owned();
        let specs = vec![TaskSpec { title, prompt: "do a".to_owned(), ..TaskSpec::default() }];
        let command = Command::Task(TaskCommand::Add { specs });
        let bench = Bench::with_idle(&["one"]);
        let request = RequestId(9);
        (bench, Event::Asked { request, command, by: None, key: None }, hands_out)
    }

    /// A turn ends where somebody owns files, and a prompt waits: it is typed before they are listed.
    fn a_turn_ends_with_a_prompt_waiting() -> (Bench, Event, Holds) {
        let mut bench = Bench::with_idle(&["one"]);
        bench.seat_mut("one").member.owns = vec!["src/**".to_owned()];
        bench.did("one", AgentState::Working);
        bench.answer_scans();
        bench.send("one", "go on");
        (bench, rests("one"), |effects| {
            let look = at(effects, |effect| matches!(effect, Effect::Scan { .. }));
            look != usize::MAX && at(effects, is_prompt) < look
        })
    }

    /// A turn ends, a merge waits for that, and somebody waits for the agent to rest.
    fn a_turn_ends_with_a_merge_waiting() -> Bench {
        let mut bench = Bench::with_workspaces(&["one", "two"]);
        for agent in ["two", "one"] {
            let merge = WorkspaceCommand::Merge { agent: name(agent), terms: merge_terms() };
            let _ = bench.ask(Command::Workspace(merge));
        }
        bench.did("one", AgentState::Working);
        let (files, note) = (Vec::new(), "no".to_owned());
        let outcome = MergeOutcome::Conflict { files, onto: note };
        bench.handle(Event::Merged { merge: MergeId(1), outcome });
        let states = vec![AgentState::Idle];
        let condition = Condition::Agent { agent: name("one"), states };
        let _ = bench.ask(Command::Wait { condition });
        bench
    }

    /// What has become of the workspace is read before the merge begins.
    fn a_merge_begins() -> (Bench, Event, Holds) {
        (a_turn_ends_with_a_merge_waiting(), rests("one"), |effects| {
            let is_comparison =
                |effect: &Effect| matches!(effect, Effect::Workspace(WorkspaceOrder::Compare(..)));
            let merge = at(effects, is_merge);
            merge != usize::MAX && at(effects, is_comparison) < merge
        })
    }

    /// The merge is ordered before anyone is told that the agent rests.
    fn a_wait_is_over() -> (Bench, Event, Holds) {
        (a_turn_ends_with_a_merge_waiting(), rests("one"), |effects| {
            let answer = at(effects, |effect| matches!(effect, Effect::Answer { .. }));
            answer != usize::MAX && at(effects, is_merge) < answer
        })
    }

    /// A dialog opens: the item about it is on record with what it is about.
    fn a_dialog_opens() -> (Bench, Event, Holds) {
        let bench = Bench::with_idle(&["one"]);
        let event = RunEvent::Did { state: AgentState::Waiting, source: Source::Screen };
        (bench, Event::Run { agent: name("one"), run: RunId(1), event }, |effects| {
            let Some(Effect::Save(changes)) = effects.first() else { return false };
            changes.rows.iter().any(|row| row.table == "attention")
        })
    }

    #[test]
    fn two_neighbouring_phases_that_are_swapped_go_wrong() {
        let scenarios: [Scenario; PHASES.len() - 1] = [
            a_lock_runs_out,
            a_task_is_added,
            a_turn_ends_with_a_prompt_waiting,
            a_merge_begins,
            a_wait_is_over,
            a_dialog_opens,
        ];
        for (place, scenario) in scenarios.into_iter().enumerate() {
            let (bench, event, holds) = scenario();
            let effects = bench.engine.clone().handle_in(&PHASES, event.clone(), bench.now);
            assert!(holds(&effects), "{place}: {effects:?}");
            let mut swapped = PHASES;
            swapped.swap(place, place + 1);
            let effects = bench.engine.clone().handle_in(&swapped, event, bench.now);
            assert!(!holds(&effects), "{place} and the next may be swapped: {effects:?}");
        }
    }
}
