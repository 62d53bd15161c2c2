//! Measures a project after a hundred thousand tasks: how long a hub takes to begin and to answer, and
//! whether its memory stays flat.
//!
//! Prints a table and asserts nothing.
//! `cargo bench --bench many_tasks [-- DIRECTORY]`
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::time::{Duration, Instant};

use wheelhouse::config::Paths;
use wheelhouse::engine::{Effect, Engine, Event, Record};
use wheelhouse::model::{Command, Moment, RequestId, TaskCommand, TaskId, TaskSpec};
use wheelhouse::store::{Batch, Journal, Keep, Store};

const TASKS: u64 = 100_000;

/// A prompt as people write them.
const PROMPT_BYTES: usize = 600;

fn main() {
    let named = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let parent = named.map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = tempfile::tempdir_in(parent).expect("a directory for the bench");
    let path = directory.path().join("record.db");
    println!("| what | figure |\n| --- | --- |");
    live(&path);
    begin(&path);
    look(&path);
    serve(directory.path(), &path);
}

/// Adds tasks and ends each, with all that is decided written down.
fn live(path: &Path) {
    let (store, rows) = Store::open(path, drop).expect("a record");
    store.set_keep(Keep { age: None, bytes: Some(512 << 20) });
    let record = Record::from_rows(&rows).expect("rows of ours");
    let (mut engine, _) = Engine::recover(record, Moment(0));
    let mut most = 0;
    let mut waits = Vec::new();
    let began = Instant::now();
    for number in 1..=TASKS {
        let spec = TaskSpec {
            title: format!("task {number}"),
            prompt: "p".repeat(PROMPT_BYTES),
            ..TaskSpec::default()
        };
        let add = TaskCommand::Add { specs: vec![spec] };
        let cancel = TaskCommand::Cancel { task: TaskId(number) };
        for command in [add, cancel] {
            let (request, by) = (RequestId(number), None);
            let event = Event::Asked { request, command: Command::Task(command), by, key: None };
            let asked = Instant::now();
            let effects = engine.handle(event, Moment(number));
            let waited = asked.elapsed();
            // Few, so that what is measured is not this list.
            waits.extend((number % 50 == 0).then_some(waited));
            save(&store, effects, Moment(number));
        }
        most = most.max(engine.tasks().count());
        if [TASKS / 100, TASKS / 10, TASKS / 2, TASKS].contains(&number) {
            println!("| resident after {number} tasks | {} KiB |", resident_kib("self"));
        }
    }
    println!("| {TASKS} tasks added and ended, all on record | {:.2?} |", began.elapsed());
    waits.sort();
    let at = |part: usize| waits[(waits.len() - 1) * part / 100];
    println!("| one decision, p50 / p99 | {:.2?} / {:.2?} |", at(50), at(99));
    println!("| most tasks in memory at once | {most} |");
    drop(store);
    let bytes = path.metadata().expect("a record").len();
    println!("| size of the record | {} MiB |", bytes / 1024 / 1024);
}

/// Begins as a hub does.
fn begin(path: &Path) {
    timed("open the record, check its rows, rebuild the engine", || {
        let (_store, rows) = Store::open(path, drop).expect("a record");
        let record = Record::from_rows(&rows).expect("rows of ours");
        let (engine, _) = Engine::recover(record, Moment(TASKS));
        assert_eq!(engine.task_count(), TASKS, "it knows how many there were");
    });
}

/// Looks an ended task up, as a hub does for `task show`.
fn look(path: &Path) {
    timed("look up a task that has left memory", || {
        let journal = Journal::open(path).expect("a record");
        let found = journal.last_row("task", &TaskId(TASKS - 1000).to_string()).expect("a row");
        assert!(found.is_some_and(|row| row.is_gone), "it has left");
    });
}

/// Lets the real hub begin with the record and answer.
fn serve(root: &Path, record: &Path) {
    let root = root.canonicalize().expect("a directory");
    for name in ["home", "config", "state", "run", "project", "empty"] {
        std::fs::create_dir(root.join(name)).expect("a directory of ours");
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(root.join(name), mode).expect("it is ours");
    }
    let project = root.join("project");
    let session = Paths::find(&project).expect("a project").session.to_string();
    let state = root.join("state/wheelhouse").join(session);
    std::fs::create_dir_all(&state).expect("a directory of ours");
    std::fs::rename(record, state.join("record.db")).expect("the record");
    let run_in = |project: &str, arguments: &[&str]| {
        let mut command = Process::new(env!("CARGO_BIN_EXE_wheelhouse"));
        command.arg("--project").arg(root.join(project)).args(arguments).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", root.join("home"));
        for (name, place) in
            [("CONFIG_HOME", "config"), ("STATE_HOME", "state"), ("RUNTIME_DIR", "run")]
        {
            command.env(format!("XDG_{name}"), root.join(place));
        }
        let said = command.output().expect("our program");
        String::from_utf8_lossy(&said.stdout).into_owned()
    };
    let run = |arguments: &[&str]| run_in("project", arguments);
    let pid = |status: &str| {
        let status: serde_json::Value = serde_json::from_str(status).expect("a status");
        status["hub"]["pid"].to_string()
    };
    let empty = pid(&run_in("empty", &["status", "--json"]));
    println!("| resident memory of a hub without tasks | {} KiB |", resident_kib(&empty));
    run_in("empty", &["down", "--force"]);
    let began = Instant::now();
    let own = pid(&run(&["status", "--json"]));
    println!("| `status` that starts the hub | {:.2?} |", began.elapsed());
    timed("`status` of a hub that runs", || drop(run(&["status", "--json"])));
    timed("`task show` of one that has left memory", || {
        assert!(run(&["task", "show", &TaskId(TASKS - 1000).to_string()]).contains("cancelled"));
    });
    println!("| resident memory of that hub | {} KiB |", resident_kib(&own));
    run(&["down", "--force"]);
}

fn save(store: &Store, effects: Vec<Effect>, at: Moment) {
    for effect in effects {
        let Effect::Save(changes) = effect else { continue };
        while !store.has_room() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let batch = Batch { at, entries: changes.entries, rows: changes.rows };
        store.submit_lazily(batch).expect("room");
    }
}

fn timed(what: &str, mut act: impl FnMut()) {
    let mut times: Vec<Duration> = (0..5)
        .map(|_| {
            let began = Instant::now();
            act();
            began.elapsed()
        })
        .collect();
    times.sort();
    println!("| {what} | {:.2?} |", times[2]);
}

fn resident_kib(process: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
