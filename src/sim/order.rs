//! What a script wants from the outside world, and what it knows of it.

use std::time::Duration;

use super::script::{Act, Flood, Signal};

/// Something to be carried out; only an act has an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Act {
        number: u64,
        act: Act,
    },
    /// Stop the act that goes on; nobody waits for its outcome.
    Abandon,
    Exit(u8),
    Die,
    Ignore(Vec<Signal>),
    Detach {
        time: Duration,
        keeps_terminal: bool,
    },
    Flood {
        kind: Flood,
        bytes: u64,
        seed: u64,
    },
    Memory(u64),
    Raw(String),
}

/// What is known of the world when the agent starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub name: String,
    pub directory: String,
    /// Some files of the directory, each with its number of lines.
    pub files: Vec<(String, usize)>,
}
