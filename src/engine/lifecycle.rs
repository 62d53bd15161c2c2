//! The life of a run: started, seen, stopped, ended; and what follows each step.

use super::waits::Goal;
use super::{Effect, Engine, Phase, RunEvent, Seat};
use crate::model::{
    AgentName, AgentState, Ending, Failure, Launch, Member, Moment, ProcessId, ProcessInfo, Role,
    RunId,
};

/// The grace of a stop whose first order may not have arrived.
const REPEATED_STOP_GRACE_MS: u64 = 3_000;

impl Engine {
    /// Starts a new run of an agent that has none alive.
    pub(super) fn begin(
        &mut self,
        member: Member,
        launch: Launch,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let agent = member.name.clone();
        let run = self.seats.get(&agent).map_or_else(RunId::default, |seat| seat.run).next();
        let seat = Seat {
            member,
            run,
            phase: Phase::Starting,
            state: AgentState::Starting,
            since: now,
            keeper: None,
            process: None,
            note: None,
            next: None,
        };
        self.seats.insert(agent.clone(), seat);
        self.is_dirty = true;
        effects.push(Effect::Start { agent, run, launch });
    }

    /// Orders a stop, and says whether there is anything to stop.
    pub(super) fn order_stop(
        &mut self,
        agent: &AgentName,
        grace_ms: u64,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(seat) = self.seats.get_mut(agent).filter(|seat| seat.is_live()) else {
            return false;
        };
        seat.next = None;
        if !matches!(seat.phase, Phase::Sweeping(_)) {
            seat.phase = Phase::Stopping;
            seat.since = now;
            self.is_dirty = true;
            effects.push(Effect::Stop { agent: agent.clone(), run: seat.run, grace_ms });
        }
        true
    }

    pub(super) fn note_run(
        &mut self,
        agent: &AgentName,
        run: RunId,
        event: RunEvent,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        if let RunEvent::Seen { keeper, process } = event {
            return self.note_seen(agent, run, (keeper, process), now, effects);
        }
        let Some(seat) = self.seats.get_mut(agent) else { return };
        if seat.run != run || !seat.is_live() {
            return;
        }
        let was_stopping = matches!(seat.phase, Phase::Stopping | Phase::Sweeping(Ending::Stopped));
        match event {
            RunEvent::Seen { .. } => {}
            RunEvent::Spoke => {
                if seat.state == AgentState::Starting {
                    seat.state = AgentState::Unknown;
                    seat.since = now;
                    self.is_dirty = true;
                }
            }
            RunEvent::StartFailed { reason } => {
                effects.push(Effect::Release { agent: agent.clone(), run });
                seat.note = Some(reason);
                self.end(agent, Ending::Failed, now, effects);
            }
            RunEvent::Exited { exit } => {
                effects.push(Effect::Release { agent: agent.clone(), run });
                let ending = if was_stopping { Ending::Stopped } else { Ending::Finished(exit) };
                self.end(agent, ending, now, effects);
            }
            RunEvent::Stopped { survivors } if survivors.is_empty() => {
                self.end(agent, Ending::Stopped, now, effects);
            }
            RunEvent::Stopped { survivors } => self.keep_for_survivors(agent, survivors, effects),
            RunEvent::KeeperLost => {
                let ending = if was_stopping { Ending::Stopped } else { Ending::Lost };
                seat.phase = Phase::Sweeping(ending);
                self.is_dirty = true;
                effects.push(Effect::Sweep { agent: agent.clone(), run });
            }
            RunEvent::Swept { survivors } => {
                let ending = if was_stopping { Ending::Stopped } else { Ending::Lost };
                if !survivors.is_empty() {
                    seat.note = Some(format!("left alive: {}", names(&survivors)));
                }
                self.end(agent, ending, now, effects);
            }
        }
    }

    /// A keeper that lives is believed over the record: it holds the agent's kernel lock.
    fn note_seen(
        &mut self,
        agent: &AgentName,
        run: RunId,
        (keeper, process): (ProcessId, ProcessId),
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let seat = self.seats.entry(agent.clone()).or_insert_with(|| stranger(agent, run, now));
        seat.run = run;
        (seat.keeper, seat.process) = (Some(keeper), Some(process));
        self.is_dirty = true;
        match seat.phase {
            // The order may have died with an earlier hub; a keeper obeys it once.
            Phase::Stopping => {
                let (agent, grace_ms) = (agent.clone(), REPEATED_STOP_GRACE_MS);
                effects.push(Effect::Stop { agent, run, grace_ms });
            }
            Phase::Running => self.reach(agent, Goal::Running, effects),
            Phase::Starting | Phase::Sweeping(_) | Phase::Ended(_) => {
                seat.phase = Phase::Running;
                if seat.state == AgentState::Exited {
                    seat.state = AgentState::Starting;
                }
                self.reach(agent, Goal::Running, effects);
            }
        }
    }

    /// Ends a run whose tree is proven empty, and begins what was to follow it.
    fn end(&mut self, agent: &AgentName, ending: Ending, now: Moment, effects: &mut Vec<Effect>) {
        let seat = self.seats.get_mut(agent).expect("only runs of known seats end");
        seat.phase = Phase::Ended(ending);
        seat.state = AgentState::Exited;
        seat.since = now;
        let reason = seat.note.clone().unwrap_or_else(|| ending.to_string());
        let next = seat.next.take().filter(|_| !self.going_down);
        self.is_dirty = true;
        self.reach(agent, Goal::Ended, effects);
        if let Some((member, launch)) = next {
            self.begin(member, launch, now, effects);
        } else {
            let failure = Failure { agent: agent.clone(), reason, survivors: Vec::new() };
            self.miss(Goal::Running, &failure, effects);
        }
        self.finish_down(effects);
    }

    /// Tells those who wait that a stop did not succeed; the run stays, so that it can be tried again.
    fn keep_for_survivors(
        &mut self,
        agent: &AgentName,
        survivors: Vec<ProcessInfo>,
        effects: &mut Vec<Effect>,
    ) {
        let reason = format!("could not be stopped, left alive: {}", names(&survivors));
        let seat = self.seats.get_mut(agent).expect("only runs of known seats are stopped");
        seat.note = Some(reason.clone());
        seat.next = None;
        self.going_down = false;
        self.is_dirty = true;
        let failure = Failure { agent: agent.clone(), reason, survivors };
        self.miss(Goal::Ended, &failure, effects);
        self.miss(Goal::Running, &failure, effects);
    }

    /// Ends the hub once everything that was to go down is down.
    pub(super) fn finish_down(&mut self, effects: &mut Vec<Effect>) {
        if !self.going_down || self.seats.values().any(Seat::is_live) {
            return;
        }
        self.going_down = false;
        self.is_dirty = true;
        effects.push(Effect::EndHub);
    }
}

/// An agent whose keeper lives but of whom the record knows nothing.
fn stranger(agent: &AgentName, run: RunId, now: Moment) -> Seat {
    let member = Member {
        name: agent.clone(),
        team: String::new(),
        cli: "unknown".to_owned(),
        role: Role::default(),
        argv: Vec::new(),
        cwd: std::path::PathBuf::new(),
        conversation: None,
    };
    Seat {
        member,
        run,
        phase: Phase::Starting,
        state: AgentState::Unknown,
        since: now,
        keeper: None,
        process: None,
        note: Some("found alive, but not on record".to_owned()),
        next: None,
    }
}

fn names(processes: &[ProcessInfo]) -> String {
    let name = |info: &ProcessInfo| format!("{} ({})", info.id.pid, info.name);
    processes.iter().map(name).collect::<Vec<_>>().join(", ")
}
