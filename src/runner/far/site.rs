//! Knows the files of one agent here, and what they tell of it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use crate::config::{FarPaths, secure_dir};
use crate::keeper::{Standing, StartTickets, TicketFate, Tracer};
use crate::model::{AgentName, SessionName};
use crate::runner::Address;
use crate::runner::handshake::Call;

/// What a keeper says before it gives up is short.
const WORDS_CHARS_MAX: usize = 2000;

/// Where everything of one agent is.
pub(super) struct Site {
    pub(super) paths: FarPaths,
    pub(super) agent: AgentName,
    /// The hub's session, made unmistakable among the hubs that use this machine.
    pub(super) session: SessionName,
    pub(super) socket: PathBuf,
    pub(super) lock: PathBuf,
    pub(super) fence: StartTickets,
    /// What every process of the run carries in its environment.
    pub(super) marks: [String; 3],
    tracer: Tracer,
}

impl Site {
    /// Makes the directories in which the files are.
    pub(super) fn make(address: &Address, call: &Call) -> io::Result<Self> {
        let Address { session, home, agent } = address;
        let hub = format!("{session}-{home}");
        let paths = FarPaths::find(&hub).map_err(io::Error::other)?;
        paths.make_directories().map_err(io::Error::other)?;
        let door = paths.door(agent);
        door.parent().map_or(Ok(()), secure_dir).map_err(io::Error::other)?;
        let marks = [
            format!("WHEELHOUSE_SESSION={hub}"),
            format!("WHEELHOUSE_AGENT={agent}"),
            format!("WHEELHOUSE_RUN={}", call.run),
        ];
        Ok(Self {
            socket: paths.socket(agent),
            lock: paths.lock(agent),
            fence: StartTickets { path: paths.tickets(agent), ticket: call.ticket.clone() },
            agent: agent.clone(),
            session: SessionName(hub),
            marks,
            tracer: Tracer::new(),
            paths,
        })
    }

    /// Connects to the agent's keeper, if it is that one who listens.
    pub(super) fn reach(&self) -> Option<UnixStream> {
        let stream = UnixStream::connect(&self.socket).ok()?;
        self.tracer.is_keeper(&stream, &self.session, &self.agent).then_some(stream)
    }

    /// Says whether a program may speak for the agent: it stands inside it, or inside none.
    pub(super) fn may_speak(&self, program: &UnixStream) -> bool {
        match self.tracer.standing(program) {
            Standing::Outside => true,
            Standing::Inside(kept) => kept.session == self.session && kept.agent == self.agent,
            Standing::Unknown(_) => false,
        }
    }

    /// Listens for the agent's own programs, over whatever an earlier line left there.
    pub(super) fn open_door(&self) -> io::Result<UnixListener> {
        let path = self.paths.door(&self.agent);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// Makes sure that the run is not begun any more, if nothing of it is alive.
    pub(super) fn give_up(&self) -> io::Result<TicketFate> {
        self.fence.give_up(&self.lock).map_err(io::Error::other)
    }

    /// Returns what a keeper said that could not work.
    pub(super) fn last_words(&self) -> String {
        let text = fs::read_to_string(self.paths.log(&self.agent)).unwrap_or_default();
        let words: String = text.trim().chars().take(WORDS_CHARS_MAX).collect();
        if words.is_empty() { "its keeper did not come up".to_owned() } else { words }
    }
}
