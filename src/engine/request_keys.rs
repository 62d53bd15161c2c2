//! Keeps what came of requests that were made under a key, so that a repetition gets the same answer.
//!
//! The key goes on record together with what the request changed. So after a crash either both are
//! there, and asking again changes nothing, or neither is, and asking again is asking for the first time.

use serde::{Deserialize, Serialize};

use crate::engine::waits::{Goal, RunWait};
use crate::engine::{Effect, Engine, Phase};
use crate::model::{
    AgentName, Clearing, Command, Done, Failure, Keyed, MergeId, Moment, PlayId, ReceiptId,
    Refusal, RequestId, RequestKey, TaskId,
};

/// Keys that are kept of each who asks; the oldest go first. Who lost an answer asks again within
/// minutes, and nobody asks for so much meanwhile. Nobody's keys push out those of another.
const KEYS_MAX: usize = 256;

/// Who asked, a person or an agent, and under which key.
pub(super) type KeyOf = (Option<AgentName>, RequestKey);

/// A request that was granted, and by what it is known again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRequest {
    /// The agent that asked; nobody for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AgentName>,
    pub key: RequestKey,
    /// Stands for all that it asked for.
    pub print: String,
    pub at: Moment,
    #[serde(default)]
    pub outcome: KeptOutcome,
}

/// What a request was about, by name: what is answered is how that stands now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptOutcome {
    /// Where agents are to come, and those that had not come there when it was granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<Goal>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pending: Vec<AgentName>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    started: Vec<AgentName>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stopped: Vec<AgentName>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unchanged: Vec<AgentName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    play: Option<PlayId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<TaskId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    receipts: Vec<ReceiptId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locks: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge: Option<MergeId>,
    /// Whose workspaces are to be made, rescued or removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    workspaces: Vec<AgentName>,
    /// On which terms they are to be removed, if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    clearing: Option<Clearing>,
}

impl KeptRequest {
    pub(super) fn key_of(&self) -> KeyOf {
        (self.by.clone(), self.key.clone())
    }
}

impl Engine {
    /// Says whether this one's request under this key was granted before.
    pub fn knows_request(&self, by: Option<&AgentName>, key: &RequestKey) -> bool {
        self.kept.contains_key(&(by.cloned(), key.clone()))
    }

    /// Does what is asked for, once under one key.
    pub(super) fn obey_once(
        &mut self,
        request: RequestId,
        command: Command,
        (by, keyed): (Option<AgentName>, Option<Keyed>),
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let Some(keyed) = keyed else {
            return self.obey(request, command, by.as_ref(), now, effects);
        };
        if self.knows_request(by.as_ref(), &keyed.key) {
            return self.answer_again(request, by, &keyed, effects);
        }
        let first = effects.len();
        self.obey(request, command, by.as_ref(), now, effects);
        let Some(outcome) = self.outcome_of(request, &effects[first..]) else { return };
        let Keyed { key, print } = keyed;
        let kept = KeptRequest { by, key, print, at: now, outcome };
        if let Some(wait) = self.waits.iter_mut().find(|wait| wait.request == request) {
            wait.key = Some(kept.key_of());
        }
        self.keep_request(kept);
    }

    /// Returns what a request has set going; nothing, if it was refused.
    fn outcome_of(&self, request: RequestId, effects: &[Effect]) -> Option<KeptOutcome> {
        let answer = effects.iter().find_map(|effect| {
            let Effect::Answer { request: answered, outcome } = effect else { return None };
            (*answered == request).then_some(outcome)
        });
        if let Some(outcome) = answer {
            return outcome.as_ref().ok().map(KeptOutcome::from);
        }
        if let Some(wait) = self.waits.iter().find(|wait| wait.request == request) {
            let pending = wait.pending.iter().cloned().collect();
            let done = KeptOutcome::from(&wait.done);
            return Some(KeptOutcome { goal: Some(wait.goal), pending, ..done });
        }
        let merge = self.merge_waits.iter().find(|(waiting, _)| *waiting == request);
        let merge = merge.map(|(_, merge)| *merge);
        let (workspaces, clearing) = self.spaces_awaited(request);
        Some(KeptOutcome { merge, workspaces, clearing, ..KeptOutcome::default() })
    }

    fn keep_request(&mut self, kept: KeptRequest) {
        let by = kept.by.clone();
        self.kept.insert(kept.key_of(), kept);
        let is_gone = |(by, _): &KeyOf| by.as_ref().is_some_and(|by| !self.seats.contains_key(by));
        let mut over: Vec<KeyOf> = self.kept.keys().filter(|key| is_gone(key)).cloned().collect();
        let mut own: Vec<&KeptRequest> = self.kept.values().filter(|one| one.by == by).collect();
        own.sort_by_key(|one| one.at);
        let excess = own.len().saturating_sub(KEYS_MAX);
        over.extend(own.into_iter().take(excess).map(KeptRequest::key_of));
        for key in over {
            self.forget_request(&key);
        }
    }

    fn forget_request(&mut self, key: &KeyOf) {
        self.kept.remove(key);
    }

    /// Keeps what became of the agents that a request waited for. Where one did not come, there is
    /// something left to be done: asking again is asking anew.
    pub(super) fn note_settled(&mut self, key: &KeyOf, outcome: &Result<Done, Refusal>) {
        match (outcome, self.kept.get_mut(key)) {
            (Ok(done), Some(kept)) => {
                kept.outcome = KeptOutcome::from(done);
            }
            (Err(_), Some(_)) => self.forget_request(key),
            (_, None) => {}
        }
    }

    /// Answers a request that was granted before, as things stand now.
    pub(super) fn answer_again(
        &mut self,
        request: RequestId,
        by: Option<AgentName>,
        keyed: &Keyed,
        effects: &mut Vec<Effect>,
    ) {
        let key_of = (by, keyed.key.clone());
        let kept = self.kept.get(&key_of).filter(|kept| kept.print == keyed.print);
        let Some(outcome) = kept.map(|kept| kept.outcome.clone()) else {
            let refusal = Refusal::KeyInUse { key: keyed.key.to_string() };
            return effects.push(Effect::Answer { request, outcome: Err(refusal) });
        };
        if let Some(merge) = outcome.merge.filter(|id| self.is_open_merge(*id)) {
            return self.merge_waits.push((request, merge));
        }
        if !outcome.workspaces.is_empty() {
            return self.await_spaces(request, outcome.workspaces, outcome.clearing, effects);
        }
        let mut done = match self.done_again(&outcome) {
            Ok(done) => done,
            Err(refusal) => {
                return effects.push(Effect::Answer { request, outcome: Err(refusal) });
            }
        };
        let Some(goal) = outcome.goal else {
            return effects.push(Effect::Answer { request, outcome: Ok(done) });
        };
        let (mut pending, mut failures) = (std::collections::BTreeSet::new(), Vec::new());
        for agent in outcome.pending {
            match self.progress(&agent, goal) {
                Progress::Coming => drop(pending.insert(agent)),
                Progress::There if goal == Goal::Running => done.started.push(agent),
                Progress::There => done.stopped.push(agent),
                Progress::Failed(reason) => failures.push(Failure::new(agent, reason)),
            }
        }
        self.waits.push(RunWait { request, key: Some(key_of), goal, pending, done, failures });
        self.settle_waits(effects);
        self.answer_out_of_reach(effects);
    }

    /// Returns how far an agent is on its way.
    fn progress(&self, agent: &AgentName, goal: Goal) -> Progress {
        let gone = || "it is no longer kept".to_owned();
        let Some(seat) = self.seats.get(agent) else {
            return if goal == Goal::Ended { Progress::There } else { Progress::Failed(gone()) };
        };
        match (goal, seat.phase) {
            (Goal::Running, Phase::Running) | (Goal::Ended, Phase::Ended(_)) => Progress::There,
            (Goal::Running, Phase::Starting) | (Goal::Ended, _) => Progress::Coming,
            (Goal::Running, _) if seat.next.is_some() => Progress::Coming,
            (Goal::Running, _) => {
                let note = seat.note.clone();
                Progress::Failed(note.unwrap_or_else(|| "it has ended meanwhile".to_owned()))
            }
        }
    }

    /// Returns what a request was about, as it is now.
    fn done_again(&self, outcome: &KeptOutcome) -> Result<Done, Refusal> {
        let task = |id: &TaskId| {
            let unknown = || Refusal::UnknownTask { task: id.to_string() };
            self.tasks.get(id).cloned().ok_or_else(unknown)
        };
        let receipt = |id: &ReceiptId| {
            let known = self.dispatches.get(id).map(crate::engine::Dispatch::receipt);
            known.ok_or(Refusal::UnknownReceipt { receipt: *id })
        };
        let locks = outcome.locks.iter().filter_map(|name| self.locks.get(name).cloned());
        let merges = outcome.merge.and_then(|id| self.merges.get(&id).cloned());
        Ok(Done {
            started: outcome.started.clone(),
            stopped: outcome.stopped.clone(),
            unchanged: outcome.unchanged.clone(),
            receipts: outcome.receipts.iter().map(receipt).collect::<Result<_, _>>()?,
            tasks: outcome.tasks.iter().map(task).collect::<Result<_, _>>()?,
            locks: locks.collect(),
            play: outcome.play,
            merges: merges.into_iter().collect(),
            ..Done::default()
        })
    }
}

enum Progress {
    There,
    Coming,
    Failed(String),
}

impl From<&Done> for KeptOutcome {
    fn from(done: &Done) -> Self {
        Self {
            started: done.started.clone(),
            stopped: done.stopped.clone(),
            unchanged: done.unchanged.clone(),
            play: done.play,
            tasks: done.tasks.iter().map(|task| task.id).collect(),
            receipts: done.receipts.iter().map(|receipt| receipt.receipt).collect(),
            locks: done.locks.iter().map(|lock| lock.name.clone()).collect(),
            merge: done.merges.first().map(|merge| merge.id),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Event;
    use crate::engine::fixture::{Bench, crew, name, seen};
    use crate::model::{Letter, TaskCommand, TaskSpec};

    fn keyed(key: &str, print: &str) -> Keyed {
        Keyed { key: key.parse().unwrap(), print: print.to_owned() }
    }

    /// Asks under a key, and returns the answer, if it is already there.
    fn ask(
        bench: &mut Bench,
        request: u64,
        by: Option<&str>,
        (key, command): (Keyed, Command),
    ) -> Option<Result<Done, Refusal>> {
        let (request, by) = (RequestId(request), by.map(name));
        let event = Event::Asked { request, command, by, key: Some(key) };
        let effects = bench.engine.handle(event, bench.now);
        answer(effects, request)
    }

    fn answer(effects: Vec<Effect>, wanted: RequestId) -> Option<Result<Done, Refusal>> {
        effects.into_iter().find_map(|effect| {
            let Effect::Answer { request, outcome } = effect else { return None };
            (request == wanted).then_some(outcome)
        })
    }

    fn add() -> Command {
        let spec = TaskSpec { title: "x".into(), prompt: "y".into(), ..TaskSpec::default() };
        Command::Task(TaskCommand::Add { specs: vec![spec] })
    }

    fn tasks(answer: Option<Result<Done, Refusal>>) -> Vec<TaskId> {
        answer.unwrap().unwrap().tasks.iter().map(|task| task.id).collect()
    }

    #[test]
    fn under_one_key_a_task_is_added_once_also_after_a_crash() {
        let mut bench = Bench::new();
        assert_eq!(tasks(ask(&mut bench, 1, None, (keyed("k", "p"), add()))), [TaskId(1)]);
        assert_eq!(tasks(ask(&mut bench, 2, None, (keyed("k", "p"), add()))), [TaskId(1)]);
        bench.crash();
        assert_eq!(tasks(ask(&mut bench, 3, None, (keyed("k", "p"), add()))), [TaskId(1)]);
        assert_eq!(tasks(ask(&mut bench, 4, None, (keyed("other", "p"), add()))), [TaskId(2)]);
        let again = Event::AskedAgain { request: RequestId(5), by: None, key: keyed("k", "p") };
        let effects = bench.engine.handle(again, bench.now);
        assert_eq!(effects.len(), 1, "nothing is changed by it: {effects:?}");
        assert_eq!(tasks(answer(effects, RequestId(5))), [TaskId(1)]);
    }

    #[test]
    fn a_key_stands_for_one_request_of_one_asker() {
        let mut bench = Bench::with_running(&["one"]);
        assert_eq!(tasks(ask(&mut bench, 1, None, (keyed("k", "p"), add()))), [TaskId(1)]);
        let other = ask(&mut bench, 2, None, (keyed("k", "other"), add())).unwrap().unwrap_err();
        assert_eq!(other.to_string(), "The key `k` was used for another request");
        assert_eq!(tasks(ask(&mut bench, 3, Some("one"), (keyed("k", "x"), add()))), [TaskId(2)]);
        assert_eq!(tasks(ask(&mut bench, 4, None, (keyed("k", "p"), add()))), [TaskId(1)]);
    }

    #[test]
    fn what_was_refused_is_asked_anew() {
        let mut bench = Bench::new();
        let letters = || vec![Letter { agent: name("one"), text: "x".into(), tag: None }];
        let dispatch = || Command::Dispatch {
            letters: letters(),
            idempotency_key: None,
            manner: crate::model::Manner::default(),
        };
        assert!(ask(&mut bench, 1, None, (keyed("k", "p"), dispatch())).unwrap().is_err());
        bench.join("one");
        let done = ask(&mut bench, 2, None, (keyed("k", "p"), dispatch())).unwrap().unwrap();
        let again = ask(&mut bench, 3, None, (keyed("k", "p"), dispatch())).unwrap().unwrap();
        assert_eq!(again.receipts[0].receipt, done.receipts[0].receipt);
    }

    #[test]
    fn who_asks_again_for_agents_waits_for_the_same_ones() {
        let mut bench = Bench::new();
        let restart = || Command::Restart { members: crew(&["one"], "team"), grace_ms: 1 };
        assert_eq!(ask(&mut bench, 1, None, (keyed("k", "p"), restart())), None);
        let run = bench.engine.seat(&name("one")).unwrap().run;
        assert_eq!(ask(&mut bench, 2, None, (keyed("k", "p"), restart())), None);
        bench.crash();
        assert_eq!(ask(&mut bench, 3, None, (keyed("k", "p"), restart())), None);
        let done = answer(bench.tell("one", seen()), RequestId(3)).unwrap().unwrap();
        assert_eq!(done.started, [name("one")]);
        let _ = bench.stop("one");
        let done = ask(&mut bench, 4, None, (keyed("k", "p"), restart())).unwrap().unwrap();
        assert_eq!(done.started, [name("one")], "that is what came of it");
        assert_eq!(bench.engine.seat(&name("one")).unwrap().run, run);
    }

    #[test]
    fn each_asker_has_so_many_keys_and_no_more() {
        let mut bench = Bench::with_running(&["one"]);
        let _ = ask(&mut bench, 1, None, (keyed("mine", "p"), add()));
        for number in 0..=KEYS_MAX {
            bench.now = Moment(bench.now.0 + 1);
            let (key, command) = (keyed(&format!("k{number}"), "p"), add());
            let _ = ask(&mut bench, 2, Some("one"), (key, command));
        }
        let one = name("one");
        let knows = |by, key: &str| bench.engine.knows_request(by, &key.parse().unwrap());
        assert!(knows(None, "mine") && knows(Some(&one), "k1"));
        assert!(!knows(Some(&one), "k0"), "the oldest goes first");
    }
}
