//! Workspaces: when one is made, kept and removed, and who waits for it.
//!
//! A workspace is on record before it is made and before it is removed; what was going on when a hub
//! died is taken up by the next one from there, and what git and the disk say decides how far it had
//! come. It is touched only once its agent's tree is proven empty.

use crate::engine::journal::Place;
use crate::engine::{Effect, Engine, Phase, Seat, WorkspaceEvent, WorkspaceOrder};
use crate::model::{
    AgentName, Clearing, Ending, Entry, Exit, Launch, Made, Moment, Plot, Refusal, Workspace,
    WorkspaceKind, WorkspaceState,
};

/// How the set-up of a workspace ends that did not succeed.
const SETUP_FAILED: i32 = 97;

impl Engine {
    /// Returns the workspaces that were made, by agent.
    pub fn workspaces(&self) -> impl Iterator<Item = &Workspace> {
        self.workspaces.values()
    }

    pub fn workspace(&self, agent: &AgentName) -> Option<&Workspace> {
        self.workspaces.get(agent)
    }

    /// Starts an agent in its workspace, as soon as that is there.
    pub(in crate::engine) fn settle_in(
        &mut self,
        agent: &AgentName,
        plot: Plot,
        launch: Launch,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let state = self.workspaces.get(agent).map(|workspace| workspace.state);
        let Some(seat) = self.seats.get_mut(agent) else { return };
        seat.held = Some((plot.clone(), launch));
        match state {
            Some(WorkspaceState::Ready) => self.move_in(agent, now, effects),
            // It goes on once that has come to an end.
            Some(WorkspaceState::Making | WorkspaceState::Clearing(_)) => {}
            None => self.make_workspace(agent, plot, now, effects),
        }
    }

    pub(in crate::engine) fn make_workspace(
        &mut self,
        agent: &AgentName,
        plot: Plot,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let words = match plot.kind {
            WorkspaceKind::Worktree => format!("{} at {}", plot.branch, plot.base),
            WorkspaceKind::Copy | WorkspaceKind::Shared => plot.kind.to_string(),
        };
        let workspace = Workspace::new(agent.clone(), plot, now);
        effects.push(Effect::Workspace(WorkspaceOrder::Make(Box::new(workspace.clone()))));
        self.workspaces.insert(agent.clone(), workspace);
        self.touch(Place::Workspace(agent.clone()));
        self.tell(Entry::new("workspace.making", words).of(agent));
    }

    /// Starts the agent that has waited for its workspace.
    fn move_in(&mut self, agent: &AgentName, now: Moment, effects: &mut Vec<Effect>) {
        let Some(workspace) = self.workspaces.get(agent) else { return };
        if workspace.is_half() && self.seats.get(agent).is_some_and(|seat| seat.held.is_some()) {
            let words = "its workspace elsewhere was not finished";
            let hint = format!("`wheelhouse workspace clean {agent}`, then start it again");
            return self.give_up_start(agent, format!("{words}: {hint}"), now, effects);
        }
        let Some(seat) = self.seats.get_mut(agent) else { return };
        let Some((plot, mut launch)) = seat.held.take() else { return };
        // It may lie where an earlier setting had it made.
        let place = Plot { cwd: plot.cwd, ..workspace.plot.clone() };
        seat.member.workspace = place.project_root();
        seat.member.cwd = place.agent_cwd();
        launch.cwd = match &workspace.outpost {
            Some(outpost) => place.cwd_there(outpost),
            None => seat.member.cwd.clone(),
        };
        let run = seat.run;
        self.touch_seat(agent);
        effects.push(Effect::Start { agent: agent.clone(), run, launch });
    }

    /// Removes the workspace of an agent that is gone, if there is no work in it, or on the terms that
    /// people wait for.
    pub(in crate::engine) fn tidy(&mut self, agent: &AgentName, effects: &mut Vec<Effect>) {
        let is_live = self.seats.get(agent).is_some_and(Seat::is_live);
        let is_ready = |one: &Workspace| one.state == WorkspaceState::Ready;
        if !is_live && self.workspaces.get(agent).is_some_and(is_ready) && !self.is_merging(agent) {
            let clearing = self.removal_awaited(agent).unwrap_or_default();
            self.clear_workspace(agent, clearing, effects);
        }
    }

    pub(in crate::engine) fn clear_workspace(
        &mut self,
        agent: &AgentName,
        clearing: Clearing,
        effects: &mut Vec<Effect>,
    ) {
        let Some(workspace) = self.workspaces.get_mut(agent) else { return };
        workspace.state = WorkspaceState::Clearing(clearing);
        let order = WorkspaceOrder::Clear(Box::new(workspace.clone()), clearing);
        self.touch(Place::Workspace(agent.clone()));
        effects.push(Effect::Workspace(order));
    }

    /// Takes up what an earlier hub was doing when it died.
    pub(in crate::engine) fn recover_workspaces(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        let is_unmade = |seat: &&Seat| {
            let workspace = self.workspaces.get(&seat.member.name);
            seat.phase == Phase::Starting
                && workspace.is_some_and(|one| one.state != WorkspaceState::Ready)
        };
        let unmade: Vec<AgentName> =
            self.seats.values().filter(is_unmade).map(|seat| seat.member.name.clone()).collect();
        for agent in unmade {
            let note = "the hub died while its workspace was being made: start it again".to_owned();
            self.give_up_start(&agent, note, now, effects);
        }
        let open: Vec<(AgentName, WorkspaceState)> =
            self.workspaces.values().map(|one| (one.agent.clone(), one.state)).collect();
        for (agent, state) in open {
            let clearing = match state {
                WorkspaceState::Ready => continue,
                WorkspaceState::Making => Clearing { is_unfinished: true, ..Clearing::default() },
                WorkspaceState::Clearing(clearing) => clearing,
            };
            let clearing = Clearing { is_repeated: true, ..clearing };
            self.clear_workspace(&agent, clearing, effects);
        }
    }

    fn give_up_start(
        &mut self,
        agent: &AgentName,
        note: String,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let Some(seat) = self.seats.get_mut(agent) else { return };
        seat.held = None;
        seat.note = Some(note);
        self.end(agent, Ending::Failed, now, effects);
    }

    /// Notes what came of an order about a workspace.
    pub(in crate::engine) fn note_workspace(
        &mut self,
        agent: &AgentName,
        event: WorkspaceEvent,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        if let WorkspaceEvent::Found(found) = event {
            return self.take_in(*found);
        }
        let Some(workspace) = self.workspaces.get_mut(agent) else { return };
        let state = workspace.state;
        let is_clearing = matches!(state, WorkspaceState::Clearing(_));
        match event {
            WorkspaceEvent::Made(made) if state == WorkspaceState::Making => {
                self.note_made(agent, made, now, effects);
            }
            WorkspaceEvent::NotMade { reason } if state == WorkspaceState::Making => {
                self.workspaces.remove(agent);
                self.touch(Place::Workspace(agent.clone()));
                self.tell(Entry::new("workspace.failed", reason.clone()).of(agent));
                let is_removal = |terms: Option<Clearing>| terms.is_some();
                self.settle_space_for(is_removal, agent, &Ok(None), effects);
                self.settle_space(agent, &Err(reason.clone()), effects);
                if self.seats.get(agent).is_some_and(|seat| seat.held.is_some()) {
                    let note = format!("its workspace could not be made: {reason}");
                    self.give_up_start(agent, note, now, effects);
                }
            }
            WorkspaceEvent::Cleared { rescue } if is_clearing => {
                self.note_cleared(agent, rescue, now, effects);
            }
            WorkspaceEvent::Kept { reason } => {
                if let WorkspaceState::Clearing(clearing) = state {
                    self.note_kept(agent, clearing, reason, now, effects);
                }
            }
            WorkspaceEvent::Rescued { outcome } => {
                if let Ok(Some(name)) = &outcome {
                    self.tell(Entry::new("workspace.rescued", name.clone()).of(agent));
                }
                self.settle_space_for(|terms| terms.is_none(), agent, &outcome, effects);
            }
            WorkspaceEvent::Compared { files, settings } => {
                self.note_comparison(agent, files, settings);
            }
            WorkspaceEvent::Found(_)
            | WorkspaceEvent::Made(_)
            | WorkspaceEvent::NotMade { .. }
            | WorkspaceEvent::Cleared { .. } => {}
        }
        self.finish_down(effects);
    }

    /// Puts a workspace on record that was found on the disk; it is kept until somebody asks for more.
    fn take_in(&mut self, found: Workspace) {
        let agent = found.agent.clone();
        if self.workspaces.contains_key(&agent) {
            return;
        }
        let words = found.place_in_words();
        self.workspaces.insert(agent.clone(), found);
        self.touch(Place::Workspace(agent.clone()));
        self.tell(Entry::new("workspace.found", words).of(&agent));
    }

    fn note_made(&mut self, agent: &AgentName, made: Made, now: Moment, effects: &mut Vec<Effect>) {
        let Some(workspace) = self.workspaces.get_mut(agent) else { return };
        workspace.state = WorkspaceState::Ready;
        workspace.since = now;
        (workspace.port, workspace.copied, workspace.settings) =
            (made.port, made.copied, made.settings);
        workspace.outpost = made.outpost;
        let words = workspace.place_in_words();
        self.touch(Place::Workspace(agent.clone()));
        self.tell(Entry::new("workspace.made", words).of(agent));
        self.settle_space_for(|terms| terms.is_none(), agent, &Ok(None), effects);
        self.move_in(agent, now, effects);
        if self.seats.get(agent).is_some_and(Seat::is_live) {
            self.settle_space(agent, &Err("its agent runs".to_owned()), effects);
        }
        // Whoever was to work in it may have been stopped meanwhile.
        self.tidy(agent, effects);
    }

    fn note_kept(
        &mut self,
        agent: &AgentName,
        clearing: Clearing,
        reason: String,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let Some(workspace) = self.workspaces.get_mut(agent) else { return };
        workspace.state = WorkspaceState::Ready;
        let is_news = workspace.note.as_ref() != Some(&reason);
        workspace.note = Some(reason.clone());
        self.touch(Place::Workspace(agent.clone()));
        if is_news {
            self.tell(Entry::new("workspace.kept", reason.clone()).of(agent));
        }
        let is_live = self.seats.get(agent).is_some_and(Seat::is_live);
        // Whoever asked for more than was tried has yet to be served, unless the agent is back.
        let is_over = |terms: Option<Clearing>| {
            terms.is_some_and(|terms| is_live || !terms.goes_further_than(clearing))
        };
        self.settle_space_for(is_over, agent, &Err(reason), effects);
        if self.removal_awaited(agent).is_some() {
            self.tidy(agent, effects);
        }
        self.move_in(agent, now, effects);
    }

    fn note_cleared(
        &mut self,
        agent: &AgentName,
        rescue: Option<String>,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        self.workspaces.remove(agent);
        self.touch(Place::Workspace(agent.clone()));
        let words = rescue.clone().map(|name| format!("its work is in {name}"));
        self.tell(Entry::new("workspace.removed", words.unwrap_or_default()).of(agent));
        self.settle_space(agent, &Ok(rescue), effects);
        let held = self.seats.get(agent).and_then(|seat| seat.held.as_ref());
        if let Some((plot, _)) = held.cloned() {
            self.make_workspace(agent, plot, now, effects);
        }
    }

    pub(in crate::engine) fn known_workspace(
        &self,
        agent: &AgentName,
    ) -> Result<&Workspace, Refusal> {
        let known = || self.workspaces.keys().cloned().collect();
        let unknown = || Refusal::NoWorkspace { agent: agent.clone(), known: known() };
        self.workspaces.get(agent).ok_or_else(unknown)
    }

    /// Says whether something is being done to a workspace.
    pub(in crate::engine) fn is_busy_with_workspaces(&self) -> bool {
        self.workspaces.values().any(|one| one.state != WorkspaceState::Ready)
            || self.merges.values().any(|merge| !merge.state.is_final())
    }
}

impl Seat {
    /// Says why an agent was not started, if it was the set-up of its workspace that failed.
    pub(in crate::engine) fn note_failed_setup(
        &mut self,
        exit: Exit,
        workspace: Option<&Workspace>,
    ) {
        let has_setup = workspace.is_some_and(|one| one.plot.setup.is_some());
        if has_setup && exit == Exit::Code(SETUP_FAILED) {
            let words = "the set-up command of its workspace failed, so it was not started";
            self.note = Some(format!("{words}: its pane shows why"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, crew, name, seen, stopped};
    use crate::engine::{Event, RunEvent};
    use crate::model::{Command, WorkspaceCommand};

    fn plot(agent: &str) -> Plot {
        Plot {
            kind: WorkspaceKind::Worktree,
            project: "/p".into(),
            root: format!("/w/{agent}").into(),
            place: std::path::PathBuf::new(),
            cwd: "sub".into(),
            branch: format!("wheelhouse/s/{agent}"),
            base: "b0".to_owned(),
            copy: Vec::new(),
            setup: None,
            teardown: None,
            disposable: Vec::new(),
            port_base: 0,
            port_count: 0,
            runner: None,
            restores: None,
        }
    }

    fn start(bench: &mut Bench, agents: &[&str]) -> Vec<Effect> {
        let mut members = crew(agents, "team");
        for (member, _) in &mut members {
            member.plot = Some(Box::new(plot(member.name.as_str())));
        }
        bench.ask(Command::Start { members })
    }

    fn tell(bench: &mut Bench, agent: &str, event: WorkspaceEvent) -> Vec<Effect> {
        let event = Event::Workspace { agent: name(agent), event };
        let effects = bench.engine.handle(event, bench.now);
        bench.seen.extend(effects.iter().cloned());
        effects
    }

    fn clears(effects: &[Effect]) -> Option<Clearing> {
        effects.iter().find_map(|effect| {
            let Effect::Workspace(WorkspaceOrder::Clear(_, clearing)) = effect else { return None };
            Some(*clearing)
        })
    }

    fn starts(effects: &[Effect]) -> bool {
        effects.iter().any(|effect| matches!(effect, Effect::Start { .. }))
    }

    fn running() -> Bench {
        let mut bench = Bench::new();
        let _ = start(&mut bench, &["one"]);
        let _ = tell(&mut bench, "one", WorkspaceEvent::Made(Made::default()));
        let _ = bench.tell("one", seen());
        bench
    }

    fn end(bench: &mut Bench) -> Vec<Effect> {
        let _ = bench.stop("one");
        let left = bench.tell("one", stopped());
        assert_eq!(clears(&left), None, "its keeper is still there");
        bench.tell("one", RunEvent::KeeperLost)
    }

    #[test]
    fn an_agent_starts_once_its_workspace_is_on_record_and_made() {
        let mut bench = Bench::new();
        let effects = start(&mut bench, &["one"]);
        let made = Effect::Workspace(WorkspaceOrder::Make(Box::new(
            bench.engine.workspace(&name("one")).unwrap().clone(),
        )));
        assert!(matches!(effects[0], Effect::Save(_)) && effects[1] == made, "{effects:?}");
        assert!(!starts(&effects));
        let effects = tell(&mut bench, "one", WorkspaceEvent::Made(Made::default()));
        let Some(Effect::Start { launch, .. }) = effects.get(1) else { panic!("{effects:?}") };
        assert_eq!(launch.cwd, std::path::Path::new("/w/one/sub"));
        let seat = bench.engine.seat(&name("one")).unwrap();
        assert_eq!(seat.member.root(), std::path::Path::new("/w/one"));
    }

    #[test]
    fn one_that_cannot_be_made_keeps_its_agent_from_starting_and_leaves_no_row() {
        let mut bench = Bench::new();
        let _ = start(&mut bench, &["one"]);
        let reason = "no room".to_owned();
        let effects = tell(&mut bench, "one", WorkspaceEvent::NotMade { reason });
        let told = effects.iter().any(|effect| {
            matches!(effect, Effect::Answer { outcome: Err(refusal), .. }
                if refusal.to_string().contains("no room"))
        });
        assert!(told && !starts(&effects), "{effects:?}");
        assert_eq!(bench.engine.workspaces().count(), 0);
    }

    #[test]
    fn a_workspace_is_removed_only_after_its_agents_tree_is_proven_empty() {
        let mut bench = running();
        assert_eq!(clears(&end(&mut bench)), Some(Clearing::default()));
        let _ = tell(&mut bench, "one", WorkspaceEvent::Cleared { rescue: None });
        assert_eq!(bench.engine.workspaces().count(), 0);
    }

    fn clean(bench: &mut Bench, clearing: Clearing) -> Vec<Effect> {
        let clean = WorkspaceCommand::Clean { agents: vec![name("one")], clearing };
        bench.ask(Command::Workspace(clean))
    }

    fn answers(effects: &[Effect]) -> Vec<bool> {
        let answer = |effect: &Effect| {
            let Effect::Answer { outcome, .. } = effect else { return None };
            Some(outcome.is_ok())
        };
        effects.iter().filter_map(answer).collect()
    }

    #[test]
    fn whoever_asks_for_more_than_is_being_tried_is_served_after_it() {
        let mut bench = running();
        assert_eq!(clears(&end(&mut bench)), Some(Clearing::default()));
        let rescuing = Clearing { rescues: true, ..Clearing::default() };
        let (same, more) = (clean(&mut bench, Clearing::default()), clean(&mut bench, rescuing));
        assert_eq!((clears(&same), clears(&more)), (None, None), "one removal at a time");
        let reason = "1 new file: a".to_owned();
        let kept = tell(&mut bench, "one", WorkspaceEvent::Kept { reason });
        assert_eq!(answers(&kept), [false], "only the one who asked for no more is told");
        assert_eq!(clears(&kept), Some(rescuing));
        let rescue = Some("refs/r".to_owned());
        let gone = tell(&mut bench, "one", WorkspaceEvent::Cleared { rescue });
        assert_eq!(answers(&gone), [true]);
    }

    #[test]
    fn a_removal_that_was_tried_as_asked_is_not_tried_again() {
        let mut bench = running();
        let _ = end(&mut bench);
        let rescuing = Clearing { rescues: true, ..Clearing::default() };
        let _ = clean(&mut bench, rescuing);
        let kept = || WorkspaceEvent::Kept { reason: "a process is in it".to_owned() };
        let _ = tell(&mut bench, "one", kept());
        let effects = tell(&mut bench, "one", kept());
        assert_eq!((clears(&effects), answers(&effects)), (None, vec![false]));
    }

    #[test]
    fn a_removal_asked_for_while_it_is_made_is_answered_once_it_is_gone() {
        let mut bench = Bench::new();
        let _ = start(&mut bench, &["one"]);
        let _ = bench.stop("one");
        let rescuing = Clearing { rescues: true, ..Clearing::default() };
        assert!(answers(&clean(&mut bench, rescuing)).is_empty());
        let made = tell(&mut bench, "one", WorkspaceEvent::Made(Made::default()));
        assert_eq!((clears(&made), answers(&made)), (Some(rescuing), vec![]));
        let gone = tell(&mut bench, "one", WorkspaceEvent::Cleared { rescue: None });
        assert_eq!(answers(&gone), [true]);
    }

    #[test]
    fn what_is_kept_is_taken_up_again_and_never_removed_by_a_start() {
        let mut bench = running();
        let _ = end(&mut bench);
        let reason = "1 new file: a".to_owned();
        let _ = tell(&mut bench, "one", WorkspaceEvent::Kept { reason });
        let effects = start(&mut bench, &["one"]);
        assert!(starts(&effects), "{effects:?}");
        let _ = bench.tell("one", seen());
        let refused = clean(&mut bench, Clearing::default());
        assert!(
            matches!(
                &refused[..],
                [Effect::Save(_), Effect::Answer { outcome: Err(Refusal::Kept { .. }), .. }]
            ),
            "{refused:?}"
        );
    }

    #[test]
    fn whoever_is_stopped_before_the_workspace_is_there_never_starts() {
        let mut bench = Bench::new();
        let _ = start(&mut bench, &["one"]);
        let effects = bench.stop("one");
        assert!(
            effects.iter().any(|effect| matches!(effect, Effect::Answer { .. })),
            "{effects:?}"
        );
        let effects = tell(&mut bench, "one", WorkspaceEvent::Made(Made::default()));
        assert!(!starts(&effects));
        assert!(clears(&effects).is_some(), "nobody wants it any more");
    }

    #[test]
    fn a_start_while_the_last_workspace_is_being_removed_waits_for_the_next() {
        let mut bench = running();
        let _ = end(&mut bench);
        assert!(!starts(&start(&mut bench, &["one"])));
        let effects = tell(&mut bench, "one", WorkspaceEvent::Cleared { rescue: None });
        let makes = |effect: &Effect| matches!(effect, Effect::Workspace(WorkspaceOrder::Make(_)));
        assert!(effects.iter().any(makes), "{effects:?}");
        assert!(starts(&tell(&mut bench, "one", WorkspaceEvent::Made(Made::default()))));
    }

    #[test]
    fn a_hub_that_comes_back_clears_what_was_half_made_and_goes_on_with_what_was_half_removed() {
        let mut bench = Bench::new();
        let _ = start(&mut bench, &["one"]);
        let (engine, orders) = Engine::recover(bench.engine.record(), bench.now);
        bench.engine = engine;
        assert!(orders.iter().all(|order| !matches!(order, Effect::Adopt { .. })), "{orders:?}");
        let effects = bench.engine.handle(Event::Began { seed: 1 }, bench.now);
        assert!(clears(&effects).unwrap().is_unfinished);
        assert!(!bench.engine.seat(&name("one")).unwrap().is_live());
        // Whoever asked asks again.
        assert!(!starts(&start(&mut bench, &["one"])));
        let _ = tell(&mut bench, "one", WorkspaceEvent::Cleared { rescue: None });
        assert!(starts(&tell(&mut bench, "one", WorkspaceEvent::Made(Made::default()))));
        let _ = bench.tell("one", seen());
        let _ = end(&mut bench);
        let (engine, _) = Engine::recover(bench.engine.record(), bench.now);
        bench.engine = engine;
        let effects = bench.engine.handle(Event::Began { seed: 1 }, bench.now);
        // Somebody has worked in it: a file that is missing may be their work.
        let clearing = clears(&effects).unwrap();
        assert!(clearing.is_repeated && !clearing.is_unfinished);
    }

    #[test]
    fn a_workspace_that_is_found_is_kept_and_its_agent_goes_on_in_it() {
        let mut bench = Bench::new();
        let mut found = Workspace::new(name("one"), plot("one"), bench.now);
        found.state = WorkspaceState::Ready;
        let effects = tell(&mut bench, "one", WorkspaceEvent::Found(Box::new(found.clone())));
        assert_eq!(clears(&effects), None);
        assert!(matches!(effects[0], Effect::Save(_)), "{effects:?}");
        assert!(starts(&start(&mut bench, &["one"])));
        found.note = Some("another".to_owned());
        let _ = tell(&mut bench, "one", WorkspaceEvent::Found(Box::new(found)));
        assert_eq!(bench.engine.workspace(&name("one")).unwrap().note, None, "it is known");
    }

    #[test]
    fn the_hub_goes_down_once_the_workspaces_are_settled() {
        let mut bench = running();
        let _ = bench.down(true);
        let _ = bench.tell("one", stopped());
        let effects = bench.tell("one", RunEvent::KeeperLost);
        assert!(!effects.contains(&Effect::EndHub), "{effects:?}");
        let effects = tell(&mut bench, "one", WorkspaceEvent::Cleared { rescue: None });
        assert!(effects.contains(&Effect::EndHub), "{effects:?}");
    }

    #[test]
    fn settings_that_change_while_agents_work_are_told() {
        let mut bench = running();
        let settings =
            std::collections::BTreeMap::from([("filter.x.smudge".to_owned(), "1".to_owned())]);
        let event = WorkspaceEvent::Compared { files: Some(Vec::new()), settings: Some(settings) };
        let _ = tell(&mut bench, "one", event);
        let told = bench.engine.attention();
        assert!(told.iter().any(|item| item.text.contains("filter.x.smudge")), "{told:?}");
    }
}
