//! What a run would be: the order, who gets what, how it is checked, every prompt.

use std::collections::BTreeMap;

use serde::Serialize;

use super::graph::Graph;
use super::script::scripts;
use super::shape::{OnFailure, Playbook, Task};
use crate::model::{AgentName, Kit, Pattern, Role};
use crate::template::{TAG_UNKNOWN, TemplateError, Templates};

/// The cli of the scripted agent.
pub(super) const SIM: &str = "sim";

/// A run, told beforehand.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    pub playbook: String,
    pub purpose: String,
    pub pattern: Pattern,
    pub expected_seconds: Option<u64>,
    pub vars: BTreeMap<String, String>,
    pub agents: Vec<PlannedAgent>,
    /// The ids of the tasks that could run at once, wave after wave.
    pub waves: Vec<Vec<String>>,
    pub tasks: Vec<PlannedTask>,
    /// What stands between the stages of a pipeline.
    pub stages: Vec<PlannedStage>,
    /// What each agent would play, if scripted agents took the place of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PlannedAgent {
    pub name: AgentName,
    pub cli: String,
    pub role: Role,
    pub owns: Vec<String>,
    pub capabilities: Vec<String>,
    /// What it is told before its first task.
    pub prompt: Option<String>,
    /// What it works with.
    #[serde(flatten)]
    pub kit: Kit,
}

#[derive(Clone, Debug, Serialize)]
pub struct PlannedTask {
    pub id: String,
    pub title: String,
    /// Who may take it; with one name it is theirs.
    pub agents: Vec<AgentName>,
    pub needs: Vec<String>,
    pub owns: Vec<String>,
    pub gates: Vec<String>,
    pub verifiers: u32,
    pub agree: u32,
    pub attempts: u32,
    pub time_limit_seconds: Option<u64>,
    pub on_failure: OnFailure,
    pub locks: Vec<String>,
    pub artifacts: Vec<String>,
    pub template: String,
    pub prompt: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct PlannedStage {
    pub name: String,
    pub tasks: Vec<String>,
    pub gates: Vec<String>,
    pub hands_on: Vec<String>,
}

impl Playbook {
    /// Returns the ids of the tasks that could run at once, wave after wave.
    pub fn waves(&self) -> Vec<Vec<String>> {
        let id = |task: &usize| self.tasks[*task].id.clone();
        Graph::of(self).waves().iter().map(|wave| wave.iter().map(id).collect()).collect()
    }
}

impl Plan {
    /// Returns the plan of a playbook in which nothing is wrong.
    pub fn of(
        playbook: &Playbook,
        vars: BTreeMap<String, String>,
        templates: &Templates,
    ) -> Result<Self, TemplateError> {
        let graph = Graph::of(playbook);
        let id = |task: &usize| playbook.tasks[*task].id.clone();
        let agents = playbook.agents.iter().map(|agent| {
            let prompt = playbook.opening(agent, templates);
            let prompt = prompt.map(|prompt| templates.render(&prompt, TAG_UNKNOWN)).transpose()?;
            Ok(PlannedAgent {
                name: agent.name.clone(),
                cli: agent.cli.clone(),
                role: agent.role,
                owns: agent.owns.clone(),
                capabilities: agent.capabilities.clone(),
                prompt,
                kit: agent.kit.clone(),
            })
        });
        let tasks = playbook.tasks.iter().enumerate().map(|(at, task)| {
            let needs = graph.needs(at).map(|need| id(&need)).collect();
            planned(playbook, task, needs, templates)
        });
        let stages = playbook.stages.iter().map(|stage| PlannedStage {
            name: stage.name.clone(),
            tasks: stage.tasks.clone().map(|task| id(&task)).collect(),
            gates: stage.gates.clone(),
            hands_on: stage.hands_on.clone(),
        });
        Ok(Self {
            playbook: playbook.name.clone(),
            purpose: playbook.purpose.clone(),
            pattern: playbook.pattern,
            expected_seconds: playbook.expected.map(|expected| expected.as_secs()),
            vars,
            agents: agents.collect::<Result<_, _>>()?,
            waves: playbook.waves(),
            tasks: tasks.collect::<Result<_, _>>()?,
            stages: stages.collect(),
            scripts: None,
        })
    }

    /// Puts scripted agents in the place of all; they play the given script, or one made of the tasks.
    #[must_use]
    pub fn with_sim(mut self, playbook: &Playbook, script: Option<&str>) -> Self {
        for agent in &mut self.agents {
            SIM.clone_into(&mut agent.cli);
            agent.kit = Kit::default();
        }
        self.scripts = Some(match script {
            Some(script) => {
                let names = self.agents.iter().map(|agent| agent.name.to_string());
                names.map(|name| (name, script.to_owned())).collect()
            }
            None => scripts(playbook),
        });
        self
    }
}

fn planned(
    playbook: &Playbook,
    task: &Task,
    needs: Vec<String>,
    templates: &Templates,
) -> Result<PlannedTask, TemplateError> {
    let prompt = playbook.task_prompt(task, templates);
    let agents = playbook.candidates(task).into_iter().map(|agent| agent.name.clone());
    Ok(PlannedTask {
        id: task.id.clone(),
        title: task.title.clone(),
        agents: agents.collect(),
        needs,
        owns: super::ownership::paths(playbook, task).to_vec(),
        gates: task.gates.clone(),
        verifiers: task.verifiers,
        agree: task.agree,
        attempts: task.attempts,
        time_limit_seconds: task.time_limit.map(|limit| limit.as_secs()),
        on_failure: task.on_failure,
        locks: task.locks.clone(),
        artifacts: task.artifacts.iter().map(|artifact| artifact.path.clone()).collect(),
        template: task.template.clone(),
        prompt: templates.render(&prompt, TAG_UNKNOWN)?,
    })
}
