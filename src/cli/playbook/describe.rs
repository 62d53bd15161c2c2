//! Puts a plan into words.

use std::io::Write;
use std::time::Duration;

use crate::config::plain;
use crate::playbook::{Plan, PlannedAgent, PlannedTask};
use crate::template::TAG_UNKNOWN;

/// Writes the order, who gets what, the gates, and every prompt as it would be sent.
pub(super) fn write_plan(plan: &Plan, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "{} ({})", plain(&plan.playbook), plan.pattern)?;
    writeln!(out, "{}", plain(&plan.purpose))?;
    if let Some(seconds) = plan.expected_seconds {
        writeln!(out, "expected: {}", time(seconds))?;
    }
    for (name, value) in &plan.vars {
        writeln!(out, "{name} = {}", plain(value))?;
    }
    writeln!(out, "\nAGENTS")?;
    for agent in &plan.agents {
        writeln!(out, "{}", plain(&agent_line(agent)))?;
    }
    for (at, wave) in plan.waves.iter().enumerate() {
        writeln!(out, "\nWAVE {}", at + 1)?;
        for task in plan.tasks.iter().filter(|task| wave.contains(&task.id)) {
            write_task(task, out)?;
        }
        write_stage_end(plan, wave, out)?;
    }
    writeln!(
        out,
        "\nPROMPTS ({TAG_UNKNOWN} stands for the tag, which is drawn when a prompt is sent)"
    )?;
    for agent in &plan.agents {
        if let Some(prompt) = &agent.prompt {
            write_block(&format!("to {}, at the start", agent.name), prompt, out)?;
        }
    }
    for task in &plan.tasks {
        write_block(&format!("{} to {}", task.id, takers(task)), &task.prompt, out)?;
    }
    for (agent, script) in plan.scripts.iter().flatten() {
        write_block(&format!("script of {agent}"), script, out)?;
    }
    Ok(())
}

fn agent_line(agent: &PlannedAgent) -> String {
    let facts = [("owns", &agent.owns), ("can", &agent.capabilities)];
    let facts = facts.into_iter().filter(|(_, words)| !words.is_empty());
    let facts: Vec<String> =
        facts.map(|(what, words)| format!("  {what} {}", words.join(", "))).collect();
    let kit = agent.kit.in_words().into_iter();
    let kit: Vec<String> = kit.map(|(what, words)| format!("  {what} {words}")).collect();
    format!("  {} ({}, {}){}{}", agent.name, agent.role, agent.cli, facts.concat(), kit.concat())
}

fn write_task(task: &PlannedTask, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "  {}: {}", plain(&task.id), plain(&task.title))?;
    let verifiers = match (task.verifiers, task.agree) {
        (0, _) => String::new(),
        (1, 1) => "by a verifier".to_owned(),
        (all, agree) if all == agree => format!("by {all} verifiers"),
        (all, agree) => format!("by {all} verifiers, of whom {agree} must agree"),
    };
    let limit = task.time_limit_seconds.map(|limit| format!(", {} each", time(limit)));
    let tries = format!("{}{}, then {}", task.attempts, limit.unwrap_or_default(), task.on_failure);
    let facts = [
        ("who", takers(task)),
        ("after", task.needs.join(", ")),
        ("owns", task.owns.join(", ")),
        ("locks", task.locks.join(", ")),
        ("hands on", task.artifacts.join(", ")),
        ("gates", task.gates.join(" && ")),
        ("checked", verifiers),
        ("attempts", tries),
    ];
    for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        writeln!(out, "    {name:<9} {}", plain(fact))?;
    }
    Ok(())
}

/// Writes what stands between a stage and the next, below the wave that ends the stage.
fn write_stage_end(plan: &Plan, wave: &[String], out: &mut dyn Write) -> anyhow::Result<()> {
    for stage in plan.stages.iter().filter(|stage| ends_with(plan, &stage.tasks, wave)) {
        writeln!(out, "  end of stage {}", plain(&stage.name))?;
        for (name, facts) in [("hands on", &stage.hands_on), ("gates", &stage.gates)] {
            if !facts.is_empty() {
                let gap = if name == "gates" { " && " } else { ", " };
                writeln!(out, "    {name:<9} {}", plain(&facts.join(gap)))?;
            }
        }
    }
    Ok(())
}

/// Says whether the last of the tasks is in the wave.
fn ends_with(plan: &Plan, tasks: &[String], wave: &[String]) -> bool {
    let holds = |wave: &&Vec<String>| wave.iter().any(|id| tasks.contains(id));
    plan.waves.iter().rfind(holds).is_some_and(|last| last == wave)
}

fn takers(task: &PlannedTask) -> String {
    let names: Vec<String> = task.agents.iter().map(ToString::to_string).collect();
    if names.len() == 1 {
        names.concat()
    } else {
        format!("whoever is free of {}", names.join(", "))
    }
}

fn write_block(title: &str, text: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(out, "\n--- {} ---", plain(title))?;
    for line in text.lines() {
        writeln!(out, "{}", plain(line))?;
    }
    Ok(())
}

fn time(seconds: u64) -> String {
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Paths, Settings, load_playbook};

    #[test]
    fn a_dry_run_tells_everything() {
        let world = tempfile::tempdir().unwrap();
        let mut paths = Paths::find(world.path()).unwrap();
        paths.user_config = world.path().join("config.toml");
        let settings = Settings::load(&paths).unwrap().settings;
        let given = [("feature".to_owned(), "Sign in with a passkey".to_owned())].into();
        let loaded =
            load_playbook("feature-build", Path::new("/"), &given, &settings, true).unwrap();
        let plan = Plan::of(&loaded.playbook, loaded.vars, &settings.templates).unwrap();
        let plan = plan.with_sim(&loaded.playbook, None);
        let mut out = Vec::new();
        write_plan(&plan, &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }
}
