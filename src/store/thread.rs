//! Runs the thread that writes the record, and gives the hub a handle to it.

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::append::Writer;
use super::batch::{Batch, Refused, Rows, Ticket};
use super::error::{Place, StoreError};
use super::prune::Keep;
use super::queue::Queue;
use super::schema::{MIGRATIONS, Migration};
use super::{examine, file, fold};

/// The first pause after a failure; each further one is twice as long.
const PAUSE_FIRST: Duration = Duration::from_millis(50);

/// Often enough to be back soon after somebody made room.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// What became of what was handed over. Told on the record's own thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All batches up to this one are on the disk.
    Committed(Ticket),
    /// The record cannot be written. Told once; it is tried again, in order, until it works.
    Failing { reason: String },
    /// It can be written again.
    Healed,
}

/// The record, open for writing. Only one may be open at a time: the hub's lock sees to it.
#[derive(Debug)]
pub struct Store {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl Store {
    /// Opens the record or makes a new one, and returns its rows.
    ///
    /// A record that is damaged, newer, foreign or does not agree with its own journal is refused and
    /// left as it is. An older one is copied first, then brought up to date.
    pub fn open(
        path: &Path,
        outcome: impl Fn(Outcome) + Send + 'static,
    ) -> Result<(Self, Rows), StoreError> {
        Self::open_after(path, || (), outcome)
    }

    /// The same; each transaction begins once `before` has returned, which may wait for something that
    /// must be on the disk earlier.
    pub fn open_after(
        path: &Path,
        before: impl Fn() + Send + 'static,
        outcome: impl Fn(Outcome) + Send + 'static,
    ) -> Result<(Self, Rows), StoreError> {
        Self::open_with(path, MIGRATIONS, before, outcome)
    }

    pub(super) fn open_with(
        path: &Path,
        migrations: &[Migration],
        before: impl Fn() + Send + 'static,
        outcome: impl Fn(Outcome) + Send + 'static,
    ) -> Result<(Self, Rows), StoreError> {
        let of = |error| StoreError::of(path, error);
        file::prepare(path, migrations)?;
        let (reader, _) = examine::open(path, migrations)?;
        let folded = fold::check_present(&reader).map_err(of)?.map_err(|difference| {
            StoreError::Contradiction { place: Place::of(path), difference }
        })?;
        let last = fold::last_batch(&reader).map_err(of)?;
        let writer = Writer::new(file::connect(path)?, &folded);
        drop(reader);
        let rows = fold::parse(folded.rows)
            .map_err(|error| StoreError::damaged(path, format!("a row is not JSON: {error}")))?;

        let queue = Arc::new(Queue::after(last));
        let shared = Arc::clone(&queue);
        let thread = thread::Builder::new()
            .name("store".into())
            .spawn(move || write_all(&shared, writer, &before, &outcome))
            .map_err(|source| StoreError::Io { path: path.to_owned(), source })?;
        Ok((Self { queue, thread: Some(thread) }, rows))
    }

    /// Queues a batch; `Outcome::Committed` follows once everything up to it is durable. All that
    /// waits at the same time shares one transaction.
    pub fn submit(&self, batch: Batch) -> Result<Ticket, Refused> {
        self.queue.push(batch.seal()?, false)
    }

    /// Queues a batch that may wait up to a second for others.
    pub fn submit_lazily(&self, batch: Batch) -> Result<Ticket, Refused> {
        self.queue.push(batch.seal()?, true)
    }

    /// Keeps so much of the journal from the next batch on; nothing is cut off before this is said.
    pub fn set_keep(&self, keep: Keep) {
        self.queue.set_keep(keep);
    }

    /// Returns the number of the batch that was queued last.
    pub fn last(&self) -> Ticket {
        self.queue.last()
    }

    /// Takes back every batch after this one, so that none of them is ever written, and says so. Does
    /// nothing if one of them is on the disk already: then what became of it is still to be told.
    pub fn withdraw(&self, after: Ticket) -> bool {
        self.queue.withdraw(after)
    }

    /// Says whether the next batch will be taken. Without room, do not take up what would make one.
    pub fn has_room(&self) -> bool {
        self.queue.has_room()
    }
}

/// Writes what waits. While the record cannot be written, it is tried once more and given up.
impl Drop for Store {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the record has panicked");
        }
    }
}

/// Writes groups, each as often as it takes; gives up only if there is nobody left to wait.
fn write_all(queue: &Queue, mut writer: Writer, before: &dyn Fn(), outcome: &dyn Fn(Outcome)) {
    let (mut pause, mut is_last_try) = (None, false);
    while let Some(group) = queue.take() {
        let Some((ticket, newest)) = group.last() else { continue };
        before();
        let written = writer.append(&group);
        queue.note_tried(written.is_ok());
        match written {
            Ok(()) => {
                if pause.take().is_some() {
                    outcome(Outcome::Healed);
                }
                outcome(Outcome::Committed(*ticket));
                // Nobody waits for this: what cannot be cut off now is cut off after the next group.
                if let Err(error) = writer.prune(queue.keep(), newest.at) {
                    tracing::warn!(%error, "the old end of the journal could not be cut off");
                }
            }
            Err(_) if is_last_try => {
                let lost = queue.waiting();
                tracing::error!(lost, "the record could not be written until the end");
                return;
            }
            Err(error) => {
                if pause.is_none() {
                    outcome(Outcome::Failing { reason: error.to_string() });
                } else {
                    tracing::warn!(%error, "the record still cannot be written");
                }
                let length = pause.map_or(PAUSE_FIRST, |before: Duration| before * 2);
                let length = length.min(PAUSE_MAX);
                pause = Some(length);
                is_last_try = queue.wait_unless_closed(length);
            }
        }
    }
}
