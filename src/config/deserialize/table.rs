//! Reads one table again and again, until nothing more is wrong with it.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use toml::Spanned;
use toml::de::{DeString, DeTable};

use super::fault::ValueFault;
use super::key_path::KeyPath;
use super::reading::Reading;
use super::value::{Origin, Value};
use crate::config::problem::{Problems, suggest};

/// A table to read, and what is known of it.
#[derive(Clone, Copy)]
pub(in crate::config) struct RawTable<'s, 'de> {
    pub(in crate::config) table: &'de DeTable<'de>,
    pub(in crate::config) span: &'s Range<usize>,
    /// The table as it is written, such as `[pane]`; empty for the file itself.
    pub(in crate::config) place: &'s str,
    /// What holds where the table says nothing.
    pub(in crate::config) below: Option<&'s Map<String, Json>>,
}

/// What came of a table.
pub(in crate::config) struct ReadTable<T> {
    /// Nothing, if something is so wrong that nothing can stand in for it.
    pub(in crate::config) value: Option<T>,
    /// Nothing stands in for a key that is missing or wrong.
    pub(in crate::config) is_whole: bool,
    /// The keys that the table may have.
    pub(in crate::config) keys: &'static [&'static str],
}

/// Reads a table, and notes all that is wrong with it but keys that are unknown: of its own, another
/// struct may know them.
pub(in crate::config) fn read<'de, T: Deserialize<'de>>(
    source: RawTable<'_, 'de>,
    problems: &mut Problems<'_>,
) -> ReadTable<T> {
    let reading = Reading::new(problems);
    let place = KeyPath::Table(source.place);
    let value = loop {
        let marks = reading.marks();
        let root = Value { reading: &reading, place: &place, origin: Origin::Root(source) };
        match T::deserialize(root) {
            Ok(value) => break Some(value),
            Err(ValueFault::Again) if reading.marks() > marks => {}
            Err(ValueFault::Again | ValueFault::Broken) => break None,
            Err(fault) => {
                reading.tell(&fault, &place, source.span);
                break None;
            }
        }
    };
    let is_whole = !reading.lacks(source.table);
    ReadTable { value, is_whole, keys: reading.keys.get() }
}

/// Notes a key that nobody knows, with the nearest one that is known.
pub(in crate::config) fn unknown_key(
    key: &Spanned<DeString<'_>>,
    within: &str,
    known: &[&str],
    problems: &mut Problems<'_>,
) {
    if !problems.is_full() {
        let name = key.get_ref().as_ref();
        let hint = suggest(name, known.iter().copied());
        problems.error(&key.span(), &format!("Unknown key `{name}`{within}"), Some(&hint));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        flag: bool,
        #[serde(default)]
        rows: Vec<Row>,
        #[serde(default)]
        counts: BTreeMap<Color, u8>,
        size: Option<u8>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Row {
        name: String,
        color: Color,
        #[serde(default)]
        words: Vec<String>,
    }

    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Color {
        Red,
        Blue,
    }

    fn outer(text: &str, below: Option<&Map<String, Json>>) -> (ReadTable<Outer>, String) {
        let table = DeTable::parse(text).unwrap();
        let mut problems = Problems::new(Path::new("f"), text);
        let table = RawTable { table: table.get_ref(), span: &(0..0), place: "[outer]", below };
        let read = read(table, &mut problems);
        let told: Vec<String> = problems.errors.iter().map(ToString::to_string).collect();
        (read, told.join("\n"))
    }

    #[test]
    fn all_that_is_wrong_is_told_once_each_at_its_place() {
        let text = "flag = 1\nsize = 256\n[counts]\nred = 'x'\ngreen = 1\nblue = 2\n\
            [[rows]]\nname = 1\ncolour = 'red'\n[[rows]]\nname = 'good'\ncolor = 'blue'\n\
            [[rows]]\nname = 'n'\ncolor = 'bleu'\nwords = ['a', 1, 'b', 2]\n";
        let (read, told) = outer(text, None);
        insta::assert_snapshot!(told, @r#"
        f:5:1: Unknown key `green` in `[outer.counts]`
        hint: Use one of `blue`, `red`
        f:4:7: `counts` in `[outer]` must be a table of whole numbers, and is of type `string`
        f:1:8: `flag` in `[outer]` must be true or false, and is of type `integer`
        f:9:1: Unknown key `colour` in `[[outer.rows]]`
        hint: Did you mean `color`?
        f:8:8: `name` in `[[outer.rows]]` must be a string, and is of type `integer`
        f:7:1: No `color` in `[[outer.rows]]`
        hint: Add `color = "…"`
        f:15:9: Unknown color `bleu` in `[[outer.rows]]`
        hint: Did you mean `blue`?
        f:16:15: `words` in `[[outer.rows]]` must be a list of strings, and is of type `integer`
        f:16:23: `words` in `[[outer.rows]]` must be a list of strings, and is of type `integer`
        f:2:8: `size` in `[outer]` is out of range
        "#);
        let value = read.value.unwrap();
        assert!(!read.is_whole, "nothing but a word stands in for the flag");
        assert_eq!(value.rows.len(), 1);
        assert_eq!(value.rows[0].name, "good");
        assert_eq!(value.counts, BTreeMap::from([(Color::Blue, 2)]));
        assert_eq!(value.size, None);
    }

    #[test]
    fn a_wrong_type_is_told_with_what_is_wanted_inside_of_it() {
        let text = "flag = true\nrows = 1\n";
        let told = outer(text, None).1;
        assert_eq!(
            told,
            "f:2:8: `rows` in `[outer]` must be a list of tables, and is of type `integer`"
        );
        let text = "flag = true\n[[rows]]\nname = 'a'\ncolor = 'red'\nwords = 'b'\n";
        let told = outer(text, None).1;
        let expected =
            "`words` in `[[outer.rows]]` must be a list of strings, and is of type `string`";
        assert_eq!(told, format!("f:5:9: {expected}"));
    }

    #[test]
    fn what_holds_below_stays_where_the_table_says_nothing_or_nonsense() {
        let below = json!({ "flag": true, "size": 7, "counts": { "red": 1 } });
        let (read, told) = outer("size = 'big'\n", below.as_object());
        assert_eq!(
            told,
            "f:1:8: `size` in `[outer]` must be a whole number, and is of type `string`"
        );
        assert_eq!(read.value.map(|value| (value.flag, value.size)), Some((true, Some(7))));
        let (read, told) = outer("size = 8\n[counts]\nblue = 2\n", below.as_object());
        assert_eq!((told.as_str(), read.is_whole), ("", true));
        let value = read.value.unwrap();
        assert_eq!((value.size, value.counts), (Some(8), BTreeMap::from([(Color::Blue, 2)])));
    }
}
