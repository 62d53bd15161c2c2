//! How a hub's process is started, and what it says before it detaches itself.

use std::ffi::OsString;
use std::path::Path;

use crate::model::SessionName;

/// What a hub writes to its standard output once it listens.
pub const READY: &str = "ready\n";

/// What it writes when another hub holds the project's lock.
pub const BUSY: &str = "busy\n";

/// Returns the command that becomes a project's hub.
///
/// The session's name is there for whoever reads a list of processes.
pub fn hub_argv(program: &Path, project: &Path, session: &SessionName) -> Vec<OsString> {
    let session = OsString::from(session.to_string());
    vec![
        program.into(),
        "--project".into(),
        project.into(),
        "hub".into(),
        "--session".into(),
        session,
    ]
}
