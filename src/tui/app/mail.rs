//! A prompt that was handed to the hub, for as long as its answer is not here.

use super::PromptKind;
use crate::wire::Request;

/// What was handed over, and all that it takes to do so again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mail {
    pub kind: PromptKind,
    /// All that was written, addresses included.
    pub draft: String,
    pub agents: Vec<String>,
    pub prompt: String,
    /// The hub sends it once under this name, however often it is asked to.
    pub key: String,
    pub anyway: bool,
}

impl Mail {
    pub(crate) fn request(&self) -> Request {
        Request::Dispatch {
            agents: self.agents.clone(),
            prompt: self.prompt.clone(),
            idempotency_key: Some(self.key.clone()),
            anyway: self.anyway,
        }
    }
}
