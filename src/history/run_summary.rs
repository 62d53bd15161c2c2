//! Finds the runs in the journal, reading it once.
//!
//! A session goes from the first agent that starts while none runs to the last one that ends. A
//! playbook's run is what its entries say is part of it (`run` in their data). `all` is the whole
//! record.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::model::{AgentName, Entry, Moment, TaskState};

/// An entry of the journal, and where it stands there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JournalItem {
    /// Its number; the first is 1.
    pub seq: u64,
    /// The decision that it belongs to.
    pub batch: u64,
    pub at: Moment,
    #[serde(flatten)]
    pub entry: Entry,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSummary {
    /// `s1`, `s2` … for sessions; `r1`, `r2` … for runs of playbooks; `all`.
    pub id: String,
    /// It is a playbook's: only its own tasks and those who worked on them take part.
    pub is_play: bool,
    pub end: RunEnd,
    /// What a playbook's run came to: `done`, `partial`, `failed` or `cancelled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    pub began: Moment,
    /// The last moment that is told of it.
    pub until: Moment,
    /// Its first and its last entry.
    pub first: u64,
    pub last: u64,
    /// Its first and its last decision.
    pub first_batch: u64,
    pub last_batch: u64,
    /// Who ran, in the order in which they came.
    pub agents: Vec<AgentName>,
    /// Where each of its tasks stood last.
    pub tasks: BTreeMap<String, TaskState>,
    /// Whose keepers were lost, and who has not been seen since.
    pub lost: BTreeSet<AgentName>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunEnd {
    /// It goes on, as far as the record knows.
    Open,
    Ended,
    /// Agents were lost: a crash, a kill, a machine that went down.
    Interrupted,
}

impl RunSummary {
    fn new(id: String, first: &JournalItem) -> Self {
        Self {
            id,
            is_play: false,
            end: RunEnd::Open,
            outcome: None,
            began: first.at,
            until: first.at,
            first: first.seq,
            last: first.seq,
            first_batch: first.batch,
            last_batch: first.batch,
            agents: Vec::new(),
            tasks: BTreeMap::new(),
            lost: BTreeSet::new(),
        }
    }

    /// Returns how it ended, in a word.
    pub(super) fn ending(&self) -> &str {
        self.outcome.as_deref().unwrap_or(match self.end {
            RunEnd::Open => "open",
            RunEnd::Ended => "ended",
            RunEnd::Interrupted => "interrupted",
        })
    }

    /// Returns how many of its tasks stand where, as `2 done, 1 failed`.
    pub fn task_counts(&self) -> String {
        counts(&self.tasks.values().copied())
    }

    fn take(&mut self, told: &JournalItem) {
        (self.until, self.last, self.last_batch) = (told.at.max(self.until), told.seq, told.batch);
        let Entry { kind, agent, task, .. } = &told.entry;
        let state = kind.strip_prefix("task.").and_then(task_state);
        if let (Some(task), Some(state)) = (task, state) {
            self.tasks.insert(task.clone(), state);
        }
        let Some(agent) = agent else { return };
        match kind.as_str() {
            "agent.starting" | "agent.seen" => {
                self.lost.remove(agent);
                if !self.agents.contains(agent) {
                    self.agents.push(agent.clone());
                }
            }
            "agent.lost" => {
                self.lost.insert(agent.clone());
            }
            _ if self.is_play && !self.agents.contains(agent) => self.agents.push(agent.clone()),
            _ => {}
        }
    }

    fn close(&mut self) {
        self.end = if self.lost.is_empty() { RunEnd::Ended } else { RunEnd::Interrupted };
    }
}

/// After one of these nothing more happens to a playbook's run.
const PLAY_ENDS: [&str; 4] = ["run.done", "run.partial", "run.failed", "run.cancelled"];

/// Finds the runs in a journal that is read from its beginning, or from where it was cut.
#[derive(Debug, Default)]
pub struct RunFinder {
    whole: Option<RunSummary>,
    sessions: Vec<RunSummary>,
    plays: BTreeMap<String, RunSummary>,
    /// The decision that is being told, and its first entry.
    decision: Option<(u64, u64)>,
    /// Which playbook's run each task belongs to.
    play_of: BTreeMap<String, String>,
    live: BTreeSet<AgentName>,
    /// The decision with which the last agent ended: one that starts by the same was restarted.
    emptied_by: Option<u64>,
}

impl RunFinder {
    /// Begins where a journal was cut while these agents ran: what is left of their session goes on.
    pub fn amid(live: BTreeSet<AgentName>) -> Self {
        Self { live, ..Self::default() }
    }

    /// Takes the next entry.
    pub fn note(&mut self, told: &JournalItem) {
        if self.whole.is_none() && !self.live.is_empty() {
            let mut rest = RunSummary::new("s1".to_owned(), told);
            rest.agents = self.live.iter().cloned().collect();
            self.sessions.push(rest);
        }
        self.whole.get_or_insert_with(|| RunSummary::new("all".to_owned(), told)).take(told);
        if self.decision.is_none_or(|(batch, _)| batch != told.batch) {
            self.decision = Some((told.batch, told.seq));
        }
        self.note_play(told);
        let is_over = self.emptied_by.is_some_and(|batch| batch != told.batch);
        if is_over {
            self.emptied_by = None;
            self.close();
        }
        let agent = told.entry.agent.as_ref();
        match (told.entry.kind.as_str(), agent) {
            ("agent.starting" | "agent.seen", Some(agent)) => {
                self.emptied_by = None;
                self.live.insert(agent.clone());
                if self.open().is_none() {
                    let id = format!("s{}", self.sessions.len() + 1);
                    self.sessions.push(RunSummary::new(id, told));
                }
            }
            ("agent.ended", Some(agent)) => {
                self.live.remove(agent);
                let is_empty = self.live.is_empty() && self.open().is_some();
                self.emptied_by = is_empty.then_some(told.batch);
            }
            _ => {}
        }
        if let Some(open) = self.open() {
            open.take(told);
        }
    }

    /// Takes an entry that belongs to a playbook's run.
    fn note_play(&mut self, told: &JournalItem) {
        let Entry { kind, task, data, .. } = &told.entry;
        let named = data.get("run").and_then(|run| run.as_str()).map(str::to_owned);
        let play = named.or_else(|| self.play_of.get(task.as_ref()?).cloned());
        let Some(play) = play else { return };
        if let Some(task) = task {
            self.play_of.insert(task.clone(), play.clone());
        }
        // The agents that it starts are told before it is.
        let first = self.decision.map_or(told.seq, |(_, first)| first);
        let chapter = self.plays.entry(play).or_insert_with_key(|id| {
            let chapter = RunSummary::new(id.clone(), told);
            RunSummary { is_play: true, first, ..chapter }
        });
        chapter.take(told);
        if PLAY_ENDS.contains(&kind.as_str()) {
            chapter.end = RunEnd::Ended;
            chapter.outcome = kind.strip_prefix("run.").map(str::to_owned);
        }
    }

    /// Returns the sessions, oldest first, the playbooks' runs, and the whole record as the last one.
    pub fn finish(mut self) -> Vec<RunSummary> {
        if self.emptied_by.is_some() {
            self.close();
        }
        if let Some(whole) = &mut self.whole
            && self.sessions.last().is_some_and(|last| last.end != RunEnd::Open)
        {
            whole.close();
        }
        let mut plays: Vec<RunSummary> = self.plays.into_values().collect();
        plays.sort_by_key(|play| play.first);
        self.sessions.into_iter().chain(plays).chain(self.whole).collect()
    }

    fn open(&mut self) -> Option<&mut RunSummary> {
        self.sessions.last_mut().filter(|last| last.end == RunEnd::Open)
    }

    fn close(&mut self) {
        if let Some(open) = self.open() {
            open.close();
        }
    }
}

/// Returns how many of these states there are of each.
pub(super) fn counts(states: &(impl Iterator<Item = TaskState> + Clone)) -> String {
    let count = |state: TaskState| {
        let count = states.clone().filter(|one| *one == state).count();
        (count > 0).then(|| format!("{count} {state}"))
    };
    TaskState::ALL.into_iter().filter_map(count).collect::<Vec<_>>().join(", ")
}

fn task_state(word: &str) -> Option<TaskState> {
    // A task that was just added waits for others or for an agent.
    let word = if word == "added" { "pending" } else { word };
    TaskState::ALL.into_iter().find(|state| state.to_string() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chapters(entries: &[(u64, &str, &str)]) -> Vec<RunSummary> {
        let mut chapters = RunFinder::default();
        for (seq, (batch, kind, agent)) in (1..).zip(entries) {
            let entry = Entry { agent: agent.parse().ok(), ..Entry::new(kind, "") };
            chapters.note(&JournalItem { seq, batch: *batch, at: Moment(batch * 1000), entry });
        }
        chapters.finish()
    }

    fn names(chapters: &[RunSummary]) -> Vec<(&str, RunEnd, u64, u64)> {
        chapters.iter().map(|one| (one.id.as_str(), one.end, one.first, one.last)).collect()
    }

    #[test]
    fn what_is_left_of_a_session_that_was_cut_is_one() {
        let mut chapters = RunFinder::amid([name("one")].into());
        for (seq, kind) in [(7, "task.done"), (8, "agent.ended"), (9, "agent.starting")] {
            let entry = Entry { agent: Some(name("one")), ..Entry::new(kind, "") };
            chapters.note(&JournalItem { seq, batch: seq, at: Moment(seq), entry });
        }
        let found = chapters.finish();
        let sessions = [("s1", RunEnd::Ended, 7, 8), ("s2", RunEnd::Open, 9, 9)];
        assert_eq!(names(&found)[..2], sessions);
        assert_eq!(found[0].agents, [name("one")]);
    }

    fn name(agent: &str) -> AgentName {
        agent.parse().unwrap()
    }

    #[test]
    fn a_session_goes_from_the_first_start_to_the_last_end() {
        let found = chapters(&[
            (1, "task.added", ""),
            (2, "agent.starting", "one"),
            (2, "agent.starting", "two"),
            (3, "agent.ended", "one"),
            (4, "agent.ended", "two"),
            (4, "hub.down", ""),
            (5, "task.added", ""),
            (6, "agent.starting", "one"),
        ]);
        let expected =
            [("s1", RunEnd::Ended, 2, 6), ("s2", RunEnd::Open, 8, 8), ("all", RunEnd::Open, 1, 8)];
        assert_eq!(names(&found), expected);
        assert_eq!(found[0].agents.len(), 2);
    }

    #[test]
    fn a_lone_agent_that_is_restarted_goes_on_in_its_session() {
        let found = chapters(&[
            (1, "agent.starting", "one"),
            (2, "agent.ended", "one"),
            (2, "agent.starting", "one"),
            (3, "agent.ended", "one"),
        ]);
        assert_eq!(names(&found), [("s1", RunEnd::Ended, 1, 4), ("all", RunEnd::Ended, 1, 4)]);
    }

    #[test]
    fn a_session_whose_agents_were_lost_was_interrupted() {
        let lost = [(1, "agent.starting", "one"), (2, "agent.lost", "one")];
        let found = chapters(&[&lost[..], &[(3, "agent.ended", "one")]].concat());
        assert_eq!(found[0].end, RunEnd::Interrupted);
        // One that was started again is not missed.
        let again = [(2, "agent.starting", "two"), (3, "agent.ended", "one")];
        let rest =
            [(4, "agent.starting", "one"), (5, "agent.ended", "two"), (6, "agent.ended", "one")];
        let found = chapters(&[&lost[..], &again, &rest].concat());
        assert_eq!((found.len(), found[0].end), (2, RunEnd::Ended));
    }

    #[test]
    fn a_playbooks_run_is_what_its_entries_say() {
        let mut chapters = RunFinder::default();
        let mut tell = |seq: u64, kind: &str, task: &str, run: &str| {
            let mut entry = Entry { agent: "one".parse().ok(), ..Entry::new(kind, "") };
            entry.task = (!task.is_empty()).then(|| task.to_owned());
            entry.data =
                if run.is_empty() { entry.data } else { serde_json::json!({ "run": run }) };
            chapters.note(&JournalItem { seq, batch: seq, at: Moment(seq), entry });
        };
        tell(1, "agent.starting", "", "");
        tell(2, "run.running", "", "r1");
        tell(3, "task.added", "t1", "r1");
        tell(4, "task.added", "t2", "");
        // What says nothing of a run is of its task's.
        tell(5, "gate.passed", "t1", "");
        tell(6, "task.done", "t1", "r1");
        tell(7, "run.done", "", "r1");
        tell(8, "task.done", "t2", "");
        let found = chapters.finish();
        let expected =
            [("s1", RunEnd::Open, 1, 8), ("r1", RunEnd::Ended, 2, 7), ("all", RunEnd::Open, 1, 8)];
        assert_eq!(names(&found), expected);
        assert_eq!(found[1].task_counts(), "1 done");
        assert_eq!((found[1].agents.len(), found[1].is_play), (1, true));
    }

    #[test]
    fn an_empty_record_has_no_runs() {
        assert_eq!(RunFinder::default().finish(), []);
    }
}
