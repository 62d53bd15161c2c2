//! Summarizes the record: which runs there were, what each did, and how any moment looked.
//!
//! The caller reads the journal and hands over its entries; a [`RunHistory`] comes of them, and text,
//! Markdown, a page or JSON of that. Nothing here reads a file, a clock or a terminal. Agents' words are
//! made safe where they are written, never before: JSON has what was said.

mod details;
mod fit;
mod graph;
mod html;
mod markdown;
mod outline;
mod past_moment;
mod reader;
mod run_history;
mod run_summary;
mod svg;
mod text;
mod timeline;

pub use details::{
    AgentHistory, AttemptHistory, ClaimHistory, ContractHistory, HistoryEvent, StateSpan,
    TaskHistory, Time,
};
pub use fit::{clip, clock, span, width, wrap};
pub use html::html;
pub use markdown::markdown;
pub use past_moment::{PastAgent, PastMoment, PastScreen, moment_text};
pub use reader::HistoryReader;
pub use run_history::RunHistory;
pub use run_summary::{JournalItem, RunEnd, RunFinder, RunSummary};
pub use text::{TextStyle, list, text};

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod formats;
