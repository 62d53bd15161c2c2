//! Sees what moves on a screen between two looks: spinners, clocks and text that streams.

use std::time::Duration;

use crate::model::Moment;

use super::view::TextRow;

/// A spinner whose row is still in sight, but stands still for this long, has ended.
const STILL: Duration = Duration::from_millis(2200);
/// Text that has not grown for this long streams no longer.
const FLOW_REST: Duration = Duration::from_millis(900);
/// So many looks in a row must see text grow before it streams: one is an echo or a last word.
const FLOW_LOOKS: u32 = 3;
/// A row with more signs of spinners is a picture made of them.
const SPINNER_SIGNS_MAX: usize = 8;
/// An unknown sign must change twice within this time to be a spinner: one change is a ticked box.
const TWICE: Duration = Duration::from_secs(2);

/// What moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    /// A sign or a clock that changes in place, with its row.
    Spinner(String),
    /// Text that grows look after look.
    Flow,
}

/// How wide the screen is, and how many rows have ever left it at the top.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    pub(super) cols: u16,
    pub(super) scrolled: u64,
}

/// Remembers the last look.
#[derive(Clone, Debug, Default)]
pub(super) struct Motions {
    rows: Vec<String>,
    extent: Extent,
    /// The row that moved last, and when.
    spinner: Option<(String, Moment)>,
    /// A change of a sign that may be none of a spinner.
    doubtful_at: Option<Moment>,
    flow: Option<(u32, Moment)>,
}

impl Motions {
    /// Takes the rows of a look, of which those from `body` on are no conversation, and says what moves.
    pub(super) fn look(
        &mut self,
        rows: &[TextRow],
        body: usize,
        extent: Extent,
        now: Moment,
    ) -> Option<Motion> {
        let new: Vec<String> = rows.iter().map(|row| row.text.clone()).collect();
        let old = std::mem::replace(&mut self.rows, new);
        let before = std::mem::replace(&mut self.extent, extent);
        if before.cols != extent.cols {
            // All of it is drawn anew.
            (self.spinner, self.flow, self.doubtful_at) = (None, None, None);
            return None;
        }
        self.note_spinner(&old, now);
        self.note_flow(&old, body, extent.scrolled > before.scrolled, now);
        let had_spinner = self.spinner.is_some();
        self.flow = self.flow.filter(|(_, at)| now.since(*at) < FLOW_REST);
        let is_there = |(row, at): &(String, Moment)| {
            let letters = letters(row);
            // A sign without a word beside it is told by its place in the row alone.
            let is_bare = letters.is_empty() && row.trim().chars().count() > 3;
            let stands =
                |seen: &String| seen == row || (!is_bare && self::letters(seen) == letters);
            now.since(*at) < STILL && self.rows.iter().any(stands)
        };
        if let Some((row, _)) = self.spinner.as_ref().filter(|spinner| is_there(spinner)) {
            return Some(Motion::Spinner(row.trim().to_owned()));
        }
        self.spinner = None;
        if had_spinner {
            self.sign_has_gone();
        }
        let is_flow = |(looks, _): (u32, Moment)| looks >= FLOW_LOOKS;
        self.flow.is_some_and(is_flow).then_some(Motion::Flow)
    }

    /// Notes that a sign of work has left the screen: what grew up to now were the last words. A program that
    /// writes on without the sign is seen to do so anew.
    pub(super) fn sign_has_gone(&mut self) {
        self.flow = None;
    }

    /// Returns when to look again though nothing is drawn.
    pub(super) fn deadline(&self) -> Option<Moment> {
        let spinner = self.spinner.as_ref().map(|(_, at)| *at + STILL);
        let flow = self.flow.filter(|(looks, _)| *looks >= FLOW_LOOKS);
        spinner.into_iter().chain(flow.map(|(_, at)| at + FLOW_REST)).min()
    }

    fn note_spinner(&mut self, old: &[String], now: Moment) {
        let mut doubtful = None;
        for (at, row) in self.rows.iter().enumerate() {
            // The conversation may have moved the row by a few.
            let near = old.iter().skip(at.saturating_sub(3)).take(at.min(3) + 4);
            // What still stands there has not turned into another row: two lines of a diff are alike.
            let moved = near.filter(|before| *before != row && !self.rows.contains(before));
            match moved.map(|before| turn_of(before, row)).max().unwrap_or(Turn::None) {
                Turn::Certain => {
                    self.spinner = Some((row.clone(), now));
                    return;
                }
                Turn::Doubtful => doubtful = Some(row.clone()),
                Turn::None => {}
            }
        }
        if let Some(row) = doubtful {
            let before = self.doubtful_at.replace(now);
            if before.is_some_and(|before| now.since(before) < TWICE) {
                self.spinner = Some((row, now));
            }
        }
    }

    fn note_flow(&mut self, old: &[String], body: usize, has_scrolled: bool, now: Moment) {
        let count = |rows: &[String]| -> usize {
            rows.iter().map(|row| row.chars().filter(|c| c.is_alphabetic()).count()).sum()
        };
        let new = self.rows.get(..body).unwrap_or(&self.rows);
        let last = |rows: &[String]| rows.iter().rfind(|row| !row.trim().is_empty()).cloned();
        let grew = old.get(..body.min(old.len())).is_some_and(|old| {
            old != new && !old.is_empty() && (count(old) < count(new) || last(old) != last(new))
        });
        // Rows that are all alike scroll unseen.
        if grew || has_scrolled {
            let looks = self.flow.filter(|(_, at)| now.since(*at) < FLOW_REST).map_or(0, |f| f.0);
            self.flow = Some((looks + 1, now));
        }
    }
}

/// How sure it is that a row shows a spinner that turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    None,
    Doubtful,
    Certain,
}

/// Compares a row with what it was.
fn turn_of(before: &str, after: &str) -> Turn {
    let (old, new): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    let strong = |rows: &[char]| rows.iter().position(|c| is_strong(*c));
    // Its words may change with it.
    let is_picture = old.iter().filter(|c| is_strong(**c)).count() > SPINNER_SIGNS_MAX;
    if is_picture {
        return Turn::None;
    }
    if let (Some(a), Some(b)) = (strong(&old), strong(&new))
        && a == b
        && old[a] != new[b]
    {
        return Turn::Certain;
    }
    if letters(before) != letters(after) {
        return Turn::None;
    }
    if clock(&old).zip(clock(&new)).is_some_and(|(a, b)| b == a + 1) {
        return Turn::Certain;
    }
    if old.len() != new.len() {
        let dots = |text: &str| text.trim_end().trim_end_matches(['.', '…']).to_owned();
        let is_dots = dots(before) == dots(after) && !dots(after).is_empty();
        return if is_dots { Turn::Doubtful } else { Turn::None };
    }
    if has_wandered(&old, &new) {
        return Turn::Doubtful;
    }
    let mut turn = Turn::None;
    for (a, b) in old.iter().zip(&new).filter(|(a, b)| a != b) {
        let is_digit = a.is_ascii_digit() && b.is_ascii_digit();
        if is_weak(*a) && is_weak(*b) {
            turn = turn.max(Turn::Certain);
        } else if is_sign(*a) && is_sign(*b) {
            turn = turn.max(Turn::Doubtful);
        } else if !is_digit {
            return Turn::None;
        }
    }
    turn
}

/// Says whether signs of the row stand elsewhere than before, among blanks, and nothing else but figures has changed.
fn has_wandered(old: &[char], new: &[char]) -> bool {
    let changed = || old.iter().zip(new).filter(|(a, b)| a != b);
    let is_gap = |(a, b): &(&char, &char)| {
        (a.is_whitespace() && is_sign(**b)) || (is_sign(**a) && b.is_whitespace())
    };
    let is_figure = |(a, b): &(&char, &char)| a.is_ascii_digit() && b.is_ascii_digit();
    let signs = |row: &[char]| row.iter().filter(|c| is_sign(**c)).copied().collect::<String>();
    changed().any(|pair| is_gap(&pair))
        && changed().all(|pair| is_gap(&pair) || is_figure(&pair))
        && signs(old) == signs(new)
}

/// Says whether the sign is used for nothing but spinners.
pub(super) fn is_strong(c: char) -> bool {
    matches!(c, '\u{2801}'..='\u{28ff}' | '◐'..='◓' | '◴'..='◷' | '◰'..='◳')
}

/// Says whether spinners use the sign among others.
fn is_weak(c: char) -> bool {
    is_strong(c)
        || matches!(c, '\u{2800}' | '◎' | '◉' | '✢' | '✳' | '✶' | '✻' | '✽' | '✦' | '✧' | '⬝' | '■')
        || matches!(c, '▖' | '▘' | '▝' | '▗' | '░'..='▓' | '∙' | '⣿')
}

/// Says whether a sign could be one of a spinner that nobody knows.
fn is_sign(c: char) -> bool {
    let is_frame = matches!(c, '\u{2500}'..='\u{259f}');
    let is_ascii = matches!(c, '|' | '/' | '-' | '\\' | '*' | '+');
    !c.is_alphanumeric() && !c.is_whitespace() && (is_ascii || !(c.is_ascii() || is_frame))
}

/// Returns the seconds of a clock such as `(2s`, `1m 12s` or ` 12s `.
fn clock(row: &[char]) -> Option<u64> {
    let end = row.iter().enumerate().position(|(at, c)| {
        let is_after = row.get(at + 1).is_none_or(|next| !next.is_alphanumeric());
        *c == 's' && is_after && at > 0 && row[at - 1].is_ascii_digit()
    })?;
    let start = row[..end].iter().rposition(|c| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    row[start..end].iter().collect::<String>().parse().ok()
}

fn letters(row: &str) -> String {
    row.chars().filter(|c| c.is_alphabetic()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXTENT: Extent = Extent { cols: 80, scrolled: 0 };

    fn rows(text: &str) -> Vec<TextRow> {
        let row = |text: &str| TextRow::plain(text);
        text.lines().map(row).collect()
    }

    #[test]
    fn a_sign_that_turns_in_place_is_certain_and_an_unknown_one_is_not() {
        for (before, after, turn) in [
            ("⠋ Thinking", "⠙ Thinking", Turn::Certain),
            ("── ⠼ Working ───", "── ⠴ Retrying ───", Turn::Certain),
            ("◎ Working · 1 B", "◉ Working · 2 B", Turn::Certain),
            ("✻ Cooking… (2s · 3 tokens)", "✻ Cooking… (3s · 9 tokens)", Turn::Certain),
            ("☐ write tests", "☑ write tests", Turn::Doubtful),
            ("Loading.", "Loading..", Turn::Doubtful),
            ("❯ 1. Yes", "  1. Yes", Turn::None),
            ("( ●    ) Thinking 7", "(  ●   ) Thinking 8", Turn::Doubtful),
            ("( 🐶   ) | 5 tokens", "(   🐶 ) | 5 tokens", Turn::Doubtful),
            ("│ ⠀⠁⠶⠟⠋⢀⣈⣁⡈⢁ │", "│ ⠶⠟⠋⢀⣈⣁⡈⢁⠀⠁ │", Turn::None),
            ("12:45 main", "12:46 main", Turn::None),
            ("one word", "another one", Turn::None),
        ] {
            assert_eq!(turn_of(before, after), turn, "{before} | {after}");
        }
    }

    #[test]
    fn a_spinner_that_is_gone_moves_no_longer() {
        let mut motions = Motions::default();
        motions.look(&rows("a\n⠋ Thinking"), 1, EXTENT, Moment(0));
        let seen = motions.look(&rows("a\n⠙ Thinking"), 1, EXTENT, Moment(300));
        assert_eq!(seen, Some(Motion::Spinner("⠙ Thinking".into())));
        assert!(motions.look(&rows("a\n⠙ Thinking"), 1, EXTENT, Moment(900)).is_some());
        assert_eq!(motions.look(&rows("a\nanswer"), 1, EXTENT, Moment(1000)), None);
    }

    #[test]
    fn the_last_words_that_come_with_the_end_of_a_spinner_are_no_stream() {
        let mut motions = Motions::default();
        let mut text = "a".to_owned();
        for (at, sign) in ['⠋', '⠙', '⠹', '⠸'].into_iter().enumerate() {
            text.push_str(" word");
            let seen = rows(&format!("{text}\n{sign} Thinking"));
            motions.look(&seen, 1, EXTENT, Moment(at as u64 * 200));
        }
        let last = rows(&format!("{text} and the last\nready"));
        assert_eq!(motions.look(&last, 1, EXTENT, Moment(800)), None);
    }

    #[test]
    fn text_streams_when_it_grows_look_after_look() {
        let mut motions = Motions::default();
        let mut text = "hello".to_owned();
        let mut seen = Vec::new();
        for at in 0..5 {
            seen.push(motions.look(&rows(&text), 9, EXTENT, Moment(at * 300)).is_some());
            text.push_str(" and more");
        }
        assert_eq!(seen, [false, false, false, true, true]);
        assert_eq!(motions.look(&rows(&text), 9, EXTENT, Moment(4000)), None);
    }
    #[test]
    fn rows_that_are_all_alike_stream_by_scrolling() {
        let mut motions = Motions::default();
        let alike = rows("tick\ntick");
        let seen = (0..5).map(|at| {
            let extent = Extent { scrolled: at * 9, ..EXTENT };
            motions.look(&alike, 9, extent, Moment(at * 300)).is_some()
        });
        assert_eq!(seen.collect::<Vec<_>>(), [false, false, false, true, true]);
    }

    #[test]
    fn rows_that_are_alike_and_stand_beside_each_other_do_not_move() {
        let mut motions = Motions::default();
        motions.look(&rows("1 -port = 8080"), 9, EXTENT, Moment(0));
        for at in 1..4 {
            let seen = rows(&format!("{}1 -port = 8080\n1 +port = 9090", "\n".repeat(at % 2)));
            assert_eq!(motions.look(&seen, 0, EXTENT, Moment(at as u64 * 300)), None);
        }
    }
}
