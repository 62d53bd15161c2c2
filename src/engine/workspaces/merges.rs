//! The queue in which work is brought back: one after the other, in the order in which it was done.
//!
//! Each is merged, and its gates run, on top of all that came before it, and only then does the branch
//! move. So whatever does not fit or breaks a gate is known by name, and goes back to its agent.

use std::collections::BTreeSet;

use crate::engine::journal::Place;
use crate::engine::prompts::prompt_texts;
use crate::engine::{Effect, Engine, Seat, WorkspaceOrder};
use crate::model::{
    AgentName, AgentState, Check, Done, Entry, Gate, Letter, Merge, MergeFile, MergeId,
    MergeOutcome, MergeState, MergeTerms, Moment, Refusal, RequestId, Task, TaskId, TaskSpec,
    Terms, WorkspaceKind, WorkspaceState,
};

/// Work that could not be brought back this often in a row is left to a person.
const RETURNS_MAX: u32 = 3;

/// Files that the record names of each.
const FILES_MAX: usize = 100;

/// What is kept of a gate's output.
const OUTPUT_BYTES_MAX: usize = 4096;

impl Engine {
    /// Returns the merges on record, oldest first.
    pub fn merges(&self) -> impl Iterator<Item = &Merge> {
        self.merges.values()
    }

    /// Has the work of tasks that are done brought back on these terms, or only when someone asks.
    pub fn set_merging(&mut self, terms: Option<MergeTerms>) {
        self.merging = terms;
    }

    pub(in crate::engine) fn is_merging(&self, agent: &AgentName) -> bool {
        self.merges.values().any(|merge| merge.agent == *agent && !merge.state.is_final())
    }

    /// Says whether what is to be brought back is not back yet.
    pub(in crate::engine) fn is_open_merge(&self, id: MergeId) -> bool {
        self.merges.get(&id).is_some_and(|merge| !merge.state.is_final())
    }

    /// Says whether an agent is seen at work, so that its files may be half written.
    pub(in crate::engine) fn is_seen_at_work(&self, agent: &AgentName) -> bool {
        let seat = self.seats.get(agent).filter(|seat| seat.is_live());
        seat.is_some_and(|seat| matches!(seat.state, AgentState::Working | AgentState::Waiting))
    }

    /// Queues what someone asked for, and answers once it is over.
    pub(in crate::engine) fn ask_to_merge(
        &mut self,
        request: RequestId,
        agent: &AgentName,
        terms: MergeTerms,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        if let Err(refusal) = self.refuse_merge(agent, &terms) {
            return effects.push(Effect::Answer { request, outcome: Err(refusal) });
        }
        let is_same = |merge: &&Merge| {
            merge.agent == *agent && merge.terms == terms && !merge.state.is_final()
        };
        // A call that is made again waits for the same.
        let known = self.merges.values().find(is_same).map(|merge| merge.id);
        let id = known.unwrap_or_else(|| self.queue_merge(agent, None, terms, now));
        self.merge_waits.push((request, id));
    }

    fn refuse_merge(&self, agent: &AgentName, terms: &MergeTerms) -> Result<(), Refusal> {
        self.refuse_if_going_down()?;
        let workspace = self.known_workspace(agent)?;
        let agent = agent.clone();
        if workspace.plot.kind != WorkspaceKind::Worktree {
            return Err(Refusal::NotOfGit { agent });
        }
        if workspace.state != WorkspaceState::Ready {
            return Err(Refusal::WorkspaceIs { agent, state: workspace.state });
        }
        if !terms.committed_only && !terms.is_trial && self.is_seen_at_work(&agent) {
            return Err(Refusal::AtWork { agent });
        }
        Ok(())
    }

    fn queue_merge(
        &mut self,
        agent: &AgentName,
        task: Option<TaskId>,
        terms: MergeTerms,
        now: Moment,
    ) -> MergeId {
        self.merge_count += 1;
        self.touch(Place::Hub);
        let id = MergeId(self.merge_count);
        let mut entry = Entry::new("merge.queued", format!("{id} into {}", terms.into)).of(agent);
        entry.task = task.map(|task| task.to_string());
        self.tell(entry);
        let merge = Merge {
            id,
            agent: agent.clone(),
            task,
            terms,
            state: MergeState::Queued,
            since: now,
            commit: None,
            files: Vec::new(),
            note: None,
        };
        self.merges.insert(id, merge);
        self.touch(Place::Merge(id));
        id
    }

    /// Queues the work of a task that has just been done, if that happens by itself.
    pub(in crate::engine) fn merge_task(&mut self, id: TaskId, agent: &AgentName, now: Moment) {
        let Some(mut terms) = self.merging.clone() else { return };
        let workspace = self.workspaces.get(agent);
        let is_tree = workspace.is_some_and(|one| one.plot.kind == WorkspaceKind::Worktree);
        let task = &self.tasks[&id];
        if !is_tree || task.verifies.is_some() {
            return;
        }
        let own = task.terms.gates.iter().filter(|gate| is_about_files(gate)).cloned();
        terms.gates.extend(own.collect::<Vec<_>>());
        let mut seen = BTreeSet::new();
        terms.gates.retain(|gate| seen.insert(gate.clone()));
        terms.message = Some(task.title.clone());
        self.queue_merge(agent, Some(id), terms, now);
    }

    /// Begins the next merge, if none is under way.
    pub(in crate::engine) fn advance_merges(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        if self.merges.values().any(|merge| merge.state == MergeState::Merging) {
            return;
        }
        let is_due = |merge: &&Merge| {
            let may_read = merge.terms.committed_only || merge.terms.is_trial;
            merge.state == MergeState::Queued && (may_read || !self.is_seen_at_work(&merge.agent))
        };
        let Some(id) = self.merges.values().find(is_due).map(|merge| merge.id) else { return };
        let Some(merge) = self.merges.get_mut(&id) else { return };
        merge.state = MergeState::Merging;
        merge.since = now;
        self.touch(Place::Merge(id));
        self.order_merge(id, effects);
    }

    fn order_merge(&self, id: MergeId, effects: &mut Vec<Effect>) {
        let Some(merge) = self.merges.get(&id) else { return };
        if let Some(workspace) = self.workspaces.get(&merge.agent) {
            let (merge, workspace) = (Box::new(merge.clone()), Box::new(workspace.clone()));
            effects.push(Effect::Workspace(WorkspaceOrder::Merge(merge, workspace)));
        }
    }

    /// Orders once more what an earlier hub was at when it died: what it has moved already is found.
    pub(in crate::engine) fn recover_merges(&mut self, effects: &mut Vec<Effect>) {
        let is_open = |merge: &&Merge| merge.state == MergeState::Merging;
        let open: Vec<MergeId> =
            self.merges.values().filter(is_open).map(|merge| merge.id).collect();
        for id in open {
            self.order_merge(id, effects);
        }
    }

    /// Notes what came of a merge.
    pub(in crate::engine) fn note_merged(
        &mut self,
        id: MergeId,
        outcome: &MergeOutcome,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let is_open = |merge: &&mut Merge| merge.state == MergeState::Merging;
        let Some(agent) = self.merges.get_mut(&id).filter(is_open).map(|one| one.agent.clone())
        else {
            return;
        };
        let told = self.tell_outcome(id, &agent, outcome);
        let Some(merge) = self.merges.get_mut(&id) else { return };
        (merge.state, merge.since, merge.note) = (told.state, now, told.note);
        (merge.commit, merge.files) = (told.commit, told.files);
        let (merge, is_trial) = (merge.clone(), merge.terms.is_trial);
        self.touch(Place::Merge(id));
        let mut entry = Entry::new(&format!("merge.{}", merge.state), told.words).of(&agent);
        entry.task = merge.task.map(|task| task.to_string());
        self.tell(entry);
        if !is_trial {
            self.follow_merge(&merge, outcome, now);
            self.want_comparison(&agent);
        }
        let waiting = self.merge_waits.extract_if(.., |(_, waits_for)| *waits_for == id);
        for (request, _) in waiting.collect::<Vec<_>>() {
            let done = Done { merges: vec![merge.clone()], ..Done::default() };
            effects.push(Effect::Answer { request, outcome: Ok(done) });
        }
        self.tidy(&agent, effects);
        self.finish_down(effects);
    }

    fn tell_outcome(&self, id: MergeId, agent: &AgentName, outcome: &MergeOutcome) -> Told {
        let named = |files: &[String]| -> Vec<MergeFile> {
            let file = |path: &String| {
                let others = self.others_with(agent, path);
                MergeFile { path: path.clone(), others }
            };
            files.iter().take(FILES_MAX).map(file).collect()
        };
        match outcome {
            MergeOutcome::Done { commit, files, was_there, .. } => Told {
                state: MergeState::Done,
                note: was_there.then(|| "there was nothing new to bring back".to_owned()),
                commit: Some(commit.clone()),
                files: named(files),
                words: format!("{id}: {commit}"),
            },
            MergeOutcome::Conflict { files, onto } => Told {
                state: MergeState::Conflict,
                note: Some(format!("it conflicts with {onto}")),
                commit: None,
                files: named(files),
                words: format!("{id}: {}", files.join(", ")),
            },
            MergeOutcome::Broken { gate, output, fails_without } => {
                let blame = if *fails_without { ", and not without its work either" } else { "" };
                let start =
                    output.ceil_char_boundary(output.len().saturating_sub(OUTPUT_BYTES_MAX));
                Told {
                    state: MergeState::Broken,
                    note: Some(format!("`{gate}` does not pass{blame}\n{}", &output[start..])),
                    commit: None,
                    files: Vec::new(),
                    words: format!("{id}: `{gate}` does not pass{blame}"),
                }
            }
            MergeOutcome::Failed { reason, hint } => Told {
                state: MergeState::Failed,
                note: Some(match hint {
                    Some(hint) => format!("{reason}\nhint: {hint}"),
                    None => reason.clone(),
                }),
                commit: None,
                files: Vec::new(),
                words: format!("{id}: {reason}"),
            },
        }
    }

    /// Returns whose file it is, and who else has changed it: not yet brought back, or before.
    pub(in crate::engine) fn others_with(&self, agent: &AgentName, path: &str) -> Vec<AgentName> {
        let owners = self.owners_of(path);
        let spaces =
            self.workspaces.values().filter(|one| one.files.iter().any(|file| file == path));
        let spaces = spaces.map(|one| one.agent.clone());
        let brought = self.merges.values().filter(|merge| {
            merge.state == MergeState::Done && merge.files.iter().any(|file| file.path == path)
        });
        let brought = brought.map(|merge| merge.agent.clone());
        let all: BTreeSet<AgentName> = owners.into_iter().chain(spaces).chain(brought).collect();
        all.into_iter().filter(|other| other != agent).collect()
    }

    /// What follows for the workspace, and for whoever worked in it.
    fn follow_merge(&mut self, merge: &Merge, outcome: &MergeOutcome, now: Moment) {
        let agent = &merge.agent;
        let Some(workspace) = self.workspaces.get_mut(agent) else { return };
        let is_its_fault = match outcome {
            MergeOutcome::Done { tip, .. } => {
                workspace.merged = Some(tip.clone());
                (workspace.returns, workspace.note) = (0, None);
                self.touch(Place::Workspace(agent.clone()));
                return;
            }
            MergeOutcome::Conflict { .. } => true,
            MergeOutcome::Broken { fails_without, .. } => !fails_without,
            MergeOutcome::Failed { .. } => false,
        };
        if !is_its_fault || !(merge.terms.sends_back || merge.task.is_some()) {
            return;
        }
        workspace.returns += 1;
        let returns = workspace.returns;
        self.touch(Place::Workspace(agent.clone()));
        if returns > RETURNS_MAX {
            return;
        }
        let text = prompt_texts::not_merged(merge);
        match merge.task {
            Some(task) => self.add_repair(task, merge, text, now),
            None => {
                self.post(Letter { agent: agent.clone(), text, tag: None }, now);
            }
        }
    }

    /// Gives the agent a task of its own to make its work fit; once it is done, it is queued again.
    fn add_repair(&mut self, of: TaskId, merge: &Merge, prompt: String, now: Moment) {
        if self.refuse_too_many(1).is_err() {
            return;
        }
        let Task { terms, title, .. } = &self.tasks[&of];
        let gates = terms.gates.clone();
        let title = title.strip_prefix("Make it fit: ").unwrap_or(title);
        let terms = Terms { agent: Some(merge.agent.clone()), gates, ..Terms::default() };
        let spec = TaskSpec {
            title: format!("Make it fit: {title}"),
            prompt,
            terms,
            ..TaskSpec::default()
        };
        self.insert_task(spec, Vec::new(), None, now);
    }

    /// Returns the last merge of each agent that did not succeed, and that nobody was told of.
    pub(in crate::engine) fn stranded_merges(&self) -> Vec<&Merge> {
        let latest = |merge: &&Merge| {
            let is_later = |other: &Merge| other.agent == merge.agent && other.id > merge.id;
            !merge.terms.is_trial && !self.merges.values().any(is_later)
        };
        let is_left = |merge: &&Merge| {
            let Some(workspace) = self.workspaces.get(&merge.agent) else { return false };
            // What became of one that is gone is over.
            if merge.since < workspace.since {
                return false;
            }
            let is_sent_back = merge.terms.sends_back || merge.task.is_some();
            match merge.state {
                MergeState::Conflict | MergeState::Broken => {
                    let is_told = self.seats.get(&merge.agent).is_some_and(Seat::is_live);
                    !is_sent_back || !is_told || !(1..=RETURNS_MAX).contains(&workspace.returns)
                }
                MergeState::Failed => true,
                MergeState::Queued | MergeState::Merging | MergeState::Done => false,
            }
        };
        self.merges.values().filter(latest).filter(is_left).collect()
    }
}

/// What is told of an outcome.
struct Told {
    state: MergeState,
    note: Option<String>,
    commit: Option<String>,
    files: Vec<MergeFile>,
    words: String,
}

/// Says whether a gate is about files alone, so that it means something on a merged tree.
fn is_about_files(gate: &str) -> bool {
    let Ok(gate) = Gate::parse(gate) else { return false };
    match gate.check {
        Check::Command { .. }
        | Check::File { .. }
        | Check::Regex { .. }
        | Check::Json { .. }
        | Check::Format { .. }
        | Check::Schema { .. } => true,
        Check::GitClean | Check::GitAhead { .. } | Check::GitCommits | Check::Contract { .. } => {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, Work, name};
    use crate::engine::{Event, WorkspaceEvent};
    use crate::model::{
        AgentState, AttentionKind, Command, Plot, TaskState, Workspace, WorkspaceCommand,
    };

    fn terms() -> MergeTerms {
        MergeTerms {
            form: crate::model::MergeForm::Merge,
            into: "wheelhouse/integration".to_owned(),
            gates: vec!["true".to_owned()],
            message: None,
            committed_only: false,
            is_trial: false,
            sends_back: false,
        }
    }

    /// Agents that rest, each in a workspace.
    fn bench(agents: &[&str]) -> Bench {
        let mut bench = Bench::with_idle(agents);
        for agent in agents {
            let plot = Plot {
                kind: WorkspaceKind::Worktree,
                project: "/p".into(),
                root: format!("/w/{agent}").into(),
                place: std::path::PathBuf::new(),
                cwd: std::path::PathBuf::new(),
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
            };
            let mut workspace = Workspace::new(name(agent), plot, Moment(0));
            workspace.state = WorkspaceState::Ready;
            bench.engine.workspaces.insert(name(agent), workspace);
        }
        bench
    }

    fn ask(bench: &mut Bench, agent: &str, terms: MergeTerms) -> Vec<Effect> {
        let command = WorkspaceCommand::Merge { agent: name(agent), terms };
        bench.ask(Command::Workspace(command))
    }

    fn ordered(effects: &[Effect]) -> Vec<String> {
        let order = |effect: &Effect| {
            let Effect::Workspace(WorkspaceOrder::Merge(merge, _)) = effect else { return None };
            Some(merge.agent.to_string())
        };
        effects.iter().filter_map(order).collect()
    }

    fn outcome(bench: &mut Bench, merge: u64, outcome: MergeOutcome) -> Vec<Effect> {
        let event = Event::Merged { merge: MergeId(merge), outcome };
        let effects = bench.engine.handle(event, bench.now);
        bench.seen.extend(effects.iter().cloned());
        effects
    }

    fn done(tip: &str, file: &str) -> MergeOutcome {
        let (commit, files) = ("c1".to_owned(), vec![file.to_owned()]);
        MergeOutcome::Done { commit, tip: tip.to_owned(), files, was_there: false }
    }

    fn conflict(file: &str) -> MergeOutcome {
        MergeOutcome::Conflict { files: vec![file.to_owned()], onto: "x".to_owned() }
    }

    #[test]
    fn one_is_merged_after_the_other_and_each_is_on_record_before() {
        let mut bench = bench(&["one", "two"]);
        let first = ask(&mut bench, "two", terms());
        assert!(matches!(first[0], Effect::Save(_)), "{first:?}");
        assert_eq!(ordered(&first), ["two"]);
        assert_eq!(ordered(&ask(&mut bench, "one", terms())), [""; 0]);
        let effects = outcome(&mut bench, 1, done("t1", "a"));
        assert_eq!(ordered(&effects), ["one"]);
        let answered = |effect: &Effect| matches!(effect, Effect::Answer { outcome: Ok(_), .. });
        assert!(effects.iter().any(answered), "{effects:?}");
        assert_eq!(bench.engine.workspace(&name("two")).unwrap().merged.as_deref(), Some("t1"));
    }

    #[test]
    fn an_agent_at_work_is_not_merged_and_a_hub_that_comes_back_goes_on() {
        let mut bench = bench(&["one"]);
        bench.did("one", AgentState::Working);
        let refused = ask(&mut bench, "one", terms());
        let is_refused = |effect: &Effect| {
            matches!(effect, Effect::Answer { outcome: Err(Refusal::AtWork { .. }), .. })
        };
        assert!(refused.iter().any(is_refused), "{refused:?}");
        let committed = MergeTerms { committed_only: true, ..terms() };
        assert_eq!(ordered(&ask(&mut bench, "one", committed)), ["one"]);
        let (engine, _) = Engine::recover(bench.engine.record(), bench.now);
        bench.engine = engine;
        let effects = bench.engine.handle(Event::Began { seed: 1 }, bench.now);
        assert_eq!(ordered(&effects), ["one"]);
    }

    #[test]
    fn the_work_of_a_task_comes_back_by_itself_and_goes_back_as_a_task_if_it_does_not_fit() {
        let mut bench = bench(&["one", "two"]);
        bench.engine.set_merging(Some(terms()));
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.agent = Some(name("one")))]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        bench.did("one", AgentState::Idle);
        assert_eq!(bench.states(), [TaskState::Done]);
        let merge = bench.engine.merges().next().unwrap();
        assert_eq!((merge.task, merge.state), (Some(TaskId(1)), MergeState::Merging));
        let _ = outcome(&mut bench, 1, conflict("src/a"));
        let repair = bench.engine.task(TaskId(2)).unwrap();
        assert_eq!(repair.title, "Make it fit: a");
        assert!(repair.prompt.contains("src/a") && repair.prompt.contains("git merge"));
        assert_eq!(repair.terms.agent, Some(name("one")));
        let told = |bench: &Bench| {
            let items = bench.engine.attention().into_iter();
            items.filter(|item| item.kind == AttentionKind::Conflict).count()
        };
        assert_eq!(told(&bench), 0, "its agent sees to it");
        for _ in 0..RETURNS_MAX {
            let id = bench.engine.task_count;
            bench.begin("one");
            bench.report("one", id, "STATUS: DONE — 3 tests pass");
            bench.did("one", AgentState::Idle);
            let last = bench.engine.merges().last().unwrap().id.0;
            let _ = outcome(&mut bench, last, conflict("src/a"));
        }
        assert_eq!(told(&bench), 1, "by now a person should");
        assert_eq!(bench.engine.tasks().count(), 4);
    }

    #[test]
    fn only_gates_about_files_are_asked_of_a_merged_tree() {
        for (gate, is) in [
            ("make test", true),
            ("file:a", true),
            ("git:clean", false),
            ("git:commits", false),
            ("contract:x", false),
        ] {
            assert_eq!(is_about_files(gate), is, "{gate}");
        }
    }

    #[test]
    fn a_gate_that_fails_without_the_work_too_is_a_persons_business() {
        let mut bench = bench(&["one"]);
        let back = MergeTerms { sends_back: true, ..terms() };
        let _ = ask(&mut bench, "one", back);
        let (gate, output) = ("make".to_owned(), "no".to_owned());
        let _ = outcome(&mut bench, 1, MergeOutcome::Broken { gate, output, fails_without: true });
        assert!(bench.prompts("one").is_empty());
        let told = bench.engine.attention();
        assert!(told.iter().any(|item| item.text.contains("not without its work")), "{told:?}");
    }

    #[test]
    fn work_that_will_meet_is_told_with_whose_it_is() {
        let mut bench = bench(&["one", "two"]);
        bench.seat_mut("two").member.owns = vec!["src/**".to_owned()];
        for agent in ["one", "two"] {
            let files = Some(vec!["src/a.rs".to_owned(), "b".to_owned()]);
            let event = WorkspaceEvent::Compared { files, settings: None };
            bench.handle(Event::Workspace { agent: name(agent), event });
        }
        let words: Vec<String> = bench
            .engine
            .overlaps()
            .iter()
            .map(crate::engine::workspaces::overlap::Overlap::words)
            .collect();
        assert_eq!(
            words,
            [
                "b and 1 more changed in the workspaces of one and two",
                "src/a.rs, which two owns, changed in the workspace of one"
            ]
        );
        assert_eq!(bench.engine.others_with(&name("one"), "src/a.rs"), [name("two")]);
        let _ = ask(&mut bench, "two", terms());
        let _ = outcome(&mut bench, 1, done("t", "b"));
        let files = Some(Vec::new());
        let event = WorkspaceEvent::Compared { files, settings: None };
        bench.handle(Event::Workspace { agent: name("two"), event });
        assert_eq!(bench.engine.overlaps().len(), 1, "what was brought back meets nobody");
        assert_eq!(
            bench.engine.others_with(&name("one"), "b"),
            [name("two")],
            "by whom it is known"
        );
    }
}
