//! Writes files beside the hub's own thread: a disk that is busy may take its time over it.
//!
//! Files are written in the order in which they were handed over. The record waits for them before it
//! commits (see `finish`), so what a file says is on the disk before the event that relies on it.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// With so much waiting, the disk does not keep up: recordings pause until it does.
const CROWDED_BYTES: usize = 4 * 1024 * 1024;

/// The largest file is a pane's history and screen; a larger one is not ours.
const READ_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// One thread writes everything, so that of two contents of a file the later one stays.
#[derive(Debug)]
pub(in crate::hub) struct FileWriter {
    files: Files,
    thread: Option<JoinHandle<()>>,
}

/// What is to be written. Every copy hands over to the same thread.
#[derive(Clone, Debug, Default)]
pub(in crate::hub) struct Files(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// A file that is to be replaced stands here once between two jobs of the other kind, which
    /// `is_crowded` bounds.
    waiting: VecDeque<Job>,
    bytes: usize,
    /// The content that is being written.
    writing: Option<(PathBuf, Arc<[u8]>)>,
    ordered: u64,
    done: u64,
    is_closed: bool,
    is_over: bool,
}

enum Job {
    Replace { path: PathBuf, bytes: Arc<[u8]> },
    Append { bytes: usize, work: Box<dyn FnOnce() + Send> },
}

impl FileWriter {
    pub(in crate::hub) fn start() -> io::Result<Self> {
        let files = Files::default();
        let shared = files.clone();
        let thread = thread::Builder::new().name("files".into()).spawn(move || {
            let _over = Over(&shared);
            shared.write_all();
        })?;
        Ok(Self { files, thread: Some(thread) })
    }

    pub(in crate::hub) fn files(&self) -> &Files {
        &self.files
    }
}

/// Writes what waits.
impl Drop for FileWriter {
    fn drop(&mut self) {
        self.files.lock().is_closed = true;
        self.files.0.changed.notify_all();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Says that nobody writes any more, also after a panic: whoever waits is let go.
struct Over<'a>(&'a Files);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.0.changed.notify_all();
    }
}

impl Files {
    /// Replaces a file when the disk has time for it.
    pub(in crate::hub) fn replace(&self, path: PathBuf, bytes: Vec<u8>) {
        let bytes: Arc<[u8]> = bytes.into();
        let mut state = self.lock();
        state.bytes += bytes.len();
        // What stands in between may be about the same file.
        let since = state.waiting.iter_mut().rev().map_while(Job::replaced);
        let mut since = since;
        let same = since.find(|(waiting, _)| **waiting == path);
        let same = same.map(|(_, bytes)| bytes);
        if let Some(waiting) = same {
            let old = std::mem::replace(waiting, bytes);
            state.bytes -= old.len();
            return;
        }
        state.push(Job::Replace { path, bytes });
        drop(state);
        self.0.changed.notify_all();
    }

    /// Does something else with a file in its turn; it weighs so many bytes meanwhile.
    pub(in crate::hub) fn append(&self, bytes: usize, work: impl FnOnce() + Send + 'static) {
        let mut state = self.lock();
        state.bytes += bytes;
        state.push(Job::Append { bytes, work: Box::new(work) });
        drop(state);
        self.0.changed.notify_all();
    }

    /// Returns what a file that is replaced here holds, or will hold in a moment.
    pub(in crate::hub) fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let state = self.lock();
        let waiting = state.waiting.iter().rev().find_map(|job| match job {
            Job::Replace { path: waiting, bytes } if waiting == path => Some(bytes),
            Job::Replace { .. } | Job::Append { .. } => None,
        });
        let current = state.writing.as_ref().filter(|(current, _)| current == path);
        if let Some(bytes) = waiting.or(current.map(|(_, bytes)| bytes)) {
            return Ok(bytes.to_vec());
        }
        drop(state);
        if fs::metadata(path)?.len() > READ_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        fs::read(path)
    }

    /// Says whether nothing is being written.
    pub(in crate::hub) fn is_free(&self) -> bool {
        let state = self.lock();
        state.done == state.ordered
    }

    /// Says whether the disk does not keep up.
    pub(in crate::hub) fn is_crowded(&self) -> bool {
        self.lock().bytes >= CROWDED_BYTES
    }

    /// Waits until everything that was handed over before is written. Not for the hub's own thread.
    pub(in crate::hub) fn finish(&self) {
        let state = self.lock();
        let last = state.ordered;
        let is_left = |state: &mut State| state.done < last && !state.is_over;
        drop(self.0.changed.wait_while(state, is_left));
    }

    fn write_all(&self) {
        while let Some(job) = self.next() {
            let weight = job.weight();
            job.run();
            let mut state = self.lock();
            state.writing = None;
            state.bytes -= weight;
            state.done += 1;
            drop(state);
            self.0.changed.notify_all();
        }
    }

    fn next(&self) -> Option<Job> {
        let idle = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
        let waited = self.0.changed.wait_while(self.lock(), idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let job = state.waiting.pop_front()?;
        if let Job::Replace { path, bytes } = &job {
            state.writing = Some((path.clone(), Arc::clone(bytes)));
        }
        Some(job)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push(&mut self, job: Job) {
        self.ordered += 1;
        self.waiting.push_back(job);
    }
}

impl Job {
    fn replaced(&mut self) -> Option<(&PathBuf, &mut Arc<[u8]>)> {
        match self {
            Self::Replace { path, bytes } => Some((path, bytes)),
            Self::Append { .. } => None,
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Replace { bytes, .. } => bytes.len(),
            Self::Append { bytes, .. } => *bytes,
        }
    }

    fn run(self) {
        match self {
            Self::Replace { path, bytes } => {
                if let Err(error) = replace(&path, &bytes) {
                    tracing::warn!(file = %path.display(), %error, "a file could not be written");
                }
            }
            Self::Append { work, .. } => work(),
        }
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match self {
            Self::Replace { .. } => "Replace",
            Self::Append { .. } => "Append",
        };
        f.debug_struct(name).field("bytes", &self.weight()).finish_non_exhaustive()
    }
}

/// Not synced: what is kept this way is worth nothing after a power cut, or does no harm if it is old.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_added_extension("new");
    fs::write(&draft, bytes)?;
    fs::rename(&draft, path)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_last_content_of_a_file_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.screen");
        let writer = FileWriter::start().unwrap();
        for round in 0..100_u32 {
            writer.files().replace(path.clone(), vec![b'x'; 10_000]);
            writer.files().replace(path.clone(), round.to_string().into_bytes());
            assert_eq!(writer.files().read(&path).unwrap(), round.to_string().into_bytes());
            writer.files().finish();
            assert_eq!(fs::read_to_string(&path).unwrap(), round.to_string());
        }
        writer.files().replace(path.clone(), b"last".to_vec());
        drop(writer);
        assert_eq!(fs::read_to_string(&path).unwrap(), "last");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn nobody_waits_for_a_disk_that_hangs_and_a_file_waits_there_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.screen");
        let writer = FileWriter::start().unwrap();
        let files = writer.files();
        let (free, hung) = mpsc::channel::<()>();
        files.append(0, move || {
            let _ = hung.recv();
        });
        for round in 0..1000_u32 {
            files.replace(path.clone(), round.to_string().into_bytes());
        }
        assert_eq!(files.read(&path).unwrap(), b"999");
        assert!(!files.is_free() && !files.is_crowded() && !path.exists());
        files.append(CROWDED_BYTES, || ());
        assert!(files.is_crowded());
        drop(free);
        files.finish();
        assert_eq!(fs::read_to_string(&path).unwrap(), "999");
        assert!(files.is_free() && !files.is_crowded());
    }

    #[test]
    fn a_file_that_cannot_be_written_holds_up_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let writer = FileWriter::start().unwrap();
        writer.files().replace(directory.path().join("missing/a.screen"), b"x".to_vec());
        writer.files().replace(directory.path().join("b.screen"), b"x".to_vec());
        writer.files().finish();
        assert!(directory.path().join("b.screen").exists());
    }
}
