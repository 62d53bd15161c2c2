//! The nouns: plain data that every other room may name.
//!
//! Nothing here acts, and nothing here reads the outside world. A word has one meaning in the
//! whole program; `docs/architecture.md` lists them.

mod agent;
mod command;
mod deceptive;
mod environment;
mod exit;
mod ids;
mod key;
mod launch;
mod manifest;
mod member;
mod moment;
mod mouse;
mod process;
mod row;
mod size;

pub use agent::{AgentState, Role, Source};
pub use command::{Command, Done, Failure, Refusal};
pub use deceptive::is_deceptive;
pub use environment::Environment;
pub use exit::{Ending, Exit};
pub use ids::{AgentName, InvalidName, RequestId, RunId, SessionName};
pub use key::{Key, KeyCode, Modifiers, UnknownKey};
pub use launch::Launch;
pub use manifest::{
    BlockKind, BlockRule, DialogKind, Keys, Manifest, Region, Rule, ScreenShape, Sessions, Submit,
    TitleRule,
};
pub use member::{Added, Member};
pub use moment::Moment;
pub use mouse::{Mouse, MouseButton, MouseKind};
pub use process::{ProcessId, ProcessInfo};
pub use row::{Color, Row, Run, Style};
pub use size::Size;
