//! Runs the rules over recordings of the real clis, and holds them against what really happened.
//!
//! `tests/recordings/README.md` tells how the recordings were made and labelled.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;

/// A cli needs time to draw: so long after a change nothing is judged.
const GRACE: f64 = 2.0;
/// What a cli shows while it ends is not judged.
const EXIT_SLACK: f64 = 0.5;
/// A label that was set late costs this much at most.
const WRONG_MAX: f64 = 0.6;
/// The share of time that must be right over all recordings.
const SHARE_MIN: f64 = 0.99;
/// The share of time that must be right over the recordings of one cli.
const CLI_SHARE_MIN: f64 = 0.98;
const WORKERS: usize = 4;

#[test]
fn the_state_is_right_with_all_signals() {
    judge_all(&[], SHARE_MIN);
}

#[test]
fn the_state_is_right_by_the_screen_alone() {
    judge_all(&["--screen-only"], SHARE_MIN);
}

/// What was right and wrong in one recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Judgement {
    pub(super) right: f64,
    pub(super) wrong: f64,
    /// For so long a dialog was shown as work, or as its end.
    pub(super) dialogs_wrong: f64,
    pub(super) faults: Vec<String>,
}

fn judge_all(options: &[&str], share_min: f64) {
    let home = tempfile::tempdir().unwrap();
    let casts = recordings();
    assert!(casts.len() > 100, "only {} recordings", casts.len());
    let next = AtomicUsize::new(0);
    let judge_next = || {
        let mut judgements = Vec::new();
        while let Some(cast) = casts.get(next.fetch_add(1, Ordering::Relaxed)) {
            judgements.push((cast.clone(), judge(cast, options, home.path())));
        }
        judgements
    };
    let judgements: BTreeMap<PathBuf, Judgement> = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(judge_next)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let right: f64 = judgements.values().map(|judgement| judgement.right).sum();
    let wrong: f64 = judgements.values().map(|judgement| judgement.wrong).sum();
    let faults: Vec<String> = judgements
        .iter()
        .filter(|(_, judgement)| judgement.wrong > WRONG_MAX || !judgement.faults.is_empty())
        .map(|(cast, judgement)| format!("{}: {judgement:?}", cast.display()))
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    let share = right / (right + wrong);
    assert!(share >= share_min, "only {:.2} % of the time is right", 100.0 * share);
    let mut clis: BTreeMap<&Path, (f64, f64)> = BTreeMap::new();
    for (cast, judgement) in &judgements {
        let sums = clis.entry(cast.parent().unwrap()).or_default();
        *sums = (sums.0 + judgement.right, sums.1 + judgement.wrong);
    }
    for (cli, (right, wrong)) in clis {
        let share = right / (right + wrong);
        assert!(share >= CLI_SHARE_MIN, "{}: only {:.2} %", cli.display(), 100.0 * share);
    }
}

pub(super) fn recordings() -> Vec<PathBuf> {
    let mut casts = Vec::new();
    for folder in fs::read_dir("tests/recordings").unwrap().map(|entry| entry.unwrap().path()) {
        if folder.is_dir() {
            casts.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    casts.retain(|path| path.extension().is_some_and(|extension| extension == "cast"));
    casts.sort();
    casts
}

pub(super) fn judge(cast: &Path, options: &[&str], home: &Path) -> Judgement {
    let labels = fs::read_to_string(cast.with_extension("labels.json")).unwrap();
    let labels: Value = serde_json::from_str(&labels).unwrap();
    let (states, reports) = run(cast, options, home);
    let mut judgement = Judgement::default();
    for span in spans(&labels, &enters(cast)) {
        judge_span(&span, &states, &mut judgement);
    }
    let mut wanted = expected_reports(&labels);
    for report in reports {
        match wanted.iter().position(|wanted| *wanted == report) {
            Some(at) => drop(wanted.remove(at)),
            None => judgement.faults.push(format!("reported {report:?}")),
        }
    }
    judgement.faults.extend(wanted.iter().map(|report| format!("missed {report:?}")));
    judgement
}

type States = Vec<(f64, String)>;
type Reported = (String, Option<String>);

fn run(cast: &Path, options: &[&str], home: &Path) -> (States, Vec<Reported>) {
    let folder = cast.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let cli = folder.split('-').next().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheelhouse"));
    command.args(["rules", "test", "--json", "--agent", cli]).args(options).arg(cast);
    for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME"] {
        command.env(variable, home);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut states, mut reports) = (Vec::new(), Vec::new());
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let found: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| found[key].as_str().map(str::to_lowercase);
        match found["type"].as_str().unwrap() {
            "state" => states.push((found["t"].as_f64().unwrap(), text("state").unwrap())),
            "report" => reports.push((text("kind").unwrap(), text("value"))),
            other => panic!("unknown type {other}"),
        }
    }
    (states, reports)
}

/// A stretch of time, and the states that are right in it.
struct Span {
    start: f64,
    end: f64,
    right: Vec<&'static str>,
}

/// Returns the stretches that are judged: after the grace, and with what comes next allowed from
/// the moment that the driver pressed Enter, since the label changes only when someone noticed.
fn spans(labels: &Value, enters: &[f64]) -> Vec<Span> {
    let labels: Vec<(f64, &str, Vec<&str>)> = labels["labels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|label| {
            let accept = label["accept"].as_array().into_iter().flatten();
            let accept = accept.map(|state| state.as_str().unwrap()).collect();
            (label["t"].as_f64().unwrap(), label["state"].as_str().unwrap(), accept)
        })
        .collect();
    let mut spans = Vec::new();
    for pair in labels.windows(2) {
        let ((start, state, accept), (next, next_state, _)) = (&pair[0], &pair[1]);
        let end = next - if *next_state == "exited" { EXIT_SLACK } else { 0.0 };
        let mut right = right_for(state).to_vec();
        right.extend(accept.iter().flat_map(|state| right_for(state)));
        if *state == "starting" {
            // A dialog is labelled once it is drawn.
            right.extend(right_for(next_state));
        }
        let enter = enters.iter().copied().rfind(|at| start + 0.02 < *at && *at < next - 0.02);
        let enter = enter.filter(|_| *state != "working" && *state != "starting");
        let judged = enter.map_or(end, |enter| enter.min(end));
        spans.push(Span { start: start + GRACE, end: judged, right: right.clone() });
        if let Some(enter) = enter {
            right.extend(right_for(next_state));
            let meanwhile = if state.starts_with("dialog") { "starting" } else { "working" };
            right.extend(right_for(meanwhile));
            spans.push(Span { start: enter.max(start + GRACE), end, right });
        }
    }
    spans
}

fn right_for(label: &str) -> &'static [&'static str] {
    match label {
        "starting" => &["starting", "unknown", "idle", "working"],
        "dialog_trust" | "dialog_auth" | "waiting_approval" | "waiting_question" => &["waiting"],
        "idle" | "interrupted" => &["idle"],
        "working" => &["working"],
        "done" => &["done"],
        "blocked" => &["blocked"],
        "error" => &["error"],
        "exited" => &["exited"],
        other => panic!("unknown label {other}"),
    }
}

fn judge_span(span: &Span, states: &States, judgement: &mut Judgement) {
    let mut at = span.start;
    while at < span.end {
        let shown = states.iter().rfind(|(since, _)| *since <= at).map_or("unknown", |s| &s.1);
        let until = states.iter().map(|(since, _)| *since).find(|since| *since > at);
        let until = until.unwrap_or(span.end).min(span.end);
        let is_dialog = span.right.contains(&"waiting") && !span.right.contains(&shown);
        if is_dialog && ["working", "idle", "done"].contains(&shown) {
            judgement.dialogs_wrong += until - at;
        }
        if span.right.contains(&shown) {
            judgement.right += until - at;
        } else {
            judgement.wrong += until - at;
        }
        at = until;
    }
}

/// Returns when the driver pressed a key that submits or answers.
fn enters(cast: &Path) -> Vec<f64> {
    let text = fs::read_to_string(cast).unwrap();
    let events = text.lines().skip(1).filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_enter = |event: &Value| {
        event[1] == "i"
            && ["\r", "\n", "y", "1", "2", "3"].contains(&event[2].as_str().unwrap_or(""))
    };
    events.filter(is_enter).filter_map(|event| event[0].as_f64()).collect()
}

/// Returns what the scripted model said in the protocol, as kind and value.
fn expected_reports(labels: &Value) -> Vec<Reported> {
    let mut reports = Vec::new();
    for event in labels["server_events"].as_array().into_iter().flatten() {
        let argument = event["arg"].as_str().unwrap_or_default();
        let first = argument.trim().split([' ', '—', ':', '-']).next().unwrap_or_default();
        let value = match event["kind"].as_str().filter(|_| event["ev"] == "step") {
            Some("status" | "build") => Some(first.to_lowercase()),
            Some("progress") => {
                let steps = argument.split(':').next().unwrap_or_default();
                Some(steps.trim_matches(['[', ']', ' ']).to_owned())
            }
            Some("need" | "contract") => None,
            _ => continue,
        };
        reports.push((event["kind"].as_str().unwrap().to_owned(), value));
    }
    reports
}
