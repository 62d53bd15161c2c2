//! What clients read of contracts and of the journal.

use crate::api::{ContractStatus, EventStatus, Fault, Request, RequestKind, Response};
use crate::hub::Hub;
use crate::hub::clients::askers::{Asker, Reply};
use crate::hub::clients::permissions::narrow_status;
use crate::hub::clients::response_size::{fitting, text_bytes};
use crate::hub::inbox::ClientId;
use crate::model::{AgentName, Contract, Named, Reach};
use crate::store::{Journal, Query, Recorded};

/// Entries of the journal that are looked at for one answer.
const EVENTS_MAX: usize = 1000;

/// An event around its text.
const EVENT_BYTES: usize = 256;

impl Hub {
    /// Returns the answer, unless it comes later.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are about something else")]
    pub(in crate::hub) fn tell_what_is(&self, asker: Asker, request: Request) -> Option<Reply> {
        let client = asker.client;
        match request {
            Request::Me => Some(Ok(Response::Me(Box::new(self.clients.who_is(
                &self.engine,
                &self.settings,
                client,
            ))))),
            Request::Status => {
                let status = match self.clients.say_of(&self.engine, client, RequestKind::Status) {
                    Some((agent, reach)) => {
                        narrow_status(&self.engine, &agent, reach, self.status())
                    }
                    None => self.status(),
                };
                Some(Ok(Response::Status(status)))
            }
            Request::Contracts { publisher, title, version } => {
                Some(self.contracts(client, publisher.as_deref(), title.as_deref(), version))
            }
            Request::Events { after, limit, agent, task, kind } => {
                let limit = limit.clamp(1, EVENTS_MAX);
                let query = Query { after, limit, agent, task, kind, ..Query::default() };
                let read = move |journal: &Journal| journal.entries(&query);
                self.read_record(read, move |hub, found| hub.answer_events(asker, found));
                None
            }
            _ => None,
        }
    }

    /// Returns contracts at a glance; with a title, those that are called so, whole.
    pub(in crate::hub) fn contracts(
        &self,
        client: ClientId,
        publisher: Option<&str>,
        title: Option<&str>,
        version: Option<u32>,
    ) -> Reply {
        let say = self.clients.say_of(&self.engine, client, RequestKind::Contracts);
        let may_read = |contract: &&Contract| {
            let publisher = &contract.publisher;
            say.as_ref().is_none_or(|(agent, _)| self.engine.may_read_contracts(agent, publisher))
        };
        let is_wanted =
            |contract: &&Contract| publisher.is_none_or(|name| contract.publisher.as_str() == name);
        let Some(title) = title else {
            let found = self.engine.contracts().filter(may_read).filter(is_wanted);
            let heads = found.map(ContractStatus::head);
            let contracts = fitting(heads, |one| EVENT_BYTES + text_bytes(&one.title)).collect();
            return Ok(Response::Contracts { contracts });
        };
        let versions = self.engine.contract_versions(title).filter(may_read).filter(is_wanted);
        let mut found: Vec<&Contract> = versions.collect();
        match version {
            Some(version) => found.retain(|contract| contract.version == version),
            None => found.retain(|contract| self.engine.contracts().any(|one| one == *contract)),
        }
        if found.is_empty() {
            return Err(Fault::new(format!(
                "There is no contract `{}` of that kind",
                shown(title)
            ))
            .with_hint("List the contracts with `wheelhouse contract list`"));
        }
        let whole = found.into_iter().map(ContractStatus::whole);
        let bytes = |one: &ContractStatus| {
            let removed: usize = one.removed.iter().map(|line| text_bytes(line)).sum();
            EVENT_BYTES + removed + one.body.as_deref().map_or(0, text_bytes)
        };
        Ok(Response::Contracts { contracts: fitting(whole, bytes).collect() })
    }

    /// Answers with what the one who asked may know of.
    fn answer_events(&self, asker: Asker, found: Result<Vec<Recorded>, Fault>) {
        let say = self.clients.say_of(&self.engine, asker.client, RequestKind::Events);
        let answer = found.map(|found| {
            let scanned = found.len();
            let mut last = 0;
            let kept = fitting(found.into_iter(), |one| EVENT_BYTES + text_bytes(&one.entry.text));
            let mut seen = 0;
            let mut events = Vec::new();
            for one in kept {
                (last, seen) = (one.id, seen + 1);
                if say.as_ref().is_none_or(|(agent, reach)| self.may_know(agent, *reach, &one)) {
                    events.push(EventStatus::new(one.id, one.at, &one.entry));
                }
            }
            Response::Events { events, last, is_more: seen < scanned }
        });
        self.answer(asker, answer);
    }

    fn may_know(&self, agent: &AgentName, reach: Reach, one: &Recorded) -> bool {
        let entry = &one.entry;
        let about = entry.agent.as_ref().map(|agent| Named::Agent(agent.to_string()));
        let task = entry.task.clone().map(Named::Task);
        let reaches = |named: &Named| self.engine.reaches(agent, reach, named);
        about.as_ref().is_some_and(reaches) || task.as_ref().is_some_and(reaches)
    }
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(64).collect()
}
