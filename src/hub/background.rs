//! Does what waits for a disk, for git or for another process beside the hub's thread, which goes on
//! meanwhile.
//!
//! Whatever needs the settings or plans runs takes turns, in the order in which it was asked for, so that
//! each plan knows what the one before it has begun.

use std::collections::{BTreeMap, VecDeque};

use super::Hub;
use super::inbox::{ClientId, Continuation, HubInput};
use crate::api::Fault;
use crate::config::{Loaded, Settings};
use crate::hub::agents::plan::Launches;
use crate::hub::agents::planner::Planner;
use crate::hub::clients::askers::{Asker, Reply};
use crate::hub::clients::permissions::dead_token;
use crate::model::AgentName;
use crate::store::{Journal, StoreError};

/// Requests that are planned one after the other.
#[derive(Debug, Default)]
pub(super) struct PlanQueue {
    /// Never full: a client has at most so many requests without an answer, and an agent one renewal.
    waiting: VecDeque<Continuation>,
    is_busy: bool,
    /// How many there ever were; the last one has this number.
    last: u64,
    /// The last turn that had been asked for when an agent was stopped.
    stopped: BTreeMap<AgentName, u64>,
    /// The same for all agents.
    all_stopped: u64,
    /// Whose prompts are being made from templates.
    filling: Vec<ClientId>,
}

/// Which of the turns one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TurnNumber(u64);

impl PlanQueue {
    fn next(&mut self) -> TurnNumber {
        self.last += 1;
        TurnNumber(self.last)
    }

    pub(super) fn begin_filling(&mut self, client: ClientId) {
        self.filling.push(client);
    }

    pub(super) fn end_filling(&mut self, client: ClientId) {
        if let Some(at) = self.filling.iter().position(|one| *one == client) {
            self.filling.remove(at);
        }
    }

    pub(super) fn is_filling_for(&self, client: ClientId) -> bool {
        self.filling.contains(&client)
    }

    /// Notes that agents are stopped: what was asked for before does not start them any more.
    pub(super) fn note_stop(&mut self, agents: &[AgentName]) {
        if self.is_busy {
            self.stopped.extend(agents.iter().map(|agent| (agent.clone(), self.last)));
        }
    }

    pub(super) fn note_stop_of_all(&mut self) {
        self.all_stopped = self.last;
    }

    /// Refuses to start an agent that was stopped after its start was asked for.
    pub(super) fn refuse_stopped(
        &self,
        turn: TurnNumber,
        crew: Launches,
    ) -> Result<Launches, Fault> {
        let is_stopped = |agent: &AgentName| {
            let stopped = self.stopped.get(agent).copied().unwrap_or_default();
            turn.0 <= stopped.max(self.all_stopped)
        };
        match crew.iter().find(|(member, _)| is_stopped(&member.name)) {
            None => Ok(crew),
            Some((member, _)) => {
                let name = &member.name;
                let message = format!("Agent `{name}` was stopped while its start was prepared");
                let hint = format!("Start it with `wheelhouse agent start {name}`");
                Err(Fault::new(message).with_hint(hint))
            }
        }
    }
}

impl Hub {
    /// Waits for something beside the hub, and goes on with what came of it.
    pub(super) fn when_done<T: 'static>(
        &self,
        work: impl Future<Output = T> + 'static,
        then: impl FnOnce(&mut Self, T) + 'static,
    ) {
        let requests = self.senders.requests.clone();
        tokio::task::spawn_local(async move {
            let done = work.await;
            let then = Continuation(Box::new(move |hub| then(hub, done)));
            let _ = requests.send(HubInput::Continue(then)).await;
        });
    }

    /// Does something that may take long on a thread of its own, and goes on with what came of it.
    pub(super) fn in_background<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
        then: impl FnOnce(&mut Self, Result<T, Fault>) + 'static,
    ) {
        let failed = |error| {
            tracing::error!(%error, "work beside the hub has failed");
            Fault::new("The hub failed to do that")
                .with_hint("Its log says more: `wheelhouse doctor`")
        };
        let work = async move { tokio::task::spawn_blocking(work).await.map_err(failed) };
        self.when_done(work, then);
    }

    /// Reads the record on a thread of its own, and goes on with what it says.
    pub(super) fn read_record<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Journal) -> Result<T, StoreError> + Send + 'static,
        then: impl FnOnce(&mut Self, Result<T, Fault>) + 'static,
    ) {
        let path = self.paths.record();
        let work = move || {
            let found = Journal::open(&path).and_then(|journal| read(&journal));
            found.map_err(|error| {
                Fault::new(format!("The record cannot be read: {error}"))
                    .with_hint("Look closer with `wheelhouse doctor`")
            })
        };
        self.in_background(work, move |hub, found| then(hub, found.flatten()));
    }

    pub(super) fn go_on(&mut self, Continuation(then): Continuation) {
        then(self);
    }

    /// Reads the settings anew in its turn, takes over what the hub itself goes by, has `prepare` say
    /// what is to be planned, and plans that beside the hub. What `then` returns is the answer, unless it
    /// comes later.
    pub(super) fn plan<T, W>(
        &mut self,
        asker: Option<Asker>,
        prepare: impl FnOnce(&mut Self, &Loaded) -> Result<W, Fault> + 'static,
        then: impl FnOnce(&mut Self, TurnNumber, Result<(Loaded, T), Fault>) -> Option<Reply> + 'static,
    ) where
        T: Send + 'static,
        W: FnOnce(&Planner, &Loaded) -> Result<T, Fault> + Send + 'static,
    {
        let speaker = asker.and_then(|asker| self.clients.speaker(asker.client).cloned());
        let turn = self.plans.next();
        let end = move |hub: &mut Self, planned: Result<(Loaded, T), Fault>| {
            // Whoever spoke for an agent and is gone must not be taken for a person.
            let now = asker.and_then(|asker| hub.clients.speaker(asker.client));
            let is_alive = |(agent, run): &(AgentName, _)| {
                hub.engine.seat(agent).is_some_and(|seat| seat.run == *run && !seat.is_gone())
            };
            let may = speaker.is_none() || now.is_some_and(is_alive);
            let planned = if may { planned } else { Err(dead_token()) };
            let answer = then(hub, turn, planned);
            if let (Some(asker), Some(answer)) = (asker, answer) {
                hub.answer(asker, answer);
            }
            hub.end_turn();
        };
        let begin = move |hub: &mut Self| {
            let paths = hub.paths.clone();
            let load = move || Settings::load(&paths).map_err(|error| error.to_string());
            hub.in_background(load, move |hub, loaded| {
                let loaded = loaded.and_then(|loaded| hub.take_over_loaded(loaded));
                let prepared = loaded.and_then(|loaded| Ok((prepare(hub, &loaded)?, loaded)));
                let (work, loaded) = match prepared {
                    Ok(prepared) => prepared,
                    Err(fault) => return end(hub, Err(fault)),
                };
                let planner = hub.planner();
                let work = move || work(&planner, &loaded).map(|planned| (loaded, planned));
                hub.in_background(work, move |hub, planned| end(hub, planned.flatten()));
            });
        };
        self.take_turn(begin);
    }

    fn planner(&self) -> Planner {
        let places = (self.paths.clone(), self.program.clone());
        let (size, has_reporters) = (self.panes.default_size(), self.settings.reporters.enabled);
        Planner::of(&self.engine, &self.agents, places, size, has_reporters)
    }

    /// Does something that changes files which plans write, too: in its turn, beside the hub.
    pub(super) fn in_turn(&mut self, work: impl FnOnce() + Send + 'static) {
        self.take_turn(move |hub| hub.in_background(work, |hub, _| hub.end_turn()));
    }

    fn take_turn(&mut self, begin: impl FnOnce(&mut Self) + 'static) {
        self.plans.waiting.push_back(Continuation(Box::new(begin)));
        self.begin_turn();
    }

    fn begin_turn(&mut self) {
        if self.plans.is_busy {
            return;
        }
        match self.plans.waiting.pop_front() {
            Some(turn) => {
                self.plans.is_busy = true;
                self.go_on(turn);
            }
            None => self.plans.stopped.clear(),
        }
    }

    fn end_turn(&mut self) {
        self.plans.is_busy = false;
        self.begin_turn();
    }
}
