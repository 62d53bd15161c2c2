//! Why a tool did not do what it was called for, and what to do next.

use std::fmt;

use crate::client::ClientError;
use crate::model::plain;

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
        Self { hint: error.hint(), message: error.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.message.lines().map(plain).collect::<Vec<_>>();
        write!(f, "error: {}", lines.join("\n"))?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {}", plain(hint)))
    }
}
