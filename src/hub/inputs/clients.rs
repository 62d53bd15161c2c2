//! Routes what clients do: they come, ask, break the protocol and leave.

use std::collections::BTreeSet;

use crate::api::{Ask, Fault, FromHub, RequestKind, Response, TaskStatus};
use crate::detect::ReporterCall;
use crate::engine::Event;
use crate::hub::Hub;
use crate::hub::clients::askers::{Asker, Reply};
use crate::hub::inbox::{Breach, ClientId, ClientNews};
use crate::hub::tasks::ended_tasks::{FoundTasks, Missing, TaskPage, list, look_up};
use crate::model::{Task, TaskId};
use crate::store::Journal;

impl Hub {
    pub(in crate::hub) fn on_client(&mut self, client: ClientId, news: ClientNews) {
        match news {
            ClientNews::Came { outbox, guest, standing } => {
                self.clients.welcome(client, outbox, guest, standing);
                self.decide(Event::ClientCame);
            }
            ClientNews::Asked(ask) => {
                self.take_up(client, *ask);
                self.clients.note_heard(client);
            }
            ClientNews::Line(line) => {
                self.on_line(client, &line);
                self.clients.note_heard(client);
            }
            // What was held back goes out after every input, this one included.
            ClientNews::CaughtUp => {}
            ClientNews::Broke(breach) => {
                self.tell_breach(client, &breach);
                self.dismiss(client);
            }
            ClientNews::Left => self.dismiss(client),
        }
    }

    fn tell_breach(&self, client: ClientId, breach: &Breach) {
        let Breach { reason, quoted, in_lines } = breach;
        tracing::warn!(client = client.0, reason, "a client broke the protocol");
        if *in_lines {
            self.clients.send_line(client, &ReporterCall::refuse_line(reason));
            return;
        }
        let dash = if quoted.is_empty() { "" } else { ": " };
        let fault = Fault::new(format!("That is not a request: {reason}{dash}{quoted}"))
            .with_hint("`wheelhouse api schema` prints what requests look like");
        self.clients.send(client, &FromHub::Answer { id: 0, outcome: Err(fault) });
    }

    fn dismiss(&mut self, client: ClientId) {
        for request in self.clients.dismiss(client) {
            self.decide(Event::AskerLeft { request });
        }
        self.decide(Event::ClientLeft);
    }

    pub(in crate::hub) fn answer(&self, asker: Asker, answer: Reply) {
        self.clients.answer(asker, answer);
    }

    /// Looks up what a request names and what has left memory, and then takes it up.
    fn take_up(&mut self, client: ClientId, ask: Ask) {
        let missing = Missing::of(&self.engine, &ask.request);
        if missing.is_empty() || !self.clients.is_greeted(client) {
            return self.on_ask(client, ask);
        }
        if let Err(fault) = missing.refuse_many() {
            return self.answer(Asker::of(client, &ask), Err(fault));
        }
        let read = move |journal: &Journal| look_up(journal, &missing);
        self.read_record(read, move |hub, found| hub.take_up_with(client, ask, found));
    }

    /// Takes up a request for which something was looked up. That is in memory as long as that takes, and
    /// longer if something open refers to it then.
    fn take_up_with(&mut self, client: ClientId, ask: Ask, found: Result<FoundTasks, Fault>) {
        let is_person = self.clients.speaker(client).is_none();
        let (tasks, dispatches) = match found.and_then(|found| found.all(is_person)) {
            Ok(found) => found,
            Err(fault) => return self.answer(Asker::of(client, &ask), Err(fault)),
        };
        self.decide(Event::LookedUp { tasks, dispatches });
        self.on_ask(client, ask);
        self.decide(Event::LookedUp { tasks: Vec::new(), dispatches: Vec::new() });
    }

    /// Reads a part of the list of tasks that have left memory, and answers with those that the one who
    /// asked may know of.
    pub(in crate::hub) fn list_ended(&self, asker: Asker, before: Option<TaskId>) {
        let held: BTreeSet<TaskId> = self.engine.tasks().map(|task| task.id).collect();
        let before = before.unwrap_or_else(|| TaskId(self.engine.task_count() + 1));
        let read = move |journal: &Journal| list(journal, before, &held);
        self.read_record(read, move |hub, found| {
            let say = hub.clients.say_of(&hub.engine, asker.client, RequestKind::ListTasks);
            let answer = found.map(|found| {
                let TaskPage { tasks, next, cut_off } = found;
                let may_know = |task: &&Task| {
                    let say = say.as_ref();
                    say.is_none_or(|(agent, reach)| hub.engine.reaches_task(agent, *reach, task))
                };
                let tasks = tasks.iter().filter(may_know).map(TaskStatus::from).collect();
                let next = next.map(|next| next.to_string());
                Response::EndedTasks { tasks, next, cut_off }
            });
            hub.answer(asker, answer);
        });
    }
}
