//! Makes text from a file or an agent safe to print.

use super::{is_deceptive, is_picture_mark};

/// Returns the text with every character that could move the cursor, hide or reorder text escaped.
///
/// A config file comes from whoever wrote the project; what it says is shown to a person who
/// decides whether to trust it, so what is shown must be what is there.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_deceptive(c) && !is_picture_mark(shown.chars().next_back(), c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Returns the JSON text with the same characters escaped as JSON does, so that it means the same.
pub fn plain_json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_deceptive(c) {
            let mut units = [0; 2];
            shown.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Returns what a program printed as bare text: without colours and whatever else a terminal obeys.
///
/// A tab becomes a space, and what was overwritten in place (a progress bar, say) becomes lines.
pub fn bare(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', " ");
    let text = strip_ansi_escapes::strip_str(text);
    text.chars().filter(|c| !c.is_control() || *c == '\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_titles_leave_nothing_behind() {
        let printed =
            "\x1b[1m\x1b[31merror[E0308]\x1b[0m: \x1b]0;title\x07types\u{9b}\r\n\tat a.rs:3\n";
        assert_eq!(bare(printed), "error[E0308]: types\n at a.rs:3\n");
        assert_eq!(bare("10 %\r20 %\rdone"), "10 %\n20 %\ndone");
    }

    #[test]
    fn what_could_deceive_is_escaped_and_the_rest_is_kept() {
        assert_eq!(plain("cargo test — ök"), "cargo test — ök");
        assert_eq!(plain("a\x1b[2Jb\nc\u{9b}"), "a\\u{1b}[2Jb\\nc\\u{9b}");
        assert_eq!(plain("⚠\u{fe0f} main\u{fe0f}"), "⚠\u{fe0f} main\\u{fe0f}");
        assert_eq!(plain("rm\u{202e}txt\u{200b}"), "rm\\u{202e}txt\\u{200b}");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({ "a": "\u{9b}2J\u{202e}\u{e0001}\x1b\n" });
        let shown = plain_json(&value.to_string());
        assert!(shown.is_ascii(), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
