//! A team on paper.

use wheelhouse::model::{Contact, Environment, Launch, Member, Role, Size};

pub(crate) const AGENTS: [(&str, Role); 5] = [
    ("ann", Role::Worker),
    ("bob", Role::Worker),
    ("cat", Role::Worker),
    ("dan", Role::Verifier),
    ("eve", Role::Lead),
];

/// Ann and Bob have files of their own.
pub(crate) const OWNERS: [&str; 2] = ["ann", "bob"];

pub(crate) fn member(agent: &str, role: Role, place: usize) -> Member {
    Member {
        name: agent.parse().unwrap(),
        team: "team".to_owned(),
        place,
        cli: "sim".to_owned(),
        role,
        argv: vec!["sim".to_owned()],
        cwd: "/".into(),
        workspace: std::path::PathBuf::new(),
        owns: OWNERS.contains(&agent).then(|| format!("{agent}/**")).into_iter().collect(),
        capabilities: Vec::new(),
        speaks_freely: false,
        conversation: None,
        opening: wheelhouse::model::Opening::default(),
        contact: Contact::default(),
        added: None,
    }
}

pub(crate) fn launch() -> Launch {
    Launch {
        argv: vec!["sim".to_owned()],
        cwd: "/".into(),
        environment: Environment::default(),
        size: Size::default(),
    }
}

/// What an agent of this manner says about its task.
pub(crate) fn lines(manner: u64) -> Vec<String> {
    let lines: &[&str] = match manner {
        0..=4 => &["PROGRESS: [1/2] — half", "BUILD: PASS", "STATUS: DONE — 3 tests pass"],
        5 => &["STATUS: DONE — I think it looks good"],
        6 => &["STATUS: ERROR — no disk, suggest another"],
        7 => &["STATUS: BLOCKED — the password"],
        8 => &["NEED: a token from bob — to log in", "STATUS: BLOCKED — a token from bob"],
        9 => &["BUILD: FAIL — E0308", "BUILD: FAIL — E0308"],
        10 => &["BUILD: FAIL — E0308", "STATUS: DONE — 3 tests pass"],
        11 => &["STATUS: DONE — 3 tests pass", "STATUS: ERROR — no, wait"],
        12 => &["CONTRACT: users", "STATUS: BLOCKED — context compacted"],
        _ => &[],
    };
    lines.iter().map(|line| (*line).to_owned()).collect()
}
