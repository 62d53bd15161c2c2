//! A dialog on the screen: what it asks, and what can be chosen.

use crate::model::{DialogKind, Region};

use super::look::Verdict;
use super::rules::Rules;
use super::view::View;

/// A dialog is never longer: what stands above is the conversation.
const DIALOG_ROWS_MAX: usize = 30;

/// What wants a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    pub kind: DialogKind,
    /// What it says, without its options.
    pub text: String,
    pub options: Vec<String>,
    /// Which option Enter would take.
    pub selected: Option<usize>,
}

/// Reads the dialog that the verdict saw.
pub(super) fn read(verdict: &Verdict, rules: &Rules, view: &View) -> Option<Dialog> {
    let kind = verdict.kind?;
    let bottom = view.region(Region::Bottom)?;
    let rows: Vec<&str> = bottom.lines().collect();
    let first = rows.len().saturating_sub(DIALOG_ROWS_MAX);
    let mut dialog = Dialog { kind, text: String::new(), options: Vec::new(), selected: None };
    let mut texts: Vec<&str> = Vec::new();
    for row in &rows[first..] {
        let captures = rules.option.as_ref().and_then(|option| option.captures(row));
        if let Some(text) = captures.as_ref().and_then(|captures| captures.name("text")) {
            if captures.as_ref().is_some_and(|captures| captures.name("mark").is_some()) {
                dialog.selected = Some(dialog.options.len());
            }
            dialog.options.push(plain(text.as_str()).to_owned());
        } else if is_edge(row) {
            // A rule or a frame begins the dialog: what came before is not part of it.
            if dialog.options.is_empty() {
                texts.clear();
            }
        } else if dialog.options.is_empty() {
            texts.push(plain(row));
        }
    }
    let start = texts.iter().rposition(|text| starts_conversation(text)).map_or(0, |at| at + 1);
    let texts: Vec<&str> = texts[start..].iter().copied().filter(|text| !text.is_empty()).collect();
    dialog.text = texts.join("\n");
    Some(dialog)
}

/// Returns the text without the frame around it.
fn plain(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '│' | '┃' | '▎' | '╹'))
}

/// Says whether the row is a line and nothing else.
fn is_edge(row: &str) -> bool {
    let row = row.trim();
    let is_line = |c: char| matches!(c, '─' | '━' | '╭' | '╮' | '═' | '▀' | '▄');
    row.chars().count() > 3 && row.chars().all(is_line)
}

fn starts_conversation(text: &str) -> bool {
    text.starts_with(['●', '•', '✦', '⏺', '▣', '⎿', '└'])
}
