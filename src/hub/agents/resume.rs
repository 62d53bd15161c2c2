//! Agents that come back: with their conversation, or with a brief of what the record knows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::plan::Launches;
use super::planner::Planner;
use crate::api::Fault;
use crate::config::Loaded;
use crate::hub::Hub;
use crate::hub::requests::route::Asker;
use crate::hub::tasks::file_tree;
use crate::model::{AgentName, Command, Environment, Launch, Member, WorkspaceChoice};
use crate::protocol::quote;
use crate::store::{Journal, Query};
use crate::template::Prompt;

/// What a brief is made with.
const TEMPLATE: &str = "context-recovery";
/// The last reports that a brief repeats.
const REPORTS_MAX: usize = 5;

/// Who is to come back, and for whom.
#[derive(Debug)]
pub(in crate::hub) struct ResumeRequest {
    pub(in crate::hub) asker: Asker,
    pub(in crate::hub) agents: Vec<String>,
    pub(in crate::hub) environment: Environment,
    pub(in crate::hub) grace_ms: u64,
    /// Who cannot take a conversation up gets a brief.
    pub(in crate::hub) brief: bool,
}

/// What is known of an agent's work beside the engine's memory.
#[derive(Debug, Default)]
pub(in crate::hub) struct Traces {
    files: Vec<String>,
    reports: Vec<String>,
}

pub(in crate::hub) type Memories = BTreeMap<String, Traces>;

impl Hub {
    /// Lets agents take their conversations up; where that is wanted, those who cannot begin afresh
    /// with a brief of what they left behind.
    pub(in crate::hub) fn resume_all(&mut self, plan: ResumeRequest) {
        let ResumeRequest { asker, agents, environment, grace_ms, brief } = plan;
        let caller = environment.clone();
        self.plan(
            Some(asker),
            move |_, _| {
                Ok(move |planner: &Planner, loaded: &Loaded| {
                    let plan = |name: &String| planner.plan_where_it_was(loaded, name, &caller);
                    let crew = agents.iter().map(plan).collect::<Result<Launches, Fault>>()?;
                    Ok((crew, brief.then(|| planner.memories(&agents))))
                })
            },
            move |hub, turn, planned| {
                let crew = planned.and_then(|(loaded, (crew, memories))| {
                    hub.let_resume(&loaded, crew, memories.as_ref())
                });
                let crew = hub.take_on(turn, crew, environment);
                hub.command(asker, crew.map(|members| Command::Restart { members, grace_ms }))
            },
        );
    }

    fn let_resume(
        &mut self,
        loaded: &Loaded,
        planned: Launches,
        memories: Option<&Memories>,
    ) -> Result<Launches, Fault> {
        let mut crew = Launches::new();
        for (member, launch) in planned {
            let seat = self.engine.seat(&member.name);
            let was_in_vain = seat.is_some_and(crate::engine::Seat::did_not_resume);
            let resumed = self.resume(loaded, member.clone(), launch.clone());
            match (resumed, memories) {
                (Ok(resumed), None) => crew.push(resumed),
                (Ok(resumed), Some(_)) if !was_in_vain => crew.push(resumed),
                (Ok(_) | Err(_), Some(memories)) => {
                    crew.push(self.begin_briefed(loaded, member, launch, memories)?);
                }
                (Err(fault), None) => return Err(fault),
            }
        }
        Ok(crew)
    }

    /// Lets an agent begin a new conversation with what the record knows, or, if that is nothing,
    /// with what its team tells it.
    fn begin_briefed(
        &mut self,
        loaded: &Loaded,
        member: Member,
        launch: Launch,
        memories: &Memories,
    ) -> Result<(Member, Launch), Fault> {
        let name = member.name.clone();
        let mut crew = self.begin_afresh(loaded, vec![(member, launch)])?;
        let prompt = self.brief_of(&name, memories.get(name.as_str()));
        if let (Some(prompt), Some((member, _))) = (prompt, crew.first_mut()) {
            member.opening.letter = Some(self.filled_letter(loaded, name.clone(), &prompt)?);
        }
        crew.pop().ok_or_else(|| Fault::new(format!("Agent `{name}` cannot be started")))
    }

    fn brief_of(&self, agent: &AgentName, traces: Option<&Traces>) -> Option<Prompt> {
        let recall = self.engine.recall(agent)?;
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
}

impl Planner {
    /// Looks what agents have left behind.
    fn memories(&self, names: &[String]) -> Memories {
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
    fn plan_where_it_was(
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
