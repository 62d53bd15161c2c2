//! Cuts a stream of output into text, controls and whole sequences, however it was split.

use super::csi::Csi;

/// What the scanner hands its finds to.
pub(super) trait Listener {
    /// Printable text, carriage returns and line feeds; no other control.
    fn text(&mut self, text: &str);
    /// A control of one byte other than those two.
    fn control(&mut self, byte: u8);
    fn escape(&mut self, intermediate: Option<u8>, last: u8);
    fn csi(&mut self, csi: &Csi);
    /// `by_bell` says how it was ended, so that an answer can end alike.
    fn osc(&mut self, payload: &[u8], by_bell: bool);
    fn dcs(&mut self, payload: &[u8]);
}

/// A longer string is dropped whole: nothing honest is that long, and it must not fill memory.
const STRING_BYTES_MAX: usize = 64 * 1024;
/// What is kept allocated between two strings.
const STRING_BYTES_KEPT: usize = 1024;
const REPLACEMENT: &str = "\u{fffd}";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    EscapeIntermediate(u8),
    Csi,
    String(Kind),
    /// An escape inside a string: a backslash ends it, all else cancels it.
    StringEscape(Kind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Osc,
    Dcs,
    /// APC, PM and SOS: nothing in them is for us.
    Ignored,
}

/// The scanner's memory between two chunks.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    state: State,
    csi: Csi,
    string: Vec<u8>,
    string_is_too_long: bool,
    partial: [u8; 4],
    partial_length: usize,
    /// How many bytes were looked at, once for each time.
    examined: u64,
}

impl Scanner {
    pub(super) fn scan(&mut self, bytes: &[u8], to: &mut impl Listener) {
        let mut rest = bytes;
        while let [first, ..] = rest {
            let used = match self.state {
                State::Ground if self.partial_length > 0 => self.complete(rest, to),
                State::Ground => self.ground(rest, to),
                State::String(kind) => self.string(kind, rest, to),
                State::Csi => self.csi(*first, to),
                State::Escape | State::EscapeIntermediate(_) | State::StringEscape(_) => {
                    self.escape(*first, to)
                }
            };
            rest = &rest[used..];
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.string.capacity()
    }

    /// Returns how many bytes were looked at; one that is looked at twice counts twice.
    pub(super) fn examined(&self) -> u64 {
        self.examined
    }

    /// Says whether nothing has begun that the next chunk may complete.
    pub(super) fn is_at_rest(&self) -> bool {
        self.state == State::Ground && self.partial_length == 0
    }

    fn ground(&mut self, bytes: &[u8], to: &mut impl Listener) -> usize {
        let end = bytes.iter().position(|byte| !IS_TEXT[usize::from(*byte)]);
        let text = &bytes[..end.unwrap_or(bytes.len())];
        self.examined += text.len() as u64 + 1;
        if !text.is_empty() {
            return self.text(text, end.is_none(), to);
        }
        match bytes[0] {
            0x1b => self.state = State::Escape,
            0x7f => {}
            byte => to.control(byte),
        }
        1
    }

    /// Hands over bytes without controls, and returns how many were taken: all of them, so that
    /// none is looked at twice.
    fn text(&mut self, bytes: &[u8], is_at_end: bool, to: &mut impl Listener) -> usize {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            if !chunk.valid().is_empty() {
                to.text(chunk.valid());
            }
            let rest = chunk.invalid();
            let is_cut = || str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
            if rest.is_empty() {
                continue;
            }
            if is_at_end && chunks.peek().is_none() && is_cut() {
                self.partial[..rest.len()].copy_from_slice(rest);
                self.partial_length = rest.len();
            } else {
                to.text(REPLACEMENT);
            }
        }
        bytes.len()
    }

    /// Adds bytes to a character that the last chunk cut.
    fn complete(&mut self, bytes: &[u8], to: &mut impl Listener) -> usize {
        let had = self.partial_length;
        self.partial[had] = bytes[0];
        self.partial_length += 1;
        match str::from_utf8(&self.partial[..self.partial_length]) {
            Ok(text) => {
                to.text(text);
                self.partial_length = 0;
                1
            }
            Err(error) if error.error_len().is_none() => 1,
            Err(_) => {
                self.partial_length = 0;
                to.text(REPLACEMENT);
                0
            }
        }
    }

    fn csi(&mut self, byte: u8, to: &mut impl Listener) -> usize {
        match byte {
            0x18 | 0x1a => self.state = State::Ground,
            0x1b => self.state = State::Escape,
            b'\r' | b'\n' => to.text(if byte == b'\r' { "\r" } else { "\n" }),
            0..=0x1f => to.control(byte),
            0x20..=0x3f => self.csi.push(byte),
            0x40..=0x7e => {
                self.state = State::Ground;
                if self.csi.finish(byte) {
                    to.csi(&self.csi);
                }
            }
            0x7f => {}
            0x80.. => {
                self.state = State::Ground;
                return 0;
            }
        }
        1
    }

    fn escape(&mut self, byte: u8, to: &mut impl Listener) -> usize {
        if let State::StringEscape(kind) = self.state {
            let ended = byte == b'\\';
            self.end_string(kind, ended, false, to);
            self.state = if ended { State::Ground } else { State::Escape };
            return usize::from(ended);
        }
        let intermediate = match self.state {
            State::EscapeIntermediate(byte) => Some(byte),
            State::Ground
            | State::Escape
            | State::Csi
            | State::String(_)
            | State::StringEscape(_) => None,
        };
        match (byte, intermediate) {
            (0x18 | 0x1a, _) => self.state = State::Ground,
            (0x1b, _) => self.state = State::Escape,
            (b'\r' | b'\n', _) => to.text(if byte == b'\r' { "\r" } else { "\n" }),
            (0..=0x1f, _) => to.control(byte),
            (0x20..=0x2f, _) => self.state = State::EscapeIntermediate(byte),
            (b'[', None) => {
                self.csi.start();
                self.state = State::Csi;
            }
            (b']', None) => self.state = State::String(Kind::Osc),
            (b'P', None) => self.state = State::String(Kind::Dcs),
            (b'X' | b'^' | b'_', None) => self.state = State::String(Kind::Ignored),
            (0x30..=0x7e, _) => {
                self.state = State::Ground;
                to.escape(intermediate, byte);
            }
            (0x7f, _) => {}
            (0x80.., _) => {
                self.state = State::Ground;
                return 0;
            }
        }
        1
    }

    fn string(&mut self, kind: Kind, bytes: &[u8], to: &mut impl Listener) -> usize {
        let ends =
            |byte: &u8| matches!(byte, 0x18 | 0x1a | 0x1b) || (*byte == 0x07 && kind == Kind::Osc);
        let length = bytes.iter().position(ends).unwrap_or(bytes.len());
        self.collect(kind, &bytes[..length]);
        match bytes.get(length) {
            None => return length,
            Some(0x1b) => self.state = State::StringEscape(kind),
            Some(byte) => {
                self.state = State::Ground;
                self.end_string(kind, *byte == 0x07, true, to);
            }
        }
        length + 1
    }

    fn collect(&mut self, kind: Kind, bytes: &[u8]) {
        if kind == Kind::Ignored || self.string_is_too_long {
            return;
        }
        if self.string.len() + bytes.len() > STRING_BYTES_MAX {
            self.string_is_too_long = true;
            self.string = Vec::new();
        } else {
            self.string.extend_from_slice(bytes);
        }
    }

    fn end_string(&mut self, kind: Kind, complete: bool, by_bell: bool, to: &mut impl Listener) {
        if complete && !self.string_is_too_long {
            match kind {
                Kind::Osc => to.osc(&self.string, by_bell),
                Kind::Dcs => to.dcs(&self.string),
                Kind::Ignored => {}
            }
        }
        self.string_is_too_long = false;
        self.string.clear();
        self.string.shrink_to(STRING_BYTES_KEPT);
    }
}

/// Which bytes belong to text: all but the controls, save for the two ends of a line.
const IS_TEXT: [bool; 256] = {
    let mut table = [true; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = byte == 0x0a || byte == 0x0d;
        byte += 1;
    }
    table[0x7f] = false;
    table
};

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[derive(Default)]
    struct Heard(String);

    impl Listener for Heard {
        fn text(&mut self, text: &str) {
            self.0.push_str(text);
        }
        fn control(&mut self, byte: u8) {
            write!(self.0, "<{byte}>").unwrap();
        }
        fn escape(&mut self, intermediate: Option<u8>, last: u8) {
            write!(self.0, "<esc {intermediate:?} {}>", last as char).unwrap();
        }
        fn csi(&mut self, csi: &Csi) {
            write!(self.0, "<csi {:?} {}>", csi.first(0), csi.last as char).unwrap();
        }
        fn osc(&mut self, payload: &[u8], by_bell: bool) {
            write!(self.0, "<osc {} {by_bell}>", String::from_utf8_lossy(payload)).unwrap();
        }
        fn dcs(&mut self, payload: &[u8]) {
            write!(self.0, "<dcs {}>", String::from_utf8_lossy(payload)).unwrap();
        }
    }

    fn heard(bytes: &[u8], chunk: usize) -> String {
        let (mut scanner, mut heard) = (Scanner::default(), Heard::default());
        for part in bytes.chunks(chunk) {
            scanner.scan(part, &mut heard);
        }
        heard.0
    }

    #[test]
    fn a_stream_means_the_same_however_it_is_cut() {
        let bytes = "aé中🙂\x1b[31;4:3m\x1b]0;t;u\x07\x1b]2;x\x1b\\\x1bPq\x07x\x1b\\\x1b_apc\x1b\\\
            \x1b(0\x1b7\x08\x1b[1\x082J\x1b]9;cut\x1b[Hx\x1b[5\x18y";
        let whole = heard(bytes.as_bytes(), 9999);
        assert_eq!(
            whole,
            "aé中🙂<csi 31 m><osc 0;t;u true><osc 2;x false><dcs q\u{7}x><esc Some(40) 0>\
             <esc None 7><8><8><csi 12 J><csi 0 H>xy"
        );
        for chunk in 1..9 {
            assert_eq!(heard(bytes.as_bytes(), chunk), whole, "{chunk}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_become_replacements() {
        for chunk in 1..4 {
            assert_eq!(heard(b"a\xffb\xe4\xb8\x1b[mc\xe4\xb8d\x9bx", chunk), {
                "a\u{fffd}b\u{fffd}<csi 0 m>c\u{fffd}d\u{fffd}x"
            });
        }
    }

    #[test]
    fn an_endless_string_costs_no_memory_and_is_dropped_whole() {
        let (mut scanner, mut heard) = (Scanner::default(), Heard::default());
        scanner.scan(b"\x1b]0;", &mut heard);
        for _ in 0..100 {
            scanner.scan(&[b'x'; 4096], &mut heard);
            assert!(scanner.memory_bytes() <= 2 * STRING_BYTES_MAX);
        }
        scanner.scan(b"\x07after", &mut heard);
        assert_eq!(heard.0, "after");
        assert!(scanner.memory_bytes() <= STRING_BYTES_KEPT);
    }
}
