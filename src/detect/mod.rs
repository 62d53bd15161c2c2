//! Reads screens: what an agent is doing, and what it reports.
//!
//! Sources are ranked, and each state tells its source, rule and line. What an agent does comes
//! from its own signals or from the rules of its manifest over the live bottom of the screen;
//! what it reports comes from its own messages, each once, however often they are drawn. Nothing
//! here reads a clock: time is an argument, and no work is done for a screen that did not change.

mod align;
mod asked;
mod asks;
mod awaited;
mod blocks;
mod choices;
mod claims;
mod compaction;
mod composer;
mod detector;
mod dialog;
mod excerpt;
mod explain;
mod failure;
mod finding;
mod fit;
mod general;
mod general_blocks;
mod hook;
mod ledger;
mod look;
mod marks;
mod message;
mod meter;
mod motion;
mod reported_turn;
mod reporter;
mod reset;
mod rules;
mod schedule;
mod segment;
mod sight;
mod signals;
mod state;
mod stream;
mod telling;
mod told_command;
mod transcript;
mod turn;
mod view;
mod words;

pub use detector::{Detector, Options};
pub use dialog::Dialog;
pub use explain::{Explanation, Testimony};
pub use finding::{Finding, Shown};
pub use hook::{HookNews, HookRules};
pub use reporter::{ReporterCall, ReporterNews, Told};
pub use reset::reset_moment;
pub use rules::{RuleError, Rules};
pub use sight::{Input, Sight};
pub use stream::{EventReader, StreamNews};
pub use turn::Memory;
