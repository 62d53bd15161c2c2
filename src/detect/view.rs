//! The live bottom of a screen, cut into the regions that rules look at.

use crate::model::{Color, Region, Row, Run};
use crate::screen::Screen;

use super::composer as general_composer;
use super::rules::Rules;

/// Rows above are never looked at for a state: what matters stands at the bottom.
const BOTTOM_ROWS: usize = 60;
/// What the lower border of a composer is made of.
const BORDER: &[char] = &['─', '▀'];
/// A composer of the conversation begins further to the left.
const INDENT_MAX: usize = 8;
/// A panel beside the conversation is at least so wide.
const SIDE_COLS_MIN: usize = 20;
/// A scroll bar is at least so high.
const SCROLL_BAR_ROWS_MIN: usize = 6;
/// So many rows of a scroll bar's thumb are no letters of a picture.
const THUMB_ROWS_MIN: usize = 2;
/// So many written rows above the composer may show a sign of the state: it may stand at the bottom, with nothing
/// between, or the conversation may still be short.
const TAIL_ROWS: usize = 14;

/// A cursor further behind a prompt does not belong to it.
const PROMPT_BLANKS_MAX: u16 = 2;

/// Returns how many columns of a row hold something, but for blanks at its end.
fn written_columns(row: &Row) -> u16 {
    let all: u16 = row.runs.iter().map(|run| run.columns).sum();
    let blanks = row.text().chars().rev().take_while(|c| *c == ' ').count();
    all.saturating_sub(u16::try_from(blanks).unwrap_or(u16::MAX))
}

/// Returns the rows beside which a scroll bar stands at the right edge, and its column. A bar that begins below
/// a corner is the side of a box. Its thumb alone may be drawn, and is never the side of a box.
fn scroll_bar(rows: &[TextRow], cols: usize) -> Option<(Vec<usize>, usize)> {
    let last = |at: usize| {
        let sign = rows[at].text.chars().last()?;
        Some((rows[at].text.chars().count() - 1, sign))
    };
    let is_bar = |sign: char| matches!(sign, '┃' | '│' | '║' | '█' | '▐' | '▌' | '░' | '▒' | '▓');
    (cols.saturating_sub(2)..cols).find_map(|column| {
        let stands = |at: usize| last(at).is_some_and(|(end, sign)| end == column && is_bar(sign));
        let first = (0..rows.len()).find(|at| stands(*at))?;
        let above = first.checked_sub(1).and_then(last);
        let is_box = above.is_some_and(|(_, sign)| matches!(sign, '╮' | '┐' | '┓' | '╗'));
        let found: Vec<usize> = (first..rows.len()).filter(|at| stands(*at)).collect();
        let is_thumb = |at: &usize| matches!(last(*at), Some((_, '█' | '▐' | '▓')));
        let has_thumb = found.iter().filter(|at| is_thumb(at)).count() >= THUMB_ROWS_MIN;
        (!is_box && (has_thumb || found.len() >= SCROLL_BAR_ROWS_MIN)).then_some((found, column))
    })
}

/// Returns where the lower border of a composer ends, unless it belongs to the box of a start page, which stands
/// in the middle.
fn border_end(border: &str) -> Option<usize> {
    let end = border.rfind(BORDER).map(|at| border[..at].chars().count() + 1)?;
    let corner = border.chars().nth(end).filter(|c| matches!(c, '╯' | '┘' | '┛'));
    let is_left = border.chars().take_while(|c| *c == ' ').count() < INDENT_MAX;
    is_left.then_some(end + usize::from(corner.is_some()))
}

/// Says whether a colour is a red one, as errors have it.
fn is_red(color: Color) -> bool {
    match color {
        Color::Default => false,
        Color::Indexed(index) => {
            matches!(index, 1 | 9 | 88 | 124 | 160 | 161 | 167 | 196 | 197 | 203)
        }
        Color::Rgb(red, green, blue) => {
            let rest = u16::from(green.max(blue));
            // Green is what makes orange of it.
            let is_orange = u16::from(green) * 10 > u16::from(blue.max(60)) * 15;
            red > 140 && u16::from(red) * 10 > rest * 13 && !is_orange
        }
    }
}

/// One row of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextRow {
    /// Without blanks at its end.
    pub(super) text: String,
    /// It goes on in the next row: the terminal broke it, not the application.
    pub(super) is_wrapped: bool,
    /// It begins on a background of its own.
    pub(super) is_shaded: bool,
    /// The colour of its words, after a mark.
    pub(super) ink: Ink,
}

/// The colour of a text, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// That of the terminal.
    Plain,
    /// As errors have it.
    Red,
    Other,
}

impl Ink {
    fn of(color: Color) -> Self {
        match color {
            Color::Default => Self::Plain,
            _ if is_red(color) => Self::Red,
            Color::Indexed(_) | Color::Rgb(..) => Self::Other,
        }
    }
}

impl TextRow {
    pub(super) fn new(row: &Row) -> Self {
        let first = row.runs.iter().find(|run| !run.text.trim().is_empty());
        let is_shaded = first.is_some_and(|run| run.style.background != Color::Default);
        let is_word = |run: &&Run| run.text.contains(char::is_alphanumeric);
        let word = row.runs.iter().find(is_word);
        Self {
            text: row.text().trim_end().to_owned(),
            is_wrapped: row.wrapped,
            is_shaded,
            ink: word.map_or(Ink::Plain, |run| Ink::of(run.style.foreground)),
        }
    }

    /// Returns a row without colours.
    #[cfg(test)]
    pub(super) fn plain(text: &str) -> Self {
        let text = text.trim_end().to_owned();
        Self { text, is_wrapped: false, is_shaded: false, ink: Ink::Plain }
    }

    fn cut(&mut self, cols: usize) {
        if let Some((end, _)) = self.text.char_indices().nth(cols) {
            self.text.truncate(end);
        }
        self.text.truncate(self.text.trim_end().len());
    }
}

/// Returns where the last so many rows begin that have something in them.
fn start_of_last(text: &str, rows: usize) -> usize {
    let mut end = text.len();
    let mut written = 0;
    while end > 0 {
        let start = text[..end].rfind('\n').map_or(0, |at| at + 1);
        written += usize::from(!text[start..end].trim().is_empty());
        if written == rows {
            return start;
        }
        end = start.saturating_sub(1);
    }
    0
}

/// What a look at the screen sees.
#[derive(Debug)]
pub(super) struct View {
    /// All rows of the screen.
    pub(super) rows: Vec<TextRow>,
    /// How many of them stand above the composer.
    pub(super) body_rows: usize,
    /// The number of the screen's row with which the bottom begins.
    pub(super) bottom_row: usize,
    pub(super) has_composer: bool,
    /// How far text may reach to the right before it is wrapped.
    pub(super) cols: usize,
    /// Where the rows were cut, because something stands beside the conversation.
    pub(super) cut: Option<usize>,
    /// Where a composer is by its frame and the cursor, whatever the rules say.
    pub(super) composer_rows: Option<std::ops::Range<usize>>,
    bottom: String,
    composer: std::ops::Range<usize>,
    /// The line up to the cursor, if nothing stands behind it.
    cursor: Option<String>,
}

impl View {
    pub(super) fn new(screen: &Screen, rules: &Rules) -> Self {
        let cols = usize::from(screen.size().cols);
        let rows: Vec<TextRow> = screen.rows().iter().map(TextRow::new).collect();
        let mut view = Self::of_rows(rows, cols, rules);
        let cursor = screen.cursor();
        let place = cursor.visible.then(|| (usize::from(cursor.row), usize::from(cursor.col)));
        let edge = if view.has_composer { view.edge() } else { view.general_edge(place) };
        if edge + SIDE_COLS_MIN <= cols {
            // What stands beside the conversation is not part of it.
            let mut rows = view.rows;
            for row in &mut rows {
                row.cut(edge);
            }
            view = Self::of_rows(rows, edge, rules);
            view.cut = Some(edge);
        }
        if rules.is_general
            && let Some((rows, column)) = scroll_bar(&view.rows, cols)
        {
            for row in rows {
                view.rows[row].cut(column);
            }
            view.cols = column;
        }
        view.cursor = view.line_to_cursor(screen);
        view.composer_rows = general_composer::find(&view.rows, place);
        if !view.has_composer
            && rules.is_general
            && let Some(rows) = &view.composer_rows
        {
            view.body_rows = rows.start;
        }
        view
    }

    /// Returns the line that the cursor ends, joined where the terminal broke it. Below all that is
    /// written it is an empty one, which is where a program waits that has no prompt.
    fn line_to_cursor(&self, screen: &Screen) -> Option<String> {
        let cursor = screen.cursor();
        let columns = written_columns(&screen.row(cursor.row));
        let blanks = cursor.col.checked_sub(columns)?;
        if blanks > PROMPT_BLANKS_MAX {
            return None;
        }
        if usize::from(cursor.row) >= self.rows.len() {
            return Some(String::new());
        }
        let last = self.rows.len().checked_sub(1)?;
        if usize::from(cursor.row) != last {
            return None;
        }
        let goes_on = |row: &&TextRow| row.is_wrapped;
        let broken = self.rows[..last].iter().rev().take_while(goes_on).count();
        Some(self.rows[last - broken..].iter().map(|row| row.text.as_str()).collect())
    }

    fn of_rows(mut rows: Vec<TextRow>, cols: usize, rules: &Rules) -> Self {
        while rows.last().is_some_and(|row| row.text.is_empty()) {
            rows.pop();
        }
        let first = rows.len().saturating_sub(BOTTOM_ROWS);
        let mut bottom = String::new();
        for row in &rows[first..] {
            bottom.push_str(&row.text);
            bottom.push('\n');
        }
        bottom.truncate(bottom.trim_end().len());
        let found = rules.composer.as_ref().and_then(|composer| composer.find_iter(&bottom).last());
        let composer = found.map_or(bottom.len()..bottom.len(), |found| found.range());
        let has_composer = found.is_some();
        let above = first + bottom[..composer.start].matches('\n').count();
        let body_rows = if has_composer { above } else { rows.len() };
        Self {
            rows,
            body_rows,
            bottom_row: first,
            has_composer,
            cols,
            cut: None,
            composer_rows: None,
            bottom,
            composer,
            cursor: None,
        }
    }

    /// Returns how far the lower border of the composer reaches to the right.
    fn edge(&self) -> usize {
        let border = self.bottom[self.composer.clone()].lines().last().unwrap_or_default();
        border_end(border).unwrap_or(self.cols)
    }

    /// Returns the same for a composer that no rule knows.
    fn general_edge(&self, cursor: Option<(usize, usize)>) -> usize {
        let rows = general_composer::find(&self.rows, cursor);
        let border = rows.and_then(|rows| self.rows.get(rows.end - 1));
        border.and_then(|row| border_end(&row.text)).unwrap_or(self.cols)
    }

    /// Returns the text of a region; what a composer divides is there only if it is.
    pub(super) fn region(&self, region: Region) -> Option<&str> {
        match region {
            Region::Footer if self.has_composer => self.bottom.get(self.composer.start..),
            Region::Bottom | Region::Footer => Some(&self.bottom),
            Region::Under | Region::Tail if !self.has_composer => None,
            Region::Under => self.bottom.get(self.composer.end..),
            Region::Tail => {
                let body = self.bottom.get(..self.composer.start)?.trim_end();
                body.get(start_of_last(body, TAIL_ROWS)..)
            }
            Region::Cursor => self.cursor.as_deref(),
        }
    }

    pub(super) fn body(&self) -> &[TextRow] {
        &self.rows[..self.body_rows]
    }
}
