//! Reads what a terminal sends: keys, pastes, the mouse, and its answers.
//!
//! Our own, because the reader of `crossterm` blocks on half a sequence and spins on a terminal that
//! has gone away, which a dashboard that also listens to a socket cannot afford.

use super::keyboard::{legacy_key, modifiers, numbered_key, plain_key, unicode_key};
use crate::model::{Key, KeyCode, Modifiers, Mouse, MouseButton, MouseKind};

/// Something that the terminal sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TerminalInput {
    Key(Key),
    Paste(String),
    /// In cells of the whole window.
    Mouse(Mouse),
    Focus(bool),
    /// The terminal's background, each channel from 0 to 255.
    Background([u8; 3]),
}

/// A sequence that has not ended by then is not one.
const SEQUENCE_BYTES_MAX: usize = 256;

/// What a paste may bring; the rest is dropped, and the text ends with a note that says so.
const PASTE_BYTES_MAX: usize = 1024 * 1024;

const PASTE_END: &[u8] = b"\x1b[201~";

/// Cuts the bytes of a terminal into what they mean.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    bytes: Vec<u8>,
    paste: Option<Vec<u8>>,
}

enum Step {
    /// So many bytes meant this.
    Took(usize, Option<TerminalInput>),
    Incomplete,
}

impl Parser {
    /// Takes bytes and returns what they mean, in order.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<TerminalInput> {
        self.bytes.extend_from_slice(bytes);
        let mut typed = Vec::new();
        while !self.bytes.is_empty() {
            if self.paste.is_some() {
                match self.take_paste() {
                    Some(text) => typed.push(TerminalInput::Paste(text)),
                    None => break,
                }
                continue;
            }
            match step(&self.bytes) {
                Step::Took(count, meant) => {
                    let begins_paste = self.bytes.starts_with(b"\x1b[200~");
                    self.bytes.drain(..count);
                    if begins_paste {
                        self.paste = Some(Vec::new());
                    }
                    typed.extend(meant);
                }
                Step::Incomplete if self.bytes.len() > SEQUENCE_BYTES_MAX => self.bytes.clear(),
                Step::Incomplete => break,
            }
        }
        typed
    }

    /// Says whether bytes wait for more: a lone escape may be a key or the begin of a sequence.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.bytes.is_empty() && self.paste.is_none()
    }

    /// Gives up waiting for more and returns what the bytes mean as they are.
    pub(crate) fn give_up(&mut self) -> Vec<TerminalInput> {
        let bytes = std::mem::take(&mut self.bytes);
        match bytes.as_slice() {
            [0x1b] => vec![TerminalInput::Key(Key::plain(KeyCode::Escape))],
            [0x1b, only] => {
                plain_key(*only).map(with_alt).map(TerminalInput::Key).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn take_paste(&mut self) -> Option<String> {
        let paste = self.paste.as_mut()?;
        let end = find(&self.bytes, PASTE_END);
        // The mark of the end may have arrived in part.
        let safe = self.bytes.len().saturating_sub(PASTE_END.len() - 1);
        let take = end.unwrap_or(safe);
        let room = PASTE_BYTES_MAX.saturating_sub(paste.len());
        paste.extend_from_slice(&self.bytes[..take.min(room)]);
        self.bytes.drain(..take + if end.is_some() { PASTE_END.len() } else { 0 });
        end?;
        let bytes = self.paste.take().unwrap_or_default();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if bytes.len() >= PASTE_BYTES_MAX {
            text.push_str(" [the rest of this paste was too long]");
        }
        Some(text)
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn with_alt(key: Key) -> Key {
    Key { modifiers: Modifiers { alt: true, ..key.modifiers }, ..key }
}

fn step(bytes: &[u8]) -> Step {
    match bytes {
        [0x1b] | [0x1b, b'O'] => Step::Incomplete,
        [0x1b, b'[', rest @ ..] => control_sequence(rest),
        [0x1b, b'O', letter, ..] => Step::Took(3, legacy_key(*letter, "").map(TerminalInput::Key)),
        [0x1b, b']' | b'P' | b'_' | b'^', rest @ ..] => string_sequence(rest),
        [0x1b, 0x1b, ..] => Step::Took(1, Some(TerminalInput::Key(Key::plain(KeyCode::Escape)))),
        [0x1b, rest @ ..] => match character(rest) {
            Step::Took(count, Some(TerminalInput::Key(key))) => {
                Step::Took(count + 1, Some(TerminalInput::Key(with_alt(key))))
            }
            Step::Took(count, other) => Step::Took(count + 1, other),
            Step::Incomplete => Step::Incomplete,
        },
        _ => character(bytes),
    }
}

fn character(bytes: &[u8]) -> Step {
    let first = bytes[0];
    if first < 0x80 {
        return Step::Took(1, plain_key(first).map(TerminalInput::Key));
    }
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Step::Took(1, None),
    };
    let Some(encoded) = bytes.get(..length) else { return Step::Incomplete };
    let decoded = str::from_utf8(encoded).ok().and_then(|text| text.chars().next());
    match decoded {
        Some(c) => Step::Took(length, Some(TerminalInput::Key(Key::plain(KeyCode::Char(c))))),
        None => Step::Took(1, None),
    }
}

/// Reads what follows `ESC [`.
fn control_sequence(rest: &[u8]) -> Step {
    let Some(end) = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        return Step::Incomplete;
    };
    let took = end + 3;
    let Ok(parameters) = str::from_utf8(&rest[..end]) else { return Step::Took(took, None) };
    let meant = match (rest[end], parameters) {
        (b'I', "") => Some(TerminalInput::Focus(true)),
        (b'O', "") => Some(TerminalInput::Focus(false)),
        (b'M' | b'm', _) if parameters.starts_with('<') => mouse(&parameters[1..], rest[end]),
        (b'u', _) => unicode_key(parameters).map(TerminalInput::Key),
        (b'~', _) => numbered_key(parameters).map(TerminalInput::Key),
        (letter, _) => legacy_key(letter, parameters).map(TerminalInput::Key),
    };
    Step::Took(took, meant)
}

/// Reads an answer of the terminal, such as the colour of its background.
fn string_sequence(rest: &[u8]) -> Step {
    let bell = rest.iter().position(|byte| *byte == 0x07).map(|at| (at, 1));
    let ending = find(rest, b"\x1b\\").map(|at| (at, 2)).or(bell);
    let Some((end, ending_length)) = ending else { return Step::Incomplete };
    let meant = str::from_utf8(&rest[..end]).ok().and_then(background);
    Step::Took(2 + end + ending_length, meant)
}

fn background(answer: &str) -> Option<TerminalInput> {
    let mut channels = answer.strip_prefix("11;rgb:")?.split('/').map(|digits| {
        // One to four digits; the first two tell enough.
        let value = u8::from_str_radix(digits.get(..2).or(digits.get(..1))?, 16).ok()?;
        Some(if digits.len() == 1 { value * 17 } else { value })
    });
    Some(TerminalInput::Background([channels.next()??, channels.next()??, channels.next()??]))
}

fn mouse(parameters: &str, ending: u8) -> Option<TerminalInput> {
    let mut numbers = parameters.split(';').map(|number| number.parse::<u16>().ok());
    let (code, col, row) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let button = match code & 0b11 {
        0 => Some(MouseButton::Left),
        1 => Some(MouseButton::Middle),
        2 => Some(MouseButton::Right),
        _ => None,
    };
    let is_wheel = code & 64 != 0;
    let is_motion = code & 32 != 0;
    let kind = match (is_wheel, is_motion, button) {
        (true, _, _) => [
            MouseKind::ScrollUp,
            MouseKind::ScrollDown,
            MouseKind::ScrollLeft,
            MouseKind::ScrollRight,
        ][usize::from(code & 0b11)],
        (false, true, Some(button)) => MouseKind::Drag(button),
        (false, true, None) => MouseKind::Move,
        (false, false, Some(button)) if ending == b'm' => MouseKind::Release(button),
        (false, false, Some(button)) => MouseKind::Press(button),
        (false, false, None) => return None,
    };
    let modifiers = modifiers(1 + (u32::from(code) >> 2 & 0b11) + (u32::from(code) >> 2 & 0b100));
    Some(TerminalInput::Mouse(Mouse {
        kind,
        row: row.checked_sub(1)?,
        col: col.checked_sub(1)?,
        modifiers,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<String> {
        let mut parser = Parser::default();
        let mut typed = parser.push(bytes);
        typed.extend(parser.give_up());
        let name = |typed: TerminalInput| {
            if let TerminalInput::Key(key) = typed { key.to_string() } else { format!("{typed:?}") }
        };
        typed.into_iter().map(name).collect()
    }

    #[test]
    fn keys_are_understood_in_the_old_and_the_new_form() {
        assert_eq!(keys(b"a\r\t\x7f\x02 "), ["a", "enter", "tab", "backspace", "ctrl-b", "space"]);
        assert_eq!(keys("é世".as_bytes()), ["é", "世"]);
        assert_eq!(keys(b"\x1b[A\x1bOB\x1b[1;5C\x1b[Z"), ["up", "down", "ctrl-right", "shift-tab"]);
        assert_eq!(keys(b"\x1b[5~\x1b[3;2~\x1b[15~\x1bOP"), ["pageup", "shift-delete", "f5", "f1"]);
        assert_eq!(keys(b"\x1b[13;2u\x1b[98;5u\x1b[27u"), ["shift-enter", "ctrl-b", "esc"]);
        assert_eq!(keys(b"\x1b[103;2u"), ["G"]);
        assert_eq!(keys(b"\x1bx\x1b\r\x1b"), ["alt-x", "alt-enter", "esc"]);
    }

    #[test]
    fn a_key_that_is_let_go_is_not_pressed_again() {
        assert_eq!(keys(b"\x1b[97;1:3u\x1b[97;1:2u"), ["a"]);
    }

    #[test]
    fn whatever_way_the_bytes_are_cut_they_mean_the_same() {
        let stream =
            "x\x1b[1;5C\x1b[200~two\nlines\x1b[201~\x1b[<0;10;5M世\x1b]11;rgb:ff/80/00\x07y";
        let whole = Parser::default().push(stream.as_bytes());
        assert_eq!(whole.len(), 7);
        for step in 1..stream.len() {
            let mut parser = Parser::default();
            let parts = stream.as_bytes().chunks(step).flat_map(|part| parser.push(part));
            assert_eq!(parts.collect::<Vec<_>>(), whole, "cut every {step} bytes");
        }
    }

    #[test]
    fn a_paste_is_one_text_whatever_is_in_it() {
        let mut parser = Parser::default();
        assert_eq!(parser.push(b"\x1b[200~a\x1b[31mb"), []);
        assert!(!parser.is_waiting());
        assert_eq!(parser.push(b"\x1b[201~"), [TerminalInput::Paste("a\x1b[31mb".into())]);
    }

    #[test]
    fn a_paste_without_an_end_stays_bounded() {
        let mut parser = Parser::default();
        parser.push(b"\x1b[200~");
        for _ in 0..320 {
            parser.push(&[b'x'; 8192]);
        }
        let Some(TerminalInput::Paste(text)) = parser.push(PASTE_END).pop() else {
            panic!("no paste")
        };
        assert!(text.len() < PASTE_BYTES_MAX + 100 && text.ends_with("too long]"));
    }

    #[test]
    fn the_mouse_tells_button_place_and_modifiers() {
        let mut parser = Parser::default();
        let expected = Mouse {
            kind: MouseKind::Drag(MouseButton::Right),
            row: 4,
            col: 9,
            modifiers: Modifiers { control: true, ..Modifiers::default() },
        };
        assert_eq!(parser.push(b"\x1b[<50;10;5M"), [TerminalInput::Mouse(expected)]);
        let wheel = parser.push(b"\x1b[<65;1;1M");
        assert!(
            matches!(&wheel[..], [TerminalInput::Mouse(mouse)] if mouse.kind == MouseKind::ScrollDown)
        );
        assert_eq!(parser.push(b"\x1b[<0;0;0M"), []);
    }

    #[test]
    fn nonsense_is_dropped_without_harm() {
        assert_eq!(keys(b"\x1b[999;999;999q\x1b[<;;Ma"), ["a"]);
        assert_eq!(keys(b"\xff\xfe\xc3(a"), ["(", "a"]);
        let mut parser = Parser::default();
        parser.push(b"\x1b[");
        parser.push(&[b'1'; 1000]);
        assert_eq!(parser.push(b"a"), [TerminalInput::Key("a".parse().unwrap())]);
    }

    #[test]
    fn the_background_is_read_from_an_answer() {
        let mut parser = Parser::default();
        let expected = [TerminalInput::Background([0x28, 0x2c, 0x34])];
        assert_eq!(parser.push(b"\x1b]11;rgb:2828/2c2c/3434\x1b\\"), expected);
    }
}
