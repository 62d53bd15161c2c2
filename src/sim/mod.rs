//! The scripted agent that demos, tests and benchmarks use.
//!
//! A script is read into data (`script`), a `Player` steps through it with time as an argument,
//! and a `Ui` says what is on the terminal. Only `outside`, `terminal`, `plain` and `clock` touch
//! the world. `docs/sim.md` describes the language.

mod parse;
mod script;
mod steps;
mod words;

pub use script::Script;
pub use words::{Fault, ScriptError};
