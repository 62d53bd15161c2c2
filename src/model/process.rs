//! How a process is told from another that later gets its number.

use serde::{Deserialize, Serialize};

/// One process for all time: numbers are used again, start times are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessId {
    pub pid: u32,
    /// In the kernel's clock ticks since the machine's boot.
    pub started: u64,
}

/// One process of an agent's tree, and what it uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessInfo {
    pub id: ProcessId,
    pub parent: u32,
    /// The program's short name, as the kernel knows it.
    pub name: String,
    pub cpu_ms: u64,
    pub memory_bytes: u64,
}
