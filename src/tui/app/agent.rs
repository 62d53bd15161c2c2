//! An agent as the dashboard shows it.

use std::time::UNIX_EPOCH;

use crate::model::{AgentName, AgentState, Moment};
use crate::tui::text::clean;
use crate::wire::AgentStatus;

/// What the hub says of an agent, fit to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Agent {
    pub name: AgentName,
    pub cli: String,
    pub team: String,
    pub state: AgentState,
    pub is_stuck: bool,
    pub since: Moment,
    pub task: Option<String>,
    /// What the application calls its window.
    pub title: String,
    /// How the last run ended, or what went wrong.
    pub remark: Option<String>,
}

impl Agent {
    /// Returns the agent of a status; a name that is none is left out.
    pub(crate) fn new(status: &AgentStatus) -> Option<Self> {
        let since = humantime::parse_rfc3339(&status.since).ok();
        let since = since.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let since = since.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let remark = status.note.as_ref().or(status.ending.as_ref());
        Some(Self {
            name: status.name.parse().ok()?,
            cli: clean(&status.cli),
            team: clean(&status.team),
            state: status.state,
            is_stuck: status.stuck,
            since: Moment(since),
            task: status.task.as_deref().map(clean),
            title: clean(&status.title),
            remark: remark.map(|text| clean(text)),
        })
    }

    /// Says whether its process is gone.
    pub(crate) fn has_ended(&self) -> bool {
        self.state == AgentState::Exited
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
            AgentState::Starting
            | AgentState::Idle
            | AgentState::Working
            | AgentState::Done
            | AgentState::Unknown => self.task.as_deref().or(title).or(remark),
        }
    }
}
