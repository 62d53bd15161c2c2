//! The lookout: calls a hub back that died while its agents run elsewhere.
//!
//! A keeper here would do so, but all keepers may be on other machines. It sleeps in a read of its
//! standard input, which the hub holds open: its end means that the hub is gone.

use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::thread;

use rustix::process::setsid;
use serde::{Deserialize, Serialize};

use super::caller::start_hub;
use super::revival::{WAIT_FIRST, WAIT_MAX};
use super::start::unmarked;
use super::{EXIT_BAD_ORDER, EXIT_OK};

/// How often it looks for the hub between two tries: a hub takes its lock within milliseconds.
const LOOKS: u32 = 100;

/// What it has to know.
#[derive(Debug, Serialize, Deserialize)]
pub struct Watch {
    /// The command that starts the hub again.
    pub revive: Vec<String>,
    /// Whoever is the hub writes its number there.
    pub lock: PathBuf,
    /// The process that posts it.
    pub hub: u32,
}

/// The hub's end.
#[derive(Debug)]
pub struct Lookout {
    child: Child,
    /// Closed by the hub's death alone.
    _line: ChildStdin,
}

impl Lookout {
    /// Posts it, detached from this process. The session's name is there for whoever looks at a list
    /// of processes.
    pub fn post(program: &Path, session: &str, watch: &Watch) -> io::Result<Self> {
        let mut command = unmarked(Command::new(program));
        command.args(["lookout", "--session", session]).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut text = serde_json::to_vec(watch)?;
        text.push(b'\n');
        let mut child = command.spawn()?;
        let mut line = child.stdin.take().expect("the standard input was asked for");
        line.write_all(&text)?;
        Ok(Self { child, _line: line })
    }

    /// Says whether it still stands.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it before it can take the end of its input for ours.
    pub fn relieve(mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }
}

/// Becomes the lookout.
pub fn look_out() -> ExitCode {
    if let Err(error) = setsid() {
        tracing::debug!(%error, "already the leader of a session");
    }
    let mut input = io::stdin().lock();
    let mut text = String::new();
    let order = input.read_line(&mut text).ok().and_then(|_| serde_json::from_str(&text).ok());
    let Some(watch) = order else { return ExitCode::from(EXIT_BAD_ORDER) };
    // Nothing more is ever written.
    let _ = input.read(&mut [0; 1]);
    call_back(&watch);
    ExitCode::from(EXIT_OK)
}

/// Starts the hub until one has come; that one posts a lookout of its own.
fn call_back(Watch { revive, lock, hub }: &Watch) {
    let mut wait = WAIT_FIRST;
    while !has_come(lock, *hub) {
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

/// Says whether another hub has come since, by the number that each writes into its lock. Whether the
/// lock is held says less: what a dying hub was starting holds it on, and the next may have ended.
fn has_come(lock: &Path, hub: u32) -> bool {
    let named = fs::read_to_string(lock).ok().and_then(|text| text.trim().parse().ok());
    named.is_some_and(|pid: u32| pid != hub)
}
