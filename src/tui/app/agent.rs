//! An agent as the dashboard shows it.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use crate::api::{AgentStatus, DialogStatus, TaskStatus};
use crate::model::{AgentName, AgentState, Moment, Receipt, Stage};
use crate::tui::text::clean;

/// What the hub says of an agent, fit to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own that a tile shows")]
pub(crate) struct AgentView {
    pub name: AgentName,
    pub cli: String,
    pub team: String,
    /// An agent started it, and stands before it in the grid.
    pub is_led: bool,
    pub state: AgentState,
    pub is_stuck: bool,
    /// It has changed files that another agent owns.
    pub has_conflict: bool,
    /// Nobody reaches the place where it runs.
    pub is_unreachable: bool,
    /// Since when it has been stuck or in conflict, as far as this dashboard has seen.
    pub stuck_since: Option<Moment>,
    pub since: Moment,
    /// The task in hand: its id and its title.
    pub task: Option<String>,
    /// What the application calls its window.
    pub title: String,
    /// How the last run ended, or what went wrong.
    pub remark: Option<String>,
    /// The dialog that wants a person.
    pub dialog: Option<DialogStatus>,
    /// Rules are about to answer the dialog.
    pub is_left_to_rules: bool,
    /// The latest prompt, unless the agent has taken it.
    pub receipt: Option<Receipt>,
    /// How many prompts wait for it.
    pub queued: usize,
    /// What is to be known of its own workspace, if it has one.
    pub workspace: Option<String>,
    /// Where it works, if that is on this machine.
    pub directory: Option<PathBuf>,
}

impl AgentView {
    /// Returns the agent of a status; a name that is none is left out.
    pub(crate) fn new(status: &AgentStatus) -> Option<Self> {
        let remark = status.note.as_ref().or(status.ending.as_ref());
        Some(Self {
            name: status.name.parse().ok()?,
            cli: clean(&status.cli),
            team: clean(&status.team),
            state: status.state,
            is_stuck: status.stuck,
            has_conflict: status.conflict,
            is_unreachable: status.unreachable.is_some(),
            stuck_since: None,
            since: moment(&status.since),
            task: status.task.as_deref().map(clean),
            title: clean(&status.title),
            remark: remark.map(|text| clean(text)),
            dialog: status.dialog.as_ref().map(clean_dialog),
            is_left_to_rules: status.by_rule,
            receipt: status.receipt.clone().map(|receipt| Receipt {
                reason: receipt.reason.as_deref().map(clean),
                prompt: clean(&receipt.prompt),
                ..receipt
            }),
            queued: status.queued,
            workspace: workspace(status),
            directory: status.runner.is_none().then(|| status.cwd.clone()),
            is_led: status.started_by.is_some(),
        })
    }

    /// Takes over what the task that it has is called.
    pub(crate) fn name_task(&mut self, tasks: &[TaskStatus]) {
        let known = tasks.iter().find(|task| Some(&task.id) == self.task.as_ref());
        if let Some(task) = known {
            self.task = Some(clean(&format!("{} {}", task.id, task.title)));
        }
    }

    /// Says whether it wants a person, whatever it does.
    pub(crate) fn calls(&self) -> bool {
        self.is_stuck || self.has_conflict || self.is_unreachable
    }

    /// Says whether its process is gone.
    pub(crate) fn has_ended(&self) -> bool {
        self.state == AgentState::Exited
    }

    /// Takes over what was known of it before; that it is stuck is seen now, if it was not.
    pub(crate) fn follow(&mut self, before: Option<&Self>, now: Moment) {
        let known = before.and_then(|before| before.stuck_since);
        self.stuck_since = self.calls().then(|| known.unwrap_or(now));
    }

    /// Returns why the hub would refuse a prompt for it now.
    pub(crate) fn objection(&self) -> Option<&'static str> {
        if self.is_unreachable {
            return Some("it is out of reach");
        }
        match self.state {
            AgentState::Exited => Some("it does not run"),
            AgentState::Unknown => Some("its screen does not show that it waits for a prompt"),
            AgentState::Starting
            | AgentState::Idle
            | AgentState::Working
            | AgentState::Waiting
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error
            | AgentState::Limited => None,
        }
    }

    /// Returns the one line that says most about what it is at.
    pub(crate) fn caption(&self) -> Option<&str> {
        let title = Some(self.title.as_str()).filter(|title| !title.trim().is_empty());
        let remark = self.remark.as_deref();
        match self.state {
            AgentState::Exited
            | AgentState::Error
            | AgentState::Waiting
            | AgentState::Blocked
            | AgentState::Limited => remark.or(self.task.as_deref()).or(title),
            AgentState::Unknown if self.is_unreachable => remark,
            AgentState::Starting
            | AgentState::Idle
            | AgentState::Working
            | AgentState::Done
            | AgentState::Unknown => self.task.as_deref().or(title).or(remark),
        }
    }
}

/// Says that an agent has a workspace of its own, and how much it has changed there.
fn workspace(status: &AgentStatus) -> Option<String> {
    let kind = if status.branch.is_some() { "own branch" } else { "own copy" };
    Some(match status.changed? {
        0 => kind.to_owned(),
        1 => format!("{kind}, 1 file"),
        count => format!("{kind}, {count} files"),
    })
}

/// Returns what a receipt says, in a line.
pub(crate) fn receipt_line(receipt: &Receipt) -> String {
    let reason = receipt.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{} {}{reason}", receipt.receipt, receipt.state)
}

/// Says whether a prompt went wrong, so that a person has to look.
pub(crate) fn has_failed(receipt: &Receipt) -> bool {
    match receipt.state {
        Stage::Refused | Stage::Stalled | Stage::Unknown => true,
        Stage::Queued
        | Stage::Typed
        | Stage::Seen
        | Stage::Submitted
        | Stage::Accepted
        | Stage::Withdrawn => false,
    }
}

/// Reads a moment in the form of RFC 3339.
pub(super) fn moment(text: &str) -> Moment {
    let time = humantime::parse_rfc3339(text).ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Moment(since.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
}

/// Returns the dialog fit to be shown; its id stays as it is, since the hub has to know it again.
fn clean_dialog(dialog: &DialogStatus) -> DialogStatus {
    DialogStatus {
        id: dialog.id.clone(),
        kind: dialog.kind,
        text: dialog.text.lines().map(clean).collect::<Vec<_>>().join("\n"),
        options: dialog.options.iter().map(|option| clean(option)).collect(),
        selected: dialog.selected,
    }
}
