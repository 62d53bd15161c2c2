//! `wheelhouse agent add NAME`: one more agent for the team that runs.

use serde_json::Value;

use crate::api::{NewAgent, Request, WantedPosting};
use crate::cli::args::NewAgentArguments;
use crate::cli::context::{Context, caller_environment};
use crate::cli::failure::Hinted;
use crate::cli::up::print_done;
use crate::config::set_limit;
use crate::model::{Environment, Limits};

/// The cli whose rules fit any command.
const ANY_COMMAND: &str = "shell";

pub(crate) fn add(context: &mut Context, new: NewAgentArguments) -> anyhow::Result<()> {
    let variables: anyhow::Result<_> = new.variables.iter().map(|text| variable(text)).collect();
    let mut limits = Limits::default();
    for text in &new.limits {
        set_limit(text, &mut limits).map_err(|(message, hint)| Hinted::error(message, hint))?;
    }
    let agent = NewAgent {
        name: new.name,
        cli: new.cli.unwrap_or_else(|| ANY_COMMAND.to_owned()),
        role: serde_json::from_value(Value::String(new.role))?,
        team: new.team,
        // Whoever types a path means it from where they are; an agent, from the project.
        cwd: match &context.identity {
            Some(_) => new.cwd,
            None => new.cwd.map(std::path::absolute).transpose()?,
        },
        env: Environment(variables?),
        command: new.command,
        posting: WantedPosting {
            workspace: new.workspace.map(|kind| serde_json::from_value(kind.into())).transpose()?,
            runner: new.runner,
            sandbox: new.sandbox,
            limits,
        },
    };
    let response = context.ask(Request::Add { agent, environment: caller_environment() })?;
    print_done(context, response, new.format)
}

/// Takes `KEY=VALUE` apart; an error names no value, which may be a secret.
fn variable(text: &str) -> anyhow::Result<(String, String)> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let wrong = || Hinted::error("`--env` needs a name and a value", "Write `--env KEY=VALUE`");
    parts.map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_taken_apart_at_its_first_sign() {
        assert_eq!(variable("KEY=a=b").unwrap(), ("KEY".to_owned(), "a=b".to_owned()));
        assert_eq!(variable("KEY=").unwrap().1, "");
        for wrong in ["hunter2", "=hunter2"] {
            assert!(!variable(wrong).unwrap_err().to_string().contains("hunter2"));
        }
    }
}
