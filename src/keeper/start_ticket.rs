//! Makes sure that a remote start happens at most once, by tickets.
//!
//! A hub on another machine sends a start down a line that may break. It cannot see whether the
//! start arrived, was carried out, or is still on its way and will arrive once the line heals. So
//! each start has a ticket. Whoever takes an agent's lock to begin a run writes its ticket down
//! first, and whoever finds nothing alive and says so writes it down as well: a ticket that is
//! written down is not good any more.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{KeeperError, lock};

/// So many tickets are remembered. A hub asks about one start until it has an answer, so that a
/// start which is still on its way is always the latest.
const TICKETS_MAX: usize = 64;

/// Which start this is, and where the tickets that are used up are written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartTickets {
    pub path: PathBuf,
    pub ticket: String,
}

/// What became of the wish to give a start up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TicketFate {
    /// Something of it, or of another run of this agent, may be alive.
    Held,
    /// Nothing is alive, and this start will not be carried out any more.
    Yes,
}

impl StartTickets {
    /// Lets a start through once. The reviver holds the agent's lock.
    pub(super) fn pass(&self) -> Result<(), KeeperError> {
        if self.use_up().map_err(|source| self.failed(source))? {
            Ok(())
        } else {
            Err(KeeperError::Fenced { ticket: self.ticket.clone() })
        }
    }

    /// Makes sure that a start is not carried out any more, if nobody holds the agent's lock.
    pub fn give_up(&self, path: &Path) -> Result<TicketFate, KeeperError> {
        let lock = match lock::take(path) {
            Ok(lock) => lock,
            Err(KeeperError::Held { .. }) => return Ok(TicketFate::Held),
            Err(error) => return Err(error),
        };
        self.use_up().map_err(|source| self.failed(source))?;
        lock::release(&lock);
        Ok(TicketFate::Yes)
    }

    /// Writes the ticket down, and says whether it was good.
    fn use_up(&self) -> io::Result<bool> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut tickets: Vec<&str> = text.lines().collect();
        if tickets.contains(&self.ticket.as_str()) {
            return Ok(false);
        }
        tickets.drain(..tickets.len().saturating_sub(TICKETS_MAX - 1));
        tickets.push(&self.ticket);
        // A crash leaves either the old list or the new one.
        let draft = self.path.with_extension("new");
        let mut file = File::create(&draft)?;
        writeln!(file, "{}", tickets.join("\n"))?;
        file.sync_all()?;
        fs::rename(&draft, &self.path)?;
        Ok(true)
    }

    fn failed(&self, source: io::Error) -> KeeperError {
        KeeperError::StartTickets { path: self.path.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_carried_out_once_and_never_after_it_was_given_up() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.lock");
        let fence = |ticket: &str| StartTickets {
            path: directory.path().join("a.tickets"),
            ticket: ticket.to_owned(),
        };
        let is_refused =
            |ticket: &str| matches!(fence(ticket).pass(), Err(KeeperError::Fenced { .. }));
        fence("one").pass().unwrap();
        assert!(is_refused("one"));
        assert_eq!(fence("two").give_up(&path).unwrap(), TicketFate::Yes);
        assert!(is_refused("two"));

        let held = lock::take(&path).unwrap();
        assert_eq!(fence("three").give_up(&path).unwrap(), TicketFate::Held);
        drop(held);
        fence("three").pass().unwrap();
        for number in 0..TICKETS_MAX - 3 {
            fence(&format!("more {number}")).pass().unwrap();
        }
        assert!(is_refused("one"), "the oldest of so many is still known");
        fs::write(&fence("").path, b"\xff").unwrap();
        assert!(fence("four").pass().is_err(), "what cannot be read lets nobody through");
    }
}
