//! Which characters must not be shown as they are.

/// Says whether a character acts on a terminal, or hides or reorders its neighbours.
///
/// A reader takes what is shown for what is there; with these it need not be: a name that is read
/// backwards, two names that look the same, a text that only a machine can see.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}
