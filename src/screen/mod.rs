//! The emulator behind a guarded door: output in, rows, answers and signals out.
//!
//! Only this room names `vt100`. A scanner in front cuts the stream into text and sequences;
//! what the emulator lacks is rewritten into what it has, what asks is answered, what reports
//! becomes a signal, and what is too large is dropped. Behind it a compact history keeps the
//! rows that left the screen.
//!
//! The emulator's cells hold text and one number. The number names a look (colours, attributes,
//! underline, link) in a table of ours, and a picture made of several characters is one stand-in
//! character, so that little is lost to what the emulator cannot hold. What is lost: more than
//! some nine combining marks on one letter.
//!
//! A panic inside the emulator is caught and costs at most a portion of the output (one KiB, or
//! sixteen of nothing but plain text); whoever runs this sets a panic hook if nothing shall be
//! printed then.

mod budget;
mod canvas;
mod changed;
mod cluster;
mod command;
mod csi;
mod draw;
mod emulator;
mod fill;
mod flow;
mod history;
mod keys;
mod line;
mod links;
mod look;
mod mode;
mod packed_row;
mod palette;
mod pointer;
mod print;
mod rebuild;
mod reflow;
mod report;
mod restore;
mod scanner;
#[expect(clippy::module_inception, reason = "a file is named after its type")]
mod screen;
mod scrolled;
mod sequence;
mod sgr;
mod signal;
mod tabs;
mod terminal;

pub use history::HistoryLimit;
pub use keys::key_bytes;
pub use mode::{Modes, MouseEncoding, MouseMode};
pub use palette::{Palette, Rgb};
pub use pointer::{focus_bytes, harmless, mouse_bytes, paste_bytes};
pub use screen::{Cursor, Fed, Screen};
pub use signal::{Progress, Signal};
pub use terminal::CursorShape;

#[cfg(test)]
mod probes;
