//! Keeps the rooms apart: this test is the architecture diagram that cannot lie.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each room, the rooms it may use, and the confined crates it may name.
const ROOMS: &[(&str, &[&str], &[&str])] = &[
    ("model", &[], &["regex_syntax", "schemars", "strip_ansi_escapes", "unicode_width"]),
    ("sim", &["model"], &["rustix", "strsim", "tokio", "unicode_width"]),
    ("protocol", &["model"], &["regex", "schemars"]),
    ("template", &["model", "protocol"], &["minijinja"]),
    ("playbook", &["model", "protocol", "template"], &["regex"]),
    ("approval", &["model"], &["globset"]),
    ("engine", &["model", "protocol", "approval"], &["globset"]),
    ("screen", &["model"], &["vt100", "unicode_width"]),
    ("detect", &["model", "protocol", "screen"], &["jiff", "regex"]),
    ("deliver", &["model", "screen", "detect"], &[]),
    ("recording", &["model", "screen"], &["regex"]),
    ("api", &["model", "protocol"], &["schemars"]),
    ("notify", &["model"], &[]),
    ("history", &["model", "engine", "api"], &["unicode_width"]),
    (
        "config",
        &["model", "approval", "template", "playbook", "notify"],
        &["directories", "regex", "rustix", "serde_spanned", "sha2", "strsim", "toml"],
    ),
    ("keeper", &["model"], &["filedescriptor", "libc", "portable_pty", "rustix", "signal_hook"]),
    ("store", &["model"], &["rusqlite"]),
    ("git", &["model"], &["rustix", "tempfile"]),
    ("workspace", &["model", "config", "git"], &["globset", "rustix"]),
    ("runner", &["model", "config", "keeper", "git", "workspace"], &[]),
    (
        "hub",
        &[
            "model",
            "protocol",
            "engine",
            "screen",
            "detect",
            "deliver",
            "api",
            "config",
            "keeper",
            "store",
            "template",
            "recording",
            "git",
            "workspace",
            "runner",
            "notify",
        ],
        &[
            "jiff",
            "jsonschema",
            "regex",
            "rustix",
            "saphyr_parser",
            "tokio",
            "toml",
            "tracing_subscriber",
        ],
    ),
    ("client", &["model", "api", "config", "keeper"], &["rustix", "tokio"]),
    ("mcp", &["model", "protocol", "api", "client", "config"], &["rmcp", "schemars", "tokio"]),
    (
        "tui",
        &["model", "api", "history", "client", "config", "notify"],
        &[
            "crossterm",
            "ratatui",
            "regex",
            "rustix",
            "signal_hook",
            "strsim",
            "toml",
            "unicode_width",
        ],
    ),
    (
        "cli",
        &[
            "model",
            "approval",
            "protocol",
            "template",
            "playbook",
            "engine",
            "screen",
            "detect",
            "recording",
            "api",
            "history",
            "config",
            "keeper",
            "store",
            "git",
            "workspace",
            "runner",
            "notify",
            "hub",
            "client",
            "mcp",
            "sim",
            "tui",
        ],
        &["anyhow", "clap", "clap_complete", "clap_mangen", "rustix", "signal_hook", "strsim"],
    ),
];

/// The parts of a large room, in the order in which they build on each other, and the parts that each may use.
/// A part is a folder or a file.
const INSIDE: &[(&str, &[(&str, &[&str])])] = &[(
    "hub",
    &[
        // What everything else stands on. `Hub` is named once, by what is done on its thread later.
        ("clock", &[]),
        ("error", &[]),
        ("delays", &["clock"]),
        ("log", &["error"]),
        ("outbox", &["delays"]),
        ("inbox", &["delays", "outbox", "state"]),
        ("settings_watch", &["inbox"]),
        // The components: each owns its state, and none knows the hub.
        ("clients", &["delays", "error", "inbox", "outbox"]),
        ("remote", &["clients", "inbox"]),
        ("tasks", &["clients", "remote"]),
        ("workspaces", &["clients", "remote", "tasks"]),
        ("record", &["clients", "error", "inbox", "workspaces"]),
        ("panes", &["clients", "clock", "delays", "inbox", "record", "remote"]),
        ("agents", &["clients", "tasks", "workspaces"]),
        // The router: it owns the components and carries between them and the engine.
        (
            "state",
            &["agents", "background", "clients", "clock", "inbox", "panes", "record", "tasks"],
        ),
        ("background", &["agents", "clients", "inbox", "state"]),
        ("settings", &["agents", "clients", "record", "state"]),
        ("inputs", &["clients", "inbox", "panes", "record", "state", "tasks"]),
        (
            "requests",
            &[
                "agents",
                "background",
                "clients",
                "inbox",
                "panes",
                "record",
                "remote",
                "state",
                "tasks",
                "workspaces",
            ],
        ),
        (
            "effects",
            &["agents", "clients", "panes", "record", "remote", "state", "tasks", "workspaces"],
        ),
        (
            "serve",
            &[
                "agents",
                "background",
                "clients",
                "clock",
                "error",
                "inbox",
                "log",
                "panes",
                "record",
                "settings_watch",
                "state",
                "tasks",
            ],
        ),
    ],
)];

/// Types that a room's own `mod.rs` names, and the part that each is from.
const REEXPORTED: &[(&str, &str, &str)] = &[("hub", "Hub", "state"), ("hub", "HubError", "error")];

/// Crates that only the rooms listing them above may name.
const CONFINED: &[&str] = &[
    "anyhow",
    "clap",
    "clap_complete",
    "clap_mangen",
    "crossterm",
    "directories",
    "filedescriptor",
    "globset",
    "jiff",
    "jsonschema",
    "libc",
    "minijinja",
    "portable_pty",
    "ratatui",
    "regex",
    "regex_syntax",
    "rmcp",
    "rusqlite",
    "rustix",
    "saphyr_parser",
    "schemars",
    "serde_spanned",
    "sha2",
    "signal_hook",
    "strip_ansi_escapes",
    "strsim",
    "tempfile",
    "tokio",
    "toml",
    "tracing_subscriber",
    "unicode_width",
    "vt100",
];

/// Rooms that may not touch the outside world at all.
const PURE: &[&str] = &[
    "model",
    "protocol",
    "template",
    "playbook",
    "approval",
    "engine",
    "screen",
    "detect",
    "deliver",
    "recording",
    "api",
    "history",
    "notify",
];
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
    let mut faults = Vec::new();
    for &(room, may_use, may_name) in ROOMS {
        for file in rust_files(&Path::new("src").join(room)) {
            let text = production_text(&file);
            for &(other, ..) in ROOMS {
                let used = names(&text, &format!("crate::{other}"));
                if used && other != room && !may_use.contains(&other) {
                    faults.push(format!("{}: {room} may not use {other}", file.display()));
                }
            }
            if text.contains("crate::{") {
                faults.push(format!("{}: name one room per `use` line", file.display()));
            }
            for name in CONFINED.iter().filter(|name| !may_name.contains(name)) {
                if names(&text, &format!("{name}::")) {
                    faults.push(format!("{}: {room} may not name {name}", file.display()));
                }
            }
            for word in IMPURE.iter().filter(|_| PURE.contains(&room)) {
                if text.contains(word) {
                    faults.push(format!("{}: {room} is pure, but says {word}", file.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn parts_of_a_room_use_only_the_parts_they_may() {
    let mut faults = Vec::new();
    for &(room, parts) in INSIDE {
        for entry in fs::read_dir(Path::new("src").join(room)).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let part = path.file_stem().unwrap().to_str().unwrap();
            let listed = parts.iter().find(|(name, _)| *name == part);
            let Some((_, may_use)) = listed else {
                if part != "mod" {
                    faults.push(format!("{}: add it to INSIDE", path.display()));
                }
                continue;
            };
            let files = if path.is_dir() { rust_files(&path) } else { vec![path.clone()] };
            for file in files {
                for used in parts_used(room, &production_text(&file), !path.is_dir()) {
                    if used != part && !may_use.contains(&used.as_str()) {
                        faults.push(format!("{}: {part} may not use {used}", file.display()));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Returns the parts of its room that a file names: from the root of the crate, or, in a file that lies beside
/// them, as its neighbours.
fn parts_used(room: &str, text: &str, is_beside: bool) -> BTreeSet<String> {
    let prefixes = [format!("crate::{room}::"), "use super::".to_owned()];
    let prefixes = if is_beside { &prefixes[..] } else { &prefixes[..1] };
    let word = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut used = BTreeSet::new();
    for prefix in prefixes {
        for (at, _) in text.match_indices(prefix.as_str()) {
            let rest = &text[at + prefix.len()..];
            let named: Vec<String> = match rest.strip_prefix('{') {
                Some(list) => {
                    list.split('}').next().unwrap().split(',').map(|one| word(one.trim())).collect()
                }
                None => vec![word(rest)],
            };
            used.extend(named.into_iter().filter(|name| !name.is_empty()).map(|name| {
                let from = REEXPORTED.iter().find(|(of, known, _)| *of == room && *known == name);
                from.map_or(name, |(_, _, part)| (*part).to_owned())
            }));
        }
    }
    // What `super` leads to inside of a file, as `use super::*` in a module of its own, is no part.
    used.retain(|name| name.chars().next().is_some_and(char::is_lowercase));
    used
}

#[test]
fn every_room_is_in_the_table() {
    let listed: Vec<&str> = ROOMS.iter().map(|room| room.0).collect();
    for entry in fs::read_dir("src").unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        assert!(!entry.path().is_dir() || listed.contains(&name.as_str()), "add {name} to ROOMS");
    }
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
