//! How an agent's process ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a process ended, as its parent learned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// Nobody was there to learn it.
    Unknown,
}

/// Why an agent's run is over: an exit alone is not an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// Its process ended by itself.
    Finished(Exit),
    /// A person or a rule asked for it.
    Stopped,
    /// It never came to life; the text says why.
    Failed,
    /// Its keeper died or the machine went down; nobody asked for it.
    Lost,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("unknown exit"),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished(exit) => exit.fmt(f),
            Self::Stopped => f.write_str("stopped"),
            Self::Failed => f.write_str("failed to start"),
            Self::Lost => f.write_str("lost"),
        }
    }
}
