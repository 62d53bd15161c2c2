//! Defines a report: what an agent said in the protocol.

use serde::{Deserialize, Serialize};

/// What an agent said about its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, schemars(rename = "ReportStatus"))]
pub enum Status {
    Done,
    Blocked,
    Error,
}

/// Which line of the protocol it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReportKind {
    Status(Status),
    Progress {
        step: u32,
        steps: u32,
    },
    Build {
        passed: bool,
    },
    /// Something in another agent's scope.
    Need,
    /// An interface that others will consume; the text's first line is its title.
    Contract,
    /// A file that the task hands on.
    Artifact,
}

/// One line of the protocol, or a contract with its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    pub kind: ReportKind,
    /// What follows the keyword and the value.
    pub text: String,
    /// The tag of the attempt that it names.
    pub tag: Option<String>,
    /// The words as they stood on the screen.
    pub raw: String,
}

impl Report {
    /// Says whether this is the same report with more words to it: the other was read before all of
    /// it was there.
    pub fn goes_on_from(&self, other: &Self) -> bool {
        let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let (whole, part) = (letters(&self.text), letters(&other.text));
        self.kind == other.kind && whole.len() > part.len() && whole.starts_with(&part)
    }
}

impl ReportKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Status(_) => "status",
            Self::Progress { .. } => "progress",
            Self::Build { .. } => "build",
            Self::Need => "need",
            Self::Contract => "contract",
            Self::Artifact => "artifact",
        }
    }

    /// Returns the value that scripts look at, such as `done`, `3/7` or `pass`.
    pub fn value(self) -> Option<String> {
        match self {
            Self::Status(Status::Done) => Some("done".into()),
            Self::Status(Status::Blocked) => Some("blocked".into()),
            Self::Status(Status::Error) => Some("error".into()),
            Self::Progress { step, steps } => Some(format!("{step}/{steps}")),
            Self::Build { passed: true } => Some("pass".into()),
            Self::Build { passed: false } => Some("fail".into()),
            Self::Need | Self::Contract | Self::Artifact => None,
        }
    }
}
