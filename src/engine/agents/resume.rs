//! What the record knows of an agent's work, for one that has lost its own memory of it.

use crate::engine::{Dispatch, Engine};
use crate::model::{AgentName, Stage, Task};
use crate::protocol::quote;

/// The last prompts of an agent without a task: more would only repeat what is over.
const PROMPTS_MAX: usize = 3;

/// What an agent was doing, in words that go into a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recall {
    pub task: String,
    pub completed: Option<String>,
    pub next_step: String,
    pub build: Option<String>,
}

impl Engine {
    /// Returns what is known of an agent's work; nothing, if it never got any.
    pub fn recall(&self, agent: &AgentName) -> Option<Recall> {
        let is_its = |task: &&Task| task.attempts.last().is_some_and(|last| last.agent == *agent);
        let open = |task: &&Task| !task.state.is_final();
        let task = self.tasks.values().filter(is_its).rfind(open);
        task.map(of_task).or_else(|| self.of_prompts(agent))
    }

    fn of_prompts(&self, agent: &AgentName) -> Option<Recall> {
        let is_told = |one: &&Dispatch| one.agent == *agent && one.stage == Stage::Accepted;
        let told: Vec<&Dispatch> = self.dispatches.values().filter(is_told).collect();
        let last = &told[told.len().saturating_sub(PROMPTS_MAX)..];
        if last.is_empty() {
            return None;
        }
        let texts: Vec<String> = last.iter().map(|one| quote(&one.text)).collect();
        Some(Recall {
            task: format!("How what you were told last begins:\n{}", texts.join("\n\n")),
            completed: None,
            next_step: "find out from the files how much of that is done, and say so".to_owned(),
            build: None,
        })
    }
}

fn of_task(task: &Task) -> Recall {
    let last = task.attempts.last();
    let steps = last.map(|last| last.steps.as_slice()).unwrap_or_default();
    let build = last.and_then(|last| last.build);
    Recall {
        task: format!("Task {}: {}\n{}", task.id, task.title, task.prompt.trim()),
        completed: (!steps.is_empty()).then(|| format!("\n{}\n", quote(&steps.join("\n")))),
        next_step: "wait for the next prompt, which hands this task to you again with its tag; \
                    then go on after what is finished"
            .to_owned(),
        build: build.map(|passed| if passed { "passed" } else { "failed" }.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::fixture::{Bench, Work, name};
    use crate::model::AgentState;

    #[test]
    fn a_task_is_recalled_with_what_was_reported_of_it() {
        let mut bench = Bench::with_idle(&["one"]);
        assert_eq!(bench.engine.recall(&name("one")), None);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        bench.report("one", 1, "PROGRESS: [1/3] — the parser reads");
        bench.report("one", 1, "BUILD: FAIL — no such crate");
        let recall = bench.engine.recall(&name("one")).unwrap();
        assert!(recall.task.starts_with("Task t1: "), "{recall:?}");
        assert!(recall.completed.unwrap().contains("| 1/3 the parser reads"));
        assert_eq!(recall.build.as_deref(), Some("failed"));
        bench.did("one", AgentState::Idle);
    }
}
