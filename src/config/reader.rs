//! Takes values out of a TOML table and notes everything that does not fit.
//!
//! A serde structure stops at the first wrong key. Here every key of every table is looked at, so
//! that one run of `wheelhouse config check` tells all that is wrong.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::problem::{Problems, suggest};

/// The rows or columns that a terminal may have, as `Size` clamps them.
const LENGTHS: RangeInclusive<u32> = 2..=1000;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Located<T> {
    pub(super) value: T,
    pub(super) span: Range<usize>,
}

/// Reads one table, key by key.
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

    /// Returns the text under the key.
    pub(super) fn text(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
    ) -> Option<Located<String>> {
        let value = self.take(key)?;
        let text = value.get_ref().as_str();
        self.expect(key, value, "a string", text, problems)
            .map(|text| Located { value: text.to_owned(), span: value.span() })
    }

    /// Returns the text under the key, and notes an error where there is none.
    pub(super) fn required_text(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
    ) -> Option<Located<String>> {
        if !self.has(key) {
            self.asked.push(key);
            let hint = format!("Add `{key} = \"…\"`");
            problems.error(&self.span, &format!("No `{key}`{}", self.within()), Some(&hint));
            return None;
        }
        self.text(key, problems)
    }

    /// Returns the whole number under the key, if it lies in the range.
    pub(super) fn number(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u32>,
        problems: &mut Problems,
    ) -> Option<u32> {
        let value = self.take(key)?;
        let digits = value.get_ref().as_integer();
        let digits = self.expect(key, value, "a whole number", digits, problems)?;
        let number = i64::from_str_radix(digits.as_str(), digits.radix()).ok();
        let fitting =
            number.and_then(|number| u32::try_from(number).ok()).filter(|n| range.contains(n));
        if fitting.is_none() {
            let message = format!("`{key}`{} is out of range", self.within());
            let hint = format!("Use a number from {} to {}", range.start(), range.end());
            problems.error(&value.span(), &message, Some(&hint));
        }
        fitting
    }

    /// Returns the number under the key, which may have two decimals, in hundredths.
    pub(super) fn hundredths(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u32>,
        problems: &mut Problems,
    ) -> Option<u32> {
        let value = self.take(key)?;
        let whole = value.get_ref().as_integer().map(|whole| whole.as_str().to_owned());
        let digits = whole.or_else(|| Some(value.get_ref().as_float()?.as_str().to_owned()));
        let digits = self.expect(key, value, "a number", digits, problems)?;
        let number = hundredths(&digits).and_then(|number| u32::try_from(number).ok());
        let fitting = number.filter(|number| range.contains(number));
        if fitting.is_none() {
            let message = format!("`{key}`{} is out of range", self.within());
            let hint = format!("Use a number from 0.01 to {}", range.end() / 100);
            problems.error(&value.span(), &message, Some(&hint));
        }
        fitting
    }

    /// Returns the `true` or `false` under the key.
    pub(super) fn switch(&mut self, key: &'static str, problems: &mut Problems) -> Option<bool> {
        let value = self.take(key)?;
        self.expect(key, value, "true or false", value.get_ref().as_bool(), problems)
    }

    /// Returns the number of rows or columns under the key.
    pub(super) fn length(&mut self, key: &'static str, problems: &mut Problems) -> Option<u16> {
        let length = self.number(key, LENGTHS, problems);
        length.and_then(|length| u16::try_from(length).ok())
    }

    /// Returns the one of the choices that the text under the key names.
    pub(super) fn choice<T: Copy + Display>(
        &mut self,
        key: &'static str,
        choices: &[T],
        problems: &mut Problems,
    ) -> Option<T> {
        let text = self.text(key, problems)?;
        let names: Vec<String> = choices.iter().map(T::to_string).collect();
        let found = names.iter().position(|name| *name == text.value);
        if found.is_none() {
            let message = format!("Unknown {key} `{}`{}", text.value, self.within());
            let hint = suggest(&text.value, names.iter().map(String::as_str));
            problems.error(&text.span, &message, Some(&hint));
        }
        found.map(|index| choices[index])
    }

    /// Returns the texts of the list under the key.
    pub(super) fn texts(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
    ) -> Option<Located<Vec<Located<String>>>> {
        let list = self.take(key)?;
        let items = list.get_ref().as_array();
        let items = self.expect(key, list, "a list of strings", items, problems)?;
        let mut texts = Vec::new();
        for item in items {
            let text =
                self.expect(key, item, "a list of strings", item.get_ref().as_str(), problems);
            texts.push(Located { value: text?.to_owned(), span: item.span() });
        }
        Some(Located { value: texts, span: list.span() })
    }

    /// Returns the texts of the table under the key, by their names.
    pub(super) fn named_texts(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
    ) -> Option<BTreeMap<String, Located<String>>> {
        let table = self.take(key)?;
        let entries = table.get_ref().as_table();
        let entries = self.expect(key, table, "a table of strings", entries, problems)?;
        let mut texts = BTreeMap::new();
        for (name, value) in entries {
            let text = value.get_ref().as_str();
            if let Some(text) = self.expect(key, value, "a table of strings", text, problems) {
                let text = Located { value: text.to_owned(), span: name.span() };
                texts.insert(name.get_ref().to_string(), text);
            }
        }
        Some(texts)
    }

    /// Returns the table under the key.
    pub(super) fn table(&mut self, key: &'static str, problems: &mut Problems) -> Option<Self> {
        let value = self.take(key)?;
        let table = self.expect(key, value, "a table", value.get_ref().as_table(), problems)?;
        let place = format!("[{}]", self.path_to(key));
        Some(Reader { place, span: value.span(), table, asked: Vec::new() })
    }

    /// Returns the tables that the table under the key holds, with their names: `[cli.NAME]`.
    pub(super) fn named_tables(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
    ) -> Vec<(Located<String>, Self)> {
        let Some(outer) = self.table(key, problems) else { return Vec::new() };
        let mut tables = Vec::new();
        for (name, value) in outer.table {
            let shown = format!("{key}.{}", name.get_ref());
            let inner = value.get_ref().as_table();
            if let Some(table) = self.expect(&shown, value, "a table", inner, problems) {
                let reader = Reader {
                    place: format!("[{shown}]"),
                    span: value.span(),
                    table,
                    asked: Vec::new(),
                };
                tables.push((located_key(name), reader));
            }
        }
        tables
    }

    /// Returns the tables of the list under the key: `[[team.NAME.agents]]`.
    pub(super) fn listed_tables(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
    ) -> Vec<Self> {
        let Some(list) = self.take(key) else { return Vec::new() };
        let items = list.get_ref().as_array();
        let Some(items) = self.expect(key, list, "a list of tables", items, problems) else {
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            let inner = item.get_ref().as_table();
            if let Some(table) = self.expect(key, item, "a list of tables", inner, problems) {
                let place = format!("[[{}]]", self.path_to(key));
                tables.push(Reader { place, span: item.span(), table, asked: Vec::new() });
            }
        }
        tables
    }

    /// Returns where the value of the key stands, or the table where there is none.
    pub(super) fn span_of(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or(self.span.clone(), Spanned::span)
    }

    /// Notes every key that nobody asked for.
    pub(super) fn finish(self, problems: &mut Problems) {
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if !self.asked.contains(&name) && !problems.is_full() {
                let message = format!("Unknown key `{name}`{}", self.within());
                let hint = suggest(name, self.asked.iter().copied());
                problems.error(&key.span(), &message, Some(&hint));
            }
        }
    }

    fn take(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.asked.push(key);
        self.table.get(key)
    }

    /// Returns the value if it has the wanted type, and notes an error where it has another.
    fn expect<V>(
        &self,
        key: &str,
        found: &Spanned<DeValue<'_>>,
        wanted: &str,
        value: Option<V>,
        problems: &mut Problems,
    ) -> Option<V> {
        if value.is_none() {
            let (within, is) = (self.within(), found.get_ref().type_str());
            let message = format!("`{key}`{within} must be {wanted}, and is of type `{is}`");
            problems.error(&found.span(), &message, None);
        }
        value
    }

    fn path_to(&self, key: &str) -> String {
        let own = self.place.trim_matches(['[', ']']);
        if own.is_empty() { key.to_owned() } else { format!("{own}.{key}") }
    }
}

/// Returns a number with up to two decimals as a whole one.
pub(super) fn hundredths(digits: &str) -> Option<u64> {
    let (whole, decimals) = digits.trim().split_once('.').unwrap_or((digits.trim(), ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = !whole.is_empty() && whole.len() <= 9 && decimals.len() <= 2;
    let text = format!("{whole}{decimals:0<2}");
    text.parse().ok().filter(|_| fits && is_number(&text))
}

fn located_key(key: &Spanned<DeString<'_>>) -> Located<String> {
    Located { value: key.get_ref().to_string(), span: key.span() }
}
