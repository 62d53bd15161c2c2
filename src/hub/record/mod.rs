//! Puts decisions on record before they are carried out, and writes files beside the hub.

pub(super) mod commit_queue;
pub(super) mod file_writer;
pub(super) mod opening;
pub(super) mod recorder;
pub(super) mod recording_file;
pub(super) mod recordings;
pub(super) mod state;
pub(super) mod undo;
