//! What differs between a commit and the files of a workspace: files, their hunks, and lines.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a workspace is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The commit that the agent began at.
    #[default]
    Base,
    /// The last commit: what has not been committed yet.
    Head,
    /// Where its branch left the one that work is brought back to: what merging it would bring.
    Integration,
    /// A commit that somebody names.
    Rev(String),
}

impl FromStr for Against {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "base" => Self::Base,
            "head" | "HEAD" => Self::Head,
            "integration" => Self::Integration,
            other => Self::Rev(other.to_owned()),
        })
    }
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "base",
            Self::Head => "HEAD",
            Self::Integration => "integration",
            Self::Rev(name) => name,
        })
    }
}

/// One file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiffFile {
    /// Relative to the top of the repository. Bytes that are no text are replaced.
    pub path: String,
    /// What it was called before, if that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    pub change: DiffChange,
    /// What kind of file it was, and whether it could be executed, in git's numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_mode: Option<String>,
    /// Lines that came and went. Nothing, where there are no lines: binary, or too large.
    pub added: Option<u64>,
    pub removed: Option<u64>,
    /// Git does not know it yet.
    #[serde(default)]
    pub is_untracked: bool,
    /// What else is to be said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Is another one as soon as the file may be.
    pub stamp: String,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DiffChange {
    Added,
    Deleted,
    Modified,
    Renamed,
    /// It was a file and is a link now, or the like.
    Retyped,
    /// It waits for a merge to be finished.
    Unmerged,
}

impl DiffChange {
    /// Returns git's letter for it.
    pub fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Deleted => 'D',
            Self::Modified => 'M',
            Self::Renamed => 'R',
            Self::Retyped => 'T',
            Self::Unmerged => 'U',
        }
    }
}

/// The hunks of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileHunks {
    pub path: String,
    #[serde(default)]
    pub is_binary: bool,
    /// There is more than is told here.
    #[serde(default)]
    pub is_cut: bool,
    pub hunks: Vec<Hunk>,
}

/// Lines that changed, and those around them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hunk {
    pub old_start: u64,
    pub old_count: u64,
    pub new_start: u64,
    pub new_count: u64,
    /// The function or section that it lies in, as far as git can tell.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub heading: String,
    pub lines: Vec<DiffLine>,
}

impl fmt::Display for Hunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { old_start, old_count, new_start, new_count, .. } = self;
        write!(f, "@@ -{old_start},{old_count} +{new_start},{new_count} @@")?;
        if self.heading.is_empty() { Ok(()) } else { write!(f, " {}", self.heading) }
    }
}

/// One line of a hunk. A line that stays has both numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiffLine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<u64>,
    /// Without its end; a carriage return before it is kept. Bytes that are no text are replaced.
    pub text: String,
    /// The line is longer.
    #[serde(default, skip_serializing_if = "is_no")]
    pub is_cut: bool,
    /// Its file ends here, in the middle of the line.
    #[serde(default, skip_serializing_if = "is_no")]
    pub lacks_newline: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_no(value: &bool) -> bool {
    !value
}

impl DiffLine {
    /// Returns the sign that stands before it in a patch.
    pub fn sign(&self) -> char {
        match (self.old, self.new) {
            (Some(_), None) => '-',
            (None, Some(_)) => '+',
            (Some(_), Some(_)) | (None, None) => ' ',
        }
    }
}
