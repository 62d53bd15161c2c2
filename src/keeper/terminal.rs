//! Holds the pseudo-terminal and the agent on it; the only file that names `portable_pty`.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use filedescriptor::FileDescriptor;
use portable_pty::{CommandBuilder, PtyPair, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::termios::tcgetpgrp;

use super::process;
use crate::model::{Launch, ProcessId, Size};

/// A terminal with a program on it.
pub(super) struct Terminal {
    /// The far side is kept open, so that the terminal never hangs up while the agent lives, even
    /// if it closes and opens it again.
    pair: PtyPair,
    near: File,
    process: ProcessId,
}

/// What came of reading.
pub(super) enum Reading {
    Bytes(usize),
    /// Nothing now.
    Empty,
    /// Nothing ever again.
    Over,
}

impl Terminal {
    /// Starts the command; an error is the text that a person will read.
    pub(super) fn spawn(launch: &Launch, argv: &[String]) -> Result<Self, String> {
        let text = |error: &dyn std::fmt::Display| format!("The agent did not start: {error}");
        let size = pty_size(launch.size.clamped());
        let pair = native_pty_system().openpty(size).map_err(|error| text(&error))?;
        let raw = pair.master.as_raw_fd().ok_or("The terminal has no descriptor")?;
        let mut near = FileDescriptor::dup(&raw).map_err(|error| text(&error))?;
        near.set_non_blocking(true).map_err(|error| text(&error))?;
        let near = near.as_file().map_err(|error| text(&error))?;

        let mut command = CommandBuilder::from_argv(marked(argv));
        // A `SHELL` is added by the crate where the environment has none.
        command.env_clear();
        launch.environment.0.iter().for_each(|(name, value)| command.env(name, value));
        command.cwd(".");
        // The child is reaped with all others, so this handle of it is not needed.
        let child = within(&launch.cwd, || process::exposed(|| pair.slave.spawn_command(command)))?;
        let pid = child.map_err(|error| text(&error))?.process_id();
        let process = pid.and_then(process::process_id).ok_or("The agent has no process")?;
        Ok(Self { pair, near, process })
    }

    pub(super) fn process(&self) -> ProcessId {
        self.process
    }

    /// Reads what is there, without waiting.
    pub(super) fn read(&self, room: &mut [u8]) -> Reading {
        loop {
            match (&self.near).read(room) {
                Ok(0) => return Reading::Over,
                Ok(count) => return Reading::Bytes(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Reading::Empty,
                Err(_) => return Reading::Over,
            }
        }
    }

    /// Types as much as the terminal takes, without waiting, and returns how much that was.
    pub(super) fn write(&self, bytes: &[u8]) -> usize {
        match (&self.near).write(bytes) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            // Nobody will ever read it.
            Err(_) => bytes.len(),
        }
    }

    pub(super) fn resize(&self, size: Size) {
        if let Err(error) = self.pair.master.resize(pty_size(size)) {
            tracing::warn!(%error, "the terminal keeps its size");
        }
    }

    /// Signals whatever stands in the foreground, as a key would.
    pub(super) fn signal_foreground(&self, signal: i32) {
        let group = tcgetpgrp(&self.near).ok().filter(|group| *group != Pid::INIT);
        if let (Some(group), Some(signal)) = (group, Signal::from_named_raw(signal))
            && let Err(error) = kill_process_group(group, signal)
        {
            tracing::debug!(%error, "nobody is in the foreground");
        }
    }
}

impl AsFd for Terminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.near.as_fd()
    }
}

/// Does something in a directory, and nowhere else: the path was written down with its links resolved,
/// and one that has been put there since leads elsewhere.
fn within<T>(directory: &Path, act: impl FnOnce() -> T) -> Result<T, String> {
    let told =
        |error: io::Error| format!("The agent did not start: {}: {error}", directory.display());
    env::set_current_dir(directory).map_err(told)?;
    let is_there = env::current_dir().is_ok_and(|here| here == directory);
    let done = is_there.then(act);
    // Who stays in a directory keeps others from unmounting it.
    env::set_current_dir("/").map_err(told)?;
    done.ok_or_else(|| {
        format!("The agent did not start: a link leads from {} elsewhere", directory.display())
    })
}

/// Returns the command. A path below the directory is marked as such, as the crate wants it.
fn marked(words: &[String]) -> Vec<OsString> {
    let mut argv: Vec<OsString> = words.iter().map(Into::into).collect();
    if let Some(name) = words.first().filter(|name| name.contains('/'))
        && !name.starts_with(['/', '.'])
    {
        argv[0] = format!("./{name}").into();
    }
    argv
}

fn pty_size(size: Size) -> PtySize {
    PtySize { rows: size.rows, cols: size.cols, pixel_width: 0, pixel_height: 0 }
}
