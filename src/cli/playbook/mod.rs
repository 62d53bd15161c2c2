//! `wheelhouse run PLAYBOOK`: what a run would be.

mod describe;
mod dry_run;

pub(super) use dry_run::dry_run;
