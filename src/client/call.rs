//! Makes a request, and repeats it under the same key if the answer was lost.

use super::random_id;
use crate::api::Request;
use crate::model::RequestKey;

/// A request, and the key under which the hub does it once.
#[derive(Clone, Debug)]
pub struct Call {
    pub(super) request: Request,
    pub(super) key: Option<String>,
}

impl Call {
    /// Returns a request under a key of its own, where one makes sense.
    pub fn new(request: Request) -> Self {
        Self::under(None, request)
    }

    /// Returns a request under this key; without one, under a random word.
    pub fn under(key: Option<RequestKey>, request: Request) -> Self {
        let takes_key = request.takes_key() && request.own_key().is_none();
        let key = key.map(String::from).or_else(|| random_id().ok());
        Self { key: key.filter(|_| takes_key), request }
    }

    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Says whether making it once more does no harm when nobody knows if the first time was heard.
    pub fn is_repeatable(&self) -> bool {
        self.key.is_some() || self.request.is_repeatable()
    }
}
