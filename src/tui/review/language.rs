//! What the languages look like, from `assets/languages.toml`: enough to colour a line, and no more.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

const TABLE: &str = include_str!("../../../assets/languages.toml");

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let table: Table = toml::from_str(TABLE).expect("a test reads the same table");
    table.language
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    language: Vec<Language>,
}

/// One language, or several that look alike.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Language {
    /// Ends of names, without the dot, or whole names.
    names: Vec<String>,
    #[serde(default, deserialize_with = "words")]
    keywords: BTreeSet<String>,
    /// From here to the end of the line.
    #[serde(default)]
    pub line_comments: Vec<String>,
    /// From the first to the second, over lines.
    #[serde(default)]
    pub block_comment: Option<(String, String)>,
    /// Each begins and ends a text within a line.
    #[serde(default = "usual_quotes")]
    pub quotes: Vec<String>,
    /// Each begins and ends a text over lines.
    #[serde(default)]
    pub long_quotes: Vec<String>,
    /// A single quote may begin a name (a lifetime, a label) instead of a text.
    #[serde(default)]
    pub has_ticks: bool,
    #[serde(default)]
    ignores_case: bool,
}

impl Language {
    pub(super) fn is_keyword(&self, word: &str) -> bool {
        let is_lower = |word: &str| self.keywords.contains(&word.to_ascii_lowercase());
        self.keywords.contains(word) || (self.ignores_case && is_lower(word))
    }
}

fn words<'de, D: serde::Deserializer<'de>>(input: D) -> Result<BTreeSet<String>, D::Error> {
    let text = String::deserialize(input)?;
    Ok(text.split_whitespace().map(ToOwned::to_owned).collect())
}

fn usual_quotes() -> Vec<String> {
    vec!["\"".to_owned(), "'".to_owned()]
}

/// Returns how a file is read, by its name; nothing for one that is only text.
pub(super) fn of(path: &str) -> Option<&'static Language> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = name.rsplit_once('.').map_or(name, |(_, end)| end).to_ascii_lowercase();
    LANGUAGES.iter().find(|language| language.names.iter().any(|own| *own == name || *own == end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_end_or_its_whole_name() {
        assert!(of("src/main.rs").is_some_and(|language| language.has_ticks));
        assert_eq!(of("a/Dockerfile"), of("x.sh"));
        assert_eq!(of("A.PY"), of("b.pyi"));
        assert!(of("README").is_none() && of("notes.txt").is_none() && of("").is_none());
        assert!(
            of("a.sql").is_some_and(|sql| sql.is_keyword("SELECT") && sql.is_keyword("select"))
        );
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut seen = BTreeSet::new();
        for name in LANGUAGES.iter().flat_map(|language| &language.names) {
            assert!(seen.insert(name), "{name}");
        }
    }
}
