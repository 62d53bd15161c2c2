//! Agents that come back: with their conversation, or with a brief of what the record knows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::inbox::Input;
use super::plan::Crew;
use super::requests::{Answer, Asker};
use super::state::Hub;
use super::tree;
use crate::config::Loaded;
use crate::model::{AgentName, Command, Environment, Launch, Member, WorkspaceChoice};
use crate::report::quote;
use crate::store::{Journal, Query};
use crate::template::Prompt;
use crate::wire::Fault;

/// What a brief is made with.
const TEMPLATE: &str = "context-recovery";
/// The last reports that a brief repeats.
const REPORTS_MAX: usize = 5;

/// Who is to come back, and for whom.
#[derive(Debug)]
pub(super) struct Resumption {
    pub(super) asker: Asker,
    pub(super) agents: Vec<String>,
    pub(super) environment: Environment,
    pub(super) grace_ms: u64,
}

/// What is known of an agent's work beside the engine's memory.
#[derive(Debug, Default)]
pub(super) struct Traces {
    files: Vec<String>,
    reports: Vec<String>,
}

pub(super) type Memories = BTreeMap<String, Traces>;

impl Hub {
    /// Looks what the agents have left behind, and lets them come back then.
    pub(super) fn gather(&self, plan: Resumption) {
        let record = self.paths.record();
        let requests = self.senders.requests.clone();
        let place = |name: &String| {
            let seat = name.parse().ok().and_then(|name: AgentName| self.engine.seat(&name));
            seat.map(|seat| (name.clone(), seat.member.cwd.clone()))
        };
        let places: Vec<(String, PathBuf)> = plan.agents.iter().filter_map(place).collect();
        tokio::task::spawn_local(async move {
            let look = move || {
                let traces = |(name, cwd): (String, PathBuf)| {
                    let reports = last_reports(&record, &name);
                    (name, Traces { files: tree::modified(&cwd), reports })
                };
                places.into_iter().map(traces).collect::<Memories>()
            };
            let memories = tokio::task::spawn_blocking(look).await.unwrap_or_default();
            let _ = requests.send(Input::Gathered { plan, memories }).await;
        });
    }

    pub(super) fn on_gathered(&mut self, plan: Resumption, memories: &Memories) {
        let asker = plan.asker;
        if let Some(answer) = self.resume_all(plan, Some(memories)) {
            self.answer(asker, answer);
        }
    }

    /// Lets agents take their conversations up; with their memories at hand, those who cannot begin
    /// afresh with a brief.
    pub(super) fn resume_all(
        &mut self,
        plan: Resumption,
        memories: Option<&Memories>,
    ) -> Option<Answer> {
        let Resumption { asker, agents, environment, grace_ms } = plan;
        let crew = self.plan_resumed(&agents, &environment, memories);
        let crew = self.take_on(crew, environment);
        self.command(asker, crew.map(|members| Command::Restart { members, grace_ms }))
    }

    fn plan_resumed(
        &mut self,
        names: &[String],
        caller: &Environment,
        memories: Option<&Memories>,
    ) -> Result<Crew, Fault> {
        let loaded = self.load_settings()?;
        let mut crew = Crew::new();
        for name in names {
            let (member, launch) = self.plan_where_it_was(&loaded, name, caller)?;
            let seat = self.engine.seat(&member.name);
            let was_in_vain = seat.is_some_and(crate::engine::Seat::did_not_resume);
            let resumed = self.resume(&loaded, member.clone(), launch.clone());
            match (resumed, memories) {
                (Ok(resumed), None) => crew.push(resumed),
                (Ok(resumed), Some(_)) if !was_in_vain => crew.push(resumed),
                (Ok(_) | Err(_), Some(memories)) => {
                    crew.push(self.begin_briefed(&loaded, member, launch, memories)?);
                }
                (Err(fault), None) => return Err(fault),
            }
        }
        Ok(crew)
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
        let before = self.engine.seat(&member.name).map(|seat| &seat.member);
        let was_in_project = before.is_some_and(|before| {
            before.conversation.is_some() && before.root() == self.paths.project
        });
        if member.plot.is_none() || !was_in_project {
            return Ok(planned);
        }
        self.plan_one(loaded, name, caller, Some(WorkspaceChoice::Shared))
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
