//! `wheelhouse skill`: the text that teaches an agent the tool.

use std::io::Write;

use serde_json::json;

use super::args::{Format, RoleName};
use crate::model::Role;
use crate::protocol::skill as text_of;

/// Prints the text for a role; for that of the agent that asks, else for a worker.
pub(super) fn skill(
    role: Option<RoleName>,
    format: Format,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let role = role.map_or_else(own_role, Role::from);
    if format.json {
        writeln!(out, "{}", json!({ "role": role, "text": text_of(role) }))?;
    } else {
        write!(out, "{}", text_of(role))?;
    }
    Ok(())
}

/// Returns the role that an agent finds in its environment.
fn own_role() -> Role {
    let name = std::env::var("WHEELHOUSE_ROLE").unwrap_or_default();
    Role::ALL.into_iter().find(|role| role.to_string() == name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::api::Speaker;
    use crate::cli::args::Arguments;
    use crate::mcp::TOOLS;
    use crate::model::Reach;

    /// Returns what stands between backticks.
    fn quoted(text: &str) -> Vec<&str> {
        text.split('`').skip(1).step_by(2).collect()
    }

    #[test]
    fn every_command_that_it_names_can_be_typed() {
        let command = Arguments::command();
        let mut seen = 0;
        for role in Role::ALL {
            for line in
                quoted(text_of(role)).into_iter().filter(|one| one.starts_with("wheelhouse "))
            {
                let mut here = &command;
                for word in line.split_whitespace().skip(1) {
                    let Some(next) = here.find_subcommand(word) else { break };
                    here = next;
                }
                assert!(
                    !here.has_subcommands() && here.get_name() != "wheelhouse",
                    "{role}: `{line}`"
                );
                for option in line.split_whitespace().filter_map(|word| word.strip_prefix("--")) {
                    let is_known = here.get_arguments().any(|one| one.get_long() == Some(option));
                    assert!(is_known, "{role}: `{line}` has no --{option}");
                }
                seen += 1;
            }
        }
        assert!(seen > 15);
    }

    #[test]
    fn every_tool_that_it_names_is_offered_to_that_role() {
        for role in Role::ALL {
            let text = text_of(role);
            let offered: Vec<&str> = TOOLS
                .iter()
                .filter(|tool| tool.kind.right().of(Speaker::Agent(role)) != Reach::Never)
                .map(|tool| tool.name)
                .collect();
            let is_tool =
                |word: &&str| word.contains('_') || TOOLS.iter().any(|one| one.name == *word);
            let fields = ["next_offset"];
            let named = quoted(text).into_iter().filter(is_tool);
            let named: Vec<&str> = named.filter(|word| !fields.contains(word)).collect();
            assert!(named.len() > 5, "{role}");
            for word in named {
                assert!(offered.contains(&word), "{role} is told of `{word}`");
            }
        }
    }
}
