//! The hub's log file, which never outgrows its bounds.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing_subscriber::fmt;

use super::HubError;
use crate::config::LogLevel;

/// A full log is moved aside, and the one before it is dropped.
const LOG_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Sends everything that is logged from here on to the file, panics included.
pub(super) fn start(path: &Path, level: LogLevel) -> Result<(), HubError> {
    let fail = |source| HubError::Log { path: path.to_owned(), source };
    let file = RotatingFile::open(path).map_err(fail)?;
    let subscriber = fmt::Subscriber::builder()
        .with_ansi(false)
        .with_max_level(verbosity(level))
        .with_target(false)
        .with_writer(Mutex::new(file))
        .finish();
    // A second hub in one process exists only in tests; the first one's log serves both.
    let _ = tracing::subscriber::set_global_default(subscriber);
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panic: {}", message(panic.payload()));
    }));
    Ok(())
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
