//! Looks up tasks and prompts that have ended and left memory, in the record.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use crate::api::{Fault, Request, TaskRequest};
use crate::engine::{Dispatch, Engine};
use crate::hub::clients::response_size::{fitting, text_bytes};
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
pub(in crate::hub) struct Missing {
    tasks: BTreeSet<TaskId>,
    /// What the tasks need counts, too.
    with_needs: bool,
    prompts: BTreeSet<ReceiptId>,
}

/// What the record says of it.
#[derive(Debug, Default)]
pub(in crate::hub) struct FoundTasks {
    tasks: Vec<Task>,
    dispatches: Vec<Dispatch>,
    /// The first that is no longer there, and since when there is something.
    cut_off: Option<(String, String)>,
    /// The first whose end is not on the disk yet.
    late: Option<String>,
}

/// A part of the list of those that have left memory, newest first.
#[derive(Debug, Default)]
pub(in crate::hub) struct TaskPage {
    pub(in crate::hub) tasks: Vec<Task>,
    pub(in crate::hub) next: Option<TaskId>,
    pub(in crate::hub) cut_off: Option<String>,
}

impl Missing {
    /// Returns what a request is about and memory does not have.
    pub(in crate::hub) fn of(engine: &Engine, request: &Request) -> Self {
        let is_retry = matches!(request, Request::Task { ask: TaskRequest::Retry { .. } });
        let mut missing = Self { with_needs: is_retry, ..Self::default() };
        let is_out = |id: &TaskId| engine.task(*id).is_none() && engine.was_added(*id);
        for named in request.named() {
            match named {
                Named::Task(name) | Named::Offer(name) => {
                    let Ok(id) = name.parse::<TaskId>() else { continue };
                    match engine.task(id).filter(|_| is_retry) {
                        Some(task) => {
                            missing.tasks.extend(task.needs.iter().copied().filter(is_out));
                        }
                        None => missing.tasks.extend(Some(id).filter(is_out)),
                    }
                }
                Named::Receipt(id) => {
                    let is_known = engine.dispatches().any(|one| one.id == id);
                    if !is_known && engine.was_sent(id) {
                        missing.prompts.insert(id);
                    }
                }
                Named::Agent(_) | Named::Need(_) | Named::Run(_) | Named::Everyone => {}
            }
        }
        missing
    }

    pub(in crate::hub) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.prompts.is_empty()
    }

    /// Refuses to look up too much at once.
    pub(in crate::hub) fn refuse_many(&self) -> Result<(), Fault> {
        if self.tasks.len() + self.prompts.len() <= NAMED_MAX {
            return Ok(());
        }
        let message = format!("The request names more than {NAMED_MAX} ended tasks and prompts");
        Err(Fault::new(message).with_hint("Ask for it in parts"))
    }
}

impl FoundTasks {
    /// Returns what was found, or why the request cannot be taken up. An agent learns nothing of what it may
    /// not name.
    pub(in crate::hub) fn all(self, is_person: bool) -> Result<(Vec<Task>, Vec<Dispatch>), Fault> {
        let Self { tasks, dispatches, cut_off, late } = self;
        match (cut_off.filter(|_| is_person), late) {
            (Some((name, until)), _) => Err(no_longer_there(&name, &until)),
            (None, Some(name)) => Err(not_yet_there(&name)),
            (None, None) => Ok((tasks, dispatches)),
        }
    }
}

/// Looks up what is missing.
pub(in crate::hub) fn look_up(
    journal: &Journal,
    missing: &Missing,
) -> Result<FoundTasks, StoreError> {
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

/// Reads a part of the list of those that have left memory and are not held there, newest first.
pub(in crate::hub) fn list(
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
