//! Locks: one holds each, others wait in order, and nobody keeps one for ever.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::engine::Engine;
use crate::engine::journal::Place;
use crate::engine::prompts::prompt_texts;
use crate::model::{
    AgentName, Done, Entry, Holder, Letter, Lock, LockCommand, Moment, Play, Refusal, Task, TaskId,
    TaskState, Waiter,
};

/// How long a lock may be held where nobody says otherwise.
const LOCK_LIMIT: Duration = Duration::from_mins(30);

/// Nobody holds a lock longer, whatever was asked for.
const LOCK_LIMIT_MAX: Duration = Duration::from_hours(24);

/// Locks that are held at once, and who waits for one: more is a runaway script.
const LOCKS_MAX: usize = 256;
const WAITING_MAX: usize = 64;

const NAME_CHARS_MAX: usize = 64;

impl Engine {
    /// Returns the locks that are held, by name.
    pub fn locks(&self) -> impl Iterator<Item = &Lock> {
        self.locks.values()
    }

    pub(in crate::engine) fn obey_about_locks(
        &mut self,
        command: LockCommand,
        now: Moment,
    ) -> Result<Done, Refusal> {
        let name = match command {
            LockCommand::Take { name, agent, limit_ms } => {
                self.refuse_if_going_down()?;
                self.take_lock(&name, agent, limit_ms, now)?;
                name
            }
            LockCommand::Release { name, agent } => {
                self.release_lock(&name, agent.as_ref(), now)?;
                name
            }
        };
        let locks = self.locks.get(&name).cloned().into_iter().collect();
        Ok(Done { locks, ..Done::default() })
    }

    fn take_lock(
        &mut self,
        name: &str,
        agent: Option<AgentName>,
        limit_ms: Option<u64>,
        now: Moment,
    ) -> Result<(), Refusal> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(is_plain) {
            return Err(Refusal::BadLock { name: crate::engine::tasks::requests::line(name) });
        }
        let task = agent.as_ref().and_then(|agent| self.task_of(agent)).map(|task| task.id);
        let limit_ms = limit_ms.unwrap_or_else(|| self.lock_limit(name, task));
        let Some(lock) = self.locks.get_mut(name) else {
            if self.locks.len() >= LOCKS_MAX {
                return Err(Refusal::TooManyLocks { count: self.locks.len() });
            }
            self.grant(name, Waiter { agent, task, since: now, limit_ms }, now);
            return Ok(());
        };
        let is_known = lock.holder.agent == agent || lock.waiting.iter().any(|w| w.agent == agent);
        if is_known {
            return Ok(());
        }
        if lock.waiting.len() >= WAITING_MAX {
            return Err(Refusal::TooManyLocks { count: lock.waiting.len() });
        }
        let words = format!("{name}: waits for {}", told(lock.holder.agent.as_ref()));
        lock.waiting.push(Waiter { agent: agent.clone(), task, since: now, limit_ms });
        self.touch(Place::Lock(name.to_owned()));
        self.tell_lock("lock.waits", words, agent.as_ref(), task);
        self.break_deadlocks(now);
        Ok(())
    }

    /// Returns how long a lock may be held: as the run says that brings it along.
    fn lock_limit(&self, name: &str, task: Option<TaskId>) -> u64 {
        let play = task.and_then(|id| self.tasks[&id].play).and_then(|id| self.plays.get(&id));
        let terms =
            play.and_then(|play: &Play| play.cast.locks.iter().find(|one| one.name == name));
        terms.and_then(|terms| terms.limit_ms).unwrap_or_else(|| millis(LOCK_LIMIT))
    }

    /// Gives a lock that nobody holds to someone.
    fn grant(&mut self, name: &str, to: Waiter, now: Moment) {
        let Waiter { agent, task, limit_ms, .. } = to;
        let limit = Duration::from_millis(limit_ms).min(LOCK_LIMIT_MAX);
        self.tell_lock("lock.taken", name.to_owned(), agent.as_ref(), task);
        let holder = Holder { agent, task, since: now, until: now + limit };
        if let Some(lock) = self.locks.get_mut(name) {
            lock.holder = holder;
        } else {
            let lock = Lock { name: name.to_owned(), holder, waiting: Vec::new() };
            self.locks.insert(name.to_owned(), lock);
        }
        self.touch(Place::Lock(name.to_owned()));
    }

    fn release_lock(
        &mut self,
        name: &str,
        agent: Option<&AgentName>,
        now: Moment,
    ) -> Result<(), Refusal> {
        let unknown = || Refusal::NotHeld { name: crate::engine::tasks::requests::line(name) };
        let lock = self.locks.get_mut(name).ok_or_else(unknown)?;
        // A person may take a lock from anyone.
        if agent.is_none() || lock.holder.agent.as_ref() == agent {
            self.pass_lock(name, "lock.released", now);
            return Ok(());
        }
        let before = lock.waiting.len();
        lock.waiting.retain(|waiter| waiter.agent.as_ref() != agent);
        if lock.waiting.len() == before {
            return Err(unknown());
        }
        self.touch(Place::Lock(name.to_owned()));
        Ok(())
    }

    /// Takes a lock from whoever holds it, and gives it to the next.
    fn pass_lock(&mut self, name: &str, why: &str, now: Moment) {
        let Some(lock) = self.locks.get_mut(name) else { return };
        let before = lock.holder.clone();
        let next = if lock.waiting.is_empty() { None } else { Some(lock.waiting.remove(0)) };
        self.tell_lock(why, name.to_owned(), before.agent.as_ref(), before.task);
        self.touch(Place::Lock(name.to_owned()));
        let Some(next) = next else {
            self.locks.remove(name);
            return;
        };
        let agent = next.agent.clone();
        self.grant(name, next, now);
        if let Some(agent) = agent {
            let text = prompt_texts::lock_granted(name);
            self.post(Letter { agent, text, tag: None }, now);
        }
    }

    /// Says whether all that a task must hold is free.
    pub(in crate::engine) fn has_locks_for(&self, task: &Task) -> bool {
        task.terms.locks.iter().all(|name| !self.locks.contains_key(name))
    }

    /// Takes what a task must hold while someone works on it.
    pub(in crate::engine) fn take_locks(&mut self, id: TaskId, now: Moment) {
        let task = &self.tasks[&id];
        let agent = task.open().map(|open| open.agent.clone());
        for name in task.terms.locks.clone() {
            let limit_ms = self.lock_limit(&name, Some(id));
            let waiter = Waiter { agent: agent.clone(), task: Some(id), since: now, limit_ms };
            self.grant(&name, waiter, now);
        }
    }

    /// Gives back what was held for a task, and no longer waits for its sake.
    pub(in crate::engine) fn free_locks(&mut self, id: TaskId, now: Moment) {
        self.drop_waits(|waiter| waiter.task == Some(id));
        let held = self.locks.values().filter(|lock| lock.holder.task == Some(id));
        for name in held.map(|lock| lock.name.clone()).collect::<Vec<_>>() {
            self.pass_lock(&name, "lock.released", now);
        }
    }

    fn drop_waits(&mut self, is_over: impl Fn(&Waiter) -> bool) {
        let mut changed = Vec::new();
        for lock in self.locks.values_mut() {
            let before = lock.waiting.len();
            lock.waiting.retain(|waiter| !is_over(waiter));
            if lock.waiting.len() != before {
                changed.push(lock.name.clone());
            }
        }
        for name in changed {
            self.touch(Place::Lock(name));
        }
    }

    /// Takes locks from those who are gone or have had them too long.
    pub(in crate::engine) fn tend_locks(&mut self, now: Moment) {
        if self.locks.is_empty() {
            return;
        }
        let is_gone =
            |agent: &AgentName| self.seats.get(agent).is_none_or(crate::engine::Seat::is_gone);
        let gone: BTreeSet<AgentName> = self
            .locks
            .values()
            .flat_map(|lock| lock.waiting.iter().map(|w| &w.agent).chain([&lock.holder.agent]))
            .flatten()
            .filter(|agent| is_gone(agent))
            .cloned()
            .collect();
        let is_out = |agent: Option<&AgentName>| agent.is_some_and(|agent| gone.contains(agent));
        self.drop_waits(|waiter| is_out(waiter.agent.as_ref()));
        let ends = |lock: &Lock| lock.holder.until <= now || is_out(lock.holder.agent.as_ref());
        let over: Vec<Lock> = self.locks.values().filter(|lock| ends(lock)).cloned().collect();
        for lock in over {
            let holder = lock.holder.agent.filter(|agent| !is_out(Some(agent)));
            let why = if holder.is_some() { "lock.expired" } else { "lock.released" };
            self.pass_lock(&lock.name, why, now);
            if let Some(agent) = holder {
                let text = prompt_texts::lock_expired(&lock.name);
                self.post(Letter { agent, text, tag: None }, now);
            }
        }
    }

    pub(in crate::engine) fn lock_deadline(&self) -> Option<Moment> {
        self.locks.values().map(|lock| lock.holder.until).min()
    }

    /// Returns who waits for whom because of a lock.
    pub(in crate::engine) fn lock_waits(&self) -> Vec<(AgentName, AgentName)> {
        let asked = self.locks.values().flat_map(|lock| {
            let waiting = lock.waiting.iter().filter_map(|waiter| waiter.agent.clone());
            waiting.filter_map(|agent| Some((agent, lock.holder.agent.clone()?)))
        });
        let ready = self.tasks.values().filter(|task| task.state == TaskState::Ready);
        let ready = ready.flat_map(|task| {
            let locks = task.terms.locks.iter().filter_map(|name| self.locks.get(name));
            locks.filter_map(|lock| Some((task.terms.agent.clone()?, lock.holder.agent.clone()?)))
        });
        asked.chain(ready).filter(|(one, other)| one != other).collect()
    }

    /// Unties agents that wait for each other's locks: the one that came last gives way.
    pub(in crate::engine) fn untie_locks(&mut self, ring: &[AgentName], now: Moment) -> bool {
        let is_inside =
            |agent: &Option<AgentName>| agent.as_ref().is_some_and(|a| ring.contains(a));
        let waits = self.locks.values().filter(|lock| is_inside(&lock.holder.agent));
        let waits = waits.flat_map(|lock| lock.waiting.iter().map(move |waiter| (lock, waiter)));
        let last = waits
            .filter(|(_, waiter)| is_inside(&waiter.agent))
            .max_by_key(|(_, waiter)| (waiter.since, waiter.agent.clone()));
        let Some((name, agent)) =
            last.and_then(|(lock, waiter)| Some((lock.name.clone(), waiter.agent.clone()?)))
        else {
            return false;
        };
        let names = ring.iter().map(AgentName::as_str).collect::<Vec<_>>().join(" → ");
        self.tell(Entry::new("deadlock", format!("{names}: {agent} no longer waits for {name}")));
        self.drop_lock_wait(&name, &agent);
        let text = prompt_texts::lock_refused(&name);
        self.post(Letter { agent, text, tag: None }, now);
        true
    }

    fn drop_lock_wait(&mut self, name: &str, agent: &AgentName) {
        if let Some(lock) = self.locks.get_mut(name) {
            lock.waiting.retain(|waiter| waiter.agent.as_ref() != Some(agent));
            self.touch(Place::Lock(name.to_owned()));
        }
    }

    fn tell_lock(
        &mut self,
        kind: &str,
        words: String,
        agent: Option<&AgentName>,
        task: Option<TaskId>,
    ) {
        let mut entry = Entry::new(kind, words);
        entry.agent = agent.cloned();
        entry.task = task.map(|task| task.to_string());
        self.tell(entry);
    }
}

fn told(agent: Option<&AgentName>) -> &str {
    agent.map_or("a person", AgentName::as_str)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, Work, name};
    use crate::model::{AgentState, Command};

    fn take(bench: &mut Bench, lock: &str, agent: &str) {
        let (lock, agent) = (lock.to_owned(), Some(name(agent)));
        let command = LockCommand::Take { name: lock, agent, limit_ms: None };
        let _ = bench.ask(Command::Lock(command));
    }

    fn holder(bench: &Bench, lock: &str) -> Option<String> {
        let lock = bench.engine.locks().find(|one| one.name == lock)?;
        lock.holder.agent.as_ref().map(ToString::to_string)
    }

    #[test]
    fn a_lock_is_held_by_one_and_passed_on_in_order() {
        let mut bench = Bench::with_idle(&["one", "three", "two"]);
        for agent in ["one", "two", "three", "two"] {
            take(&mut bench, "x", agent);
        }
        assert_eq!(holder(&bench, "x").as_deref(), Some("one"));
        for next in [Some("two"), Some("three"), None] {
            let (name, agent) = ("x".to_owned(), None);
            let _ = bench.ask(Command::Lock(LockCommand::Release { name, agent }));
            assert_eq!(holder(&bench, "x").as_deref(), next);
        }
        assert!(bench.prompts("two")[0].contains("`x` is yours"));
    }

    #[test]
    fn a_lock_that_is_never_released_is_taken_away_in_time() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        take(&mut bench, "x", "one");
        take(&mut bench, "x", "two");
        bench.crash();
        for agent in ["one", "two"] {
            let _ = bench.tell(agent, crate::engine::fixture::seen());
            bench.did(agent, AgentState::Idle);
        }
        while holder(&bench, "x").as_deref() == Some("one") {
            bench.pass_time();
        }
        assert_eq!(holder(&bench, "x").as_deref(), Some("two"));
        assert!(bench.now >= Moment(0) + LOCK_LIMIT);
    }

    #[test]
    fn tasks_that_share_a_lock_run_one_after_the_other() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let work = |title| Work::new(title).with(|terms| terms.locks = vec!["x".to_owned()]);
        let _ = bench.add(vec![work("a"), work("b")]);
        assert_eq!(bench.states(), [TaskState::Running, TaskState::Ready]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(bench.states(), [TaskState::Done, TaskState::Running]);
        assert_eq!(holder(&bench, "x"), bench.worker(2));
    }

    #[test]
    fn two_that_wait_for_each_others_locks_are_untied() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let work = |title: &str| Work::new(title).with(|terms| terms.agent = Some(name(title)));
        let _ = bench.add(vec![work("one"), work("two")]);
        for agent in ["one", "two"] {
            bench.begin(agent);
        }
        take(&mut bench, "x", "one");
        take(&mut bench, "y", "two");
        take(&mut bench, "y", "one");
        take(&mut bench, "x", "two");
        let waiting = |lock: &str| {
            let lock = bench.engine.locks().find(|one| one.name == lock).unwrap();
            lock.waiting.len()
        };
        assert_eq!((waiting("x"), waiting("y")), (0, 1), "the last one gives way");
    }

    #[test]
    fn what_an_agent_holds_goes_with_it() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        take(&mut bench, "x", "one");
        take(&mut bench, "x", "two");
        let _ = bench.stop("one");
        let _ = bench.tell("one", crate::engine::fixture::stopped());
        assert_eq!(holder(&bench, "x").as_deref(), Some("two"));
    }
}
