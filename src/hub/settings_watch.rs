//! Notices when a file of settings has changed, so that nobody need tell the hub.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::inbox::{HubInput, Senders};

/// An editor that saves a file in several steps is done by then.
const SAVE_TIME: Duration = Duration::from_millis(100);

/// Tells the hub of every change, until the hub is gone or changes cannot be seen; then
/// `wheelhouse config reload` remains.
pub(super) async fn watch_settings(files: Vec<PathBuf>, senders: Senders) {
    let mut has_changed = false;
    loop {
        // Begun anew after each change: a directory may have come, a link may lead elsewhere.
        let sought = files.clone();
        let begin = move || platform::Watch::on(Places::of(&sought));
        let watch =
            tokio::task::spawn_blocking(begin).await.unwrap_or_else(|error| Err(error.into()));
        if has_changed && senders.requests.send(HubInput::SettingsChanged).await.is_err() {
            return;
        }
        let seen = match watch {
            Ok(watch) => watch.change().await,
            Err(error) => Err(error),
        };
        if let Err(error) = seen {
            tracing::warn!(%error, "changes of the settings cannot be seen");
            return;
        }
        tokio::time::sleep(SAVE_TIME).await;
        has_changed = true;
    }
}

/// Where to look, and for which names.
#[derive(Debug, Default)]
struct Places {
    directories: BTreeSet<PathBuf>,
    names: BTreeSet<OsString>,
}

impl Places {
    fn of(files: &[PathBuf]) -> Self {
        let mut places = Self::default();
        for file in files {
            places.add(file);
            // A file may be a link into a directory where someone keeps all of their settings.
            if let Ok(target) = file.canonicalize() {
                places.add(&target);
            }
        }
        places
    }

    /// Adds the nearest directory above that exists, and what would appear in it.
    fn add(&mut self, file: &Path) {
        let mut path = file;
        while let (Some(parent), Some(name)) = (path.parent(), path.file_name()) {
            self.names.insert(name.to_owned());
            if parent.is_dir() {
                self.directories.insert(parent.to_owned());
                return;
            }
            path = parent;
        }
    }

    fn names(&self, name: &OsStr) -> bool {
        self.names.contains(name)
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
    use tokio::net::unix::pipe;

    use super::Places;

    /// Many events, or a few with the longest names.
    const BUFFER_BYTES: usize = 4096;
    /// What stands before the name: which watch, what happened, a number, the length of the name.
    const HEAD_BYTES: usize = 16;

    pub(super) struct Watch {
        /// Not a pipe, but read like one.
        events: pipe::Receiver,
        places: Places,
    }

    impl Watch {
        pub(super) fn on(places: Places) -> io::Result<Self> {
            let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            let changes = WatchFlags::CLOSE_WRITE | WatchFlags::CREATE | WatchFlags::DELETE;
            let flags = changes | WatchFlags::MOVE | WatchFlags::ONLYDIR;
            for directory in &places.directories {
                // One that is gone or not ours to read cannot be watched, and the others can.
                let _ = inotify::add_watch(&events, directory, flags);
            }
            let events = pipe::Receiver::from_file_unchecked(File::from(events))?;
            Ok(Self { events, places })
        }

        /// Waits until one of the names has changed.
        pub(super) async fn change(&self) -> io::Result<()> {
            let mut buffer = [0; BUFFER_BYTES];
            loop {
                self.events.readable().await?;
                match self.events.try_read(&mut buffer) {
                    Ok(count) if self.concerns(&buffer[..count]) => return Ok(()),
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
        }

        /// Says whether one of the events is about one of the names.
        fn concerns(&self, mut events: &[u8]) -> bool {
            while let Some((head, rest)) = events.split_first_chunk::<HEAD_BYTES>() {
                let [.., a, b, c, d] = *head;
                let length = usize::try_from(u32::from_ne_bytes([a, b, c, d])).unwrap_or(0);
                let Some((name, rest)) = rest.split_at_checked(length) else { return true };
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                // Without a name it is about all of them: some events were lost.
                if name.is_empty() || self.places.names(OsStr::from_bytes(name)) {
                    return true;
                }
                events = rest;
            }
            false
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::io;

    use super::Places;

    pub(super) struct Watch;

    impl Watch {
        pub(super) fn on(_places: Places) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) async fn change(&self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_directory_and_the_true_one_are_watched() {
        let world = tempfile::tempdir().unwrap();
        let root = world.path().canonicalize().unwrap();
        let places = Places::of(&[root.join("config/wheelhouse/config.toml")]);
        assert_eq!(places.directories, BTreeSet::from([root.clone()]));
        assert!(places.names(OsStr::new("config")));

        fs::create_dir(root.join("true")).unwrap();
        fs::write(root.join("true/mine.toml"), "").unwrap();
        std::os::unix::fs::symlink(root.join("true/mine.toml"), root.join("config.toml")).unwrap();
        let places = Places::of(&[root.join("config.toml")]);
        assert_eq!(places.directories, BTreeSet::from([root.clone(), root.join("true")]));
        assert!(places.names(OsStr::new("mine.toml")) && !places.names(OsStr::new("other")));
    }
}
