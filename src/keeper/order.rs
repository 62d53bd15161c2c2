//! Reads what a keeper is told to do: names in its arguments, the order on standard input.

use std::error::Error;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde::{Deserialize, Serialize};

use super::{KeeperError, StartTickets};
use crate::model::{AgentName, Launch, RunId, SessionName};

/// The tree is gone and nothing is left to do.
pub const EXIT_OK: u8 = 0;
/// The order could not be read.
pub const EXIT_BAD_ORDER: u8 = 65;
/// The system refused something without which no keeper can work.
pub const EXIT_BROKEN: u8 = 74;
/// Another keeper has this agent: nothing was touched.
pub const EXIT_HELD: u8 = 75;

/// This start was carried out before, or given up: it is not carried out again.
pub const EXIT_TICKET_USED: u8 = 76;

/// The longest order: argument lists and environments may not be longer on Linux either.
const ORDER_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Says in the list of processes whose keeper this is; there is nothing secret in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeeperArgs {
    pub session: SessionName,
    pub agent: AgentName,
    pub run: RunId,
}

impl KeeperArgs {
    /// Returns the command `program verb --session … --agent … --run …`.
    pub(super) fn command(&self, program: &Path, verb: &str) -> Command {
        let mut command = Command::new(program);
        command.arg(verb).arg("--session").arg(&self.session.0);
        command.arg("--agent").arg(self.agent.as_str()).arg("--run").arg(self.run.to_string());
        command
    }

    /// Returns what a process keeps, by the words of its command, if they are those of a keeper.
    #[cfg(target_os = "linux")]
    pub(super) fn of_words(words: &[u8]) -> Option<Self> {
        let words = String::from_utf8_lossy(words);
        let words: Vec<&str> = words.split_terminator('\0').collect();
        // Before ours stands the program, by any name, and what runs programs made for other machines.
        let [.., _, "keeper", "--session", session, "--agent", agent, "--run", run] = words[..]
        else {
            return None;
        };
        let run = RunId(run.parse().ok()?);
        Some(Self { session: SessionName(session.to_owned()), agent: agent.parse().ok()?, run })
    }
}

/// Everything else that a keeper needs to know, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub launch: Launch,
    /// Where to listen; one path per agent name, in a directory of our own.
    pub socket: PathBuf,
    /// The lock of this agent's name. It is never unlinked.
    pub lock: PathBuf,
    /// The command that starts the hub again; empty if nobody should.
    pub revive: Vec<String>,
    /// Spreads the keepers of one hub, so that they do not all start it at the same instant.
    pub revive_delay_ms: u64,
    /// How long a tree may take to end when nobody says otherwise.
    pub grace_ms: u64,
    /// Present where the order came down a line that may break.
    #[serde(default)]
    pub fence: Option<StartTickets>,
}

impl Order {
    /// Reads an order up to the end of the input.
    pub(super) fn read(input: impl Read) -> Result<(Self, Vec<u8>), KeeperError> {
        let mut text = Vec::new();
        input.take(ORDER_BYTES_MAX).read_to_end(&mut text).map_err(KeeperError::Order)?;
        Ok((serde_json::from_slice(&text)?, text))
    }

    /// Returns the entries that mark the environment of every process of this run.
    pub(super) fn marks(&self) -> Vec<String> {
        let names = ["WHEELHOUSE_SESSION", "WHEELHOUSE_AGENT", "WHEELHOUSE_RUN"];
        let mark = |name: &str| {
            let value = self.launch.environment.0.get(name)?;
            Some(format!("{name}={value}"))
        };
        // A part of the marks could be those of another run: all of them, or none.
        names.iter().map(|name| mark(name)).collect::<Option<_>>().unwrap_or_default()
    }
}

impl KeeperError {
    /// Tells the log what happened, and returns the exit code that tells the hub.
    pub(super) fn report(&self) -> ExitCode {
        let cause = self.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        // There is nobody left to tell if this fails too; the exit code speaks for itself.
        drop(writeln!(io::stderr(), "{self}{cause}"));
        ExitCode::from(match self {
            Self::Held { .. } => EXIT_HELD,
            Self::Fenced { .. } => EXIT_TICKET_USED,
            Self::BadOrder(_) | Self::Order(_) => EXIT_BAD_ORDER,
            Self::Lock { .. }
            | Self::StartTickets { .. }
            | Self::Listen { .. }
            | Self::Start { .. }
            | Self::Watch(_) => EXIT_BROKEN,
        })
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keeper_is_known_by_its_words_whatever_the_program_is_called() {
        let args = KeeperArgs {
            session: SessionName("shop-1".into()),
            agent: "api".parse().unwrap(),
            run: RunId(3),
        };
        let said = b"keeper\0--session\0shop-1\0--agent\0api\0--run\x003\0";
        for program in [&b"wheelhouse\0"[..], b"/odd \xff\xfe/w\0", b"qemu-x86_64\0/bin/w\0"] {
            assert_eq!(KeeperArgs::of_words(&[program, said].concat()).as_ref(), Some(&args));
        }
        for other in [&b""[..], &said[..], b"w\0guard\0--session\0s\0--agent\0api\0--run\x003\0"] {
            assert_eq!(KeeperArgs::of_words(other), None);
        }
    }
}
