//! Serves reporters that were made for herdr: the same socket, one JSON call a line.
//!
//! The name of the pane is a secret of the run, and all that it is good for is to say what that run's
//! agent does.

use super::planner::Planner;
use crate::config::Agent;
use crate::detect::{ReporterCall, ReporterNews};
use crate::engine::Seat;
use crate::hub::Hub;
use crate::hub::clients::tokens;
use crate::hub::inbox::ClientId;
use crate::model::{AgentName, Contact, Environment, RunId, Source, Token};

/// What reporters look for. An agent that is given one of them otherwise is left alone.
const VARIABLES: [&str; 3] = ["HERDR_ENV", "HERDR_SOCKET_PATH", "HERDR_PANE_ID"];

impl Planner {
    /// Adds what reporters look for to an agent's environment.
    pub(in crate::hub) fn equip_reporters(
        &self,
        agent: &Agent,
        contact: &mut Contact,
        environment: &mut Environment,
    ) -> std::io::Result<()> {
        let is_taken = VARIABLES.iter().any(|name| agent.env.0.contains_key(*name));
        if !self.has_reporters || is_taken {
            return Ok(());
        }
        let pane = tokens::new_token()?;
        contact.pane_hash = Some(tokens::hash(&pane));
        let socket = if contact.has_door {
            self.paths.agent_door(&agent.name)
        } else {
            self.paths.hub_socket()
        };
        let values = ["1".to_owned(), socket.display().to_string(), pane.0];
        environment.0.extend(VARIABLES.into_iter().map(str::to_owned).zip(values));
        Ok(())
    }
}

impl Hub {
    /// Takes a call, and answers it.
    pub(in crate::hub) fn on_line(&mut self, client: ClientId, line: &[u8]) {
        let answer = match ReporterCall::read(line) {
            Ok(call) if self.heed_call(client, &call) => call.accept(),
            Ok(call) => call.refuse_pane(),
            Err(answer) => answer,
        };
        self.views.send_line(client, &answer);
    }

    /// Says whether the call is about nobody, or about an agent that runs and that it comes from.
    fn heed_call(&mut self, client: ClientId, call: &ReporterCall) -> bool {
        let Some(pane) = &call.pane else { return true };
        let Some(holder) = self.holder_of_pane(pane) else { return false };
        if let Some(fault) = self.refuse_to_speak(client, Some(&holder)) {
            tracing::warn!(agent = %holder.0, reason = fault.message, "a reporter is not heard");
            return false;
        }
        let (agent, run) = holder;
        match &call.says {
            ReporterNews::Nothing => {}
            ReporterNews::Session(id) => self.note_conversation(&agent, run, Some(id.clone())),
            ReporterNews::State(told) => {
                let now = self.clock.now();
                let detector = self.panes.get_mut(&agent).and_then(|pane| pane.detector.as_mut());
                let found = detector.map(|detector| detector.reported(told, now));
                tracing::debug!(%agent, rule = told.rule, "a reporter");
                self.deliver(&agent, run, Source::Hook, found.unwrap_or_default());
                self.note_conversation(&agent, run, told.session.clone());
            }
        }
        true
    }

    fn holder_of_pane(&self, pane: &str) -> Option<(AgentName, RunId)> {
        let hash = tokens::hash(&Token(pane.to_owned()));
        let is_its = |seat: &&Seat| {
            let kept = seat.member.contact.pane_hash.as_deref();
            !seat.is_gone() && kept.is_some_and(|kept| tokens::is_equal(kept, &hash))
        };
        let seat = self.engine.seats().find(is_its)?;
        Some((seat.member.name.clone(), seat.run))
    }
}
