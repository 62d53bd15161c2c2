//! What survives a crash: who is on the team, and how far each one came.

use serde::{Deserialize, Serialize};

use super::{Effect, Engine, Phase, Seat};
use crate::model::{AgentState, Moment};

/// The engine's memory as it is written to disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The form of this file; a newer form is refused, never overwritten.
    pub version: u32,
    /// Someone asked for everything to end, and it has not all ended yet.
    pub going_down: bool,
    pub agents: Vec<Seat>,
}

impl Record {
    /// The form that this version reads and writes.
    pub const VERSION: u32 = 1;
}

impl Default for Record {
    fn default() -> Self {
        Self { version: Self::VERSION, going_down: false, agents: Vec::new() }
    }
}

impl Engine {
    /// Returns what must survive a crash.
    pub fn record(&self) -> Record {
        let agents = self.seats.values().cloned().collect();
        Record { version: Record::VERSION, going_down: self.going_down, agents }
    }

    /// Rebuilds the engine from its record, and says what to look for first.
    ///
    /// Nothing on record is believed to be alive until its keeper has answered.
    #[must_use]
    pub fn recover(record: Record, now: Moment) -> (Self, Vec<Effect>) {
        let mut engine = Self::new(now);
        let mut effects = Vec::new();
        for mut seat in record.agents {
            let agent = seat.member.name.clone();
            if seat.is_live() {
                let was_seen = seat.phase != Phase::Starting;
                effects.push(Effect::Adopt { agent: agent.clone(), run: seat.run, was_seen });
            }
            seat.doubt();
            engine.seats.insert(agent, seat);
        }
        engine.going_down = record.going_down && engine.seats.values().any(Seat::is_live);
        engine.note_idleness(now);
        (engine, effects)
    }
}

impl Engine {
    /// Says whether it is still open what became of a run that the record says is alive.
    pub fn is_recovering(&self) -> bool {
        self.seats.values().any(|seat| seat.is_live() && seat.process.is_none())
    }
}

impl Seat {
    /// Takes back what only a living keeper can tell, and what contradicts the rest.
    fn doubt(&mut self) {
        if self.is_live() {
            (self.keeper, self.process) = (None, None);
        }
        if self.phase == Phase::Running {
            self.phase = Phase::Starting;
        }
        match (self.is_gone(), self.state == AgentState::Exited) {
            (false, true) => self.state = AgentState::Starting,
            (true, false) => self.state = AgentState::Exited,
            (true, true) | (false, false) => {}
        }
    }
}
