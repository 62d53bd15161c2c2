//! One binary for all integration tests, so the crate links once.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod architecture;
mod config;
mod crash;
mod detection;
mod fake_hub;
mod keeper_cost;
mod keeper_death;
mod keeper_life;
mod keeper_revive;
mod keeper_stop;
mod keeper_stream;
mod one_hub;
mod record;
mod recordings;
mod sim;
mod simulation;
mod stop;
mod support;
mod terminal;
mod tui;
mod tui_cost;
