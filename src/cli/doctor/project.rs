//! Whether the project's settings are right, trusted and can be carried out.

use super::finding::Finding;
use super::versions;
use crate::cli::context::caller_environment;
use crate::config::{Loaded, Origin, Paths, Settings, Team};

pub(super) fn examine(paths: &Paths) -> Vec<Finding> {
    let place = format!("{} is session {}", paths.project.display(), paths.session);
    let mut findings = vec![Finding::ok("project", place)];
    match Settings::load(paths) {
        Ok(loaded) => {
            findings.push(settings(&loaded));
            findings.push(programs(&loaded));
            findings.extend(versions::examine(&loaded.settings));
        }
        Err(error) => findings.push(Finding::problem(
            "settings",
            error.to_string(),
            "Fix the file; `wheelhouse config check` checks it",
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
    let caller = caller_environment();
    let own = |team: &&Team| settings.origin(&format!("team.{}", team.name)) != Origin::BuiltIn;
    let used = settings.teams().filter(own).flat_map(|team| &team.agents);
    let is_there = |cli: &str| {
        settings.resolve(cli, &caller).is_ok_and(|(_, found)| found.is_installed(&caller))
    };
    let mut missing: Vec<&str> =
        used.map(|agent| agent.cli.as_str()).filter(|cli| !is_there(cli)).collect();
    missing.sort_unstable();
    missing.dedup();
    if missing.is_empty() {
        return Finding::ok("programs", "every cli that a team uses is installed");
    }
    Finding::warning(
        "programs",
        format!("not found on PATH: {}", missing.join(", ")),
        "Install them, or set their path in `[cli.NAME] command`",
    )
}
