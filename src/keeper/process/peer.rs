//! Asks the kernel for the process at the other end of a socket and for its parents.

use std::fs;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, test_kill_process};

use super::pidfd::PeerHandle;
use super::stat;
use crate::keeper::{KeeperArgs, Untraced};
use crate::model::ProcessId;

/// A command that somebody types is nowhere near as deep; what is deeper is not followed.
const ANCESTORS_MAX: usize = 1024;

/// Where ancestors end while they are looked at, their line is read again.
const TRIES_MAX: u32 = 16;

/// A process on the way from one to the first of all, and what it keeps if it is a keeper.
pub(in super::super) type Ancestor = (ProcessId, Option<KeeperArgs>);

/// Returns the process that connected, or that listens where we connected, and all that it descends
/// from, itself first.
pub(in super::super) fn line_of_peer(socket: impl AsFd) -> Result<Vec<Ancestor>, Untraced> {
    let peer = socket_peercred(&socket).map_err(|_| Untraced::Hidden)?;
    let handle = PeerHandle::of(&socket).map_err(|_| Untraced::Ended)?;
    let line = line_of(u32::try_from(peer.pid.as_raw_pid()).map_err(|_| Untraced::Hidden)?);
    // As long as it lives, its number is nobody else's: the line was its own.
    if handle.is_none_or(|handle| handle.is_alive()) { line } else { Err(Untraced::Ended) }
}

/// Returns a process and all that it descends from, itself first.
///
/// A line that was read twice and was the same stood so in between: the children of a process that
/// ends get another parent at once, so its number cannot be there the second time.
pub(in super::super) fn line_of(pid: u32) -> Result<Vec<Ancestor>, Untraced> {
    let mut last = Err(Untraced::Restless);
    for _ in 0..TRIES_MAX {
        let line = read_line(pid);
        if line == last && line != Err(Untraced::Ended) {
            return line;
        }
        last = line;
    }
    Err(last.err().unwrap_or(Untraced::Restless))
}

fn read_line(first: u32) -> Result<Vec<Ancestor>, Untraced> {
    let mut line = Vec::new();
    let mut next = first;
    // The parent of the first process, or of one from outside of a container, has no number.
    while next > 0 {
        if line.len() == ANCESTORS_MAX {
            return Err(Untraced::Restless);
        }
        let (stat, _) = stat::read(next).ok_or_else(|| missing(next))?;
        // One with children of its own has only lost its first thread.
        if stat.has_ended && line.is_empty() {
            return Err(Untraced::Ended);
        }
        let words = fs::read(format!("/proc/{next}/cmdline")).map_err(|_| missing(next))?;
        line.push((stat.id, KeeperArgs::of_words(&words)));
        next = stat.parent;
    }
    Ok(line)
}

/// Says why a process could not be read: it is there, and hidden from us, or it is not.
fn missing(pid: u32) -> Untraced {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    match pid.map(test_kill_process) {
        Some(Ok(()) | Err(Errno::PERM)) => Untraced::Hidden,
        Some(Err(_)) | None => Untraced::Ended,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::process::{self, Command, Stdio};

    use super::*;

    #[test]
    fn the_line_leads_from_a_process_to_the_first_of_all() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let line = line_of(child.id()).unwrap();
        let numbers: Vec<u32> = line.iter().map(|(id, _)| id.pid).collect();
        assert_eq!(numbers[..2], [child.id(), process::id()]);
        assert_eq!(line_of(process::id()).unwrap()[..], line[1..]);
        child.kill().unwrap();
        // It has ended, and nobody has taken note of that.
        let peer = child.id();
        let mut last = line_of(peer);
        while last.is_ok() {
            last = line_of(peer);
        }
        assert_eq!(last, Err(Untraced::Ended));
        child.wait().unwrap();
        assert_eq!(line_of(peer), Err(Untraced::Ended));
    }

    #[test]
    fn the_peer_is_who_made_the_connection() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(line_of_peer(&one).unwrap()[0].0.pid, process::id());
    }
}
