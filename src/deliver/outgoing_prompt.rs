//! Turns a prompt into what is typed of it, and tells what cannot be.

use crate::detect::Sight;
use crate::model::{Newlines, Submit};
use crate::screen::{Modes, harmless, paste_bytes};

use super::literal::as_words;
use super::text_signature::TextSignature;

/// What a terminal in line mode keeps of a line; it drops the rest without a word.
const LINE_BYTES_MAX: usize = 4095;
/// A longer prompt belongs into a file that the prompt names.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// A prompt that is to be handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingPrompt {
    /// Blank lines at its end are not sent.
    pub text: String,
    /// The tag of the attempt, if the text gives one: it tells this text from all before it.
    pub tag: Option<String>,
    /// It is a command of the program, and typed as it is.
    pub is_command: bool,
}

/// What is typed before Enter is pressed once.
#[derive(Clone, Debug)]
pub(super) struct TypedLine {
    pub(super) bytes: Vec<u8>,
    pub(super) sign: TextSignature,
}

/// A letter in the form in which it is typed.
#[derive(Debug)]
pub(super) struct TypedPrompt {
    pub(super) lines: Vec<TypedLine>,
    pub(super) is_paste: bool,
    /// Characters that could have pressed keys.
    pub(super) left_out: usize,
}

impl OutgoingPrompt {
    /// Returns what is to be typed, or why it cannot be.
    pub(super) fn parcel(&self, how: &Submit, modes: &Modes) -> Result<TypedPrompt, String> {
        let clean = harmless(&self.text);
        let left_out = lone(&self.text) - clean.chars().count();
        let text = clean.trim_end_matches(['\n', ' ']);
        if text.trim().is_empty() {
            return Err("the prompt is empty".into());
        }
        if text.len() > TEXT_BYTES_MAX {
            let bytes = text.len();
            return Err(format!(
                "the prompt has {bytes} bytes, and at most {TEXT_BYTES_MAX} are typed: write it \
                 into a file and name the file"
            ));
        }
        let sign = |text: &str| TextSignature::new(text, self.tag.as_deref());
        let literal = |text: &str| {
            if self.is_command { Ok(text.to_owned()) } else { as_words(text, &how.literal) }
        };
        if modes.bracketed_paste {
            let bytes = paste_bytes(&literal(text)?, modes);
            let lines = vec![TypedLine { bytes, sign: sign(text) }];
            return Ok(TypedPrompt { lines, is_paste: true, left_out });
        }
        let texts = typed_lines(text, how.newlines)?;
        let line = |text: &str| {
            Ok::<_, String>(TypedLine { bytes: literal(text)?.into_bytes(), sign: sign(text) })
        };
        let lines = texts.into_iter().map(line).collect::<Result<Vec<_>, _>>()?;
        Ok(TypedPrompt { lines, is_paste: false, left_out })
    }
}

/// Returns how often the conversation in sight shows the beginning of it already.
pub(super) fn echoes(parcel: &Result<TypedPrompt, String>, sight: &Sight) -> usize {
    let first = parcel.as_ref().ok().and_then(|parcel| parcel.lines.first());
    first.map_or(0, |line| line.sign.echoes(&sight.conversation))
}

/// Returns the lines that are submitted one by one, where nothing can be pasted.
fn typed_lines(text: &str, newlines: Newlines) -> Result<Vec<&str>, String> {
    if text.contains('\t') {
        return Err(
            "the prompt has tabs, and the program takes no paste: a tab would be a key".into()
        );
    }
    let lines: Vec<&str> = match newlines {
        Newlines::Refuse if text.contains('\n') => {
            return Err("the prompt has several lines, and the program takes only one: shorten \
                        it, or set `newlines` in the `submit` table of its cli"
                .into());
        }
        Newlines::Refuse | Newlines::Keep => vec![text],
        Newlines::Lines => text.lines().filter(|line| !line.trim().is_empty()).collect(),
    };
    let longest = text.lines().map(str::len).max().unwrap_or_default();
    if longest > LINE_BYTES_MAX {
        return Err(format!(
            "a line of the prompt has {longest} bytes, and the program takes no paste: its \
             terminal would drop all but {LINE_BYTES_MAX}"
        ));
    }
    Ok(lines)
}

/// Counts characters, with each end of a line as one.
fn lone(text: &str) -> usize {
    text.chars().count() - text.matches("\r\n").count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parcel(
        text: &str,
        newlines: Newlines,
        bracketed_paste: bool,
    ) -> Result<TypedPrompt, String> {
        let how = Submit { newlines, ..Submit::default() };
        let modes = Modes { bracketed_paste, ..Modes::default() };
        OutgoingPrompt { text: text.into(), tag: None, is_command: false }.parcel(&how, &modes)
    }

    fn typed(text: &str, newlines: Newlines, is_paste: bool) -> Vec<String> {
        let lines = parcel(text, newlines, is_paste).unwrap().lines;
        lines.into_iter().map(|line| String::from_utf8(line.bytes).unwrap()).collect()
    }

    #[test]
    fn a_program_that_takes_pastes_gets_one() {
        let text = "one\n\ttwo\n\n";
        assert_eq!(typed(text, Newlines::Refuse, true), ["\x1b[200~one\n\ttwo\x1b[201~"]);
    }

    #[test]
    fn others_get_lines_as_they_can_take_them() {
        assert_eq!(typed("one", Newlines::Refuse, false), ["one"]);
        assert_eq!(typed("one\ntwo", Newlines::Keep, false), ["one\ntwo"]);
        assert_eq!(typed("one\n\ntwo\n", Newlines::Lines, false), ["one", "two"]);
        assert!(parcel("one\ntwo", Newlines::Refuse, false).unwrap_err().contains("several lines"));
        assert!(parcel("a\tb", Newlines::Lines, false).unwrap_err().contains("tabs"));
    }

    #[test]
    fn a_line_that_its_terminal_would_cut_is_refused() {
        let line = "x".repeat(LINE_BYTES_MAX);
        assert_eq!(typed(&line, Newlines::Lines, false).concat(), line);
        let longer = format!("short\n{line}y");
        for newlines in [Newlines::Lines, Newlines::Keep] {
            assert!(parcel(&longer, newlines, false).unwrap_err().contains("4096 bytes"));
        }
        assert_eq!(parcel(&longer, Newlines::Refuse, true).unwrap().lines[0].bytes.len(), 4114);
    }

    #[test]
    fn what_is_empty_or_endless_is_refused() {
        assert_eq!(parcel(" \n\x1b\n", Newlines::Refuse, true).unwrap_err(), "the prompt is empty");
        let text = "x".repeat(TEXT_BYTES_MAX + 1);
        assert!(parcel(&text, Newlines::Refuse, true).unwrap_err().contains("into a file"));
    }

    #[test]
    fn what_was_left_out_is_counted() {
        assert_eq!(
            parcel("a\x1b[201~b\u{9b}c\r\nd\re", Newlines::Refuse, true).unwrap().left_out,
            2
        );
    }

    proptest! {
        /// Whatever the text, its bytes begin the paste, end it, and press no key in between.
        #[test]
        fn no_text_leaves_its_frame(
            text in r"([\x00-\xff]|\x1b\[20[01]~|\x1b\[201|~|\r|[a-z\u{80}-\u{9f}]){0,200}"
        ) {
            let Ok(parcel) = parcel(&text, Newlines::Refuse, true) else { return Ok(()) };
            let bytes = &parcel.lines[0].bytes;
            let inner = bytes.strip_prefix(b"\x1b[200~").unwrap();
            let inner = inner.strip_suffix(b"\x1b[201~").unwrap();
            let inner = std::str::from_utf8(inner).unwrap();
            prop_assert!(inner.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
        }

        /// Nor does a text that is typed press any key but those that it shows.
        #[test]
        fn no_typed_line_presses_a_key(text in r"([\x00-\xff]|\x1b[A-Za-z]|[\n\r ]){0,200}") {
            let Ok(parcel) = parcel(&text, Newlines::Lines, false) else { return Ok(()) };
            for line in parcel.lines {
                let line = String::from_utf8(line.bytes).unwrap();
                prop_assert!(line.chars().all(|c| !c.is_control()));
            }
        }
    }
}
