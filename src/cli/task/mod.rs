//! `wheelhouse task …`: work that lives in the hub's record.

mod act;
mod add;
mod board;
mod list;
mod print;
mod show;
mod verb;
mod wait;

pub(super) use act::{allow, cancel, claim, consent, meet, retry};
pub(super) use add::add;
pub(super) use board::board;
pub(super) use list::list;
pub(super) use print::print_tasks;
pub(super) use show::show;
pub(super) use verb::{AddArgs, TaskVerb};
pub(super) use wait::wait;
