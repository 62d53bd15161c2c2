//! What became of a report, in words for the agent that made it.

use crate::engine::Engine;
use crate::model::{AgentName, Hold, Need, NeedState, Task, TaskId, TaskState, Told};
use crate::protocol::{Report, ReportKind, Status};

/// How things stood before a report.
#[derive(Debug)]
pub struct Before {
    task: Option<TaskId>,
    told: Told,
    needs: u64,
    /// Why it counts for nothing.
    ignored: Option<&'static str>,
}

/// What was made of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// It does not count, or was sent back.
    pub is_refused: bool,
    pub words: String,
}

impl Engine {
    /// Returns the tag of the attempt that a report by a call is about: the token that came with it
    /// says who speaks, and for which run.
    pub fn tag_of_call(&self, agent: &AgentName, report: &Report) -> Option<String> {
        let task = self.addressed(agent, report).ok().flatten()?;
        Some(self.tasks.get(&task)?.open()?.tag.clone())
    }

    /// Notes how things stand before a report of an agent.
    pub fn before_report(&self, agent: &AgentName, report: &Report) -> Before {
        let (task, ignored) = match self.addressed(agent, report) {
            Ok(task) => (task, None),
            Err(reason) => (None, Some(reason)),
        };
        let open = task.and_then(|id| self.tasks.get(&id)).and_then(Task::open);
        let told = open.map(|open| open.told).unwrap_or_default();
        Before { task, told, needs: self.need_count, ignored }
    }

    /// Says what became of a report, now that everything has reacted to it.
    pub fn heard(&self, agent: &AgentName, report: &Report, before: &Before) -> Heard {
        let refused = |words: String| Heard { is_refused: true, words };
        let accepted = |words: String| Heard { is_refused: false, words };
        if let Some(reason) = before.ignored {
            return refused(format!("it counts for nothing: {reason}"));
        }
        match report.kind {
            ReportKind::Need => {
                let new = |need: &&Need| need.id.0 > before.needs && need.from == *agent;
                let need = self.needs.values().rev().find(new);
                return need.map_or_else(|| accepted("known already".to_owned()), about_need);
            }
            ReportKind::Contract => {
                let title = crate::engine::tasks::requests::line(
                    report.text.lines().next().unwrap_or_default(),
                );
                let version =
                    self.contracts.get(&(agent.clone(), title)).and_then(|all| all.last());
                return match version {
                    Some(last) => accepted(format!("it is version {} now", last.version)),
                    None => refused("too many contracts are kept of you already".to_owned()),
                };
            }
            ReportKind::Status(_)
            | ReportKind::Progress { .. }
            | ReportKind::Build { .. }
            | ReportKind::Artifact => {}
        }
        let Some(task) = before.task.and_then(|id| self.tasks.get(&id)) else {
            return accepted("no task is in hand: it counts for none".to_owned());
        };
        match report.kind {
            ReportKind::Status(Status::Done) => about_claim(task, before.told),
            ReportKind::Status(Status::Blocked | Status::Error) => {
                let note = task.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
                accepted(format!("task {} is {}{note}", task.id, task.state))
            }
            ReportKind::Build { passed: false } => {
                let is_loop = task.open().is_some_and(|open| open.hold == Some(Hold::Loop));
                let rest = if is_loop {
                    "the same failure again: stop, a person is told"
                } else {
                    "nothing counts as done until one passes"
                };
                accepted(format!("noted for task {}; {rest}", task.id))
            }
            ReportKind::Build { passed: true }
            | ReportKind::Progress { .. }
            | ReportKind::Artifact
            | ReportKind::Need
            | ReportKind::Contract => accepted(format!("noted for task {}", task.id)),
        }
    }
}

fn about_need(need: &Need) -> Heard {
    let to = need.to.as_ref().map(ToString::to_string).unwrap_or_default();
    let (is_refused, words) = match (need.state, &need.to) {
        (NeedState::Sent, _) => (false, format!("{to} is told")),
        (NeedState::Met, _) => (false, "it is there already".to_owned()),
        (NeedState::Held, Some(_)) => {
            (false, format!("it waits for a person to let your words reach {to}"))
        }
        (NeedState::Held, None) => {
            (false, "nobody is known to have it: a person is told".to_owned())
        }
        (NeedState::Dropped, _) => {
            (true, "too many within a minute: it was not passed on".to_owned())
        }
    };
    Heard { is_refused, words: format!("need {}: {words}", need.id) }
}

fn about_claim(task: &Task, before: Told) -> Heard {
    let id = task.id;
    let heard = |is_refused, words: String| Heard { is_refused, words };
    match task.state {
        TaskState::Done => heard(false, format!("task {id} is done")),
        TaskState::Claimed => {
            let gates = task.terms.gates.len();
            heard(
                false,
                format!(
                    "a claim for task {id}: {gates} gates and {} verifiers look at it",
                    task.terms.verifiers
                ),
            )
        }
        TaskState::Pending
        | TaskState::Ready
        | TaskState::Running
        | TaskState::Blocked
        | TaskState::Failed
        | TaskState::Interrupted
        | TaskState::Cancelled => {
            let told = task.open().map_or(before, |open| open.told);
            if told.build && !before.build {
                return heard(true, format!("sent back: the last build of task {id} failed"));
            }
            if told.evidence && !before.evidence {
                return heard(
                    true,
                    "sent back: say what was checked, with numbers, paths or results".to_owned(),
                );
            }
            let last = task.attempts.last().map(|last| last.summary.clone()).unwrap_or_default();
            heard(true, format!("the attempt at task {id} is over: {last}"))
        }
    }
}
