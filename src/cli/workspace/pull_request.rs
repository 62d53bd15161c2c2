//! `wheelhouse workspace merge --pr`: the commands that open a pull request, for you to type.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;

use super::super::args::Format;
use super::super::context::Context;
use super::verb::workspaces;
use crate::api::{Fault, WorkspaceStatus};
use crate::client::ClientError;
use crate::config::plain;
use crate::git::Repository;
use crate::model::{AgentName, Refusal};

/// Prints the commands; none of them is run.
pub(super) fn print(
    context: &mut Context,
    agent: &str,
    message: Option<&str>,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let all = workspaces(context)?;
    let known = || all.iter().filter_map(|one| one.agent.parse::<AgentName>().ok()).collect();
    let Some(found) = all.iter().find(|one| one.agent == agent && one.branch.is_some()) else {
        let agent = agent.parse::<AgentName>()?;
        let refusal = Refusal::NoWorkspace { agent, known: known() };
        return Err(ClientError::Fault(Fault::from(refusal)).into());
    };
    let repository = Repository::find(&context.paths.project)?;
    let settings = repository.own_settings()?;
    let base = repository.branch()?.unwrap_or_else(|| "main".to_owned());
    let commands = commands(found, &settings, &base, message);
    if format.json {
        context.print_json(&json!({ "agent": found.agent, "commands": commands }))?;
        return Ok(ExitCode::SUCCESS);
    }
    for command in &commands {
        writeln!(context.out, "{}", plain(command))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn commands(
    workspace: &WorkspaceStatus,
    settings: &[(String, String)],
    base: &str,
    message: Option<&str>,
) -> Vec<String> {
    let branch = quoted(workspace.branch.as_deref().unwrap_or_default());
    let title = message.map_or_else(|| format!("The work of {}", workspace.agent), str::to_owned);
    let (root, title, base) = (quoted(&workspace.root), quoted(&title), quoted(base));
    let url = settings.iter().find(|(name, _)| name == "remote.origin.url");
    let url = url.map(|(_, url)| url.as_str()).unwrap_or_default();
    let commit = format!("git -C {root} add --all && git -C {root} commit -m {title}");
    let push = format!("git -C {root} push -u origin {branch}");
    let open = if url.contains("gitlab") {
        format!("glab mr create --source-branch {branch} --target-branch {base} --title {title}")
    } else {
        format!("gh pr create --head {branch} --base {base} --title {title}")
    };
    let has_changes = !workspace.files.is_empty();
    has_changes.then_some(commit).into_iter().chain([push, open]).collect()
}

/// Returns a word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::WorkspaceKind;

    #[test]
    fn the_tool_of_the_forge_is_named_and_words_stay_words() {
        let workspace = WorkspaceStatus {
            agent: "one".to_owned(),
            kind: WorkspaceKind::Worktree,
            state: "ready".to_owned(),
            in_use: true,
            root: "/w/it's here".to_owned(),
            runner: None,
            root_there: None,
            branch: Some("wheelhouse/s/one".to_owned()),
            base: None,
            merged: None,
            port_base: None,
            port_count: 0,
            files: Vec::new(),
            overlaps: Vec::new(),
            changed_settings: Vec::new(),
            merge: None,
            note: None,
            since: String::new(),
        };
        let url = |url: &str| vec![("remote.origin.url".to_owned(), url.to_owned())];
        let told = commands(&workspace, &url("git@gitlab.com:a/b"), "main", Some("a; rm x"));
        assert_eq!(told[0], r"git -C '/w/it'\''s here' push -u origin wheelhouse/s/one");
        assert!(told[1].starts_with("glab mr create"), "{told:?}");
        assert!(told[1].ends_with("--title 'a; rm x'"), "{told:?}");
        let told = commands(&workspace, &[], "main", None);
        assert!(told[1].starts_with("gh pr create --head wheelhouse/s/one --base main"));
    }
}
