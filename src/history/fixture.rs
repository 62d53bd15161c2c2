//! Builds a run for the tests of this room.

use serde_json::json;

use super::reader::HistoryReader;
use super::run_history::RunHistory;
use super::run_summary::{JournalItem, RunFinder, RunSummary};
use crate::model::{Entry, Moment, RowChange};

pub(super) const BEGAN: u64 = 1_700_000_000_000;

/// What an agent, a file or a name might say to whoever reads a page or a terminal.
pub(super) const HOSTILE: &str = "<script>alert(1)</script>\"' onload='x' </style></title> \
                                  \u{1b}[31mred\u{202e}txet `**[x](javascript:1)**` | a\nb";

/// A record that is being written.
#[derive(Default)]
pub(super) struct Record {
    told: Vec<JournalItem>,
    rows: Vec<(u64, Moment, RowChange)>,
    batch: u64,
    at: u64,
}

impl Record {
    /// Begins the next decision, so many seconds after the beginning.
    pub(super) fn at(&mut self, second: u64) -> &mut Self {
        (self.batch, self.at) = (self.batch + 1, BEGAN + second * 1000);
        self
    }

    pub(super) fn tell(&mut self, kind: &str, agent: &str, task: &str, text: &str) -> &mut Self {
        let mut entry = Entry::new(kind, text);
        entry.agent = agent.parse().ok();
        entry.task = (!task.is_empty()).then(|| task.to_owned());
        let seq = self.told.len() as u64 + 1;
        self.told.push(JournalItem { seq, batch: self.batch, at: Moment(self.at), entry });
        self
    }

    /// A gate of a task did not pass.
    fn gate(&mut self, task: &str, gate: &str, output: &str) -> &mut Self {
        self.tell("gate.failed", "", task, gate);
        if let Some(last) = self.told.last_mut() {
            last.entry.data = json!({ "output": output });
        }
        self
    }

    pub(super) fn row(&mut self, table: &str, key: &str, value: serde_json::Value) -> &mut Self {
        let value = (!value.is_null()).then_some(value);
        let change = RowChange { table: table.to_owned(), key: key.to_owned(), value };
        self.rows.push((self.batch, Moment(self.at), change));
        self
    }

    /// An agent is in this state from now on.
    pub(super) fn seat(&mut self, name: &str, state: &str) -> &mut Self {
        self.seat_with(name, state, &json!({}))
    }

    pub(super) fn seat_with(
        &mut self,
        name: &str,
        state: &str,
        more: &serde_json::Value,
    ) -> &mut Self {
        let phase = if state == "exited" { json!({ "ended": "lost" }) } else { json!("running") };
        let mut seat = json!({
            "member": {
                "name": name, "team": "shop", "cli": "claude", "role": "worker",
                "argv": ["claude"], "cwd": "/shop",
            },
            "run": 1, "phase": phase, "state": state, "since": self.at,
            "keeper": null, "process": null,
        });
        if let (Some(seat), Some(more)) = (seat.as_object_mut(), more.as_object()) {
            seat.extend(more.clone());
        }
        self.row("seat", name, seat)
    }

    pub(super) fn chapters(&self) -> Vec<RunSummary> {
        let mut chapters = RunFinder::default();
        self.told.iter().for_each(|told| chapters.note(told));
        chapters.finish()
    }

    /// The last entry belongs to a playbook's run.
    pub(super) fn of_run(&mut self, run: &str) -> &mut Self {
        if let Some(last) = self.told.last_mut() {
            last.entry.data = json!({ "run": run });
        }
        self
    }

    pub(super) fn story(&self) -> RunHistory {
        self.tell_chapter(self.chapters().remove(0))
    }

    pub(super) fn story_of(&self, id: &str) -> RunHistory {
        self.tell_chapter(self.chapters().into_iter().find(|one| one.id == id).unwrap())
    }

    fn tell_chapter(&self, chapter: RunSummary) -> RunHistory {
        let mut teller = HistoryReader::new(chapter);
        for batch in 1..=self.batch {
            let of_it = self.told.iter().filter(|told| told.batch == batch);
            of_it.for_each(|told| teller.entry(told));
            let rows = self.rows.iter().filter(|(its, ..)| *its == batch);
            rows.for_each(|(_, at, change)| teller.row(*at, change));
        }
        teller.finish()
    }
}

pub(super) fn task(
    id: &str,
    title: &str,
    state: &str,
    more: &serde_json::Value,
) -> serde_json::Value {
    let mut task = json!({
        "id": id, "title": title, "prompt": "Do it well.\nAnd test it.", "needs": [],
        "state": state, "since": BEGAN, "attempts": [],
    });
    if let (Some(task), Some(more)) = (task.as_object_mut(), more.as_object()) {
        task.extend(more.clone());
    }
    task
}

pub(super) fn attempt(agent: &str, started: u64, more: &serde_json::Value) -> serde_json::Value {
    let mut attempt = json!({
        "tag": "k7f2", "agent": agent, "run": 1, "receipt": "r1", "last_receipt": "r1",
        "started": BEGAN + started * 1000, "ended": null, "outcome": null, "summary": "",
    });
    if let (Some(attempt), Some(more)) = (attempt.as_object_mut(), more.as_object()) {
        attempt.extend(more.clone());
    }
    attempt
}

pub(super) fn claim(second: u64, text: &str, passed: bool) -> serde_json::Value {
    json!({
        "text": text, "is_concrete": passed, "at": BEGAN + second * 1000, "is_checking": false,
        "gates": [{
            "gate": "cargo test", "passed": passed,
            "output": if passed { "ok" } else { "test api::login ... FAILED\n1 failed" },
        }],
        "tree": null, "rechecks": 0, "verifications": [], "seen_tree": null,
    })
}

/// Returns a run of two agents: one works, claims too early and then rightly; the other waits, is
/// stuck, and is lost while no hub is there.
pub(super) fn run() -> Record {
    let mut record = Record::default();
    record.at(0).tell("agent.starting", "backend", "", "run 1").seat("backend", "starting");
    record.tell("agent.starting", "tests", "", "run 1").seat("tests", "starting");
    record.at(2).seat("backend", "idle").seat("tests", "idle");
    record.at(5).tell("task.added", "", "t1", "Build the API");
    record.row(
        "task",
        "t1",
        task("t1", "Build the API", "ready", &json!({"gates": ["cargo test"]})),
    );
    record.tell("task.added", "", "t2", "Test the API");
    record.row("task", "t2", task("t2", "Test the API", "pending", &json!({"needs": ["t1"]})));
    record.at(10).tell("task.running", "backend", "t1", "Build the API").seat("backend", "working");
    // It is sent back with the same decision that says what its gates said.
    let mut too_early = claim(200, "it works", false);
    too_early["gates"] = json!([]);
    let early = attempt("backend", 10, &json!({"claim": too_early}));
    let gates = json!({"gates": ["cargo test"], "attempts": [early]});
    record.at(200).tell("task.claimed", "backend", "t1", "it works");
    record.row("task", "t1", task("t1", "Build the API", "claimed", &gates));
    record.at(205).gate("t1", "cargo test", "test api::login ... FAILED\n1 failed");
    let back = attempt("backend", 10, &json!({}));
    let gates = json!({"gates": ["cargo test"], "attempts": [back]});
    record.row("task", "t1", task("t1", "Build the API", "running", &gates));
    record.at(210).tell("person.prompt", "backend", "", "Mind the login");
    record.at(300).tell("person.keys", "tests", "", "typed into its pane").seat("tests", "waiting");
    let need = json!({
        "id": "n1", "from": "tests", "to": "backend", "task": "t2", "thing": "token",
        "text": "a token for the login", "state": "met", "since": BEGAN + 310_000,
    });
    record.at(310).tell("need", "tests", "t2", "a token for the login").row("need", "n1", need);
    let contract = json!([{
        "publisher": "backend", "title": "users", "version": 1, "body": "GET /users",
        "at": BEGAN + 320_000,
    }]);
    record.at(320).tell("contract", "backend", "", "users v1").row(
        "contract",
        "backend/users",
        contract,
    );
    go_wrong(&mut record);
    record
}

fn go_wrong(record: &mut Record) {
    let stuck = json!({
        "id": "a1", "kind": "stuck", "agent": "tests", "task": null, "text": "no move",
        "hint": null, "since": BEGAN + 400_000, "is_read": false, "cause": "stuck tests",
    });
    record.at(400).row("attention", "a1", stuck);
    record.at(460).row("attention", "a1", json!(null)).seat("tests", "working");
    let done = attempt(
        "backend",
        10,
        &json!({
            "claim": claim(500, "12 tests pass, see api.log", true), "ended": BEGAN + 520_000,
            "outcome": "done", "summary": "12 tests pass, see api.log", "turns": 2,
            "steps": ["routes", "login"], "artifacts": ["api.log"], "build": true,
        }),
    );
    let gates = json!({"gates": ["cargo test"], "attempts": [done]});
    record.at(520).tell("task.done", "backend", "t1", "12 tests pass, see api.log");
    record.row("task", "t1", task("t1", "Build the API", "done", &gates)).seat("backend", "done");
    let open = attempt("tests", 530, &json!({}));
    record.at(530).tell("task.running", "tests", "t2", "Test the API");
    let running = json!({"needs": ["t1"], "attempts": [open]});
    record.row("task", "t2", task("t2", "Test the API", "running", &running));
    // The machine went down, and was started again after an hour.
    record.at(4200).tell("hub.back", "", "", "a hub takes over from one that is gone");
    record.at(4201).tell("agent.lost", "tests", "", "run 1: its keeper is gone");
    record.tell("agent.lost", "backend", "", "run 1: its keeper is gone");
    let cut = attempt(
        "tests",
        530,
        &json!({
            "ended": BEGAN + 4_202_000, "outcome": "interrupted", "summary": "its agent has ended: lost",
        }),
    );
    let ready = json!({"needs": ["t1"], "attempts": [cut]});
    record.at(4202).tell("task.released", "tests", "t2", "lost").tell(
        "task.ready",
        "tests",
        "t2",
        "",
    );
    record.row("task", "t2", task("t2", "Test the API", "ready", &ready));
    record.seat_with("backend", "exited", &json!({"tokens": 1200}));
    record.seat_with("tests", "exited", &json!({"tokens": 321}));
    record.tell("agent.ended", "backend", "", "run 1: lost").tell(
        "agent.ended",
        "tests",
        "",
        "run 1: lost",
    );
}

/// Returns a run in which everything that can be said is hostile.
pub(super) fn hostile_run() -> Record {
    let mut record = Record::default();
    record.at(0).tell("agent.starting", "one", "", HOSTILE).seat("one", "working");
    let claim = json!({
        "text": HOSTILE, "is_concrete": false, "at": BEGAN, "is_checking": false, "tree": null,
        "gates": [{"gate": HOSTILE, "passed": false, "output": HOSTILE}],
        "rechecks": 0, "verifications": [], "seen_tree": null,
    });
    let attempt = attempt(
        "one",
        1,
        &json!({
            "summary": HOSTILE, "steps": [HOSTILE], "artifacts": [HOSTILE], "claim": claim,
        }),
    );
    let more = json!({"prompt": HOSTILE.repeat(20), "note": HOSTILE, "gates": [HOSTILE], "attempts": [attempt]});
    record.at(9).tell("task.running", "one", "t1", HOSTILE).row(
        "task",
        "t1",
        task("t1", HOSTILE, "running", &more),
    );
    let need = json!({
        "id": "n1", "from": "one", "to": null, "task": null, "thing": HOSTILE, "text": HOSTILE,
        "state": "held", "since": BEGAN,
    });
    record.row("need", "n1", need).tell(HOSTILE, "one", HOSTILE, HOSTILE);
    let contract = json!([{
        "publisher": "one", "title": HOSTILE, "version": 1, "body": HOSTILE, "at": BEGAN + 1,
    }]);
    record.row("contract", "one/x", contract).tell("person.prompt", "one", "", HOSTILE);
    record
}
