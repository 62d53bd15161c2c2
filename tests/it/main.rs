//! One binary for all integration tests, so the crate links once.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod architecture;
mod config;
mod detection;
mod recordings;
mod simulation;
