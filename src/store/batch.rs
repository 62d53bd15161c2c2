//! Defines a batch of changes, and how large it may be.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{Entry, Moment, RowChange};

/// An entry tells a history; what is longer than this is not read, and would crowd out what is.
const ENTRY_BYTES_MAX: usize = 64 * 1024;

/// The largest prompt fits, with what JSON adds to it.
const ROW_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What a row costs beside its text, in memory and on the disk, by and large.
pub(super) const ROW_BYTES_BESIDE: usize = 64;

/// What one decision changed: appended to the journal and applied to the rows in one transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    pub at: Moment,
    pub entries: Vec<Entry>,
    pub rows: Vec<RowChange>,
}

/// All rows, by table and key.
pub type Rows = BTreeMap<(String, String), Value>;

/// The number of a batch in the journal: the first is 1, and there are no gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

impl Ticket {
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Why a batch was not taken; nothing of it is remembered.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("The record cannot keep up: {waiting} batches wait to be written")]
    Full { waiting: usize },
    #[error("Row `{key}` of `{table}` has {bytes} bytes, and {ROW_BYTES_MAX} are allowed")]
    RowTooLarge { table: String, key: String, bytes: usize },
}

/// A batch in the form in which it is written.
#[derive(Debug)]
pub(super) struct Sealed {
    pub(super) at: Moment,
    pub(super) entries: Vec<SealedEntry>,
    pub(super) changes: Vec<SealedChange>,
    /// What it weighs in memory.
    pub(super) bytes: usize,
}

#[derive(Debug)]
pub(super) struct SealedEntry {
    pub(super) kind: String,
    pub(super) agent: Option<String>,
    pub(super) task: Option<String>,
    pub(super) text: String,
    pub(super) data: Option<String>,
}

#[derive(Debug)]
pub(super) struct SealedChange {
    pub(super) table: String,
    pub(super) key: String,
    pub(super) value: Option<String>,
}

impl Batch {
    /// Brings the batch into the form in which it is written: entries are cut, rows never.
    pub(super) fn seal(self) -> Result<Sealed, Refused> {
        let entries: Vec<SealedEntry> = self.entries.into_iter().map(SealedEntry::from).collect();
        let changes: Vec<SealedChange> =
            self.rows.into_iter().map(SealedChange::try_from).collect::<Result<_, _>>()?;
        let bytes = entries.iter().map(SealedEntry::bytes).sum::<usize>()
            + changes.iter().map(SealedChange::bytes).sum::<usize>();
        Ok(Sealed { at: self.at, entries, changes, bytes: bytes + size_of::<Sealed>() })
    }
}

impl From<Entry> for SealedEntry {
    fn from(entry: Entry) -> Self {
        let Entry { kind, agent, task, text, data } = entry;
        let data = (!data.is_null()).then(|| short_data(&data));
        Self { kind, agent: agent.map(String::from), task, text: short_text(text), data }
    }
}

impl SealedEntry {
    fn bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let texts = [&self.agent, &self.task, &self.data].map(length).iter().sum::<usize>();
        texts + self.kind.len() + self.text.len() + size_of::<Self>()
    }
}

impl TryFrom<RowChange> for SealedChange {
    type Error = Refused;

    fn try_from(change: RowChange) -> Result<Self, Refused> {
        let RowChange { table, key, value } = change;
        let value = value.map(|value| value.to_string());
        let sealed = Self { table, key, value };
        match sealed.bytes() {
            bytes if bytes > ROW_BYTES_MAX => {
                Err(Refused::RowTooLarge { table: sealed.table, key: sealed.key, bytes })
            }
            _ => Ok(sealed),
        }
    }
}

impl SealedChange {
    pub(super) fn bytes(&self) -> usize {
        weight(&self.table, &self.key, self.value.as_deref().unwrap_or_default())
    }
}

/// Returns what a row weighs, wherever it is kept.
pub(super) fn weight(table: &str, key: &str, value: &str) -> usize {
    table.len() + key.len() + value.len() + ROW_BYTES_BESIDE
}

/// Cuts a text that is too long, and says so in its place.
fn short_text(text: String) -> String {
    if text.len() <= ENTRY_BYTES_MAX {
        return text;
    }
    let (kept, rest) = text.split_at(text.floor_char_boundary(ENTRY_BYTES_MAX));
    format!("{kept}… ({} bytes left out)", rest.len())
}

/// Leaves out data that is too long: half of a JSON text is none.
fn short_data(data: &Value) -> String {
    let text = data.to_string();
    if text.len() <= ENTRY_BYTES_MAX {
        return text;
    }
    serde_json::json!({ "left_out_bytes": text.len() }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_for_the_story_is_cut_at_a_whole_letter() {
        let text = "ä".repeat(ENTRY_BYTES_MAX);
        let data = Value::from("x".repeat(ENTRY_BYTES_MAX));
        let sealed = SealedEntry::from(Entry { text, data, ..Entry::default() });
        assert!(sealed.text.starts_with("ää"));
        assert!(sealed.text.ends_with(&format!("ä… ({ENTRY_BYTES_MAX} bytes left out)")));
        assert_eq!(sealed.data.unwrap(), r#"{"left_out_bytes":65538}"#);
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        let text = "x".repeat(ENTRY_BYTES_MAX);
        let sealed = SealedEntry::from(Entry { text: text.clone(), ..Entry::default() });
        assert_eq!((sealed.text, sealed.data), (text, None));
    }

    #[test]
    fn a_row_is_never_cut() {
        let row = |bytes: usize| RowChange {
            table: "prompt".into(),
            key: "1".into(),
            value: Some(Value::from("p".repeat(bytes))),
        };
        let sealed = SealedChange::try_from(row(1024 * 1024)).unwrap();
        assert_eq!(sealed.value.unwrap().len(), 1024 * 1024 + 2);
        let refused = SealedChange::try_from(row(ROW_BYTES_MAX)).unwrap_err();
        assert!(refused.to_string().starts_with("Row `1` of `prompt` has 2"), "{refused}");
    }
}
