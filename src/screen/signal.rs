//! What an application tells the hub beside the screen; never shown to the user's terminal raw.

/// A message in the stream of output. Every text in it is bounded and free of controls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    Title(String),
    IconName(String),
    Bell,
    /// The working directory, as a URL.
    Directory(String),
    Notification {
        title: Option<String>,
        body: String,
    },
    Progress(Progress),
    /// What the program reports by OSC 7501, as it stands.
    ProgramStatus(String),
    /// A mark of a shell's prompt, command or output.
    ShellMark(String),
    /// What the application wants in the clipboard, in base64.
    Clipboard(String),
}

/// What a program says about how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    None,
    Percent(u8),
    Error(u8),
    Indeterminate,
    Paused(u8),
}

/// Longer texts are cut.
const TEXT_CHARS_MAX: usize = 4096;

/// Returns a text that is safe to show: no controls, nothing that reorders, not too long.
pub(super) fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().filter(|c| !c.is_control() && !is_reordering(*c)).take(TEXT_CHARS_MAX).collect()
}

/// Says whether a character changes the order in which others are shown.
pub(super) fn is_reordering(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}
