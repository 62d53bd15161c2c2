//! What a person types, read from the bytes that a terminal sends.

use std::time::Duration;

use crate::model::{Key, KeyCode, Modifiers, Moment};

/// An escape that stays alone so long is the key and not the start of a sequence.
const ESCAPE_WAIT: Duration = Duration::from_millis(25);
/// A longer paste is cut; no brief is that long.
const PASTE_BYTES_MAX: usize = 1 << 20;
/// A longer sequence is no key.
const SEQUENCE_BYTES_MAX: usize = 32;

const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// A key press, or text that arrived in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Key(Key),
    Paste(String),
}

/// Splits the stream of bytes; remembers what is not complete yet.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pending: Vec<u8>,
    pasted: Option<Vec<u8>>,
    pending_since: Option<Moment>,
}

impl Decoder {
    /// Takes bytes and returns what they complete.
    pub(super) fn feed(&mut self, bytes: &[u8], now: Moment) -> Vec<Typed> {
        let mut found = Vec::new();
        for byte in bytes {
            match &mut self.pasted {
                Some(paste) => {
                    paste.push(*byte);
                    if paste.ends_with(PASTE_END) {
                        paste.truncate(paste.len() - PASTE_END.len());
                        found.push(Typed::Paste(clean(paste)));
                        self.pasted = None;
                    } else if paste.len() > PASTE_BYTES_MAX + PASTE_END.len() {
                        // Only the end mark is still of interest.
                        paste.remove(PASTE_BYTES_MAX);
                    }
                }
                None => self.take(*byte, &mut found),
            }
        }
        self.pending_since = (!self.pending.is_empty()).then_some(now);
        found
    }

    /// Returns when `expire` must be called.
    pub(super) fn deadline(&self) -> Option<Moment> {
        self.pending_since.map(|since| since + ESCAPE_WAIT)
    }

    /// Takes what was left alone too long as it stands.
    pub(super) fn expire(&mut self, now: Moment) -> Option<Typed> {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return None;
        }
        self.pending_since = None;
        let is_escape = self.pending == b"\x1b";
        self.pending.clear();
        is_escape.then(|| Typed::Key(Key::plain(KeyCode::Escape)))
    }

    fn take(&mut self, byte: u8, found: &mut Vec<Typed>) {
        self.pending.push(byte);
        match self.pending.as_slice() {
            PASTE_START => {
                self.pending.clear();
                self.pasted = Some(Vec::new());
            }
            [0x1b] | [0x1b, b'[' | b'O'] => {}
            [0x1b, 0x1b] => {
                self.pending.pop();
                found.push(Typed::Key(Key::plain(KeyCode::Escape)));
            }
            [0x1b, b'[' | b'O', .., last] if (0x40..=0x7e).contains(last) => {
                found.extend(sequence(&self.pending[2..]).map(Typed::Key));
                self.pending.clear();
            }
            [0x1b, b'[' | b'O', ..] if self.pending.len() < SEQUENCE_BYTES_MAX => {}
            [0x1b, rest @ ..] => {
                if let Some(mut key) = rest.first().and_then(|byte| character(&[*byte])) {
                    key.modifiers.alt = true;
                    found.push(Typed::Key(key));
                }
                self.pending.clear();
            }
            bytes => {
                if let Some(key) = character(bytes) {
                    found.push(Typed::Key(key));
                    self.pending.clear();
                } else if bytes.len() >= 4 {
                    self.pending.clear();
                }
            }
        }
    }
}

/// Returns a paste as text: newlines for returns, and no control characters.
fn clean(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(PASTE_BYTES_MAX)];
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| *c == '\n' || *c == '\t' || !c.is_control()).collect()
}

fn character(bytes: &[u8]) -> Option<Key> {
    let c = str::from_utf8(bytes).ok()?.chars().next()?;
    Some(match c {
        '\r' => Key::plain(KeyCode::Enter),
        '\n' => control('j'),
        '\t' => Key::plain(KeyCode::Tab),
        '\u{7f}' | '\u{8}' => Key::plain(KeyCode::Backspace),
        '\u{1}'..='\u{1a}' => control(char::from(c as u8 - 1 + b'a')),
        c => Key::plain(KeyCode::Char(c)),
    })
}

fn control(c: char) -> Key {
    Key { code: KeyCode::Char(c), modifiers: Modifiers { control: true, ..Modifiers::default() } }
}

/// Reads what follows `ESC [` or `ESC O`; a sequence that is no key gives none.
fn sequence(bytes: &[u8]) -> Option<Key> {
    let (last, parameters) = bytes.split_last()?;
    let numbers: Vec<u32> = str::from_utf8(parameters)
        .ok()?
        .split([';', ':'])
        .map(|number| number.parse().unwrap_or(0))
        .collect();
    let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
    let (code, held) = match last {
        b'A' => (KeyCode::Up, number(1)),
        b'B' => (KeyCode::Down, number(1)),
        b'C' => (KeyCode::Right, number(1)),
        b'D' => (KeyCode::Left, number(1)),
        b'H' => (KeyCode::Home, number(1)),
        b'F' => (KeyCode::End, number(1)),
        b'M' if parameters.is_empty() => (KeyCode::Enter, 0),
        b'u' => (coded(number(0))?, number(1)),
        // xterm's other keys: CSI 27 ; modifiers ; code ~
        b'~' if number(0) == 27 => (coded(number(2))?, number(1)),
        b'~' => match number(0) {
            1 | 7 => (KeyCode::Home, number(1)),
            3 => (KeyCode::Delete, number(1)),
            4 | 8 => (KeyCode::End, number(1)),
            _ => return None,
        },
        _ => return None,
    };
    let bits = held.saturating_sub(1);
    let modifiers = Modifiers {
        shift: bits & 1 != 0,
        alt: bits & 2 != 0,
        control: bits & 4 != 0,
        meta: bits & 8 != 0,
    };
    Some(Key { code, modifiers })
}

fn coded(code: u32) -> Option<KeyCode> {
    Some(match code {
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Escape,
        127 => KeyCode::Backspace,
        code => KeyCode::Char(char::from_u32(code).filter(|c| !c.is_control())?),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(bytes: &[u8]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut found = decoder.feed(bytes, Moment(0));
        found.extend(decoder.expire(Moment(1000)));
        let name = |typed| match typed {
            Typed::Key(key) => key.to_string(),
            Typed::Paste(text) => format!("paste {text:?}"),
        };
        found.into_iter().map(name).collect()
    }

    #[test]
    fn keys_are_told_apart() {
        assert_eq!(typed("aé\r\x7f".as_bytes()), ["a", "é", "enter", "backspace"]);
        assert_eq!(typed(b"\x1b[A\x1bOB\x1b[1;5C\x1b[3~"), ["up", "down", "ctrl-right", "delete"]);
        assert_eq!(typed(b"\x03\x15\n"), ["ctrl-c", "ctrl-u", "ctrl-j"]);
        assert_eq!(
            typed(b"\x1b[13;2u\x1b[27;2;13~\x1b\r"),
            ["shift-enter", "shift-enter", "alt-enter"]
        );
    }

    #[test]
    fn a_lone_escape_is_a_key_only_after_a_while() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(b"\x1b", Moment(0)), []);
        assert_eq!(decoder.expire(Moment(10)), None);
        assert_eq!(decoder.expire(Moment(25)), Some(Typed::Key(Key::plain(KeyCode::Escape))));
        assert_eq!(decoder.deadline(), None);
    }

    #[test]
    fn a_paste_is_one_piece_however_it_arrives() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(b"\x1b[200~one\r\ntw", Moment(0)), []);
        let end = decoder.feed(b"o\x1b\x1b[201~\r", Moment(1));
        let enter = Typed::Key(Key::plain(KeyCode::Enter));
        assert_eq!(end, [Typed::Paste("one\ntwo".into()), enter]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_and_a_key_after_them_is_heard(noise: Vec<u8>) {
            let mut decoder = Decoder::default();
            decoder.feed(&noise, Moment(0));
            decoder.feed(PASTE_END, Moment(0));
            decoder.expire(Moment(100));
            let key = Typed::Key(Key::plain(KeyCode::Enter));
            prop_assert_eq!(decoder.feed(b"\r", Moment(200)), [key]);
        }
    }

    #[test]
    fn noise_is_not_a_key() {
        assert_eq!(typed(b"\x1b[I\x1b[?1;2c\xff\xff\xff\xffx"), ["x"]);
        assert_eq!(typed(&[b"\x1b[".as_slice(), &[b'1'; 100], b"z"].concat()).last().unwrap(), "z");
    }
}
