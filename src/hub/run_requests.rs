//! Requests about runs: who is started, stopped, resumed and forgotten.

use super::plan::Crew;
use super::requests::{Answer, Asker};
use super::state::Hub;
use crate::model::Command;
use crate::wire::{Fault, Request};

impl Hub {
    /// Returns the answer, unless it comes later.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others have nothing to do with runs")]
    pub(super) fn obey_about_runs(&mut self, asker: Asker, request: Request) -> Option<Answer> {
        match request {
            Request::Up { team, environment } => {
                let crew = self.plan_team(team.as_deref(), &environment);
                self.command(asker, self.apart(crew).map(|members| Command::Start { members }))
            }
            Request::Start { agents, environment } => {
                let crew = self.plan_agents(&agents, &environment);
                self.command(asker, self.apart(crew).map(|members| Command::Start { members }))
            }
            Request::Restart { agents, environment, grace_ms } => {
                let crew = self.plan_agents(&agents, &environment);
                let grace_ms = grace_ms.unwrap_or(self.grace_ms);
                self.command(
                    asker,
                    self.apart(crew).map(|members| Command::Restart { members, grace_ms }),
                )
            }
            Request::Resume { agents, environment, grace_ms } => {
                let crew = self.plan_resumed(&agents, &environment);
                let grace_ms = grace_ms.unwrap_or(self.grace_ms);
                self.command(
                    asker,
                    self.apart(crew).map(|members| Command::Restart { members, grace_ms }),
                )
            }
            Request::Stop { agents, grace_ms } => {
                let grace_ms = grace_ms.unwrap_or(self.grace_ms);
                let agents = self.all_known(&agents);
                self.command(asker, agents.map(|agents| Command::Stop { agents, grace_ms }))
            }
            Request::Forget { agents } => {
                let known = self.all_known(&agents);
                let forgotten = known.clone().unwrap_or_default();
                let answer = self.command(asker, known.map(|agents| Command::Forget { agents }));
                self.tidy_up(&agents);
                self.forget_casts(&forgotten);
                answer
            }
            Request::Down { force } => {
                let grace_ms = self.grace_ms;
                self.command(asker, Ok(Command::Down { force, grace_ms }))
            }
            Request::Add { agent, environment } => {
                let crew = self.plan_new(agent, &environment);
                self.command(asker, self.apart(crew).map(|members| Command::Start { members }))
            }
            _ => None,
        }
    }

    /// Refuses a crew in which two agents would own the same files.
    fn apart(&self, crew: Result<Crew, Fault>) -> Result<Crew, Fault> {
        let crew = crew?;
        self.engine.refuse_shared_paths(&crew)?;
        Ok(crew)
    }
}
