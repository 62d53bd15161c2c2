//! What the detector has to say.

use crate::model::{AgentState, Moment, Source};
use crate::protocol::Report;

/// What an agent does, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub state: AgentState,
    pub source: Source,
    /// Such as `claude.spinner`.
    pub rule: String,
    /// The row, title or report that told it.
    pub line: String,
    /// When a limit ends, where the screen tells it.
    pub reset: Option<String>,
    pub since: Moment,
}

/// Something that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    State(Shown),
    /// The agent reported, and it counts.
    Report(Report),
    /// A report that was told had more words: its screen was still being drawn.
    Amended(Report),
    /// The turn that a submitted prompt asked for is over, and was too short to be seen at work.
    TurnEnded,
    /// The cli has compacted the conversation.
    Compacted,
    /// The agent, or what it showed, named the tag of another attempt: it counts for nothing.
    Foreign(Report),
}

/// Of several states found at once only the last was ever shown.
pub(super) fn merge_states(findings: &mut Vec<Finding>) {
    let last = findings.iter().rposition(|finding| matches!(finding, Finding::State(_)));
    let mut at = 0;
    findings.retain(|finding| {
        let is_kept = !matches!(finding, Finding::State(_)) || Some(at) == last;
        at += 1;
        is_kept
    });
}
