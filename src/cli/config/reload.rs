//! `wheelhouse config reload`: lets the running hub take over the settings as they are now.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use crate::api::{Request, Response};
use crate::client::{ClientError, connect_running};
use crate::config::{Paths, plain, plain_json};

/// Prints what has changed since the hub last read the settings.
pub fn reload(paths: &Paths, json: bool, out: &mut dyn Write) -> Result<()> {
    let response = match connect_running(paths) {
        Ok(mut hub) => Some(hub.ask(Request::Reload)?),
        Err(ClientError::NotRunning { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let (changed, warnings) = match response {
        Some(Response::Reloaded { changed, warnings }) => (Some(changed), warnings),
        Some(_) => return Err(ClientError::Unexpected.into()),
        None => (None, Vec::new()),
    };
    if json {
        let told = json!({ "hub": changed.is_some(), "changed": changed, "warnings": warnings });
        writeln!(out, "{}", plain_json(&told.to_string()))?;
        return Ok(());
    }
    match changed.as_deref() {
        None => writeln!(out, "No hub runs; the next one reads the settings when it starts")?,
        Some([]) => writeln!(out, "The settings have not changed")?,
        Some(changed) => writeln!(out, "Changed: {}", plain(&changed.join(", ")))?,
    }
    for warning in warnings.iter().flat_map(|warning| warning.lines()) {
        writeln!(out, "warning: {}", plain(warning))?;
    }
    Ok(())
}
