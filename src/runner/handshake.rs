//! Defines what both ends of a connection say before the keeper's stream begins: a line of JSON
//! each.
//!
//! The far end greets first. Only then is it told what to do: a line that never came up has carried
//! nothing, and so it is certain that nothing was begun.

use serde::{Deserialize, Serialize};

use crate::model::{Launch, ProcessInfo, RunId};

/// Counts the changes of meaning; both ends must speak the same.
pub const FAR_PROTOCOL: u32 = 1;

/// The longest call: an order is no longer.
pub(super) const CALL_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Stands for the file that the agent's cli is given for its hooks; only the far end knows its path.
pub const HOOKS_PLACE: &str = "@WHEELHOUSE_HOOKS@";

/// Begins every line of the far end: what a login's own scripts print is passed over.
const MARK: &str = "\u{1e}wheelhouse-far ";

/// The far end's first word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    pub protocol: u32,
    pub version: String,
}

/// What the hub wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub run: RunId,
    /// Names the start of this run among all others.
    pub ticket: String,
    /// How to begin the run, unless it has been begun already.
    pub order: Option<OrderThere>,
}

/// How to begin a run there. It holds an environment, and so it is never in an argument list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderThere {
    pub launch: Launch,
    pub grace_ms: u64,
    /// The content of the file that the cli is given for its hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<String>,
}

/// What the far end has to say to a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Answer {
    /// The keeper's stream follows.
    Attached,
    /// Nothing of the run is alive, and it will not be begun any more; these could not be killed.
    Absent { survivors: Vec<ProcessInfo> },
    /// It could not be begun, and nothing of it is alive.
    Failed { reason: String },
    /// Nothing was done, and nothing is known, for this reason.
    Unable { reason: String },
}

/// Returns a value as a line of the far end.
pub(super) fn line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("plain data always has a JSON form");
    format!("{MARK}{text}\n")
}

/// Returns what a line of the far end says; nothing for any other line.
pub fn read<T: serde::de::DeserializeOwned>(line: &[u8]) -> Option<T> {
    // A login script may leave its last line open.
    let begin = line.windows(MARK.len()).position(|window| window == MARK.as_bytes())?;
    serde_json::from_slice(line.get(begin + MARK.len()..)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_login_prints_is_passed_over() {
        let greeting = Greeting { protocol: 1, version: "0.1.0".to_owned() };
        let text = format!("Welcome to the machine{}", line(&greeting));
        assert_eq!(read(text.trim_end().as_bytes()), Some(greeting));
        assert_eq!(read::<Greeting>(b"Last login: today"), None);
        assert_eq!(read::<Greeting>(b"\x1ewheelhouse-far {\"protocol\":"), None);
    }
}
