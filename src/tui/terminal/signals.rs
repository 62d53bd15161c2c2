//! Turns signals into something that can be waited for.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::low_level::{pipe, unregister};

/// What a signal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TerminalSignal {
    WindowChanged,
    /// We were stopped and go on; the terminal's modes may be lost.
    Resumed,
    /// The key for it was pressed while the terminal was not ours alone.
    Interrupted,
    End,
}

const WATCHED: [(i32, TerminalSignal); 5] = [
    (SIGWINCH, TerminalSignal::WindowChanged),
    (SIGCONT, TerminalSignal::Resumed),
    (SIGTERM, TerminalSignal::End),
    (SIGHUP, TerminalSignal::End),
    (SIGINT, TerminalSignal::Interrupted),
];

/// The signals that this process listens to while it lives.
#[derive(Debug)]
pub(crate) struct TerminalSignals {
    /// One for each kind of news, in the order of `KINDS`.
    pipes: [UnixStream; 4],
    registered: Vec<signal_hook::SigId>,
}

const KINDS: [TerminalSignal; 4] = [
    TerminalSignal::WindowChanged,
    TerminalSignal::Resumed,
    TerminalSignal::Interrupted,
    TerminalSignal::End,
];

impl TerminalSignals {
    /// Begins to listen.
    pub(crate) fn listen() -> io::Result<Self> {
        let mut registered = Vec::new();
        let mut pipe_for = |kind: TerminalSignal| {
            let (ours, theirs) = UnixStream::pair()?;
            ours.set_nonblocking(true)?;
            for (number, _) in WATCHED.iter().filter(|(_, its)| *its == kind) {
                registered.push(pipe::register(*number, theirs.try_clone()?)?);
            }
            Ok::<_, io::Error>(ours)
        };
        let [window, resumed, interrupted, end] = KINDS;
        let pipes = [pipe_for(window)?, pipe_for(resumed)?, pipe_for(interrupted)?, pipe_for(end)?];
        Ok(Self { pipes, registered })
    }

    /// Returns what to wait for.
    pub(crate) fn descriptors(&self) -> [BorrowedFd<'_>; 4] {
        self.pipes.each_ref().map(AsFd::as_fd)
    }

    /// Takes no note of an interrupt that was meant for another program.
    pub(crate) fn forget_interrupt(&mut self) {
        let mut buffer = [0; 64];
        // Nothing to read is as good.
        drop(self.pipes[2].read(&mut buffer));
    }

    /// Returns what has arrived since the last time.
    pub(crate) fn take(&mut self) -> Vec<TerminalSignal> {
        let mut buffer = [0; 64];
        let mut arrived = Vec::new();
        for (pipe, kind) in self.pipes.iter_mut().zip(KINDS) {
            if matches!(pipe.read(&mut buffer), Ok(count) if count > 0) {
                arrived.push(kind);
            }
        }
        arrived
    }
}

impl Drop for TerminalSignals {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            unregister(id);
        }
    }
}
