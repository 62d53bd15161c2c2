//! Takes the agent's lock, starts the reaper, and starts the hub again when the keeper asks.
//!
//! It stands above the two subreapers. Were the hub started below them, then its end would hand
//! the reapers of all other agents to one of them, as if they were part of that agent's tree.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::setsid;

use super::reap::reap;
use super::signals::Signals;
use super::{EXIT_BROKEN, EXIT_OK, KeeperArgs, KeeperError, Order, lock, sweep};
use crate::model::Exit;

/// Runs the reviver: reads the order, starts the reaper and waits for its end.
pub fn revive(args: &KeeperArgs) -> ExitCode {
    match serve(args) {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}

fn serve(args: &KeeperArgs) -> Result<ExitCode, KeeperError> {
    if let Err(error) = setsid() {
        tracing::debug!(%error, "already the leader of a session");
    }
    let (order, text) = Order::read(io::stdin().lock())?;
    let lock = lock::take(&order.lock)?;
    if let Some(fence) = &order.fence {
        fence.pass()?;
    }
    let signals = Signals::new().map_err(KeeperError::Watch)?;
    let (line, guard) = start_guard(args, &lock, &text)?;
    let marks = order.marks();
    let Order { revive, socket, .. } = order;
    drop(text);
    let exit = attend(&signals, line, guard, &revive).map_err(KeeperError::Watch)?;
    let code = match exit {
        Exit::Code(code) => u8::try_from(code).unwrap_or(EXIT_BROKEN),
        // Guard and keeper are both gone, and nobody else knows of the tree.
        Exit::Signal(_) | Exit::Unknown => {
            sweep(&marks);
            EXIT_BROKEN
        }
    };
    if code != EXIT_OK && lock::is_still_held(&lock) {
        tidy(&socket);
    }
    Ok(ExitCode::from(code))
}

/// Removes the socket of a keeper that was killed.
fn tidy(socket: &Path) {
    match fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, "a dead socket is left behind");
        }
        Ok(()) | Err(_) => {}
    }
}

/// Starts the reaper with the order on its standard input and the lock as its standard output.
///
/// These two are all that can be handed on; the input is a socket, on which the keeper later asks
/// for the hub. Both are inherited by the keeper and by nothing else.
fn start_guard(
    args: &KeeperArgs,
    lock: &File,
    order: &[u8],
) -> Result<(UnixStream, u32), KeeperError> {
    let failed = |source| KeeperError::Start { verb: "reaper", source };
    let (mut line, far_end) = UnixStream::pair().map_err(failed)?;
    let program = env::current_exe().map_err(failed)?;
    let mut command = args.command(&program, "reaper");
    command.stdin(OwnedFd::from(far_end));
    command.stdout(lock.try_clone().map_err(failed)?).stderr(Stdio::inherit());
    let guard = command.spawn().map_err(failed)?.id();
    // The copy of the far end in the command must go, or the line would never end.
    drop(command);
    if let Err(error) = line.write_all(order).and_then(|()| line.shutdown(Shutdown::Write)) {
        tracing::warn!(%error, "the keeper is gone before it had its order");
    }
    line.set_nonblocking(true).map_err(failed)?;
    Ok((line, guard))
}

/// Starts the hub whenever a byte comes in, until guard and keeper are both gone.
fn attend(signals: &Signals, line: UnixStream, guard: u32, revive: &[String]) -> io::Result<Exit> {
    let mut line = Some(line);
    let mut end = None;
    while line.is_some() || end.is_none() {
        wait_for(signals, line.as_ref())?;
        signals.clear();
        if let Some(exit) = reap(Some(guard)).exit {
            end = Some(exit);
        }
        let Some(open) = &mut line else { continue };
        match open.read(&mut [0; 16]) {
            Ok(0) => line = None,
            Ok(_) => drop(start_hub(revive)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => line = None,
        }
    }
    Ok(end.unwrap_or(Exit::Unknown))
}

fn wait_for(signals: &Signals, line: Option<&UnixStream>) -> io::Result<()> {
    let mut waiting = vec![PollFd::new(signals, PollFlags::IN)];
    waiting.extend(line.map(|line| PollFd::new(line, PollFlags::IN)));
    match poll(&mut waiting, None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn start_hub(revive: &[String]) -> Option<Child> {
    let (program, arguments) = revive.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |error: &io::Error| {
        tracing::warn!(%error, program, "the hub could not be started");
    };
    command.spawn().inspect_err(failed).ok()
}
