//! Saves screens to disk, so that a hub that was killed shows again what its panes showed.
//!
//! A keeper holds the last mebibyte of output. A checkpoint holds the screen and history as they
//! were at some offset, as terminal output that rebuilds them. Together they give back the pane: the
//! checkpoint first, then what was printed since. After the agent is gone the checkpoint stays, and
//! its last words can still be read.

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::pane::{LastCheckpoint, Pane};
use super::state::Panes;
use crate::hub::clock::Clock;
use crate::model::{AgentName, Moment, RunId, Size};
use crate::screen::HistoryLimit;

/// Half of what a keeper holds: the output since the last checkpoint is then always to be had.
const CHECKPOINT_BYTES: u64 = 512 * 1024;

/// Under flood, the pauses between checkpoints are so many times as long as the last one took, for
/// each pane: all of them together take two hundredths of the hub's time.
const CHECKPOINT_SHARE: u32 = 50;
/// In any case they are within these: a disk is not written to all the time, and no gap is longer.
const CHECKPOINT_PAUSE_LEAST: Duration = Duration::from_millis(500);
const CHECKPOINT_PAUSE_MOST: Duration = Duration::from_secs(5);

/// The first line of the file; the rest is terminal output.
#[derive(Serialize, Deserialize)]
struct Header {
    run: RunId,
    offset: u64,
    size: Size,
    /// How many lines had ever scrolled off.
    committed: u64,
}

impl Pane {
    /// Says whether this pane, one of so many, is to be saved although it goes on.
    fn is_checkpoint_due(&self, panes: usize, now: Moment) -> bool {
        let LastCheckpoint { offset, at, cost } = self.checkpoint;
        let share = CHECKPOINT_SHARE.saturating_mul(u32::try_from(panes).unwrap_or(u32::MAX));
        let pause = cost.saturating_mul(share);
        let pause = pause.clamp(CHECKPOINT_PAUSE_LEAST, CHECKPOINT_PAUSE_MOST);
        self.offset.saturating_sub(offset) >= CHECKPOINT_BYTES && now.since(at) >= pause
    }

    /// Rebuilds a pane from its checkpoint, if there is one for this run.
    fn restore(bytes: &[u8], run: RunId, limit: HistoryLimit, now: Moment) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let header: Header = serde_json::from_slice(&bytes[..end]).ok()?;
        if header.run != run {
            return None;
        }
        let mut pane = Self::new(run, header.size, limit);
        pane.screen.feed(&bytes[end + 1..], now);
        pane.screen.set_committed(header.committed);
        pane.offset = header.offset;
        let cost = Duration::ZERO;
        pane.checkpoint = LastCheckpoint { offset: header.offset, at: now, cost };
        Some(pane)
    }

    /// Returns what a checkpoint's file holds.
    fn compose_checkpoint(&self) -> io::Result<Vec<u8>> {
        let (size, committed) = (self.screen.size(), self.screen.committed());
        let header = Header { run: self.run, offset: self.offset, size, committed };
        let mut bytes = serde_json::to_vec(&header)?;
        bytes.push(b'\n');
        bytes.append(&mut self.screen.restore_stream());
        Ok(bytes)
    }
}

impl Panes {
    /// Saves a pane that goes on, if it is time to, beside the hub's own work.
    pub(in crate::hub) fn save_screen_if_due(&mut self, agent: &AgentName, clock: &Clock) {
        let (panes, now) = (self.by_agent.len(), clock.now());
        let is_due = |pane: &Pane| pane.is_checkpoint_due(panes, now);
        if self.files.is_free() && self.by_agent.get(agent).is_some_and(is_due) {
            self.save_screen(agent, clock);
        }
    }

    /// Saves a pane before something ends. It is on the disk before that end is on record.
    pub(in crate::hub) fn save_screen(&mut self, agent: &AgentName, clock: &Clock) {
        let (now, begun) = (clock.now(), clock.age());
        let Some(pane) = self.by_agent.get_mut(agent) else { return };
        if pane.offset == pane.checkpoint.offset {
            return;
        }
        let bytes = pane.compose_checkpoint();
        let cost = clock.age().saturating_sub(begun);
        pane.checkpoint = LastCheckpoint { offset: pane.offset, at: now, cost };
        match bytes {
            Ok(bytes) => self.files.replace(self.paths.agent_screen(agent), bytes),
            Err(error) => tracing::warn!(%agent, %error, "the screen could not be saved"),
        }
    }

    /// Returns the pane of a run as an earlier hub left it, if one did.
    pub(in crate::hub) fn saved(&self, agent: &AgentName, run: RunId, now: Moment) -> Option<Pane> {
        let bytes = self.files.read(&self.paths.agent_screen(agent)).ok()?;
        Pane::restore(&bytes, run, self.history_limit, now)
    }
}
