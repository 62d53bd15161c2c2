//! What is wrong in a config file, and where.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::plain;

/// Problems reported for one file; a file with more is not a config file.
const PROBLEMS_MAX: usize = 100;
/// The longest message; a longer one repeats a text from the file that was no word at all.
const TEXT_CHARS_MAX: usize = 500;
/// The longest word that is compared with others; comparing costs the product of the lengths.
const WORD_BYTES_MAX: usize = 64;

/// One thing that is wrong, or that will not do what its writer expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    #[serde(serialize_with = "lossy")]
    pub file: PathBuf,
    /// From 1; absent when the whole file is meant.
    pub line: Option<usize>,
    /// From 1, in characters.
    pub column: Option<usize>,
    pub message: String,
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", plain(&self.file.to_string_lossy()))?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Writes a path that need not be UTF-8, which JSON must be.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// Everything that is wrong in the config files.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Never empty.
    pub problems: Vec<Problem>,
    /// What would be worth a look even if the problems were gone.
    pub warnings: Vec<Problem>,
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            write!(f, "{gap}error: {problem}")?;
        }
        Ok(())
    }
}

/// Gathers what is found in one file while it is read.
pub(super) struct Problems<'t> {
    file: &'t Path,
    text: &'t str,
    pub(super) errors: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    /// Patterns are compiled to see whether they can be: most of the cost of reading a file.
    pub(super) tries_patterns: bool,
}

impl<'t> Problems<'t> {
    pub(super) fn new(file: &'t Path, text: &'t str) -> Self {
        Self { file, text, errors: Vec::new(), warnings: Vec::new(), tries_patterns: true }
    }

    /// Notes an error at the bytes of the span.
    pub(super) fn error(&mut self, span: &Range<usize>, message: &str, hint: Option<&str>) {
        if !self.is_full() {
            self.errors.push(self.at(span, message, hint));
        }
    }

    /// Notes something that works, though not as its writer may expect.
    pub(super) fn warning(&mut self, span: &Range<usize>, message: &str, hint: Option<&str>) {
        if self.warnings.len() < PROBLEMS_MAX {
            self.warnings.push(self.at(span, message, hint));
        }
    }

    /// Says whether another error would be dropped, so that nobody need search for a good hint.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= PROBLEMS_MAX
    }

    /// Returns the name of the file and the line of the span: `wheelhouse.toml:12`.
    pub(super) fn place(&self, span: &Range<usize>) -> String {
        let at = self.at(span, "", None);
        let name = at.file.file_name().unwrap_or(at.file.as_os_str()).to_string_lossy();
        format!("{}:{}", plain(&name), at.line.unwrap_or_default())
    }

    fn at(&self, span: &Range<usize>, message: &str, hint: Option<&str>) -> Problem {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Problem {
            file: self.file.to_path_buf(),
            line: Some(before.matches('\n').count() + 1),
            column: Some(before[line_start..].chars().count() + 1),
            message: short(message),
            hint: hint.map(short),
        }
    }
}

/// Returns the text, cut where nobody would read on.
fn short(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", plain(&text[..end])),
        None => plain(text),
    }
}

/// Returns how far the words are apart; a word that is too long to be one is far from all.
pub(super) fn distance(word: &str, known: &str) -> usize {
    if word.len() > WORD_BYTES_MAX { usize::MAX } else { strsim::damerau_levenshtein(word, known) }
}

/// Returns a hint for a word that is not one of the known ones: the nearest, or all of them.
pub fn suggest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    let nearest = known.iter().min_by_key(|candidate| distance(word, candidate));
    match nearest {
        // A third of the letters may differ: more is another word.
        Some(nearest) if distance(word, nearest) <= word.chars().count().max(3) / 3 => {
            format!("Did you mean `{nearest}`?")
        }
        _ => format!("Use one of {}", quoted(&known)),
    }
}

/// Returns the words in backticks, with commas between them.
pub(super) fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_knows_its_line_and_its_column_in_characters() {
        let text = "a = 1\nö = 2\n";
        let mut problems = Problems::new(Path::new("f.toml"), text);
        problems.error(&(9..10), "Wrong\x1b", Some("Right"));
        assert_eq!(problems.errors[0].to_string(), "f.toml:2:3: Wrong\\u{1b}\nhint: Right");
    }

    #[test]
    fn the_nearest_word_is_offered_and_else_all() {
        let known = ["scrollback", "min_cols"];
        assert_eq!(suggest("scrolback", known), "Did you mean `scrollback`?");
        assert_eq!(suggest("zzz", known), "Use one of `min_cols`, `scrollback`");
    }

    #[test]
    fn a_hopeless_file_gives_a_bounded_list() {
        let mut problems = Problems::new(Path::new("f"), "");
        (0..1000).for_each(|_| problems.error(&(0..0), &"ö".repeat(1000), None));
        assert_eq!(problems.errors.len(), PROBLEMS_MAX);
        assert_eq!(problems.errors[0].message.chars().count(), TEXT_CHARS_MAX + 1);
    }
}
