//! One binary for all integration tests, so the crate links once.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod architecture;
mod config;
mod crash;
mod one_hub;
mod record;
mod stop;
mod support;
