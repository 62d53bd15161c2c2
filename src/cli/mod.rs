//! The room of the cli.

pub mod config;
