//! `wheelhouse run PLAYBOOK`: what a run would be, and the run itself.

mod describe;
mod dry_run;
mod follow;
mod perform;

pub(super) use dry_run::dry_run;
pub(super) use perform::{grant, offers, run};
