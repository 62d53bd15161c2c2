//! Knows what only this hub knows of the agents that it starts: their processes and their variables.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::process::Child;
use std::rc::Rc;

use crate::keeper::Watchdog;
use crate::model::{AgentName, Environment, RunId};

/// What is known of the agents beside the record.
#[derive(Debug, Default)]
pub(in crate::hub) struct Agents {
    keepers: Vec<StartedKeeper>,
    /// Runs whose keepers are about to be started.
    starting: BTreeMap<AgentName, PendingStart>,
    /// Starts the next hub while agents live elsewhere.
    watchdog: Option<Watchdog>,
    /// What was set for agents that were added: values that may be secrets, and so only here.
    added_env: BTreeMap<AgentName, Environment>,
    /// The variables of whoever last started each agent, and so only here, too.
    callers: BTreeMap<AgentName, Rc<Environment>>,
}

/// The outermost process behind an agent that this hub started, and so must reap.
#[derive(Debug)]
struct StartedKeeper {
    child: Child,
    has_ended: Rc<Cell<bool>>,
}

/// A run whose keeper is about to be started.
#[derive(Debug)]
struct PendingStart {
    run: RunId,
    /// The grace of a stop that was ordered meanwhile.
    stop: Option<u64>,
}

impl Agents {
    /// Notes that a run is about to be started.
    pub(in crate::hub) fn begin_start(&mut self, agent: AgentName, run: RunId) {
        self.starting.insert(agent, PendingStart { run, stop: None });
    }

    /// Orders a run to stop that has not been started yet, and says whether it is one.
    pub(in crate::hub) fn stop_start(
        &mut self,
        agent: &AgentName,
        run: RunId,
        grace_ms: u64,
    ) -> bool {
        let starting = self.starting.get_mut(agent).filter(|starting| starting.run == run);
        starting.map(|starting| starting.stop = Some(grace_ms)).is_some()
    }

    /// Says whether a run that was about to be started is still wanted.
    pub(in crate::hub) fn is_start_wanted(&self, agent: &AgentName) -> bool {
        self.starting.get(agent).is_some_and(|starting| starting.stop.is_none())
    }

    /// Notes that a run is no longer about to be started, and returns the grace of a stop that was ordered
    /// meanwhile.
    pub(in crate::hub) fn end_start(&mut self, agent: &AgentName) -> Option<u64> {
        self.starting.remove(agent)?.stop
    }

    /// Takes on the process of a keeper that was started; what this returns says once it has ended.
    pub(in crate::hub) fn add_keeper(&mut self, child: Child) -> Rc<Cell<bool>> {
        let has_ended = Rc::new(Cell::new(false));
        self.keepers.push(StartedKeeper { child, has_ended: Rc::clone(&has_ended) });
        // It may have ended before anyone knew of it.
        self.reap();
        has_ended
    }

    /// Returns how many keepers this hub has started or is about to start.
    pub(in crate::hub) fn keeper_count(&self) -> usize {
        self.keepers.len() + self.starting.len()
    }

    /// Takes in processes that have ended.
    pub(in crate::hub) fn reap(&mut self) {
        self.watchdog.take_if(|watchdog| !watchdog.is_alive());
        self.keepers.retain_mut(|keeper| {
            let lives = matches!(keeper.child.try_wait(), Ok(None));
            keeper.has_ended.set(!lives);
            lives
        });
    }

    /// Keeps a watchdog as long as one is needed: nobody else here might start a hub again that dies.
    pub(in crate::hub) fn keep_watchdog(
        &mut self,
        is_needed: bool,
        start: impl FnOnce() -> std::io::Result<Watchdog>,
    ) {
        if is_needed == self.watchdog.is_some() {
            return;
        }
        let done = match self.watchdog.take() {
            Some(watchdog) => watchdog.end(),
            None => start().map(|watchdog| self.watchdog = Some(watchdog)),
        };
        if let Err(error) = done {
            tracing::warn!(%error, "the watchdog could not be started or ended");
        }
    }

    /// Returns what was set for agents that were added.
    pub(super) fn added_env(&self) -> &BTreeMap<AgentName, Environment> {
        &self.added_env
    }

    /// Keeps what is set for agents that are added, and forgets those that are gone.
    pub(in crate::hub) fn set_added_env<'a>(
        &mut self,
        added: impl Iterator<Item = &'a AgentName>,
        values: &Environment,
        is_known: impl Fn(&AgentName) -> bool,
    ) {
        self.added_env.retain(|agent, _| is_known(agent));
        self.added_env.extend(added.map(|agent| (agent.clone(), values.clone())));
    }

    /// Returns the variables of whoever last started an agent; nothing after another hub.
    pub(in crate::hub) fn caller_of(&self, agent: &AgentName) -> Option<&Rc<Environment>> {
        self.callers.get(agent)
    }

    /// Keeps the variables of whoever starts agents, and forgets those of agents that are gone.
    pub(in crate::hub) fn set_caller<'a>(
        &mut self,
        started: impl Iterator<Item = &'a AgentName>,
        variables: Environment,
        is_known: impl Fn(&AgentName) -> bool,
    ) {
        self.callers.retain(|agent, _| is_known(agent));
        let variables = Rc::new(variables);
        self.callers.extend(started.map(|agent| (agent.clone(), Rc::clone(&variables))));
    }
}
