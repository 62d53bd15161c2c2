//! Tells where the process at the other end of a socket runs: inside an agent, or outside all of
//! them.
//!
//! A keeper takes in all orphans of its agent, so whatever an agent starts stands below it for as long
//! as both live. A process can rename itself, and start one that looks like a keeper, but all that an
//! agent starts has the agent's own keeper above it: the outermost one counts.

use std::os::fd::AsFd;

use super::KeeperArgs;
#[cfg(target_os = "linux")]
use super::process::{Ancestor, line_of, line_of_peer};
use crate::model::{AgentName, ProcessId, SessionName};

/// Where a process stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Inside no agent: a person's own command, or a hub.
    Outside,
    /// Below the keeper of this agent.
    Inside(KeeperArgs),
    /// Nobody can tell, so it is nobody.
    Unknown(Untraced),
}

/// Why nothing is known of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untraced {
    /// It connected, or had someone connect, and is gone.
    Ended,
    /// Too many processes lie between it and the first of all, or they do not stand still.
    Restless,
    /// The system does not show it, or one that it descends from.
    Hidden,
}

/// Looks where processes stand, as seen from this one.
#[derive(Clone, Debug, Default)]
pub struct Tracer {
    /// The keepers below which this process itself stands. Whoever stands below them too is not
    /// inside an agent for that: what an agent starts for itself is the agent's own.
    above: Vec<(ProcessId, KeeperArgs)>,
}

impl Tracer {
    /// Notes where this process stands. That does not change but for keepers that end.
    #[cfg(target_os = "linux")]
    pub fn new() -> Self {
        let line = line_of(std::process::id()).unwrap_or_default();
        // A keeper itself stands above its agent, and not below itself.
        let above = line.into_iter().skip(1);
        Self { above: above.filter_map(|(id, keeps)| Some((id, keeps?))).collect() }
    }

    /// Elsewhere nothing is known of it.
    #[cfg(not(target_os = "linux"))]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the agents that this process itself runs inside.
    pub fn above(&self) -> impl Iterator<Item = &KeeperArgs> {
        self.above.iter().map(|(_, keeps)| keeps)
    }

    /// Returns where the process stands that connected, or that listens where we connected.
    #[cfg(target_os = "linux")]
    pub fn standing(&self, socket: impl AsFd) -> Standing {
        match line_of_peer(socket) {
            Ok(line) => self.place(&line),
            Err(untraced) => Standing::Unknown(untraced),
        }
    }

    /// Elsewhere the kernel does not say enough, and the user and the token have to do.
    #[cfg(not(target_os = "linux"))]
    pub fn standing(&self, _: impl AsFd) -> Standing {
        Standing::Outside
    }

    /// Says whether it is the keeper of this agent that listens where we connected.
    #[cfg(target_os = "linux")]
    pub fn is_keeper(&self, socket: impl AsFd, session: &SessionName, agent: &AgentName) -> bool {
        let Ok(line) = line_of_peer(socket) else { return false };
        let itself = line.first().and_then(|(_, keeps)| keeps.clone());
        let is_it = |keeps: &KeeperArgs| keeps.session == *session && keeps.agent == *agent;
        // What an agent starts in the form of a keeper has a keeper above it.
        let keepers = self.unshared(&line).filter(|(_, keeps)| keeps.is_some()).count();
        itself.as_ref().is_some_and(is_it) && keepers == 1
    }

    /// Elsewhere the modes of the socket and of its directory have to do.
    #[cfg(not(target_os = "linux"))]
    pub fn is_keeper(&self, _: impl AsFd, _: &SessionName, _: &AgentName) -> bool {
        true
    }

    /// Returns those of a line below which we do not stand ourselves, the innermost first.
    #[cfg(target_os = "linux")]
    fn unshared<'a>(&self, line: &'a [Ancestor]) -> impl DoubleEndedIterator<Item = &'a Ancestor> {
        let is_shared = |id: &ProcessId| self.above.iter().any(|(shared, _)| shared == id);
        line.iter().filter(move |(id, _)| !is_shared(id))
    }

    #[cfg(target_os = "linux")]
    fn place(&self, line: &[Ancestor]) -> Standing {
        let outermost = self.unshared(line).rev().find_map(|(_, keeps)| keeps.clone());
        outermost.map_or(Standing::Outside, Standing::Inside)
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RunId;

    fn keeps(agent: &str) -> KeeperArgs {
        let (session, agent) = (SessionName("shop-1".into()), agent.parse().unwrap());
        KeeperArgs { session, agent, run: RunId(1) }
    }

    fn line(processes: &[(u32, Option<&str>)]) -> Vec<Ancestor> {
        let id = |pid: u32| ProcessId { pid, started: u64::from(pid) };
        processes.iter().map(|(pid, agent)| (id(*pid), agent.map(keeps))).collect()
    }

    #[test]
    fn the_outermost_keeper_says_whose_process_it_is() {
        let tracer = Tracer::default();
        let line = line(&[(9, None), (8, Some("lead")), (7, None), (6, Some("work")), (1, None)]);
        assert_eq!(tracer.place(&line), Standing::Inside(keeps("work")), "the inner one is forged");
    }

    #[test]
    fn keepers_above_the_one_who_asks_do_not_count() {
        let shared = (ProcessId { pid: 6, started: 6 }, keeps("work"));
        let tracer = Tracer { above: vec![shared] };
        let own = line(&[(9, None), (6, Some("work")), (1, None)]);
        assert_eq!(tracer.place(&own), Standing::Outside);
        let inner = line(&[(9, None), (8, Some("lead")), (6, Some("work")), (1, None)]);
        assert_eq!(tracer.place(&inner), Standing::Inside(keeps("lead")));
        assert_eq!(Tracer::default().place(&line(&[(9, None), (1, None)])), Standing::Outside);
    }
}
