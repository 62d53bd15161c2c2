//! Wraps the lines of a screen anew for another width and height.

use std::collections::VecDeque;

use crate::model::Size;

use super::cluster::Clusters;
use super::history::History;
use super::line::{FILLER, Line, Spot, Tables};
use super::links::Links;
use super::look::{Look, LookId, Looks};

/// A line without end must not be taken back from the history for ever.
const TAKEN_BACK_SCREENS: usize = 4;

/// The history, with the tables that its rows need to be rows of a screen again.
pub(super) struct Past<'a> {
    pub(super) history: &'a mut History,
    pub(super) looks: &'a mut Looks,
    pub(super) clusters: &'a mut Clusters,
    pub(super) links: &'a mut Links,
}

impl Past<'_> {
    fn take_back(&mut self) -> Option<Line> {
        let row = self.history.pop()?;
        Some(Line::from_row(&row, self.looks, self.clusters, self.links))
    }
}

/// The rows of a screen, wrapped for another size.
pub(super) struct Reflow {
    pub(super) lines: Vec<Line>,
    /// How many of them no longer fit and go to the history.
    pub(super) over: usize,
    /// Counted in all the lines; a column past the last means that a wrap is pending.
    pub(super) cursor: (usize, u16),
    /// How many of the first lines had been in the history before.
    seen: usize,
}

impl Reflow {
    /// Wraps the rows of a screen; a screen that was full takes rows back from the history.
    pub(super) fn new(
        mut lines: Vec<Line>,
        cursor: (u16, u16),
        size: Size,
        mut past: Past<'_>,
    ) -> Self {
        let height = lines.len();
        let rows = usize::from(size.rows);
        let filled = lines.iter().rposition(|line| !line.spots.is_empty()).map_or(0, |at| at + 1);
        let mut cursor = (usize::from(cursor.0), cursor.1);
        lines.truncate(filled.max(cursor.0 + 1));
        let was_full = lines.len() == height;
        let mut seen = past.history.taken_back().min(lines.len());
        let most = TAKEN_BACK_SCREENS * rows;
        let mut older: Vec<Line> = Vec::new();
        // A line that began in the history is wrapped as a whole.
        while older.len() < most && past.history.ends_wrapped() {
            older.extend(past.take_back());
        }
        let padding = Look { style: FILLER.style, ..Look::default() };
        let padding = past.looks.intern(padding).unwrap_or(0);
        for line in &mut lines {
            line.leave_out(padding);
        }
        let mut taken = 0;
        loop {
            taken += older.len();
            seen += older.len();
            cursor.0 += older.len();
            older.reverse();
            for line in &mut older {
                line.leave_out(padding);
            }
            lines.splice(0..0, std::mem::take(&mut older));
            let mut flow = wrap(&lines, cursor, seen, size.cols, padding);
            let wanted = rows.saturating_sub(flow.lines.len());
            older = (0..wanted.min(most.saturating_sub(taken)))
                .take_while(|_| was_full)
                .map_while(|_| past.take_back())
                .collect();
            if older.is_empty() {
                // What stands below the cursor goes before the cursor's own row would.
                flow.over = flow.lines.len().saturating_sub(rows).min(flow.cursor.0);
                return flow;
            }
        }
    }

    /// Returns the texts of the lines that had been in the history before.
    pub(super) fn seen(&self, tables: Tables<'_>) -> VecDeque<String> {
        let text = |line: &Line| line.row(tables).text().trim_end().to_owned();
        self.lines[..self.seen].iter().map(text).collect()
    }
}

fn wrap(lines: &[Line], cursor: (usize, u16), seen: usize, cols: u16, filler: LookId) -> Reflow {
    let mut flow = Reflow { lines: Vec::new(), over: 0, cursor: (0, 0), seen: 0 };
    let mut first = 0;
    while first < lines.len() {
        let length = lines[first..].iter().take_while(|line| line.is_wrapped).count() + 1;
        let end = (first + length).min(lines.len());
        let logical = Logical { lines: &lines[first..end], first, filler };
        logical.wrap(cursor, seen, cols, &mut flow);
        first = end;
    }
    flow
}

/// Rows that are one line to the application.
struct Logical<'a> {
    lines: &'a [Line],
    /// The number of the first of them on the screen.
    first: usize,
    /// How the blank looks that fills a row before a wide character.
    filler: LookId,
}

impl Logical<'_> {
    fn wrap(&self, cursor: (usize, u16), seen: usize, cols: u16, flow: &mut Reflow) {
        let cells: Vec<(Spot, &str)> = self.lines.iter().flat_map(Line::cells).collect();
        let target = cursor.0.checked_sub(self.first).filter(|row| *row < self.lines.len());
        let target = target.map(|row| self.cursor_cell(row, cursor.1));
        // A background that reached to the margin is not text, and does not wrap.
        let text = cells.iter().rposition(|(spot, _)| !spot.is_blank()).map_or(0, |at| at + 1);
        let mut at = 0;
        loop {
            let start = at;
            let mut line = Line::default();
            let mut columns = 0;
            while let Some((spot, part)) = cells.get(at) {
                let width = u16::from(spot.columns);
                if columns + width > cols {
                    break;
                }
                line.push(part, spot.columns, spot.look);
                columns += width;
                at += 1;
            }
            let is_last = at >= text;
            if !is_last && columns < cols {
                line.push(" ", 1, self.filler);
            }
            if let Some((cell, beyond)) = target
                && cell >= start
                && (cell < at || is_last)
            {
                let before = cells[start..cell.min(at)].iter();
                let col: u16 = before.map(|(spot, _)| u16::from(spot.columns)).sum();
                let col = col.saturating_add(beyond);
                let pending = if beyond == 0 && columns == cols { cols } else { cols - 1 };
                flow.cursor = (flow.lines.len(), col.min(pending));
            }
            flow.seen += usize::from(self.row_of(start) < seen);
            line.is_wrapped = !is_last;
            flow.lines.push(line);
            if is_last {
                break;
            }
        }
        if let Some(last) = flow.lines.last_mut() {
            // The last row of a screen or of the past may be cut off from what follows it.
            last.is_wrapped = self.lines.last().is_some_and(|line| line.is_wrapped);
        }
    }

    /// Returns the cell that the cursor is on, and how many columns it is beyond the last.
    fn cursor_cell(&self, row: usize, col: u16) -> (usize, u16) {
        let before: usize = self.lines[..row].iter().map(|line| line.spots.len()).sum();
        let mut columns = 0;
        for (index, spot) in self.lines[row].spots.iter().enumerate() {
            if columns >= col {
                return (before + index, 0);
            }
            columns += u16::from(spot.columns);
        }
        (before + self.lines[row].spots.len(), col.saturating_sub(columns))
    }

    /// Returns the row of the screen that a cell was on.
    fn row_of(&self, cell: usize) -> usize {
        let mut before = 0;
        for (index, line) in self.lines.iter().enumerate() {
            before += line.spots.len();
            if cell < before {
                return self.first + index;
            }
        }
        self.first
    }
}
