//! Keeps the rows of one table in memory, and remembers which of them changed.

use std::borrow::Borrow;
use std::collections::btree_map::{Iter, Keys, Values};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::Index;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::RowChange;

/// A row of the record.
pub(super) trait Row: Clone + Debug + Serialize + DeserializeOwned {
    /// The name of its table on disk, which never changes.
    const TABLE: &'static str;

    type Key: Clone + Debug + Ord;

    /// Returns its key; nothing, for a row that is empty.
    fn key(&self) -> Option<Self::Key>;

    /// Returns a key as it is written to disk.
    fn key_on_disk(key: &Self::Key) -> String;
}

/// The rows of one kind that are in memory.
///
/// Whoever takes a row to change it need not say so: the row as it was is kept beside it, and what
/// differs at the end of an event is written.
#[derive(Clone, Debug)]
pub(super) struct Table<R: Row> {
    rows: BTreeMap<R::Key, R>,
    /// Each row that was taken to be changed, as it is on record; nothing, where none is.
    before: BTreeMap<R::Key, Option<R>>,
    /// Rows that had left memory and were read back for one request. They are on record already.
    looked_up: BTreeSet<R::Key>,
}

impl<R: Row> Default for Table<R> {
    fn default() -> Self {
        let (rows, before) = (BTreeMap::new(), BTreeMap::new());
        Self { rows, before, looked_up: BTreeSet::new() }
    }
}

impl<R: Row> Table<R> {
    /// Returns a table of rows that are on record.
    pub(super) fn from_record(rows: Vec<R>) -> Self {
        let rows = rows.into_iter().filter_map(|row| Some((row.key()?, row))).collect();
        Self { rows, ..Self::default() }
    }

    pub(super) fn rows(&self) -> &BTreeMap<R::Key, R> {
        &self.rows
    }

    pub(super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&R>
    where
        R::Key: Borrow<Q>,
    {
        self.rows.get(key)
    }

    pub(super) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        R::Key: Borrow<Q>,
    {
        self.rows.contains_key(key)
    }

    pub(super) fn values(&self) -> Values<'_, R::Key, R> {
        self.rows.values()
    }

    pub(super) fn keys(&self) -> Keys<'_, R::Key, R> {
        self.rows.keys()
    }

    pub(super) fn iter(&self) -> Iter<'_, R::Key, R> {
        self.rows.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns a row to be changed.
    pub(super) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut R>
    where
        R::Key: Borrow<Q>,
    {
        let (owned, row) = self.rows.get_key_value(key)?;
        if !self.before.contains_key::<R::Key>(owned) {
            self.before.insert(owned.clone(), Some(row.clone()));
        }
        self.rows.get_mut(key)
    }

    /// Returns a part of a row that is not on record, to be changed without writing the row.
    pub(super) fn unrecorded<P>(
        &mut self,
        key: &R::Key,
        part: fn(&mut R) -> &mut P,
    ) -> Option<&mut P> {
        self.rows.get_mut(key).map(part)
    }

    /// Adds a row, or puts it in the place of the one that has its key.
    pub(super) fn insert(&mut self, key: R::Key, row: R) {
        self.note_before(&key);
        self.rows.insert(key, row);
    }

    pub(super) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<R>
    where
        R::Key: Borrow<Q>,
    {
        let key = self.rows.get_key_value(key)?.0.clone();
        self.note_before(&key);
        self.looked_up.remove::<R::Key>(&key);
        self.rows.remove::<R::Key>(&key)
    }

    fn note_before(&mut self, key: &R::Key) {
        if !self.before.contains_key(key) {
            self.before.insert(key.clone(), self.rows.get(key).cloned());
        }
    }

    /// Takes in a row that had left memory, for the request that comes next.
    pub(super) fn look_up(&mut self, key: R::Key, row: R) {
        self.looked_up.insert(key.clone());
        self.rows.insert(key, row);
    }

    /// Returns the rows that were read back for one request.
    pub(super) fn looked_up(&self) -> &BTreeSet<R::Key> {
        &self.looked_up
    }

    /// Keeps a row that was read back among those in memory.
    pub(super) fn keep(&mut self, key: &R::Key) {
        if self.looked_up.remove(key) {
            self.before.insert(key.clone(), None);
        }
    }

    /// Lets the rows go that were read back and not kept.
    pub(super) fn drop_looked_up(&mut self) {
        for key in std::mem::take(&mut self.looked_up) {
            self.rows.remove(&key);
        }
    }

    /// Returns the rows that belong to a whole record.
    pub(super) fn recorded(&self) -> Vec<R> {
        let rows = self.rows.iter().filter(|(key, _)| !self.looked_up.contains(key));
        rows.map(|(_, row)| row.clone()).collect()
    }

    /// Says whether a row may have changed since the changes were last taken.
    pub(super) fn may_have_changed(&self) -> bool {
        !self.before.is_empty()
    }

    /// Returns the rows that have changed since the last time.
    pub(super) fn take_changes(&mut self) -> Vec<RowChange> {
        let before = std::mem::take(&mut self.before);
        let changed = before.into_iter().filter_map(|(key, before)| {
            let change = row_change(&key, self.rows.get(&key));
            (change != row_change(&key, before.as_ref())).then_some(change)
        });
        changed.collect()
    }
}

impl<R: Row, Q: Ord + ?Sized> Index<&Q> for Table<R>
where
    R::Key: Borrow<Q>,
{
    type Output = R;

    fn index(&self, key: &Q) -> &R {
        &self.rows[key]
    }
}

impl<'a, R: Row> IntoIterator for &'a Table<R> {
    type Item = (&'a R::Key, &'a R);
    type IntoIter = Iter<'a, R::Key, R>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter()
    }
}

/// Returns a row as it is written; without one, that it is gone.
pub(super) fn row_change<R: Row>(key: &R::Key, row: Option<&R>) -> RowChange {
    let to_json = |row| serde_json::to_value(row).expect("rows are plain data");
    RowChange { table: R::TABLE.to_owned(), key: R::key_on_disk(key), value: row.map(to_json) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Holder, Lock, Moment};

    fn lock(name: &str) -> Lock {
        let holder = Holder { agent: None, task: None, since: Moment(0), until: Moment(9) };
        Lock { name: name.to_owned(), holder, waiting: Vec::new() }
    }

    fn changed(table: &mut Table<Lock>) -> Vec<(String, bool)> {
        table.take_changes().into_iter().map(|row| (row.key, row.value.is_some())).collect()
    }

    #[test]
    fn what_differs_at_the_end_is_written_and_nothing_else() {
        let mut table = Table::from_record(vec![lock("a"), lock("b"), lock("c")]);
        table.get_mut("a").unwrap().holder.until = Moment(10);
        table.get_mut("b").unwrap().holder.until = Moment(10);
        table.get_mut("b").unwrap().holder.until = Moment(9);
        table.remove("c");
        table.insert("d".to_owned(), lock("d"));
        assert!(table.may_have_changed());
        let expected = [("a".to_owned(), true), ("c".to_owned(), false), ("d".to_owned(), true)];
        assert_eq!(changed(&mut table), expected);
        assert!(!table.may_have_changed());
        assert_eq!(changed(&mut table), []);
    }

    #[test]
    fn a_row_that_was_looked_up_is_written_once_it_is_kept() {
        let mut table = Table::from_record(vec![lock("a")]);
        table.look_up("b".to_owned(), lock("b"));
        table.look_up("c".to_owned(), lock("c"));
        assert_eq!(changed(&mut table), [], "it is on record");
        assert_eq!(table.recorded().len(), 1);
        table.keep(&"b".to_owned());
        table.drop_looked_up();
        assert_eq!(changed(&mut table), [("b".to_owned(), true)]);
        assert_eq!(table.keys().map(String::as_str).collect::<Vec<_>>(), ["a", "b"]);
    }
}
