//! Files that were changed by others than their owner.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{AgentName, Moment, TaskId};

/// A file that is another than it was; a number stands for its content, nothing for no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the workspace.
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// What the same agents did to files of one owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trespass {
    /// The workspace that it happened in.
    pub root: PathBuf,
    pub owner: AgentName,
    /// Everyone who worked when the files changed; with several, nobody can tell which of them it was.
    pub suspects: Vec<AgentName>,
    pub files: BTreeMap<String, Touched>,
    pub since: Moment,
}

/// One file of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// The file as it was before.
    pub before: Option<String>,
    /// A person said that it may stay as it is.
    #[serde(default)]
    pub is_allowed: bool,
    /// What the suspects were at; a person's word holds for these tasks.
    #[serde(default)]
    pub tasks: Vec<TaskId>,
}

impl Trespass {
    /// Returns the name that it has in the record.
    pub fn key(&self) -> String {
        let root = self.root.display();
        format!("{} → {} in {root}", names(&self.suspects, "+"), self.owner)
    }

    /// Returns the files that nobody has allowed.
    pub fn open(&self) -> impl Iterator<Item = &str> {
        let open = self.files.iter().filter(|(_, touched)| !touched.is_allowed);
        open.map(|(path, _)| path.as_str())
    }
}

/// In a line: how many files, the first of them, whose they are.
impl fmt::Display for Trespass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut open = self.open();
        let first = open.next().unwrap_or_default();
        let more = match open.count() {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        write!(f, "{first}{more}, which {} owns, changed while ", self.owner)?;
        match self.suspects.as_slice() {
            [only] => write!(f, "{only} worked"),
            several => write!(f, "{} worked: one of them did it", names(several, " and ")),
        }
    }
}

fn names(agents: &[AgentName], between: &str) -> String {
    agents.iter().map(AgentName::as_str).collect::<Vec<_>>().join(between)
}
