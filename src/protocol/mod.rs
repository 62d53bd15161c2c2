//! Reads and writes the protocol that agents speak: grammar, evidence, brief.
//!
//! A report is a line such as `STATUS(k7f3): DONE — what + evidence`. What is read here is text
//! alone; whether a line is an agent's own, and new, is for whoever reads the screen to say.

mod brief;
mod declared;
mod evidence;
mod grammar;
mod quote;
mod read;
mod reported;
mod skill;

pub use brief::brief;
pub use declared::EmptyReport;
pub use evidence::{Evidence, evidence};
pub use grammar::{ends_contract, parse, starts_report};
pub use quote::quote;
pub use read::{first_line_like_a_report, is_code, read, shown};
pub use reported::{Report, ReportKind, Status};
pub use skill::skill;
