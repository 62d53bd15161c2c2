//! Whose files were changed by whom, as far as anyone can tell.
//!
//! A workspace in which somebody owns something is looked at when an agent comes up, when a turn
//! ends, and before a claim is believed. What differs between two looks was changed by someone who
//! worked in between. If the owner did, or whoever has a task about these files, it is theirs; if
//! others alone worked, it is a trespass of theirs, until the file is as it was, its owner has changed
//! it again, or a person allows it for the task at hand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::engine::journal::Place;
use crate::engine::prompts::prompt_texts;
use crate::engine::{Effect, Engine, Phase, Seat};
use crate::model::{
    AgentName, AgentState, Entry, FileChange, Launch, Member, Moment, Refusal, Task, TaskId,
    TaskState, Touched, Trespass, overlap,
};

/// Files of one owner that the same agents are remembered for; with more, a person has to say what
/// becomes of them.
const FILES_MAX: usize = 5_000;

/// The looks at every workspace.
pub(in crate::engine) type Looks = BTreeMap<PathBuf, Look>;

/// How far the looks at one workspace have come.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Look {
    /// How many were ordered.
    ordered: u64,
    is_under_way: bool,
    /// Another is wanted.
    is_wanted: bool,
    /// Who may have changed what the next outcome tells of: everyone who worked since the look before
    /// it was ordered, for a look takes a while.
    workers: BTreeSet<AgentName>,
    /// Who has worked since the last look was ordered.
    later: BTreeSet<AgentName>,
}

impl Engine {
    /// Returns what agents did to each other's files.
    pub fn trespasses(&self) -> impl Iterator<Item = &Trespass> {
        self.trespasses.values()
    }

    /// Returns what an agent did, or may have done, and nobody has allowed.
    pub fn trespasses_of(&self, agent: &AgentName) -> impl Iterator<Item = &Trespass> {
        let open = self.trespasses.values().filter(|one| one.open().next().is_some());
        open.filter(move |one| one.suspects.contains(agent))
    }

    /// Says whether somebody owns something there.
    fn is_watched(&self, root: &Path) -> bool {
        let owns = |seat: &Seat| !seat.member.owns.is_empty() && seat.member.root() == root;
        self.seats.values().any(owns)
    }

    /// Wants a look at the workspace of an agent, if somebody owns something there.
    pub(in crate::engine) fn want_look(&mut self, agent: &AgentName) {
        let root = self.seats.get(agent).map(|seat| seat.member.root().to_owned());
        if let Some(root) = root.filter(|root| self.is_watched(root)) {
            self.looks.entry(root).or_default().is_wanted = true;
        }
    }

    /// Wants a look after an agent's turn.
    pub(in crate::engine) fn look_after(&mut self, agent: &AgentName) {
        self.want_look(agent);
        self.want_comparison(agent);
        let root = self.seats.get(agent).map(|seat| seat.member.root().to_owned());
        if let Some(look) = root.and_then(|root| self.looks.get_mut(&root)) {
            look.workers.insert(agent.clone());
            look.later.insert(agent.clone());
        }
    }

    /// Has a claim wait for a look that begins from now on; says whether it has to.
    pub(in crate::engine) fn await_look(&mut self, id: TaskId) -> bool {
        let Some(open) = self.tasks.get(&id).and_then(Task::open) else { return false };
        let agent = open.agent.clone();
        let root = self.seats.get(&agent).map(|seat| seat.member.root().to_owned());
        let Some(root) = root.filter(|root| self.is_watched(root)) else { return false };
        let look = self.looks.entry(root).or_default();
        look.is_wanted = true;
        let number = look.ordered + 1;
        let open = self.tasks.get_mut(&id).and_then(Task::open_mut);
        if let Some(claim) = open.and_then(|open| open.claim.as_mut()) {
            claim.look = Some(number);
        }
        self.touch(Place::Task(id));
        true
    }

    /// Notes who works, and orders the looks that are wanted.
    pub(in crate::engine) fn note_workers(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        for (root, look) in &mut self.looks {
            let here = self.seats.values().filter(|seat| seat.member.root() == root);
            let working: BTreeSet<AgentName> =
                here.filter(|seat| works(seat, now)).map(|seat| seat.member.name.clone()).collect();
            look.workers.extend(working.iter().cloned());
            look.later.extend(working.iter().cloned());
            if look.is_wanted && !look.is_under_way {
                (look.is_wanted, look.is_under_way) = (false, true);
                look.ordered += 1;
                look.later = working;
                effects.push(Effect::Look { root: root.clone() });
            }
        }
    }

    /// Takes over who worked when an earlier hub died.
    pub(in crate::engine) fn recall_worker(&mut self, seat: &Seat) {
        if seat.is_live() && is_at_work(seat.state) {
            let look = self.looks.entry(seat.member.root().to_owned()).or_default();
            look.workers.insert(seat.member.name.clone());
        }
    }

    /// Notes which files have changed, and believes or refuses the claims that waited for it.
    pub(in crate::engine) fn note_look(
        &mut self,
        root: &Path,
        changes: Option<Vec<FileChange>>,
        now: Moment,
    ) {
        let Some(look) = self.looks.get_mut(root).filter(|look| look.is_under_way) else { return };
        look.is_under_way = false;
        let number = look.ordered;
        let later = std::mem::take(&mut look.later);
        let workers = std::mem::replace(&mut look.workers, later.clone());
        look.later = later;
        match changes {
            Some(changes) => self.attribute(root, &workers, changes, now),
            None => self.tell(Entry::new("ownership.unread", root.display().to_string())),
        }
        let waits = |task: &&Task| {
            let open = task.open().filter(|_| task.state == TaskState::Claimed);
            let is_here = |agent: &AgentName| {
                self.seats.get(agent).is_none_or(|seat| seat.member.root() == root)
            };
            let claim =
                open.filter(|open| is_here(&open.agent)).and_then(|open| open.claim.as_ref());
            claim.and_then(|claim| claim.look).is_some_and(|look| look <= number)
        };
        let waiting: Vec<TaskId> = self.tasks.values().filter(waits).map(|task| task.id).collect();
        for id in waiting {
            self.settle_claim(id, now);
        }
    }

    fn attribute(
        &mut self,
        root: &Path,
        workers: &BTreeSet<AgentName>,
        changes: Vec<FileChange>,
        now: Moment,
    ) {
        let owners = self.domains(root, |seat| &seat.member.owns);
        let tasked = self.domains(root, |seat| {
            self.task_of(&seat.member.name).map_or(&[][..], |task| &task.terms.owns)
        });
        let covers = |domains: &[(AgentName, GlobSet)], path: &str| -> Vec<AgentName> {
            let found = domains.iter().filter(|(_, domain)| domain.is_match(path));
            found.map(|(agent, _)| agent.clone()).collect()
        };
        for change in changes {
            let owner = covers(&owners, &change.path);
            let rightful = [owner.clone(), covers(&tasked, &change.path)].concat();
            let is_rightful = rightful.iter().any(|agent| workers.contains(agent));
            let is_blameless =
                self.forgive(root, &change, is_rightful) || is_rightful || workers.is_empty();
            if let Some(owner) = owner.first().filter(|_| !is_blameless) {
                self.accuse(root, owner.clone(), workers, change, now);
            }
        }
    }

    /// Forgets a trespass where the file is as it was, or its owner has changed it again; says whether
    /// there was one.
    fn forgive(&mut self, root: &Path, change: &FileChange, is_rightful: bool) -> bool {
        let mut touched = Vec::new();
        for (key, trespass) in self.trespasses.iter_mut().filter(|(_, one)| one.root == root) {
            let is_over = |file: &Touched| is_rightful || file.before == change.after;
            if trespass.files.get(&change.path).is_some_and(is_over) {
                trespass.files.remove(&change.path);
                touched.push(key.clone());
            }
        }
        let is_forgiven = !touched.is_empty();
        for key in touched {
            if self.trespasses.get(&key).is_some_and(|trespass| trespass.files.is_empty()) {
                self.trespasses.remove(&key);
                self.tell(Entry::new("ownership.settled", key.clone()));
            }
            self.touch(Place::Trespass(key));
        }
        is_forgiven
    }

    fn accuse(
        &mut self,
        root: &Path,
        owner: AgentName,
        workers: &BTreeSet<AgentName>,
        change: FileChange,
        now: Moment,
    ) {
        let FileChange { path, before, .. } = change;
        let tasks: Vec<TaskId> =
            workers.iter().filter_map(|agent| self.task_of(agent)).map(|task| task.id).collect();
        // What it was before counts, not what somebody made of it since; and a person's word that it
        // may stay holds for the task that it was said about.
        let is_settled = |file: &Touched| {
            !file.is_allowed || file.tasks.iter().any(|allowed| tasks.contains(allowed))
        };
        let here = self.trespasses.values().filter(|one| one.root == root);
        if here.filter_map(|one| one.files.get(&path)).any(is_settled) {
            return;
        }
        let suspects: Vec<AgentName> = workers.iter().cloned().collect();
        let (root, files) = (root.to_owned(), BTreeMap::new());
        let new = Trespass { root, owner, suspects, files, since: now };
        let key = new.key();
        if !self.trespasses.contains_key(&key) {
            self.tell(Entry::new("ownership.conflict", format!("{key}: {path}")));
        }
        let trespass = self.trespasses.entry(key.clone()).or_insert(new);
        // One that stands for all the rest is never as it was.
        let path = if trespass.files.len() < FILES_MAX { path } else { "…".to_owned() };
        trespass.files.insert(path, Touched { before, is_allowed: false, tasks });
        self.touch(Place::Trespass(key));
    }

    /// Returns the patterns of everyone in a workspace, ready to be matched.
    fn domains<'a>(
        &'a self,
        root: &Path,
        patterns: impl Fn(&'a Seat) -> &'a [String],
    ) -> Vec<(AgentName, GlobSet)> {
        let here = self.seats.values().filter(|seat| seat.member.root() == root);
        let named = here.map(|seat| (seat.member.name.clone(), patterns(seat)));
        let some = named.filter(|(_, patterns)| !patterns.is_empty());
        some.map(|(agent, patterns)| (agent, domain(patterns))).collect()
    }

    /// Returns why a claim does not hold: what its agent did to others' files.
    pub(in crate::engine) fn reproach(&self, agent: &AgentName) -> Option<String> {
        let trespasses: Vec<&Trespass> = self.trespasses_of(agent).collect();
        (!trespasses.is_empty()).then(|| prompt_texts::trespassed(agent, &trespasses))
    }

    /// Lets the files stay as an agent made them.
    pub(in crate::engine) fn allow(&mut self, agent: &AgentName) -> Result<Vec<TaskId>, Refusal> {
        self.refuse_unknown(std::slice::from_ref(agent))?;
        let keys: Vec<String> = self.trespasses_of(agent).map(Trespass::key).collect();
        if keys.is_empty() {
            return Err(Refusal::NoTrespass { agent: agent.clone() });
        }
        for key in keys {
            if let Some(trespass) = self.trespasses.get_mut(&key) {
                trespass.files.values_mut().for_each(|file| file.is_allowed = true);
            }
            self.tell(Entry::new("ownership.allowed", key.clone()));
            self.touch(Place::Trespass(key));
        }
        Ok(self.task_of(agent).map(|task| task.id).into_iter().collect())
    }

    /// Refuses agents that would own the same files as another.
    pub fn refuse_shared_paths(&self, new: &[(Member, Launch)]) -> Result<(), Refusal> {
        let is_new = |name: &AgentName| new.iter().any(|(member, _)| member.name == *name);
        let live = self.seats.values().filter(|seat| seat.is_live()).map(|seat| &seat.member);
        let others = live.filter(|member| !is_new(&member.name));
        let all: Vec<&Member> = new.iter().map(|(member, _)| member).chain(others).collect();
        for (at, first) in all.iter().enumerate().take(new.len()) {
            for second in all[at + 1..].iter().filter(|other| other.root() == first.root()) {
                let mut pairs = first
                    .owns
                    .iter()
                    .flat_map(|one| second.owns.iter().map(move |other| (one, other)));
                if let Some((one, other)) = pairs.find(|(one, other)| overlap(one, other)) {
                    let (first, second) = (&first.name, &second.name);
                    let paths = format!("`{one}` of {first} and `{other}` of {second}");
                    return Err(Refusal::SharedPaths { paths });
                }
            }
        }
        Ok(())
    }
}

/// Says whether an agent may be changing files right now.
fn works(seat: &Seat, now: Moment) -> bool {
    seat.phase == Phase::Running && (is_at_work(seat.state) || seat.readiness.expects_turn(now))
}

/// What nobody can read may be work.
pub(in crate::engine) fn is_at_work(state: AgentState) -> bool {
    match state {
        AgentState::Working | AgentState::Waiting | AgentState::Unknown => true,
        AgentState::Starting
        | AgentState::Idle
        | AgentState::Blocked
        | AgentState::Done
        | AgentState::Error
        | AgentState::Limited
        | AgentState::Exited => false,
    }
}

/// Returns the patterns as one; a name without wildcards stands for all below it, too.
pub(in crate::engine) fn domain(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let plain = pattern.trim_start_matches("./").trim_end_matches('/');
        for text in [plain.to_owned(), format!("{plain}/**")] {
            if let Ok(glob) = GlobBuilder::new(&text).literal_separator(true).build() {
                set.add(glob);
            }
        }
    }
    set.build().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Event;
    use crate::engine::fixture::{Bench, Work, crew, name};
    use crate::model::{Command, TaskCommand};

    /// Agents `a` and `c`, and `b`, who owns `src/b/**`; all rest.
    fn team() -> Bench {
        let mut bench = Bench::with_idle(&["a", "b", "c"]);
        bench.seat_mut("b").member.owns = vec!["src/b/**".to_owned()];
        bench.seat_mut("a").member.owns = vec!["src/a".to_owned()];
        let _ = bench.tell("b", crate::engine::fixture::seen());
        bench.look(&[]);
        bench
    }

    fn files(bench: &Bench, agent: &str) -> Vec<String> {
        let agent = name(agent);
        let open = bench.engine.trespasses_of(&agent);
        open.flat_map(|one| one.open().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    impl Bench {
        /// Ends the turn of an agent that worked, and tells what changed meanwhile.
        fn turn(&mut self, agents: &[&str], changes: &[(&str, &str, &str)]) {
            for agent in agents {
                self.did(agent, AgentState::Working);
            }
            for agent in agents {
                self.did(agent, AgentState::Idle);
            }
            if agents.is_empty() {
                let _ = self.tell("b", crate::engine::fixture::seen());
            }
            self.look(changes);
        }

        /// Answers a look, and others that follow from it, with these changes and then none.
        fn look(&mut self, changes: &[(&str, &str, &str)]) {
            let content = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let change = |(path, before, after): &(&str, &str, &str)| FileChange {
                path: (*path).to_owned(),
                before: content(before),
                after: content(after),
            };
            let changes = changes.iter().map(change).collect();
            self.handle(Event::Looked { root: "/".into(), changes: Some(changes) });
            self.answer_looks();
        }
    }

    fn claim(bench: &mut Bench, agent: &str, changes: &[(&str, &str, &str)]) -> TaskState {
        let to = Some(name(agent));
        let _ = bench.add(vec![Work::new("x").with(|terms| terms.agent = to)]);
        bench.begin(agent);
        bench.report(agent, 1, "STATUS: DONE — 3 tests pass");
        bench.look(changes);
        bench.states()[0]
    }

    #[test]
    fn a_file_is_blamed_on_whoever_worked_alone_and_never_on_its_owner() {
        for (workers, path, blamed) in [
            (&["a"][..], "src/b/x.rs", &["a"][..]),
            (&["a", "b"], "src/b/x.rs", &[]),
            (&["b"], "src/b/x.rs", &[]),
            (&["a", "c"], "src/b/x.rs", &["a", "c"]),
            (&["a"], "README.md", &[]),
            (&["a"], "src/a/x.rs", &[]),
            (&["b"], "src/a", &["b"]),
            (&["c"], "src/a/deep/x", &["c"]),
            (&[], "src/b/x.rs", &[]),
        ] {
            let mut bench = team();
            bench.turn(workers, &[(path, "1", "2")]);
            let accused: Vec<&str> = ["a", "b", "c"]
                .into_iter()
                .filter(|agent| !files(&bench, agent).is_empty())
                .collect();
            assert_eq!(accused, blamed, "{workers:?} {path}");
        }
    }

    #[test]
    fn whoever_worked_during_a_look_counts_for_the_one_after_it() {
        let mut bench = team();
        bench.did("a", AgentState::Working);
        bench.did("a", AgentState::Idle);
        bench.did("c", AgentState::Working);
        bench.did("c", AgentState::Idle);
        bench.handle(Event::Looked { root: "/".into(), changes: Some(Vec::new()) });
        bench.look(&[("src/b/x", "1", "2")]);
        assert_eq!(bench.engine.trespasses().next().unwrap().suspects, [name("c")]);
    }

    #[test]
    fn a_claim_with_foreign_files_is_sent_back_with_them_until_they_are_as_they_were() {
        let mut bench = team();
        let state = claim(&mut bench, "a", &[("src/b/x.rs", "1", "2"), ("src/b/new", "", "1")]);
        assert_eq!(state, TaskState::Running);
        bench.did("a", AgentState::Idle);
        bench.look(&[]);
        let prompt = bench.prompts("a")[1].clone();
        assert!(prompt.contains("| src/b/new") && prompt.contains("| src/b/x.rs"), "{prompt}");
        assert!(prompt.contains("owned by b"), "{prompt}");
        assert!(bench.waits_for("conflict", 1));
        bench.begin("a");
        bench.report("a", 1, "STATUS: DONE — 3 tests pass");
        bench.look(&[("src/b/x.rs", "2", "1"), ("src/b/new", "1", "")]);
        assert_eq!(bench.states(), [TaskState::Done]);
        assert!(!bench.waits_for("conflict", 1));
    }

    #[test]
    fn three_such_claims_end_the_attempt() {
        let mut bench = team();
        let change = [("src/b/x.rs", "1", "2")];
        let _ = claim(&mut bench, "a", &change);
        for _ in 0..2 {
            bench.did("a", AgentState::Idle);
            bench.look(&[]);
            bench.begin("a");
            bench.report("a", 1, "STATUS: DONE — 3 tests pass");
            bench.look(&[]);
        }
        let task = bench.engine.task(TaskId(1)).unwrap();
        assert!(task.attempts[0].summary.contains("b owns"), "{}", task.attempts[0].summary);
    }

    #[test]
    fn a_person_may_allow_it_and_the_owner_may_take_it_over() {
        let mut bench = team();
        let _ = claim(&mut bench, "a", &[("src/b/x.rs", "1", "2")]);
        bench.did("a", AgentState::Idle);
        bench.look(&[]);
        let allow = |agent| Command::Task(TaskCommand::Allow { agent: name(agent) });
        let refused = bench.ask(allow("c"));
        assert!(matches!(refused[..], [Effect::Answer { outcome: Err(_), .. }]));
        let _ = bench.ask(allow("a"));
        bench.crash();
        for agent in ["a", "b", "c"] {
            let _ = bench.tell(agent, crate::engine::fixture::seen());
            bench.did(agent, AgentState::Idle);
        }
        bench.look(&[]);
        bench.begin("a");
        bench.report("a", 1, "STATUS: DONE — 3 tests pass");
        bench.look(&[]);
        assert_eq!(bench.states(), [TaskState::Done], "what was allowed stays allowed");

        let to = |agent: &str| Some(name(agent));
        let _ = bench.add(vec![Work::new("y").with(|terms| terms.agent = to("a"))]);
        bench.did("a", AgentState::Idle);
        bench.begin("a");
        bench.report("a", 2, "STATUS: DONE — 3 tests pass");
        bench.look(&[("src/b/x.rs", "2", "3")]);
        assert_eq!(files(&bench, "a"), ["src/b/x.rs"], "it was said about another task");
        assert_eq!(bench.states()[1], TaskState::Running);

        let mut bench = team();
        bench.turn(&["a"], &[("src/b/x.rs", "1", "2")]);
        let _ = bench.ask(allow("a"));
        assert_eq!(files(&bench, "a"), [""; 0]);
        bench.turn(&["a"], &[("src/b/x.rs", "2", "3")]);
        assert_eq!(files(&bench, "a"), ["src/b/x.rs"], "it was said about what it had done so far");
        bench.turn(&["b"], &[("src/b/x.rs", "3", "4")]);
        assert_eq!(files(&bench, "a"), [""; 0]);
    }

    #[test]
    fn a_task_about_others_files_gives_the_right_to_change_them() {
        let mut bench = team();
        let owns = vec!["src/b/x.rs".to_owned()];
        let work = Work::new("x").with(|terms| (terms.agent, terms.owns) = (Some(name("a")), owns));
        let _ = bench.add(vec![work]);
        bench.begin("a");
        bench.report("a", 1, "STATUS: DONE — 3 tests pass");
        bench.look(&[("src/b/x.rs", "1", "2")]);
        assert_eq!(bench.states(), [TaskState::Done]);
    }

    #[test]
    fn a_claim_whose_look_died_with_the_hub_is_looked_at_again() {
        let mut bench = team();
        let _ = bench.add(vec![Work::new("x").with(|terms| terms.agent = Some(name("a")))]);
        bench.begin("a");
        bench.report("a", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(bench.states(), [TaskState::Claimed]);
        bench.crash();
        bench.seen.clear();
        bench.handle(Event::Began { seed: 1 });
        assert!(bench.seen.iter().any(|effect| matches!(effect, Effect::Look { .. })));
        bench.look(&[("src/b/x.rs", "1", "2")]);
        assert_ne!(bench.states(), [TaskState::Done], "it worked when the hub died");
    }

    #[test]
    fn nobody_is_looked_at_where_nobody_owns_anything() {
        let mut bench = Bench::with_idle(&["a", "b"]);
        bench.did("a", AgentState::Working);
        bench.did("a", AgentState::Idle);
        assert!(!bench.seen.iter().any(|effect| matches!(effect, Effect::Look { .. })));
    }

    #[test]
    fn agents_that_would_own_the_same_files_are_refused() {
        let mut bench = Bench::new();
        let mut members = crew(&["a", "b"], "team");
        members[0].0.owns = vec!["src/**".to_owned()];
        members[1].0.owns = vec!["docs/**".to_owned(), "src/b/mod.rs".to_owned()];
        let refusal = bench.engine.refuse_shared_paths(&members).unwrap_err().to_string();
        assert!(refusal.contains("`src/**` of a and `src/b/mod.rs` of b"), "{refusal}");
        members[1].0.owns.pop();
        assert_eq!(bench.engine.refuse_shared_paths(&members), Ok(()));
        let _ = bench.ask(Command::Start { members: members.clone() });
        assert_eq!(bench.engine.refuse_shared_paths(&members), Ok(()), "itself is no other");
        members.remove(0);
        members[0].0.owns = vec!["src".to_owned()];
        assert!(bench.engine.refuse_shared_paths(&members).is_err(), "nor beside one that runs");
    }
}
