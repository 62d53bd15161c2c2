//! Finds the reports in an agent's own Markdown.

use super::grammar::{ends_contract, parse, starts_report};
use super::reported::{Report, ReportKind};

/// A contract that goes on for longer lacks its end.
const CONTRACT_LINES_MAX: usize = 200;
/// So far to the right a line is code.
const CODE_INDENT: usize = 4;
const TAB_COLUMNS: usize = 4;

/// Returns the reports in a message, such as a hook hands over: one a line, in plain text. What
/// stands in a code block, quotation, list, table or diff is shown and not said, and a status without
/// a tag is meant only as the last word.
pub fn read(message: &str) -> Vec<Report> {
    let lines = said(message);
    let mut reports: Vec<Report> = Vec::new();
    let mut contract_lines = None;
    for (at, (line, is_said)) in lines.iter().enumerate() {
        if let Some(count) = contract_lines.filter(|count| *count < CONTRACT_LINES_MAX) {
            let is_end = line.trim().is_empty() || ends_contract(line);
            if !is_end && parse(line).is_none() {
                let is_mark = fence(line.trim()).is_some();
                if let Some(contract) = reports.last_mut().filter(|_| !is_mark) {
                    contract.text = format!("{}\n{}", contract.text, line.trim_end());
                    contract.raw = format!("{}\n{}", contract.raw, line.trim_end());
                }
                contract_lines = Some(count + 1);
                continue;
            }
            contract_lines = None;
        }
        if let Some(report) = parse(line).filter(|_| *is_said) {
            let needs_end = matches!(report.kind, ReportKind::Status(_)) && report.tag.is_none();
            if needs_end && (is_code(line) || !is_last_word(&lines[at + 1..])) {
                continue;
            }
            contract_lines = (report.kind == ReportKind::Contract).then_some(0);
            reports.push(report);
        }
    }
    reports
}

/// Returns the lines of a message that read like reports and are only shown.
pub fn shown(message: &str) -> Vec<Report> {
    let mut said = read(message);
    let is_said = |line: &Report, said: &mut Vec<Report>| {
        let at = said.iter().position(|one| one.raw.lines().next() == line.raw.lines().next());
        at.map(|at| said.swap_remove(at)).is_some()
    };
    let mark = |c: char| matches!(c, '|' | '│' | '+' | '-') || c.is_whitespace();
    let bare = |line: &str| {
        let line = line.trim_start_matches(mark);
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let item = number.strip_prefix(['.', ')']).filter(|_| number.len() < line.len());
        item.unwrap_or(line).split(" |").next().unwrap_or_default().to_owned()
    };
    let lines = message.lines().filter_map(|line| parse(line).or_else(|| parse(&bare(line))));
    lines.filter(|line| !is_said(line, &mut said)).collect()
}

/// Returns the first line of a text of ours that reads as a report, wherever it stands: once a terminal shows
/// the text, nobody can tell whose last word it is.
pub fn first_line_like_a_report(text: &str) -> Option<Report> {
    said(text).into_iter().filter(|(_, is_said)| *is_said).find_map(|(line, _)| parse(line))
}

/// Says whether nothing but reports stands in these lines.
fn is_last_word(lines: &[(&str, bool)]) -> bool {
    let mut is_contract = false;
    lines.iter().all(|(line, is_said)| {
        let is_report = *is_said && starts_report(line);
        if is_report {
            let kind = parse(line).map(|report| report.kind);
            is_contract = kind == Some(ReportKind::Contract);
        }
        let is_end = is_contract && ends_contract(line);
        let is_body = is_contract && !line.trim().is_empty();
        is_contract = is_body && !is_end;
        line.trim().is_empty() || is_report || is_body
    })
}

/// Returns each line, and whether it is said rather than shown.
fn said(message: &str) -> Vec<(&str, bool)> {
    let mut block = Block::default();
    let mut lines: Vec<(&str, bool)> =
        message.lines().map(|line| (line, block.takes(line))).collect();
    // What stands directly below a line of a table or of a diff belongs to it, and above it too.
    let is_shown = |(line, _): &(&str, bool)| is_table(line) || is_change(line);
    for at in 0..lines.len() {
        let is_beside =
            |other: Option<usize>| other.and_then(|at| lines.get(at)).is_some_and(is_shown);
        if is_beside(at.checked_sub(1)) || is_beside(Some(at + 1)) {
            lines[at].1 = false;
        }
    }
    lines
}

/// What the lines so far have begun.
#[derive(Default)]
struct Block {
    /// The mark of a code block, and how long it is.
    fence: Option<(char, usize)>,
    /// How far to the right the text of a list's item stands.
    item: Option<usize>,
    /// The line before was of a quotation.
    is_quotation: bool,
}

impl Block {
    /// Takes the next line, and says whether it is said.
    fn takes(&mut self, line: &str) -> bool {
        let text = line.trim();
        let columns = indent(line);
        if let Some(open) = self.fence {
            let is_end = fence(text).is_some_and(|(mark, length, rest)| {
                mark == open.0 && length >= open.1 && rest.is_empty()
            });
            self.fence = self.fence.filter(|_| !is_end);
            return false;
        }
        if text.is_empty() {
            self.is_quotation = false;
            return true;
        }
        let was_quotation = std::mem::replace(&mut self.is_quotation, text.starts_with('>'));
        if let Some((mark, length, _)) = fence(text) {
            self.fence = Some((mark, length));
            return false;
        }
        if let Some(width) = item(text) {
            // A fence may begin in the row of its item.
            self.fence = fence(text[width..].trim_start()).map(|(mark, length, _)| (mark, length));
            self.item = Some(columns + width);
            return false;
        }
        if columns == 0 {
            self.item = None;
        }
        let is_of_item = self.item.is_some_and(|text| columns >= text.min(2));
        let is_quoted = self.is_quotation || was_quotation;
        !is_quoted && !is_of_item && columns < CODE_INDENT && !is_table(text) && !is_change(text)
    }
}

fn indent(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| c.is_whitespace());
    blanks.map(|c| if c == '\t' { TAB_COLUMNS } else { 1 }).sum()
}

/// Returns the mark of a code block, its length, and what follows it.
fn fence(text: &str) -> Option<(char, usize, &str)> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    // Three marks around words within a line are no block.
    (length >= 3 && !rest.contains('`')).then_some((mark, length, rest.trim()))
}

/// Returns how wide the mark of a list's item is, if the text begins with one.
fn item(text: &str) -> Option<usize> {
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - number.len();
    let mark = if (1..10).contains(&digits) {
        number.starts_with(['.', ')']).then_some(digits + 1)
    } else {
        let first = text.chars().next()?;
        matches!(first, '-' | '*' | '+' | '•' | '◦' | '‣' | '–').then(|| first.len_utf8())
    }?;
    text[mark..].starts_with([' ', '\t']).then_some(mark + 1)
}

/// Says whether a line begins with code in which a whole report stands: it is shown and not said.
pub fn is_code(line: &str) -> bool {
    let text = line.trim().trim_start_matches(['*', '_']);
    let code = text.strip_prefix('`').and_then(|rest| rest.split('`').next());
    code.is_some_and(|code| parse(code).is_some())
}

/// Says whether a line is a row of a table.
fn is_table(line: &str) -> bool {
    let text = line.trim();
    let is_rule = text.contains('|') && text.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    text.starts_with(['|', '│', '┃', '║']) || is_rule
}

/// Says whether a line is one that a diff adds or takes away.
fn is_change(line: &str) -> bool {
    let rest = line.strip_prefix(['+', '-']).unwrap_or_default();
    rest.starts_with(char::is_alphabetic) && starts_report(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_line_by_line() {
        let message = "Done with the API.\n\nBUILD: PASS\nCONTRACT: users v1\n  GET /users\n\
                       END CONTRACT\nThis is prose.\nSTATUS(k7f3): DONE — 6 endpoints\n";
        let reports = read(message);
        let kinds: Vec<&str> = reports.iter().map(|report| report.kind.name()).collect();
        assert_eq!(kinds, ["build", "contract", "status"]);
        assert_eq!(reports[1].text, "users v1\n  GET /users");
        assert_eq!(reports[2].tag.as_deref(), Some("k7f3"));
    }

    #[test]
    fn what_is_shown_does_not_count() {
        for line in ["STATUS: DONE — x", "BUILD: PASS", "STATUS(k7f3): DONE — x"] {
            for message in [
                format!("```\n{line}\n```"),
                format!("````md\n```\n{line}\n```\n{line}\n````"),
                format!("~~~\n```\n{line}\n~~~"),
                format!("```\n{line}"),
                format!("> {line}"),
                format!("> he said\n{line}"),
                format!("> > {line}"),
                format!("    {line}"),
                format!("\t{line}"),
                format!("- {line}"),
                format!("* {line}"),
                format!("1. {line}"),
                format!("12) {line}"),
                format!("- so:\n  {line}"),
                format!("- so:\n\n  ```\n  {line}\n  ```"),
                format!("1. so:\n\n   {line}"),
                format!("| {line} | yes |"),
                format!("a | b\n--- | ---\n{line} | yes"),
                format!("+{line}"),
                format!("-{line}\n {line}"),
            ] {
                assert_eq!(read(&message), [], "{message}");
            }
        }
    }

    #[test]
    fn what_a_message_only_shows_is_told_apart_from_what_it_says() {
        let message = "BUILD: PASS\n\n```\nBUILD: PASS\nBUILD: FAIL — x\n```\n1. NEED: a.rs — b\n\
                       | PROGRESS: [1/2] — c | d |\n\nSTATUS: DONE — x\n";
        let raws: Vec<String> = shown(message).into_iter().map(|one| one.raw).collect();
        let wanted = ["BUILD: PASS", "BUILD: FAIL — x", "NEED: a.rs — b", "PROGRESS: [1/2] — c"];
        assert_eq!(raws, wanted);
    }

    #[test]
    fn a_status_without_a_tag_is_the_last_word() {
        let count = |message: &str| read(message).len();
        for rest in
            ["is what I print in the end.", "\nThen I go on.", "\n```\nx\n```", "- and more"]
        {
            assert_eq!(count(&format!("STATUS: DONE — x\n{rest}")), 0, "{rest}");
            assert_eq!(count(&format!("STATUS(k7f3): DONE — x\n{rest}")), 1, "{rest}");
            assert_eq!(count(&format!("BUILD: PASS\n{rest}")), 1, "{rest}");
        }
        assert_eq!(
            count("STATUS: DONE — x\n\nBUILD: PASS\nCONTRACT: a\n  GET /b\nEND CONTRACT\n"),
            3
        );
        assert_eq!(count("Fine.\n\n- an item\n- another\nSTATUS: DONE — x"), 1);
        assert_eq!(count("- an item\n\n**STATUS: DONE** — x"), 1);
        assert_eq!(count("`STATUS`: DONE — x"), 1);
        assert_eq!(count("It is\n\n`STATUS: DONE — x`"), 0, "all of it is code");
    }
}
