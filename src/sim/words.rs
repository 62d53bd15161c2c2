//! The words of one line of a script, and what can be wrong with them.

use std::collections::VecDeque;
use std::time::Duration;

/// No script waits longer; a longer time is a slip of the pen.
const TIME_MAX: Duration = Duration::from_hours(24);
/// A word that is less like another than this (1 is the same) was hardly meant for it.
const LIKENESS_MIN: f64 = 0.5;

/// Says what is wrong with a script, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Line {line} of the script: {fault}")]
pub struct ScriptError {
    pub line: usize,
    pub fault: Fault,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("`{word}` is not {what}")]
    Unknown { word: String, what: &'static str, nearest: Option<&'static str>, all: String },
    #[error("`{step}` lacks {what}")]
    Missing { step: String, what: &'static str },
    #[error("`{word}` is one word too many for `{step}`")]
    Extra { step: String, word: String },
    #[error("`{word}` is not {what}")]
    Invalid { word: String, what: &'static str, example: &'static str },
    #[error("A quote is never closed")]
    OpenQuote,
    #[error("`\\{0}` means nothing in a quoted text")]
    Escape(char),
    #[error("`{word}` stands deeper than the line that it belongs to")]
    Depth { word: String },
    #[error("The line is indented with a tab")]
    Tab,
    #[error("`{step}` has no lines below it")]
    NoBlock { step: String },
    #[error("`{word}` does not belong {place}")]
    Place { word: String, place: &'static str, instead: &'static str },
    #[error("The script has more than {0} lines")]
    Long(usize),
    #[error("The blocks are nested more than {0} deep")]
    Deep(usize),
}

impl ScriptError {
    /// Returns what the writer of the script can do about it.
    pub fn hint(&self) -> String {
        match &self.fault {
            Fault::Unknown { nearest: Some(nearest), .. } => format!("Did you mean `{nearest}`?"),
            Fault::Unknown { all, .. } => format!("Write one of: {all}"),
            Fault::Missing { .. } => "See `docs/sim.md` for the form of each step".into(),
            Fault::Extra { .. } => "Put a text of several words between double quotes".into(),
            Fault::Invalid { example, .. } => format!("Write it like `{example}`"),
            Fault::OpenQuote => "Close it with `\"`, and write a quote inside as `\\\"`".into(),
            Fault::Escape(_) => "Write one of: \\n \\t \\e \\a \\\\ \\\"".into(),
            Fault::Depth { .. } => "Give it the same indentation as its neighbours".into(),
            Fault::Tab => "Indent with blanks, two for each level".into(),
            Fault::NoBlock { .. } => "Write its lines below it, two blanks deeper".into(),
            Fault::Place { instead, .. } => (*instead).into(),
            Fault::Long(_) => "Use `repeat` or `loop`".into(),
            Fault::Deep(_) => "Write some of the blocks one after the other".into(),
        }
    }
}

/// One word of a line, or one quoted text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    text: String,
    is_quoted: bool,
}

/// The words of a line that are still to be read.
#[derive(Debug)]
pub(super) struct Words {
    line: usize,
    step: String,
    rest: VecDeque<Word>,
}

impl Words {
    /// Splits a line into words; the first is the step's name.
    pub(super) fn of(line: usize, text: &str) -> Result<Self, ScriptError> {
        let mut rest = split(text).map_err(|fault| ScriptError { line, fault })?;
        let step = rest.pop_front().map(|word| word.text).unwrap_or_default();
        Ok(Self { line, step, rest })
    }

    pub(super) fn step(&self) -> &str {
        &self.step
    }

    pub(super) fn error(&self, fault: Fault) -> ScriptError {
        ScriptError { line: self.line, fault }
    }

    /// Returns the next word, whatever it says.
    pub(super) fn text(&mut self, what: &'static str) -> Result<String, ScriptError> {
        let missing = self.error(Fault::Missing { step: self.step.clone(), what });
        self.rest.pop_front().map(|word| word.text).ok_or(missing)
    }

    /// Returns the next word if there is one.
    pub(super) fn optional(&mut self) -> Option<String> {
        self.rest.pop_front().map(|word| word.text)
    }

    /// Returns all words that are left; at least one.
    pub(super) fn texts(&mut self, what: &'static str) -> Result<Vec<String>, ScriptError> {
        let first = self.text(what)?;
        Ok(std::iter::once(first).chain(self.rest.drain(..).map(|word| word.text)).collect())
    }

    /// Takes the next word if it is this one, without quotes.
    pub(super) fn takes(&mut self, keyword: &str) -> bool {
        let is_next = self.rest.front().is_some_and(|word| !word.is_quoted && word.text == keyword);
        if is_next {
            self.rest.pop_front();
        }
        is_next
    }

    /// Returns the next word if it is one of these.
    pub(super) fn choice<T: Copy>(
        &mut self,
        what: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<T, ScriptError> {
        let word = self.text(what)?;
        let found = choices.iter().find(|(name, _)| *name == word);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&'static str> = choices.iter().map(|(name, _)| *name).collect();
            self.error(unknown(word, what, &names))
        })
    }

    pub(super) fn number<T: std::str::FromStr>(
        &mut self,
        what: &'static str,
        example: &'static str,
    ) -> Result<T, ScriptError> {
        let word = self.text(what)?;
        word.parse().map_err(|_| self.error(Fault::Invalid { word, what, example }))
    }

    pub(super) fn time(&mut self) -> Result<Duration, ScriptError> {
        let word = self.text("a time")?;
        time(&word).ok_or_else(|| {
            self.error(Fault::Invalid { word, what: "a time of at most a day", example: "1.5s" })
        })
    }

    /// Returns the next word as a time if it looks like one.
    pub(super) fn optional_time(&mut self) -> Option<Duration> {
        let found = self.rest.front().filter(|word| !word.is_quoted).and_then(|w| time(&w.text))?;
        self.rest.pop_front();
        Some(found)
    }

    /// Returns an amount of bytes of at most `most`.
    pub(super) fn bytes(&mut self, most: u64, what: &'static str) -> Result<u64, ScriptError> {
        let word = self.text("an amount of bytes")?;
        bytes(&word)
            .filter(|bytes| *bytes <= most)
            .ok_or_else(|| self.error(Fault::Invalid { word, what, example: "10M" }))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Accepts the end of the line, and nothing else.
    pub(super) fn end(&mut self) -> Result<(), ScriptError> {
        let Some(word) = self.rest.pop_front() else { return Ok(()) };
        Err(self.error(Fault::Extra { step: self.step.clone(), word: word.text }))
    }
}

/// Returns the fault of a word that is none of the names.
pub(super) fn unknown(word: String, what: &'static str, names: &[&'static str]) -> Fault {
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(&word, name);
    let nearest = names
        .iter()
        .copied()
        .filter(|name| likeness(name) >= LIKENESS_MIN)
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    Fault::Unknown { word, what, nearest, all: names.join(", ") }
}

fn split(text: &str) -> Result<VecDeque<Word>, Fault> {
    let mut words = VecDeque::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '#' {
            break;
        }
        let word;
        if first == '"' {
            let (text, after) = quoted(&rest[1..])?;
            word = Word { text, is_quoted: true };
            rest = after;
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            word = Word { text: rest[..end].into(), is_quoted: false };
            rest = &rest[end..];
        }
        words.push_back(word);
        rest = rest.trim_start();
    }
    Ok(words)
}

/// Returns the text up to the closing quote, and what follows it.
fn quoted(text: &str) -> Result<(String, &str), Fault> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => value.push(match characters.next().map(|(_, c)| c) {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('e') => '\u{1b}',
                Some('a') => '\u{7}',
                Some(c @ ('"' | '\\')) => c,
                Some(c) => return Err(Fault::Escape(c)),
                None => return Err(Fault::OpenQuote),
            }),
            c => value.push(c),
        }
    }
    Err(Fault::OpenQuote)
}

/// Reads `500ms`, `1.5s`, `2m` or `3`, which are seconds.
fn time(word: &str) -> Option<Duration> {
    let unit_at = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
    let seconds = match &word[unit_at..] {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        _ => return None,
    };
    let number: f64 = word[..unit_at].parse().ok()?;
    Duration::try_from_secs_f64(number * seconds).ok().filter(|time| *time <= TIME_MAX)
}

/// Reads `512`, `64k`, `10M` or `1G`.
fn bytes(word: &str) -> Option<u64> {
    let unit_at = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
    let unit: u64 = match &word[unit_at..] {
        "" => 1,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => return None,
    };
    word[..unit_at].parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_amounts_have_units() {
        assert_eq!(time("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(time("1.5s"), time("1500ms"));
        assert_eq!(time("2"), time("2s"));
        assert_eq!(time("2m"), time("120s"));
        assert_eq!([time("-1s"), time("s"), time("2h"), time("9999m")], [None; 4]);
        assert_eq!(bytes("10M"), Some(10 << 20));
        assert_eq!(bytes("99999999999G"), None);
    }

    #[test]
    fn a_quoted_text_keeps_its_blanks_and_escapes() {
        let mut words = Words::of(1, r#"say "a # \"b\" \n c"  # comment"#).unwrap();
        assert_eq!(words.text("a text").unwrap(), "a # \"b\" \n c");
        assert!(words.end().is_ok());
    }

    #[test]
    fn a_quoted_word_is_no_keyword() {
        let mut words = Words::of(1, r#"approve "else" else"#).unwrap();
        assert!(!words.takes("else"));
        assert_eq!(words.text("a command").unwrap(), "else");
        assert!(words.takes("else"));
    }
}
