//! The user's own terminal: its modes, what is typed into it, and what is painted on it.

mod canvas;
mod keyboard;
mod modes;
mod output;
mod parser;
mod pen;
mod signals;

pub(super) use canvas::Canvas;
pub(super) use modes::{Modes, is_terminal, window_size};
pub(super) use output::Output;
pub(super) use parser::{Parser, Typed};
pub(super) use signals::{Signal, Signals};
