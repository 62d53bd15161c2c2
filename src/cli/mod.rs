//! The command line: one file per subcommand. Each asks the hub and prints what it answers.
//!
//! Decisions are not made here. Results go to standard output, as text or with `--json` as JSON;
//! errors go to standard error, with a hint that can be typed.

mod agent;
mod all;
mod api;
mod args;
mod attach;
mod attention;
mod clock;
mod completions;
pub mod config;
mod context;
mod contract;
mod demo;
mod dispatch;
mod doctor;
mod down;
mod events;
mod failure;
mod history;
mod hook;
mod hub;
mod keeper;
mod lock;
mod man;
mod mcp;
mod offline;
mod output;
mod overview;
mod past;
mod playbook;
mod recorded;
mod replay;
mod report;
mod rules;
mod run;
mod runner;
mod search;
mod sim;
mod skill;
mod status;
mod table;
mod task;
mod template;
mod up;
mod wait;
mod when;
mod whoami;
mod workspace;

pub use run::main;
