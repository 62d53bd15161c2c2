//! Finds the way to what belongs to an agent in a place elsewhere.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::config::Paths;
use crate::hub::clients::tokens;
use crate::model::{AgentName, Runner};
use crate::runner::{Address, Way};

/// Enough to tell apart the hubs of one person's machines.
const HOME_CHARS: usize = 12;

/// Returns the way to what belongs to an agent in a place elsewhere.
pub(in crate::hub) fn way(paths: &Paths, agent: &AgentName, runner: Runner) -> io::Result<Way> {
    let (session, home) = (paths.session.clone(), home(&paths.home_id())?);
    Ok(Way { runner, address: Address { session, home, agent: agent.clone() } })
}

/// Returns what tells this hub from others of the same name, and makes it if there is none.
fn home(path: &Path) -> io::Result<String> {
    let known = fs::read_to_string(path).unwrap_or_default();
    let is_good =
        |id: &&str| id.len() == HOME_CHARS && id.bytes().all(|b| b.is_ascii_alphanumeric());
    if let Some(id) = Some(known.trim()).filter(is_good) {
        return Ok(id.to_owned());
    }
    let id: String = tokens::new_token()?.0.chars().take(HOME_CHARS).collect();
    let draft = path.with_extension("new");
    let mut file =
        File::options().create(true).truncate(true).write(true).mode(0o600).open(&draft)?;
    file.write_all(id.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    Ok(id)
}
