//! Cuts the rows in sight into turns, and finds the reports of each.

use crate::model::BlockKind;

use super::blocks::{classify, start_of};
use super::excerpt::Excerpt;
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
}

/// Returns the turns in sight, top to bottom.
pub(super) fn segments(rules: &Rules, excerpt: &Excerpt, cols: usize) -> Vec<Segment> {
    let rows = excerpt.rows.as_slice();
    let parts = classify(rules, rows);
    let mut segments = vec![Segment::default()];
    let mut at = 0;
    while at < rows.len() {
        let part = parts[at];
        // Each row of an echo may carry its mark.
        let is_joined = |next: usize| {
            part.kind == BlockKind::Echo
                && start_of(rules, &rows[next].text) == Some((BlockKind::Echo, true))
        };
        let goes_on = |next: &usize| {
            parts[*next].kind == part.kind && (!parts[*next].is_start || is_joined(*next))
        };
        let end = (at + 1..rows.len()).find(|next| !goes_on(next)).unwrap_or(rows.len());
        let block = &rows[at..end];
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
    if segments[0].reports.is_empty() {
        segments.remove(0);
    }
    segments
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
