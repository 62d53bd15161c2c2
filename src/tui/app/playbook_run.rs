//! How the run of a playbook stands, in a few words.

use crate::api::{RunStatus, Status};
use crate::model::{PlayState, TaskState};
use crate::tui::style::Tone;
use crate::tui::text::clean;

/// The run that is told of in the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tui) struct PlaybookRunLine {
    pub(in crate::tui) text: String,
    pub(in crate::tui) tone: Tone,
}

impl PlaybookRunLine {
    /// Returns the newest run that is not over, else the newest one whose agents are still here.
    pub(in crate::tui) fn of(news: &Status) -> Option<Self> {
        let is_here =
            |run: &&RunStatus| news.agents.iter().any(|agent| run.agents.contains(&agent.name));
        let open = news.runs.iter().rev().find(|run| !run.state.is_over());
        let run = open.or_else(|| news.runs.iter().rev().find(is_here))?;
        let own = || news.tasks.iter().filter(|task| run.tasks.values().any(|id| *id == task.id));
        let done = own().filter(|task| task.state == TaskState::Done).count();
        let (how, tone) = match run.state {
            PlayState::Running => (format!("{done}/{}", own().count()), Tone::Text),
            PlayState::NeedsPerson => ("needs a person".to_owned(), Tone::Warning),
            PlayState::Failed => ("failed".to_owned(), Tone::Danger),
            PlayState::Done | PlayState::Partial | PlayState::Cancelled => {
                (run.state.to_string(), Tone::Dim)
            }
        };
        Some(Self { text: clean(&format!("{} {} {how}", run.id, run.playbook)), tone })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::api::{FromHub, Notice};
    use crate::model::Pattern;
    use crate::tui::tests::fixture::{status, team};

    fn run(id: &str, state: PlayState, agent: &str) -> RunStatus {
        RunStatus {
            id: id.to_owned(),
            playbook: "feature-build".to_owned(),
            hash: String::new(),
            pattern: Pattern::Hub,
            state,
            note: None,
            vars: BTreeMap::new(),
            agents: vec![agent.to_owned()],
            own: Vec::new(),
            tasks: BTreeMap::new(),
            started: String::new(),
            ended: None,
        }
    }

    fn told(runs: Vec<RunStatus>) -> Option<String> {
        let FromHub::Notice(Notice::Status(news)) = status(team(2)) else { return None };
        PlaybookRunLine::of(&Status { runs, ..news }).map(|line| line.text)
    }

    #[test]
    fn the_run_that_goes_on_is_told_before_those_that_are_over() {
        let FromHub::Notice(Notice::Status(news)) = status(team(2)) else { unreachable!() };
        let here = news.agents[0].name.clone();
        let (over, open) = (PlayState::Done, PlayState::Running);
        let runs = vec![run("r1", open, "gone"), run("r2", over, &here)];
        assert_eq!(told(runs).as_deref(), Some("r1 feature-build 0/0"));
        let needs = vec![run("r1", PlayState::NeedsPerson, "gone")];
        assert_eq!(told(needs).as_deref(), Some("r1 feature-build needs a person"));
        let runs = vec![run("r1", over, &here), run("r2", over, "gone")];
        assert_eq!(told(runs).as_deref(), Some("r1 feature-build done"));
        assert_eq!(told(vec![run("r2", over, "gone")]), None, "nobody of it is here");
        assert_eq!(told(Vec::new()), None);
    }
}
