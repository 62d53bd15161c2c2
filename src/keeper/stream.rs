//! Tracks what a hub still has to be sent: a position in the output, never a queue.

use super::frame::encode_output;
use super::ring::Ring;
use super::sizes::Sizes;
use super::{FromKeeper, PROTOCOL_VERSION, Welcome, process};
use crate::model::{Exit, ProcessId, ProcessInfo, Size};

/// Output per frame: enough to be cheap, little enough for other frames to get in between.
const OUTPUT_BYTES_MAX: u64 = 8 * 1024;

/// A reason may quote a path; it never fills a frame.
const REASON_CHARS_MAX: usize = 4096;

/// All that is known of an agent's run.
pub(super) struct Record {
    pub(super) ring: Ring,
    pub(super) sizes: Sizes,
    /// The largest offset that a reply to the terminal has answered.
    pub(super) answered: u64,
    /// All output before this offset was handed to hubs that are gone.
    pub(super) told: u64,
    pub(super) process: Option<ProcessId>,
    pub(super) exit: Option<Exit>,
    pub(super) failed: Option<String>,
    /// The tree is gone, and all of its output is in the ring.
    pub(super) is_over: bool,
    /// What a stop has come to, once it can be told.
    pub(super) stopped: Option<Vec<ProcessInfo>>,
}

impl Record {
    pub(super) fn fail(&mut self, reason: &str) {
        self.failed = Some(reason.chars().take(REASON_CHARS_MAX).collect());
        self.is_over = true;
    }
}

/// How far one hub has been told.
pub(super) struct Stream {
    /// Everything before this offset has been handed to the connection.
    pub(super) cursor: u64,
    pub(super) is_tree_due: bool,
    welcome: Option<Box<Welcome>>,
    size: Option<Size>,
    is_end_told: bool,
    stopped_told: Option<Vec<ProcessInfo>>,
}

impl Stream {
    /// Starts at an offset, or as near to it as what is kept allows; `who` gives the names.
    pub(super) fn new(from: u64, record: &Record, who: &Welcome) -> Self {
        let kept = record.ring.kept();
        let welcome = Welcome {
            version: PROTOCOL_VERSION,
            process: record.process,
            size: record.sizes.current(),
            kept: kept.clone(),
            answered: record.answered,
            told: Some(record.told),
            exit: record.exit,
            failed: record.failed.clone(),
            ..who.clone()
        };
        Self {
            cursor: from.clamp(kept.start, kept.end),
            is_tree_due: false,
            welcome: Some(Box::new(welcome)),
            size: None,
            is_end_told: false,
            stopped_told: None,
        }
    }

    /// Appends the next frame, if there is anything to tell.
    pub(super) fn next_frame(&mut self, record: &Record, out: &mut Vec<u8>) -> bool {
        if let Some(welcome) = self.welcome.take() {
            FromKeeper::Welcome(welcome).encode(out);
            return true;
        }
        let size = record.sizes.at(self.cursor);
        if self.size != Some(size) {
            self.size = Some(size);
            FromKeeper::Resized { offset: self.cursor, size }.encode(out);
            return true;
        }
        if self.is_tree_due {
            self.is_tree_due = false;
            FromKeeper::Tree(process::descendants()).encode(out);
            return true;
        }
        if self.cursor < record.ring.end() {
            let change = record.sizes.next_after(self.cursor).map_or(u64::MAX, |next| next.0);
            let until = record.ring.end().min(change).min(self.cursor + OUTPUT_BYTES_MAX);
            let bytes = record.ring.piece(self.cursor, until);
            encode_output(self.cursor, bytes, out);
            self.cursor += bytes.len() as u64;
            return true;
        }
        self.next_end(record, out)
    }

    fn next_end(&mut self, record: &Record, out: &mut Vec<u8>) -> bool {
        if let Some(survivors) = &record.stopped {
            let is_news = self.stopped_told.as_ref() != Some(survivors);
            if is_news {
                let survivors = survivors.clone();
                self.stopped_told = Some(survivors.clone());
                FromKeeper::Stopped { exit: record.exit, survivors }.encode(out);
            }
            return is_news;
        }
        if !record.is_over || self.is_end_told {
            return false;
        }
        self.is_end_told = true;
        match (&record.failed, record.exit) {
            (Some(reason), _) => FromKeeper::Failed { reason: reason.clone() }.encode(out),
            (None, exit) => {
                let exit = exit.unwrap_or(Exit::Unknown);
                FromKeeper::Exited { exit, offset: record.ring.end() }.encode(out);
            }
        }
        true
    }
}
