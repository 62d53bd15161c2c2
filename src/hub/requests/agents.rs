//! Requests about runs: who is started, stopped, resumed and forgotten.

use std::rc::Rc;

use super::resume::ResumeRequest;
use crate::api::{Fault, NewAgent, Request};
use crate::config::{Loaded, environment_of, with_own_program};
use crate::engine::RunEvent;
use crate::hub::Hub;
use crate::hub::agents::plan::Launches;
use crate::hub::agents::planner::Planner;
use crate::hub::background::TurnNumber;
use crate::hub::clients::askers::{Asker, Reply};
use crate::hub::record::commit_queue::PendingEffect;
use crate::model::{AgentName, Command, Environment, RunId};

impl Hub {
    /// Returns the answer, unless it comes later.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others have nothing to do with runs")]
    pub(in crate::hub) fn obey_about_runs(
        &mut self,
        asker: Asker,
        mut request: Request,
    ) -> Option<Reply> {
        self.replace_environment(asker, &mut request);
        match request {
            Request::Up { team, environment } => {
                let plan = move |planner: &Planner, loaded: &Loaded, caller: &Environment| {
                    planner.plan_team(loaded, team.as_deref(), caller)
                };
                self.begin_planned(asker, environment, plan, |members| Command::Start { members })
            }
            Request::Start { agents, environment } => {
                let plan = move |planner: &Planner, loaded: &Loaded, caller: &Environment| {
                    planner.plan_named(loaded, &agents, caller)
                };
                self.begin_planned(asker, environment, plan, |members| Command::Start { members })
            }
            Request::Restart { agents, environment, grace_ms } => {
                let grace_ms = grace_ms.unwrap_or(self.grace_ms());
                let plan = move |planner: &Planner, loaded: &Loaded, caller: &Environment| {
                    planner.plan_named(loaded, &agents, caller)
                };
                let command = move |members| Command::Restart { members, grace_ms };
                self.begin_planned(asker, environment, plan, command)
            }
            Request::Resume { agents, environment, grace_ms, brief } => {
                let grace_ms = grace_ms.unwrap_or(self.grace_ms());
                self.resume_all(ResumeRequest { asker, agents, environment, grace_ms, brief });
                None
            }
            Request::Stop { agents, grace_ms } => {
                let grace_ms = grace_ms.unwrap_or(self.grace_ms());
                let agents = self.all_known(&agents);
                self.plans.note_stop(agents.as_deref().unwrap_or_default());
                self.command(asker, agents.map(|agents| Command::Stop { agents, grace_ms }))
            }
            Request::Forget { agents, abandon } => {
                let known = self.all_known(&agents);
                let agents = known.clone().unwrap_or_default();
                self.plans.note_stop(&agents);
                let answer =
                    self.command(asker, known.map(|agents| Command::Forget { agents, abandon }));
                self.carry_out_later(PendingEffect::Tidy { agents });
                answer
            }
            Request::Down { force } => {
                let grace_ms = self.grace_ms();
                self.plans.note_stop_of_all();
                self.command(asker, Ok(Command::Down { force, grace_ms }))
            }
            Request::Add { agent, environment } => {
                self.add(asker, agent, environment);
                None
            }
            _ => None,
        }
    }

    /// Has a crew planned that begins afresh, and then begins it.
    fn begin_planned(
        &mut self,
        asker: Asker,
        environment: Environment,
        plan: impl FnOnce(&Planner, &Loaded, &Environment) -> Result<Launches, Fault> + Send + 'static,
        command: impl FnOnce(Launches) -> Command + 'static,
    ) -> Option<Reply> {
        let caller = environment.clone();
        self.plan(
            Some(asker),
            |_, _| Ok(move |planner: &Planner, loaded: &Loaded| plan(planner, loaded, &caller)),
            move |hub, turn, planned| {
                let crew = planned.and_then(|(loaded, crew)| hub.begin_afresh(&loaded, crew));
                let crew = hub.take_on(turn, crew, environment);
                hub.command(asker, crew.map(command))
            },
        );
        None
    }

    fn add(&mut self, asker: Asker, new: NewAgent, environment: Environment) {
        let by = self.clients.agent_of(asker.client).cloned();
        let (caller, asked_by, own) = (environment.clone(), by.clone(), new.env.clone());
        self.plan(
            Some(asker),
            |_, _| {
                Ok(move |planner: &Planner, loaded: &Loaded| {
                    planner.plan_new(loaded, new, asked_by, &caller)
                })
            },
            move |hub, turn, planned| {
                let crew = hub.take_on(turn, planned.map(|(_, crew)| crew), environment);
                let names = crew.iter().flatten().map(|(member, _)| &member.name);
                let is_known = |name: &AgentName| hub.engine.seat(name).is_some();
                hub.agents.set_added_env(names, &own, is_known);
                let command = crew.map(|members| hub.begin_new(by, members));
                hub.command(asker, command)
            },
        );
    }

    /// Starts others for an agent with the variables of whoever started that agent: its own hold its
    /// token, and what its cli has set.
    fn replace_environment(&self, asker: Asker, request: &mut Request) {
        let Some(agent) = self.clients.agent_of(asker.client) else { return };
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
        let caller = self.agents.caller_of(agent).map(Rc::clone);
        let own = || with_own_program(environment_of(std::env::vars_os()), &self.program);
        caller.unwrap_or_else(|| Rc::new(own()))
    }

    /// Returns what starts a new agent: a person's word, or an agent's on the terms of its team.
    fn begin_new(&self, by: Option<AgentName>, mut members: Launches) -> Command {
        let Some(by) = by else { return Command::Start { members } };
        let Some(member) = members.pop() else { return Command::Start { members } };
        let team = self.settings.team(&member.0.team);
        let terms = team.and_then(|team| team.spawn.clone());
        Command::Spawn { by, terms, member: Box::new(member) }
    }

    /// Refuses a crew in which two agents would own the same files or one was stopped meanwhile, and keeps the variables of
    /// whoever starts it: those that begin anew later get the same. They may be secrets, and so are
    /// only here.
    pub(in crate::hub) fn take_on(
        &mut self,
        turn: TurnNumber,
        crew: Result<Launches, Fault>,
        environment: Environment,
    ) -> Result<Launches, Fault> {
        let crew = self.plans.refuse_stopped(turn, crew?)?;
        self.engine.refuse_shared_paths(&crew)?;
        let is_known = |agent: &AgentName| self.engine.seat(agent).is_some();
        let started = crew.iter().map(|(member, _)| &member.name);
        self.agents.set_caller(started, environment, is_known);
        Ok(crew)
    }

    /// Tells the engine how an agent would begin with a new conversation.
    pub(in crate::hub) fn plan_renewal(&mut self, agent: &AgentName, run: RunId) {
        let (caller, names) = ((*self.caller_of(agent)).clone(), [agent.to_string()]);
        let agent = agent.clone();
        self.plan(
            None,
            |_, _| {
                Ok(move |planner: &Planner, loaded: &Loaded| {
                    planner.plan_named(loaded, &names, &caller)
                })
            },
            move |hub, turn, planned| {
                let crew = planned.and_then(|(loaded, crew)| hub.begin_afresh(&loaded, crew));
                let crew = crew.and_then(|crew| hub.plans.refuse_stopped(turn, crew));
                let plan = match crew.map(|mut crew| crew.pop()) {
                    Ok(Some(next)) => Ok(Box::new(next)),
                    Ok(None) => Err("its team no longer has it".to_owned()),
                    Err(fault) => Err(fault.message),
                };
                let grace_ms = hub.grace_ms();
                hub.note_run(&agent, run, RunEvent::Planned { plan, grace_ms });
                None
            },
        );
    }
}
