//! Judges whether the evidence of a DONE can be checked.

use serde::{Deserialize, Serialize};

/// How strong the evidence of a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// It names something that can be checked: a count, a path, a port, a commit, a command.
    Concrete,
    /// It hedges, or names nothing.
    Weak,
}

/// Whoever writes one of these is not sure, whatever else the line says.
const HEDGES: &[&str] = &[
    "i think",
    "i believe",
    "i guess",
    "i hope",
    "looks good",
    "looks fine",
    "looks right",
    "looks like it",
    "seems to",
    "seems fine",
    "seem to",
    "should work",
    "should be fine",
    "should be ok",
    "should now",
    "should pass",
    "probably",
    "presumably",
    "hopefully",
    "maybe",
    "might work",
    "may work",
    "more or less",
    "mostly done",
    "mostly works",
    "as far as i can tell",
    "not tested",
    "untested",
    "did not test",
    "didn't test",
    "haven't tested",
    "not verified",
    "unverified",
    "haven't run",
    "could not run",
    "couldn't run",
    "not yet run",
    "to be tested",
];
/// The first word of a command that someone can run again.
const COMMANDS: &[&str] = &[
    "cargo",
    "npm",
    "npx",
    "pnpm",
    "yarn",
    "bun",
    "deno",
    "node",
    "make",
    "cmake",
    "ninja",
    "just",
    "pytest",
    "python",
    "python3",
    "pip",
    "uv",
    "tox",
    "ruff",
    "mypy",
    "go",
    "gradle",
    "mvn",
    "docker",
    "kubectl",
    "terraform",
    "curl",
    "wget",
    "git",
    "bash",
    "sh",
    "eslint",
    "tsc",
    "jest",
    "vitest",
    "playwright",
    "psql",
    "sqlite3",
    "rspec",
    "rake",
    "bundle",
    "mix",
    "dotnet",
    "swift",
];

/// Judges what follows `STATUS: DONE —`.
pub fn evidence(text: &str) -> Evidence {
    let lower = text.to_lowercase();
    let lower = lower.replace('’', "'");
    if HEDGES.iter().any(|hedge| contains_words(&lower, hedge)) {
        return Evidence::Weak;
    }
    let words = lower.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '`'));
    let is_checkable = words
        .map(trimmed)
        .any(|word| has_count(word) || is_path(word) || is_commit(word) || is_url(word));
    if is_checkable || names_command(&lower) { Evidence::Concrete } else { Evidence::Weak }
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| matches!(c, '(' | ')' | '[' | ']' | '.' | '!' | '?' | '\'' | '*'))
}

/// Numbers count things: `23/23`, `6`, `:8080`, `97%`.
fn has_count(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    // The number in `v2` or `phase2` is a name.
    digits > 0 && !word.starts_with(|c: char| c.is_alphabetic())
}

fn is_path(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/~@+".contains(c);
    if !word.chars().all(|c| is_plain(c) || c == ':') || word.len() < 3 {
        return false;
    }
    let word = word.split(':').next().unwrap_or(word);
    let extension = word.rsplit_once('.').map(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    // `and/or` is no path, `src/api` is: a path has two slashes, an extension or a known shape.
    let slashes = word.matches('/').count();
    (slashes > 0
        && (extension == Some(true)
            || slashes > 1
            || word.starts_with(['/', '.', '~'])
            || word.starts_with("src/")
            || word.ends_with('/')))
        || (extension == Some(true) && !matches!(word, "e.g" | "i.e"))
}

fn is_commit(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.chars().all(|c| c.is_ascii_hexdigit())
        && word.contains(|c: char| c.is_ascii_digit())
}

fn is_url(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://") || word.starts_with("localhost")
}

/// Says whether a command is quoted or named with an argument.
fn names_command(lower: &str) -> bool {
    let words: Vec<&str> =
        lower.split_whitespace().map(|word| word.trim_matches(['`', '(', '\'', '"'])).collect();
    words.windows(2).any(|pair| {
        // `go` and `make` are words as well: their argument tells.
        let is_word_too =
            matches!(pair[0], "go" | "make" | "just" | "bundle" | "mix" | "swift" | "node");
        let argument = pair[1].trim_end_matches(['`', ')', ',', '.']);
        let is_verb =
            matches!(argument, "test" | "build" | "run" | "check" | "vet" | "lint" | "clippy");
        COMMANDS.contains(&pair[0]) && (!is_word_too || is_verb || argument.starts_with('-'))
    })
}

/// Says whether the words stand in the text as whole words.
fn contains_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let free = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        free(text[..at].chars().next_back()) && free(text[at + words.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_checked_is_concrete() {
        let texts = [
            "built 6 endpoints, tests pass (23/23)",
            "server listens on :8080",
            "wrote src/api/users.rs",
            "see README.md",
            "committed as 3f9a2c1d",
            "`cargo test` passes",
            "ran npm run build without errors",
            "go test is green",
            "coverage is 97%",
            "http://localhost answers",
        ];
        for text in texts {
            assert_eq!(evidence(text), Evidence::Concrete, "{text}");
        }
    }

    #[test]
    fn hedges_and_empty_words_are_weak() {
        let texts = [
            "",
            "all finished",
            "looks good to me",
            "I think all 23 tests pass",
            "it should work now, see src/api/users.rs",
            "everything works and/or is fine",
            "the v2 of it is there",
            "I could not run the 12 tests",
            "let us go ahead",
        ];
        for text in texts {
            assert_eq!(evidence(text), Evidence::Weak, "{text}");
        }
    }
}
