//! One binary for all integration tests, so the crate links once.
#![expect(clippy::print_stdout, reason = "what was measured is part of the result")]
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod acted;
mod answering;
mod architecture;
mod cli;
mod cli_hostile;
mod config;
mod crash;
mod delivery;
mod delivery_recordings;
mod demo;
mod detection;
mod dialogs;
mod door;
mod fake_hub;
mod floods;
mod frames;
mod keeper_cost;
mod keeper_death;
mod keeper_life;
mod keeper_revive;
mod keeper_stop;
mod keeper_stream;
mod leaks;
mod name_once;
mod neighbours;
mod one_hub;
mod played;
mod played_draw;
mod real_agents;
mod record;
mod recordings;
mod secrets;
mod sim;
mod simulation;
mod stalled;
mod stop;
mod support;
mod terminal;
mod trusted;
mod tui;
mod tui_cost;
