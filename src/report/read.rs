//! Finds the reports in a text that is known to be an agent's own.

use super::grammar::{ends_contract, parse};
use super::reported::{Report, ReportKind};

/// A contract that goes on for longer lacks its end.
const CONTRACT_LINES_MAX: usize = 200;

/// Returns the reports in a message, such as a hook hands over: one a line, outside of code
/// blocks and quotations.
pub fn read(message: &str) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    let mut contract_lines = None;
    let mut fence: Option<&str> = None;
    for line in message.lines() {
        let trimmed = line.trim_start();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            match fence {
                None => fence = Some(mark),
                Some(open) if open == mark => fence = None,
                Some(_) => {}
            }
            continue;
        }
        if let Some(lines) = contract_lines.filter(|lines| *lines < CONTRACT_LINES_MAX) {
            let is_end = line.trim().is_empty() || ends_contract(line);
            if !is_end && parse(line).is_none() {
                if let Some(contract) = reports.last_mut() {
                    contract.text = format!("{}\n{}", contract.text, line.trim_end());
                    contract.raw = format!("{}\n{}", contract.raw, line.trim_end());
                }
                contract_lines = Some(lines + 1);
                continue;
            }
            contract_lines = None;
        }
        let is_quoted = trimmed.starts_with('>') || line.starts_with("    ");
        if fence.is_some() || is_quoted {
            continue;
        }
        if let Some(report) = parse(line) {
            contract_lines = (report.kind == ReportKind::Contract).then_some(0);
            reports.push(report);
        }
    }
    reports
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
    fn code_and_quotations_do_not_count() {
        let message = "```\nSTATUS: DONE — x\n```\n> STATUS: DONE — x\n    STATUS: DONE — x\n";
        assert_eq!(read(message), []);
    }
}
