//! The scripted agent that demos, tests and benchmarks use.
//!
//! A script is read into data (`script`), a `Player` steps through it with time as an argument,
//! and a `Ui` says what is on the terminal. Only `run`, `facts`, `outside`, `terminal`, `plain` and
//! `clock` touch the world. `docs/sim.md` describes the language.

mod block;
mod clock;
mod demo;
mod dialog;
mod editor;
mod facts;
mod flood;
mod input;
mod line;
mod names;
mod order;
mod outside;
mod painter;
mod parse;
mod plain;
mod play;
mod player;
mod random;
mod report;
mod run;
mod script;
mod steps;
mod terminal;
mod turn;
mod ui;
mod words;
mod wrap;

pub use demo::DEMO;
pub use run::{SimError, run};
pub use script::Script;
pub use words::{Fault, ScriptError};
