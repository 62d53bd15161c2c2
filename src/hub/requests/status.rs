//! What the hub tells of itself and of its agents.

use std::time::Duration;

use crate::api::{
    AgentStatus, DialogStatus, Explanation, Fault, HubStatus, Interrupted, Response, Status,
    Testimony,
};
use crate::detect::{self, Detector};
use crate::engine::{Phase, Seat};
use crate::hub::Hub;
use crate::hub::panes::pane::Pane;
use crate::hub::record::commit_queue::unwritable;
use crate::model::{
    AgentName, AgentState, Ending, Outcome, ProcessId, Receipt, Stage, Task, TaskState,
};

impl Hub {
    pub(in crate::hub) fn status(&self) -> Status {
        let hub = HubStatus {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            session: self.paths.session.to_string(),
            project: self.paths.project.display().to_string(),
            since: self.clock.origin().to_rfc3339(),
            settings_fault: self.settings_fault.clone(),
            trouble: self.ledger.trouble().map(|reason| unwritable(&reason).message),
        };
        let mut seats: Vec<&Seat> = self.engine.seats().collect();
        seats.sort_by_cached_key(|seat| (seat.member.team.clone(), self.places(seat)));
        let agents = seats.into_iter().map(|seat| self.agent_status(seat)).collect();
        let (tasks, attention) = (self.task_list(), self.attention_list());
        let interrupted = Box::new(self.interrupted());
        Status { hub, agents, tasks, attention, interrupted, runs: self.run_list() }
    }

    /// Returns where an agent stands in its team: behind whoever started it, if an agent did.
    fn places(&self, seat: &Seat) -> Vec<usize> {
        let above = self.engine.starters(&seat.member.name);
        let above = above.filter_map(|name| self.engine.seat(name)).map(|seat| seat.member.place);
        let mut places: Vec<usize> = [seat.member.place].into_iter().chain(above).collect();
        places.reverse();
        places
    }

    /// Returns who was lost and has not been started since, and what they worked on.
    fn interrupted(&self) -> Interrupted {
        let mut interrupted = Interrupted::default();
        let is_lost = |seat: &&Seat| seat.phase == Phase::Ended(Ending::Lost);
        for seat in self.engine.seats().filter(is_lost) {
            let name = seat.member.name.to_string();
            let can_resume = self.can_resume(seat);
            if can_resume { &mut interrupted.resume } else { &mut interrupted.start }.push(name);
        }
        let was_cut_off = |task: &&Task| {
            let last = task.attempts.last().and_then(|last| last.outcome);
            let is_open = !matches!(task.state, TaskState::Done | TaskState::Cancelled);
            is_open && (task.state == TaskState::Interrupted || last == Some(Outcome::Interrupted))
        };
        let tasks = self.engine.tasks().filter(was_cut_off);
        interrupted.tasks = tasks.map(|task| task.id.to_string()).collect();
        interrupted
    }

    /// Says whether an agent's last conversation is known, and its cli takes one up.
    fn can_resume(&self, seat: &Seat) -> bool {
        let member = &seat.member;
        let is_own = member.added.as_ref().is_none_or(|added| added.command.is_empty());
        let manifest = self.manifest_of(&member.name).filter(|_| is_own);
        let takes_up = manifest.is_some_and(|manifest| !manifest.sessions.resume.is_empty());
        takes_up && member.conversation.is_some()
    }

    fn agent_status(&self, seat: &Seat) -> AgentStatus {
        let member = &seat.member;
        let live = |id: Option<ProcessId>| id.filter(|_| !seat.is_gone());
        let pane = self.panes.get(&member.name);
        // The source of a state may change while the state does not.
        let shown = pane.and_then(|pane| pane.detector.as_ref()).map(Detector::shown);
        let shown = shown.filter(|shown| shown.state == seat.state);
        let workspace = self.engine.workspace(&member.name);
        AgentStatus {
            name: member.name.to_string(),
            cli: member.cli.clone(),
            role: member.role,
            team: member.team.clone(),
            state: seat.state,
            source: shown.map_or(seat.source, |shown| shown.source),
            stuck: seat.pace.stuck.is_some(),
            conflict: self.engine.trespasses_of(&member.name).next().is_some()
                || !self.engine.overlaps_of(&member.name).is_empty(),
            pid: live(seat.process).map(|id| id.pid),
            keeper_pid: live(seat.keeper).map(|id| id.pid),
            since: seat.since.to_rfc3339(),
            task: self.task_in_hand(&member.name),
            run: seat.run.0,
            title: pane.map(|pane| pane.screen.title().to_owned()).unwrap_or_default(),
            ending: match seat.phase {
                Phase::Leaving(ending) | Phase::Ended(ending) => Some(ending.to_string()),
                Phase::Starting | Phase::Running | Phase::Stopping | Phase::Sweeping(_) => None,
            },
            note: self.remark(seat),
            started_by: member.started_by().map(ToString::to_string),
            progress: seat.pace.progress.clone(),
            rule: pane.map(|pane| pane.rule().to_owned()).unwrap_or_default(),
            reports: pane.map(|pane| pane.reports.count).unwrap_or_default(),
            dialog: self.dialog_of(&member.name),
            by_rule: seat.is_left_to_rules(self.clock.now()),
            receipt: self.latest_receipt(&member.name),
            queued: self.waiting_for(&member.name),
            tokens: seat.tokens,
            workspace: workspace
                .filter(|one| one.plot.project_root() == member.root())
                .map(|one| one.plot.kind)
                .unwrap_or_default(),
            cwd: member.cwd.clone(),
            branch: workspace.map(|one| one.plot.branch.clone()).filter(|name| !name.is_empty()),
            changed: workspace.map(|one| one.files.len()),
            runner: member.runner.as_ref().map(|runner| runner.name.clone()),
            unreachable: seat.unreachable.as_ref().map(|one| one.since.to_rfc3339()),
            doubt: self.doubt(seat),
        }
    }

    /// Returns why the rules by which an agent's screen is read may not fit the version of its cli.
    fn doubt(&self, seat: &Seat) -> Option<String> {
        let detector = self.panes.get(&seat.member.name)?.detector.as_ref()?;
        let signs = detector.fit().doubt().filter(|_| !seat.is_gone())?;
        let recorded = self.manifest_of(&seat.member.name)?.screen.recorded.join(", ");
        let rules = [seat.member.cli.as_str(), &recorded].join(" ");
        Some(format!("the rules for {} may not fit this version: {signs}", rules.trim_end()))
    }

    /// Returns the dialog at which an agent waits.
    pub(in crate::hub) fn dialog_of(&self, agent: &AgentName) -> Option<DialogStatus> {
        let seat = self.engine.seat(agent)?;
        dialog_status(seat, self.panes.get(agent)?)
    }

    /// Returns what is known of an agent's latest prompt, while it matters.
    fn latest_receipt(&self, agent: &AgentName) -> Option<Receipt> {
        let own = self.engine.dispatches().filter(|dispatch| dispatch.agent == *agent);
        let latest = own.filter(|dispatch| dispatch.stage != Stage::Withdrawn).last()?;
        (latest.stage != Stage::Accepted).then(|| latest.receipt())
    }

    fn waiting_for(&self, agent: &AgentName) -> usize {
        let own = self.engine.dispatches().filter(|dispatch| dispatch.agent == *agent);
        own.filter(|dispatch| dispatch.stage == Stage::Queued).count()
    }

    /// Returns what a person should know about an agent's state, in a line.
    pub(in crate::hub) fn remark(&self, seat: &Seat) -> Option<String> {
        let detector = self.panes.get(&seat.member.name).and_then(|pane| pane.detector.as_ref());
        let shown = detector.map(Detector::shown).filter(|shown| shown.state == seat.state);
        let dialog = detector.and_then(Detector::dialog).map(|dialog| dialog.text.as_str());
        let told = match seat.state {
            AgentState::Waiting => dialog.and_then(|text| text.lines().last()).map(str::to_owned),
            AgentState::Blocked | AgentState::Done | AgentState::Error => {
                shown.map(|shown| shown.line.clone())
            }
            AgentState::Limited => shown.and_then(|shown| shown.reset.clone()),
            AgentState::Starting
            | AgentState::Idle
            | AgentState::Working
            | AgentState::Unknown
            | AgentState::Exited => None,
        };
        let conflict = self.engine.trespasses_of(&seat.member.name).next();
        let conflict = conflict.map(|trespass| format!("conflict: {trespass}"));
        let unreachable = seat
            .unreachable
            .as_ref()
            .map(|one| format!("unreachable since {}: {}", one.since.to_rfc3339(), one.reason));
        let (note, stuck) = (seat.note.clone(), seat.pace.stuck.clone());
        let known = [unreachable, conflict, note, stuck, told, self.doubt(seat)];
        known.into_iter().flatten().find(|text| !text.trim().is_empty())
    }

    pub(in crate::hub) fn explain(&self, name: &str) -> Result<Response, Fault> {
        let agent = self.known(name)?;
        let unread = || Fault::new(format!("The screen of agent `{agent}` is not read"));
        let seat = self.engine.seat(&agent).ok_or_else(unread)?;
        let detector = self.panes.get(&agent).and_then(|pane| pane.detector.as_ref());
        let Some(detector) = detector.filter(|_| !seat.is_gone()) else {
            let (rule, line) = ("process.exited".to_owned(), self.remark(seat).unwrap_or_default());
            let age_ms = millis(self.clock.now().since(seat.since));
            let (state, source) = (seat.state, seat.source);
            let testimonies = Vec::new();
            let (stuck, no_hooks) = (None, None);
            let settings_fault = self.settings_fault.clone();
            return Ok(Response::Explanation(Explanation {
                state,
                source,
                rule,
                line,
                age_ms,
                testimonies,
                stuck,
                no_hooks,
                settings_fault,
                fit: None,
                doubt: None,
            }));
        };
        let told = detector.explain(self.clock.now());
        let testimony = |one: detect::Testimony| Testimony {
            source: one.source,
            state: one.state,
            rule: one.rule,
            line: one.line,
        };
        Ok(Response::Explanation(Explanation {
            state: told.shown.state,
            source: told.shown.source,
            rule: told.shown.rule,
            line: told.shown.line,
            age_ms: millis(told.age),
            testimonies: told.testimonies.into_iter().map(testimony).collect(),
            stuck: seat.pace.stuck.clone(),
            no_hooks: seat.member.contact.no_hooks.clone(),
            settings_fault: self.settings_fault.clone(),
            fit: Some(detector.fit()),
            doubt: self.doubt(seat),
        }))
    }
}

fn dialog_status(seat: &Seat, pane: &Pane) -> Option<DialogStatus> {
    let detector = pane.detector.as_ref().filter(|_| seat.state == AgentState::Waiting)?;
    let dialog = detector.dialog()?;
    Some(DialogStatus {
        id: dialog.fingerprint(),
        kind: dialog.kind,
        text: dialog.text.clone(),
        options: dialog.options.clone(),
        selected: dialog.selected.map(|selected| selected + 1),
    })
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
