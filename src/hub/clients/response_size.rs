//! How much of a frame something takes, so that no answer is larger than a stalled client may cost.

use crate::model::{Row, Run};

/// One answer, or one frame of a pane. A client that never listens costs this once, beside what
/// else is on its way to it.
pub(in crate::hub) const ANSWER_BYTES_MAX: usize = 768 * 1024;

/// A run of a row around its text and its link: its names, its columns and three colours.
const RUN_BYTES: usize = 148;
/// A row around its runs.
const ROW_BYTES: usize = 32;

/// Returns what a text takes, with its quotes and a comma.
pub(in crate::hub) fn text_bytes(text: &str) -> usize {
    let escaped = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    text.len() + escaped + 3
}

/// Returns what a row takes at most.
pub(in crate::hub) fn row_bytes(row: &Row) -> usize {
    let run =
        |run: &Run| RUN_BYTES + text_bytes(&run.text) + run.link.as_deref().map_or(0, text_bytes);
    row.runs.iter().map(run).sum::<usize>() + ROW_BYTES
}

/// Keeps what fits into one answer, and at least one thing.
pub(in crate::hub) fn fitting<T>(
    things: impl Iterator<Item = T>,
    bytes: impl Fn(&T) -> usize,
) -> impl Iterator<Item = T> {
    let mut used = 0;
    things.take_while(move |thing| {
        let is_first = used == 0;
        used += bytes(thing);
        is_first || used <= ANSWER_BYTES_MAX
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Color, Style, Underline};

    #[test]
    fn nothing_takes_more_than_was_reckoned() {
        let colour = Color::Rgb(255, 255, 255);
        let style = Style {
            foreground: colour,
            background: colour,
            attributes: 255,
            underline: Underline::Double,
            underline_color: colour,
        };
        for text in ["", "x", "\"\\\"\\", "中é👍🏽", "a long text with \"quotes\""] {
            let run = Run { text: text.to_owned(), columns: 1000, style, link: Some(text.into()) };
            for count in [0, 1, 100] {
                let row = Row { runs: vec![run.clone(); count], wrapped: true };
                let length = serde_json::to_string(&(999_u16, &row)).unwrap().len();
                assert!(length < row_bytes(&row), "{length} of {}", row_bytes(&row));
            }
            assert!(serde_json::to_string(text).unwrap().len() < text_bytes(text));
        }
    }

    #[test]
    fn the_first_thing_fits_whatever_it_takes() {
        let things = [ANSWER_BYTES_MAX * 2, 1, 1];
        assert_eq!(fitting(things.into_iter(), |bytes| *bytes).count(), 1);
        let things = [ANSWER_BYTES_MAX - 1, 1, 1];
        assert_eq!(fitting(things.into_iter(), |bytes| *bytes).count(), 2);
    }
}
