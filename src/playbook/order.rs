//! From a playbook to what the hub is asked to run.

use std::collections::BTreeMap;
use std::time::Duration;

use super::artifacts::gates;
use super::graph::Graph;
use super::ownership::paths;
use super::shape::{OnFailure, Playbook, Stage, Task};
use crate::model::{
    self, AgentName, Cast, Kit, PlayOrder, PlayStage, Player, Posting, TAG_PLACE, TaskSpec, Terms,
    Troop,
};
use crate::template::{TemplateError, Templates};

impl Playbook {
    /// Returns the run of a playbook in which nothing is wrong. The scripts are for scripted agents,
    /// which then take the place of all.
    pub fn order(
        &self,
        call: String,
        (hash, vars): (String, BTreeMap<String, String>),
        scripts: BTreeMap<AgentName, String>,
        templates: &Templates,
    ) -> Result<PlayOrder, TemplateError> {
        let graph = Graph::of(self);
        let tasks = self.tasks.iter().enumerate().map(|(at, task)| {
            let needs = graph.needs(at).map(|need| self.tasks[need].id.clone()).collect();
            self.spec(task, needs, templates)
        });
        let players = self.agents.iter().map(|agent| {
            let prompt = self.opening(agent, templates);
            let prompt = prompt.map(|prompt| templates.render(&prompt, TAG_PLACE)).transpose()?;
            let is_scripted = scripts.contains_key(&agent.name);
            Ok(Player {
                name: agent.name.clone(),
                cli: if is_scripted { super::plan::SIM.to_owned() } else { agent.cli.clone() },
                role: agent.role,
                owns: agent.owns.clone(),
                capabilities: agent.capabilities.clone(),
                prompt,
                command: Vec::new(),
                kit: if is_scripted { Kit::as_it_is() } else { agent.kit.clone() },
                // A script lies on this machine, and is played in the project.
                posting: if is_scripted { Posting::default() } else { agent.posting.clone() },
            })
        });
        let name = |text: &String| {
            self.agents.iter().find(|a| a.name.as_str() == text).map(|a| a.name.clone())
        };
        let troop = |team: &super::SubTeam| {
            let members = team.members.iter().filter_map(name).collect();
            Some(Troop { name: team.name.clone(), lead: name(&team.lead)?, members })
        };
        let cast = Cast {
            playbook: self.name.clone(),
            hash,
            vars,
            pattern: self.pattern,
            team: self.team.clone().unwrap_or_else(|| self.name.clone()),
            agents: players.collect::<Result<_, _>>()?,
            stages: self.stages.iter().map(|stage| self.stage(stage)).collect(),
            teams: self.teams.iter().filter_map(troop).collect(),
            locks: self.locks.clone(),
        };
        Ok(PlayOrder { call, cast, tasks: tasks.collect::<Result<_, _>>()?, scripts })
    }

    fn stage(&self, stage: &Stage) -> PlayStage {
        PlayStage {
            name: stage.name.clone(),
            tasks: stage.tasks.clone().map(|at| self.tasks[at].id.clone()).collect(),
            gates: stage.gates.clone(),
            has_passed: false,
            is_checking: false,
            refusals: 0,
        }
    }

    fn spec(
        &self,
        task: &Task,
        needs: Vec<String>,
        templates: &Templates,
    ) -> Result<TaskSpec, TemplateError> {
        let agent = task.who.agent.as_ref();
        let agent = agent.and_then(|name| self.agents.iter().find(|a| a.name.as_str() == name));
        let terms = Terms {
            agent: agent.map(|agent| agent.name.clone()),
            role: task.who.role,
            requires: task.who.requires.clone(),
            owns: paths(self, task).to_vec(),
            gates: task.artifacts.iter().flat_map(gates).chain(task.gates.clone()).collect(),
            attempts_max: task.attempts,
            time_limit_ms: task.time_limit.map(millis),
            on_failure: match task.on_failure {
                OnFailure::Skip => model::OnFailure::Skip,
                // What is left of it must succeed.
                OnFailure::Stop | OnFailure::Reduce => model::OnFailure::Stop,
            },
            verifiers: task.verifiers,
            agree: task.agree,
            locks: task.locks.clone(),
            reduced: task.reduced.clone(),
            ..Terms::default()
        };
        Ok(TaskSpec {
            key: Some(task.id.clone()),
            title: task.title.clone(),
            prompt: templates.render(&self.task_prompt(task, templates), TAG_PLACE)?,
            needs,
            play: None,
            terms,
        })
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
