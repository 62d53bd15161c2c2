//! A dialog on the screen: what it asks, and what can be chosen.

use std::collections::BTreeMap;

use crate::model::{Color, DialogKind, Question, Region, Row, Run, Style, Subject};
use crate::screen::Screen;

use super::asks;
use super::look::Verdict;
use super::rules::Rules;
use super::told_command::ToldCommand;
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
    /// The options stand side by side, not one below the other.
    pub is_row: bool,
    /// What it asks permission for, and which option says yes to that, once; nothing, unless all
    /// of it could be read.
    pub asks: Option<(Subject, usize)>,
}

impl Dialog {
    /// Returns what yes would permit, if the dialog asks for a permission that could be read.
    pub fn question(&self) -> Option<Question> {
        let (subject, yes) = self.asks.clone()?;
        let (fingerprint, text) = (self.fingerprint(), self.text.clone());
        Some(Question { fingerprint, subject, text, yes })
    }

    /// Returns a number for what it asks and offers, at any width and with any option selected:
    /// who answers a dialog names the one that was shown.
    pub fn fingerprint(&self) -> String {
        let parts =
            [self.kind.to_string(), self.text.clone()].into_iter().chain(self.options.clone());
        let mut hash = FNV_START;
        for part in parts {
            let letters = part.chars().filter(|c| !c.is_whitespace()).collect::<String>() + "\n";
            for byte in letters.bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(FNV_STEP);
            }
        }
        format!("{hash:016x}")
    }
}

/// The two numbers of the FNV-1a hash, which is the same on every machine and in every version.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_STEP: u64 = 0x0000_0100_0000_01b3;

/// Reads the dialog that the verdict saw: its options from the bottom up, then what stands above
/// them.
pub(super) fn read(
    verdict: &Verdict,
    rules: &Rules,
    view: &View,
    screen: &Screen,
    told: &ToldCommand,
) -> Option<Dialog> {
    let kind = verdict.kind?;
    let rows: Vec<&str> = view.region(Region::Bottom)?.lines().collect();
    let above = view.rows.len().saturating_sub(rows.len());
    let mut found: Vec<Entry> = Vec::new();
    let mut first = rows.len();
    for (at, row) in rows.iter().enumerate().rev().take(DIALOG_ROWS_MAX) {
        let mut entries = entries(rules, row, above + at);
        let is_list = found.last().is_some_and(|entry| entry.number.is_none());
        if entries.is_empty() && is_list
            || found.last().is_some_and(|entry| entry.number == Some(1))
        {
            break;
        }
        if !entries.is_empty() {
            first = at;
            for entry in &mut entries {
                entry.row = view.bottom_row + at;
            }
            entries.reverse();
            found.extend(entries);
        }
    }
    found.reverse();
    let marked = found.iter().position(|entry| entry.is_selected);
    let selected = marked.or_else(|| shaded(&found, screen).filter(|_| rules.selected_is_shaded));
    let is_row = found.len() > 1 && found.iter().all(|entry| entry.row == found[0].row);
    let options: Vec<String> = found.into_iter().map(|entry| entry.text).collect();
    let above = rows_above(&rows[..first]);
    let own = first - above.len()..first;
    let is_approval = kind == DialogKind::Approval;
    let own_rows = own.map(|at| (rows[at], view.bottom_row + at));
    let page = asks::Page { view, screen, told };
    let asks = is_approval.then(|| asks::read(own_rows, &options, rules, &page)).flatten();
    Some(Dialog { kind, text: text_of(above), options, selected, is_row, asks })
}

/// One thing that can be chosen.
struct Entry {
    number: Option<u32>,
    text: String,
    is_selected: bool,
    /// Where it stands: the row of the screen, and how many characters stand before it.
    row: usize,
    start: usize,
}

/// Returns the only entry whose background is not that of most of the rows with entries.
fn shaded(entries: &[Entry], screen: &Screen) -> Option<usize> {
    let mut columns: BTreeMap<Shade, usize> = BTreeMap::new();
    let mut shades = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let row = screen.row(u16::try_from(entry.row).ok()?);
        // Several entries may share a row.
        if at == 0 || entries[at - 1].row != entry.row {
            for run in &row.runs {
                *columns.entry(shade(run)).or_default() += usize::from(run.columns);
            }
        }
        shades.push(shade_at(&row, entry.start)?);
    }
    let (usual, _) = columns.into_iter().max_by_key(|(_, columns)| *columns)?;
    let mut unusual = (0..entries.len()).filter(|at| shades[*at] != usual);
    let selected = unusual.next()?;
    unusual.next().is_none().then_some(selected)
}

/// What is behind a text.
type Shade = (Color, bool);

fn shade(run: &Run) -> Shade {
    (run.style.background, run.style.has(Style::INVERSE))
}

/// Returns what is behind the character.
fn shade_at(row: &Row, character: usize) -> Option<Shade> {
    let mut end = 0;
    let run = row.runs.iter().find(|run| {
        end += run.text.chars().count();
        character < end
    })?;
    Some(shade(run))
}

fn entries(rules: &Rules, row: &str, at: usize) -> Vec<Entry> {
    let Some(option) = &rules.option else { return Vec::new() };
    let entry = |captures: regex::Captures| {
        let found = captures.name("text")?;
        let start = row[..found.start()].chars().count();
        let text = plain(found.as_str());
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let number = text[..digits].parse().ok().filter(|_| text[digits..].starts_with(". "));
        let text = if number.is_some() { text[digits + 1..].trim_start() } else { text };
        let is_selected = captures.name("mark").is_some();
        Some(Entry { number, text: text.to_owned(), is_selected, row: at, start })
    };
    option.captures_iter(row).filter_map(entry).collect()
}

/// Returns those of the rows above the options that belong to the dialog.
fn rows_above<'r, 't>(rows: &'r [&'t str]) -> &'r [&'t str] {
    let bar = |row: &str| row.trim_start().chars().next().filter(|c| FRAME.contains(c));
    let side = rows.last().and_then(|row| bar(row));
    let own = rows.iter().rev().take(DIALOG_ROWS_MAX).take_while(|row| {
        let is_edge = is_line(row) && !row.contains(INNER_LINE);
        !is_edge && !starts_conversation(row) && (side.is_none() || bar(row) == side)
    });
    &rows[rows.len() - own.count()..]
}

fn text_of(rows: &[&str]) -> String {
    let texts = rows.iter().map(|row| plain(row)).filter(|row| !row.is_empty() && !is_line(row));
    texts.collect::<Vec<_>>().join("\n")
}

/// Divides the parts of one dialog.
const INNER_LINE: char = '╌';
/// What stands at the sides of a dialog.
const FRAME: &[char] = &['│', '┃', '▎'];

/// Returns the text without the frame around it.
pub(super) fn plain(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || FRAME.contains(&c))
}

/// Says whether the row is a line and nothing else.
pub(super) fn is_line(row: &str) -> bool {
    let row = row.trim();
    let is_part = |c: char| "─━╌═▀▄╭╮╰╯╻╹┌┐└┘┏┓┗┛".contains(c);
    row.chars().count() > 3 && row.chars().all(is_part)
}

fn starts_conversation(row: &str) -> bool {
    row.trim_start().starts_with(['●', '•', '✦', '◆', '⏺', '▣', '⎿', '└', '›', '❯'])
}
