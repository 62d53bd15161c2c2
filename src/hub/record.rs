//! The record on disk: written whole and in one step, never half.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::HubError;
use crate::engine::Record;
use crate::model::Moment;

/// Reads the record, or returns an empty one where there is none.
///
/// A record that cannot be read is moved aside and kept: the keepers that live are found by their
/// locks, and a person may still want what it says.
pub(super) fn load(path: &Path, now: Moment) -> Result<Record, HubError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Record::default()),
        Err(source) => return Err(HubError::ReadRecord { path: path.to_owned(), source }),
    };
    if let Some(found) = version(&text).filter(|found| *found > Record::VERSION) {
        return Err(HubError::NewerRecord { path: path.to_owned(), found });
    }
    match serde_json::from_slice(&text) {
        Ok(record) => Ok(record),
        Err(error) => {
            let aside = aside(path, now);
            tracing::error!(%error, kept = %aside.display(), "the record cannot be read");
            let fail = |source| HubError::ReadRecord { path: path.to_owned(), source };
            fs::rename(path, &aside).map_err(fail)?;
            Ok(Record::default())
        }
    }
}

/// Writes the record so that a crash or a power cut leaves either the old one or the new one.
pub(super) fn save(path: &Path, record: &Record) -> io::Result<()> {
    let text = serde_json::to_vec_pretty(record).map_err(io::Error::other)?;
    let draft = path.with_extension("json.new");
    let mut file =
        File::options().create(true).truncate(true).write(true).mode(0o600).open(&draft)?;
    file.write_all(&text)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    File::open(directory)?.sync_all()
}

fn version(text: &[u8]) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_slice(text).ok()?;
    value.get("version")?.as_u64()?.try_into().ok()
}

fn aside(path: &Path, now: Moment) -> PathBuf {
    path.with_extension(format!("json.unreadable-{}", now.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_loaded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("registry.json");
        assert_eq!(load(&path, Moment(1)).unwrap(), Record::default());
        let record = Record { going_down: true, ..Record::default() };
        save(&path, &record).unwrap();
        assert_eq!(load(&path, Moment(1)).unwrap(), record);
    }

    #[test]
    fn an_unreadable_record_is_kept_aside() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("registry.json");
        fs::write(&path, "{ half").unwrap();
        assert_eq!(load(&path, Moment(7)).unwrap(), Record::default());
        let kept = directory.path().join("registry.json.unreadable-7");
        assert_eq!(fs::read_to_string(kept).unwrap(), "{ half");
    }

    #[test]
    fn a_newer_record_is_refused_and_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("registry.json");
        let newer = r#"{"version": 99, "more": true}"#;
        fs::write(&path, newer).unwrap();
        assert!(matches!(load(&path, Moment(1)), Err(HubError::NewerRecord { found: 99, .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    }
}
