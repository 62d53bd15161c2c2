//! Reads a run decision by decision, and keeps what later rows no longer say.

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::Value;

use super::details::{
    AgentHistory, AttemptHistory, ClaimHistory, ContractHistory, HistoryEvent, StateSpan,
    TaskHistory, Time,
};
use super::run_history::RunHistory;
use super::run_summary::{JournalItem, RunSummary};
use crate::engine::{Phase, Seat};
use crate::model::{
    AgentName, AgentState, Attempt, Attention, AttentionKind, Contract, Entry, GateResult, Moment,
    Need, NeedId, RowChange, RunId, Task, TaskId,
};

/// A page that lists more is not read; the rest is in the journal.
const EVENTS_MAX: usize = 2000;

/// Nobody takes more stretches in; a screen that flickers for days makes them.
const STRETCHES_MAX: usize = 20_000;

/// A history that is being put together.
#[derive(Debug)]
pub struct HistoryReader {
    chapter: RunSummary,
    /// When the last decision was made.
    at: Moment,
    agents: BTreeMap<AgentName, Track>,
    starts: BTreeMap<AgentName, usize>,
    tasks: BTreeMap<TaskId, TaskHistory>,
    needs: BTreeMap<NeedId, Need>,
    contracts: BTreeMap<(AgentName, String), Vec<ContractHistory>>,
    /// What is open of those who count as stuck, by the item that says so.
    stuck: BTreeMap<String, (AgentName, Moment)>,
    by_hand: Vec<HistoryEvent>,
    events: VecDeque<HistoryEvent>,
    events_left_out: usize,
    asked: Vec<String>,
}

/// What is known of an agent so far.
#[derive(Debug)]
struct Track {
    part: AgentHistory,
    /// What it does now, and since when.
    state: AgentState,
    since: Moment,
    /// The run that it is in, and what the runs before it used: each counts anew.
    run: RunId,
    tokens_before: u64,
}

impl HistoryReader {
    /// Begins to tell a run.
    pub fn new(chapter: RunSummary) -> Self {
        Self {
            at: chapter.began,
            chapter,
            agents: BTreeMap::new(),
            starts: BTreeMap::new(),
            tasks: BTreeMap::new(),
            needs: BTreeMap::new(),
            contracts: BTreeMap::new(),
            stuck: BTreeMap::new(),
            by_hand: Vec::new(),
            events: VecDeque::new(),
            events_left_out: 0,
            asked: Vec::new(),
        }
    }

    /// Takes an entry. Those of a decision come before its rows.
    pub fn entry(&mut self, told: &JournalItem) {
        if told.entry.kind == "hub.back" {
            self.note_absence(told.at);
        }
        if told.entry.kind == "agent.starting"
            && let Some(agent) = &told.entry.agent
        {
            *self.starts.entry(agent.clone()).or_default() += 1;
        }
        if let Some(verdict) = told.entry.kind.strip_prefix("gate.") {
            self.note_gate(&told.entry, verdict == "passed");
        }
        self.at = self.at.max(told.at);
        let is_by_hand = told.entry.kind.starts_with("person.");
        if told.entry.is_heartbeat() && !is_by_hand {
            return;
        }
        let deed = HistoryEvent::from(told);
        if is_by_hand {
            self.by_hand.push(deed.clone());
        }
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
            self.events_left_out += 1;
        }
        self.events.push_back(deed);
    }

    /// Takes a row as it was from a moment on. What cannot be read as what it should be is from
    /// another version, and is passed over.
    pub fn row(&mut self, at: Moment, change: &RowChange) {
        self.at = self.at.max(at);
        let RowChange { table, key, value } = change;
        match (table.as_str(), value) {
            ("seat", Some(value)) => self.note_seat(at, value),
            ("task", Some(value)) => {
                if let Ok(task) = Task::deserialize(value) {
                    self.note_task(task);
                }
            }
            ("need", Some(value)) => {
                if let Ok(need) = Need::deserialize(value) {
                    self.needs.insert(need.id, need);
                }
            }
            ("contract", Some(value)) => {
                if let Ok(versions) = Vec::<Contract>::deserialize(value) {
                    self.note_contract(&versions);
                }
            }
            ("run", Some(value)) if *key == self.chapter.id => self.asked = asked(value),
            ("attention", value) => {
                let item = value.as_ref().and_then(|value| Attention::deserialize(value).ok());
                self.note_attention(at, key, item.as_ref());
            }
            _ => {}
        }
    }

    /// Ends the history.
    pub fn finish(mut self) -> RunHistory {
        let until = self.at.max(self.chapter.until);
        let open: Vec<String> = self.stuck.keys().cloned().collect();
        for item in open {
            self.note_attention(until, &item, None);
        }
        let mut agents: Vec<AgentHistory> =
            self.agents.into_values().map(|track| track.finish(until)).collect();
        agents.retain(|part| !self.chapter.is_play || self.chapter.agents.contains(&part.name));
        for part in &mut agents {
            part.starts = self.starts.get(&part.name).copied().unwrap_or_default();
        }
        agents.sort_by_key(|part| self.chapter.agents.iter().position(|name| *name == part.name));
        RunHistory {
            run: self.chapter,
            asked: self.asked,
            agents,
            tasks: self.tasks.into_values().collect(),
            needs: self.needs.into_values().collect(),
            contracts: self.contracts.into_values().flatten().collect(),
            by_hand: self.by_hand,
            events: self.events.into(),
            events_left_out: self.events_left_out,
        }
    }

    /// A hub took over from one that was gone: what agents did since then nobody saw.
    fn note_absence(&mut self, now: Moment) {
        for track in self.agents.values_mut().filter(|track| track.state != AgentState::Exited) {
            track.close(self.at);
            track.push(StateSpan { from: self.at, to: now, state: None });
            // What it does now its row will tell.
            (track.state, track.since) = (AgentState::Unknown, now);
        }
    }

    fn note_seat(&mut self, at: Moment, value: &Value) {
        let Ok(seat) = Seat::deserialize(value) else { return };
        // An agent that has long ended has no part in this.
        let is_new = !self.agents.contains_key(&seat.member.name);
        if is_new && matches!(seat.phase, Phase::Ended(_)) {
            return;
        }
        let track =
            self.agents.entry(seat.member.name.clone()).or_insert_with(|| Track::new(&seat, at));
        if track.state != seat.state {
            track.close(at);
            (track.state, track.since) = (seat.state, at);
        }
        track.part.ending = match seat.phase {
            Phase::Ended(ending) | Phase::Leaving(ending) => Some(ending.to_string()),
            Phase::Starting | Phase::Running | Phase::Stopping | Phase::Sweeping(_) => None,
        };
        if track.run != seat.run {
            (track.run, track.tokens_before) = (seat.run, track.part.tokens.unwrap_or_default());
        }
        if let Some(tokens) = tokens(value) {
            track.part.tokens = Some(track.tokens_before + tokens);
        }
    }

    fn note_task(&mut self, task: Task) {
        if self.chapter.is_play && !self.chapter.tasks.contains_key(&task.id.to_string()) {
            return;
        }
        let mut known = self.tasks.remove(&task.id).map(|part| part.attempts).unwrap_or_default();
        let mut attempts: Vec<AttemptHistory> = Vec::with_capacity(task.attempts.len());
        for (index, attempt) in task.attempts.into_iter().enumerate() {
            let claims = known.get_mut(index).map(|part| std::mem::take(&mut part.claims));
            attempts.push(attempt_part(attempt, claims.unwrap_or_default()));
        }
        let part = TaskHistory {
            id: task.id,
            title: task.title,
            prompt: task.prompt,
            needs: task.needs,
            verifies: task.verifies,
            gates: task.terms.gates,
            state: task.state,
            note: task.note,
            attempts,
        };
        self.tasks.insert(part.id, part);
    }

    /// Takes what a gate said of the latest claim: one that is sent back is never seen with it.
    fn note_gate(&mut self, entry: &Entry, passed: bool) {
        let task = entry.task.as_ref().and_then(|task| task.parse().ok());
        let attempts = task.and_then(|task: TaskId| self.tasks.get_mut(&task));
        let attempt = attempts.and_then(|task| task.attempts.last_mut());
        if let Some(claim) = attempt.and_then(|attempt| attempt.claims.last_mut()) {
            let output = entry.data["output"].as_str().unwrap_or_default().to_owned();
            let gate = entry.text.clone();
            // It may run again, about files that have changed.
            claim.gates.retain(|known| known.gate != gate);
            claim.gates.push(GateResult { gate, passed, output });
        }
    }

    fn note_contract(&mut self, versions: &[Contract]) {
        let Some(first) = versions.first() else { return };
        let part = |one: &Contract| ContractHistory {
            publisher: one.publisher.clone(),
            title: one.title.clone(),
            version: one.version,
            at: one.at,
        };
        let key = (first.publisher.clone(), first.title.clone());
        let began = self.chapter.began;
        let own = versions.iter().filter(|one| one.at >= began).map(part).collect();
        self.contracts.insert(key, own);
    }

    fn note_attention(&mut self, at: Moment, key: &str, item: Option<&Attention>) {
        let stuck = item.filter(|item| item.kind == AttentionKind::Stuck && !item.is_resolved);
        if let Some((agent, since)) = stuck.and_then(|item| Some((item.agent.clone()?, item.since)))
        {
            let since = since.max(self.chapter.began);
            self.stuck.entry(key.to_owned()).or_insert((agent, since));
        } else if let Some((agent, since)) = self.stuck.remove(key)
            && let Some(track) = self.agents.get_mut(&agent)
        {
            track.part.stuck.push((since, at));
        }
    }
}

impl Track {
    fn new(seat: &Seat, at: Moment) -> Self {
        let member = &seat.member;
        let part = AgentHistory {
            name: member.name.clone(),
            cli: member.cli.clone(),
            role: member.role,
            team: member.team.clone(),
            starts: 0,
            time: Time::default(),
            ending: None,
            tokens: None,
            stretches: Vec::new(),
            stuck: Vec::new(),
        };
        Self { part, state: seat.state, since: at, run: seat.run, tokens_before: 0 }
    }

    fn push(&mut self, stretch: StateSpan) {
        let is_empty = stretch.to <= stretch.from;
        if is_empty || self.part.stretches.len() >= STRETCHES_MAX {
            return;
        }
        match self.part.stretches.last_mut() {
            Some(last) if last.state == stretch.state && last.to == stretch.from => {
                last.to = stretch.to;
            }
            _ => self.part.stretches.push(stretch),
        }
    }

    /// Ends what it does now.
    fn close(&mut self, at: Moment) {
        self.push(StateSpan { from: self.since, to: at, state: Some(self.state) });
        self.since = at;
    }

    fn finish(mut self, until: Moment) -> AgentHistory {
        self.close(until);
        let mut part = self.part;
        part.time = Time::of(&part.stretches, &part.stuck);
        part
    }
}

/// Puts an attempt down, with the claims that later rows no longer have.
fn attempt_part(attempt: Attempt, mut claims: Vec<ClaimHistory>) -> AttemptHistory {
    if let Some(claim) = attempt.claim {
        let claim = ClaimHistory {
            at: claim.at,
            text: claim.text,
            is_concrete: claim.is_concrete,
            gates: claim.gates,
            verifications: claim.verifications,
        };
        match claims.last_mut() {
            Some(last) if last.at == claim.at => {
                let gates = std::mem::take(&mut last.gates);
                *last = claim;
                if last.gates.is_empty() {
                    last.gates = gates;
                }
            }
            _ => claims.push(claim),
        }
    }
    AttemptHistory {
        agent: attempt.agent,
        started: attempt.started,
        ended: attempt.ended,
        outcome: attempt.outcome,
        summary: attempt.summary,
        steps: attempt.steps,
        artifacts: attempt.artifacts.into_iter().map(|artifact| artifact.path).collect(),
        build: attempt.build,
        turns: attempt.turns,
        claims,
    }
}

/// Returns what was asked of a playbook's run: the playbook, and what filled it.
fn asked(run: &Value) -> Vec<String> {
    let playbook = run["playbook"].as_str().map(|name| format!("playbook {name}"));
    let vars = run["vars"].as_object().into_iter().flatten();
    let vars = vars.filter_map(|(name, value)| Some(format!("{name} = {}", value.as_str()?)));
    playbook.into_iter().chain(vars).collect()
}

/// Returns what a seat has used: a number, or numbers by kind.
fn tokens(seat: &Value) -> Option<u64> {
    let tokens = seat.get("tokens")?;
    let kinds = tokens.as_object().map(|kinds| kinds.values().filter_map(Value::as_u64).sum());
    kinds.or(tokens.as_u64())
}
