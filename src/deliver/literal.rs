//! Makes a program take a prompt for words, and not for a command of its own.

use crate::model::Literal;

/// A character of no width that joins words: a program that trims blanks keeps it.
const JOINER: &str = "\u{2060}";
/// How much of a prompt a reason quotes.
const QUOTE_CHARS_MAX: usize = 20;

/// Returns the text as it must be typed to be taken as words, or why it cannot be.
pub(super) fn as_words(text: &str, literal: &Literal) -> Result<String, String> {
    if !literal.keeps_tabs && text.contains('\t') {
        return Err("the prompt has tabs, of which the program would make blanks: write blanks, or name a file".into());
    }
    let begun = text.trim_start();
    let first = begun.chars().next();
    let is_in = |signs: &str| first.is_some_and(|first| signs.contains(first));
    let alone = begun.trim_end();
    let is_path = literal.paths_are_words && is_path(begun);
    if is_in(&literal.refused) && !is_path || literal.refused_words.iter().any(|word| word == alone)
    {
        let shown: String = alone.chars().take(QUOTE_CHARS_MAX).collect();
        return Err(format!(
            "the program would take it for a command, as it begins with `{shown}`: begin it with \
             another word, or send it as a command with `--command`"
        ));
    }
    let before = if is_in(&literal.joiner_before) {
        JOINER
    } else if is_in(&literal.line_before) {
        "\n"
    } else if is_in(&literal.blank_before) && text == begun {
        " "
    } else {
        ""
    };
    let last = text.split_whitespace().next_back().unwrap_or_default();
    let is_open = last.starts_with(|sign| literal.blank_after.contains(sign));
    let after = if is_open && text.ends_with(last) { " " } else { "" };
    Ok(format!("{before}{}{after}", joined(text, &literal.joiner_after)))
}

/// Says whether a text begins with a path such as `/etc/hosts`: no command has a second slash.
fn is_path(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    word.strip_prefix('/').is_some_and(|rest| rest.contains('/'))
}

/// Puts a joiner behind each of these signs that begins a word.
fn joined(text: &str, signs: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        result.push(letter);
        let begins = !before.is_alphanumeric() && before != '\\';
        let goes_on = letters.peek().is_some_and(|next| !next.is_whitespace());
        if signs.contains(letter) && begins && goes_on {
            result.push_str(JOINER);
        }
        before = letter;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal() -> Literal {
        Literal {
            blank_before: "#?".into(),
            line_before: "/".into(),
            joiner_before: "!".into(),
            refused: "%".into(),
            keeps_tabs: true,
            paths_are_words: false,
            joiner_after: "~".into(),
            refused_words: vec!["exit".into()],
            blank_after: "@".into(),
        }
    }

    #[test]
    fn what_would_be_a_command_gets_what_makes_it_words() {
        for (text, typed) in [
            ("fix it", "fix it"),
            ("#12 is open", " #12 is open"),
            (" #12 is open", " #12 is open"),
            ("/etc/hosts", "\n/etc/hosts"),
            ("!important", "\u{2060}!important"),
            ("  !important", "\u{2060}  !important"),
            ("look at @READ", "look at @READ "),
            ("look at @READ ", "look at @READ "),
            ("@READ is it", "@READ is it"),
            ("exit 1 is wrong", "exit 1 is wrong"),
            ("see ~a and (~b), not c~d or ~", "see ~\u{2060}a and (~\u{2060}b), not c~d or ~"),
        ] {
            assert_eq!(as_words(text, &literal()).unwrap(), typed, "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_made_words_is_refused_with_what_to_do() {
        for text in ["%x", " \n%x", "exit", " exit\n"] {
            let why = as_words(text, &literal()).unwrap_err();
            assert!(why.contains("`--command`") && why.contains("another word"), "{why}");
        }
    }

    #[test]
    fn tabs_that_would_become_blanks_are_refused() {
        let blanks = Literal { keeps_tabs: false, ..literal() };
        assert!(as_words("a\tb", &blanks).unwrap_err().contains("tabs"));
        assert_eq!(as_words("a\tb", &literal()).unwrap(), "a\tb");
    }

    #[test]
    fn a_path_is_told_from_a_command_where_the_program_does_so() {
        let paths = Literal { refused: "/".into(), paths_are_words: true, ..literal() };
        for text in ["/etc/hosts is wrong", " /a/b"] {
            assert!(as_words(text, &paths).is_ok(), "{text}");
        }
        for text in ["/clear", "/clear a/b", "/", "/help me"] {
            assert!(as_words(text, &paths).is_err(), "{text}");
        }
    }

    #[test]
    fn of_a_program_that_is_not_known_no_command_is_risked() {
        let safe = Literal::default();
        for text in ["/etc/hosts is wrong", "!ls", " /x"] {
            assert!(as_words(text, &safe).is_err(), "{text}");
        }
        assert_eq!(as_words("@READ", &safe).unwrap(), " @READ ");
        assert_eq!(as_words("fix it", &safe).unwrap(), "fix it");
    }
}
