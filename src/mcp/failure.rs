//! Why a tool did not do what it was called for, and what to do next.

use std::fmt;

use crate::client::ClientError;
use crate::model::plain;

/// Commands that hints name, and the tools that do the same.
const COMMANDS: [(&str, &str); 4] = [
    ("`wheelhouse whoami`", "`whoami`"),
    ("`wheelhouse task list`", "`list_tasks`"),
    ("`wheelhouse contract list`", "`list_contracts`"),
    ("`wheelhouse lock list`", "`list_locks`"),
];

/// Words for the one who called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    message: String,
    hint: Option<String>,
}

impl Failure {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()) }
    }

    /// Says that the hub answered something else than was asked.
    pub(super) fn unexpected() -> Self {
        Self::from(ClientError::Unexpected)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let hint = error.hint().map(|hint| {
            // Whoever calls tools may have no shell to type a command in.
            COMMANDS.iter().fold(hint, |hint, (command, tool)| hint.replace(command, tool))
        });
        Self { hint, message: error.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.message.lines().map(plain).collect::<Vec<_>>();
        write!(f, "error: {}", lines.join("\n"))?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {}", plain(hint)))
    }
}
