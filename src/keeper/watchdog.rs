//! Starts a hub again that died while its agents run elsewhere.
//!
//! A keeper here would do so, but all keepers may be on other machines. The watchdog sleeps in a read of its
//! standard input, which the hub holds open: its end means that the hub is gone.

use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::thread;

use rustix::process::setsid;
use serde::{Deserialize, Serialize};

use super::revive_schedule::{WAIT_FIRST, WAIT_MAX};
use super::reviver::start_hub;
use super::start::unmarked;
use super::{EXIT_BAD_ORDER, EXIT_OK};

/// How often it looks for the hub between two tries: a hub takes its lock within milliseconds.
const LOOKS: u32 = 100;

/// What the watchdog has to know.
#[derive(Debug, Serialize, Deserialize)]
pub struct WatchdogOrder {
    /// The command that starts the hub again.
    pub revive: Vec<String>,
    /// Whoever is the hub writes its number there.
    pub lock: PathBuf,
    /// The process that starts the watchdog.
    pub hub: u32,
    /// Where the hub works. Without that directory there is nothing to come back to.
    pub project: PathBuf,
}

/// The hub's end.
#[derive(Debug)]
pub struct Watchdog {
    child: Child,
    /// Closed by the hub's death alone.
    _line: ChildStdin,
}

impl Watchdog {
    /// Starts a watchdog, detached from this process. The session's name is there for whoever looks at a
    /// list of processes.
    pub fn start(program: &Path, session: &str, order: &WatchdogOrder) -> io::Result<Self> {
        let mut command = unmarked(Command::new(program));
        command.args(["watchdog", "--session", session]).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut text = serde_json::to_vec(order)?;
        text.push(b'\n');
        let mut child = command.spawn()?;
        let mut line = child.stdin.take().expect("the standard input was asked for");
        line.write_all(&text)?;
        Ok(Self { child, _line: line })
    }

    /// Says whether it still runs.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it before it can take the end of its input for ours.
    pub fn end(mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }
}

/// Becomes the watchdog.
pub fn watchdog() -> ExitCode {
    if let Err(error) = setsid() {
        tracing::debug!(%error, "already the leader of a session");
    }
    let mut input = io::stdin().lock();
    let mut text = String::new();
    let order = input.read_line(&mut text).ok().and_then(|_| serde_json::from_str(&text).ok());
    let Some(order) = order else { return ExitCode::from(EXIT_BAD_ORDER) };
    // Nothing more is ever written.
    let _ = input.read(&mut [0; 1]);
    revive(&order);
    ExitCode::from(EXIT_OK)
}

/// Starts the hub until one has come, which starts a watchdog of its own, or until its project is gone.
fn revive(WatchdogOrder { revive, lock, hub, project }: &WatchdogOrder) {
    let mut wait = WAIT_FIRST;
    while !has_come(lock, *hub) && !is_gone(project) {
        let started = start_hub(revive);
        for _ in 0..LOOKS {
            if has_come(lock, *hub) {
                return;
            }
            thread::sleep(wait / LOOKS);
        }
        // One that could not come must not stay behind as a dead process.
        if let Some(mut hub) = started {
            let _ = hub.try_wait();
        }
        wait = (wait * 2).min(WAIT_MAX);
    }
}

/// Says whether a directory was removed. One that cannot be looked at may still be there.
pub fn is_gone(directory: &Path) -> bool {
    fs::metadata(directory).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Says whether another hub has come since, by the number that each writes into its lock. Whether the
/// lock is held says less: what a dying hub was starting holds it on, and the next may have ended.
fn has_come(lock: &Path, hub: u32) -> bool {
    let named = fs::read_to_string(lock).ok().and_then(|text| text.trim().parse().ok());
    named.is_some_and(|pid: u32| pid != hub)
}
