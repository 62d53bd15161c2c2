//! `wheelhouse config check`: tells all that is wrong in the config files.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use crate::approval::Rules;
use crate::config::{ConfigError, Loaded, Paths, Settings, plain, plain_json};

use super::describe::{approvals_json, write_approvals};

/// Prints every error and warning, and returns whether there is no error.
pub fn check(paths: &Paths, json: bool, out: &mut dyn Write) -> Result<bool> {
    let (errors, warnings, approvals) = match Settings::load(paths) {
        Ok(Loaded { settings, project, warnings, .. }) => {
            // What the file would do once it is trusted is what its writer wants to check.
            let settings = project.map_or(settings, |project| project.settings);
            (Vec::new(), warnings, settings.approvals)
        }
        Err(ConfigError { problems, warnings }) => (problems, warnings, Rules::default()),
    };
    let is_good = errors.is_empty();
    if json {
        let found = json!({
            "ok": is_good,
            "errors": errors,
            "warnings": warnings,
            "approve": approvals_json(&approvals.approve),
            "deny": approvals_json(&approvals.deny),
        });
        writeln!(out, "{}", plain_json(&found.to_string()))?;
        return Ok(is_good);
    }
    for error in &errors {
        writeln!(out, "error: {error}")?;
    }
    for warning in &warnings {
        writeln!(out, "warning: {warning}")?;
    }
    if is_good {
        for file in [&paths.user_config, &paths.project_config()] {
            let state =
                if file.exists() { "is good" } else { "does not exist; using the defaults" };
            writeln!(out, "`{}` {state}", plain(&file.to_string_lossy()))?;
        }
        write_approvals(&approvals, out)?;
        if !approvals.is_empty() {
            writeln!(
                out,
                "Test a dialog with `wheelhouse config approval --agent NAME 'COMMAND'`"
            )?;
        }
    }
    Ok(is_good)
}
