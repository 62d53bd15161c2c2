//! `wheelhouse sim [SCRIPT]`: the scripted agent.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use super::failure::Hinted;
use crate::sim;

/// What the agent calls itself when nobody gave it a name.
const NAME: &str = "sim";

pub(super) fn sim(script: Option<&Path>) -> anyhow::Result<ExitCode> {
    let read = |path: &Path| {
        fs::read_to_string(path).with_context(|| format!("Failed to read `{}`", path.display()))
    };
    let script = script.map(read).transpose()?;
    let name = std::env::var("WHEELHOUSE_AGENT").unwrap_or_else(|_| NAME.to_owned());
    match sim::run(script.as_deref(), &name) {
        Err(error) if error.is_reader_gone() => Ok(ExitCode::SUCCESS),
        played => played.map_err(|error| Hinted::error(error.to_string(), error.hint())),
    }
}
