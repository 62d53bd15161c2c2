//! The queue of what waits for a person.
//!
//! What is in it follows from everything else: an item comes with its cause and goes with it. Only
//! what a person did about it (read, resolved) is kept beside that.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::engine::journal::Place;
use crate::engine::{Dispatch, Engine, Seat};
use crate::model::{
    AgentName, AgentState, Attention, AttentionId, AttentionKind, Entry, Hold, Moment, Need,
    NeedState, Refusal, Ruling, Stage, Task, TaskId, TaskState, Trespass,
};

/// Whoever was asked for something and has not given it by then needs a person's word.
const NEED_PATIENCE: Duration = Duration::from_mins(15);

/// Why a person is wanted.
pub(in crate::engine) struct Cause {
    pub(in crate::engine) key: String,
    pub(in crate::engine) kind: AttentionKind,
    pub(in crate::engine) agent: Option<AgentName>,
    pub(in crate::engine) task: Option<TaskId>,
    pub(in crate::engine) text: String,
    pub(in crate::engine) hint: Option<String>,
    pub(in crate::engine) ruling: Option<Ruling>,
}

impl Engine {
    /// Returns what waits for a person: the most urgent first, then the oldest.
    pub fn attention(&self) -> Vec<&Attention> {
        let mut open: Vec<&Attention> =
            self.attention.values().filter(|item| !item.is_resolved).collect();
        open.sort_by_key(|item| (item.kind, item.since, item.id));
        open
    }

    /// Brings the queue in line with what is so now.
    pub(in crate::engine) fn note_attention(&mut self, now: Moment) {
        let stuck = self.seats.values().filter(|seat| seat.pace.stuck.is_some()).count();
        let is_due = self.attention_due.is_some_and(|at| at <= now);
        if !self.has_changes() && !is_due && stuck == self.stuck_count {
            return;
        }
        (self.stuck_count, self.attention_due) = (stuck, self.attention_deadline_after(now));
        let causes = self.causes(now);
        let items = self.attention.values();
        let mut known: BTreeMap<String, AttentionId> =
            items.map(|item| (item.cause.clone(), item.id)).collect();
        for cause in causes {
            let id = known.remove(&cause.key);
            self.raise(cause, id, now);
        }
        // What only an agent can tell that was not found again yet is as it was.
        let known = known.into_values().filter(|_| !self.is_recovering());
        for id in known.collect::<Vec<_>>() {
            self.attention.remove(&id);
            self.touch(Place::Attention(id));
        }
    }

    /// Puts a cause into the queue, or brings the item that it has up to date.
    fn raise(&mut self, cause: Cause, known: Option<AttentionId>, now: Moment) {
        let Cause { key, kind, agent, task, text, hint, ruling } = cause;
        if let Some(item) = known.and_then(|id| self.attention.get_mut(&id)) {
            if item.text != text {
                (item.text, item.hint) = (text, hint);
                let id = item.id;
                self.touch(Place::Attention(id));
            }
            return;
        }
        self.attention_count += 1;
        self.touch(Place::Hub);
        let id = AttentionId(self.attention_count);
        let (is_read, is_resolved, since) = (false, false, now);
        let item = Attention {
            id,
            kind,
            agent,
            task,
            text,
            hint,
            ruling,
            since,
            is_read,
            is_resolved,
            cause: key,
        };
        let mut entry = Entry::new(&format!("attention.{}", item.kind), item.text.clone());
        (entry.agent, entry.task) = (item.agent.clone(), item.task.map(|task| task.to_string()));
        self.tell(entry);
        self.attention.insert(id, item);
        self.touch(Place::Attention(id));
    }

    pub(in crate::engine) fn mark_read(
        &mut self,
        items: &[AttentionId],
    ) -> Result<Vec<TaskId>, Refusal> {
        self.refuse_unknown_items(items)?;
        let all: Vec<AttentionId> = self.attention.keys().copied().collect();
        for id in if items.is_empty() { &all } else { items } {
            if let Some(item) = self.attention.get_mut(id).filter(|item| !item.is_read) {
                item.is_read = true;
                self.touch(Place::Attention(*id));
            }
        }
        Ok(Vec::new())
    }

    pub(in crate::engine) fn resolve(
        &mut self,
        items: &[AttentionId],
    ) -> Result<Vec<TaskId>, Refusal> {
        self.refuse_unknown_items(items)?;
        for id in items {
            if let Some(item) = self.attention.get_mut(id) {
                (item.is_read, item.is_resolved) = (true, true);
                self.touch(Place::Attention(*id));
            }
        }
        Ok(Vec::new())
    }

    fn refuse_unknown_items(&self, items: &[AttentionId]) -> Result<(), Refusal> {
        match items.iter().find(|id| !self.attention.contains_key(id)) {
            Some(id) => Err(Refusal::UnknownItem { item: id.to_string() }),
            None => Ok(()),
        }
    }

    /// Returns when a need, or a dialog that rules did not answer, has waited long enough for a person
    /// to hear of it.
    fn attention_deadline_after(&self, now: Moment) -> Option<Moment> {
        let sent = self.needs.values().filter(|need| need.state == NeedState::Sent);
        let due = sent.map(|need| need.since + NEED_PATIENCE).filter(|at| *at > now).min();
        let waits = self.overdue_deadline(now);
        due.into_iter()
            .chain(waits)
            .chain(self.quota_deadline())
            .chain(self.rules_deadline(now))
            .min()
    }

    fn causes(&self, now: Moment) -> Vec<Cause> {
        let seats = self.seats.values().filter_map(|seat| self.cause_of_seat(seat, now));
        let tasks = self.tasks.values().filter_map(|task| self.cause_of_task(task));
        let needs = self.needs.values().filter_map(|need| self.cause_of_need(need, now));
        let is_known = |one: &&Dispatch| !self.looked_up_prompts.contains(&one.id);
        let receipts = self.dispatches.values().filter(is_known).filter_map(|one| {
            // What was accepted later shows that the agent has got over it.
            let is_later = |later: &Dispatch| {
                later.agent == one.agent && later.stage == Stage::Accepted && later.id > one.id
            };
            let cause = self.cause_of_dispatch(one, now)?;
            (!self.dispatches.values().any(is_later)).then_some(cause)
        });
        let conflicts = self.trespasses.values().filter_map(|one| self.cause_of_trespass(one));
        let own = seats.chain(tasks).chain(needs).chain(receipts).chain(conflicts);
        own.chain(self.causes_of_workspaces()).collect()
    }

    fn cause_of_trespass(&self, trespass: &Trespass) -> Option<Cause> {
        trespass.open().next()?;
        let kind = AttentionKind::Conflict;
        let agent = trespass.suspects.iter().find(|agent| self.seats.contains_key(*agent))?;
        let task = self.task_of(agent).map(|task| task.id);
        let hint = format!("Have it put back, or let it stay with `wheelhouse task allow {agent}`");
        Some(Cause {
            key: format!("{kind}:{}", trespass.key()),
            kind,
            agent: Some(agent.clone()),
            task,
            text: trespass.to_string(),
            hint: Some(hint),
            ruling: Some(Ruling::Allow { agent: agent.clone() }),
        })
    }

    fn cause_of_seat(&self, seat: &Seat, now: Moment) -> Option<Cause> {
        let agent = &seat.member.name;
        let mut task = None;
        let (kind, text, hint) = if let Some((text, hint)) = self.held_by_quota(seat, now) {
            task = self.task_of(agent).map(|task| task.id);
            (AttentionKind::Limit, text, hint)
        } else if let Some(unreachable) = &seat.unreachable {
            let (since, reason) = (unreachable.since.to_rfc3339(), &unreachable.reason);
            let runner = seat.member.runner.as_ref().map_or("local", |runner| &runner.name);
            let hint = format!("See what is missing with `wheelhouse runner check {runner}`");
            (AttentionKind::Unreachable, format!("out of reach since {since}: {reason}"), hint)
        } else if seat.state == AgentState::Waiting && !seat.is_left_to_rules(now) {
            let hint = format!(
                "See the options with `wheelhouse agent answer {agent}`, take one with `--option N`"
            );
            (AttentionKind::Dialog, "a dialog waits for an answer".to_owned(), hint)
        } else if seat.did_not_resume() {
            let hint = format!(
                "Start it afresh and tell it where it stands: `wheelhouse agent resume {agent} \
                 --brief`"
            );
            (AttentionKind::Failed, "it did not take up its conversation".to_owned(), hint)
        } else {
            // With a task in hand the agent is asked first, and a person only after that.
            let reason = seat.pace.stuck.clone().filter(|_| self.task_of(agent).is_none())?;
            (
                AttentionKind::Stuck,
                reason,
                format!("See why with `wheelhouse agent explain {agent}`"),
            )
        };
        let (key, agent, hint) = (format!("{kind}:{agent}"), Some(agent.clone()), Some(hint));
        Some(Cause { key, kind, agent, task, text, hint, ruling: None })
    }

    fn cause_of_task(&self, task: &Task) -> Option<Cause> {
        if task.is_from_record {
            return None;
        }
        let id = task.id;
        let open = task.open();
        let note = || task.note.clone().unwrap_or_default();
        let retry = || format!("Try again with `wheelhouse task retry {id} --advice TEXT`");
        let (kind, text, hint) = match task.state {
            TaskState::Blocked => match open.and_then(|open| open.hold) {
                Some(Hold::Need) => {
                    let is_this =
                        |need: &&Need| need.task == Some(id) && need.state != NeedState::Met;
                    if self.needs.values().any(|need| is_this(&need)) {
                        return None;
                    }
                    let agent = open.map(|open| open.agent.to_string()).unwrap_or_default();
                    let hint = format!("Answer with `wheelhouse dispatch {agent} TEXT`");
                    (AttentionKind::Blocked, note(), hint)
                }
                Some(Hold::Loop) => (AttentionKind::Loop, note(), retry()),
                Some(Hold::Time | Hold::Turns | Hold::Tokens) | None => {
                    (AttentionKind::Limit, note(), retry())
                }
            },
            TaskState::Failed if task.verifies.is_none() => {
                (AttentionKind::Failed, note(), retry())
            }
            TaskState::Done if task.verifies.is_none() => {
                let text = task.attempts.last().map(|last| last.summary.clone());
                let hint = format!("See `wheelhouse task show {id}`");
                (AttentionKind::Finished, text.unwrap_or_default(), hint)
            }
            TaskState::Ready => {
                let (text, hint) = self.unfit(task)?;
                (AttentionKind::Unfit, text, hint)
            }
            TaskState::Running => {
                let open = open.filter(|open| open.told.is_silent)?;
                let hint = format!("See why with `wheelhouse agent explain {}`", open.agent);
                let text = "nothing is heard of its agent, though it was asked".to_owned();
                (AttentionKind::Stuck, text, hint)
            }
            TaskState::Pending
            | TaskState::Claimed
            | TaskState::Failed
            | TaskState::Done
            | TaskState::Interrupted
            | TaskState::Cancelled => return None,
        };
        // Each attempt can come to this anew, and a person who dealt with one has not with the next.
        let key = format!("{kind}:{id}:{}", task.attempts.len());
        let agent = task.attempts.last().map(|last| last.agent.clone());
        let text = format!("{}: {text}", task.title);
        Some(Cause { key, kind, agent, task: Some(id), text, hint: Some(hint), ruling: None })
    }

    /// Returns why nobody who runs will take a task, and what to type.
    fn unfit(&self, task: &Task) -> Option<(String, String)> {
        let could = |seat: &&Seat| seat.is_live() && self.may_try(task, seat);
        let mut stale = None;
        for seat in self.seats.values().filter(could) {
            let reason = seat.no_renewal.as_ref().filter(|_| !seat.can_begin(task))?;
            stale = Some((&seat.member.name, reason));
        }
        Some(match stale {
            None => {
                let hint = "Start one with `wheelhouse up TEAM`".to_owned();
                ("no agent that runs fits it".to_owned(), hint)
            }
            Some((agent, reason)) => {
                let text = format!("it wants a new conversation, and {agent} has none: {reason}");
                (text, format!("Start one with `wheelhouse agent restart {agent}`"))
            }
        })
    }

    fn cause_of_need(&self, need: &Need, now: Moment) -> Option<Cause> {
        let (id, from) = (need.id, &need.from);
        if !self.seats.contains_key(from) {
            return None;
        }
        let met = format!("Say `wheelhouse task meet {id}` once it is there");
        let (kind, text, hint) = match (need.state, &need.to) {
            (NeedState::Held, Some(to)) => {
                let hint = format!("Allow it with `wheelhouse task consent {from} {to}`");
                (AttentionKind::Consent, format!("may speak to {to}: {}", need.text), hint)
            }
            (NeedState::Held, None) => (AttentionKind::Blocked, need.text.clone(), met),
            (NeedState::Dropped, _) => {
                (AttentionKind::Blocked, format!("not passed on: {}", need.text), met)
            }
            (NeedState::Sent, Some(to)) if need.since + NEED_PATIENCE <= now => {
                (AttentionKind::Blocked, format!("{to} has not given: {}", need.text), met)
            }
            (NeedState::Sent | NeedState::Met, _) => return None,
        };
        let (key, agent, hint) = (format!("{kind}:{id}"), Some(from.clone()), Some(hint));
        let ruling = Some(match &need.to {
            Some(to) if kind == AttentionKind::Consent => {
                Ruling::Consent { from: from.clone(), to: to.clone() }
            }
            Some(_) | None => Ruling::Meet { need: id },
        });
        Some(Cause { key, kind, agent, task: need.task, text, hint, ruling })
    }

    fn cause_of_dispatch(&self, dispatch: &Dispatch, now: Moment) -> Option<Cause> {
        let (id, agent, stage) = (dispatch.id, &dispatch.agent, dispatch.stage);
        let seat = self.seats.get(agent).filter(|seat| seat.is_live())?;
        let is_of_run = dispatch.run == Some(seat.run);
        let look = format!("Look at its pane: `wheelhouse agent read {agent}`");
        let (text, hint) = if let Some(why) = self.overdue(dispatch, now) {
            let hint = format!("{look}; `wheelhouse withdraw {id}` takes the prompt back");
            (format!("prompt {id} still waits: {why}"), hint)
        } else if stage == Stage::Refused && dispatch.wait.is_given_up && is_of_run {
            let reason = dispatch.reason.as_deref().unwrap_or_default();
            (format!("prompt {id} was not typed: {reason}"), format!("{look}, and send it again"))
        } else if matches!(stage, Stage::Stalled | Stage::Unknown) && is_of_run {
            let reason = dispatch.reason.iter().map(|reason| format!(": {reason}"));
            let reason: String = reason.collect();
            (format!("whether it took prompt {id} is {stage}{reason}"), look)
        } else {
            return None;
        };
        let kind = AttentionKind::Receipt;
        Some(Cause {
            key: format!("{kind}:{id}"),
            kind,
            agent: Some(agent.clone()),
            task: self.task_of(agent).map(|task| task.id),
            text,
            hint: Some(hint),
            ruling: None,
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_person_has_read_is_not_raised_again_by_a_hub_that_comes_back() {
        use crate::engine::fixture::{Bench, Work, seen};
        let mut bench = Bench::with_idle(&["one", "two"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.did("one", AgentState::Limited);
        bench.did("two", AgentState::Limited);
        let items = |bench: &Bench| -> Vec<_> {
            let limits = bench.engine.attention().into_iter();
            limits.filter(|item| item.kind == AttentionKind::Limit).map(|one| one.id).collect()
        };
        let before = items(&bench);
        assert_eq!(before.len(), 1);
        bench.crash();
        for agent in ["two", "one"] {
            let _ = bench.tell(agent, seen());
            assert_eq!(items(&bench), before, "{agent} was found again");
        }
    }

    use super::*;
    use crate::engine::fixture::{Bench, Work};
    use crate::model::{Command, TaskCommand};

    #[test]
    fn a_dialog_waits_for_a_person_and_goes_with_its_cause() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        bench.did("two", AgentState::Waiting);
        bench.now = bench.now + Duration::from_secs(1);
        bench.did("one", AgentState::Waiting);
        let agents: Vec<_> =
            bench.engine.attention().iter().map(|item| item.agent.clone()).collect();
        assert_eq!(agents, [Some("two".parse().unwrap()), Some("one".parse().unwrap())]);
        bench.did("two", AgentState::Working);
        assert_eq!(bench.engine.attention().len(), 1);
    }

    #[test]
    fn what_a_person_has_read_or_resolved_stays_so_after_a_crash() {
        let mut bench = Bench::with_idle(&["one"]);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        bench.did("one", AgentState::Waiting);
        let kinds: Vec<_> = bench.engine.attention().iter().map(|item| item.kind).collect();
        assert_eq!(kinds, [AttentionKind::Dialog, AttentionKind::Finished], "the urgent first");
        let finished = bench.engine.attention()[1].id;
        let _ = bench.ask(Command::Task(TaskCommand::MarkRead { items: Vec::new() }));
        let _ = bench.ask(Command::Task(TaskCommand::Resolve { items: vec![finished] }));
        bench.crash();
        let _ = bench.tell("one", crate::engine::fixture::seen());
        let left = bench.engine.attention();
        assert_eq!(left.len(), 1);
        assert!(left[0].is_read && left[0].kind == AttentionKind::Dialog);
    }
}
