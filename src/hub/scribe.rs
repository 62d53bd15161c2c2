//! Replaces whole files beside the hub's own thread: a disk that is busy may take its time over it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

/// One thread writes everything, so that of two contents of a file the later one stays.
#[derive(Debug)]
pub(super) struct Scribe {
    orders: Option<SyncSender<Order>>,
    waiting: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Order {
    path: PathBuf,
    bytes: Vec<u8>,
    /// Who wants to know how it ended.
    asker: Option<SyncSender<io::Result<()>>>,
}

impl Scribe {
    pub(super) fn start() -> io::Result<Self> {
        // Whoever need not wait asks `is_free` first, so what is held in memory is one file.
        let (orders, queue) = mpsc::sync_channel(1);
        let waiting = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&waiting);
        let thread =
            thread::Builder::new().name("scribe".into()).spawn(move || write_all(&queue, &left))?;
        Ok(Self { orders: Some(orders), waiting, thread: Some(thread) })
    }

    /// Says whether nothing is being written.
    pub(super) fn is_free(&self) -> bool {
        self.waiting.load(Ordering::Acquire) == 0
    }

    /// Writes a file when the disk has time for it.
    pub(super) fn write_later(&self, path: PathBuf, bytes: Vec<u8>) {
        self.order(Order { path, bytes, asker: None });
    }

    /// Writes a file, and returns once it is written.
    pub(super) fn write(&self, path: PathBuf, bytes: Vec<u8>) -> io::Result<()> {
        let (asker, answer) = mpsc::sync_channel(1);
        self.order(Order { path, bytes, asker: Some(asker) });
        answer.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn order(&self, order: Order) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        // A thread that is gone has panicked, which was told; nobody waits for it.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
    }
}

/// Writes what waits.
impl Drop for Scribe {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn write_all(orders: &Receiver<Order>, waiting: &AtomicUsize) {
    for Order { path, bytes, asker } in orders {
        let written = replace(&path, &bytes);
        match (asker, written) {
            (Some(asker), written) => drop(asker.send(written)),
            (None, Err(error)) => {
                tracing::warn!(file = %path.display(), %error, "a file could not be written");
            }
            (None, Ok(())) => {}
        }
        waiting.fetch_sub(1, Ordering::AcqRel);
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
    use super::*;

    #[test]
    fn the_last_content_of_a_file_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.screen");
        let scribe = Scribe::start().unwrap();
        for round in 0..100_u32 {
            scribe.write_later(path.clone(), vec![b'x'; 10_000]);
            scribe.write(path.clone(), round.to_string().into_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), round.to_string());
        }
        scribe.write_later(path.clone(), b"last".to_vec());
        drop(scribe);
        assert_eq!(fs::read_to_string(&path).unwrap(), "last");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn whoever_waits_is_told_what_went_wrong() {
        let directory = tempfile::tempdir().unwrap();
        let scribe = Scribe::start().unwrap();
        let nowhere = directory.path().join("missing/a.screen");
        let error = scribe.write(nowhere.clone(), b"x".to_vec()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        scribe.write_later(nowhere, b"x".to_vec());
        scribe.write(directory.path().join("b.screen"), b"x".to_vec()).unwrap();
    }
}
