//! Takes the secrets out of a recording, wherever its events and sequences cut them.

use std::collections::BTreeSet;

use regex::RegexBuilder;

use super::asciicast::{Cast, CastEvent};
use super::plain_text::{PlainText, Sequences};
use super::secrets::secrets;

/// Stands for one character of a secret.
const BLANK: char = '•';
/// What was a secret once is one everywhere, unless it is as short as a word.
const KNOWN_CHARS_MIN: usize = 8;
/// So many different ones are looked for a second time.
const KNOWN_MAX: usize = 500;
/// What the pattern of all of them may cost.
const PATTERN_BYTES_MAX: usize = 64 << 20;

/// Replaces each character of a secret by a bullet, and returns how many characters that were.
pub fn redact(cast: &mut Cast) -> usize {
    let stream = output_of(cast);
    let text = PlainText::read(&stream, Sequences::BreakLines);
    let mut known = BTreeSet::new();
    let mut blanks = BTreeSet::new();
    for range in secrets(&text.text) {
        let secret = &text.text[range.clone()];
        if secret.chars().count() >= KNOWN_CHARS_MIN && !secret.contains(char::is_whitespace) {
            known.insert(secret.to_owned());
        }
        blanks.extend(range.filter_map(|at| text.origin(at)));
    }
    let again = again(&known);
    if let Some(again) = &again {
        for text in [text, PlainText::read(&stream, Sequences::Vanish)] {
            for found in again.find_iter(&text.text) {
                blanks.extend(found.range().filter_map(|at| text.origin(at)));
            }
        }
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
            CastEvent::Marker(label) => *label = redact_text(label, again.as_ref(), &mut count),
            CastEvent::Resize(_) => {}
        }
    }
    cast.title = redact_text(&cast.title, again.as_ref(), &mut count);
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

/// Returns what finds the known secrets.
fn again(known: &BTreeSet<String>) -> Option<regex::Regex> {
    let words: Vec<String> = known.iter().take(KNOWN_MAX).map(|word| regex::escape(word)).collect();
    if words.is_empty() {
        return None;
    }
    RegexBuilder::new(&words.join("|")).size_limit(PATTERN_BYTES_MAX).build().ok()
}

fn redact_text(text: &str, again: Option<&regex::Regex>, count: &mut usize) -> String {
    let mut ranges = secrets(text);
    ranges.extend(again.iter().flat_map(|again| again.find_iter(text)).map(|found| found.range()));
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
        Cast { size: Size::default(), started: Moment(0), title: String::new(), events }
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
        ]);
        cast.events.push((Moment(9), CastEvent::Marker(format!("state working {SECRET}"))));
        cast.title = format!("x {SECRET}");
        redact(&mut cast);
        let text = cast.write();
        assert!(!text.contains(head) && !text.contains(tail), "{text}");
        assert!(text.contains("MY_TOKEN=•") && text.contains("state working •"), "{text}");
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
