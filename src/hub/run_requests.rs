//! Requests about runs: who is started, stopped, resumed and forgotten.

use std::rc::Rc;

use super::briefs::Resumption;
use super::plan::Crew;
use super::requests::{Answer, Asker};
use super::state::Hub;
use crate::config::{environment_of, with_own_program};
use crate::engine::RunEvent;
use crate::model::{AgentName, Command, Environment, RunId};
use crate::wire::{Fault, Request};

impl Hub {
    /// Returns the answer, unless it comes later.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others have nothing to do with runs")]
    pub(super) fn obey_about_runs(&mut self, asker: Asker, mut request: Request) -> Option<Answer> {
        self.replace_environment(asker, &mut request);
        match request {
            Request::Up { team, environment } => {
                let crew = self.plan_team(team.as_deref(), &environment);
                let crew = self.take_on(crew, environment);
                self.command(asker, crew.map(|members| Command::Start { members }))
            }
            Request::Start { agents, environment } => {
                let crew = self.plan_agents(&agents, &environment);
                let crew = self.take_on(crew, environment);
                self.command(asker, crew.map(|members| Command::Start { members }))
            }
            Request::Restart { agents, environment, grace_ms } => {
                let crew = self.plan_agents(&agents, &environment);
                let crew = self.take_on(crew, environment);
                let grace_ms = grace_ms.unwrap_or(self.grace_ms);
                self.command(asker, crew.map(|members| Command::Restart { members, grace_ms }))
            }
            Request::Resume { agents, environment, grace_ms, brief } => {
                let grace_ms = grace_ms.unwrap_or(self.grace_ms);
                let plan = Resumption { asker, agents, environment, grace_ms };
                if brief {
                    self.gather(plan);
                    return None;
                }
                self.resume_all(plan, None)
            }
            Request::Stop { agents, grace_ms } => {
                let grace_ms = grace_ms.unwrap_or(self.grace_ms);
                let agents = self.all_known(&agents);
                self.command(asker, agents.map(|agents| Command::Stop { agents, grace_ms }))
            }
            Request::Forget { agents, abandon } => {
                let known = self.all_known(&agents);
                let forgotten = known.clone().unwrap_or_default();
                let answer =
                    self.command(asker, known.map(|agents| Command::Forget { agents, abandon }));
                self.let_go(&forgotten);
                self.tidy_up(&agents);
                self.forget_casts(&forgotten);
                answer
            }
            Request::Down { force } => {
                let grace_ms = self.grace_ms;
                self.command(asker, Ok(Command::Down { force, grace_ms }))
            }
            Request::Add { agent, environment } => {
                let by = self.speakers.get(&asker.client).map(|(agent, _)| agent.clone());
                let crew = self.plan_new(agent, by.clone(), &environment);
                let crew = self.take_on(crew, environment);
                let command = crew.map(|members| self.begin_new(by, members));
                self.command(asker, command)
            }
            _ => None,
        }
    }

    /// Starts others for an agent with the variables of whoever started that agent: its own hold its
    /// token, and what its cli has set.
    fn replace_environment(&self, asker: Asker, request: &mut Request) {
        let Some((agent, _)) = self.speakers.get(&asker.client) else { return };
        if let Request::Up { environment, .. }
        | Request::Start { environment, .. }
        | Request::Restart { environment, .. }
        | Request::Resume { environment, .. }
        | Request::Add { environment, .. } = request
        {
            *environment = (*self.caller_of(agent)).clone();
        }
    }

    /// Returns the variables of whoever started an agent. A hub that came back knows no caller any
    /// more: then its own variables are what there is.
    fn caller_of(&self, agent: &AgentName) -> Rc<Environment> {
        let caller = self.callers.get(agent).map(Rc::clone);
        let own = || with_own_program(environment_of(std::env::vars_os()), &self.program);
        caller.unwrap_or_else(|| Rc::new(own()))
    }

    /// Returns what starts a new agent: a person's word, or an agent's on the terms of its team.
    fn begin_new(&self, by: Option<AgentName>, mut members: Crew) -> Command {
        let Some(by) = by else { return Command::Start { members } };
        let Some(member) = members.pop() else { return Command::Start { members } };
        let team = self.settings.team(&member.0.team);
        let terms = team.and_then(|team| team.spawn.clone());
        Command::Spawn { by, terms, member: Box::new(member) }
    }

    /// Refuses a crew in which two agents would own the same files, and keeps the variables of
    /// whoever starts it: those that begin anew later get the same. They may be secrets, and so are
    /// only here.
    pub(super) fn take_on(
        &mut self,
        crew: Result<Crew, Fault>,
        environment: Environment,
    ) -> Result<Crew, Fault> {
        let crew = crew?;
        self.engine.refuse_shared_paths(&crew)?;
        self.callers.retain(|agent, _| self.engine.seat(agent).is_some());
        let environment = Rc::new(environment);
        for (member, _) in &crew {
            self.callers.insert(member.name.clone(), Rc::clone(&environment));
        }
        Ok(crew)
    }

    /// Tells the engine how an agent would begin with a new conversation.
    pub(super) fn plan_renewal(&mut self, agent: &AgentName, run: RunId) {
        let caller = self.caller_of(agent);
        let planned = self.plan_agents(&[agent.to_string()], &caller);
        let plan = match planned.map(|mut crew| crew.pop()) {
            Ok(Some(next)) => Ok(Box::new(next)),
            Ok(None) => Err("its team no longer has it".to_owned()),
            Err(fault) => Err(fault.message),
        };
        let grace_ms = self.grace_ms;
        self.note_run(agent, run, RunEvent::Planned { plan, grace_ms });
    }
}
