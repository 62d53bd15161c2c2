//! Parses one line: keyword, tag, value, text.

use super::reported::{Report, ReportKind, Status};

/// What a user interface or Markdown may put before a line.
const GUTTER: &[char] = &[
    '⏺', '●', '•', '◦', '✦', '◆', '◇', '⬥', '✧', '-', '*', '>', '+', '#', '_', '`', '~', ' ', '\t',
    '\u{a0}', '\u{fe0e}', '\u{fe0f}',
];
const EMPHASIS: &[char] = &['*', '_', '`', '~'];
/// Between a value and its text.
const DASHES: &[char] = &['—', '–', '-', ':', '−', '‑', '―'];
/// Longer words in brackets are prose.
const TAG_CHARS: std::ops::RangeInclusive<usize> = 2..=16;
/// A longer number is no count of steps.
const STEP_DIGITS_MAX: usize = 6;
/// What an agent hands on is routed to others: nobody reads more.
pub(super) const TEXT_CHARS_MAX: usize = 4096;

const KEYWORDS: [(&str, Keyword); 6] = [
    ("STATUS", Keyword::Status),
    ("PROGRESS", Keyword::Progress),
    ("BUILD", Keyword::Build),
    ("NEED", Keyword::Need),
    ("CONTRACT", Keyword::Contract),
    ("ARTIFACT", Keyword::Artifact),
];

#[derive(Clone, Copy)]
enum Keyword {
    Status,
    Progress,
    Build,
    Need,
    Contract,
    Artifact,
}

/// Reads one whole line, without what its user interface put before it.
pub fn parse(line: &str) -> Option<Report> {
    let (keyword, tag, rest) = head(line)?;
    let (kind, text) = match keyword {
        Keyword::Status => status(rest)?,
        Keyword::Progress => progress(rest)?,
        Keyword::Build => build(rest)?,
        Keyword::Need => (ReportKind::Need, plain(rest)),
        Keyword::Contract => (ReportKind::Contract, plain(rest)),
        Keyword::Artifact => (ReportKind::Artifact, plain(rest)),
    };
    let needs_text = matches!(kind, ReportKind::Need | ReportKind::Contract | ReportKind::Artifact);
    if is_placeholder(&text, tag.is_some()) || (needs_text && !text.contains(char::is_alphanumeric))
    {
        return None;
    }
    let text = text.chars().take(TEXT_CHARS_MAX).collect();
    Some(Report { kind, text, tag, raw: line.trim().chars().take(TEXT_CHARS_MAX).collect() })
}

/// Says whether a row begins like a report, though its value may stand in the next row.
pub fn starts_report(row: &str) -> bool {
    head(row).is_some()
}

/// Says whether a row ends the body of a contract.
pub fn ends_contract(row: &str) -> bool {
    let words = row.trim_matches(|c: char| EMPHASIS.contains(&c) || c.is_whitespace());
    let mut words = words.split_whitespace();
    let is =
        |word: Option<&str>, wanted: &str| word.is_some_and(|w| w.eq_ignore_ascii_case(wanted));
    is(words.next(), "END") && is(words.next(), "CONTRACT") && words.next().is_none()
}

/// Splits `KEYWORD(tag):` from what follows.
fn head(line: &str) -> Option<(Keyword, Option<String>, &str)> {
    let line = line.trim_start_matches(GUTTER);
    let (rest, keyword) = KEYWORDS.iter().find_map(|(word, keyword)| {
        let (start, rest) = line.split_at_checked(word.len())?;
        start.eq_ignore_ascii_case(word).then_some((rest, *keyword))
    })?;
    let rest = rest.trim_start_matches(EMPHASIS);
    let (tag, rest) = match rest.strip_prefix('(') {
        Some(inner) => {
            let (tag, rest) = inner.split_once(')')?;
            let is_tag = TAG_CHARS.contains(&tag.len())
                && tag.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            (Some(tag.to_ascii_lowercase()).filter(|_| is_tag)?.into(), rest)
        }
        None => (None, rest),
    };
    let rest = rest.trim_start_matches(EMPHASIS).trim_start();
    let rest = rest.strip_prefix([':', '：'])?;
    Some((keyword, tag, rest.trim_start_matches(EMPHASIS).trim_start()))
}

fn status(rest: &str) -> Option<(ReportKind, String)> {
    let values = [("DONE", Status::Done), ("BLOCKED", Status::Blocked), ("ERROR", Status::Error)];
    values
        .iter()
        .find_map(|(word, status)| Some((ReportKind::Status(*status), after_value(rest, word)?)))
}

fn build(rest: &str) -> Option<(ReportKind, String)> {
    let values = [("PASSED", true), ("PASS", true), ("FAILED", false), ("FAIL", false)];
    values.iter().find_map(|(word, passed)| {
        Some((ReportKind::Build { passed: *passed }, after_value(rest, word)?))
    })
}

/// Reads `[3/7]` or, as some interfaces render it, `3/7`.
fn progress(rest: &str) -> Option<(ReportKind, String)> {
    let rest = rest.trim_start_matches(['[', '(', ' ']);
    let (step, rest) = number(rest)?;
    let rest = rest.trim_start().strip_prefix('/')?.trim_start();
    let (steps, rest) = number(rest)?;
    let text = separated(rest.trim_start_matches([' ', ']', ')']))?;
    Some((ReportKind::Progress { step, steps }, text))
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let digits = text.get(..end).filter(|digits| digits.len() <= STEP_DIGITS_MAX)?;
    Some((digits.parse().ok()?, &text[end..]))
}

/// Returns the text after a value, which ends at a dash or at the end of the line.
fn after_value(rest: &str, value: &str) -> Option<String> {
    let (start, rest) = rest.split_at_checked(value.len())?;
    if !start.eq_ignore_ascii_case(value) {
        return None;
    }
    separated(rest)
}

fn separated(rest: &str) -> Option<String> {
    let rest = rest.trim_start_matches(EMPHASIS).trim_start();
    if rest.is_empty() {
        return Some(String::new());
    }
    let text = rest.trim_start_matches(DASHES);
    (text.len() < rest.len()).then(|| plain(text))
}

/// Returns the text without the blanks and the emphasis at its ends.
fn plain(text: &str) -> String {
    let text = text.trim().trim_start_matches(EMPHASIS).trim_start();
    let kept = text.trim_end_matches("**").trim_end_matches("__");
    kept.trim_end().to_owned()
}

/// Says whether the text only stands for another: instructions quoted, not followed. Our own brief has
/// dots there. Other people's have `<words in brackets>` and nothing besides, and know no tag.
fn is_placeholder(text: &str, is_tagged: bool) -> bool {
    let text = text.trim();
    let is_bracketed = text.starts_with('<') && text.contains('>') && !is_tagged;
    let outside = || text.split('<').filter_map(|part| part.split_once('>')).map(|part| part.1);
    let says_nothing = || !outside().any(|words| words.contains(char::is_alphanumeric));
    (is_bracketed && says_nothing()) || matches!(text, "…" | "..." | "[…]" | "[...]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(String, String, Option<String>)> {
        let report = parse(line)?;
        let value = report.kind.value().map(|value| format!(" {value}")).unwrap_or_default();
        Some((format!("{}{value}", report.kind.name()), report.text, report.tag))
    }

    #[test]
    fn separators_case_gutters_and_emphasis_do_not_matter() {
        let lines = [
            "STATUS: DONE — built 6",
            "STATUS: DONE – built 6",
            "STATUS: DONE - built 6",
            "STATUS: DONE -- built 6",
            "STATUS: DONE: built 6",
            "status:done—built 6",
            "  ● STATUS: DONE — built 6",
            "⏺ Status : Done — built 6",
            "• **STATUS: DONE** — built 6",
            "- **STATUS:** DONE — built 6",
            "> `STATUS`: DONE — built 6",
            "### STATUS: DONE — built 6",
            "**STATUS: DONE — built 6**",
        ];
        for line in lines {
            let expected = ("status done".to_owned(), "built 6".to_owned(), None);
            assert_eq!(read(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn every_kind_has_its_value() {
        let value = |line| read(line).map(|read| (read.0, read.1));
        let found = |value: &str, text: &str| Some((value.to_owned(), text.to_owned()));
        assert_eq!(value("STATUS: BLOCKED — the key"), found("status blocked", "the key"));
        assert_eq!(value("STATUS: DONE"), found("status done", ""));
        assert_eq!(value("STATUS: ERROR: no disk"), found("status error", "no disk"));
        assert_eq!(value("PROGRESS: [3/7] — users"), found("progress 3/7", "users"));
        assert_eq!(value("PROGRESS: 3/7 — users"), found("progress 3/7", "users"));
        assert_eq!(value("PROGRESS: 3 / 7"), found("progress 3/7", ""));
        assert_eq!(value("BUILD: PASS"), found("build pass", ""));
        assert_eq!(value("BUILD: FAIL — 2 errors"), found("build fail", "2 errors"));
        assert_eq!(
            value("NEED: src/a.rs from db — types"),
            found("need", "src/a.rs from db — types")
        );
        assert_eq!(value("CONTRACT: users v1"), found("contract", "users v1"));
        assert_eq!(
            value("ARTIFACT: out/a.zip — archive"),
            found("artifact", "out/a.zip — archive")
        );
    }

    #[test]
    fn a_tag_stands_right_after_the_keyword() {
        let tag = |line| read(line).and_then(|read| read.2);
        assert_eq!(tag("STATUS(k7f3): DONE — x").as_deref(), Some("k7f3"));
        assert_eq!(tag("**BUILD(K7F3)**: PASS").as_deref(), Some("k7f3"));
        assert_eq!(read("STATUS(…): DONE — x"), None);
        assert_eq!(read("STATUS(your tag): DONE — x"), None);
    }

    #[test]
    fn prose_and_placeholders_are_no_reports() {
        let lines = [
            "print STATUS: DONE — built",
            "STATUS: DONEish — built",
            "STATUS: DONE — <what was accomplished> + <evidence>",
            "STATUS: DONE when all is built",
            "BUILD: PASSING is not a word",
            "PROGRESS: good",
            "NEED: <path>",
            "NEEDS: x",
            "STATUS of the build: DONE",
            "Build the endpoints",
            "",
        ];
        for line in lines {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn a_text_that_begins_with_brackets_is_no_placeholder() {
        let text = |line: &str| read(line).map(|read| read.1);
        for words in ["<Modal> closes on Esc now, 12 tests pass", "<b> and <i> are escaped"] {
            assert_eq!(text(&format!("STATUS(k7f3): DONE — {words}")).as_deref(), Some(words));
            assert_eq!(text(&format!("STATUS: DONE — {words}")).as_deref(), Some(words));
        }
        // Whoever knows the tag reports; only the dots of the brief are not meant.
        assert_eq!(text("ARTIFACT(k7f3): <out>").as_deref(), Some("<out>"));
        assert_eq!(text("STATUS(k7f3): DONE — …"), None);
    }

    #[test]
    fn the_end_of_a_contract_is_known_in_any_dress() {
        assert!(ends_contract("  END CONTRACT") && ends_contract("**end contract**"));
        assert!(!ends_contract("END CONTRACTS") && !ends_contract("the END CONTRACT"));
    }
}
