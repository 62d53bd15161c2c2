//! One line of `wheelhouse events --json`.

use serde::Serialize;
use serde_json::Value;

use crate::model::{Entry, Moment};

/// One thing that happened, as the feed tells it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FeedLine {
    /// Its number: each is higher than the one before, and no two things have the same. Go on after
    /// the last one seen with `--after`.
    pub id: u64,
    /// What was decided together has the same.
    pub batch: u64,
    /// In the form of RFC 3339.
    pub at: String,
    /// What kind of thing, as `subject.event`, such as `dispatch.accepted`.
    pub kind: String,
    pub agent: Option<String>,
    pub task: Option<String>,
    /// In words.
    pub text: String,
    /// More of it, by kind.
    pub data: Value,
}

impl FeedLine {
    /// Returns the line that tells an entry of the record.
    pub fn new(id: u64, batch: u64, at: Moment, entry: &Entry) -> Self {
        let Entry { kind, agent, task, text, data } = entry.clone();
        let agent = agent.map(|agent| agent.to_string());
        Self { id, batch, at: at.to_rfc3339(), kind, agent, task, text, data }
    }
}
