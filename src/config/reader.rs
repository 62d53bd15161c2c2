//! Goes through the tables of a file: which there are, what stands in each, and which keys nobody knows.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::deserialize::{RawTable, ReadTable, read, unknown_key};
use super::problem::Problems;

/// Returns the tables of a text, if it is TOML, and notes all that is not.
///
/// What could be made of a broken text is a guess; checking a guess would only mislead.
pub(super) fn parse<'t>(text: &'t str, problems: &mut Problems) -> Option<Spanned<DeTable<'t>>> {
    let (table, faults) = DeTable::parse_recoverable(text);
    for fault in &faults {
        let span = fault.span().unwrap_or_default();
        problems.error(&span, &format!("Not TOML: {}", fault.message()), None);
    }
    faults.is_empty().then_some(table)
}

/// One table of a file.
pub(super) struct Reader<'t> {
    /// The table as it is written, such as `[pane]`; empty for the file itself.
    place: String,
    span: Range<usize>,
    table: &'t DeTable<'t>,
    /// The keys that a caller asked for, and so the valid ones.
    asked: Vec<&'static str>,
}

impl<'t> Reader<'t> {
    pub(super) fn of_file(table: &'t DeTable<'t>) -> Self {
        Self { place: String::new(), span: 0..0, table, asked: Vec::new() }
    }

    /// Returns where the table begins.
    pub(super) fn span(&self) -> &Range<usize> {
        &self.span
    }

    /// Returns ` in [pane]`, for the end of a message.
    pub(super) fn within(&self) -> String {
        if self.place.is_empty() { String::new() } else { format!(" in `{}`", self.place) }
    }

    /// Says whether the table has the key, of whatever type.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Reads what a struct says of the table. Several may read the same table.
    pub(super) fn part<T: Deserialize<'t>>(&mut self, problems: &mut Problems) -> Option<T> {
        let read = self.part_with_stand_ins(problems);
        read.value.filter(|_| read.is_whole)
    }

    /// Reads what a struct says of the table, and what stands in for keys that it must have, so that
    /// the rest of it can be looked at.
    pub(super) fn part_with_stand_ins<T: Deserialize<'t>>(
        &mut self,
        problems: &mut Problems,
    ) -> ReadTable<T> {
        self.read(None, problems)
    }

    /// Reads the table as a struct, in which the fields hold that the table lacks.
    pub(super) fn part_over<T: Deserialize<'t>>(
        &mut self,
        below: &Map<String, Value>,
        problems: &mut Problems,
    ) -> Option<T> {
        self.read(Some(below), problems).value
    }

    fn read<T: Deserialize<'t>>(
        &mut self,
        below: Option<&Map<String, Value>>,
        problems: &mut Problems,
    ) -> ReadTable<T> {
        let Self { place, span, table, .. } = &*self;
        let read = read::<T>(RawTable { table, span, place, below }, problems);
        self.asked.extend(read.keys);
        read
    }

    /// Returns the table under the key.
    pub(super) fn table(&mut self, key: &'static str, problems: &mut Problems) -> Option<Self> {
        self.asked.push(key);
        let place = format!("[{}]", self.path_to(key));
        self.inner((key, "a table"), self.table.get(key)?, place, problems)
    }

    /// Returns the tables that the table under the key holds, with their names: `[cli.NAME]`.
    pub(super) fn named_tables(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
    ) -> Vec<(Spanned<String>, Self)> {
        let Some(outer) = self.table(key, problems) else { return Vec::new() };
        let named = |(name, value): (&'t Spanned<DeString<'t>>, &'t Spanned<DeValue<'t>>)| {
            let shown = format!("{key}.{}", name.get_ref());
            let place = format!("[{shown}]");
            let table = self.inner((&shown, "a table"), value, place, problems)?;
            Some((Spanned::new(name.span(), name.get_ref().to_string()), table))
        };
        outer.table.iter().filter_map(named).collect()
    }

    /// Returns the tables of the list under the key: `[[team.NAME.agents]]`.
    pub(super) fn listed_tables(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
    ) -> Vec<Self> {
        self.asked.push(key);
        let wanted = (key, "a list of tables");
        let Some(list) = self.table.get(key) else { return Vec::new() };
        let Some(items) = list.get_ref().as_array() else {
            self.wrong_type(wanted, list, problems);
            return Vec::new();
        };
        let place = format!("[[{}]]", self.path_to(key));
        let table = |item| self.inner(wanted, item, place.clone(), problems);
        items.iter().filter_map(table).collect()
    }

    /// Returns where the value of the key stands, or the table where there is none.
    pub(super) fn span_of(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or(self.span.clone(), Spanned::span)
    }

    /// Returns the texts of the list under the key, and where each stands.
    pub(super) fn items(&self, key: &str) -> Vec<(&'t str, Range<usize>)> {
        let list = self.table.get(key).and_then(|list| list.get_ref().as_array());
        let items = list.into_iter().flat_map(|list| list.iter());
        items.filter_map(|item| Some((item.get_ref().as_str()?, item.span()))).collect()
    }

    /// Returns those of the keys that were asked for which the table has.
    pub(super) fn present(&self) -> impl Iterator<Item = &'static str> {
        self.asked.iter().copied().filter(|key| self.has(key))
    }

    /// Returns the names in the table under the key, and where each stands.
    pub(super) fn names(&self, key: &str) -> impl Iterator<Item = (&'t str, Range<usize>)> {
        let table = self.table.get(key).and_then(|table| table.get_ref().as_table());
        let names = table.into_iter().flat_map(|table| table.iter());
        names.map(|(name, _)| (name.get_ref().as_ref(), name.span()))
    }

    /// Returns where the value of a key stands in the table under another.
    pub(super) fn span_of_inner(&self, table: &str, key: &str) -> Range<usize> {
        let inner = self.table.get(table).and_then(|table| table.get_ref().as_table());
        let value = inner.and_then(|table| table.get(key));
        value.map_or_else(|| self.span_of(table), Spanned::span)
    }

    /// Returns how long the list under the key is.
    pub(super) fn length(&self, key: &str) -> usize {
        self.table.get(key).and_then(|list| list.get_ref().as_array()).map_or(0, |list| list.len())
    }

    /// Notes every key that nobody asked for.
    pub(super) fn finish(self, problems: &mut Problems) {
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if !self.asked.contains(&name) {
                unknown_key(key, &self.within(), &self.asked, problems);
            }
        }
    }

    /// Returns the value if it is a table, and notes an error where it is not.
    fn inner(
        &self,
        wanted: (&str, &str),
        value: &'t Spanned<DeValue<'t>>,
        place: String,
        problems: &mut Problems,
    ) -> Option<Self> {
        let Some(table) = value.get_ref().as_table() else {
            self.wrong_type(wanted, value, problems);
            return None;
        };
        Some(Reader { place, span: value.span(), table, asked: Vec::new() })
    }

    fn wrong_type(
        &self,
        (key, wanted): (&str, &str),
        found: &Spanned<DeValue<'_>>,
        problems: &mut Problems,
    ) {
        let (within, is) = (self.within(), found.get_ref().type_str());
        let message = format!("`{key}`{within} must be {wanted}, and is of type `{is}`");
        problems.error(&found.span(), &message, None);
    }

    fn path_to(&self, key: &str) -> String {
        let own = self.place.trim_matches(['[', ']']);
        if own.is_empty() { key.to_owned() } else { format!("{own}.{key}") }
    }
}
