//! The sockets that clients come through: only our own user can, and each is bound again once its
//! file is gone.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

use super::connection::accept;
use crate::config::{Paths, secure_dir};
use crate::hub::HubError;
use crate::hub::inbox::Senders;
use crate::model::{AgentName, RunId};

/// A logout may remove the directory of all sockets. No command fails for that: clients wait for longer
/// than this.
const LOOK_PAUSE: Duration = Duration::from_millis(500);

/// Where a socket lies.
#[derive(Clone, Debug)]
pub(in crate::hub) struct SocketPlace {
    pub(in crate::hub) path: PathBuf,
    /// The directories that lead to it, outermost first; each is ours alone.
    pub(in crate::hub) directories: Vec<PathBuf>,
}

/// A socket that was bound, and the file that leads to it.
#[derive(Debug)]
pub(in crate::hub) struct BoundSocket {
    listener: StdListener,
    place: SocketPlace,
    file: FileId,
}

/// A socket at which clients are let in.
#[derive(Debug)]
pub(in crate::hub) struct ClientSocket {
    pub(in crate::hub) listener: UnixListener,
    place: SocketPlace,
    file: FileId,
    /// Why it could not be bound again; the same reason is logged once.
    trouble: Option<String>,
}

/// Device and number of a file, by which it is told from another of the same name.
type FileId = Option<(u64, u64)>;

/// What a look at the file of a socket found: nothing to do, or that it was bound again or could not be.
type Found = Option<Result<BoundSocket, HubError>>;

impl BoundSocket {
    /// Binds a socket in directories that are ours alone; whatever stood there belonged to a hub that is
    /// gone.
    pub(in crate::hub) fn bind(place: SocketPlace) -> Result<Self, HubError> {
        let path = &place.path;
        let fail = |source| HubError::Listen { path: path.clone(), source };
        place.directories.iter().try_for_each(|directory| secure_dir(directory))?;
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(error)),
            _ => {}
        }
        let listener = StdListener::bind(path).map_err(fail)?;
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        let file = identity(path);
        Ok(Self { listener, place, file })
    }
}

impl ClientSocket {
    pub(in crate::hub) fn listen(bound: BoundSocket) -> Result<Self, HubError> {
        let BoundSocket { listener, place, file } = bound;
        let fail = |source| HubError::Listen { path: place.path.clone(), source };
        let listener = UnixListener::from_std(listener).map_err(fail)?;
        Ok(Self { listener, place, file, trouble: None })
    }

    /// Waits a little, then looks whether clients still find the socket, and binds it anew if not.
    ///
    /// It borrows nothing, so that clients are let in meanwhile.
    pub(in crate::hub) fn look(&self) -> impl Future<Output = Found> + use<> {
        let (place, file) = (self.place.clone(), self.file);
        async move {
            tokio::time::sleep(LOOK_PAUSE).await;
            let look = move || (identity(&place.path) != file).then(|| BoundSocket::bind(place));
            tokio::task::spawn_blocking(look).await.unwrap_or_default()
        }
    }

    /// Goes on with what a look found.
    pub(in crate::hub) fn take_over(&mut self, found: Found) {
        let Some(found) = found else { return };
        let path = self.place.path.display();
        match found.and_then(Self::listen) {
            Ok(socket) => {
                tracing::warn!(%path, "a socket was gone and is bound again");
                *self = socket;
            }
            Err(error) => {
                let reason = Some(error.to_string());
                if self.trouble != reason {
                    tracing::warn!(%path, %error, "a socket is gone");
                    self.trouble = reason;
                }
            }
        }
    }
}

fn identity(path: &Path) -> FileId {
    fs::symlink_metadata(path).ok().map(|told| (told.dev(), told.ino()))
}

/// Says whether the process at the other end runs as our own user.
pub(in crate::hub) fn is_own(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
}

/// Stands open until it is dropped.
#[derive(Debug)]
pub(in crate::hub) struct AgentSocket(JoinHandle<()>);

/// Returns where the door of an agent is.
pub(in crate::hub) fn door_place(paths: &Paths, agent: &AgentName) -> SocketPlace {
    let path = paths.agent_door(agent);
    let mut directories = paths.runtime_directories();
    directories.extend(path.parent().map(Path::to_path_buf));
    SocketPlace { path, directories }
}

impl BoundSocket {
    /// Binds the door of an agent, which goes without one if that fails.
    pub(in crate::hub) fn for_agent(place: SocketPlace, agent: &AgentName) -> Option<Self> {
        let warn = |error: &_| tracing::warn!(%agent, %error, "its programs cannot speak to us");
        Self::bind(place).inspect_err(warn).ok()
    }
}

impl AgentSocket {
    pub(in crate::hub) fn open(
        bound: BoundSocket,
        agent: &AgentName,
        run: RunId,
        senders: Senders,
    ) -> Option<Self> {
        let opened = ClientSocket::listen(bound);
        if let Err(error) = &opened {
            tracing::warn!(%agent, %error, "its programs cannot speak to us");
        }
        let guest = Some((agent.clone(), run));
        Some(Self(tokio::task::spawn_local(accept(opened.ok()?, guest, senders))))
    }
}

impl Drop for AgentSocket {
    fn drop(&mut self) {
        self.0.abort();
    }
}
