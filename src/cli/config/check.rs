//! `wheelhouse config check`: tells all that is wrong in the config files.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use crate::config::{ConfigError, Paths, Settings, plain, plain_json};

/// Prints every error and warning, and returns whether there is no error.
pub fn check(paths: &Paths, json: bool, out: &mut dyn Write) -> Result<bool> {
    let (errors, warnings) = match Settings::load(paths) {
        Ok(loaded) => (Vec::new(), loaded.warnings),
        Err(ConfigError { problems, warnings }) => (problems, warnings),
    };
    let is_good = errors.is_empty();
    if json {
        let found = json!({ "ok": is_good, "errors": errors, "warnings": warnings });
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
            let state = if file.exists() { "is good" } else { "is not there; defaults hold" };
            writeln!(out, "`{}` {state}", plain(&file.to_string_lossy()))?;
        }
    }
    Ok(is_good)
}
