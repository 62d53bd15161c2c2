//! The way to the user's terminal, which never makes the program wait.
//!
//! A terminal that does not read (a stopped multiplexer, a dead line) blocks whoever writes to it.
//! So the terminal is opened once more, for ourselves alone: standard output is shared with the
//! shell that started us, and must not be changed under it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

/// How long a terminal may take to make room for the last words, before they are given up.
const LAST_WORDS_PATIENCE: Duration = Duration::from_millis(500);

/// What is written to the terminal, and what of it still waits.
#[derive(Debug)]
pub(crate) struct TerminalOutput {
    terminal: OwnedFd,
    unsent: Vec<u8>,
}

impl TerminalOutput {
    /// Opens the terminal for writing.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self { terminal: open_terminal()?, unsent: Vec::new() })
    }

    /// Returns what to wait for.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.terminal.as_fd()
    }

    /// Says whether the terminal has yet to take something. As long as it has, nothing new is drawn:
    /// what changes meanwhile becomes one frame.
    pub(crate) fn is_busy(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Writes as much as the terminal takes, and keeps the rest for later.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_busy() {
            self.unsent.extend_from_slice(bytes);
            return self.flush();
        }
        let written = write_some(self.descriptor(), bytes)?;
        self.unsent.extend_from_slice(&bytes[written..]);
        Ok(())
    }

    /// Writes what waits, as far as the terminal takes it now.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let written = write_some(self.terminal.as_fd(), &self.unsent)?;
        self.unsent.drain(..written);
        Ok(())
    }
}

/// Writes something that is the last of us, and says whether the terminal took it in time.
pub(super) fn say_last(bytes: &[u8]) -> io::Result<()> {
    let terminal = open_terminal()?;
    let mut written = 0;
    while written < bytes.len() {
        written += write_some(terminal.as_fd(), &bytes[written..])?;
        let mut wait = [PollFd::new(&terminal, PollFlags::OUT)];
        let patience = Timespec::try_from(LAST_WORDS_PATIENCE).ok();
        if written < bytes.len() && poll(&mut wait, patience.as_ref())? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}

/// Writes as much as is taken without waiting, and returns how much that was.
fn write_some(terminal: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match rustix::io::write(terminal, &bytes[written..]) {
            Ok(count) => written += count,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(written)
}

/// Opens the terminal behind standard output so that writing to it does not wait.
fn open_terminal() -> io::Result<OwnedFd> {
    let stdout = io::stdout();
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let named = rustix::termios::ttyname(&stdout, Vec::new());
    if let Ok(opened) = named.and_then(|name| open(name, flags, Mode::empty())) {
        return Ok(opened);
    }
    // Whoever became another user may no longer open the terminal by its name.
    let is_ours = rustix::termios::tcgetsid(&stdout) == rustix::process::getsid(None);
    if let Some(Ok(opened)) = is_ours.then(|| open("/dev/tty", flags, Mode::empty())) {
        return Ok(opened);
    }
    // Better a terminal that can make us wait than none.
    stdout.as_fd().try_clone_to_owned()
}
