//! Says who waits for an answer, and what those hear who name no agent.

use crate::api::{Ask, Fault, RequestKind, Response};
use crate::engine::Engine;
use crate::hub::inbox::ClientId;
use crate::model::Refusal;

/// Who waits for an answer, and under which number.
#[derive(Clone, Copy, Debug)]
pub(in crate::hub) struct Asker {
    pub(in crate::hub) client: ClientId,
    pub(super) id: u64,
    pub(super) kind: RequestKind,
    /// It asked for something that counts only if it is on record.
    pub(in crate::hub) wants_record: bool,
}

pub(in crate::hub) type Reply = Result<Response, Fault>;

impl Asker {
    pub(in crate::hub) fn of(client: ClientId, ask: &Ask) -> Self {
        let kind = ask.request.kind();
        Self { client, id: ask.id, kind, wants_record: ask.request.wants_record() }
    }
}

/// Says that there is no such agent, and which there are.
pub(in crate::hub) fn unknown_agent(engine: &Engine, name: &str) -> Fault {
    let known = engine.seats().map(|seat| seat.member.name.clone()).collect();
    let agent = name.chars().filter(|c| !c.is_control()).take(64).collect();
    Fault::from(Refusal::UnknownAgent { agent, known })
}
