//! Finds the error with which a program gave a turn up, or tries once more, on a screen of which nothing is known.

use std::sync::LazyLock;

use regex::Regex;

use super::composer::is_rule;
use super::view::{Ink, TextRow};

/// An error and the hints that follow it are not higher.
const ROWS: usize = 8;
/// So many characters of a row are read.
const ROW_CHARS_MAX: usize = 400;
/// Stand before a message that something went wrong.
const SIGNS: &[char] = &['✗', '✘', '✕', '✖', '❌', '⨯', '×', '■', '⚠', '⛔'];
/// How a row begins that names an error and then tells of it, without the signs before it.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x)^(?i: (?:[\w.]+\ ){0,3} [\w.]* (?:error|exception) \b \s* :
            | (?:api|connection|network|provider|model|request|stream) \b [\w\ ]{0,20}? (?:error|failed) \b)
            | ^(?:HTTP\ )?[45]\d\d (?: [:\s]+ [^a-z\s] | \s*$)",
    )
});
/// Why a model does not answer, as providers and network libraries say it.
static CAUSE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?ix) \b[45]\d\d\b | rate.?limit | overloaded | too\ many\ requests | quota | credit\ balance
            | insufficient | unauthorized | forbidden | bad\ request | api.?key | api.error | authenticat | econn
            | connection | time[d\ -]*out | fetch\ failed | network | unavailable | bad\ gateway | server\ error
            | model\b.*\bnot\ (?:found|exist|supported)",
    )
});
/// An error that has neither a colour nor a sign, as nobody writes one in prose.
static BARE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)^(?:(?:api )?error:? [45]\d\d\b|HTTP [45]\d\d: )"));
/// That something is tried again: it tells how often, or when, or is being done.
static RETRIED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)\b(?:retrying|reconnecting|will retry|trying again)\b(?:.{0,40}\d|\s*(?:\.\.\.|…))")
});

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("it is a regular expression")
}

/// What the last words above a composer say of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure<'a> {
    /// The program has given up.
    GivenUp(&'a str),
    /// It says that it tries once more.
    Retried(&'a str),
}

/// Reads the last words above the composer.
pub(super) fn find(body: &[TextRow]) -> Option<Failure<'_>> {
    let (words, above) = last_words(body)?;
    // A single row right above the composer may belong to that.
    let is_status = words.len() == 1 && above + 1 == body.len();
    said(words).or_else(|| said(last_words(&body[..above])?.0).filter(|_| is_status))
}

fn said(rows: &[TextRow]) -> Option<Failure<'_>> {
    let retried = rows.iter().find(|row| RETRIED.is_match(&row.text));
    let retried = retried.map(|row| Failure::Retried(row.text.trim()));
    let given_up = || rows.iter().find(|row| is_given_up(row));
    retried.or_else(|| given_up().map(|row| Failure::GivenUp(row.text.trim())))
}

/// Returns the last rows with nothing empty between them, and how many stand above.
fn last_words(body: &[TextRow]) -> Option<(&[TextRow], usize)> {
    let is_written =
        |row: &&TextRow| row.text.contains(char::is_alphanumeric) && !is_rule(&row.text);
    let end = body.iter().rposition(|row| is_written(&row))? + 1;
    let height = body[..end].iter().rev().take_while(is_written).take(ROWS).count();
    Some((&body[end - height..end], end - height))
}

/// Says whether a row is an error of the provider or of the way there. An agent that tells of errors in its own
/// words draws them as all it says.
fn is_given_up(row: &TextRow) -> bool {
    let start = row.text.trim_start();
    let Some(first) = start.chars().next() else { return false };
    // A diff has colours, too.
    let is_diff = matches!(first, '-' | '+');
    let is_marked = row.ink == Ink::Red || SIGNS.contains(&first);
    let text = words(start);
    is_marked && !is_diff && NAMED.is_match(text) && CAUSE.is_match(text) || BARE.is_match(start)
}

/// Returns what a row says, without the signs before it.
fn words(row: &str) -> &str {
    let row = row.trim_start_matches(|c: char| !c.is_alphanumeric());
    row.char_indices().nth(ROW_CHARS_MAX).map_or(row, |(end, _)| &row[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, is_red: bool) -> Vec<TextRow> {
        let ink = if is_red { Ink::Red } else { Ink::Plain };
        let row = |text: &str| TextRow { ink, ..TextRow::plain(text) };
        text.lines().map(row).collect()
    }

    fn is_error(text: &str, is_red: bool) -> bool {
        matches!(find(&rows(text, is_red)), Some(Failure::GivenUp(_)))
    }

    #[test]
    fn an_error_of_the_provider_is_told_by_its_colour_its_sign_or_its_form() {
        for (text, is_red) in [
            ("litellm.BadRequestError: OpenAIException - Scripted error 400", true),
            (" * Error: Scripted error 400", true),
            ("Error: [provider.api_error] 400 no\nIf this persists, run `/export`.", true),
            ("Error: 400 Scripted error 400", false),
            (" ✗ 400 Scripted error 400", false),
            ("✕ [API Error: 429 Too many requests] (Press Ctrl+Y to retry)", false),
            ("  401 Incorrect API key provided", true),
            ("    HTTP 400: Scripted error 400", false),
            ("Connection error: no route\nPress F12", true),
            ("✗ 400 Scripted error 400\n\n\n/home/ann/shop", false),
        ] {
            assert!(is_error(text, is_red), "{text}");
        }
    }

    #[test]
    fn what_an_agent_says_of_errors_is_none() {
        for (text, is_red) in [
            ("● The handler returned error 500, which I fixed.", false),
            ("Error handling is now in src/errors.rs.", false),
            ("Error: the file was missing, so I made it.", false),
            ("● 404 pages are shown in the layout of the others.", false),
            ("- error: 500,", true),
            ("  12 - return Error(500)", true),
            ("Removed", true),
        ] {
            assert!(!is_error(text, is_red), "{text}");
        }
    }

    #[test]
    fn a_request_that_is_tried_again_is_not_given_up() {
        for text in [
            "Error: 503 overloaded\nRetrying in 4s",
            "✻ API error · Retrying in 0s · attempt 2/3",
            "■ reconnecting... 2/5",
        ] {
            assert!(matches!(find(&rows(text, true)), Some(Failure::Retried(_))), "{text}");
        }
        let later = rows("Request failed. Retrying...\n\nHere again.\n\nIt is done.", true);
        assert_eq!(find(&later), None, "it went on");
        assert_eq!(
            find(&rows("The client is retrying failed requests now, as asked.", false)),
            None
        );
    }
}
