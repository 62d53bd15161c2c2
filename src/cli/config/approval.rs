//! `wheelhouse config approval`: what the rules would do with a dialog, without one.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use crate::approval::{Verdict, decide};
use crate::cli::failure::Hinted;
use crate::config::{Loaded, Paths, Settings, plain, plain_json};
use crate::model::Subject;

/// A dialog that somebody imagines.
#[derive(Debug, Default)]
pub struct Trial {
    pub agent: Option<String>,
    pub cli: Option<String>,
    pub command: Option<String>,
    pub path: Option<String>,
}

/// Prints whether the rules in force would approve it, and returns that.
pub fn approval(paths: &Paths, trial: Trial, json: bool, out: &mut dyn Write) -> Result<bool> {
    let loaded = Settings::load(paths)?;
    let Trial { agent, cli, command, path } = trial;
    let cli = cli.or_else(|| cli_of(&loaded, agent.as_deref()?)).unwrap_or_default();
    let subject = match (command, path) {
        (Some(command), None) => Subject::Command(command),
        (None, Some(path)) => Subject::Path(path),
        (None, None) | (Some(_), Some(_)) => {
            let hint = "Type `wheelhouse config approval --agent NAME 'COMMAND'`, or `--path FILE`";
            return Err(Hinted::error("Approve what?", hint));
        }
    };
    let (Subject::Command(text) | Subject::Path(text)) = &subject;
    let who = (agent.as_deref().unwrap_or_default(), cli.as_str());
    let verdict = decide(&loaded.settings.approvals, who, &subject, text);
    let is_approved = matches!(verdict, Verdict::Approve { .. });
    if json {
        let told = match verdict {
            Verdict::Approve { rules } => json!({ "approved": true, "rules": rules, "why": null }),
            Verdict::Ask { why } => json!({ "approved": false, "rules": [], "why": why }),
        };
        writeln!(out, "{}", plain_json(&told.to_string()))?;
        return Ok(is_approved);
    }
    let words = match verdict {
        Verdict::Approve { rules } => format!("approved once, by {}", rules.join(", ")),
        Verdict::Ask { why } => format!("left to you: {why}"),
    };
    writeln!(out, "{}", plain(&words))?;
    if let Some(project) = loaded.project.filter(|project| !project.is_trusted) {
        let file = plain(&project.path.to_string_lossy());
        writeln!(out, "`{file}` is not trusted as it is now, so its rules are not used")?;
    }
    Ok(is_approved)
}

/// Returns what an agent of a team runs.
fn cli_of(loaded: &Loaded, agent: &str) -> Option<String> {
    let mut agents = loaded.settings.teams().flat_map(|team| &team.agents);
    agents.find(|known| known.name.as_str() == agent).map(|known| known.cli.clone())
}
