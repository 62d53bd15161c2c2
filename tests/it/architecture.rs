//! Keeps the rooms apart: this test is the architecture diagram that cannot lie.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each room, the rooms it may use, and after the bar the crates that no other room may name. A room
/// marked `pure` may not touch the outside world at all.
const ROOMS: &str = "
pure model: | regex_syntax schemars strip_ansi_escapes unicode_width
sim: model | rustix strsim tokio unicode_width
pure protocol: model | schemars
pure template: model protocol | minijinja
pure playbook: model protocol template | regex
pure approval: model | globset
pure engine: model protocol approval | globset
pure screen: model | vt100 unicode_width
pure detect: model protocol screen | jiff regex
pure deliver: model screen detect |
pure recording: model screen | regex
pure api: model protocol | schemars
pure notify: model |
pure history: model engine api | unicode_width
config: model approval template playbook notify
    | directories regex rustix serde_spanned sha2 strsim toml
keeper: model | filedescriptor libc portable_pty rustix signal_hook
store: model | rusqlite
git: model | rustix tempfile
workspace: model config git | globset rustix
runner: model config keeper git workspace |
hub: model protocol engine screen detect deliver api config keeper store template recording git
    workspace runner notify
    | jiff jsonschema regex rustix saphyr_parser tokio toml tracing_subscriber
client: model api config keeper | rustix tokio
mcp: model protocol api client config | rmcp schemars tokio
tui: model api history config notify
    | crossterm ratatui regex rustix signal_hook strsim toml unicode_width
cli: model approval protocol template playbook engine screen detect recording api history config
    keeper store git runner hub client mcp sim tui
    | anyhow clap clap_complete clap_mangen rustix signal_hook
";

/// The subjects of the engine. Each may name what is in the subjects above it, and none below.
const SUBJECTS: &[&str] =
    &["agents", "prompts", "tasks", "teamwork", "playbooks", "attention", "workspaces"];

/// The parts of the hub, each a folder or a file, and the parts that each may use. First what everything else
/// stands on, then the components, which own their state and do not know the hub, then the router, which
/// carries between them and the engine.
const HUB_PARTS: &str = "
clock:
error:
delays: clock
log: error
outbox: delays
inbox: delays outbox state
settings_watch: inbox
clients: delays error inbox outbox
remote: clients inbox
tasks: clients remote
workspaces: clients remote tasks
record: clients error inbox workspaces
panes: clients clock delays inbox record remote
agents: clients tasks workspaces
state: agents background clients clock inbox panes record tasks
background: agents clients inbox state
settings: agents clients record state
inputs: clients inbox panes record state tasks
requests: agents background clients inbox panes record remote state tasks workspaces
effects: agents clients panes record remote state tasks workspaces
serve: agents background clients clock error inbox log panes record settings_watch state tasks
";

/// Types that the hub's `mod.rs` names, and the part that each is from.
const HUB_TYPES: &[(&str, &str)] = &[("Hub", "state"), ("HubError", "error")];

/// One line of the table.
struct Room {
    name: &'static str,
    is_pure: bool,
    may_use: Vec<&'static str>,
    may_name: Vec<&'static str>,
}

/// Returns the lines of a table; one that begins with a blank goes on from the line before.
fn table_lines(table: &'static str) -> Vec<&'static str> {
    let mut lines: Vec<String> = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty()) {
        match lines.last_mut().filter(|_| line.starts_with(' ')) {
            Some(last) => last.push_str(line),
            None => lines.push(line.to_owned()),
        }
    }
    lines.into_iter().map(|line| &*line.leak()).collect()
}

/// Returns the rooms of the table, in its order.
fn rooms() -> Vec<Room> {
    let room = |line: &'static str| {
        let (name, rest) = line.split_once(':').expect("a room and what it may use");
        let (may_use, may_name) = rest.split_once('|').expect("rooms, a bar, and crates");
        Room {
            name: name.strip_prefix("pure ").unwrap_or(name),
            is_pure: name.starts_with("pure "),
            may_use: may_use.split_whitespace().collect(),
            may_name: may_name.split_whitespace().collect(),
        }
    };
    table_lines(ROOMS).into_iter().map(room).collect()
}

const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "tracing::",
    "async ",
    "Instant",
    "SystemTime",
];

/// The files that may say `unsafe`, each for one reason that it gives.
const UNSAFE: &[&str] = &["src/keeper/process/pidfd.rs"];

const FILE_LINES_MAX: usize = 400;

#[test]
fn rooms_use_only_the_rooms_they_may() {
    let rooms = rooms();
    let confined: BTreeSet<&str> = rooms.iter().flat_map(|room| room.may_name.clone()).collect();
    let mut faults = Vec::new();
    for Room { name: room, is_pure, may_use, may_name } in &rooms {
        for file in rust_files(&Path::new("src").join(room)) {
            let text = production_text(&file);
            for Room { name: other, .. } in &rooms {
                let used = names(&text, &format!("crate::{other}"));
                if used && other != room && !may_use.contains(other) {
                    faults.push(format!("{}: {room} may not use {other}", file.display()));
                }
            }
            if text.contains("crate::{") {
                faults.push(format!("{}: name one room per `use` line", file.display()));
            }
            for name in confined.iter().filter(|name| !may_name.contains(name)) {
                if names(&text, &format!("{name}::")) {
                    faults.push(format!("{}: {room} may not name {name}", file.display()));
                }
            }
            for word in IMPURE.iter().filter(|_| *is_pure) {
                if text.contains(word) {
                    faults.push(format!("{}: {room} is pure, but says {word}", file.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn no_room_may_what_it_does_not_do() {
    let mut faults = Vec::new();
    for Room { name: room, may_use, may_name, .. } in rooms() {
        let files = rust_files(&Path::new("src").join(room));
        let texts: Vec<String> = files.iter().map(|file| production_text(file)).collect();
        let is_said = |word: &str| texts.iter().any(|text| names(text, word));
        let rooms = may_use.iter().filter(|other| !is_said(&format!("crate::{other}")));
        let crates = may_name.iter().filter(|name| !is_said(&format!("{name}::")));
        faults.extend(rooms.chain(crates).map(|unused| format!("{room} does not use {unused}")));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn parts_of_the_hub_use_only_the_parts_they_may() {
    let mut faults = Vec::new();
    let parts: Vec<(&str, Vec<&str>)> = table_lines(HUB_PARTS)
        .into_iter()
        .map(|line| {
            let (name, may_use) = line.split_once(':').unwrap();
            (name, may_use.split_whitespace().collect())
        })
        .collect();
    for entry in fs::read_dir("src/hub").unwrap().map(Result::unwrap) {
        let path = entry.path();
        let part = path.file_stem().unwrap().to_str().unwrap();
        let Some((_, may_use)) = parts.iter().find(|(name, _)| *name == part) else {
            if part != "mod" {
                faults.push(format!("{}: add it to HUB_PARTS", path.display()));
            }
            continue;
        };
        let files = if path.is_dir() { rust_files(&path) } else { vec![path.clone()] };
        for file in files {
            for used in hub_parts_used(&production_text(&file), !path.is_dir()) {
                if used != part && !may_use.contains(&used.as_str()) {
                    faults.push(format!("{}: {part} may not use {used}", file.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Returns the parts of the hub that a file names: from the root of the crate, or, in a file that lies beside
/// them, as its neighbours.
fn hub_parts_used(text: &str, is_beside: bool) -> BTreeSet<String> {
    let prefixes: &[&str] =
        if is_beside { &["crate::hub::", "use super::"] } else { &["crate::hub::"] };
    let word = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut used = BTreeSet::new();
    for prefix in prefixes {
        for (at, _) in text.match_indices(prefix) {
            let rest = &text[at + prefix.len()..];
            let named: Vec<String> = match rest.strip_prefix('{') {
                Some(list) => {
                    list.split('}').next().unwrap().split(',').map(|one| word(one.trim())).collect()
                }
                None => vec![word(rest)],
            };
            used.extend(named.into_iter().filter(|name| !name.is_empty()).map(|name| {
                let from = HUB_TYPES.iter().find(|(known, _)| *known == name);
                from.map_or(name, |(_, part)| (*part).to_owned())
            }));
        }
    }
    // What `super` leads to inside of a file, as `use super::*` in a module of its own, is no part.
    used.retain(|name| name.starts_with(char::is_lowercase));
    used
}

#[test]
fn every_room_is_in_the_table() {
    let rooms = rooms();
    for entry in fs::read_dir("src").unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let is_listed = rooms.iter().any(|room| room.name == name);
        assert!(!entry.path().is_dir() || is_listed, "add {name} to ROOMS");
    }
}

#[test]
fn the_subjects_of_the_engine_stand_in_an_order() {
    let engine = Path::new("src/engine");
    let exported = fs::read_to_string(engine.join("mod.rs")).unwrap();
    let mut faults = Vec::new();
    for (place, subject) in SUBJECTS.iter().enumerate() {
        for file in rust_files(&engine.join(subject)) {
            let text = production_text(&file);
            for later in &SUBJECTS[place + 1..] {
                let door = format!("pub use {later}::");
                let types = exported.lines().filter(|line| line.starts_with(&door));
                let types = types.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()));
                let types = types.filter(|word| word.starts_with(char::is_uppercase));
                let is_named = |word: &str| {
                    let is_import =
                        |line: &str| line.contains("crate::engine::") && names(line, word);
                    text.split(';').any(is_import)
                };
                if names(&text, &format!("crate::engine::{later}")) {
                    faults.push(format!("{}: {subject} may not name {later}", file.display()));
                }
                for word in types.filter(|word| is_named(word)) {
                    faults.push(format!("{}: {word} is of {later}", file.display()));
                }
            }
        }
    }
    for entry in fs::read_dir(engine).unwrap().map(Result::unwrap).filter(|one| one.path().is_dir())
    {
        let name = entry.file_name().into_string().unwrap();
        assert!(SUBJECTS.contains(&name.as_str()), "add {name} to SUBJECTS");
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for_and_stays_small() {
    let mut faults = Vec::new();
    for file in rust_files(Path::new("src")).into_iter().chain(rust_files(Path::new("tests"))) {
        let text = production_text(&file);
        if !text.starts_with("//! ") {
            faults.push(format!("{}: must open with a //! line", file.display()));
        }
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            faults.push(format!("{}: {lines} lines, at most {FILE_LINES_MAX}", file.display()));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_door_is_not_a_room() {
    let mut faults = Vec::new();
    for file in rust_files(Path::new("src")) {
        let is_door = file.file_name().is_some_and(|name| name == "mod.rs");
        if is_door && names(&production_text(&file), "fn") {
            faults.push(format!("{}: a mod.rs holds no functions", file.display()));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn git_is_called_in_one_place() {
    for file in rust_files(Path::new("src")) {
        let is_there = file.starts_with("src/git");
        let calls = production_text(&file).contains("Command::new(\"git\")");
        assert!(is_there || !calls, "{}: call git through src/git", file.display());
    }
}

#[test]
fn unsafe_stands_only_where_it_is_listed() {
    for file in rust_files(Path::new("src")) {
        let is_listed = UNSAFE.contains(&file.to_str().unwrap());
        assert!(is_listed || !names(&production_text(&file), "unsafe"), "{}", file.display());
    }
}

/// Says whether the text names the word, as a whole word or path.
fn names(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    let is_path = word.ends_with("::");
    text.match_indices(word).any(|(at, _)| {
        let free = |c: Option<char>| c.is_none_or(|c| !inside(c));
        let after = text[at + word.len()..].chars().next();
        free(text[..at].chars().next_back()) && (is_path || free(after))
    })
}

/// Returns a file's text without comments and without its unit tests.
fn production_text(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let body = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
    let code = |line: &&str| line.starts_with("//!") || !line.trim_start().starts_with("//");
    body.lines().filter(code).collect::<Vec<_>>().join("\n")
}

pub(super) fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}
