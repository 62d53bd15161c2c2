//! What the probes share.

use crate::model::{Moment, Row, Size, Style};
use crate::screen::{Fed, HistoryLimit, Screen};

pub(super) fn size(rows: u16, cols: u16) -> Size {
    Size { rows, cols }
}

/// Returns an empty screen of 5 rows and 20 columns.
pub(super) fn empty() -> Screen {
    Screen::new(size(5, 20), HistoryLimit::default())
}

pub(super) fn feed(screen: &mut Screen, text: &str) -> Fed {
    screen.feed(text.as_bytes(), Moment(0))
}

pub(super) fn show(text: &str) -> Screen {
    let mut screen = empty();
    feed(&mut screen, text);
    screen
}

pub(super) fn answers(text: &str) -> String {
    String::from_utf8(feed(&mut empty(), text).answers).unwrap()
}

/// Returns the row and column of the cursor.
pub(super) fn at(screen: &Screen) -> (u16, u16) {
    (screen.cursor().row, screen.cursor().col)
}

pub(super) fn line(screen: &Screen, row: u16) -> String {
    screen.row(row).text()
}

pub(super) fn history(screen: &Screen) -> String {
    screen.history_text(usize::MAX)
}

/// Returns the style of a column.
pub(super) fn style(row: &Row, col: u16) -> Style {
    let mut end = 0;
    for run in &row.runs {
        end += run.columns;
        if col < end {
            return run.style;
        }
    }
    Style::default()
}

/// Returns the attributes of the first cell after some output.
pub(super) fn attributes(text: &str) -> u8 {
    style(&show(text).row(0), 0).attributes
}
