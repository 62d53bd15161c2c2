//! One agent's try at a task, and the claim that it makes in the end.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AgentName, Moment, ReceiptId, RunId, TaskId};

/// One try at a task by one run of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Attempt {
    /// Tells its reports from those of other attempts.
    pub tag: String,
    pub agent: AgentName,
    pub run: RunId,
    /// The prompt that it began with.
    pub receipt: ReceiptId,
    /// The prompt that was sent last.
    pub last_receipt: ReceiptId,
    pub started: Moment,
    pub ended: Option<Moment>,
    pub outcome: Option<Outcome>,
    /// What came of it, in the agent's words or ours.
    pub summary: String,
    /// What was reported as completed, oldest first.
    #[serde(default)]
    pub steps: Vec<String>,
    /// The files that it hands on.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    /// Whether its last build passed.
    #[serde(default)]
    pub build: Option<bool>,
    /// Prompts that the agent has taken.
    #[serde(default)]
    pub turns: u32,
    /// What it has been told, so that it is told once.
    #[serde(default)]
    pub told: Told,
    /// How often its claim did not hold.
    #[serde(default)]
    pub refusals: u32,
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Option<ClaimRow>"))]
    pub claim: Option<Claim>,
    /// The words of the last claim that was taken, whatever became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<String>,
    /// Why it does not go on, while its task is blocked.
    #[serde(default)]
    pub hold: Option<Hold>,
    /// It lost its thread and is to be told where it stands, once it is known which files changed.
    #[serde(default)]
    pub is_lost: bool,
    /// Its cli was seen to compact the conversation; it is told where it stands once its turn ends.
    #[serde(default)]
    pub is_compacted: bool,
    /// What the agent said last that it does next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Tokens that its agent was seen to use.
    #[serde(default)]
    pub tokens: u64,
}

/// A file that an attempt hands on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(from = "AnyArtifact")]
pub struct Artifact {
    /// Relative to where the agent works.
    pub path: String,
    /// What it is, in the agent's words.
    pub kind: String,
    /// The SHA-256 of its content when it was reported, if it was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// An artifact as it is on record; older ones are paths alone.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum AnyArtifact {
    Path(String),
    Whole {
        path: String,
        kind: String,
        #[serde(default)]
        hash: Option<String>,
    },
}

impl From<AnyArtifact> for Artifact {
    fn from(any: AnyArtifact) -> Self {
        match any {
            AnyArtifact::Path(path) => Self { path, kind: String::new(), hash: None },
            AnyArtifact::Whole { path, kind, hash } => Self { path, kind, hash },
        }
    }
}

/// What is said to an agent once in an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is said or not said, whatever the others are"
)]
pub struct Told {
    /// That nothing is done while the build fails.
    pub build: bool,
    /// That its evidence is weak.
    pub evidence: bool,
    /// That the end of its task is told with the tag.
    pub tag: bool,
    /// That nothing has been heard of it, and when.
    pub silence: Option<Moment>,
    /// Nothing was heard after that either: a person was told.
    pub is_silent: bool,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Done,
    Failed,
    /// Its agent was lost.
    Interrupted,
    /// Someone stopped its agent.
    Stopped,
    /// Its prompt was not typed.
    Undelivered,
    /// A quota held its agent up, and another took over.
    Limited,
    /// A person asked for another attempt.
    Replaced,
    Cancelled,
}

impl Outcome {
    /// Says whether it counts against the agent.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Failed | Self::Interrupted => true,
            Self::Done
            | Self::Stopped
            | Self::Undelivered
            | Self::Limited
            | Self::Replaced
            | Self::Cancelled => false,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Stopped => "stopped",
            Self::Undelivered => "not delivered",
            Self::Limited => "limited",
            Self::Replaced => "replaced",
            Self::Cancelled => "cancelled",
        })
    }
}

/// Why an attempt does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Hold {
    /// The agent said what it needs.
    Need,
    /// It goes round in circles; the note of its task says how.
    Loop,
    /// It took longer than it may.
    Time,
    /// It took more prompts than it may.
    Turns,
    /// It used more tokens than it may.
    Tokens,
}

/// A DONE, and how far it has been checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ClaimRow", into = "ClaimRow")]
pub struct Claim {
    /// What the agent says that it did.
    pub text: String,
    /// It names something that can be checked.
    pub is_concrete: bool,
    pub at: Moment,
    pub progress: ClaimProgress,
    /// What the gates said last.
    pub gates: Vec<GateResult>,
    /// The files as they were when all gates passed.
    pub tree: Option<String>,
    /// How often files changed while they were checked.
    pub rechecks: u32,
    /// The tasks of those who verify it.
    pub verifications: Vec<TaskId>,
    /// The files as they were when they were asked to.
    pub seen_tree: Option<String>,
}

/// What the check of a claim waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimProgress {
    /// Nothing: its evidence was believed only now, or its check is over.
    Idle,
    /// Its gates run.
    Gates,
    /// Others verify it.
    Verification,
    /// The workspace is scanned, to see whose files changed: it waits for the scan of this number.
    Ownership { scan: u64 },
}

/// A claim as it is on record and in answers.
// In the schema it has the name and the words of the type that it stands for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(
    test,
    schemars(rename = "Claim", description = "A DONE, and how far it has been checked.")
)]
struct ClaimRow {
    /// What the agent says that it did.
    text: String,
    /// It names something that can be checked.
    is_concrete: bool,
    at: Moment,
    /// The gates run.
    is_checking: bool,
    /// What the gates said last.
    gates: Vec<GateResult>,
    /// The files as they were when all gates passed.
    tree: Option<String>,
    /// How often files changed while they were checked.
    rechecks: u32,
    /// The tasks of those who look at it.
    verifications: Vec<TaskId>,
    /// The files as they were when they were asked to.
    seen_tree: Option<String>,
    /// The look at the workspace that it waits for, to see whose files changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    look: Option<u64>,
}

impl From<ClaimRow> for Claim {
    fn from(row: ClaimRow) -> Self {
        let progress = match row.look {
            _ if row.is_checking => ClaimProgress::Gates,
            Some(scan) => ClaimProgress::Ownership { scan },
            None if row.verifications.is_empty() => ClaimProgress::Idle,
            None => ClaimProgress::Verification,
        };
        Self {
            text: row.text,
            is_concrete: row.is_concrete,
            at: row.at,
            progress,
            gates: row.gates,
            tree: row.tree,
            rechecks: row.rechecks,
            verifications: row.verifications,
            seen_tree: row.seen_tree,
        }
    }
}

impl From<Claim> for ClaimRow {
    fn from(claim: Claim) -> Self {
        let (is_checking, look) = match claim.progress {
            ClaimProgress::Idle | ClaimProgress::Verification => (false, None),
            ClaimProgress::Gates => (true, None),
            ClaimProgress::Ownership { scan } => (false, Some(scan)),
        };
        Self {
            text: claim.text,
            is_concrete: claim.is_concrete,
            at: claim.at,
            is_checking,
            gates: claim.gates,
            tree: claim.tree,
            rechecks: claim.rechecks,
            verifications: claim.verifications,
            seen_tree: claim.seen_tree,
            look,
        }
    }
}

/// What one gate said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateResult {
    pub gate: String,
    pub passed: bool,
    /// The end of what it printed.
    pub output: String,
}

/// A gate that did not pass, and a number for the files that it looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailedGate {
    pub gate: String,
    pub tree: String,
}

/// What the gates of a claim said, and about which files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    pub results: Vec<GateResult>,
    /// A number for all files before the gates ran, and after.
    pub tree_before: Option<String>,
    pub tree_after: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_on_record_says_what_its_check_waits_for() {
        let row = |is_checking: bool, look: Option<u64>, verifications: &[&str]| {
            let mut row = serde_json::json!({
                "text": "done", "is_concrete": true, "at": 7, "is_checking": is_checking,
                "gates": [], "tree": "x", "rechecks": 1, "verifications": verifications,
                "seen_tree": null,
            });
            if let Some(look) = look {
                row["look"] = look.into();
            }
            row
        };
        let forms = [
            (row(false, None, &[]), ClaimProgress::Idle),
            (row(true, None, &["t4"]), ClaimProgress::Gates),
            (row(false, None, &["t4"]), ClaimProgress::Verification),
            (row(false, Some(3), &["t4"]), ClaimProgress::Ownership { scan: 3 }),
        ];
        for (row, progress) in forms {
            let claim: Claim = serde_json::from_value(row.clone()).unwrap();
            assert_eq!(claim.progress, progress);
            assert_eq!(serde_json::to_value(claim).unwrap(), row);
        }
    }

    #[test]
    fn an_artifact_of_an_older_record_is_a_path() {
        let old: Artifact = serde_json::from_str("\"out/a.zip\"").unwrap();
        assert_eq!((old.path.as_str(), old.hash.as_deref()), ("out/a.zip", None));
        let text = serde_json::to_string(&old).unwrap();
        assert_eq!(serde_json::from_str::<Artifact>(&text).unwrap(), old);
    }
}
