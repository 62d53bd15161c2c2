//! The words in a stream of output, and where in it each of their letters stands.

/// What becomes of the sequences between the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequences {
    /// Colours do not part words; what moves the cursor begins a new line.
    BreakLines,
    /// None of them parts words: an interface may draw a word in pieces.
    Vanish,
}

/// The words of a stream, and after them what its control strings hold, each on a line.
#[derive(Debug, Default)]
pub(super) struct PlainText {
    pub(super) text: String,
    /// For each byte of the text, the byte of the stream that it came from.
    origins: Vec<usize>,
}

impl PlainText {
    pub(super) fn read(stream: &str, sequences: Sequences) -> Self {
        let mut reader = Reader { stream, at: 0, words: Self::default(), strings: Self::default() };
        while let Some((at, c)) = reader.next() {
            reader.take(at, c, sequences);
        }
        let Reader { mut words, strings, .. } = reader;
        words.push(stream.len(), '\n');
        words.text.push_str(&strings.text);
        words.origins.extend(strings.origins);
        words
    }

    /// Returns the byte of the stream that a byte of the text came from.
    pub(super) fn origin(&self, at: usize) -> Option<usize> {
        self.origins.get(at).copied()
    }

    fn push(&mut self, at: usize, c: char) {
        self.text.push(c);
        self.origins.extend((0..c.len_utf8()).map(|byte| at + byte));
    }
}

struct Reader<'s> {
    stream: &'s str,
    at: usize,
    words: PlainText,
    strings: PlainText,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<(usize, char)> {
        let at = self.at;
        let c = self.stream[at..].chars().next()?;
        self.at += c.len_utf8();
        Some((at, c))
    }

    fn take(&mut self, at: usize, c: char, sequences: Sequences) {
        match c {
            '\x1b' => self.escape(at, sequences),
            '\n' | '\r' => self.part(at, sequences),
            '\t' => self.words.push(at, ' '),
            c if c.is_control() => {}
            c => self.words.push(at, c),
        }
    }

    /// Begins a new line where the next letter need not belong to the last one.
    fn part(&mut self, at: usize, sequences: Sequences) {
        if sequences == Sequences::BreakLines && !self.words.text.ends_with('\n') {
            self.words.push(at, '\n');
        }
    }

    fn escape(&mut self, at: usize, sequences: Sequences) {
        match self.next() {
            Some((_, '[')) => {
                while let Some((_, c)) = self.next() {
                    if !matches!(c, '\x40'..='\x7e' | '\x1b' | '\x18' | '\x1a') {
                        continue;
                    }
                    match c {
                        'm' => {}
                        'C' => self.words.push(at, ' '),
                        _ => self.part(at, sequences),
                    }
                    return;
                }
            }
            Some((_, ']' | 'P' | 'X' | '^' | '_')) => self.string(),
            Some((_, '\x20'..='\x2f')) => drop(self.next()),
            Some(_) => self.part(at, sequences),
            None => {}
        }
    }

    /// Reads a control string up to its end.
    fn string(&mut self) {
        while let Some((at, c)) = self.next() {
            match c {
                '\x07' | '\x18' | '\x1a' => break,
                '\x1b' => {
                    if self.stream[self.at..].starts_with('\\') {
                        self.at += 1;
                    }
                    break;
                }
                c => self.strings.push(at, c),
            }
        }
        self.strings.push(self.at, '\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_between_sequences_and_known_by_their_place() {
        let stream =
            "a\x1b[31mb\x1b[2Cc\x1b[5;1Hd\r\ne\x1b]2;title\x07f\x1b(Bg\x1b]8;;http://x\x1b\\h";
        let text = PlainText::read(stream, Sequences::BreakLines);
        assert_eq!(text.text, "ab c\nd\nefgh\n2;title\n8;;http://x\n");
        let text = PlainText::read(stream, Sequences::Vanish);
        assert_eq!(text.text, "ab cdefgh\n2;title\n8;;http://x\n");
        for (at, c) in text.text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
            assert!(stream[text.origin(at).unwrap()..].starts_with(c), "{c}");
        }
    }

    #[test]
    fn what_is_cut_off_is_read_as_far_as_it_goes() {
        for stream in ["", "a\x1b", "a\x1b[3", "a\x1b]2;tit", "a\x1b]2;t\x1b", "a\x1b("] {
            assert!(
                PlainText::read(stream, Sequences::Vanish)
                    .text
                    .starts_with(&stream[..stream.len().min(1)])
            );
        }
    }
}
