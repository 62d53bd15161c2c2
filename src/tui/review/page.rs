//! The rows of one file: notes, hunks, lines, and comments in their places.

use std::collections::BTreeMap;

use super::comment::{Anchor, Comment};
use super::glyph::columns;
use crate::model::{DiffFile, FileHunks};
use crate::tui::prompt::TextEditor;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DiffRow {
    /// What is to be said of the file.
    Note(String),
    Head {
        hunk: usize,
        is_folded: bool,
    },
    Line {
        hunk: usize,
        line: usize,
        /// The first character of it that is shown here; more than nothing where a line is broken.
        from: usize,
    },
    /// A row of a comment, by its place in the list.
    Comment {
        comment: usize,
        text: String,
    },
}

/// All rows of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiffPage {
    pub rows: Vec<DiffRow>,
}

/// What a page is made of.
pub(crate) struct PageContents<'a> {
    pub file: Option<&'a DiffFile>,
    pub hunks: Option<&'a FileHunks>,
    /// The comments on this file, by their places in the list.
    pub comments: Vec<(usize, &'a Comment)>,
    pub is_folded: &'a dyn Fn(u64) -> bool,
    /// Columns for the text of a line, and whether longer ones are broken.
    pub width: usize,
    pub wraps: bool,
}

impl DiffPage {
    /// Returns the rows.
    pub(crate) fn new(matter: &PageContents<'_>) -> Self {
        let mut page = Self::default();
        page.notes(matter);
        let empty = FileHunks::default();
        let hunks = matter.hunks.unwrap_or(&empty);
        let mut placed: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (at, comment) in &matter.comments {
            match comment.anchor.find(hunks) {
                Some(place) => placed.entry(place).or_default().push(*at),
                None => page.gone(*at, comment, matter),
            }
        }
        for (at, hunk) in hunks.hunks.iter().enumerate() {
            let is_folded = (matter.is_folded)(hunk.old_start);
            page.rows.push(DiffRow::Head { hunk: at, is_folded });
            if is_folded {
                continue;
            }
            for line in 0..hunk.lines.len() {
                page.line(matter, hunks, (at, line));
                for comment in placed.remove(&(at, line)).unwrap_or_default() {
                    page.comment(comment, matter, "");
                }
            }
        }
        if hunks.is_cut {
            page.rows.push(DiffRow::Note("The rest of this file is too long to show".into()));
        }
        page
    }

    fn notes(&mut self, matter: &PageContents<'_>) {
        let Some(file) = matter.file else {
            self.rows.push(DiffRow::Note("This file no longer differs".to_owned()));
            return;
        };
        let modes = match (&file.old_mode, &file.new_mode) {
            (Some(old), Some(new)) if old != new => Some(format!("mode {old} → {new}")),
            (Some(_) | None, Some(_) | None) => None,
        };
        let renamed = file.old_path.as_ref().map(|old| format!("renamed from {old}"));
        let untracked = file.is_untracked.then(|| "new, and unknown to git".to_owned());
        let notes = [renamed, modes, untracked, file.note.clone()];
        self.rows.extend(notes.into_iter().flatten().map(DiffRow::Note));
        let is_told = matter.hunks.is_some_and(|hunks| hunks.hunks.is_empty());
        if is_told && self.rows.is_empty() {
            self.rows.push(DiffRow::Note("No line differs".to_owned()));
        }
    }

    fn line(&mut self, matter: &PageContents<'_>, hunks: &FileHunks, (hunk, line): (usize, usize)) {
        self.rows.push(DiffRow::Line { hunk, line, from: 0 });
        let own = &hunks.hunks[hunk].lines[line];
        if !matter.wraps || own.text.len() < matter.width / 4 {
            return;
        }
        let mut column = 0;
        for (from, columns) in columns(own).into_iter().enumerate() {
            if column + columns > matter.width.max(2) {
                self.rows.push(DiffRow::Line { hunk, line, from });
                column = 0;
            }
            column += columns;
        }
    }

    fn gone(&mut self, at: usize, comment: &Comment, matter: &PageContents<'_>) {
        let number = comment.anchor.number;
        // While the lines are on their way, nobody knows.
        let is_known = matter.hunks.is_some() || matter.file.is_none();
        let words = if is_known {
            let text: String = comment.anchor.text.trim().chars().take(60).collect();
            format!("on a line that is gone ({number}: {text}): ")
        } else {
            format!("line {number}: ")
        };
        self.comment(at, matter, &words);
    }

    fn comment(&mut self, comment: usize, matter: &PageContents<'_>, before: &str) {
        let own = matter.comments.iter().find(|(at, _)| *at == comment);
        let Some((_, own)) = own else { return };
        let text = format!("{before}{}", own.text);
        for text in TextEditor::new(&text).rows(matter.width.saturating_sub(2)).rows {
            self.rows.push(DiffRow::Comment { comment, text });
        }
    }

    /// Returns what the line of a row is known by.
    pub(crate) fn anchor(&self, at: usize, hunks: &FileHunks) -> Option<Anchor> {
        let Some(DiffRow::Line { hunk, line, .. }) = self.rows.get(at) else { return None };
        Some(Anchor::of(&hunks.path, &hunks.hunks[*hunk].lines[*line]))
    }

    /// Returns the row of a line that is nearest below, or else above.
    pub(crate) fn near_line(&self, at: usize) -> Option<usize> {
        let is_line = |row: &usize| matches!(self.rows[*row], DiffRow::Line { .. });
        let below = (at..self.rows.len()).find(is_line);
        below.or_else(|| (0..at.min(self.rows.len())).rev().find(is_line))
    }

    /// Returns the row where a line begins.
    pub(crate) fn row_of(&self, place: (usize, usize)) -> Option<usize> {
        let is_it = |row: &DiffRow| matches!(row, DiffRow::Line { hunk, line, from: 0 } if (*hunk, *line) == place);
        self.rows.iter().position(is_it)
    }

    /// Returns the comment that a row shows, or that stands right below its line.
    pub(crate) fn comment_at(&self, at: usize) -> Option<usize> {
        match self.rows.get(at)? {
            DiffRow::Comment { comment, .. } => Some(*comment),
            DiffRow::Line { hunk, line, .. } => {
                let is_same = |row: &&DiffRow| matches!(row, DiffRow::Line { hunk: h, line: l, .. } if (h, l) == (hunk, line));
                match self.rows[at..].iter().find(|row| !is_same(row))? {
                    DiffRow::Comment { comment, .. } => Some(*comment),
                    DiffRow::Note(_) | DiffRow::Head { .. } | DiffRow::Line { .. } => None,
                }
            }
            DiffRow::Note(_) | DiffRow::Head { .. } => None,
        }
    }

    /// Returns the hunk that a row belongs to.
    pub(crate) fn hunk_at(&self, at: usize) -> Option<usize> {
        let mut before = self.rows.get(..=at.min(self.rows.len().checked_sub(1)?))?.iter().rev();
        before.find_map(|row| match row {
            DiffRow::Head { hunk, .. } | DiffRow::Line { hunk, .. } => Some(*hunk),
            DiffRow::Note(_) | DiffRow::Comment { .. } => None,
        })
    }

    /// Returns the head of the next hunk, or of the one before.
    pub(crate) fn next_head(&self, at: usize, is_down: bool) -> Option<usize> {
        let is_head = |place: &usize| matches!(self.rows[*place], DiffRow::Head { .. });
        if is_down {
            (at + 1..self.rows.len()).find(is_head)
        } else {
            (0..at.min(self.rows.len())).rev().find(is_head)
        }
    }
}
