//! Plans how agents come back: with their conversation, or with a brief of what the record knows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::planner::Planner;
use crate::api::Fault;
use crate::config::Loaded;
use crate::engine::Engine;
use crate::hub::tasks::file_tree;
use crate::model::{AgentName, Environment, Launch, Member, WorkspaceChoice};
use crate::protocol::quote;
use crate::store::{Journal, Query};
use crate::template::Prompt;

/// What a brief is made with.
const TEMPLATE: &str = "context-recovery";
/// The last reports that a brief repeats.
const REPORTS_MAX: usize = 5;

/// What is known of an agent's work beside the engine's memory.
#[derive(Debug, Default)]
pub(in crate::hub) struct Traces {
    files: Vec<String>,
    reports: Vec<String>,
}

pub(in crate::hub) type Memories = BTreeMap<String, Traces>;

/// Returns the brief of an agent that begins anew: what the record knows of its work, if it knows any.
pub(in crate::hub) fn brief_of(
    engine: &Engine,
    agent: &AgentName,
    traces: Option<&Traces>,
) -> Option<Prompt> {
    let recall = engine.recall(agent)?;
    let mut vars = BTreeMap::from([
        ("task".to_owned(), recall.task),
        ("next_step".to_owned(), recall.next_step),
    ]);
    let mut completed = recall.completed.unwrap_or_default();
    let Traces { files, reports } = traces.unwrap_or(&NOTHING);
    if !reports.is_empty() {
        let quoted = quote(&reports.join("\n"));
        completed = format!("{completed}\nwhat you reported last:\n{quoted}\n");
    }
    let files = files.join(", ");
    let known = [("completed", completed), ("files", files)];
    let build = recall.build.map(|build| ("build", build));
    for (name, value) in known.into_iter().chain(build).filter(|(_, value)| !value.is_empty()) {
        vars.insert(name.to_owned(), value);
    }
    Some(Prompt::Template { name: TEMPLATE.to_owned(), vars })
}

impl Planner {
    /// Looks what agents have left behind.
    pub(in crate::hub) fn memories(&self, names: &[String]) -> Memories {
        let place = |name: &String| {
            let seat = name.parse().ok().and_then(|name: AgentName| self.known.seat(&name));
            seat.map(|seat| (name.clone(), seat.member.cwd.clone()))
        };
        let traces = |(name, cwd): (String, PathBuf)| {
            let reports = last_reports(&self.paths.record(), &name);
            (name, Traces { files: file_tree::modified(&cwd), reports })
        };
        names.iter().filter_map(place).map(traces).collect()
    }

    /// Returns how to start an agent that goes on. A cli finds a conversation where it was held, so one
    /// that worked in the project goes on there, though it would get a worktree by now.
    pub(in crate::hub) fn plan_where_it_was(
        &self,
        loaded: &Loaded,
        name: &str,
        caller: &Environment,
    ) -> Result<(Member, Launch), Fault> {
        let planned = self.plan_one(loaded, name, caller, None)?;
        let (member, _) = &planned;
        let before = self.known.seat(&member.name).map(|seat| &seat.member);
        let was_in_project = before.is_some_and(|before| {
            before.conversation.is_some() && before.root() == self.paths.project
        });
        if member.plot.is_none() || !was_in_project {
            return Ok(planned);
        }
        self.plan_one(loaded, name, caller, Some(WorkspaceChoice::Shared))
    }
}

static NOTHING: Traces = Traces { files: Vec::new(), reports: Vec::new() };

/// Returns what an agent reported last, oldest first. A record that cannot be read keeps nobody
/// from coming back.
fn last_reports(record: &Path, agent: &str) -> Vec<String> {
    let query = Query {
        limit: REPORTS_MAX,
        newest: true,
        agent: Some(agent.to_owned()),
        kind: Some("report.".to_owned()),
        ..Query::default()
    };
    let found = Journal::open(record).and_then(|journal| journal.entries(&query));
    found.unwrap_or_default().into_iter().map(|one| one.entry.text).collect()
}
