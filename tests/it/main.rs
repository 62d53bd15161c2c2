//! One binary for all integration tests, so the crate links once.
#![expect(clippy::print_stdout, reason = "what was measured is part of the result")]
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod architecture;
mod cli;
mod cli_hostile;
mod config;
mod crash;
mod door;
mod floods;
mod frames;
mod leaks;
mod name_once;
mod neighbours;
mod one_hub;
mod record;
mod secrets;
mod stalled;
mod stop;
mod support;
mod trusted;
