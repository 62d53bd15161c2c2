//! The text of one row, cell by cell.

use crate::model::Row;

/// The text of a row, and which cells its characters fill.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineCells {
    text: String,
    cells: Vec<TextCell>,
    /// Cells up to the last one that is not blank.
    filled: usize,
}

/// One character, or several that are drawn as one.
#[derive(Clone, Copy, Debug)]
struct TextCell {
    start: usize,
    end: usize,
    col: u16,
    columns: u16,
}

/// What a character is to those who move by words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharClass {
    Blank,
    Word,
    Sign,
}

/// Beside letters and digits, these belong to a word that a double click takes: paths, addresses,
/// options, hashes.
const CLICK_SIGNS: &str = "_-./~:@%+#?&=$\\";

/// These end a sentence or a place in a file more often than a path.
const TRAILING_SIGNS: [char; 4] = [':', '.', '?', '='];

impl LineCells {
    pub(crate) fn of(row: &Row) -> Self {
        let mut line = Self { text: row.text(), cells: Vec::new(), filled: 0 };
        let (mut byte, mut col) = (0, 0_u16);
        for run in &row.runs {
            let count = run.text.chars().count();
            let parts = if count == usize::from(run.columns) { count } else { 1 };
            let mut rest = run.text.chars();
            for _ in 0..parts {
                let length =
                    if parts == 1 { run.text.len() } else { rest.next().map_or(0, char::len_utf8) };
                let columns = if parts == 1 { run.columns } else { 1 };
                line.cells.push(TextCell { start: byte, end: byte + length, col, columns });
                byte += length;
                col = col.saturating_add(columns);
            }
        }
        let is_filled = |cell: &TextCell| !line.text[cell.start..cell.end].trim().is_empty();
        line.filled = line.cells.iter().rposition(is_filled).map_or(0, |at| at + 1);
        line
    }

    /// Says whether nothing is to be seen.
    pub(crate) fn is_blank(&self) -> bool {
        self.filled == 0
    }

    /// Returns how many cells there are, up to the last one that is not blank.
    pub(crate) fn count(&self) -> usize {
        self.filled
    }

    /// Returns the column at which a cell begins.
    pub(crate) fn col(&self, index: usize) -> u16 {
        self.cells.get(index).map_or(0, |cell| cell.col)
    }

    /// Returns the column of the last cell that is not blank.
    pub(crate) fn last_col(&self) -> u16 {
        self.filled.checked_sub(1).map_or(0, |last| self.col(last))
    }

    /// Returns the cell that covers a column; beyond the last, that one.
    pub(crate) fn index(&self, col: u16) -> usize {
        let after = self.cells.partition_point(|cell| cell.col <= col);
        after.saturating_sub(1)
    }

    /// Returns the column of the first character that is not blank.
    pub(crate) fn first_text_col(&self) -> u16 {
        let first = (0..self.filled).find(|index| self.class(*index) != CharClass::Blank);
        first.map_or(0, |index| self.col(index))
    }

    pub(crate) fn class(&self, index: usize) -> CharClass {
        let first = self.cells.get(index).and_then(|cell| self.text[cell.start..].chars().next());
        match first {
            Some(c) if c.is_alphanumeric() || c == '_' => CharClass::Word,
            Some(c) if !c.is_whitespace() => CharClass::Sign,
            _ => CharClass::Blank,
        }
    }

    /// Returns the columns of a stretch of bytes: the first, and the last.
    pub(crate) fn columns_of(&self, start: usize, end: usize) -> (u16, u16) {
        let first = self.cells.partition_point(|cell| cell.end <= start);
        let last = self.cells.partition_point(|cell| cell.start < end).saturating_sub(1);
        let last_col = self.cells.get(last).map_or(0, |cell| cell.col + cell.columns.max(1) - 1);
        let first_col = self.cells.get(first).map_or(last_col, |cell| cell.col);
        (first_col, last_col.max(first_col))
    }

    /// Returns the text in columns, both included.
    pub(crate) fn text_between(&self, from: u16, to: u16) -> &str {
        let touches = |cell: &TextCell| cell.col <= to && cell.col + cell.columns.max(1) > from;
        let first = self.cells.iter().position(touches);
        let last = self.cells.iter().rposition(touches);
        match (first, last) {
            (Some(first), Some(last)) => &self.text[self.cells[first].start..self.cells[last].end],
            _ => "",
        }
    }

    /// Returns the columns of the word that a double click on a column takes, if one is there.
    pub(crate) fn clicked_word(&self, col: u16) -> Option<(u16, u16)> {
        let letter = |index: usize| {
            let cell = self.cells[index];
            let first = self.text[cell.start..cell.end].chars().next();
            first.filter(|c| c.is_alphanumeric() || CLICK_SIGNS.contains(*c))
        };
        let at = Some(self.index(col)).filter(|index| *index < self.filled)?;
        let is_under = col < self.col(at) + self.cells[at].columns.max(1);
        letter(at).filter(|_| is_under)?;
        let first = (0..=at).rev().take_while(|index| letter(*index).is_some()).last()?;
        let mut last = (at..self.filled).take_while(|index| letter(*index).is_some()).last()?;
        while last > at && letter(last).is_some_and(|c| TRAILING_SIGNS.contains(&c)) {
            last -= 1;
        }
        let end = self.cells[last];
        Some((self.col(first), end.col + end.columns.max(1) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::tests::fixture::run;

    fn line(runs: Vec<crate::model::Run>) -> LineCells {
        LineCells::of(&Row { runs, wrapped: false })
    }

    #[test]
    fn columns_and_characters_find_each_other() {
        let line = line(vec![run("ab ", 3), run("世", 2), run("e\u{301}", 1), run("!  ", 3)]);
        assert_eq!((line.count(), line.last_col()), (6, 6));
        assert_eq!(line.text_between(0, 1), "ab");
        assert_eq!(line.text_between(4, 5), "世e\u{301}", "half a character is the whole");
        assert_eq!(line.columns_of(3, 6), (3, 4));
        assert_eq!((line.index(4), line.col(line.index(4))), (3, 3));
        assert_eq!(line.text_between(90, 99), "");
    }

    #[test]
    fn a_double_click_takes_a_path_without_what_ends_the_sentence() {
        let words = |text: &str, col: u16| {
            let columns = u16::try_from(text.chars().count()).unwrap();
            let line = line(vec![run(text, columns)]);
            line.clicked_word(col).map(|(from, to)| line.text_between(from, to).to_owned())
        };
        assert_eq!(words("see src/main.rs:12: error", 6).as_deref(), Some("src/main.rs:12"));
        assert_eq!(words("(https://x.dev/a?b=c).", 4).as_deref(), Some("https://x.dev/a?b=c"));
        assert_eq!(words("a  b", 1), None);
        assert_eq!(words("a  b", 90), None, "nothing is there");
    }
}
