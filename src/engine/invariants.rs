//! What must hold after every event, checked from scratch.

use super::{Engine, Phase};
use crate::model::AgentState;

impl Engine {
    /// Panics if the state contradicts itself; a wrong engine must not act.
    pub(super) fn assert_invariants(&self) {
        for (name, seat) in &self.seats {
            assert_eq!(*name, seat.member.name, "a seat stands under its own name");
            let is_shown_gone = seat.state == AgentState::Exited;
            assert_eq!(is_shown_gone, seat.is_gone(), "{name} is shown as gone when it is");
            if seat.phase == Phase::Running {
                assert!(seat.process.is_some(), "{name} runs, so its process is known");
            }
            assert!(seat.is_live() || seat.next.is_none(), "{name}: nothing waits behind an end");
        }
        for (id, dispatch) in &self.dispatches {
            assert_eq!(*id, dispatch.id, "a dispatch stands under its own number");
            assert!(dispatch.id.0 <= self.receipts, "{id} was given out");
            if dispatch.stage.is_under_way() {
                assert!(dispatch.run.is_some(), "{id} is typed into a run");
                let agent = &dispatch.agent;
                let others = self.dispatches.values().filter(|one| one.stage.is_under_way());
                let count = others.filter(|one| one.agent == *agent).count();
                assert_eq!(count, 1, "{agent} gets one prompt at a time");
                let live = self.seats.get(agent).is_some_and(super::Seat::is_live);
                assert!(live, "{id} may still come somewhere");
            }
        }
        for wait in &self.waits {
            assert!(!wait.pending.is_empty(), "a request that waits for nothing is answered");
            for agent in &wait.pending {
                let live = self.seats.get(agent).is_some_and(super::Seat::is_live);
                assert!(live, "{agent} may still come where a request waits for it");
            }
        }
    }
}
