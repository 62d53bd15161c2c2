//! Whose words a row is: the agent's own, an echo, a tool's, or the user interface's.

use crate::model::BlockKind;
use crate::protocol::starts_report;

use super::general_blocks::{self, Prompts};
use super::rules::Rules;
use super::view::TextRow;

/// What a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) kind: BlockKind,
    /// The row begins a block.
    pub(super) is_start: bool,
}

/// Returns for each row what it belongs to.
pub(super) fn classify(rules: &Rules, rows: &[TextRow], prompts: &Prompts) -> Vec<Part> {
    if rules.is_general {
        return general_blocks::classify(rows, prompts);
    }
    let mut parts: Vec<Part> = Vec::with_capacity(rows.len());
    // Nothing is known of a block that began out of sight.
    let mut current: Option<(BlockKind, bool)> = None;
    for (at, row) in rows.iter().enumerate() {
        if let Some(previous) = at.checked_sub(1).filter(|at| rows[*at].is_wrapped) {
            parts.push(Part { is_start: false, ..parts[previous] });
            continue;
        }
        let is_plain = !row.is_shaded && !row.text.is_empty();
        if rules.echo_is_shaded && is_plain && current == Some((BlockKind::Echo, false)) {
            // Some interfaces keep the prompt at the top while its answer scrolls below it.
            current = None;
        }
        let part = match (start_of(rules, &row.text), current) {
            (Some(block), _) => {
                current = Some(block);
                Part { kind: block.0, is_start: true }
            }
            (None, None) => Part { kind: headless(rules, row), is_start: false },
            (None, Some((_, true))) => {
                current = Some((rules.rest, false));
                Part { kind: rules.rest, is_start: true }
            }
            (None, Some((kind, false))) => Part { kind, is_start: false },
        };
        parts.push(part);
    }
    if is_of_other_version(&parts, rows, prompts) {
        return general_blocks::classify(rows, prompts);
    }
    parts
}

/// Says whether the marks of the rules are not those in sight: a prompt that was sent and a report stand there, and
/// by the rules there is no prompt, or no word of the agent's own.
fn is_of_other_version(parts: &[Part], rows: &[TextRow], prompts: &Prompts) -> bool {
    let begins = |kind| parts.iter().any(|part| part.is_start && part.kind == kind);
    if prompts.is_empty() || (begins(BlockKind::Echo) && begins(BlockKind::Own)) {
        return false;
    }
    let reports =
        |row: &TextRow| starts_report(row.text.trim_start_matches(|c: char| !c.is_alphanumeric()));
    rows.iter().any(reports) && rows.iter().any(|row| prompts.begins_in(row))
}

/// Returns the kind of the block that the row begins, and whether it is one of single rows.
pub(super) fn start_of(rules: &Rules, text: &str) -> Option<(BlockKind, bool)> {
    let first = rules.block_starts.matches(text).iter().next()?;
    rules.blocks.get(first).copied()
}

/// Says whether a row is one of a prompt's echo.
pub(super) fn is_echo(rules: &Rules, row: &TextRow, prompts: &Prompts) -> bool {
    if rules.is_general {
        return prompts.begins_in(row);
    }
    start_of(rules, &row.text).is_some_and(|block| block.0 == BlockKind::Echo)
}

fn headless(rules: &Rules, row: &TextRow) -> BlockKind {
    let is_message = rules.message_row.as_ref().is_some_and(|row_of| row_of.is_match(&row.text));
    if is_message && !(rules.echo_is_shaded && row.is_shaded) {
        BlockKind::Own
    } else {
        BlockKind::Chrome
    }
}
