//! Runs a team of coding agents side by side, each in its own pseudo-terminal.
//!
//! The rooms, in dependency order: a room uses only rooms above it, and
//! `tests/it/architecture.rs` holds the exact table. `docs/architecture.md` tells
//! what lives where and how the processes work together.

pub mod model;

pub mod sim;

pub mod api;
pub mod approval;
pub mod engine;
pub mod notify;
pub mod protocol;
pub mod screen;
pub mod template;

pub mod history;
pub mod playbook;

pub mod config;
pub mod detect;
pub mod git;
pub mod keeper;
pub mod recording;
pub mod store;

pub mod deliver;
pub mod workspace;

pub mod runner;

pub mod hub;

pub mod client;

pub mod mcp;

pub mod tui;

pub mod cli;
