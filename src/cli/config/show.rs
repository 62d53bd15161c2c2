//! `wheelhouse config show`: the settings that hold, and where each one is from.

use std::io::Write;

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::config::{Loaded, Paths, Settings, plain, plain_json};

use super::describe::{
    approvals_json, cli_json, runner_json, server_json, team_json, write_approvals, write_cli,
    write_kit, write_runner, write_server, write_team,
};

/// Prints what holds now. Of an environment only the names are shown, never a value.
pub fn show(paths: &Paths, json: bool, out: &mut dyn Write) -> Result<()> {
    let loaded = Settings::load(paths)?;
    if json {
        writeln!(out, "{}", plain_json(&as_json(paths, &loaded).to_string()))?;
        return Ok(());
    }
    let settings = &loaded.settings;
    writeln!(out, "project {}", plain(&paths.project.to_string_lossy()))?;
    writeln!(out, "session {}", paths.session)?;
    let state = match &loaded.project {
        None => "not there",
        Some(project) if project.is_trusted => "trusted",
        Some(_) => "not trusted, so not used; see `wheelhouse config trust`",
    };
    writeln!(out, "project file {state}\n")?;
    for (key, value) in settings.values() {
        writeln!(out, "{key} = {value} ({})", settings.origin(&key))?;
    }
    writeln!(out)?;
    for (name, cli) in settings.clis() {
        write_cli(name, cli, settings, out)?;
    }
    for (name, server) in settings.servers() {
        write_server(name, server, settings, out)?;
    }
    for (name, kit) in settings.roles() {
        writeln!(out, "role {name} ({})", settings.origin(&format!("role.{name}")))?;
        write_kit("  ", kit, out)?;
    }
    writeln!(out)?;
    for runner in settings.runners() {
        write_runner(runner, settings, out)?;
    }
    for team in settings.teams() {
        write_team(team, settings, out)?;
    }
    write_approvals(&settings.approvals, out)?;
    Ok(())
}

fn as_json(paths: &Paths, loaded: &Loaded) -> Value {
    let settings = &loaded.settings;
    let with_origin = |(key, value): (String, Value)| {
        let origin = settings.origin(&key).to_string();
        (key, json!({ "value": value, "origin": origin }))
    };
    let file = loaded.project.as_ref().map(|project| {
        json!({
            "path": project.path.to_string_lossy(),
            "hash": project.hash,
            "trusted": project.is_trusted,
        })
    });
    let clis = settings.clis().map(|(name, cli)| cli_json(name, cli, settings));
    let servers = settings.servers().map(|(name, server)| server_json(name, server, settings));
    let roles = settings.roles().map(|(name, kit)| (name.clone(), json!(kit)));
    let runners = settings.runners().map(|runner| runner_json(runner, settings));
    let teams = settings.teams().map(|team| team_json(team, settings));
    json!({
        "project": paths.project.to_string_lossy(),
        "session": paths.session,
        "project_file": file,
        "values": settings.values().into_iter().map(with_origin).collect::<Map<_, _>>(),
        "clis": clis.collect::<Vec<_>>(),
        "mcp": servers.collect::<Vec<_>>(),
        "roles": roles.collect::<Map<_, _>>(),
        "runners": runners.collect::<Vec<_>>(),
        "teams": teams.collect::<Vec<_>>(),
        "approve": approvals_json(&settings.approvals.approve),
        "deny": approvals_json(&settings.approvals.deny),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_setting_is_shown() {
        let world = tempfile::tempdir().unwrap();
        let mut paths = Paths::find(world.path()).unwrap();
        paths.user_config = world.path().join("config.toml");
        fs::write(&paths.user_config, include_str!("../../../config.example.toml")).unwrap();
        let settings = Settings::load(&paths).unwrap().settings;
        let shown: Vec<String> = settings.values().into_iter().map(|(key, _)| key).collect();
        let is_value = |key: &&String| {
            !key.starts_with("cli.") && !key.starts_with("team.") && !key.starts_with("runner.")
        };
        for key in settings.provenance.keys().filter(is_value) {
            assert!(shown.contains(key), "{key} is missing");
        }
    }
}
