//! Reads what was recorded of an agent's terminal.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::Context as _;

use super::context::Context;
use crate::api::Request;
use crate::client::ClientError;
use crate::model::AgentName;
use crate::recording::Cast;

/// Lets the hub write what it still holds. Without a hub there is nothing that it could hold.
pub(super) fn flush(context: &Context, name: &str) -> Result<(), ClientError> {
    match context.connect_running() {
        Ok(mut hub) => hub.ask(Request::FlushCast { agent: name.to_owned() }).map(drop),
        Err(ClientError::NotRunning { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Reads the newest recording and the one before it as one.
pub(super) fn recording(context: &Context, agent: &AgentName) -> anyhow::Result<Option<Cast>> {
    let [newest, older] = &context.paths.agent_casts(agent);
    Ok(match (read(older)?, read(newest)?) {
        (Some(older), Some(newest)) => Some(older.followed_by(newest)),
        (older, newest) => newest.or(older),
    })
}

fn read(file: &Path) -> anyhow::Result<Option<Cast>> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("Failed to read `{}`", file.display()));
        }
    };
    // The hub may be in the middle of the last line, or have died there.
    let whole = text.rfind('\n').map_or(0, |at| at + 1);
    let cast = Cast::read(&text[..whole]);
    Ok(Some(cast.with_context(|| format!("`{}` cannot be used", file.display()))?))
}
