//! Opens the record, and takes over the one of older versions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::file_writer::Files;
use crate::config::Paths;
use crate::engine::Record;
use crate::hub::HubError;
use crate::hub::inbox::Inbox;
use crate::model::{Entry, Moment};
use crate::store::{Batch, Outcome, Store};

/// Opens the record, or begins one, and returns what it says.
///
/// Whoever calls it holds the hub's lock: nobody else has the record open for writing.
pub(in crate::hub) async fn open(
    paths: &Paths,
    files: &Files,
    inbox: &mut Inbox,
    now: Moment,
) -> Result<(Store, Record), HubError> {
    let outcomes = inbox.outcomes();
    // Where nobody listens any more, the hub has ended.
    let tell = move |outcome| drop(outcomes.send(outcome));
    // What a file says is on the disk before the event that relies on it.
    let files = files.clone();
    let (store, rows) = Store::open_after(&paths.record(), move || files.finish(), tell)?;
    let registry = paths.registry();
    if !rows.is_empty() {
        set_aside(&registry, "imported")?;
        let path = paths.record();
        let record =
            Record::from_rows(&rows).map_err(|source| HubError::UnknownRow { path, source })?;
        return Ok((store, record));
    }
    let Some(record) = read_registry(&registry, now)? else {
        return Ok((store, Record::default()));
    };
    let entry = Entry::new("record.imported", format!("from {}", registry.display()));
    let batch = Batch { at: now, entries: vec![entry], rows: record.rows() };
    import(&store, batch, inbox)
        .await
        .map_err(|reason| HubError::Import { path: registry.clone(), reason })?;
    set_aside(&registry, "imported")?;
    Ok((store, record))
}

/// Makes a batch durable before anything else happens.
async fn import(store: &Store, batch: Batch, inbox: &mut Inbox) -> Result<(), String> {
    store.submit(batch).map_err(|refused| refused.to_string())?;
    match inbox.next_outcome().await {
        Some(Outcome::Committed(_) | Outcome::Healed) => Ok(()),
        Some(Outcome::Failing { reason }) => Err(reason),
        None => Err("nobody writes it".to_owned()),
    }
}

/// Reads the record of an older version, where there is one.
///
/// One that cannot be read is moved aside and kept: the keepers that live are found by their locks,
/// and a person may still want what it says.
fn read_registry(path: &Path, now: Moment) -> Result<Option<Record>, HubError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(HubError::ReadRecord { path: path.to_owned(), source }),
    };
    if let Some(found) = version(&text).filter(|found| *found > Record::VERSION) {
        return Err(HubError::NewerRecord { path: path.to_owned(), found });
    }
    match serde_json::from_slice(&text) {
        Ok(record) => Ok(Some(record)),
        Err(error) => {
            tracing::error!(%error, path = %path.display(), "the old record cannot be read");
            set_aside(path, &format!("unreadable-{}", now.0))?;
            Ok(None)
        }
    }
}

fn version(text: &[u8]) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_slice(text).ok()?;
    value.get("version")?.as_u64()?.try_into().ok()
}

/// Renames a file that is done with, if it is there; nothing that bears the name already is lost.
fn set_aside(path: &Path, word: &str) -> Result<(), HubError> {
    let names = std::iter::once(word.to_owned());
    let names = names.chain((2..).map(|number| format!("{word}-{number}")));
    let mut free = names.map(|name| path.with_extension(format!("json.{name}")));
    let aside: PathBuf = free.find(|aside| !aside.exists()).unwrap_or_default();
    match fs::rename(path, aside) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(HubError::ReadRecord { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_record_is_kept_aside() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("registry.json");
        assert_eq!(read_registry(&path, Moment(7)).unwrap(), None);
        for kept in ["registry.json.unreadable-7", "registry.json.unreadable-7-2"] {
            fs::write(&path, "{ half").unwrap();
            assert_eq!(read_registry(&path, Moment(7)).unwrap(), None);
            assert_eq!(fs::read_to_string(directory.path().join(kept)).unwrap(), "{ half");
        }
    }

    #[test]
    fn a_newer_record_is_refused_and_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("registry.json");
        let newer = r#"{"version": 99, "more": true}"#;
        fs::write(&path, newer).unwrap();
        let read = read_registry(&path, Moment(1));
        assert!(matches!(read, Err(HubError::NewerRecord { found: 99, .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    }
}
