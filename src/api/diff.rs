//! How the differences in an agent's workspace are told: first the files, then hunks by file.

use serde::{Deserialize, Serialize};

use crate::model::{Against, DiffFile, FileHunks};

/// The files of a workspace that differ from a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiffStatus {
    pub agent: String,
    /// The top of the repository.
    pub directory: String,
    pub against: Against,
    /// What that is; nothing, where there is no commit yet.
    pub commit: Option<String>,
    /// What it can be compared with.
    pub choices: Vec<Against>,
    pub files: Vec<DiffFile>,
    /// How many more files differ.
    pub left_out: usize,
}

/// The hunks of some files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HunkStatus {
    pub commit: Option<String>,
    /// Those files that (still) differ.
    pub files: Vec<FileHunks>,
    /// Files that did not fit into this answer; they can be asked for.
    pub rest: Vec<String>,
}
