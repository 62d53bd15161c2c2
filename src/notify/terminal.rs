//! Writes a notification as an escape sequence, with nothing in it that the terminal would obey.

use std::fmt;

use crate::model::plain;

/// What makes a terminal ring.
pub const BELL: &str = "\x07";

/// More does not fit into a notification.
const TEXT_CHARS_MAX: usize = 160;

/// In which form a terminal wants its notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalForm {
    /// A text, as iTerm2, `WezTerm`, Ghostty, kitty and Windows Terminal understand it.
    Osc9,
    /// A title and a text, as foot and urxvt understand them.
    Osc777,
}

impl TerminalForm {
    /// Returns the form that the terminal of this name (`TERM`) understands.
    pub fn of_terminal(term: &str) -> Self {
        let wants_title = ["foot", "rxvt"].iter().any(|known| term.starts_with(known));
        if wants_title { Self::Osc777 } else { Self::Osc9 }
    }

    /// Returns what is written to the terminal.
    pub fn bytes(self, title: &str, body: &str) -> String {
        // A semicolon would end the title, and a text of digits and semicolons is a command.
        let title = harmless(title).replace(';', ",");
        let body = harmless(body);
        match self {
            Self::Osc9 => format!("\x1b]9;{title}: {body}\x1b\\"),
            Self::Osc777 => format!("\x1b]777;notify;{title};{}\x1b\\", body.replace(';', ",")),
        }
    }
}

impl fmt::Display for TerminalForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Osc9 => "osc9",
            Self::Osc777 => "osc777",
        })
    }
}

/// Returns a sequence as tmux hands it on to the terminal around it, where it is allowed to
/// (`allow-passthrough`); without this it swallows all that it does not know.
pub fn through_tmux(sequence: &str) -> String {
    format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"))
}

/// Returns what a notification is about.
pub fn title(agent: &str, project: &str) -> String {
    let project = project.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    format!("wheelhouse {}: {}", harmless(project), harmless(agent))
}

/// Returns what a notification says.
pub fn body(state: &str, reason: &str) -> String {
    let reason = harmless(reason);
    if reason.is_empty() { state.to_owned() } else { format!("{state} - {reason}") }
}

/// Returns a short line in which nothing is left that a terminal obeys.
fn harmless(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = plain(&words).chars().take(TEXT_CHARS_MAX).collect();
    // Neither is escaped as deceptive, and either would end the sequence that it stands in.
    shown.retain(|c| !c.is_control());
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_an_agents_words_is_obeyed() {
        let hostile = "a\x1b]0;title\x07b\u{9c}c\u{9b}2Jd\n\x1b\\e\u{202e}f;4;1;50";
        for form in [TerminalForm::Osc9, TerminalForm::Osc777] {
            let bytes = form.bytes(&title(hostile, hostile), &body("waiting", hostile));
            let inside = bytes.strip_prefix("\x1b]").unwrap().strip_suffix("\x1b\\").unwrap();
            assert!(!inside.chars().any(char::is_control), "{bytes:?}");
            assert!(!inside.contains('\u{202e}'), "{bytes:?}");
        }
        let semicolons = TerminalForm::Osc777.bytes("a;b", "c;d");
        assert_eq!(semicolons, "\x1b]777;notify;a,b;c,d\x1b\\");
    }

    #[test]
    fn a_notification_is_short_and_says_who_and_what() {
        assert_eq!(title("one", "/home/ada/shop/"), "wheelhouse shop: one");
        assert_eq!(body("waiting", " Run\n `ls`? "), "waiting - Run `ls`?");
        assert_eq!(body("done", ""), "done");
        let long = TerminalForm::Osc9.bytes("t", &"x".repeat(10_000));
        assert!(long.len() < 400, "{}", long.len());
        assert_eq!(TerminalForm::Osc9.bytes("t", "4;1;50"), "\x1b]9;t: 4;1;50\x1b\\");
    }

    #[test]
    fn tmux_hands_a_sequence_on_whole() {
        let through = through_tmux(&TerminalForm::Osc9.bytes("t", "b"));
        assert_eq!(through, "\x1bPtmux;\x1b\x1b]9;t: b\x1b\x1b\\\x1b\\");
    }

    #[test]
    fn the_terminal_says_which_form_it_wants() {
        for (term, form) in [("foot", "osc777"), ("rxvt-unicode", "osc777"), ("xterm", "osc9")] {
            assert_eq!(TerminalForm::of_terminal(term).to_string(), form);
        }
    }
}
