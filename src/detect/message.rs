//! Finds the reports in the rows of an agent's own message, which its user interface may have
//! wrapped anywhere.

use serde::{Deserialize, Serialize};

use crate::protocol::{Report, ReportKind, ends_contract, is_code, parse, starts_report};

use super::general_blocks::OWN_MARKS as MARKS;
use super::view::{Ink, TextRow};

/// What marks a quotation or a table.
const QUOTES: &[char] = &['>', '│', '┃', '▎', '▌', '|', '▏'];
/// Between the columns of a table.
const COLUMN_GAP: &str = "   ";
/// How much deeper than the message a report may stand: interfaces indent continuation rows by
/// one, code by more.
const INDENT_MAX: usize = 1;
/// Interfaces leave some columns free at the right edge.
const MARGIN: usize = 4;
/// So many letters before a report tell it from another with the same words.
const CONTEXT_CHARS: usize = 40;
/// A contract that goes on for longer lacks its end.
const CONTRACT_ROWS_MAX: usize = 200;

/// A report on the screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sighting {
    pub(super) report: Report,
    /// The letters before it in its message.
    pub(super) context: String,
    /// Nothing of its message before it is out of sight.
    pub(super) context_is_whole: bool,
    /// The first of its rows in its message, and the one after its last.
    #[serde(default)]
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of its first row in the pane; nothing after the rows were numbered anew.
    #[serde(default)]
    pub(super) row: Option<u64>,
    /// Its end was seen.
    pub(super) is_closed: bool,
    /// The agent has said something after it that is no report.
    #[serde(default)]
    pub(super) is_followed: bool,
}

impl Sighting {
    /// Says whether nothing of it has changed, wherever it stands.
    pub(super) fn reads_as(&self, other: &Self) -> bool {
        (&self.report, &self.context, self.context_is_whole, self.is_closed)
            == (&other.report, &other.context, other.context_is_whole, other.is_closed)
    }

    /// Returns how many rows it takes.
    pub(super) fn height(&self) -> u64 {
        self.end.saturating_sub(self.start) as u64
    }

    /// Says whether it begins above a row.
    pub(super) fn is_above(&self, row: u64) -> bool {
        self.row.is_some_and(|begin| begin < row)
    }
}

/// What the reader of a message must know of its interface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    /// The message is in sight from its beginning.
    pub(super) has_start: bool,
    /// How far text may reach to the right before it is wrapped.
    pub(super) cols: usize,
    /// Code has a colour and prose has none.
    pub(super) code_is_colored: bool,
}

/// Returns the reports in the rows of one message, top to bottom.
pub(super) fn sightings(rows: &[TextRow], page: Page) -> Vec<Sighting> {
    let Page { has_start, cols, code_is_colored } = page;
    let lines = unwrapped(rows, code_is_colored);
    let mut indents = lines.iter().filter(|line| !line.is_blank()).map(|line| line.indent);
    let base = if has_start { indents.next() } else { indents.min() };
    let mut scan = Scan {
        lines: &lines,
        base: base.unwrap_or(0),
        cols,
        has_start,
        context: String::new(),
        dropped: false,
        found: Vec::new(),
    };
    scan.run();
    scan.found
}

/// One row as the application wrote it.
struct Line {
    text: String,
    indent: usize,
    columns: usize,
    is_code: bool,
    /// The number of the terminal's row after it.
    end: usize,
}

impl Line {
    fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    fn is_fence(&self) -> bool {
        self.text.starts_with("```") || self.text.starts_with("~~~")
    }

    fn is_quote(&self) -> bool {
        self.text.starts_with(QUOTES) || self.is_change()
    }

    /// Says whether this is a line that a diff adds or takes away.
    fn is_change(&self) -> bool {
        let rest = self.text.strip_prefix(['+', '-']).unwrap_or_default();
        rest.starts_with(char::is_alphabetic) && starts_report(rest)
    }

    /// A list's next item never continues the one before.
    fn is_item(&self) -> bool {
        let rest = self.text.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = rest.len() < self.text.len() && rest.starts_with(['.', ')']);
        let is_numbered = is_numbered && rest[1..].starts_with(' ');
        let has_mark = self.text.starts_with(['-', '*', '•', '+', '◦', '‣', '–']);
        is_numbered || (has_mark && self.text.chars().nth(1) == Some(' '))
    }

    /// Says whether this row would have begun in the row before, had it not been a line of its
    /// own.
    fn fits_after(&self, before: &Self, cols: usize) -> bool {
        let word = self.text.split_whitespace().next().map_or(0, |word| word.chars().count());
        before.columns + 1 + word <= cols.saturating_sub(MARGIN)
    }
}

/// Joins what the terminal broke, and takes the marks off.
fn unwrapped(rows: &[TextRow], code_is_colored: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut whole = String::new();
    let is_shaded = rows.iter().find(|row| !row.text.is_empty()).is_some_and(|row| row.is_shaded);
    for (at, row) in rows.iter().enumerate() {
        whole.push_str(&row.text);
        if row.is_wrapped && at + 1 < rows.len() {
            continue;
        }
        let unmarked =
            whole.replacen(MARKS, " ", usize::from(whole.trim_start().starts_with(MARKS)));
        // A mark may be told to be drawn as text.
        let text = unmarked.trim_start_matches([' ', '\u{a0}', '\u{fe0e}', '\u{fe0f}']);
        lines.push(Line {
            indent: unmarked.chars().count() - text.chars().count(),
            columns: whole.chars().count(),
            // Code may stand on a background of its own.
            is_code: (code_is_colored && row.ink != Ink::Plain) || (row.is_shaded && !is_shaded),
            text: text.to_owned(),
            end: at + 1,
        });
        whole.clear();
    }
    lines
}

struct Scan<'l> {
    lines: &'l [Line],
    base: usize,
    cols: usize,
    has_start: bool,
    context: String,
    /// The context is longer than what is kept of it.
    dropped: bool,
    found: Vec<Sighting>,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut at = 0;
        let mut is_fenced = false;
        // The row of prose just before, which may have been wrapped into this one.
        let mut prose: Option<usize> = None;
        while let Some(line) = self.lines.get(at) {
            is_fenced ^= line.is_fence();
            let is_free = !is_fenced && !line.is_fence() && !line.is_quote();
            let next = if is_free && self.may_start(at, prose) { self.report(at) } else { None };
            prose = (next.is_none() && is_free && !line.is_blank()).then_some(at);
            let next = next.unwrap_or(at + 1);
            for line in &self.lines[at..next] {
                self.context.extend(line.text.chars().filter(|c| c.is_alphanumeric()));
            }
            self.trim_context();
            at = next;
        }
    }

    fn may_start(&self, at: usize, prose: Option<usize>) -> bool {
        let line = &self.lines[at];
        if !starts_report(&line.text) || line.indent > self.base + INDENT_MAX {
            return false;
        }
        // A keyword at the beginning of a row may be there by accident of wrapping, or quoted as
        // code; a tag is not.
        if has_tag(&line.text) {
            return true;
        }
        if line.is_code
            || is_code(&line.text)
            || line.is_item()
            || line.text.contains(COLUMN_GAP)
            || self.is_beside_change(at)
        {
            return false;
        }
        let Some(before) = prose.map(|at| &self.lines[at]) else { return true };
        let is_sentence_end = before.text.ends_with(['.', ':', '!', '?', ';', ')', '…']);
        line.fits_after(before, self.cols) || is_sentence_end
    }

    /// Says whether the row stands right above or below a line of a diff.
    fn is_beside_change(&self, at: usize) -> bool {
        let is_change = |at: usize| self.lines.get(at).is_some_and(Line::is_change);
        at.checked_sub(1).is_some_and(is_change) || is_change(at + 1)
    }

    /// Reads the report that begins in this row, and returns the row after it.
    fn report(&mut self, start: usize) -> Option<usize> {
        let head = &self.lines[start];
        let mut raw = head.text.clone();
        let is_contract = parse(&raw).is_some_and(|report| report.kind == ReportKind::Contract);
        let mut at = start + 1;
        let mut is_ended = false;
        while let Some(line) = self.lines.get(at) {
            let before = &self.lines[at - 1];
            if is_contract && ends_contract(&line.text) {
                is_ended = true;
                at += 1;
                break;
            }
            let is_wrapped = !line.fits_after(before, self.cols) && !line.is_item();
            let goes_on = is_wrapped || (is_contract && at - start < CONTRACT_ROWS_MAX);
            let is_other = line.is_fence() || (line.is_quote() && !is_contract);
            if line.is_blank() || is_other || starts_report(&line.text) || !goes_on {
                break;
            }
            raw.push(if is_wrapped { ' ' } else { '\n' });
            raw.push_str(&line.text);
            at += 1;
        }
        let report = whole(&raw)?;
        self.found.push(Sighting {
            report,
            context: self.context.clone(),
            context_is_whole: self.has_start || self.dropped,
            start: start.checked_sub(1).map_or(0, |before| self.lines[before].end),
            end: self.lines[at - 1].end,
            row: None,
            is_closed: is_ended,
            is_followed: false,
        });
        Some(at)
    }

    fn trim_context(&mut self) {
        let count = self.context.chars().count();
        if count > CONTEXT_CHARS {
            self.context = self.context.chars().skip(count - CONTEXT_CHARS).collect();
            self.dropped = true;
        }
    }
}

/// Reads a report of several lines; only a contract has more than one.
fn whole(raw: &str) -> Option<Report> {
    let (head, body) = raw.split_once('\n').unwrap_or((raw, ""));
    let mut report = parse(head)?;
    if !body.is_empty() {
        report.text = format!("{}\n{body}", report.text);
        raw.clone_into(&mut report.raw);
    }
    Some(report)
}

fn has_tag(text: &str) -> bool {
    parse(text).is_some_and(|report| report.tag.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, cols: usize) -> Vec<String> {
        let row = |text: &str| TextRow::plain(text);
        let rows: Vec<TextRow> = text.lines().map(row).collect();
        let page = Page { has_start: true, cols, code_is_colored: false };
        let found = sightings(&rows, page);
        found.iter().map(|sighting| sighting.report.raw.clone()).collect()
    }

    #[test]
    fn a_report_is_joined_where_the_interface_wrapped_it() {
        let text = "● PROGRESS: [3/7] — wiring the user\n  service to the new session store\n\n  \
                    BUILD: FAIL — src/app.ts:12 Type\n  'string' is not assignable to type\n  \
                    'number'\n  STATUS: DONE — built 6 endpoints, all\n  tests pass (23/23)\n";
        let reports = [
            "PROGRESS: [3/7] — wiring the user service to the new session store",
            "BUILD: FAIL — src/app.ts:12 Type 'string' is not assignable to type 'number'",
            "STATUS: DONE — built 6 endpoints, all tests pass (23/23)",
        ];
        assert_eq!(read(text, 40), reports);
    }

    #[test]
    fn prose_after_a_short_report_is_not_part_of_it() {
        let found =
            read("● BUILD: PASS\n  Now the tests.\n  STATUS: DONE — 3 tests\n  Good bye.", 80);
        assert_eq!(found, ["BUILD: PASS", "STATUS: DONE — 3 tests"]);
    }

    #[test]
    fn a_keyword_that_wrapping_put_first_is_prose() {
        let text =
            "● When all is well I am going to print\n  STATUS: DONE — and so on and so\n  forth";
        assert_eq!(read(text, 40), Vec::<String>::new());
        assert_eq!(read("● All is well.\n  STATUS: DONE — 6 files", 40).len(), 1);
    }

    #[test]
    fn a_contract_has_a_body() {
        let text = "  CONTRACT: users v1\n    GET /users -> User[]\n    errors: 400, 409\n  \
                    END CONTRACT\n  STATUS: DONE — 1 contract\n";
        let found = read(text, 80);
        assert_eq!(found[0], "CONTRACT: users v1\nGET /users -> User[]\nerrors: 400, 409");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn code_on_a_background_of_its_own_is_a_quotation() {
        let row = |text: &str, is_shaded| TextRow { is_shaded, ..TextRow::plain(text) };
        let page = Page { has_start: true, cols: 80, code_is_colored: false };
        let count = |is_shaded, status_is_shaded| {
            let rows =
                [row("So:", is_shaded), row("", false), row("STATUS: DONE", status_is_shaded)];
            sightings(&rows, page).len()
        };
        assert_eq!((count(false, true), count(false, false), count(true, true)), (0, 1, 1));
    }

    #[test]
    fn quotations_code_and_tables_are_left_out() {
        for text in [
            "  > STATUS: DONE — 6 files",
            "  ```\n  STATUS: DONE — 6 files\n  ```",
            "  The line:\n\n      STATUS: DONE — 6 files",
            "  │ STATUS: DONE — 6 files │",
            "● I print one of:\n  - STATUS: DONE — 6 files\n  - STATUS: ERROR — none",
            "● I print one of:\n  1) STATUS: DONE — 6 files\n  2) STATUS: ERROR — none",
            "● So:\n\n  -STATUS: DONE — 5 files\n  +STATUS: DONE — 6 files\n   STATUS: ERROR — none",
        ] {
            assert_eq!(read(text, 80), Vec::<String>::new(), "{text}");
        }
    }
}
