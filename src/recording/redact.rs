//! Takes the secrets out of a recording, wherever its events and sequences cut them.
//!
//! They are looked for in the words of the whole stream and on the screens that it draws; what was
//! found in one place is then blanked out in all, also in pieces.

use std::collections::BTreeSet;
use std::time::Duration;

use super::asciicast::{Cast, CastEvent};
use super::known::{Finder, Known};
use super::plain_text::{PlainText, Sequences};
use super::secrets::secrets;
use crate::model::Moment;
use crate::screen::{HistoryLimit, Screen};

/// Stands for one character of a secret.
const BLANK: char = '•';
/// A person sees no more screens than one in so long.
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// Replaces each character of a secret by a bullet, and returns how many characters that were.
pub fn redact(cast: &mut Cast) -> usize {
    let stream = output_of(cast);
    let text = PlainText::read(&stream, Sequences::BreakLines);
    let mut known = Known::default();
    known.learn(&text.text);
    learn_screens(cast, &mut known);
    let finder = known.finder();
    let mut blanks = BTreeSet::new();
    let mut note = |text: &PlainText, ranges: Vec<std::ops::Range<usize>>| {
        blanks.extend(ranges.into_iter().flatten().filter_map(|at| text.origin(at)));
    };
    note(&text, secrets(&text.text));
    for text in [text, PlainText::read(&stream, Sequences::Vanish)] {
        note(&text, finder.find(&text.text));
    }
    let mut count = 0;
    let mut start = 0;
    for (_, event) in &mut cast.events {
        match event {
            CastEvent::Output(output) => {
                let end = start + output.len();
                if blanks.range(start..end).next().is_some() {
                    *output = blank(output, |at| blanks.contains(&(start + at)), &mut count);
                }
                start = end;
            }
            CastEvent::Marker(label) => *label = redact_text(label, &finder, &mut count),
            CastEvent::Resize(_) => {}
        }
    }
    cast.title = redact_text(&cast.title, &finder, &mut count);
    count
}

fn output_of(cast: &Cast) -> String {
    let mut stream = String::new();
    for (_, event) in &cast.events {
        if let CastEvent::Output(output) = event {
            stream.push_str(output);
        }
    }
    stream
}

/// Remembers the secrets on the screens that a person would have seen.
fn learn_screens(cast: &Cast, known: &mut Known) {
    let mut screen = Screen::new(cast.size, HistoryLimit { lines: 0, ..HistoryLimit::default() });
    let mut events = cast.events.iter().peekable();
    let mut looked_at = Moment(0);
    while let Some((at, event)) = events.next() {
        match event {
            CastEvent::Output(output) => drop(screen.feed(output.as_bytes(), *at)),
            CastEvent::Resize(size) => screen.resize(*size),
            CastEvent::Marker(_) => {}
        }
        let next = events.peek().map(|(next, _)| *next);
        if next.is_none_or(|next| next.since(looked_at) >= LOOK_PAUSE) {
            looked_at = next.unwrap_or(*at);
            known.learn(&text_of(&screen));
        }
    }
}

/// Returns the screen's text with the rows joined that the terminal broke.
fn text_of(screen: &Screen) -> String {
    let mut text = String::new();
    for row in screen.rows() {
        text.push_str(&row.text());
        if !row.wrapped {
            text.push('\n');
        }
    }
    text
}

fn redact_text(text: &str, finder: &Finder, count: &mut usize) -> String {
    let ranges = [secrets(text), finder.find(text)].concat();
    blank(text, |at| ranges.iter().any(|range| range.contains(&at)), count)
}

fn blank(text: &str, is_secret: impl Fn(usize) -> bool, count: &mut usize) -> String {
    let shown = |(at, c): (usize, char)| {
        if c.is_whitespace() || c.is_control() || !is_secret(at) {
            return c;
        }
        *count += 1;
        BLANK
    };
    text.char_indices().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Moment, Size};

    const SECRET: &str = "a1B2c3D4e5F6g7H8i9J0";

    fn cast(outputs: &[&str]) -> Cast {
        let event =
            |(at, text): (usize, &&str)| (Moment(at as u64), CastEvent::Output((*text).to_owned()));
        let events = outputs.iter().enumerate().map(event).collect();
        Cast {
            size: Size::default(),
            started: Moment(0),
            title: String::new(),
            events,
            typed: Vec::new(),
        }
    }

    #[test]
    fn a_secret_is_found_however_it_is_cut() {
        let whole = format!("use ghp_{SECRET} now");
        for cut in 1..whole.len() {
            let (head, tail) = whole.split_at(cut);
            let middle = format!("\x1b[1;3{}m", cut % 8);
            let mut cast = cast(&[head, &middle, tail]);
            assert_eq!(redact(&mut cast), SECRET.len());
            let text = output_of(&cast);
            assert_eq!(text.replace(&middle, ""), format!("use ghp_{} now", "•".repeat(20)));
            assert!(text.contains(&middle), "sequences stay");
        }
    }

    #[test]
    fn a_known_secret_is_blanked_everywhere_also_in_pieces_and_remarks() {
        let (head, tail) = SECRET.split_at(9);
        let mut cast = cast(&[
            &format!("MY_TOKEN={SECRET}\r\n"),
            &format!("echo {SECRET}\r\n\x1b]2;run {SECRET}\x07"),
            &format!("\x1b[3;1H{head}\x1b[3;10H{tail}"),
            &format!("\x1b[4;1H{tail}\x1b[7;10H and {head}"),
        ]);
        cast.events.push((Moment(9), CastEvent::Marker(format!("state working {SECRET}"))));
        cast.title = format!("x {SECRET}");
        redact(&mut cast);
        let text = cast.write();
        assert!(!text.contains(head) && !text.contains(tail), "{text}");
        assert!(text.contains("MY_TOKEN=•") && text.contains("state working •"), "{text}");
    }

    #[test]
    fn a_secret_that_only_the_screen_puts_together_is_found() {
        let (head, tail) = SECRET.split_at(10);
        let mut cast = cast(&[
            &format!("\x1b[2;8H{tail}"),
            &format!("\x1b[2;1H\x1b[Kghp_{head}\x1b[5;1H\x1b[2;15H{tail}"),
        ]);
        cast.size = Size { rows: 5, cols: 60 };
        redact(&mut cast);
        let text = output_of(&cast);
        assert!(!text.contains(head) && !text.contains(tail) && text.contains("ghp_•"), "{text:?}");
    }

    #[test]
    fn what_goes_into_the_clipboard_is_blanked() {
        let mut cast = cast(&["\x1b]52;c;c2VjcmV0IHdvcmRz\x07 fine"]);
        redact(&mut cast);
        let text = output_of(&cast);
        assert!(!text.contains("c2Vj") && text.ends_with("\x07 fine"), "{text:?}");
    }

    #[test]
    fn a_recording_without_secrets_stays_as_it_is() {
        let mut cast = cast(&["\x1b[1mSTATUS: DONE — 23 tests\x1b[m\r\n", "ö\u{fffd}日本"]);
        let before = cast.clone();
        assert_eq!(redact(&mut cast), 0);
        assert_eq!(cast, before);
    }
}
