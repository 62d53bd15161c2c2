//! Keeps the rows that left the screen, packed tightly and within a bound.

use std::collections::VecDeque;
use std::ops::Range;

use crate::model::Row;

use super::line::Runs as _;
use super::packed_row::{Encoder, LogicalLine, PackedRow, PackedStyle};

/// How much of the past a screen keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryLimit {
    pub lines: usize,
    pub bytes: usize,
}

impl Default for HistoryLimit {
    fn default() -> Self {
        Self { lines: 10_000, bytes: 8 * 1024 * 1024 }
    }
}

/// Rows are dropped a block at a time when memory runs out, so a block is a small part of it.
const BLOCK_BYTES: usize = 32 * 1024;
/// A block's styles are searched one by one.
const BLOCK_STYLES: usize = 192;

/// Some hundred rows: their bytes, where each begins, and the styles they name.
#[derive(Debug, Default)]
struct Block {
    first: u64,
    bytes: Vec<u8>,
    starts: Vec<u32>,
    styles: Vec<PackedStyle>,
    /// What the targets of links take in them.
    link_bytes: usize,
}

impl Block {
    fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
            + self.starts.capacity() * size_of::<u32>()
            + self.styles.capacity() * size_of::<PackedStyle>()
            + self.link_bytes
            + size_of::<Self>()
    }

    fn rows(&self) -> impl Iterator<Item = PackedRow<'_>> {
        let row = |start: &u32| self.bytes.get(usize::try_from(*start).ok()?..);
        self.starts.iter().filter_map(move |start| PackedRow::read(row(start)?, &self.styles))
    }

    fn is_full(&self, bytes_max: usize) -> bool {
        self.bytes.len() + self.link_bytes >= bytes_max || self.styles.len() >= BLOCK_STYLES
    }
}

/// The rows that left the screen, oldest first.
#[derive(Debug)]
pub(super) struct History {
    limit: HistoryLimit,
    blocks: VecDeque<Block>,
    /// The bytes of all blocks but the last.
    sealed_bytes: usize,
    /// Rows are counted inside from the first ever kept; `shift` makes that the number outside.
    shift: u64,
    committed: u64,
    /// The texts of rows that a larger screen took back. When they leave it again unchanged
    /// they keep their numbers, so that no reader sees them twice.
    taken_back: VecDeque<String>,
    encoder: Encoder,
}

impl History {
    pub(super) fn new(limit: HistoryLimit) -> Self {
        Self {
            limit,
            blocks: VecDeque::new(),
            sealed_bytes: 0,
            shift: 0,
            committed: 0,
            taken_back: VecDeque::new(),
            encoder: Encoder::default(),
        }
    }

    /// Adds a row; `write` hands over its runs.
    pub(super) fn push(&mut self, wrapped: bool, write: impl FnOnce(&mut Encoder)) {
        self.append(wrapped, write);
        self.committed = self.committed.max(self.range().end);
        self.drop_old();
    }

    fn append(&mut self, wrapped: bool, write: impl FnOnce(&mut Encoder)) {
        let block_bytes = BLOCK_BYTES.min(self.limit.bytes / 16).max(512);
        if self.blocks.back().is_none_or(|block| block.is_full(block_bytes)) {
            self.start_block();
        }
        let Some(block) = self.blocks.back_mut() else { return };
        self.encoder.start(std::mem::take(&mut block.styles));
        write(&mut self.encoder);
        if !self.taken_back.is_empty() {
            let text = self.encoder.plain_text();
            if self.taken_back.pop_front().is_some_and(|expected| expected != text) {
                self.settle();
            }
        }
        let Some(block) = self.blocks.back_mut() else { return };
        block.starts.push(u32::try_from(block.bytes.len()).unwrap_or(u32::MAX));
        self.encoder.finish(wrapped, &mut block.bytes);
        block.styles = std::mem::take(&mut self.encoder.styles);
        block.link_bytes += self.encoder.link_bytes;
    }

    /// Breaks the lines anew for another width. The last one may go on on the screen.
    pub(super) fn rewrap(&mut self, cols: u16) {
        let end = self.range().end;
        let taken_back = std::mem::take(&mut self.taken_back);
        let mut line = LogicalLine::default();
        let mut old = std::mem::take(&mut self.blocks);
        self.sealed_bytes = 0;
        while let Some(block) = old.pop_front() {
            for row in block.rows() {
                line.add(&row);
                if !row.wrapped {
                    self.append_line(&line, cols, false);
                    line.clear();
                }
            }
        }
        if !line.is_empty() {
            self.append_line(&line, cols, true);
        }
        let count = self.blocks.back().map_or(0, |block| block.first + lines(block));
        // Each row has a number: where there are more rows than there ever were, the count grows.
        let more = count.saturating_sub(end);
        self.committed += more;
        self.shift = (end + more).wrapping_sub(count);
        self.taken_back = taken_back;
        self.drop_old();
    }

    fn append_line(&mut self, line: &LogicalLine, cols: u16, goes_on: bool) {
        let rows = line.wrap(cols);
        for (at, row) in rows.iter().enumerate() {
            let is_last = at + 1 == rows.len();
            let write = |runs: &mut Encoder| {
                for part in row {
                    runs.run(part.look, part.text, part.columns, part.is_single);
                }
            };
            self.append(!is_last || goes_on, write);
        }
    }

    /// Removes the youngest row and returns it.
    pub(super) fn pop(&mut self) -> Option<Row> {
        let row = self.row(self.range().end.checked_sub(1)?)?;
        let block = self.blocks.back_mut()?;
        let start = block.starts.pop()?;
        block.bytes.truncate(usize::try_from(start).ok()?);
        if block.starts.is_empty() {
            self.blocks.pop_back();
            if let Some(last) = self.blocks.back() {
                self.sealed_bytes -= last.memory_bytes();
            }
        }
        Some(row)
    }

    /// Says whether the youngest row goes on on the screen.
    pub(super) fn ends_wrapped(&self) -> bool {
        let youngest = self.range().end.checked_sub(1).and_then(|number| self.row(number));
        youngest.is_some_and(|row| row.wrapped)
    }

    /// Says that the first rows of the screen, with these texts, have been seen before.
    pub(super) fn set_taken_back(&mut self, texts: VecDeque<String>) {
        let count = u64::try_from(texts.len()).unwrap_or(0);
        let range = self.range();
        self.committed = self.committed.max(range.end - range.start + count);
        self.shift = self.shift.wrapping_add(self.committed - count).wrapping_sub(range.end);
        self.taken_back = texts;
    }

    /// How many rows at the top of the screen have been seen before.
    pub(super) fn taken_back(&self) -> usize {
        self.taken_back.len()
    }

    /// Lets the next row have a number that no row had before.
    fn settle(&mut self) {
        self.taken_back.clear();
        self.set_committed(self.committed);
    }

    /// Numbers the rows so that this many have been committed.
    pub(super) fn set_committed(&mut self, committed: u64) {
        self.taken_back.clear();
        let range = self.range();
        self.committed = committed.max(range.end - range.start);
        self.shift = self.shift.wrapping_add(self.committed).wrapping_sub(range.end);
    }

    pub(super) fn clear(&mut self) {
        let end = self.committed;
        self.blocks.clear();
        self.sealed_bytes = 0;
        self.taken_back.clear();
        self.shift = end;
    }

    pub(super) fn committed(&self) -> u64 {
        self.committed
    }

    pub(super) fn range(&self) -> Range<u64> {
        let (Some(oldest), Some(youngest)) = (self.blocks.front(), self.blocks.back()) else {
            return self.shift..self.shift;
        };
        let end = youngest.first + lines(youngest);
        let kept = u64::try_from(self.limit.lines).unwrap_or(u64::MAX);
        let number = self.shift.wrapping_add(end);
        // Blocks may hold more rows than were ever counted: those before the first have no number,
        // not even once rows after them are taken back.
        let count = (end - oldest.first).min(kept).min(number);
        number - count..number
    }

    pub(super) fn row(&self, number: u64) -> Option<Row> {
        if !self.range().contains(&number) {
            return None;
        }
        let number = number.wrapping_sub(self.shift);
        let block = self.blocks.partition_point(|block| block.first <= number).checked_sub(1)?;
        let block = self.blocks.get(block)?;
        let start = block.starts.get(usize::try_from(number - block.first).ok()?)?;
        let bytes = block.bytes.get(usize::try_from(*start).ok()?..)?;
        PackedRow::read(bytes, &block.styles).map(|row| row.row())
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.sealed_bytes + self.blocks.back().map_or(0, Block::memory_bytes)
    }

    fn start_block(&mut self) {
        let first = self.blocks.back().map_or(0, |block| block.first + lines(block));
        if let Some(block) = self.blocks.back_mut() {
            block.bytes.shrink_to_fit();
            block.starts.shrink_to_fit();
            block.styles.shrink_to_fit();
            self.sealed_bytes += block.memory_bytes();
        }
        self.blocks.push_back(Block { first, ..Block::default() });
    }

    fn drop_old(&mut self) {
        while self.blocks.len() > 1 {
            let start = self.range().start.wrapping_sub(self.shift);
            let is_over = self.memory_bytes() > self.limit.bytes;
            let Some(oldest) = self.blocks.front() else { return };
            if !is_over && oldest.first + lines(oldest) > start {
                return;
            }
            self.sealed_bytes -= oldest.memory_bytes();
            self.blocks.pop_front();
        }
    }
}

fn lines(block: &Block) -> u64 {
    u64::try_from(block.starts.len()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::line::RunLook;
    use super::*;
    use crate::model::Style;

    const RED: Style = Style {
        foreground: crate::model::Color::Indexed(1),
        background: crate::model::Color::Default,
        attributes: Style::BOLD,
        underline: crate::model::Underline::Single,
        underline_color: crate::model::Color::Default,
    };

    fn plain(style: Style) -> RunLook<'static> {
        RunLook { style, link: "" }
    }

    fn push(history: &mut History, text: &str) {
        history.push(false, |runs| runs.run(plain(Style::default()), text, 0, false));
    }

    fn limited(lines: usize, bytes: usize) -> History {
        History::new(HistoryLimit { lines, bytes })
    }

    #[test]
    fn a_row_is_returned_as_it_was_put_in() {
        let mut history = limited(10, 1 << 20);
        history.push(true, |runs| {
            runs.run(plain(Style::default()), "ab", 2, false);
            runs.run(plain(Style::default()), "c", 1, false);
            runs.run(plain(RED), "中", 2, true);
            runs.run(plain(RED), "e\u{301}", 1, true);
            runs.run(plain(Style::default()), "  ", 2, false);
        });
        let row = history.row(0).unwrap();
        assert_eq!(row.text(), "abc中e\u{301}  ");
        assert!(row.wrapped);
        let runs: Vec<_> = row.runs.iter().map(|run| (run.columns, run.style == RED)).collect();
        assert_eq!(runs, [(3, false), (2, true), (1, true), (2, false)]);
    }

    #[test]
    fn lines_are_limited_exactly() {
        let mut history = limited(100, 1 << 20);
        for number in 0..5000 {
            push(&mut history, &format!("row {number}"));
        }
        assert_eq!(history.range(), 4900..5000);
        assert_eq!(history.row(4899), None);
        assert_eq!(history.row(4900).unwrap().text(), "row 4900");
        assert_eq!(history.row(4999).unwrap().text(), "row 4999");
    }

    #[test]
    fn bytes_are_limited_whatever_the_lines() {
        let mut history = limited(1_000_000, 100_000);
        for number in 0..20_000 {
            push(&mut history, &format!("{number} {}", "x".repeat(number % 300)));
            assert!(history.memory_bytes() <= 100_000 + BLOCK_BYTES);
        }
        assert!(history.range().end - history.range().start > 300);
    }

    #[test]
    fn rows_can_be_taken_back_one_by_one() {
        let mut history = limited(1000, 64 << 10);
        for number in 0..900 {
            push(&mut history, &format!("row {number} {}", "y".repeat(40)));
        }
        let bytes = history.memory_bytes();
        while let Some(row) = history.pop() {
            assert!(row.text().starts_with(&format!("row {} ", history.range().end)));
        }
        assert!(history.memory_bytes() < bytes);
        assert_eq!((history.committed(), history.range().end), (900, history.range().start));
    }
}
