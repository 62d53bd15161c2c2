//! The user's own terminal: its modes, what is typed into it, and what is painted on it.

mod abilities;
mod canvas;
mod keyboard;
mod modes;
mod output;
mod parser;
mod pen;
mod signals;

pub(super) use abilities::{Abilities, is_fit, link_modifier, shape_modifier};
pub(super) use canvas::TerminalCanvas;
pub(super) use modes::{TerminalModes, is_terminal, window_size};
pub(super) use output::TerminalOutput;
pub(super) use parser::{Parser, TerminalInput};
pub(super) use signals::{TerminalSignal, TerminalSignals};
