//! Turns a report that was made by a call into the form of a line.

use super::grammar::TEXT_CHARS_MAX;
use super::reported::{Report, ReportKind};
use crate::model::bare;

/// Says what a report lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("A report of this kind says nothing without a text")]
pub struct EmptyReport;

impl Report {
    /// Makes a report of a call's words. Colours and control characters are left out; lines are kept
    /// only in the body of a contract.
    pub fn declare(kind: ReportKind, text: &str) -> Result<Self, EmptyReport> {
        let is_contract = kind == ReportKind::Contract;
        let text = bare(text);
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        let text = lines.join(if is_contract { "\n" } else { " " });
        let text: String = text.trim().chars().take(TEXT_CHARS_MAX).collect();
        let needs_text = match kind {
            ReportKind::Need | ReportKind::Contract | ReportKind::Artifact => true,
            ReportKind::Status(_) | ReportKind::Progress { .. } | ReportKind::Build { .. } => false,
        };
        if needs_text && !text.contains(char::is_alphanumeric) {
            return Err(EmptyReport);
        }
        let keyword = kind.name().to_uppercase();
        let value = match kind {
            ReportKind::Progress { step, steps } => Some(format!("[{step}/{steps}]")),
            ReportKind::Status(_)
            | ReportKind::Build { .. }
            | ReportKind::Need
            | ReportKind::Contract
            | ReportKind::Artifact => kind.value().map(|value| value.to_uppercase()),
        };
        let raw = match value {
            None => format!("{keyword}: {text}"),
            Some(value) if text.is_empty() => format!("{keyword}: {value}"),
            Some(value) => format!("{keyword}: {value} — {text}"),
        };
        Ok(Self { kind, text, tag: None, raw })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Status, parse};
    use super::*;

    #[test]
    fn a_call_and_a_line_of_the_same_words_make_the_same_report() {
        let lines = [
            "STATUS: DONE — built 6 + tests pass",
            "STATUS: BLOCKED — the key",
            "STATUS: ERROR",
            "PROGRESS: [3/7] — users",
            "BUILD: PASS",
            "BUILD: FAIL — 2 errors",
            "NEED: src/a.rs from db — types",
            "CONTRACT: users v1",
            "ARTIFACT: out/a.zip — archive",
        ];
        for line in lines {
            let read = parse(line).unwrap();
            assert_eq!(Report::declare(read.kind, &read.text).as_ref(), Ok(&read), "{line}");
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_left_out_and_lines_stay_in_contracts_alone() {
        let done = ReportKind::Status(Status::Done);
        let report = Report::declare(done, "a\x1b[31m\nb\u{9b}c\t d\r\n").unwrap();
        assert_eq!(report.text, "a bc  d");
        let contract = Report::declare(ReportKind::Contract, "users v1\n  GET /users\n").unwrap();
        assert_eq!(contract.text, "users v1\n  GET /users");
        assert_eq!(Report::declare(ReportKind::Need, " — "), Err(EmptyReport));
    }
}
