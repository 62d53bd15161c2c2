//! The way from a tool to the hub.

use std::time::Duration;

use super::failure::Failure;
use crate::api::{FromHub, Request, Response};
use crate::client::{self, Call, ClientError, Identity};
use crate::config::Paths;

/// How long an answer that takes no time is waited for, a hub that is just coming back included.
const PATIENCE: Duration = Duration::from_secs(30);

/// On whose behalf the tools are called.
#[derive(Clone, Debug)]
pub enum Door {
    /// The agent that started the server, by its token.
    Agent(Identity),
    /// A person, at the hub of their project.
    Person(Box<Paths>),
}

impl Door {
    pub(super) fn ask(&self, request: Request) -> Result<Response, Failure> {
        self.call(&Call::new(request))
    }

    /// Asks under a key: under the same one again nothing more is done.
    pub(super) fn call(&self, call: &Call) -> Result<Response, Failure> {
        self.call_within(call, PATIENCE)?
            .ok_or_else(|| Failure::new("The hub does not answer", "Call the tool again"))
    }

    /// Returns the answer, or nothing if it did not come in time.
    pub(super) fn ask_within(
        &self,
        request: Request,
        patience: Duration,
    ) -> Result<Option<Response>, Failure> {
        self.call_within(&Call::new(request), patience)
    }

    fn call_within(&self, call: &Call, patience: Duration) -> Result<Option<Response>, Failure> {
        let asked = match self {
            Self::Agent(identity) => identity.call(call, patience),
            Self::Person(paths) => call_as_person(paths, call, patience),
        };
        match asked {
            Ok(response) => Ok(Some(response)),
            Err(error) if error.is_timeout() => Ok(None),
            Err(error) if error.is_absence() && matches!(self, Self::Agent(_)) => {
                let hint = "It comes back by itself as a rule: go on with your work, and call the tool again";
                Err(Failure::new(error.to_string(), hint))
            }
            Err(error) => Err(Failure::from(error)),
        }
    }
}

impl Door {
    /// Makes all of these requests at once, and says whether one of them was granted in time.
    pub(super) fn has_answer(&self, requests: Vec<Request>, patience: Duration) -> bool {
        let first = || {
            let mut connection = match self {
                Self::Agent(identity) => identity.connect()?,
                Self::Person(paths) => client::connect(paths)?,
            };
            connection.set_patience(patience)?;
            let mut open = requests.len();
            for request in requests {
                connection.send(request)?;
            }
            while open > 0 {
                match connection.receive()? {
                    FromHub::Answer { outcome: Ok(_), .. } => return Ok(true),
                    FromHub::Answer { outcome: Err(_), .. } => open -= 1,
                    FromHub::Notice(_) => {}
                }
            }
            Ok::<bool, ClientError>(false)
        };
        match first() {
            Ok(is_granted) => is_granted,
            Err(error) => error.is_timeout(),
        }
    }
}

fn call_as_person(paths: &Paths, call: &Call, patience: Duration) -> Result<Response, ClientError> {
    let ask = || {
        let mut connection = client::connect(paths)?;
        connection.set_patience(patience)?;
        connection.call(call)
    };
    match ask() {
        Err(error) if error.is_absence() && call.is_repeatable() => ask(),
        result => result,
    }
}
