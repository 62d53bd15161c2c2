//! Finds keepers: at a socket here, or by a program that carries the stream of one elsewhere.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::carrier::{Carrier, KeeperStream, Printed, last_words, run_to_end};
use crate::hub::clients::socket::is_own;
use crate::keeper::{self, Tracer};
use crate::model::{AgentName, RunId, SessionName};
use crate::runner::{Answer, Call, FAR_PROTOCOL, Greeting, OrderThere, Way};

/// A place that has not greeted by then does not answer.
const GREETING_MAX: Duration = Duration::from_secs(30);
/// One that has greeted says within this time what there is.
const ANSWER_MAX: Duration = Duration::from_mins(1);

/// An engine that has not answered by then does not work; one that removes a container may take long.
const ENGINE_MAX: Duration = Duration::from_mins(1);
/// Before it makes a container, an engine may have to fetch an image.
const MAKE_MAX: Duration = Duration::from_mins(30);

/// How to get to a keeper.
#[derive(Debug)]
pub(in crate::hub) enum KeeperAddress {
    /// It is on this machine.
    Local(LocalKeeper),
    Remote(Box<RemoteKeeper>),
}

/// The way to a keeper, and what is wanted of it.
#[derive(Debug)]
pub(in crate::hub) struct RemoteKeeper {
    way: Way,
    /// Names the start of this run among all others.
    ticket: String,
    /// How to begin the run, until it is seen to have begun.
    order: Option<Box<OrderThere>>,
    /// What makes the container in which it runs, where it has one of its own.
    make: Option<Vec<String>>,
    is_away: bool,
    /// Rings once the run is to end: a container that is still to be made is then not wanted.
    stop: Rc<Notify>,
}

/// What came of a call.
pub(in crate::hub) enum CallOutcome {
    Up(KeeperStream),
    /// Nothing of the run is alive there, and nothing will be.
    Absent,
    /// It could not be begun, for this reason, and nothing of it is alive.
    Failed(String),
    /// Nobody knows.
    Unreached(String),
}

impl KeeperAddress {
    /// Returns what rings whoever is still on the way to a keeper that the run is to end.
    pub(in crate::hub) fn stop(&self) -> Rc<Notify> {
        match self {
            // A keeper here is up in a moment, and is then told.
            Self::Local(_) => Rc::default(),
            Self::Remote(there) => Rc::clone(&there.stop),
        }
    }
}

impl RemoteKeeper {
    pub(in crate::hub) fn new(
        way: Way,
        ticket: String,
        order: Option<Box<OrderThere>>,
        make: Option<Vec<String>>,
    ) -> Self {
        Self { way, ticket, order, make, is_away: false, stop: Rc::default() }
    }

    /// Says whether the order to begin may have arrived.
    pub(in crate::hub) fn is_order_away(&self) -> bool {
        self.is_away
    }

    /// Notes that the run was seen: it is not begun again.
    pub(in crate::hub) fn note_begun(&mut self) {
        self.order = None;
        self.make = None;
    }

    /// Calls the place; where it is certain that nothing is left, what was made for the run goes too.
    pub(in crate::hub) async fn call(&mut self, run: RunId) -> CallOutcome {
        let called = self.try_call(run).await;
        let is_over = match &called {
            CallOutcome::Absent | CallOutcome::Failed(_) => true,
            CallOutcome::Unreached(_) => self.make.is_some() && !self.is_away,
            CallOutcome::Up(_) => false,
        };
        if let Some(remove) = self.way.remove().filter(|_| is_over)
            && let Err(reason) = ask_engine(&remove).await
        {
            tracing::warn!(reason, "a container is left behind");
        }
        called
    }

    async fn try_call(&mut self, run: RunId) -> CallOutcome {
        if let Some(make) = self.make.clone()
            && let Err(reason) = self.make_container(make).await
        {
            return if self.is_away {
                CallOutcome::Unreached(reason)
            } else {
                CallOutcome::Failed(reason)
            };
        }
        let (mut carrier, mut stream) = match Carrier::start(&self.way.line()) {
            Ok(started) => started,
            Err(error) => return CallOutcome::Unreached(error.to_string()),
        };
        let greeting = timeout(GREETING_MAX, stream.next::<Greeting>()).await;
        let Some(greeting) = greeting.ok().flatten() else {
            let reason = carrier.complaint("it does not answer").await;
            return self.unanswered(reason).await;
        };
        if greeting.protocol != FAR_PROTOCOL {
            let (theirs, ours) = (greeting.version, env!("CARGO_PKG_VERSION"));
            let reason =
                format!("wheelhouse is {theirs} there and {ours} here: install the same version");
            let is_begun = self.is_away || self.order.is_none();
            return if is_begun {
                CallOutcome::Unreached(reason)
            } else {
                CallOutcome::Failed(reason)
            };
        }
        let order = self.order.as_deref().cloned();
        let has_order = order.is_some();
        let call = Call { run, ticket: self.ticket.clone(), order };
        let mut text = serde_json::to_vec(&call).expect("plain data always has a JSON form");
        text.push(b'\n');
        let was_away = self.is_away;
        self.is_away |= has_order;
        let asked = async {
            stream.writer.write_all(&text).await.ok()?;
            stream.next::<Answer>().await
        };
        match timeout(ANSWER_MAX, asked).await {
            Ok(Some(Answer::Attached)) => CallOutcome::Up(stream.carried_by(carrier)),
            Ok(Some(Answer::Absent { survivors })) => {
                if !survivors.is_empty() {
                    tracing::warn!(?survivors, "left alive there");
                }
                CallOutcome::Absent
            }
            Ok(Some(Answer::Failed { reason })) => CallOutcome::Failed(reason),
            // The first order has then begun nothing, and what a later one finds proves nothing.
            Ok(Some(Answer::Unable { reason })) if has_order && !was_away => {
                CallOutcome::Failed(reason)
            }
            Ok(Some(Answer::Unable { reason })) => CallOutcome::Unreached(reason),
            Ok(None) | Err(_) => CallOutcome::Unreached(carrier.complaint("it broke off").await),
        }
    }

    /// Makes the container of the run, unless a call that broke off has made it.
    async fn make_container(&self, make: Vec<String>) -> Result<(), String> {
        let Err(reason) = self.make_once(&make).await else { return Ok(()) };
        match (self.container().await, self.way.remove()) {
            (Some(Container::Up), _) if self.is_away => Ok(()),
            // Nothing of this run has left, so a hub that was killed, or an engine that did not
            // answer, has left this one of an earlier run.
            (Some(Container::Up | Container::Down), Some(remove)) if !self.is_away => {
                ask_engine(&remove).await?;
                self.make_once(&make).await
            }
            (_, _) => Err(reason),
        }
    }

    async fn make_once(&self, argv: &[String]) -> Result<(), String> {
        tokio::select! {
            done = run_to_end(argv, MAKE_MAX) => done.map(drop),
            () = self.stop.notified() => Err("stopped before its container was made".to_owned()),
        }
    }

    /// Returns what it means that nobody greeted, for this reason.
    async fn unanswered(&self, reason: String) -> CallOutcome {
        let is_over = match self.container().await {
            Some(Container::Down) => true,
            // One that was not made by us may have got another name.
            Some(Container::Missing) => self.way.remove().is_some(),
            Some(Container::Up) | None => false,
        };
        if !is_over {
            return CallOutcome::Unreached(reason);
        }
        if self.order.is_none() || self.is_away {
            return CallOutcome::Absent;
        }
        // It ended by itself before anything was begun in it, and has said why.
        let said = match self.way.last_words() {
            Some(words) => ask_engine(&words).await.ok(),
            None => None,
        };
        let said = said.and_then(|said| last_words(&format!("{}{}", said.out, said.err)));
        CallOutcome::Failed(said.unwrap_or(reason))
    }

    /// Returns how the container stands in which the run is, where the engine knows that for certain.
    async fn container(&self) -> Option<Container> {
        let Ok(said) = ask_engine(&self.way.standing()?).await else {
            let listed = ask_engine(&self.way.list()?).await.ok()?;
            return listed.out.trim().is_empty().then_some(Container::Missing);
        };
        match said.out.trim() {
            "running" => Some(Container::Up),
            "exited" | "stopped" | "dead" | "created" => Some(Container::Down),
            // What is paused, or on its way from one to the other, may go on.
            _ => None,
        }
    }
}

async fn ask_engine(argv: &[String]) -> Result<Printed, String> {
    run_to_end(argv, ENGINE_MAX).await
}

/// How a container stands.
enum Container {
    Up,
    /// It is there, and nothing runs in it.
    Down,
    /// The engine works, and knows of none with its name.
    Missing,
}

/// The way to a keeper on this machine.
#[derive(Debug)]
pub(in crate::hub) struct LocalKeeper {
    pub(in crate::hub) session: SessionName,
    pub(in crate::hub) socket: PathBuf,
    pub(in crate::hub) lock: PathBuf,
}

impl LocalKeeper {
    /// Connects to the agent's keeper, if it is that one who listens.
    pub(in crate::hub) async fn reach(
        &self,
        agent: &AgentName,
        tracer: &Tracer,
    ) -> Option<UnixStream> {
        let stream = UnixStream::connect(&self.socket).await.ok()?;
        let is_it = is_own(&stream) && tracer.is_keeper(&stream, &self.session, agent);
        is_it.then_some(stream)
    }

    /// Says whether a keeper, or what watches over its tree, is alive.
    pub(in crate::hub) fn is_held(&self) -> bool {
        keeper::is_held(&self.lock)
    }
}
