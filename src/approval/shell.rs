//! Splits a shell command into words, and gives up where a shell would do more.
//!
//! This is no shell: whatever a shell would replace, redirect or run besides is reason enough to
//! leave the command to a person.

use crate::model::is_unseen;

/// Have a meaning of their own for a shell, wherever they stand outside of quotes.
const SPECIAL: &str = "\\$`<>(){}*?[]#!";
/// Have a meaning of their own inside of double quotes.
const SPECIAL_IN_DOUBLE: &str = "\\$`!";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// Returns the simple commands of which the text is made, or why it cannot be told.
pub(super) fn parts(text: &str) -> Result<Vec<&str>, String> {
    let mut quote = Quote::None;
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_break = letter == '\n' && quote == Quote::None;
        if is_unseen(letter) && !is_break {
            return Err("it has a character that cannot be seen".to_owned());
        }
        quote = match (quote, letter) {
            (Quote::None, '\'') => Quote::Single,
            (Quote::None, '"') => Quote::Double,
            (Quote::Single, '\'') | (Quote::Double, '"') => Quote::None,
            (Quote::None, letter) if SPECIAL.contains(letter) => return Err(special(letter)),
            (Quote::Double, letter) if SPECIAL_IN_DOUBLE.contains(letter) => {
                return Err(special(letter));
            }
            (Quote::None, ';' | '\n' | '|' | '&') => {
                let is_doubled = letters.peek().is_some_and(|(_, next)| *next == letter);
                if letter == '&' && !is_doubled {
                    return Err("it would run something in the background".to_owned());
                }
                found.push(&text[start..at]);
                start = at + 1;
                if is_doubled && matches!(letter, '|' | '&') {
                    letters.next();
                    start += 1;
                }
                Quote::None
            }
            (quote, _) => quote,
        };
    }
    if quote != Quote::None {
        return Err("a quotation in it has no end".to_owned());
    }
    found.push(&text[start..]);
    let found: Vec<&str> = found.into_iter().map(|part| part.trim_matches(' ')).collect();
    found.iter().try_for_each(|part| simple(part))?;
    Ok(found)
}

/// Says why a part is not a program and its arguments.
fn simple(part: &str) -> Result<(), String> {
    let mut words = part.split(' ').filter(|word| !word.is_empty());
    let Some(program) = words.next() else {
        return Err("a part of it is empty".to_owned());
    };
    if program.contains('=') {
        return Err("it sets a variable".to_owned());
    }
    if std::iter::once(program).chain(words).any(|word| word.starts_with('~')) {
        return Err(special('~'));
    }
    Ok(())
}

fn special(letter: char) -> String {
    format!("a shell would make something else of its `{letter}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_in_a_row_is_taken_apart() {
        for (text, expected) in [
            ("git status", vec!["git status"]),
            ("cargo test && git status", vec!["cargo test", "git status"]),
            ("a; b || c | d\ne", vec!["a", "b", "c", "d", "e"]),
            ("git commit -m 'a; b && $(c)'", vec!["git commit -m 'a; b && $(c)'"]),
            ("echo \"it's | fine\"", vec!["echo \"it's | fine\""]),
            ("git diff HEAD~1", vec!["git diff HEAD~1"]),
        ] {
            assert_eq!(parts(text).as_deref(), Ok(&expected[..]), "{text}");
        }
    }

    #[test]
    fn what_a_shell_makes_something_else_of_is_opaque() {
        for text in [
            "echo $HOME",
            "echo \"$HOME\"",
            "echo `id`",
            "echo \"`id`\"",
            "echo $(id)",
            "(id)",
            "{ id; }",
            "a > b",
            "a < b",
            "a 2>&1",
            "a & b",
            "a |& b",
            "a;; b",
            "; a",
            "a &&",
            "",
            "ls *",
            "ls [ab]",
            "ls ~/x",
            "A=1 b",
            "a # b",
            "! a",
            "a \\\nb",
            "echo 'a",
            "echo \"a",
            "a\tb",
            "a\rb",
            "a\u{a0}b",
            "a \u{202e}b",
            "a\u{200b}",
            "'a\nb'",
        ] {
            assert!(parts(text).is_err(), "{text:?}");
        }
    }
}
