//! Puts clis and teams into words and into JSON, without any value of an environment.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::approval::{Criteria, Rule, Rules};
use crate::config::{Agent, Cli, Origin, Server, Settings, Team, plain};
use crate::model::{Environment, Hooks, Kit, KitRules, Runner};
use crate::template::Prompt;

/// Writes what the cli runs and which variables it gets.
pub(super) fn write_cli(
    name: &str,
    cli: &Cli,
    settings: &Settings,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "cli {name} ({}): {}", cli_origin(name, settings), listed(&cli.command))?;
    let patterns: Vec<&str> = cli.pass_env.iter().map(AsRef::as_ref).collect();
    write_names("  passes on", &patterns, out)?;
    write_names("  sets", &names(&cli.env), out)?;
    if settings.has_own_hooks(name) {
        write_hooks(&cli.hooks, out)?;
    }
    if settings.has_own_kit(name) { write_kit_rules(&cli.kit, out) } else { Ok(()) }
}

/// Writes how a cli is told what it works with: that, too, is added to the command.
fn write_kit_rules(rules: &KitRules, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  its tools are set by: {}", plain(&rules.arguments))?;
    for (name, form) in rules.environment.iter().chain(&rules.files) {
        writeln!(out, "    and {}", plain(&format!("{name}: {form}")))?;
    }
    Ok(())
}

/// Writes what a server runs and which variables it gets.
pub(super) fn write_server(
    name: &str,
    server: &Server,
    settings: &Settings,
    out: &mut dyn Write,
) -> io::Result<()> {
    let origin = settings.origin(&format!("mcp.{name}"));
    writeln!(out, "mcp {name} ({origin}): {}", listed(&server.command))?;
    let patterns: Vec<&str> = server.pass_env.iter().map(AsRef::as_ref).collect();
    write_names("  passes on", &patterns, out)?;
    write_names("  sets", &names(&server.env), out)
}

/// Writes what someone works with, as far as anything is said of it.
pub(super) fn write_kit(indent: &str, kit: &Kit, out: &mut dyn Write) -> io::Result<()> {
    for (what, words) in kit.in_words() {
        writeln!(out, "{indent}{what} {}", plain(&words))?;
    }
    Ok(())
}

/// Writes what is added to the command: whoever trusts a file must see it.
fn write_hooks(hooks: &Hooks, out: &mut dyn Write) -> io::Result<()> {
    if !hooks.enabled {
        return writeln!(out, "  without hooks");
    }
    writeln!(out, "  with hooks: {}", listed(&hooks.arguments))?;
    for (name, value) in &hooks.environment {
        writeln!(out, "    sets {}", plain(&format!("{name}={value}")))?;
    }
    match &hooks.file {
        Some(content) => writeln!(out, "    in a file: {}", plain(content)),
        None => Ok(()),
    }
}

/// Writes where agents can run elsewhere, and what leaves this machine for it.
pub(super) fn write_runner(
    runner: &Runner,
    settings: &Settings,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (name, origin) = (&runner.name, settings.origin(&format!("runner.{}", runner.name)));
    let (kind, target) = (runner.place.kind(), plain(runner.place.target()));
    let program = plain(&runner.program);
    writeln!(out, "runner {name} ({origin}): {kind} {target} runs `{program}`")?;
    if !runner.arguments.is_empty() {
        writeln!(out, "  with {}", listed(&runner.arguments))?;
    }
    let patterns: Vec<&str> = runner.pass_env.iter().map(String::as_str).collect();
    write_names("  passes on", &patterns, out)
}

/// Returns the runner for machines.
pub(super) fn runner_json(runner: &Runner, settings: &Settings) -> Value {
    json!({
        "name": runner.name,
        "kind": runner.place.kind(),
        "target": runner.place.target(),
        "program": runner.program,
        "arguments": runner.arguments,
        "directory": runner.directory,
        "pass_env": runner.pass_env,
        "origin": settings.origin(&format!("runner.{}", runner.name)).to_string(),
    })
}

/// Writes who is in the team, and what each one runs.
pub(super) fn write_team(team: &Team, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "team {} ({}): {}", team.name, team_origin(team, settings), team.layout)?;
    if let Some(spawn) = &team.spawn {
        let clis = plain(&spawn.clis.join(", "));
        writeln!(out, "  its agents may start up to {} more, with {clis}", spawn.agents_max)?;
    }
    for agent in &team.agents {
        let command = settings.cli(&agent.cli).map(|cli| listed(&cli.command)).unwrap_or_default();
        let (cli, cwd) = (plain(&agent.cli), plain(&agent.cwd.to_string_lossy()));
        let space =
            agent.posting.workspace.map(|one| format!(", workspace {one}")).unwrap_or_default();
        writeln!(out, "  {} ({}): {cli} {command} in `{cwd}`{space}", agent.name, agent.role)?;
        write_names("    sets", &names(&agent.env), out)?;
        let speaks: Vec<&str> = agent.speaks.iter().map(crate::model::AgentName::as_str).collect();
        write_names("    speaks to", &speaks, out)?;
        write_kit("    ", &settings.kit_of(agent), out)?;
        if let Some(runner) = &agent.posting.runner {
            writeln!(out, "    runs on {}", plain(&runner.name))?;
        }
        let posting = &agent.posting;
        let commands = [("sets up", &posting.setup), ("tears down", &posting.teardown)];
        for (verb, command) in commands {
            let command = command.iter().filter(|command| !command.trim().is_empty());
            for command in command {
                writeln!(out, "    {verb} its workspace with `{}`", plain(command))?;
            }
        }
        if let Some(sandbox) = &agent.posting.confinement.sandbox {
            let writable: Vec<&str> = sandbox.writable.iter().map(String::as_str).collect();
            writeln!(out, "    in a sandbox")?;
            write_names("    can also write", &writable, out)?;
        }
    }
    Ok(())
}

/// Writes what a file has run in workspaces, and what of the project it copies there.
pub(super) fn write_workspaces(settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let space = &settings.workspace;
    let is_own = |key: &str| settings.origin(&format!("workspace.{key}")) == Origin::Project;
    let texts = |text: &Option<String>| text.iter().cloned().collect::<Vec<_>>();
    let lines = [
        ("setup", "sets up each workspace with", texts(&space.setup)),
        ("teardown", "tears down each workspace with", texts(&space.teardown)),
        ("gates", "checks merged work with", space.gates.clone()),
        ("copy", "copies into each workspace", space.copy.clone()),
    ];
    for (_, words, listed) in lines.into_iter().filter(|(key, ..)| is_own(key)) {
        for one in listed {
            writeln!(out, "{words} `{}`", plain(&one))?;
        }
    }
    Ok(())
}

/// Writes what is answered without a person.
pub(super) fn write_approvals(rules: &Rules, out: &mut dyn Write) -> io::Result<()> {
    for rule in &rules.approve {
        writeln!(out, "approves {}", plain(&in_words(rule)))?;
    }
    for rule in &rules.deny {
        writeln!(out, "never approves {}", plain(&in_words(rule)))?;
    }
    Ok(())
}

fn in_words(rule: &Rule) -> String {
    let Criteria { agent, cli, command, path, compound } = &rule.criteria;
    let mut words = Vec::new();
    words.extend(command.as_ref().map(|command| format!("the command `{command}`")));
    words.extend(compound.then(|| "also in a compound command of approved parts".to_owned()));
    words.extend(path.as_ref().map(|path| format!("the files `{path}`")));
    if words.is_empty() {
        words.push("anything".to_owned());
    }
    words.extend(agent.as_ref().map(|agent| format!("of agents `{agent}`")));
    words.extend(cli.as_ref().map(|cli| format!("of clis `{cli}`")));
    format!("{} ({})", words.join(", "), rule.place)
}

/// Returns the rules for machines.
pub(super) fn approvals_json(rules: &[Rule]) -> Vec<Value> {
    let one = |rule: &Rule| {
        let Criteria { agent, cli, command, path, compound } = &rule.criteria;
        json!({
            "place": rule.place,
            "agent": agent,
            "cli": cli,
            "command": command,
            "path": path,
            "compound": compound,
        })
    };
    rules.iter().map(one).collect()
}

/// Returns which file the cli is from.
pub(super) fn cli_origin(name: &str, settings: &Settings) -> Origin {
    settings.origin(&format!("cli.{name}"))
}

/// Returns which file the team is from.
pub(super) fn team_origin(team: &Team, settings: &Settings) -> Origin {
    settings.origin(&format!("team.{}", team.name))
}

/// Returns the cli for machines.
pub(super) fn cli_json(name: &str, cli: &Cli, settings: &Settings) -> Value {
    json!({
        "name": name,
        "command": cli.command,
        "env": names(&cli.env),
        "pass_env": cli.pass_env.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "hooks": {
            "enabled": cli.hooks.enabled,
            "args": cli.hooks.arguments,
            "env": cli.hooks.environment,
            "file": cli.hooks.file,
        },
        "kit": {
            "args": cli.kit.arguments,
            "env": cli.kit.environment,
            "files": cli.kit.files,
            "modes": cli.kit.modes,
        },
        "origin": cli_origin(name, settings).to_string(),
    })
}

/// Returns the team for machines.
pub(super) fn team_json(team: &Team, settings: &Settings) -> Value {
    json!({
        "name": team.name,
        "layout": team.layout.to_string(),
        "speaks": team.speaks.to_string(),
        "spawn": team.spawn,
        "agents": team.agents.iter().map(|agent| agent_json(agent, settings)).collect::<Vec<_>>(),
        "origin": team_origin(team, settings).to_string(),
    })
}

fn agent_json(agent: &Agent, settings: &Settings) -> Value {
    let kit = settings.kit_of(agent);
    let (prompt, template, vars) = match &agent.prompt {
        Some(Prompt::Text(text)) => (Some(text), None, None),
        Some(Prompt::Template { name, vars }) => (None, Some(name), Some(vars)),
        None => (None, None, None),
    };
    json!({
        "name": agent.name,
        "cli": agent.cli,
        "role": agent.role,
        "workspace": agent.posting.workspace.map(|one| one.to_string()),
        "prompt": prompt,
        "template": template,
        "vars": vars,
        "cwd": agent.cwd,
        "env": names(&agent.env),
        "owns": agent.owns,
        "capabilities": agent.capabilities,
        "speaks": agent.speaks,
        "skill": agent.skill,
        "kit": kit,
        "runner": agent.posting.runner.as_ref().map_or("local", |runner| &runner.name),
        "limits": agent.posting.confinement.limits,
        "sandbox": agent.posting.confinement.sandbox,
    })
}

/// Returns the server for machines.
pub(super) fn server_json(name: &str, server: &Server, settings: &Settings) -> Value {
    json!({
        "name": name,
        "command": server.command,
        "env": names(&server.env),
        "pass_env": server.pass_env.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "origin": settings.origin(&format!("mcp.{name}")).to_string(),
    })
}

/// Returns the words as a list whose words cannot run together.
pub(super) fn listed(words: &[String]) -> String {
    let quoted: Vec<String> =
        words.iter().map(|word| Value::from(word.as_str()).to_string()).collect();
    plain(&format!("[{}]", quoted.join(", ")))
}

fn names(environment: &Environment) -> Vec<&str> {
    environment.0.keys().map(String::as_str).collect()
}

fn write_names(verb: &str, names: &[&str], out: &mut dyn Write) -> io::Result<()> {
    if names.is_empty() { Ok(()) } else { writeln!(out, "{verb} {}", plain(&names.join(", "))) }
}
