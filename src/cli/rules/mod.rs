//! Tries out and shows the rules by which a cli's screen is read.

mod read_cast;
mod show;
mod suggest;
mod test;

pub(super) use show::show;
pub(super) use suggest::suggest;
pub(super) use test::test;
