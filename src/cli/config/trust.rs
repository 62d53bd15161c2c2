//! `wheelhouse config trust`: shows what a project's file would run, and records a person's
//! consent.

use std::io::{BufRead, Write};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use crate::approval::{Rule, Rules};
use crate::config::{
    Cli, Loaded, Origin, Paths, ProjectFile, ProjectTemplate, Server, Settings, Team, Trust, plain,
    plain_json,
};
use crate::model::{Kit, Runner};

use super::describe::{
    approvals_json, cli_json, cli_origin, listed, runner_json, server_json, team_json, team_origin,
    write_approvals, write_cli, write_kit, write_runner, write_server, write_team,
    write_workspaces,
};

/// Shows what the project's file would run, and trusts exactly the content that was shown.
///
/// `terminal` is where a person can answer; without one, only `yes` is consent.
pub fn trust(
    paths: &Paths,
    yes: bool,
    json: bool,
    terminal: Option<&mut dyn BufRead>,
    out: &mut dyn Write,
) -> Result<()> {
    let loaded = Settings::load(paths)?;
    let shown = plain(&paths.project_config().to_string_lossy());
    let Loaded { project, templates, .. } = &loaded;
    if project.is_none() && templates.is_empty() {
        bail!("`{shown}` is not there\nhint: Write one with `wheelhouse config init`")
    }
    if !json {
        if let Some(project) = project {
            write_summary(&shown, project, out)?;
        }
        write_templates(templates, out)?;
    }
    let project_files = project.iter().map(|file| (&file.path, &file.hash, file.is_trusted));
    let template_files = templates.iter().map(|file| (&file.path, &file.hash, file.is_trusted));
    let mut new = project_files.chain(template_files).filter(|file| !file.2).peekable();
    if new.peek().is_some() && !yes {
        let terminal = terminal.filter(|_| !json).with_context(|| {
            format!(
                "`{shown}` needs a terminal to ask you\n\
                 hint: Read it, then run `wheelhouse config trust --yes`"
            )
        })?;
        ask(terminal, out)?;
    }
    for (path, hash, _) in new {
        Trust::load(paths)?.trust(path, hash)?;
    }
    if json {
        writeln!(out, "{}", plain_json(&as_json(project.as_ref(), templates).to_string()))?;
    } else {
        let what = match project {
            Some(_) => format!("`{shown}`"),
            None => format!("`{}`", plain(&paths.project_templates().to_string_lossy())),
        };
        writeln!(out, "{what} is trusted as it is now")?;
    }
    Ok(())
}

fn write_templates(templates: &[ProjectTemplate], out: &mut dyn Write) -> Result<()> {
    for ProjectTemplate { template, hash, .. } in templates {
        let (file, purpose) = (plain(&template.file.to_string_lossy()), plain(&template.purpose));
        writeln!(out, "agents can get the prompt `{file}` ({}): {purpose}", hash.short())?;
    }
    Ok(())
}

fn ask(terminal: &mut dyn BufRead, out: &mut dyn Write) -> Result<()> {
    write!(out, "Trust this file as it is now? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    terminal.read_line(&mut answer)?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    bail!("Nothing was trusted")
}

fn write_summary(shown: &str, project: &ProjectFile, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "`{shown}` ({}) would run:", project.hash.short())?;
    for (name, cli) in own_clis(project) {
        write_cli(name, cli, &project.settings, out)?;
    }
    for (name, server) in own_servers(project) {
        write_server(name, server, &project.settings, out)?;
    }
    for (name, kit) in own_roles(project) {
        writeln!(out, "every {name}")?;
        write_kit("  ", kit, out)?;
    }
    for runner in own_runners(project) {
        write_runner(runner, &project.settings, out)?;
    }
    for team in own_teams(project) {
        write_team(team, &project.settings, out)?;
    }
    let passed = own_passed(project);
    if !passed.is_empty() {
        writeln!(out, "every agent gets these of your environment variables: {}", listed(&passed))?;
    }
    write_workspaces(&project.settings, out)?;
    let teller = own_teller(project);
    if !teller.is_empty() {
        writeln!(out, "runs for each notification: {}", listed(teller))?;
    }
    write_approvals(&own_approvals(project), out)?;
    Ok(())
}

fn as_json(project: Option<&ProjectFile>, templates: &[ProjectTemplate]) -> Value {
    let templates = templates.iter().map(|own| {
        json!({ "file": own.path.to_string_lossy(), "hash": own.hash, "name": own.template.name })
    });
    let templates: Vec<Value> = templates.collect();
    let Some(project) = project else {
        return json!({ "trusted": true, "templates": templates });
    };
    let settings = &project.settings;
    let clis = own_clis(project).map(|(name, cli)| cli_json(name, cli, settings));
    let servers = own_servers(project).map(|(name, server)| server_json(name, server, settings));
    let roles = own_roles(project).map(|(name, kit)| (name.clone(), json!(kit)));
    let runners = own_runners(project).map(|runner| runner_json(runner, settings));
    let teams = own_teams(project).map(|team| team_json(team, settings));
    let approvals = own_approvals(project);
    json!({
        "file": project.path.to_string_lossy(),
        "hash": project.hash,
        "trusted": true,
        "clis": clis.collect::<Vec<_>>(),
        "mcp": servers.collect::<Vec<_>>(),
        "roles": roles.collect::<Map<_, _>>(),
        "runners": runners.collect::<Vec<_>>(),
        "teams": teams.collect::<Vec<_>>(),
        "pass": own_passed(project),
        "notify": own_teller(project),
        "approve": approvals_json(&approvals.approve),
        "deny": approvals_json(&approvals.deny),
        "templates": templates,
    })
}

fn own_clis(project: &ProjectFile) -> impl Iterator<Item = (&str, &Cli)> {
    let settings = &project.settings;
    settings.clis().filter(|(name, _)| cli_origin(name, settings) == Origin::Project)
}

/// Returns the programs that agents may be given tools by.
fn own_servers(project: &ProjectFile) -> impl Iterator<Item = (&String, &Server)> {
    let settings = &project.settings;
    let is_own = |name: &String| settings.origin(&format!("mcp.{name}")) == Origin::Project;
    settings.servers().filter(move |(name, _)| is_own(name))
}

/// Returns what the agents of a role work with.
fn own_roles(project: &ProjectFile) -> impl Iterator<Item = (&String, &Kit)> {
    let settings = &project.settings;
    let is_own = |name: &String| settings.origin(&format!("role.{name}")) == Origin::Project;
    settings.roles().filter(move |(name, _)| is_own(name))
}

fn own_runners(project: &ProjectFile) -> impl Iterator<Item = &Runner> {
    let settings = &project.settings;
    let origin = |runner: &Runner| settings.origin(&format!("runner.{}", runner.name));
    settings.runners().filter(move |runner| origin(runner) == Origin::Project)
}

fn own_teams(project: &ProjectFile) -> impl Iterator<Item = &Team> {
    let settings = &project.settings;
    settings.teams().filter(|team| team_origin(team, settings) == Origin::Project)
}

/// Returns the rules of the project's file, by which dialogs are answered without a person.
fn own_approvals(project: &ProjectFile) -> Rules {
    let file = project.path.file_name().unwrap_or_default().to_string_lossy();
    let mut rules = project.settings.approvals.clone();
    let is_own = |rule: &Rule| rule.place.rsplit_once(':').is_some_and(|(name, _)| name == file);
    rules.approve.retain(is_own);
    rules.deny.retain(is_own);
    rules
}

/// Returns what the project's file would run to tell a person of an agent.
fn own_teller(project: &ProjectFile) -> &[String] {
    let is_own = project.settings.origin("notify.command") == Origin::Project;
    if is_own { &project.settings.notify.command } else { &[] }
}

/// Returns which of the caller's variables the project's file hands to every agent.
fn own_passed(project: &ProjectFile) -> Vec<String> {
    let settings = &project.settings;
    let is_own = settings.origin("env.pass") == Origin::Project;
    settings.env.pass.iter().filter(|_| is_own).map(ToString::to_string).collect()
}
