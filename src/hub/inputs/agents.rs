//! Routes what agents say beside their terminals: reports, hooks, reporters and events.

use serde_json::Value;

use crate::api::{Fault, Reception, Request, Response};
use crate::detect::{ReporterCall, ReporterNews, StreamNews};
use crate::engine::RunEvent;
use crate::hub::Hub;
use crate::hub::clients::askers::{Asker, Reply};
use crate::hub::clients::permissions::refuse_late;
use crate::hub::clients::tokens::holder_of_pane;
use crate::hub::inbox::ClientId;
use crate::hub::panes::pane::Pane;
use crate::hub::record::commit_queue::PendingEffect;
use crate::hub::tasks::artifacts::{ReportCall, check_file, refusal};
use crate::model::{AgentName, RunId, Source};
use crate::protocol::Report;

/// The id of a call is a random number; a longer one is none.
const CALL_CHARS_MAX: usize = 64;

impl Hub {
    /// Takes what an agent says beside its terminal; the answer to a report comes once it is on record.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are no agent's words")]
    pub(in crate::hub) fn hear(&mut self, asker: Asker, request: Request) -> Option<Reply> {
        let (agent, run) = self.clients.speaker(asker.client).cloned()?;
        match request {
            Request::Report { call, kind, text, schema, tag } => {
                let late = refuse_late(&self.engine, (&agent, run), tag.as_deref());
                if let Some(fault) = late {
                    return Some(Err(fault));
                }
                let said = ReportCall { call, kind, text };
                if said.is_artifact() {
                    self.check_artifact(asker, (agent, run), (said, tag), schema);
                } else {
                    let answer = self.on_report(&agent, run, said);
                    self.carry_out_later(PendingEffect::Answer { asker, answer });
                }
                None
            }
            Request::Hook { call, said } => {
                self.on_hook(&agent, run, &call, &said);
                Some(Ok(Response::Ok))
            }
            _ => None,
        }
    }

    /// Takes a report about a file once the file has been looked at; what is not as it should be is
    /// refused with the reason.
    fn check_artifact(
        &self,
        asker: Asker,
        (agent, run): (AgentName, RunId),
        (said, tag): (ReportCall, Option<String>),
        schema: Option<String>,
    ) {
        let cwd = self.engine.seat(&agent).map(|seat| seat.member.cwd.clone()).unwrap_or_default();
        let check = check_file(self.shown_at(&cwd), cwd, said.path(), schema);
        self.when_done(check, move |hub, fault| {
            let answer = match fault {
                Some(reason) => Err(refusal(&reason)),
                // Its run or its attempt may have ended while the file was looked at.
                None => match refuse_late(&hub.engine, (&agent, run), tag.as_deref()) {
                    Some(fault) => Err(fault),
                    None => hub.on_report(&agent, run, said),
                },
            };
            hub.carry_out_later(PendingEffect::Answer { asker, answer });
        });
    }

    /// Takes what a hook of an agent's cli said.
    fn on_hook(&mut self, agent: &AgentName, run: RunId, id: &str, said: &Value) {
        let now = self.clock.now();
        let id: String = id.chars().take(CALL_CHARS_MAX).collect();
        let Some(seat) = self.engine.seat(agent) else { return };
        let heard = self.panes.take_hook((agent, &seat.member.cli), (&id, said), now);
        let Some((news, found)) = heard else { return };
        tracing::debug!(%agent, rule = news.rule, "a hook");
        self.pass_on(agent, run, Source::Hook, found);
        self.press_next(agent, now);
        self.note_conversation(agent, run, news.session);
    }

    /// Takes a report that an agent made by a call.
    fn on_report(
        &mut self,
        agent: &AgentName,
        run: RunId,
        said: ReportCall,
    ) -> Result<Response, Fault> {
        let ReportCall { call, kind, text } = said;
        let mut report = Report::declare(kind, &text).map_err(|error| {
            Fault::new(error.to_string()).with_hint("See `wheelhouse report --help`")
        })?;
        let line = report.raw.clone();
        report.tag = self.engine.tag_of_call(agent, &report);
        let before = self.engine.before_report(agent, &report);
        let asked = report.clone();
        let (id, now) = (call.chars().take(CALL_CHARS_MAX).collect::<String>(), self.clock.now());
        let pane = self.panes.get_mut(agent);
        let declared = pane.and_then(|pane| pane.declare(&id, report, now));
        let unread = || Fault::new(format!("Nobody listens to agent `{agent}`"));
        let (found, is_new) = declared.ok_or_else(unread)?;
        self.pass_on(agent, run, Source::Report, found);
        let reports = self.panes.get(agent).map_or(0, Pane::report_count);
        // What had come another way was answered there.
        let heard = is_new.then(|| self.engine.heard(agent, &asked, &before));
        let is_refused = heard.as_ref().is_some_and(|heard| heard.is_refused);
        let (agent, note) = (agent.to_string(), heard.map(|heard| heard.words));
        let report = line;
        Ok(Response::Report(Reception { agent, report, is_new, reports, is_refused, note }))
    }

    /// Takes what the events of an agent's own server say.
    pub(in crate::hub) fn on_stream(
        &mut self,
        agent: &AgentName,
        run: RunId,
        news: Option<StreamNews>,
    ) {
        let now = self.clock.now();
        let pane = self.panes.of_run(agent, run);
        let found = pane.and_then(|pane| pane.take_stream(news.as_ref(), now));
        let Some(found) = found else { return };
        self.pass_on(agent, run, Source::Signal, found);
        self.note_conversation(agent, run, news.and_then(|news| news.session));
    }

    fn note_conversation(&mut self, agent: &AgentName, run: RunId, id: Option<String>) {
        let known = self.engine.seat(agent).and_then(|seat| seat.member.conversation.as_ref());
        if let Some(id) = id.filter(|id| known != Some(id)) {
            self.note_run(agent, run, RunEvent::Conversed { id });
        }
    }

    /// Takes a call of a reporter that was made for herdr, and answers it.
    pub(in crate::hub) fn on_line(&mut self, client: ClientId, line: &[u8]) {
        let answer = match ReporterCall::read(line) {
            Ok(call) if self.take_call(client, &call) => call.accept(),
            Ok(call) => call.refuse_pane(),
            Err(answer) => answer,
        };
        self.clients.send_line(client, &answer);
    }

    /// Says whether the call is about nobody, or about an agent that runs and that it comes from.
    fn take_call(&mut self, client: ClientId, call: &ReporterCall) -> bool {
        let Some(pane) = &call.pane else { return true };
        let Some(holder) = holder_of_pane(&self.engine, pane) else { return false };
        let session = &self.paths.session;
        if let Some(fault) = self.clients.refuse_to_speak(client, Some(&holder), session) {
            tracing::warn!(agent = %holder.0, reason = fault.message, "a reporter is not heard");
            return false;
        }
        let (agent, run) = holder;
        match &call.says {
            ReporterNews::Nothing => {}
            ReporterNews::Session(id) => self.note_conversation(&agent, run, Some(id.clone())),
            ReporterNews::State(told) => {
                let now = self.clock.now();
                let pane = self.panes.get_mut(&agent);
                let found = pane.map(|pane| pane.take_reported(told, now));
                tracing::debug!(%agent, rule = told.rule, "a reporter");
                self.pass_on(&agent, run, Source::Hook, found.unwrap_or_default());
                self.note_conversation(&agent, run, told.session.clone());
            }
        }
        true
    }
}
