//! Tasks and prompts that have ended and left memory: looked up in the record for whoever names them.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use crate::api::{Ask, Fault, Request, RequestKind, Response, TaskRequest, TaskStatus};
use crate::engine::{Dispatch, Event};
use crate::hub::Hub;
use crate::hub::clients::response_size::{fitting, text_bytes};
use crate::hub::inbox::ClientId;
use crate::hub::requests::route::Asker;
use crate::model::{Named, ReceiptId, Task, TaskId};
use crate::store::{Journal, StoreError};

/// The tables of the record in which they are.
const TASKS: &str = "task";
const PROMPTS: &str = "dispatch";

/// What is looked up for one request; more is a runaway script.
const NAMED_MAX: usize = 1000;

/// Tasks in one answer, and numbers that are tried for it: those that were cut off leave gaps.
const PAGE: usize = 500;
const TRIED_MAX: u64 = 20_000;

/// A task at a glance, around its texts.
const STATUS_BYTES: usize = 320;

/// What a request names and memory does not have.
#[derive(Debug, Default)]
struct Missing {
    tasks: BTreeSet<TaskId>,
    /// What the tasks need counts, too.
    with_needs: bool,
    prompts: BTreeSet<ReceiptId>,
}

/// What the record says of it.
#[derive(Debug, Default)]
struct FoundTasks {
    tasks: Vec<Task>,
    dispatches: Vec<Dispatch>,
    /// The first that is no longer there, and since when there is something.
    cut_off: Option<(String, String)>,
    /// The first whose end is not on the disk yet.
    late: Option<String>,
}

/// A part of the list of those that have left memory, newest first.
#[derive(Debug, Default)]
struct TaskPage {
    tasks: Vec<Task>,
    next: Option<TaskId>,
    cut_off: Option<String>,
}

impl Hub {
    /// Looks up what a request names and what has left memory, and then takes it up.
    pub(in crate::hub) fn take_up(&mut self, client: ClientId, ask: Ask) {
        let missing = self.missing(&ask.request);
        let count = missing.tasks.len() + missing.prompts.len();
        if count == 0 || !self.views.is_greeted(client) {
            return self.on_ask(client, ask);
        }
        if count > NAMED_MAX {
            let message =
                format!("The request names more than {NAMED_MAX} ended tasks and prompts");
            let fault = Fault::new(message).with_hint("Ask for it in parts");
            return self.answer(Asker::of(client, &ask), Err(fault));
        }
        let read = move |journal: &Journal| look_up(journal, &missing);
        self.read_record(read, move |hub, found| hub.on_found_ended(client, ask, found));
    }

    /// Takes up a request for which something was looked up. That is in memory as long as that takes, and
    /// longer if something open refers to it then.
    fn on_found_ended(&mut self, client: ClientId, ask: Ask, found: Result<FoundTasks, Fault>) {
        let FoundTasks { tasks, dispatches, cut_off, late } = match found {
            Ok(found) => found,
            Err(fault) => return self.answer(Asker::of(client, &ask), Err(fault)),
        };
        // An agent learns nothing of what it may not name.
        let is_person = !self.speakers.contains_key(&client);
        let fault = match (cut_off.filter(|_| is_person), late) {
            (Some((name, until)), _) => Some(no_longer_there(&name, &until)),
            (None, Some(name)) => Some(not_yet_there(&name)),
            (None, None) => None,
        };
        if let Some(fault) = fault {
            return self.answer(Asker::of(client, &ask), Err(fault));
        }
        self.decide(Event::LookedUp { tasks, dispatches });
        self.on_ask(client, ask);
        self.decide(Event::LookedUp { tasks: Vec::new(), dispatches: Vec::new() });
    }

    /// Returns what a request is about and memory does not have.
    fn missing(&self, request: &Request) -> Missing {
        let is_retry = matches!(request, Request::Task { ask: TaskRequest::Retry { .. } });
        let mut missing = Missing { with_needs: is_retry, ..Missing::default() };
        let is_out = |id: &TaskId| self.engine.task(*id).is_none() && self.engine.was_added(*id);
        for named in request.named() {
            match named {
                Named::Task(name) | Named::Offer(name) => {
                    let Ok(id) = name.parse::<TaskId>() else { continue };
                    match self.engine.task(id).filter(|_| is_retry) {
                        Some(task) => {
                            missing.tasks.extend(task.needs.iter().copied().filter(is_out));
                        }
                        None => missing.tasks.extend(Some(id).filter(is_out)),
                    }
                }
                Named::Receipt(id) => {
                    let is_known = self.engine.dispatches().any(|one| one.id == id);
                    if !is_known && self.engine.was_sent(id) {
                        missing.prompts.insert(id);
                    }
                }
                Named::Agent(_) | Named::Need(_) | Named::Run(_) | Named::Everyone => {}
            }
        }
        missing
    }

    /// Reads a part of the list of tasks that have left memory, aside.
    pub(in crate::hub) fn list_ended(&self, asker: Asker, before: Option<TaskId>) {
        let held: BTreeSet<TaskId> = self.engine.tasks().map(|task| task.id).collect();
        let before = before.unwrap_or_else(|| TaskId(self.engine.task_count() + 1));
        let read = move |journal: &Journal| list(journal, before, &held);
        self.read_record(read, move |hub, found| hub.on_listed_tasks(asker, found));
    }

    /// Answers with those that the one who asked may know of.
    fn on_listed_tasks(&self, asker: Asker, found: Result<TaskPage, Fault>) {
        let say = self.say_of(asker.client, RequestKind::ListTasks);
        let answer = found.map(|found| {
            let TaskPage { tasks, next, cut_off } = found;
            let may_know = |task: &&Task| {
                let say = say.as_ref();
                say.is_none_or(|(agent, reach)| self.engine.reaches_task(agent, *reach, task))
            };
            let tasks = tasks.iter().filter(may_know).map(TaskStatus::from).collect();
            let next = next.map(|next| next.to_string());
            Response::EndedTasks { tasks, next, cut_off }
        });
        self.answer(asker, answer);
    }
}

fn look_up(journal: &Journal, missing: &Missing) -> Result<FoundTasks, StoreError> {
    let cut_off = journal.base()?.map(|base| base.at.to_rfc3339());
    let mut found = FoundTasks::default();
    let mut wanted: Vec<TaskId> = missing.tasks.iter().copied().collect();
    let mut seen = missing.tasks.clone();
    let (named, mut next) = (wanted.len(), 0);
    let gone = |name: String| cut_off.clone().map(|until| (name, until));
    while let Some(id) = wanted.get(next).copied() {
        match last_of::<Task>(journal, TASKS, &id.to_string())? {
            Some((task, true)) => {
                if missing.with_needs && next < named {
                    wanted.extend(task.needs.iter().filter(|need| seen.insert(**need)));
                }
                found.tasks.push(task);
            }
            // What a task needs may be in memory.
            Some((_, false)) if next >= named => {}
            Some((_, false)) => found.late = found.late.or(Some(format!("Task `{id}`"))),
            None => found.cut_off = found.cut_off.or_else(|| gone(format!("Task `{id}`"))),
        }
        next += 1;
    }
    for id in &missing.prompts {
        let name = format!("Prompt `{id}`");
        match last_of::<Dispatch>(journal, PROMPTS, &id.to_string())? {
            Some((dispatch, true)) => found.dispatches.push(dispatch),
            Some((_, false)) => found.late = found.late.or(Some(name)),
            None => found.cut_off = found.cut_off.or_else(|| gone(name)),
        }
    }
    Ok(found)
}

fn list(
    journal: &Journal,
    before: TaskId,
    held: &BTreeSet<TaskId>,
) -> Result<TaskPage, StoreError> {
    let cut_off = journal.base()?.map(|base| base.at.to_rfc3339());
    let mut tasks = Vec::new();
    let mut next = None;
    let last = before.0.saturating_sub(TRIED_MAX).max(1);
    for id in (last..before.0).rev().map(TaskId) {
        if tasks.len() == PAGE {
            break;
        }
        next = Some(id);
        if !held.contains(&id) {
            tasks.extend(last_of::<Task>(journal, TASKS, &id.to_string())?.map(|(task, _)| task));
        }
    }
    let count = tasks.len();
    let bytes = |task: &Task| {
        let note = task.note.as_deref().map_or(0, text_bytes);
        STATUS_BYTES + text_bytes(&task.title) + note + task.needs.len() * 12
    };
    let tasks: Vec<Task> = fitting(tasks.into_iter(), bytes).collect();
    if tasks.len() < count {
        next = tasks.last().map(|task| task.id);
    }
    Ok(TaskPage { tasks, next: next.filter(|next| next.0 > 1), cut_off })
}

/// Returns the last that the record says of something, and whether it has left memory. What cannot be
/// read is from another version.
fn last_of<T: DeserializeOwned>(
    journal: &Journal,
    table: &str,
    name: &str,
) -> Result<Option<(T, bool)>, StoreError> {
    let found = journal.last_row(table, name)?;
    Ok(found.and_then(|row| Some((serde_json::from_value(row.value).ok()?, row.is_gone))))
}

fn no_longer_there(name: &str, until: &str) -> Fault {
    let message = format!("{name} is no longer kept: the record begins at {until}");
    Fault::new(message).with_hint(
        "Add what is left to do with `wheelhouse task add`; `[record]` in the settings sets how much is kept",
    )
}

fn not_yet_there(name: &str) -> Fault {
    Fault::new(format!("{name} has ended, but that is not saved yet"))
        .with_hint("Ask again; `wheelhouse doctor` says whether the record can be written")
}
