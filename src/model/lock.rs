//! Something that one at a time may hold.

use serde::{Deserialize, Serialize};

use super::{AgentName, Moment, TaskId};

/// A lock that someone holds, and who waits for it. One that nobody holds is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lock {
    pub name: String,
    pub holder: Holder,
    /// The first of them is the next to get it.
    pub waiting: Vec<Waiter>,
}

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Holder {
    /// Nobody: a person.
    pub agent: Option<AgentName>,
    /// The task for which it is held, and with whose attempt it is given back.
    pub task: Option<TaskId>,
    pub since: Moment,
    /// When it is taken away.
    pub until: Moment,
}

/// Who waits for a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Waiter {
    pub agent: Option<AgentName>,
    pub task: Option<TaskId>,
    pub since: Moment,
    pub limit_ms: u64,
}

/// Something that is asked about locks, for an agent or (without one) by a person.
#[derive(Clone, Debug)]
pub enum LockCommand {
    /// Takes it, or waits for it in order.
    Take { name: String, agent: Option<AgentName>, limit_ms: Option<u64> },
    /// Gives it back, or no longer waits for it.
    Release { name: String, agent: Option<AgentName> },
}
