//! Whose words a row is: the agent's own, an echo, a tool's, or the user interface's.

use crate::model::BlockKind;

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
pub(super) fn classify(rules: &Rules, rows: &[TextRow]) -> Vec<Part> {
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
    parts
}

/// Returns the kind of the block that the row begins, and whether it is one of single rows.
pub(super) fn start_of(rules: &Rules, text: &str) -> Option<(BlockKind, bool)> {
    let first = rules.block_starts.matches(text).iter().next()?;
    rules.blocks.get(first).copied()
}

fn headless(rules: &Rules, row: &TextRow) -> BlockKind {
    let is_message = rules.message_row.as_ref().is_some_and(|row_of| row_of.is_match(&row.text));
    if is_message && !(rules.echo_is_shaded && row.is_shaded) {
        BlockKind::Own
    } else {
        BlockKind::Chrome
    }
}
