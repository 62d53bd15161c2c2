//! Knows a text again on a screen, however it was wrapped and framed.

use crate::detect::Input;

/// So many letters tell one text from another.
const LETTERS: usize = 24;
/// A text with fewer letters is known by its other characters as well.
const WORDY_LETTERS: usize = 4;
/// A tag is random, but a short one may stand in any text.
const TAG_CHARS_MIN: usize = 4;

/// The beginning and the end of a text, without what interfaces change.
#[derive(Clone, Debug)]
pub(super) struct TextSignature {
    is_wordy: bool,
    head: String,
    tail: String,
    /// The end of its last line.
    last: String,
    /// A word that stands in this text and in no other before it.
    tag: Option<String>,
}

impl TextSignature {
    pub(super) fn new(text: &str, tag: Option<&str>) -> Self {
        let is_wordy = text.chars().filter(|c| c.is_alphanumeric()).count() >= WORDY_LETTERS;
        let letters = ink(text, is_wordy);
        let last_line = text.lines().next_back().unwrap_or_default();
        let is_unique = |tag: &&str| tag.chars().count() >= TAG_CHARS_MIN && text.contains(*tag);
        Self {
            is_wordy,
            head: letters.chars().take(LETTERS).collect(),
            tail: end(&letters),
            last: end(&ink(last_line, false)),
            tag: tag.filter(is_unique).map(str::to_ascii_lowercase),
        }
    }

    /// Says whether the text stands where it was typed.
    pub(super) fn stands_in(&self, input: &Input) -> bool {
        if !input.is_composer {
            return ink(&input.text, false).ends_with(&self.last);
        }
        let ends = |text: &String| ink(text, self.is_wordy).ends_with(&self.tail);
        let is_long = self.tail.chars().count() == LETTERS;
        let is_somewhere = || ink(&input.text, self.is_wordy).contains(&self.tail);
        input.has_placeholder
            || input.typed.as_ref().is_some_and(ends)
            || (is_long || input.typed.is_none()) && is_somewhere()
    }

    /// Says whether a screen ends with the text, if that is long enough to tell.
    pub(super) fn ends(&self, text: &str) -> bool {
        let is_long = self.tail.chars().count() == LETTERS;
        is_long && ink(text, self.is_wordy).ends_with(&self.tail)
    }

    /// Says whether a text that a program names is this one; it may add to it, or cut it.
    pub(super) fn is_of(&self, named: &str) -> bool {
        let letters = ink(named, self.is_wordy);
        let is_cut = !letters.is_empty() && self.head.starts_with(&letters);
        is_cut || letters.contains(&self.head)
    }

    /// Returns how often the text begins or ends in a conversation.
    pub(super) fn echoes(&self, conversation: &str) -> usize {
        let letters = ink(conversation, self.is_wordy);
        letters.matches(&self.head).count() + letters.matches(&self.tail).count()
    }

    /// Says whether the conversation names the text's own tag.
    pub(super) fn is_named_in(&self, conversation: &str) -> bool {
        let letters = ink(conversation, true).to_ascii_lowercase();
        self.tag.as_ref().is_some_and(|tag| letters.contains(tag))
    }
}

/// Returns the letters and digits alone, or all but blanks and what frames are drawn with.
fn ink(text: &str, is_wordy: bool) -> String {
    let is_frame = |c: char| matches!(c, '\u{2500}'..='\u{259f}');
    let is_other = |c: char| c.is_whitespace() || c.is_control() || is_frame(c);
    let is_ink = |c: &char| if is_wordy { c.is_alphanumeric() } else { !is_other(*c) };
    // Some line editors draw a tab so.
    text.replace("^I", "").chars().filter(is_ink).collect()
}

fn end(letters: &str) -> String {
    let count = letters.chars().count();
    letters.chars().skip(count.saturating_sub(LETTERS)).collect()
}
