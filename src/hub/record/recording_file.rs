//! Holds the two files of a recording, on the thread that writes files.
//!
//! The hub's own thread only hands over: whether a file could be opened or written to is told later.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::file_writer::Files;
use crate::model::Moment;
use crate::recording::started_at;

/// The first line of a recording is far shorter.
const HEADER_BYTES_MAX: u64 = 16 * 1024;

/// The files of one recording.
#[derive(Debug)]
pub(in crate::hub) struct RecordingFile {
    files: Files,
    /// The newest file, and the one before it.
    paths: [PathBuf; 2],
    bytes_max: u64,
    /// Used on the thread that writes files, and nowhere else.
    open: Arc<Mutex<Option<File>>>,
    has_failed: Arc<AtomicBool>,
}

/// Where a recording that goes on stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::hub) struct Resumed {
    pub(in crate::hub) started: Moment,
    pub(in crate::hub) bytes: u64,
}

/// Tells whether there is a file to go on with, once that is known.
pub(in crate::hub) type FileOpening = Arc<OnceLock<Option<Resumed>>>;

impl RecordingFile {
    pub(in crate::hub) fn new(files: Files, paths: [PathBuf; 2], bytes_max: u64) -> Self {
        Self { files, paths, bytes_max, open: Arc::default(), has_failed: Arc::default() }
    }

    /// Looks for a file to go on with.
    pub(in crate::hub) fn resume(&self) -> FileOpening {
        let opening = FileOpening::default();
        let (newest, bytes_max, told) =
            (self.paths[0].clone(), self.bytes_max, Arc::clone(&opening));
        self.hand_over(0, move |open| {
            let resumed = reopen(&newest, bytes_max)?;
            let (file, resumed) = resumed.unzip();
            *open = file;
            let _ = told.set(resumed);
            Ok(())
        });
        opening
    }

    /// Begins a new file; the one before it is kept, and the one before that is dropped.
    pub(in crate::hub) fn begin(&self) {
        let [newest, older] = self.paths.clone();
        self.hand_over(0, move |open| {
            *open = None;
            match fs::rename(&newest, &older) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
            let options = File::options().create_new(true).append(true).mode(0o600).to_owned();
            *open = Some(options.open(&newest)?);
            Ok(())
        });
    }

    pub(in crate::hub) fn append(&self, text: String) {
        self.hand_over(text.len(), move |open| match open {
            Some(file) => file.write_all(text.as_bytes()),
            // Opening it has failed, and that is told.
            None => Ok(()),
        });
    }

    /// Says whether something has failed since the last call.
    pub(in crate::hub) fn take_failure(&self) -> bool {
        self.has_failed.swap(false, Ordering::AcqRel)
    }

    /// Says whether the disk does not keep up.
    pub(in crate::hub) fn is_crowded(&self) -> bool {
        self.files.is_crowded()
    }

    fn hand_over(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut Option<File>) -> io::Result<()> + Send + 'static,
    ) {
        let (open, has_failed) = (Arc::clone(&self.open), Arc::clone(&self.has_failed));
        let path = self.paths[0].clone();
        self.files.append(bytes, move || {
            let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = work(&mut open) {
                *open = None;
                tracing::warn!(file = %path.display(), %error, "recording pauses");
                has_failed.store(true, Ordering::Release);
            }
        });
    }
}

/// Opens the newest file if it is a recording with room left; its last line may be torn.
fn reopen(newest: &Path, bytes_max: u64) -> io::Result<Option<(File, Resumed)>> {
    let options = File::options().read(true).append(true).to_owned();
    let mut file = match options.open(newest) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut head = String::new();
    let readable = BufReader::new(&file).take(HEADER_BYTES_MAX).read_line(&mut head).is_ok();
    let Some(started) = started_at(&head).filter(|_| readable) else { return Ok(None) };
    if file.metadata()?.len() >= bytes_max {
        return Ok(None);
    }
    let bytes = whole_lines(&mut file)?;
    Ok(Some((file, Resumed { started, bytes })))
}

/// Cuts off a last line that was not written to its end, and returns how long the file is then.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1) as u64;
    if whole < bytes.len() as u64 {
        file.set_len(whole)?;
    }
    Ok(whole)
}
