//! One binary for all integration tests, so the crate links once.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod acted;
mod architecture;
mod config;
mod detection;
mod dialogs;
mod recordings;
mod simulation;
