//! How far a say goes, and what a request names.

use std::fmt;

use super::{ReceiptId, Role};

/// Over whom someone has a say; each but the last is counted from an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    Never,
    /// Itself, and its own task.
    Own,
    /// Those that it started itself, and those that they started.
    Started,
    /// Itself, those that it started, and those that it leads.
    Led,
    /// Everyone in its team, and in its run of a playbook.
    Team,
    All,
}

/// Something that a request names, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    Agent(String),
    Task(String),
    /// A task that is free to take.
    Offer(String),
    Receipt(ReceiptId),
    Need(String),
    Run(String),
    /// No agent is named, and so all are meant.
    Everyone,
}

impl Role {
    pub const ALL: [Self; 4] = [Self::Worker, Self::Lead, Self::Orchestrator, Self::Verifier];

    /// Returns whom an agent of this role may give work to.
    pub fn reach(self) -> Reach {
        match self {
            Self::Worker | Self::Verifier => Reach::Own,
            Self::Lead => Reach::Led,
            Self::Orchestrator => Reach::Team,
        }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Never => "–",
            Self::Own => "own",
            Self::Started => "started",
            Self::Led => "led",
            Self::Team => "team",
            Self::All => "all",
        })
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            |name: &str| -> String { name.chars().filter(|c| !c.is_control()).take(64).collect() };
        match self {
            Self::Agent(name) => write!(f, "agent `{}`", shown(name)),
            Self::Task(name) | Self::Offer(name) => write!(f, "task `{}`", shown(name)),
            Self::Receipt(receipt) => write!(f, "prompt `{receipt}`"),
            Self::Need(name) => write!(f, "need `{}`", shown(name)),
            Self::Run(name) => write!(f, "run `{}`", shown(name)),
            Self::Everyone => f.write_str("everyone at once"),
        }
    }
}
