//! What clients ask about locks.

use super::requests::{Answer, Asker};
use super::state::Hub;
use crate::model::{Command, Condition, LockCommand};
use crate::wire::{LockRequest, LockStatus, Response};

impl Hub {
    /// Returns the answer, unless it comes later. Whoever speaks for an agent asks for that one.
    pub(super) fn obey_about_locks(
        &mut self,
        asker: Asker,
        request: LockRequest,
    ) -> Option<Answer> {
        let agent = self.speakers.get(&asker.client).map(|(agent, _)| agent.clone());
        let command = match request {
            LockRequest::List => {
                let locks = self.engine.locks().map(LockStatus::from).collect();
                return Some(Ok(Response::Locks { locks }));
            }
            LockRequest::Take { name, limit_ms } => {
                Command::Lock(LockCommand::Take { name, agent, limit_ms })
            }
            LockRequest::Release { name } => Command::Lock(LockCommand::Release { name, agent }),
            LockRequest::Await { name } => {
                Command::Wait { condition: Condition::Lock { name, agent } }
            }
        };
        self.command(asker, Ok(command))
    }
}
