//! Finds a pattern in all that a pane has shown, and the last error in it.

use std::ops::Range;

use super::cells::LineCells;
use super::pattern::SearchPattern;
use super::selection::{Selection, SelectionShape};
use super::state::{AfterLoading, PaneReading, TextPlace, TextSpan};
use crate::model::{Row, Size};

/// A pattern, and where it was found in the lines that are here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PaneSearch {
    pub pattern: SearchPattern,
    pub is_backward: bool,
    /// From the oldest to the newest.
    pub hits: Vec<TextSpan>,
    /// Where the cursor was when it was asked for.
    from: TextPlace,
}

/// A pattern that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchInput {
    pub text: String,
    pub is_backward: bool,
    /// What an escape brings back.
    from: TextPlace,
    before: Option<PaneSearch>,
}

/// What tells of an error in the output of most tools.
const ERROR: &str = r"(?ix)
    \b( errors? | panic | panicked | exception | traceback | fatal | failed | failure | aborted
      | cannot | denied | undefined | unresolved | unrecognized | unknown\ option
      | no\ such\ file | not\ found | segmentation\ fault )\b
    | ^\w*(Error|Exception): | ✗ | ❌";

/// A logical line is searched in parts of so many rows.
const JOINED_ROWS_MAX: usize = 500;

impl PaneReading {
    /// Begins to type a pattern.
    pub(crate) fn begin_search(&mut self, is_backward: bool) {
        let (from, before) = (self.cursor, self.search.take());
        self.input = Some(SearchInput { text: String::new(), is_backward, from, before });
        self.want_all();
    }

    /// Looks for what has been typed so far.
    pub(crate) fn search_typed(&mut self, text: String, view: Size) {
        let Some(input) = &mut self.input else { return };
        input.text = text;
        let (from, is_backward) = (input.from, input.is_backward);
        let pattern = SearchPattern::typed(&input.text);
        self.cursor = from;
        self.search_for(pattern, is_backward, view);
        self.show_cursor(view);
    }

    /// Ends the typing; without a pattern, the one before is looked for again.
    pub(crate) fn end_search(&mut self, is_accepted: bool, view: Size) {
        let Some(input) = self.input.take() else { return };
        if is_accepted && !input.text.is_empty() {
            return;
        }
        self.move_to(input.from, view);
        let pattern = input.before.as_ref().map(|before| before.pattern.clone());
        self.search = input.before;
        self.after_loading = None;
        if is_accepted {
            self.search_for(pattern, input.is_backward, view);
        }
    }

    /// Looks for a pattern and goes to its first hit.
    pub(crate) fn search_for(
        &mut self,
        pattern: Option<SearchPattern>,
        is_backward: bool,
        view: Size,
    ) {
        self.mark(pattern);
        if let Some(search) = &mut self.search {
            search.is_backward = is_backward;
        }
        self.after_loading = None;
        if self.search.is_some() && !self.go_to_hit(is_backward, self.is_loaded(), view) {
            // It may be among the lines that are not here yet.
            self.want_all();
            self.after_loading = (!self.is_loaded()).then_some(AfterLoading::Search);
        }
    }

    /// Marks a pattern, wherever the cursor is.
    pub(crate) fn mark(&mut self, pattern: Option<SearchPattern>) {
        self.search = pattern.map(|pattern| {
            let hits = self.hits(&pattern, self.loaded_from()..self.end());
            PaneSearch { pattern, is_backward: false, hits, from: self.cursor }
        });
    }

    /// Goes to the first hit of a search that had to wait for all lines.
    pub(crate) fn resume_search(&mut self, view: Size) {
        let Some(search) = &self.search else { return };
        let (from, is_backward) = (search.from, search.is_backward);
        self.cursor = from;
        self.go_to_hit(is_backward, true, view);
    }

    /// Goes to the next hit in the direction of the search, or in the other one; says whether there
    /// is any.
    pub(crate) fn next_hit(&mut self, is_reverse: bool, view: Size) -> bool {
        let Some(search) = &self.search else { return false };
        let is_backward = search.is_backward != is_reverse;
        self.go_to_hit(is_backward, true, view)
    }

    fn go_to_hit(&mut self, is_backward: bool, goes_around: bool, view: Size) -> bool {
        let Some(search) = &self.search else { return false };
        let hits = &search.hits;
        let found = if is_backward {
            let before = hits.partition_point(|hit| hit.from < self.cursor);
            let last = hits.last().filter(|_| goes_around);
            before.checked_sub(1).and_then(|at| hits.get(at)).or(last)
        } else {
            let after = hits.partition_point(|hit| hit.from <= self.cursor);
            hits.get(after).or(hits.first().filter(|_| goes_around))
        };
        let Some(place) = found.map(|hit| hit.from) else { return false };
        self.move_to(place, view);
        true
    }

    /// Returns the number of the hit under the cursor, counted from one.
    pub(crate) fn hit_number(&self) -> Option<usize> {
        let hits = &self.search.as_ref()?.hits;
        let at = hits.partition_point(|hit| hit.from <= self.cursor).checked_sub(1)?;
        (self.cursor <= hits[at].to).then_some(at + 1)
    }

    /// Finds the pattern in lines that have come before all others.
    pub(super) fn add_hits(&mut self, before: u64) {
        let Some(pattern) = self.search.as_ref().map(|search| search.pattern.clone()) else {
            return;
        };
        let mut hits = self.hits(&pattern, self.loaded_from()..before);
        if let Some(search) = &mut self.search {
            hits.append(&mut search.hits);
            search.hits = hits;
        }
    }

    /// Finds the pattern in every line, across the ends of pages too.
    pub(super) fn find_all(&mut self) {
        let Some(pattern) = self.search.as_ref().map(|search| search.pattern.clone()) else {
            return;
        };
        let hits = self.hits(&pattern, self.loaded_from()..self.end());
        if let Some(search) = &mut self.search {
            search.hits = hits;
        }
    }

    /// Returns where lines have a pattern; a line that the terminal broke is one.
    pub(super) fn hits(&self, pattern: &SearchPattern, lines: Range<u64>) -> Vec<TextSpan> {
        let mut found = Vec::new();
        let mut text = String::new();
        let mut parts: Vec<(usize, u64)> = Vec::new();
        for number in lines.clone() {
            let Some(row) = self.line(number) else { continue };
            parts.push((text.len(), number));
            row.runs.iter().for_each(|run| text.push_str(&run.text));
            let goes_on = row.wrapped && number + 1 < lines.end && parts.len() < JOINED_ROWS_MAX;
            if goes_on {
                continue;
            }
            found.extend(pattern.matches(text.trim_end()).map(|range| self.span(&parts, &range)));
            text.clear();
            parts.clear();
        }
        found
    }

    /// Returns the cells of a stretch of joined rows; each part is where the text of a row begins.
    fn span(&self, parts: &[(usize, u64)], range: &Range<usize>) -> TextSpan {
        let part = |byte: usize| {
            let at = parts.partition_point(|(start, _)| *start <= byte).saturating_sub(1);
            parts[at]
        };
        let place = |byte: usize| {
            let (start, line) = part(byte);
            let cells: LineCells = self.cells(line);
            let (first, last) = cells.columns_of(byte - start, byte - start + 1);
            (line, first, last)
        };
        let (from_line, from_col, _) = place(range.start);
        let (to_line, _, to_col) = place(range.end - 1);
        TextSpan {
            from: TextPlace { line: from_line, col: from_col },
            to: TextPlace { line: to_line, col: to_col },
        }
    }

    /// Selects the lines around the last error before the cursor; the first time, the last of all.
    /// Says whether there is one among the lines that are here.
    pub(crate) fn select_last_error(&mut self, view: Size) -> bool {
        let Ok(pattern) = SearchPattern::new(ERROR) else { return false };
        let before = match self.selection {
            Some(selection) => selection.anchor.min(self.cursor).line,
            None => self.end(),
        };
        let oldest = self.loaded_from().max(self.kept_from());
        let text = |line: u64| self.line(line).map(Row::text).unwrap_or_default();
        let has_error = |line: &u64| has_error(&pattern, &text(*line));
        let Some(line) = (oldest..before).rev().find(has_error) else { return false };
        // The line with the cursor is one that somebody types in.
        let is_text = |line: &u64| *line != self.typed_line && !self.cells(*line).is_blank();
        let above = (oldest..=line).rev().take_while(is_text);
        let first = above.filter(has_error).last().unwrap_or(line);
        let last = (line..self.end()).take_while(is_text).last().unwrap_or(line);
        let (first, last) = trimmed(line, first, last, u64::from(view.rows));
        self.selection = Some(Selection {
            anchor: TextPlace { line: first, col: 0 },
            shape: SelectionShape::Lines,
        });
        self.move_to(TextPlace { line: last, col: 0 }, view);
        self.top = self.top.min(first.max((last + 1).saturating_sub(u64::from(view.rows))));
        true
    }
}

/// Says whether a line tells of an error, rather than that there was none.
fn has_error(pattern: &SearchPattern, line: &str) -> bool {
    pattern.matches(line).any(|found| {
        let before = line[..found.start].trim_end();
        !before.ends_with(" 0") && before != "0" && !before.ends_with("no")
    })
}

/// A paragraph that is longer than the window is cut to what can be seen with the error.
fn trimmed(line: u64, first: u64, last: u64, rows: u64) -> (u64, u64) {
    if last - first < rows.max(1) {
        return (first, last);
    }
    let first = line.saturating_sub(rows / 2).max(first);
    (first, last.min(first + rows.max(1) - 1))
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::{VIEW, reading};
    use super::*;
    use crate::tui::tests::fixture::row;

    fn search(reading: &mut PaneReading, text: &str, is_backward: bool) {
        reading.begin_search(is_backward);
        reading.search_typed(text.to_owned(), VIEW);
        reading.end_search(true, VIEW);
    }

    fn place(reading: &PaneReading) -> (u64, u16) {
        (reading.cursor.line, reading.cursor.col)
    }

    #[test]
    fn hits_are_counted_and_gone_through_in_both_directions() {
        let mut reading = reading(0, &["an error", "nothing", "error, Error"]);
        reading.move_to(TextPlace::default(), VIEW);
        search(&mut reading, "error", false);
        assert_eq!((place(&reading), reading.hit_number()), ((0, 3), Some(1)));
        assert_eq!(reading.search.as_ref().unwrap().hits.len(), 3);
        assert!(reading.next_hit(false, VIEW));
        assert_eq!(place(&reading), (2, 0));
        reading.next_hit(false, VIEW);
        assert_eq!((place(&reading), reading.hit_number()), ((2, 7), Some(3)));
        reading.next_hit(false, VIEW);
        assert_eq!(place(&reading), (0, 3), "around");
        reading.next_hit(true, VIEW);
        assert_eq!(place(&reading), (2, 7), "and back");
        search(&mut reading, "nothing", true);
        assert_eq!(place(&reading), (1, 0));
    }

    #[test]
    fn a_line_that_the_terminal_broke_is_searched_as_one() {
        let mut reading = reading(2, &["plain"]);
        let broken = Row { wrapped: true, ..row("no such fi") };
        reading.want_all();
        reading.add(0, 0, vec![broken, row("le or directory")]);
        search(&mut reading, "file", true);
        let hit = reading.search.as_ref().unwrap().hits[0];
        assert_eq!((hit.from.line, hit.from.col, hit.to.line, hit.to.col), (0, 8, 1, 1));
    }

    #[test]
    fn a_search_waits_for_the_lines_that_are_not_here_yet() {
        let mut reading = reading(1200, &["live"]);
        search(&mut reading, "needle", true);
        assert_eq!(reading.after_loading, Some(AfterLoading::Search));
        reading.add(200, 0, vec![row("hay"); 1000]);
        assert!(!reading.is_loaded());
        let mut oldest = vec![row("hay"); 200];
        oldest[7] = row("a needle");
        reading.add(0, 0, oldest);
        assert!(reading.is_loaded());
        reading.resume_search(VIEW);
        assert_eq!(place(&reading), (7, 2));
    }

    #[test]
    fn an_escape_brings_the_cursor_and_the_pattern_before_back() {
        let mut reading = reading(0, &["one two one"]);
        reading.move_to(TextPlace::default(), VIEW);
        search(&mut reading, "two", false);
        reading.begin_search(false);
        reading.search_typed("one".to_owned(), VIEW);
        assert_eq!(place(&reading), (0, 8));
        reading.end_search(false, VIEW);
        assert_eq!(place(&reading), (0, 4));
        assert_eq!(reading.search.as_ref().unwrap().pattern.source(), "two");
    }

    #[test]
    fn the_last_error_is_selected_with_its_paragraph_and_then_the_one_before() {
        let mut reading = reading(
            0,
            &[
                "error: first",
                "",
                "built, 0 errors",
                "",
                "error[E0308]: types",
                " --> a.rs:1",
                "",
                "$",
            ],
        );
        let selected =
            |reading: &PaneReading| (reading.selection.unwrap().anchor.line, reading.cursor.line);
        assert!(reading.select_last_error(VIEW));
        assert_eq!(selected(&reading), (4, 5));
        assert!(reading.select_last_error(VIEW));
        assert_eq!(selected(&reading), (0, 0));
        assert!(!reading.select_last_error(VIEW));
    }

    #[test]
    fn an_error_between_other_lines_is_taken_without_those_above_it_and_the_prompt() {
        let lines = [
            "199",
            "bash: cd: /nope: No such file or directory",
            "ls: unrecognized option",
            "Try",
            "$ ",
        ];
        let mut reading = reading(0, &lines);
        reading.typed_line = 4;
        assert!(reading.select_last_error(VIEW));
        assert_eq!((reading.selection.unwrap().anchor.line, reading.cursor.line), (1, 3));
    }
}
