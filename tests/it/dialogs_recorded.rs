//! Dialogs of the real clis that ask for a permission: which of them rules may answer, and what they are read as.
//!
//! Each recording says in its labels when which dialog was open and what the cli was really told to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use wheelhouse::approval::{Criteria, Rule, Rules, Verdict, decide};
use wheelhouse::detect::{Detector, Dialog, Options};
use wheelhouse::model::{Moment, Size, Subject};
use wheelhouse::screen::{HistoryLimit, Screen};

use super::acted::rules;

/// The time between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// One dialog of a recording.
struct Case {
    recording: String,
    cli: String,
    name: String,
    /// The command or the file that the cli was really told.
    truth: String,
    is_command: bool,
    dialog: Option<Dialog>,
}

/// Returns every recording that tells what its dialogs were about.
fn recordings() -> Vec<(PathBuf, Value)> {
    let mut found = Vec::new();
    for folder in fs::read_dir("tests/approvals").unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(files) = fs::read_dir(&folder) else { continue };
        for labels in files.map(|file| file.unwrap().path()) {
            if !labels.to_str().unwrap().ends_with(".labels.json") {
                continue;
            }
            let told: Value = serde_json::from_str(&fs::read_to_string(&labels).unwrap()).unwrap();
            let cast = labels.with_extension("").with_extension("cast");
            found.push((cast, told["cases"].clone()));
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// Returns the dialog on a screen, as somebody sees it who looks again and again.
fn dialog(cli: &str, screen: &Screen, told: Option<&str>, now: Moment) -> Option<Dialog> {
    let mut detector = Detector::new(rules(cli), Options::default(), now);
    if let Some(told) = told {
        detector.tell_command(told.to_owned(), now);
    }
    for look in 1..5 {
        detector.observe(screen, &[], now + LOOK * look);
    }
    detector.dialog().cloned()
}

/// Plays a recording, and returns the dialog of each of its cases.
fn cases(cast: &Path, told: &Value, tellers: &[&str]) -> Vec<Case> {
    let folder = cast.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let cli = folder.split('-').next().unwrap();
    let text = fs::read_to_string(cast).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let head = lines.next().unwrap();
    let length = |key: &str| u16::try_from(head[key].as_u64().unwrap()).unwrap();
    let mut screen = Screen::new(
        Size { rows: length("height"), cols: length("width") },
        HistoryLimit::default(),
    );
    let at = |seconds: &Value| Moment(0) + Duration::from_secs_f64(seconds.as_f64().unwrap());
    let mut output = lines.filter(|event| event[1] == "o").peekable();
    let mut found = Vec::new();
    for case in told.as_array().unwrap() {
        // Just before its end the dialog is drawn once more, and a chunk may end within a frame.
        let seconds = case["t"].as_f64().unwrap() - 0.5;
        let (end, truth) = (at(&Value::from(seconds)), case["subject"].as_str().unwrap());
        while let Some(event) = output.next_if(|event| at(&event[0]) <= end) {
            screen.feed(event[2].as_str().unwrap().as_bytes(), at(&event[0]));
        }
        let told = tellers.contains(&cli).then_some(truth);
        let dialog = dialog(cli, &screen, told, end).filter(|_| case["asked"] == true);
        found.push(Case {
            recording: format!("{folder}/{}", cast.file_stem().unwrap().to_str().unwrap()),
            cli: cli.to_owned(),
            name: case["case"].as_str().unwrap().to_owned(),
            truth: truth.to_owned(),
            is_command: case["kind"] == "cmd",
            dialog,
        });
    }
    found
}

/// Returns all cases, where the events of `opencode` have told of them: `metadata.command`, `metadata.filepath`.
fn all_cases() -> Vec<Case> {
    all_told(&["opencode"])
}

fn all_told(tellers: &[&str]) -> Vec<Case> {
    recordings().iter().flat_map(|(cast, told)| cases(cast, told, tellers)).collect()
}

/// Returns the rules of the README, and those for all that follows the same programs.
fn usual() -> Rules {
    let rule = |command: &str| {
        let criteria = Criteria { command: Some(command.into()), ..Criteria::default() };
        Rule { place: command.into(), criteria }
    };
    let approve =
        ["cargo test*", "npm test*", "python3 -m pytest*", "git commit*"].map(rule).to_vec();
    Rules { approve, deny: Vec::new() }
}

fn is_approved(case: &Case) -> bool {
    let Some(question) = case.dialog.as_ref().and_then(Dialog::question) else { return false };
    let verdict = decide(&usual(), ("one", &case.cli), &question.subject, &question.text);
    matches!(verdict, Verdict::Approve { .. })
}

/// Returns a command as this cli draws it: some leave out what a terminal would act on, or would not show.
fn drawn(case: &Case) -> String {
    let escapes = ["\x1b[8m", "\x1b[0m"];
    match case.cli.as_str() {
        "codex" => case.truth.replace('\x1b', ""),
        "gemini" => escapes
            .iter()
            .fold(case.truth.replace('\u{200b}', ""), |text, escape| text.replace(escape, "")),
        _ => case.truth.clone(),
    }
}

/// A tab is a blank to a shell, and many blanks are one.
fn letters(command: &str) -> String {
    command.split([' ', '\t']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_read_of_a_dialog_is_what_the_cli_was_told() {
    let mut read = 0;
    for case in all_cases() {
        let Some(question) = case.dialog.as_ref().and_then(Dialog::question) else { continue };
        read += 1;
        let place = format!("{} {}", case.recording, case.name);
        match question.subject {
            Subject::Command(command) => {
                assert!(case.is_command, "{place}");
                assert_eq!(letters(&command), letters(&drawn(&case)), "{place}");
            }
            Subject::Path(path) => {
                assert!(!case.is_command && path.ends_with(&case.truth), "{place}: {path}");
            }
        }
    }
    assert!(read > 40, "only {read} dialogs were read");
}

#[test]
fn the_examples_of_the_readme_fire_on_real_dialogs() {
    let cases = all_cases();
    for cli in ["claude", "codex", "gemini", "opencode"] {
        for name in ["desc", "pytest", "commit", "lib", "longdesc", "fit"] {
            let case = cases.iter().find(|case| case.cli == cli && case.name == name).unwrap();
            assert!(is_approved(case), "{cli} {name}: {:?}", case.dialog);
        }
    }
}

#[test]
fn nothing_but_what_a_rule_names_is_approved_on_real_dialogs() {
    // Gemini draws no trace of a letter that cannot be seen: docs/security.md says so.
    let is_shown = |case: &Case| case.cli != "gemini" || case.name != "unseen";
    for case in all_cases().iter().filter(|case| is_approved(case) && is_shown(case)) {
        let allowed = ["cargo test", "npm test", "python3 -m pytest", "git commit"]
            .iter()
            .any(|words| case.truth.starts_with(words));
        let is_plain = !case.truth.contains(['\n', ';', '&', '|', '$', '\x1b', '\u{200b}', '>']);
        assert!(allowed && is_plain, "{} {}: {:?}", case.recording, case.name, case.truth);
    }
}

#[test]
fn a_command_of_several_rows_counts_as_it_was_told_and_not_without() {
    let rows = ["long", "longer", "word"];
    let several = |case: &&Case| rows.contains(&case.name.as_str()) && case.dialog.is_some();
    let untold = all_told(&[]);
    assert!(untold.iter().filter(several).all(|case| !is_approved(case)));
    let told = all_told(&["claude", "opencode"]);
    for cli in ["claude", "opencode"] {
        for case in told.iter().filter(several).filter(|case| case.cli == cli) {
            assert!(is_approved(case), "{cli} {}: {:?}", case.name, case.dialog);
        }
        let lines = ["multi", "fakerow", "lines", "heredoc", "unseen", "ansi"];
        let mut hostile = told.iter().filter(|case| lines.contains(&case.name.as_str()));
        assert!(hostile.clone().any(|case| case.cli == cli && case.dialog.is_some()));
        assert!(hostile.all(|case| case.cli != cli || !is_approved(case)));
    }
    // Nothing that OpenCode alone draws counts.
    assert!(untold.iter().all(|case| case.cli != "opencode" || !is_approved(case)));
}
