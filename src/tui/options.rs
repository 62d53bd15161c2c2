//! What a caller gives to the dashboard and what it gets back.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use super::grid::{Cards, Layout};
use super::keys::KeymapError;
use super::style::{Depth, ThemeChoice, ThemeError};
use crate::api::TeamOffer;
use crate::model::{Environment, Pattern, Size};
use crate::notify::TerminalForm;

/// The way to the hub; whoever implements it may start the hub if it is not there.
pub trait Hub {
    /// Returns a new connection. Called once at the start, and again whenever the hub went away.
    fn connect(&mut self) -> io::Result<UnixStream>;
}

impl<F: FnMut() -> io::Result<UnixStream>> Hub for F {
    fn connect(&mut self) -> io::Result<UnixStream> {
        self()
    }
}

/// How the dashboard looks and behaves.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Names of actions and the keys for them, separated by blanks.
    pub keys: BTreeMap<String, String>,
    pub theme: ThemeChoice,
    /// How many colours the terminal shows; without it, the environment says so.
    pub color: Option<Depth>,
    pub cards: Cards,
    /// A pane's terminal is never smaller; without it, 80 by 24.
    pub min_size: Size,
    /// The caller's own environment, for the agents that are started from here.
    pub environment: Environment,
    pub layout: Layout,
    /// Where prompts are kept, and written in an editor; a directory that is the user's alone.
    pub keep_in: Option<PathBuf>,
    pub start: StartView,
    /// How the terminal is told what the person should hear of.
    pub alerts: AlertOptions,
    /// A team that is offered beside those of the hub, and that the caller plays elsewhere.
    pub demo: Option<TeamOffer>,
    /// What opens an address and a place in a file; empty for what the system has.
    pub open_url: String,
    pub open_path: String,
    /// The playbooks that are offered; the caller runs the one that is chosen.
    pub playbooks: Vec<PlaybookOffer>,
}

/// How the terminal is told what the person should hear of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlertOptions {
    /// In which form it takes notifications; nothing, if it is to show none.
    pub form: Option<TerminalForm>,
    /// A tmux stands between us and the terminal.
    pub is_in_tmux: bool,
    pub rings: bool,
}

/// A playbook that could be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaybookOffer {
    pub name: String,
    pub purpose: String,
    pub pattern: Pattern,
    pub agents: Vec<String>,
    /// The tasks that could run at once, wave after wave.
    pub waves: Vec<Vec<String>>,
    /// Each variable, what it is for, and its default.
    pub vars: Vec<(String, String, Option<String>)>,
}

impl PlaybookOffer {
    /// Returns the variables that must be given.
    pub(super) fn wanted(&self) -> impl Iterator<Item = &String> {
        let wanted = self.vars.iter().filter(|(_, _, default)| default.is_none());
        wanted.map(|(name, ..)| name)
    }
}

/// A run that a person wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunWish {
    pub playbook: String,
    pub vars: BTreeMap<String, String>,
    /// Scripted agents take the place of all.
    pub is_rehearsal: bool,
}

/// What is seen first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartView {
    /// The panes if there are agents, else the teams to choose from.
    #[default]
    Auto,
    Teams,
    Panes,
}

/// How the dashboard ended, where nothing went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The person left; everything goes on.
    Detached,
    /// The hub was told to end.
    HubEnded,
    /// The person wants to see the demo; everything goes on.
    DemoWanted,
    /// The person wants a playbook to be run; everything goes on.
    RunWanted(RunWish),
    /// A signal asked for it, or the terminal was closed; everything goes on.
    Signalled,
    /// As above or as wished, and the terminal takes nothing any more: whoever writes to it waits.
    Unheard,
}

/// Why the dashboard cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    #[error(transparent)]
    Keys(#[from] KeymapError),
    #[error(transparent)]
    Theme(#[from] ThemeError),
    #[error("Failed to reach the hub")]
    Connect(#[source] io::Error),
    #[error("The dashboard needs a terminal for its input and its output")]
    NoTerminal,
    #[error("The terminal cannot be used")]
    Terminal(#[from] io::Error),
    #[error("{0}")]
    Refused(String),
    #[error("The hub runs version {hub}, which this dashboard does not understand")]
    Version { hub: String, is_older: bool, pid: u32 },
}
