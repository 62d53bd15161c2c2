//! The player: a run of the past, moment by moment. It reads, and asks nothing of the hub.

mod draw;
mod run;
mod state;

pub use run::{PlayerOptions, play};
pub use state::Film;

#[cfg(test)]
mod tests;
