//! The door for clients: a socket that only our own user can come through.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tokio::net::UnixListener;

use super::HubError;

/// Listens at a path; whatever stood there belonged to a hub that is gone.
pub(super) fn listen(path: &Path) -> Result<UnixListener, HubError> {
    let fail = |source| HubError::Listen { path: path.to_owned(), source };
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(error)),
        _ => {}
    }
    let listener = UnixListener::bind(path).map_err(fail)?;
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(fail)?;
    Ok(listener)
}

/// Says whether the process at the other end runs as our own user.
pub(super) fn is_own(stream: &impl AsFd) -> bool {
    rustix::net::sockopt::socket_peercred(stream)
        .is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// Returns the number of the process that connected, where the system tells it.
pub(super) fn peer(stream: &impl AsFd) -> Option<u32> {
    let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
    u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
}
