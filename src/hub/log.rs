//! Writes the hub's log file, which never outgrows its bounds, beside the hub's own thread.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt;
use tracing_subscriber::fmt::MakeWriter;

use super::HubError;
use crate::config::LogLevel;

/// A full log is moved aside, and the one before it is dropped.
const LOG_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Lines that may wait for the disk; the log then says how many more there were.
const LINES_MAX: usize = 1024;
/// How long the end of the hub waits for a disk that hangs.
const FLUSH_TIME: Duration = Duration::from_secs(1);
/// How often it looks meanwhile whether there is room in a full queue.
const FLUSH_TRIES: u32 = 50;

/// The log while the hub runs; what waits is written when it is dropped.
#[derive(Debug)]
pub(super) struct Log(Lines);

/// Sends everything that is logged from here on to the file, panics included.
pub(super) fn start(path: &Path, level: LogLevel) -> Result<Log, HubError> {
    let fail = |source| HubError::Log { path: path.to_owned(), source };
    let file = RotatingFile::open(path).map_err(fail)?;
    let lines = Lines::write_to(file).map_err(fail)?;
    let subscriber = fmt::Subscriber::builder()
        .with_ansi(false)
        .with_max_level(verbosity(level))
        .with_target(false)
        .with_writer(lines.clone())
        .finish();
    // A second hub in one process exists only in tests; the first one's log serves both.
    let _ = tracing::subscriber::set_global_default(subscriber);
    let after_panic = lines.clone();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panic: {}", message(panic.payload()));
        after_panic.flush();
    }));
    Ok(Log(lines))
}

impl Drop for Log {
    fn drop(&mut self) {
        self.0.flush();
    }
}

/// Hands lines over to the thread that writes them.
#[derive(Clone, Debug)]
struct Lines {
    orders: SyncSender<Order>,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Order {
    Line(Vec<u8>),
    /// Wants to know when everything before is written.
    Flush(SyncSender<()>),
}

impl Lines {
    fn write_to(mut log: impl Write + Send + 'static) -> io::Result<Self> {
        let (orders, queue) = mpsc::sync_channel(LINES_MAX);
        let dropped = Arc::new(AtomicU64::new(0));
        let missing = Arc::clone(&dropped);
        thread::Builder::new()
            .name("log".into())
            .spawn(move || write_lines(&queue, &missing, &mut log))?;
        Ok(Self { orders, dropped })
    }

    fn flush(&self) {
        let (asker, answer) = mpsc::sync_channel(1);
        for _ in 0..FLUSH_TRIES {
            if self.orders.try_send(Order::Flush(asker.clone())).is_ok() {
                let _ = answer.recv_timeout(FLUSH_TIME);
                return;
            }
            thread::park_timeout(FLUSH_TIME / FLUSH_TRIES);
        }
    }
}

fn write_lines(orders: &Receiver<Order>, dropped: &AtomicU64, log: &mut impl Write) {
    for order in orders {
        match order {
            // There is nowhere to tell of a log that cannot be written.
            Order::Line(line) => drop(log.write_all(&line)),
            Order::Flush(asker) => drop(asker.try_send(())),
        }
        let missing = dropped.swap(0, Ordering::AcqRel);
        if missing > 0 {
            drop(writeln!(log, "{missing} lines are missing here: the disk did not keep up"));
        }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

impl Write for &Lines {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if self.orders.try_send(Order::Line(text.to_vec())).is_err() {
            self.dropped.fetch_add(1, Ordering::AcqRel);
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn verbosity(level: LogLevel) -> tracing::Level {
    match level {
        LogLevel::Error => tracing::Level::ERROR,
        LogLevel::Warn => tracing::Level::WARN,
        LogLevel::Info => tracing::Level::INFO,
        LogLevel::Debug => tracing::Level::DEBUG,
        LogLevel::Trace => tracing::Level::TRACE,
    }
}

fn message(payload: &dyn std::any::Any) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// A file that starts anew when it is full, and keeps the one before.
#[derive(Debug)]
struct RotatingFile {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl RotatingFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::options().create(true).append(true).mode(0o600).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    fn rotate(&mut self) -> io::Result<()> {
        fs::rename(&self.path, self.path.with_extension("log.1"))?;
        *self = Self::open(&self.path)?;
        Ok(())
    }
}

impl Write for RotatingFile {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if self.bytes >= LOG_BYTES_MAX {
            self.rotate()?;
        }
        let written = self.file.write(text)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk that hangs until it is let go, and then keeps what it is given.
    struct Hanging {
        until: Receiver<()>,
        written: mpsc::Sender<Vec<u8>>,
    }

    impl Write for Hanging {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            let _ = self.until.recv();
            self.written.send(text.to_vec()).unwrap();
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_waits_for_a_disk_that_hangs_and_the_log_says_what_is_missing() {
        let (free, until) = mpsc::channel();
        let (written, lines) = mpsc::channel();
        let log = Lines::write_to(Hanging { until, written }).unwrap();
        for number in 0..LINES_MAX + 10 {
            (&log).write_all(format!("{number}\n").as_bytes()).unwrap();
        }
        drop(free);
        log.flush();
        let text = lines.try_iter().flatten().collect();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("0\n"), "{text}");
        assert!(text.contains(" lines are missing here: the disk did not keep up\n"), "{text}");
    }

    #[test]
    fn a_full_log_is_moved_aside() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hub.log");
        let mut log = RotatingFile::open(&path).unwrap();
        let line = vec![b'x'; 64 * 1024];
        for _ in 0..100 {
            log.write_all(&line).unwrap();
        }
        let sizes: Vec<u64> = ["hub.log", "hub.log.1"]
            .iter()
            .map(|name| fs::metadata(directory.path().join(name)).unwrap().len())
            .collect();
        assert!(sizes.iter().all(|size| *size <= LOG_BYTES_MAX + 64 * 1024), "{sizes:?}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
