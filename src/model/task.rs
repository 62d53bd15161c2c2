//! A unit of work: what is asked, on which terms, and each attempt at it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{AgentName, Attempt, FailedGate, Moment, PlayId, Role};

/// Names one task for ever, such as `t1`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("pattern" = r"^t[0-9]+$", "examples" = ["t1"])))]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(pub u64);

/// Says why a text is not the name of a task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a task is named `t` and a number, such as `t1`")]
pub struct InvalidTask;

impl FromStr for TaskId {
    type Err = InvalidTask;

    fn from_str(text: &str) -> Result<Self, InvalidTask> {
        let digits = text.strip_prefix('t').filter(|rest| rest.chars().all(|c| c.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok()).map(Self).ok_or(InvalidTask)
    }
}

impl TryFrom<String> for TaskId {
    type Error = InvalidTask;

    fn try_from(text: String) -> Result<Self, InvalidTask> {
        text.parse()
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// Stands in a task's prompt where the tag of each attempt belongs, if the prompt teaches the
/// protocol itself.
pub const TAG_PLACE: &str = "‹tag›";

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// It needs other tasks.
    Pending,
    /// It may be handed out.
    Ready,
    Running,
    /// Its agent says that it is done, and nobody has checked that yet.
    Claimed,
    /// Checked.
    Done,
    /// It waits for someone or something; its note says for what.
    Blocked,
    Failed,
    /// Its agent was lost, and it is not proven yet that nothing of it is left.
    Interrupted,
    Cancelled,
}

impl TaskState {
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::Ready,
        Self::Running,
        Self::Claimed,
        Self::Done,
        Self::Blocked,
        Self::Failed,
        Self::Interrupted,
        Self::Cancelled,
    ];

    /// Says whether nothing more happens to it unless someone asks for it.
    pub fn is_final(self) -> bool {
        match self {
            Self::Done | Self::Failed | Self::Cancelled => true,
            Self::Pending
            | Self::Ready
            | Self::Running
            | Self::Claimed
            | Self::Blocked
            | Self::Interrupted => false,
        }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pending => "pending",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Claimed => "claimed",
            Self::Done => "done",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
        })
    }
}

/// What happens once an agent has failed as often as it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The task fails; tasks that need it wait for a person.
    Retry,
    /// Another agent that fits tries it; then as above.
    #[default]
    Reassign,
    /// As above, but what needs it goes on without it.
    Skip,
    /// As above, but what needs it fails too.
    Stop,
}

/// With which conversation a task is begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// With whatever the agent knows; who tried before tries again.
    #[default]
    Continue,
    /// With a new one, so that nothing that was said before colours the work.
    Fresh,
}

/// On which terms a task is handed out, and when it counts as done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Terms {
    /// Only this agent.
    pub agent: Option<AgentName>,
    /// Only agents of this role; otherwise workers.
    pub role: Option<Role>,
    /// Only agents that can do all of this.
    pub requires: Vec<String>,
    /// The paths that it changes: tasks that share one never run at once in one directory.
    pub owns: Vec<String>,
    /// What the hub itself checks before the task is done.
    pub gates: Vec<String>,
    /// Tasks with a higher priority go first.
    pub priority: i32,
    /// Attempts per agent.
    pub attempts_max: u32,
    /// How long one attempt may take before a person is asked.
    pub time_limit_ms: Option<u64>,
    /// How many prompts one attempt may take before a person is asked.
    pub turns_max: Option<u32>,
    /// How many tokens one attempt may use, as its agent shows them, before a person is asked.
    pub tokens_max: Option<u64>,
    pub on_failure: OnFailure,
    pub context: Context,
    /// How many others look at the result.
    pub verifiers: u32,
    /// How many of them must agree.
    pub agree: u32,
    /// What it must hold while someone works on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<String>,
    /// What is left of it once it has failed as often as it may: that is tried before it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduced: Option<String>,
    /// The agent that added it: only those take it whom that one may give work to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<AgentName>,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            agent: None,
            role: None,
            requires: Vec::new(),
            owns: Vec::new(),
            gates: Vec::new(),
            priority: 0,
            attempts_max: 3,
            time_limit_ms: None,
            turns_max: None,
            tokens_max: None,
            on_failure: OnFailure::default(),
            context: Context::default(),
            verifiers: 0,
            agree: 0,
            locks: Vec::new(),
            reduced: None,
            by: None,
        }
    }
}

/// A task as it is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TaskSpec {
    /// What others that are added with it call it.
    pub key: Option<String>,
    pub title: String,
    pub prompt: String,
    /// Tasks that come first: by id, or by the key of one that is added with it.
    pub needs: Vec<String>,
    /// The run that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub play: Option<PlayId>,
    #[serde(flatten)]
    pub terms: Terms,
}

/// A unit of work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Task {
    pub id: TaskId,
    pub title: String,
    pub prompt: String,
    pub needs: Vec<TaskId>,
    #[serde(flatten)]
    pub terms: Terms,
    pub state: TaskState,
    /// When it came into this state.
    pub since: Moment,
    /// Why it stands there, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What a person said about the next attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The task whose result this one looks at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifies: Option<TaskId>,
    pub attempts: Vec<Attempt>,
    /// The run that it belongs to, and what its playbook calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub play: Option<PlayId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// It has been reduced to what its terms say.
    #[serde(default)]
    pub is_reduced: bool,
    /// Attempts before this one no longer count as failures: a person asked for another try.
    #[serde(default)]
    pub forgiven: usize,
    /// Which gate failed about which files, oldest first, since a person last had a say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedGate>,
    /// It had ended and left memory, and was looked up in the record: its end is no news.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_from_record: bool,
}

impl Task {
    /// Returns what its playbook calls it, or else its id.
    pub fn label(&self) -> String {
        self.key.clone().unwrap_or_else(|| self.id.to_string())
    }

    /// Says whether whoever takes it begins a new conversation; whoever verifies always does.
    pub fn wants_fresh(&self) -> bool {
        self.terms.context == Context::Fresh || self.verifies.is_some()
    }

    /// Returns what is left of it, if it has been reduced.
    pub fn reduction(&self) -> Option<String> {
        let reduced = self.terms.reduced.as_ref().filter(|_| self.is_reduced);
        reduced.map(|reduced| format!("reduced to: {reduced}"))
    }

    /// Returns the attempt that is under way.
    pub fn open(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.ended.is_none())
    }

    pub fn open_mut(&mut self) -> Option<&mut Attempt> {
        self.attempts.last_mut().filter(|attempt| attempt.ended.is_none())
    }

    /// Returns how often this agent has failed at it.
    pub fn failures_by(&self, agent: &AgentName) -> usize {
        self.failures().filter(|attempt| attempt.agent == *agent).count()
    }

    /// Returns the attempts that count against it.
    pub fn failures(&self) -> impl Iterator<Item = &Attempt> {
        let since_pardon = self.attempts.iter().skip(self.forgiven);
        since_pardon.filter(|attempt| attempt.outcome.is_some_and(super::Outcome::is_failure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_written_as_a_letter_and_a_number() {
        assert_eq!("t12".parse(), Ok(TaskId(12)));
        for bad in ["", "t", "12", "t-1", "t+1", "T1", "t1 "] {
            assert!(bad.parse::<TaskId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_task_without_terms_reads_as_the_usual_ones() {
        let spec: TaskSpec = serde_json::from_str(r#"{"title":"x","prompt":"y"}"#).unwrap();
        assert_eq!(spec.terms, Terms::default());
        assert_eq!(spec.terms.attempts_max, 3);
    }
}
