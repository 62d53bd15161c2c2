//! Answers from the record what can be answered without a hub.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::api::{
    AgentStatus, AttentionStatus, Fault, HubStatus, Interrupted, LockRequest, LockStatus, Request,
    Response, RunRequest, RunStatus, Status, TaskRequest, TaskStatus, WorkspaceRequest,
    WorkspaceStatus,
};
use crate::config::{Paths, Settings};
use crate::engine::{Engine, Phase, Record, Seat};
use crate::hub::{Comparison, rescue_list, workspace_folder, workspace_list};
use crate::keeper;
use crate::model::{Against, AgentState, Ending, Moment, Play, Source, Task, TaskId, TaskState};
use crate::store::Journal;

/// Says whether a hub is there or about to come back: it holds its lock, or a keeper lives that will
/// call for it.
pub(super) fn is_hub_expected(paths: &Paths) -> bool {
    let is_kept = |agent| keeper::is_held(&paths.agent_lock(agent));
    keeper::is_held(&paths.hub_lock()) || paths.agents_ever().iter().any(is_kept)
}

/// What is on record.
pub(super) struct Recorded {
    /// Nothing, where there is no record yet.
    journal: Option<Journal>,
    record: Record,
}

impl Recorded {
    /// Says whether workspaces may be on the disk of which nothing is on record: a hub takes them in.
    pub(super) fn has_lost(paths: &Paths) -> bool {
        let folder = Settings::load(paths)
            .map_or_else(|_| None, |loaded| Some(loaded.settings.workspace))
            .map(|settings| workspace_folder(paths, &settings));
        !paths.record().exists() && folder.is_none_or(|folder| folder.exists())
    }

    /// Reads what is on record. What cannot be read, or was written by another version, is for a hub to
    /// deal with: it says what is wrong.
    pub(super) fn read(paths: &Paths) -> Option<Self> {
        if paths.registry().exists() {
            return None;
        }
        if !paths.record().exists() {
            return Some(Self { journal: None, record: Record::default() });
        }
        let journal = Journal::open(&paths.record()).ok()?;
        let rows = journal.rows_at(journal.last().ok()?).ok()?;
        let record = Record::from_rows(&rows).ok()?;
        Some(Self { journal: Some(journal), record })
    }

    /// Answers a request, if the record can; nothing runs.
    pub(super) fn answer(
        &self,
        paths: &Paths,
        request: &Request,
    ) -> Option<Result<Response, Fault>> {
        if let Request::Diff { agent, against, paths: files } = request {
            return Some(self.diff(paths, agent, against, files));
        }
        if matches!(request, Request::Workspace { ask: WorkspaceRequest::Rescues }) {
            return Some(rescue_list(&paths.project));
        }
        self.told(paths, request).map(Ok)
    }

    fn told(&self, paths: &Paths, request: &Request) -> Option<Response> {
        if matches!(request, Request::Status) {
            return Some(Response::Status(status(paths, &self.record)));
        }
        if matches!(request, Request::Workspace { ask: WorkspaceRequest::List }) {
            return Some(Response::Workspaces { workspaces: self.workspaces() });
        }
        if let Request::Task { ask } = request {
            return self.answer_about_tasks(ask);
        }
        if matches!(request, Request::Lock { ask: LockRequest::List }) {
            let locks = self.record.work.locks.iter().map(LockStatus::from);
            return Some(Response::Locks { locks: locks.collect() });
        }
        let is_list = matches!(request, Request::Run { ask: RunRequest::List });
        is_list.then(|| Response::Runs { runs: runs(&self.record) })
    }

    /// Returns the workspaces as they were last seen; nobody works in them now.
    fn workspaces(&self) -> Vec<WorkspaceStatus> {
        let mut listed = workspace_list(&self.engine());
        for workspace in &mut listed {
            workspace.in_use = false;
        }
        listed
    }

    fn diff(
        &self,
        paths: &Paths,
        agent: &str,
        against: &Against,
        files: &[String],
    ) -> Result<Response, Fault> {
        let loaded = Settings::load(paths).map_err(|error| Fault::new(error.to_string()))?;
        let into = &loaded.settings.workspace.into;
        let comparison = Comparison::new(&self.engine(), paths, into, agent, against.clone())?;
        comparison.run(files.to_vec())
    }

    fn engine(&self) -> Engine {
        Engine::recover(self.record.clone(), Moment::default()).0
    }

    fn answer_about_tasks(&self, ask: &TaskRequest) -> Option<Response> {
        let mut tasks = self.record.work.tasks.iter().map(at_rest);
        if let TaskRequest::Show { task } = ask {
            let known = tasks.find(|known| known.id.to_string() == *task);
            let known = known.or_else(|| self.ended_task(task));
            return known.map(|known| Response::Task(Box::new(known)));
        }
        if matches!(ask, TaskRequest::Ended { .. }) {
            return Some(self.ended_tasks());
        }
        if matches!(ask, TaskRequest::Attention) {
            return Some(Response::Attention { items: attention(&self.record) });
        }
        let is_list = matches!(ask, TaskRequest::List);
        let tasks = tasks.map(|task| TaskStatus::from(&task));
        is_list.then(|| Response::Tasks { tasks: tasks.collect() })
    }

    /// Returns a task that ended so long ago that it is only in the journal.
    fn ended_task(&self, id: &str) -> Option<Task> {
        let row = self.journal.as_ref()?.last_row("task", id).ok()??;
        Task::deserialize(row.value).ok()
    }

    fn ended_tasks(&self) -> Response {
        let known: BTreeSet<TaskId> = self.record.work.tasks.iter().map(|task| task.id).collect();
        let ids = (1..=self.record.work.task_count).rev().map(TaskId);
        let ended = ids.filter(|id| !known.contains(id));
        let tasks = ended.filter_map(|id| self.ended_task(&id.to_string()));
        let tasks = tasks.map(|task| TaskStatus::from(&task)).collect();
        let base = self.journal.as_ref().and_then(|journal| journal.base().ok()?);
        let cut_off = base.map(|base| base.at.to_rfc3339());
        Response::EndedTasks { tasks, next: None, cut_off }
    }
}

fn status(paths: &Paths, record: &Record) -> Status {
    let hub = HubStatus {
        pid: HubStatus::NO_PID,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        session: paths.session.to_string(),
        project: paths.project.display().to_string(),
        since: String::new(),
        settings_fault: None,
        trouble: None,
    };
    let tasks: Vec<Task> = record.work.tasks.iter().map(at_rest).collect();
    Status {
        hub,
        agents: record.agents.iter().map(|seat| agent(seat, record)).collect(),
        tasks: tasks.iter().map(TaskStatus::from).collect(),
        attention: attention(record),
        interrupted: Box::new(interrupted(record, &tasks)),
        runs: runs(record),
    }
}

/// Returns how an agent ended; nothing, if it may be at work elsewhere.
fn ending(seat: &Seat) -> Option<Ending> {
    let is_elsewhere = seat.member.runner.is_some();
    match seat.phase {
        Phase::Leaving(ending) | Phase::Ended(ending) => Some(ending),
        Phase::Starting | Phase::Running | Phase::Stopping | Phase::Sweeping(_) => {
            (!is_elsewhere).then_some(Ending::Lost)
        }
    }
}

/// Returns an agent as it was last seen. On this machine nothing of it is left; elsewhere it may be at
/// work, and nobody looks.
fn agent(seat: &Seat, record: &Record) -> AgentStatus {
    let member = &seat.member;
    let ending = ending(seat);
    let workspace = record.work.workspaces.iter().find(|one| one.agent == member.name);
    AgentStatus {
        name: member.name.to_string(),
        cli: member.cli.clone(),
        role: member.role,
        team: member.team.clone(),
        state: ending.map_or(AgentState::Unknown, |_| AgentState::Exited),
        source: Source::Process,
        stuck: false,
        conflict: false,
        pid: None,
        keeper_pid: None,
        since: seat.since.to_rfc3339(),
        task: None,
        run: seat.run.0,
        title: String::new(),
        ending: ending.map(|ending| ending.to_string()),
        note: seat.note.clone(),
        started_by: member.started_by().map(ToString::to_string),
        progress: seat.pace.progress.clone(),
        rule: String::new(),
        reports: seat.reports,
        dialog: None,
        by_rule: false,
        receipt: None,
        queued: 0,
        tokens: seat.tokens,
        workspace: workspace.map(|one| one.plot.kind).unwrap_or_default(),
        cwd: member.cwd.clone(),
        branch: workspace.map(|one| one.plot.branch.clone()).filter(|name| !name.is_empty()),
        changed: workspace.map(|one| one.files.len()),
        runner: member.runner.as_ref().map(|runner| runner.name.clone()),
        unreachable: None,
        doubt: None,
    }
}

/// Returns who ran when everything ended, and what they worked on.
fn interrupted(record: &Record, tasks: &[Task]) -> Interrupted {
    let mut interrupted = Interrupted::default();
    let is_lost = |seat: &&Seat| ending(seat) == Some(Ending::Lost);
    for seat in record.agents.iter().filter(is_lost) {
        let can_resume = seat.member.conversation.is_some();
        let list = if can_resume { &mut interrupted.resume } else { &mut interrupted.start };
        list.push(seat.member.name.to_string());
    }
    let is_cut_off = |task: &&Task| task.state == TaskState::Interrupted;
    interrupted.tasks = tasks.iter().filter(is_cut_off).map(|task| task.id.to_string()).collect();
    interrupted
}

/// Returns a task as it stands where nothing runs.
fn at_rest(task: &Task) -> Task {
    let mut task = task.clone();
    if task.state == TaskState::Running {
        task.state = TaskState::Interrupted;
    }
    task
}

fn attention(record: &Record) -> Vec<AttentionStatus> {
    record.work.attention.iter().map(AttentionStatus::from).collect()
}

fn runs(record: &Record) -> Vec<RunStatus> {
    let run = |play: &Play| {
        let tasks = record.work.tasks.iter().filter(|task| task.play == Some(play.id));
        RunStatus::new(play, tasks.filter(|task| task.verifies.is_none()))
    };
    record.work.plays.iter().map(run).collect()
}
