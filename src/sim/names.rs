//! What `$WORDS` in a script stand for, and what a prompt tells about itself.

use std::collections::BTreeMap;

/// Words of the prompt that make its topic.
const TOPIC_WORDS: usize = 6;
/// Words that a topic does not end with.
const LOOSE_WORDS: &[&str] = &["a", "an", "and", "for", "in", "of", "on", "the", "to", "with"];
/// Characters of the prompt's first line that a script can repeat.
const PROMPT_CHARS_MAX: usize = 200;
/// The length of an attempt's tag.
const TAG_CHARS: usize = 4;

/// Texts by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    pub(super) fn set(&mut self, name: &str, text: impl Into<String>) {
        self.0.insert(name.to_owned(), text.into());
    }

    /// Takes over what the prompt says: itself, its topic and its tag. Without one, the last tag stays: an
    /// agent remembers what it works on.
    pub(super) fn read_prompt(&mut self, prompt: &str) {
        let first = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        self.set("PROMPT", first.chars().take(PROMPT_CHARS_MAX).collect::<String>());
        self.set("TOPIC", topic(first));
        if let Some(tag) = tag(prompt) {
            self.set("TAG", tag);
        }
    }

    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Returns the text with each known `$NAME` replaced; unknown ones stay as they are.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            filled.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let is_outside = |c: char| !c.is_ascii_alphanumeric() && c != '_';
            let end = after.find(is_outside).unwrap_or(after.len());
            match self.0.get(&after[..end]) {
                Some(value) => filled.push_str(value),
                None => filled.push_str(&rest[at..=at + end]),
            }
            rest = &after[end..];
        }
        filled.push_str(rest);
        filled
    }
}

/// Returns the first words of a prompt, up to where a sentence or a part of one ends.
fn topic(line: &str) -> String {
    let end = line.find([',', ';', '!', '?']).unwrap_or(line.len());
    let end = line.find(". ").unwrap_or(line.len()).min(end);
    let mut words: Vec<&str> = line[..end].split_whitespace().take(TOPIC_WORDS).collect();
    let is_loose = |word: &&str| LOOSE_WORDS.contains(&word.to_lowercase().as_str());
    while words.len() > 1 && words.last().is_some_and(is_loose) {
        words.pop();
    }
    words.join(" ").trim_end_matches(['.', ':']).to_owned()
}

/// Returns the tag that a prompt gives: four letters or digits after `tag:`, `tag is` or `tag =`.
fn tag(prompt: &str) -> Option<&str> {
    let lower = prompt.to_ascii_lowercase();
    lower.match_indices("tag").find_map(|(at, word)| {
        let before = lower[..at].chars().next_back();
        let after = &prompt[at + word.len()..];
        let after = after.trim_start_matches(['`', '*', '"', ' ']);
        let after = after
            .strip_prefix([':', '='])
            .or_else(|| after.strip_prefix("is "))
            .filter(|_| before.is_none_or(|c| !c.is_alphanumeric()))?;
        let after = after.trim_start_matches(['`', '*', '"', '\'', '(', ' ']);
        let end = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
        (end == TAG_CHARS).then(|| &after[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_where_a_brief_gives_it() {
        for prompt in ["Do it.\nTag: k7f3\n", "Your tag is `k7f3`.", "**Tag:** k7f3", "tag = k7f3"]
        {
            assert_eq!(tag(prompt), Some("k7f3"), "{prompt}");
        }
    }

    #[test]
    fn other_words_are_no_tag() {
        for prompt in ["Put the tag into the line", "stage: k7f3", "Tag: k7f3x", "tag", "Tag: é"] {
            assert_eq!(tag(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn names_are_filled_in_and_others_left() {
        let mut names = Names::default();
        names.read_prompt("\n  Add the users endpoint to the api, please. And test it.\nTag: k7f3");
        let filled = names.fill("$TOPIC ($TAG) $5 $HOME $");
        assert_eq!(filled, "Add the users endpoint (k7f3) $5 $HOME $");
    }
}
