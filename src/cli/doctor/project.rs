//! Whether the project's settings are right, trusted and can be carried out.

use std::path::Path;

use super::finding::Finding;
use crate::config::{Loaded, Paths, Settings};

pub(super) fn examine(paths: &Paths) -> Vec<Finding> {
    let place = format!("{} is session {}", paths.project.display(), paths.session);
    let mut findings = vec![Finding::ok("project", place)];
    match Settings::load(paths) {
        Ok(loaded) => {
            findings.push(settings(&loaded));
            findings.push(programs(&loaded));
        }
        Err(error) => findings.push(Finding::problem(
            "settings",
            error.to_string(),
            "Correct the file; `wheelhouse config check` says when it is right",
        )),
    }
    findings
}

fn settings(loaded: &Loaded) -> Finding {
    match &loaded.project {
        None => Finding::ok("settings", "no wheelhouse.toml here; built-in teams can be started"),
        Some(project) if project.is_trusted => {
            Finding::ok("settings", format!("{} is trusted", project.path.display()))
        }
        Some(project) => Finding::warning(
            "settings",
            format!("{} is not trusted as it is now, so it is not used", project.path.display()),
            "Read what it would run and trust it with `wheelhouse config trust`",
        ),
    }
}

/// Looks for the program of every cli that a team uses.
fn programs(loaded: &Loaded) -> Finding {
    let settings = &loaded.settings;
    let used = settings.teams().flat_map(|team| team.agents.iter().map(|agent| &agent.cli));
    let is_missing = |cli: &&String| {
        let program = settings.cli(cli).and_then(|cli| cli.command.first());
        program.is_some_and(|program| !program.starts_with('$') && !is_program(program))
    };
    let mut missing: Vec<&str> = used.filter(is_missing).map(String::as_str).collect();
    missing.sort_unstable();
    missing.dedup();
    if missing.is_empty() {
        return Finding::ok("programs", "every cli that a team uses is installed");
    }
    Finding::warning(
        "programs",
        format!("not found on PATH: {}", missing.join(", ")),
        "Install them, or give their place in `[cli.NAME] command`",
    )
}

fn is_program(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}
