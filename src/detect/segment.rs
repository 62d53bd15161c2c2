//! Cuts the rows in sight into turns, and finds the reports of each.

use crate::model::BlockKind;
use crate::protocol::{ends_contract, starts_report};

use super::blocks::{classify, start_of};
use super::excerpt::Excerpt;
use super::general_blocks::{BARS, Prompts};
use super::message::{Page, Sighting, sightings};
use super::rules::Rules;
use super::view::TextRow;

/// So many letters of an echo tell it from others at any width.
const ECHO_CHARS: usize = 24;

/// A turn as it is in sight.
#[derive(Debug, Default)]
pub(super) struct Segment {
    /// The first letters of the prompt; absent if its beginning is out of sight.
    pub(super) echo: Option<String>,
    /// The number of the row in which the echo begins, if it has one.
    pub(super) row: Option<u64>,
    pub(super) reports: Vec<Sighting>,
    /// The agent has said something in it.
    pub(super) is_answered: bool,
    /// The last that the agent has said in it, in words whose beginning is in sight, is no report.
    pub(super) ends_in_words: bool,
    /// In which column the last report begins.
    column: usize,
}

impl Segment {
    /// Says whether the echo is that of a prompt which began like this.
    pub(super) fn echoes(&self, prompt: Option<&String>) -> bool {
        match (&self.echo, prompt) {
            (Some(echo), Some(prompt)) => {
                prompt.starts_with(echo.as_str()) || echo.starts_with(prompt.as_str())
            }
            _ => false,
        }
    }

    /// Notes that a block of the agent's own words follows what was reported so far.
    fn note_block(
        &mut self,
        found: &[Sighting],
        rows: &[TextRow],
        (is_start, is_general): (bool, bool),
    ) {
        let first = rows.iter().position(|row| !row.text.trim().is_empty());
        let Some(first) = first else { return };
        let column = |at: usize| rows.get(at).map_or(0, |row| text_column(&row.text));
        let is_report = found.first().is_some_and(|sighting| sighting.start <= first);
        let is_other = is_general && (column(first) != self.column || is_trailer(rows));
        if !is_report && !is_other {
            self.reports.iter_mut().for_each(|before| before.is_followed = true);
        }
        if !found.is_empty() || !is_other {
            // Words whose beginning is out of sight may be the rest of a report.
            self.ends_in_words = found.last().map_or(is_start, |last| last.is_followed);
        }
        self.column = found.last().map_or(self.column, |sighting| column(sighting.start));
    }
}

/// Returns the turns in sight, top to bottom.
pub(super) fn segments(
    rules: &Rules,
    excerpt: &Excerpt,
    cols: usize,
    prompts: &Prompts,
) -> Vec<Segment> {
    let rows = excerpt.rows.as_slice();
    let parts = classify(rules, rows, prompts);
    let mut segments = vec![Segment::default()];
    let mut at = 0;
    while at < rows.len() {
        let part = parts[at];
        // Each row of an echo may carry its mark.
        let is_joined = |next: usize| {
            part.kind == BlockKind::Echo
                && !rules.is_general
                && start_of(rules, &rows[next].text) == Some((BlockKind::Echo, true))
        };
        let goes_on = |next: &usize| {
            parts[*next].kind == part.kind && (!parts[*next].is_start || is_joined(*next))
        };
        let end = (at + 1..rows.len()).find(|next| !goes_on(next)).unwrap_or(rows.len());
        let block = &rows[at..end];
        let is_own = rules.is_general && part.kind == BlockKind::Own && part.is_start;
        let unstarred = starred(block).or_else(|| unbarred(block)).filter(|_| is_own);
        let block = unstarred.as_deref().unwrap_or(block);
        match part.kind {
            BlockKind::Echo if part.is_start => {
                // The first row in sight may be in the middle of an echo.
                let letters = block.iter().map(|row| letters(&row.text));
                let echo = letters.into_iter().find(|echo| !echo.is_empty()).filter(|_| at > 0);
                if echo.is_some() {
                    let row = excerpt.number(at);
                    segments.push(Segment { echo, row, ..Segment::default() });
                }
            }
            BlockKind::Own => {
                let code_is_colored = rules.code_is_colored;
                let page = Page { has_start: part.is_start, cols, code_is_colored };
                let mut found = sightings(block, page);
                let is_followed = (end..rows.len()).any(|next| {
                    parts[next].kind != BlockKind::Chrome && !rows[next].text.is_empty()
                });
                close(&mut found, block, is_followed);
                note_followers(&mut found, block, rules.is_general);
                if let Some(segment) = segments.last_mut() {
                    segment.note_block(&found, block, (part.is_start, rules.is_general));
                }
                for sighting in &mut found {
                    sighting.row = excerpt.number(at + sighting.start);
                }
                if let Some(segment) = segments.last_mut() {
                    segment.reports.extend(found);
                    segment.is_answered |= block.iter().any(|row| !row.text.trim().is_empty());
                }
            }
            BlockKind::Echo | BlockKind::Tool | BlockKind::Chrome => {}
        }
        at = end;
    }
    // Alone, it tells that the agent has gone on.
    let goes_on = segments.len() == 1 && segments[0].ends_in_words;
    if segments[0].reports.is_empty() && !goes_on {
        segments.remove(0);
    }
    segments
}

/// Returns the rows of a panel without the bar before each.
fn unbarred(rows: &[TextRow]) -> Option<Vec<TextRow>> {
    let bar = rows.first()?.text.trim_start().chars().next().filter(|c| BARS.contains(c))?;
    let without = |row: &TextRow| {
        let text = row.text.replacen(bar, " ", 1).trim_end().to_owned();
        TextRow { text, ..row.clone() }
    };
    Some(rows.iter().map(without).collect())
}

/// Returns the rows with another mark in place of a star, which would be taken for that of a list.
fn starred(rows: &[TextRow]) -> Option<Vec<TextRow>> {
    let first = rows.first().filter(|row| row.text.trim_start().starts_with("* "))?;
    let mut rows = rows.to_vec();
    rows[0].text = first.text.replacen('*', "●", 1);
    Some(rows)
}

/// Notes of each report whether other words follow it in its block.
fn note_followers(found: &mut [Sighting], rows: &[TextRow], is_general: bool) {
    let covered: Vec<(usize, usize)> = found.iter().map(|one| (one.start, one.end)).collect();
    let is_report = |at: usize| covered.iter().any(|(start, end)| (*start..*end).contains(&at));
    for sighting in found {
        let rest = sighting.end..rows.len();
        let said: Vec<usize> = rest
            // What has no letter is a line that divides, and no prose.
            .filter(|at| !is_report(*at) && rows[*at].text.contains(char::is_alphanumeric))
            .filter(|at| !ends_contract(&rows[*at].text) && !starts_report(&rows[*at].text))
            .collect();
        let begin = rows.get(sighting.start).map_or(0, |row| text_column(&row.text));
        let is_end = |at: &usize| {
            let is_elsewhere = text_column(&rows[*at].text) != begin;
            is_general && (is_elsewhere || is_trailer(&rows[*at..=*at]))
        };
        sighting.is_followed = said.iter().any(|at| !is_end(at));
    }
}

/// Returns the column in which the words of a row begin, behind a mark.
fn text_column(text: &str) -> usize {
    text.chars().take_while(|c| !c.is_alphanumeric()).filter(|c| *c != '\u{fe0e}').count()
}

/// Says whether these rows are what a program without rules may put below an answer: figures, or words behind
/// a sign.
fn is_trailer(rows: &[TextRow]) -> bool {
    rows.iter().all(|row| {
        let text = row.text.trim();
        let is_sign = |c: char| !c.is_alphanumeric() && !c.is_ascii_punctuation();
        let figures = text.chars().filter(char::is_ascii_digit).count();
        text.is_empty() || text.starts_with(is_sign) || (figures > 0 && text.chars().count() < 60)
    })
}

/// A report is closed if something of the conversation follows it.
fn close(found: &mut [Sighting], rows: &[TextRow], is_followed: bool) {
    for sighting in found {
        let rest = rows.get(sighting.end..).unwrap_or_default();
        sighting.is_closed |= is_followed || rest.iter().any(|row| !row.text.is_empty());
    }
}

pub(super) fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    letters.take(ECHO_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<TextRow> {
        let row = |text: &str| TextRow::plain(text);
        text.lines().map(row).collect()
    }

    /// Returns of each report in a message whether other words follow it.
    fn followed(text: &str, is_general: bool) -> Vec<bool> {
        let rows = rows(text);
        let page = Page { has_start: true, cols: 80, code_is_colored: false };
        let mut found = sightings(&rows, page);
        note_followers(&mut found, &rows, is_general);
        found.iter().map(|sighting| sighting.is_followed).collect()
    }

    #[test]
    fn a_report_that_prose_follows_is_no_last_word() {
        assert_eq!(followed("● STATUS: DONE — x\n\n  is what I print.", false), [true]);
        assert_eq!(followed("● Done.\n\n  STATUS: DONE — x\n  BUILD: PASS", false), [false; 2]);
        let contract = "● STATUS: DONE — x\n  CONTRACT: a\n  GET /b\n  END CONTRACT";
        assert_eq!(followed(contract, false), [false; 2]);
    }

    #[test]
    fn figures_and_what_stands_elsewhere_are_no_prose_where_no_rule_knows_them() {
        for trailer in
            ["✻ Cooked for 5s", "Tokens: 636 sent, 78 received.", "                ? for help"]
        {
            let text = format!("STATUS: DONE — x\n\n{trailer}");
            assert_eq!(followed(&text, true), [false], "{trailer}");
            assert_eq!(followed(&text, false), [true], "{trailer}");
        }
        assert_eq!(followed("STATUS: DONE — x\n\nNow I go on.", true), [true]);
    }
}
