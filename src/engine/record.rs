//! What survives a crash: who is on the team, how far each one came, and what was sent to whom.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::journal::{DISPATCH, HUB, HubRow, SEAT, change};
use super::{Dispatch, Effect, Engine, Phase, Seat};
use crate::model::{AgentState, Moment, RowChange};

/// The engine's memory as it is written to disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The form of this file; a newer form is refused, never overwritten.
    pub version: u32,
    /// Someone asked for everything to end, and it has not all ended yet.
    pub going_down: bool,
    pub agents: Vec<Seat>,
    /// How many prompts were ever sent.
    #[serde(default)]
    pub receipts: u64,
    #[serde(default)]
    pub dispatches: Vec<Dispatch>,
}

impl Record {
    /// The form that this version reads and writes.
    pub const VERSION: u32 = 1;

    /// Puts the record together from the last value of each of its rows, by table and key.
    pub fn from_rows(rows: &BTreeMap<(String, String), Value>) -> Result<Self, serde_json::Error> {
        let mut record = Self::default();
        for ((table, _), value) in rows {
            match table.as_str() {
                HUB => {
                    let hub = HubRow::deserialize(value)?;
                    (record.going_down, record.receipts) = (hub.going_down, hub.receipts);
                }
                SEAT => record.agents.push(Seat::deserialize(value)?),
                DISPATCH => record.dispatches.push(Dispatch::deserialize(value)?),
                // Rows that a later version may keep are none of ours.
                _ => {}
            }
        }
        record.agents.sort_by(|one, other| one.member.name.cmp(&other.member.name));
        record.dispatches.sort_by_key(|dispatch| dispatch.id);
        Ok(record)
    }

    /// Returns the rows that the record consists of.
    pub fn rows(&self) -> Vec<RowChange> {
        let hub = HubRow { going_down: self.going_down, receipts: self.receipts };
        let seat = |seat: &Seat| change(SEAT, seat.member.name.to_string(), Some(seat));
        let dispatch = |one: &Dispatch| change(DISPATCH, one.id.to_string(), Some(one));
        let hub = std::iter::once(change(HUB, HUB.to_owned(), Some(&hub)));
        let dispatches = self.dispatches.iter().map(dispatch);
        hub.chain(self.agents.iter().map(seat)).chain(dispatches).collect()
    }
}

impl Default for Record {
    fn default() -> Self {
        let (agents, dispatches) = (Vec::new(), Vec::new());
        Self { version: Self::VERSION, going_down: false, agents, receipts: 0, dispatches }
    }
}

impl Engine {
    /// Returns what must survive a crash.
    pub fn record(&self) -> Record {
        Record {
            version: Record::VERSION,
            going_down: self.going_down,
            agents: self.seats.values().cloned().collect(),
            receipts: self.receipts,
            dispatches: self.dispatches.values().cloned().collect(),
        }
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
        engine.receipts = record.receipts;
        engine.dispatches =
            record.dispatches.into_iter().map(|dispatch| (dispatch.id, dispatch)).collect();
        engine.cut_off = engine
            .dispatches
            .values()
            .filter(|dispatch| dispatch.stage.is_under_way())
            .map(|dispatch| dispatch.id)
            .collect();
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
