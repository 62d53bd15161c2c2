//! Quotes words for a remote shell, since `ssh` sends one text.

/// Returns the words as a text that any POSIX shell reads as exactly these words.
pub(super) fn quoted<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Returns the path of a program; the home directory may be written as `~/`.
pub(super) fn quoted_program(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => format!("~/{}", quote(rest)),
        None => quote(path),
    }
}

fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) && !word.starts_with('=') {
        return word.to_owned();
    }
    // Inside single quotes nothing means anything but the quote itself.
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    /// Returns what a shell makes of the text.
    fn read_by(shell: &str, text: &str) -> Vec<u8> {
        let script = format!("printf '%s\\0' {text}");
        let output = Command::new(shell).arg("-c").arg(script).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    }

    #[test]
    fn hostile_words_arrive_as_they_are() {
        let words = [
            "",
            " ",
            "a b",
            "'",
            "''",
            "\\",
            "$(touch x)",
            "`id`",
            "$HOME",
            "~",
            "~/x",
            "*",
            "?",
            "a;b",
            "a&b",
            "a|b",
            ">x",
            "#",
            "!x",
            "\n",
            "\t",
            "-n",
            "--",
            "=ls",
            "{a,b}",
            "\"",
            "é\u{202e}",
            "\u{1b}[31m",
            "a'b\"c\\d`e$f",
        ];
        let wanted: Vec<u8> =
            words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
        for shell in ["sh", "bash"] {
            assert_eq!(read_by(shell, &quoted(words)), wanted, "{shell}");
        }
        assert_eq!(quoted_program("~/a b/$(x)"), "~/'a b/$(x)'");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn any_word_arrives_as_it_is(word in "[^\0]{0,40}") {
            let wanted = [word.as_bytes(), b"\0"].concat();
            prop_assert_eq!(read_by("sh", &quoted([word.as_str()])), wanted);
        }
    }
}
