//! Listens for the hub.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::process::umask;

use super::{Standing, Tracer};

/// A socket and the file that leads to it.
pub(super) struct Socket {
    path: PathBuf,
    listener: UnixListener,
    tracer: Tracer,
    /// Device and number of the file, by which it is told from one of the same name.
    file: Option<(u64, u64)>,
}

impl Socket {
    /// Listens on the path, over whatever a former keeper left there. The reviver holds the lock.
    pub(super) fn bind(path: &Path, tracer: Tracer) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let before = umask(Mode::from_raw_mode(0o177));
        let listener = UnixListener::bind(path);
        umask(before);
        let listener = listener?;
        listener.set_nonblocking(true)?;
        Ok(Self { path: path.to_owned(), listener, tracer, file: identity(path) })
    }

    /// Binds again if the file has vanished or is another's.
    pub(super) fn ensure(&mut self) {
        if self.is_reachable() {
            return;
        }
        let path = self.path.clone();
        match Self::bind(&path, self.tracer.clone()) {
            Ok(socket) => *self = socket,
            Err(error) => tracing::warn!(%error, "no hub can find this keeper for now"),
        }
    }

    /// Returns the next connection that may be a hub's: of our own user, and made by a process that
    /// lives and stands inside no agent. Others are closed at once.
    pub(super) fn accept(&self) -> Option<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().ok()?;
            let may_be_hub = is_ours(&stream) && self.tracer.standing(&stream) == Standing::Outside;
            if may_be_hub && stream.set_nonblocking(true).is_ok() {
                return Some(stream);
            }
        }
    }

    /// Removes the file, unless it is another's.
    pub(super) fn remove(&self) {
        if self.is_reachable()
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(%error, "a dead socket is left behind");
        }
    }

    fn is_reachable(&self) -> bool {
        self.file.is_some() && identity(&self.path) == self.file
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|data| (data.dev(), data.ino()))
}

/// Says whether the other side runs as our user, whatever the file's mode let in.
#[cfg(target_os = "linux")]
fn is_ours(stream: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(stream)
        .is_ok_and(|peer| peer.uid == rustix::process::getuid())
}

/// Elsewhere the modes of the file and of its directory have to do.
#[cfg(not(target_os = "linux"))]
fn is_ours(_: &UnixStream) -> bool {
    true
}
