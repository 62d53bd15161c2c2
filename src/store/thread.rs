//! The handle that the hub holds, and the thread behind it that writes.

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::append::Writer;
use super::batch::{Batch, Refused, Rows, Sealed, Ticket};
use super::error::{Place, StoreError};
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
        Self::open_with(path, MIGRATIONS, outcome)
    }

    pub(super) fn open_with(
        path: &Path,
        migrations: &[Migration],
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
            .spawn(move || write_all(&shared, writer, &outcome))
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

fn write_all(queue: &Queue, mut writer: Writer, outcome: &dyn Fn(Outcome)) {
    while let Some(group) = queue.take() {
        let Some((ticket, _)) = group.last() else { continue };
        if !write(queue, &mut writer, &group, outcome) {
            let lost = group.len() + queue.waiting();
            tracing::error!(lost, "the record could not be written until the end");
            return;
        }
        outcome(Outcome::Committed(*ticket));
    }
}

/// Writes a group, as often as it takes; gives up only if there is nobody left to wait.
fn write(
    queue: &Queue,
    writer: &mut Writer,
    group: &[(Ticket, Sealed)],
    outcome: &dyn Fn(Outcome),
) -> bool {
    let Err(error) = writer.append(group) else { return true };
    outcome(Outcome::Failing { reason: error.to_string() });
    let mut pause = PAUSE_FIRST;
    loop {
        let is_last_try = queue.wait_unless_closed(pause);
        match writer.append(group) {
            Ok(()) => break,
            Err(_) if is_last_try => return false,
            Err(error) => tracing::warn!(%error, "the record still cannot be written"),
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
    outcome(Outcome::Healed);
    true
}
