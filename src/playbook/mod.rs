//! Playbooks: whole runs as data, what is wrong with one, and what one would do.
//!
//! `config` reads the file and says where in it a finding stands; here is what a playbook means.
//! Nothing here starts anything: a plan is what a run would be, told beforehand.

mod artifacts;
mod check;
mod fill;
mod graph;
mod order;
mod ownership;
mod pattern;
mod people;
mod place;
mod plan;
mod prompts;
mod script;
mod shape;

pub use check::check;
pub use fill::fill_in;
pub use place::{Finding, Hint, Part, Place};
pub use plan::{Plan, PlannedAgent, PlannedTask};
pub use script::scripts;
pub use shape::{Agent, Artifact, Format, OnFailure, Playbook, Stage, SubTeam, Task, Who};
