//! `wheelhouse workspace list`: what is changed where, and where it will meet.

use std::io::Write;
use std::process::ExitCode;

use super::super::args::Format;
use super::super::context::Context;
use super::super::table::Table;
use super::verb::workspaces;
use crate::api::WorkspaceStatus;
use crate::config::plain;

pub(super) fn list(context: &mut Context, format: Format) -> anyhow::Result<ExitCode> {
    let workspaces = workspaces(context)?;
    if format.json {
        context.print_json(&workspaces)?;
        return Ok(ExitCode::SUCCESS);
    }
    if workspaces.is_empty() {
        writeln!(context.out, "No workspaces: all agents work in the project")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(["AGENT", "KIND", "STATE", "FILES", "BRANCH", "PORTS", "ABOUT"]);
    for one in &workspaces {
        table.push([
            plain(&one.agent),
            kind(one),
            state(one),
            one.files.len().to_string(),
            plain(one.branch.as_deref().unwrap_or("-")),
            ports(one),
            plain(&about(one)),
        ]);
    }
    table.print(&mut context.out)?;
    for one in &workspaces {
        for overlap in &one.overlaps {
            let (agent, with) = (plain(&one.agent), plain(&overlap.with));
            let files: Vec<String> = overlap.files.iter().map(|file| plain(file)).collect();
            let whose = if overlap.owned { "owned by" } else { "also changed by" };
            writeln!(context.out, "{agent}: {whose} {with}: {}", files.join(", "))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn kind(one: &WorkspaceStatus) -> String {
    match &one.runner {
        Some(runner) => format!("{} on {}", one.kind, plain(runner)),
        None => one.kind.to_string(),
    }
}

fn state(one: &WorkspaceStatus) -> String {
    if one.state == "ready" && !one.in_use { "kept".to_owned() } else { one.state.clone() }
}

fn ports(one: &WorkspaceStatus) -> String {
    match one.port_base {
        Some(first) => format!("{first}-{}", first + one.port_count.saturating_sub(1)),
        None => "-".to_owned(),
    }
}

fn about(one: &WorkspaceStatus) -> String {
    let merge = one.merge.as_ref().map(|merge| format!("{} {}", merge.id, merge.state));
    let note = one.note.clone().filter(|_| !one.in_use);
    let parts: Vec<String> = merge.into_iter().chain(note).collect();
    if parts.is_empty() { plain(&one.root) } else { parts.join("; ") }
}
