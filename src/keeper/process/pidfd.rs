//! Gets a descriptor for the very process that connected.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Stands for one process, also once it has ended and its number is another's.
pub(super) struct PeerHandle(OwnedFd);

impl PeerHandle {
    /// Returns nothing where the kernel has none: before Linux 6.5.
    #[expect(unsafe_code, reason = "no crate that we use asks for this option")]
    pub(super) fn of(socket: impl AsFd) -> io::Result<Option<Self>> {
        let mut descriptor: libc::c_int = -1;
        let mut length = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap_or_default();
        // SAFETY: both point to variables of ours that live until the call returns, and `length` is the
        // size of the one that is written to.
        let result = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERPIDFD,
                (&raw mut descriptor).cast(),
                &raw mut length,
            )
        };
        if result != 0 {
            let error = io::Error::last_os_error();
            let is_unknown = error.raw_os_error() == Some(libc::ENOPROTOOPT);
            return if is_unknown { Ok(None) } else { Err(error) };
        }
        // SAFETY: the call has succeeded, so that this is a new descriptor, which nobody else has.
        Ok(Some(Self(unsafe { OwnedFd::from_raw_fd(descriptor) })))
    }

    /// Says whether the process lives, and so still has its number.
    pub(super) fn is_alive(&self) -> bool {
        let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        matches!(poll(&mut polled, Some(&at_once)), Ok(0))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn the_handle_of_a_process_that_lives_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("s")).unwrap();
        let stream = UnixStream::connect(directory.path().join("s")).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        for end in [&stream, &accepted] {
            let Some(handle) = PeerHandle::of(end).unwrap() else {
                return;
            };
            assert!(handle.is_alive());
        }
    }
}
