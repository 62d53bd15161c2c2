//! A key as a person names it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A key with the modifiers that are held down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Key {
    pub code: KeyCode,
    pub modifiers: Modifiers,
}

/// The key itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum KeyCode {
    Char(char),
    Enter,
    Escape,
    Tab,
    Backspace,
    Delete,
    Insert,
    Home,
    End,
    PageUp,
    PageDown,
    Up,
    Down,
    Left,
    Right,
    /// A function key, counted from 1 to 24.
    Function(u8),
    /// A key of the numeric keypad, by the character on it; `\r` is its Enter.
    Keypad(char),
}

/// Which modifier keys are down.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of its own, all combinations occur"
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Modifiers {
    pub shift: bool,
    pub alt: bool,
    pub control: bool,
    pub meta: bool,
}

/// Says that a text does not name a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a key")]
pub struct UnknownKey(pub String);

/// The names of the keys that are not characters; the first of equals is the one we print.
const NAMES: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("return", KeyCode::Enter),
    ("esc", KeyCode::Escape),
    ("escape", KeyCode::Escape),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("del", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pgup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("pgdn", KeyCode::PageDown),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("space", KeyCode::Char(' ')),
];

const FUNCTION_KEYS: std::ops::RangeInclusive<u8> = 1..=24;

impl Key {
    /// Returns the key without modifiers.
    pub fn plain(code: KeyCode) -> Self {
        Self { code, modifiers: Modifiers::default() }
    }
}

impl FromStr for Key {
    type Err = UnknownKey;

    /// Reads a name such as `enter`, `ctrl-c`, `shift-enter`, `f1`, `alt-x` or `x`.
    fn from_str(text: &str) -> Result<Self, UnknownKey> {
        let unknown = || UnknownKey(text.chars().filter(|c| !c.is_control()).take(64).collect());
        let mut modifiers = Modifiers::default();
        let mut rest = text;
        while let Some((word, after)) =
            rest.split_once(['-', '+']).filter(|(_, key)| !key.is_empty())
        {
            match word.to_ascii_lowercase().as_str() {
                "ctrl" | "control" | "c" => modifiers.control = true,
                "alt" | "option" | "m" => modifiers.alt = true,
                "shift" | "s" => modifiers.shift = true,
                "super" | "cmd" | "meta" => modifiers.meta = true,
                _ => return Err(unknown()),
            }
            rest = after;
        }
        Ok(Self { code: code(rest).ok_or_else(unknown)?, modifiers })
    }
}

fn code(name: &str) -> Option<KeyCode> {
    let mut characters = name.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        return (!only.is_control()).then_some(KeyCode::Char(only));
    }
    let lower = name.to_ascii_lowercase();
    if let Some((_, code)) = NAMES.iter().find(|(known, _)| *known == lower) {
        return Some(*code);
    }
    let number = lower.strip_prefix('f')?.parse().ok()?;
    FUNCTION_KEYS.contains(&number).then_some(KeyCode::Function(number))
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = [
            (self.modifiers.control, "ctrl-"),
            (self.modifiers.alt, "alt-"),
            (self.modifiers.meta, "super-"),
            (self.modifiers.shift, "shift-"),
        ];
        for (_, prefix) in held.iter().filter(|(down, _)| *down) {
            f.write_str(prefix)?;
        }
        let name = NAMES.iter().find(|(_, known)| *known == self.code).map(|(name, _)| *name);
        match (name, self.code) {
            (Some(name), _) => f.write_str(name),
            (None, KeyCode::Function(number)) => write!(f, "f{number}"),
            (None, KeyCode::Char(c)) => write!(f, "{c}"),
            (None, KeyCode::Keypad(c)) => write!(f, "keypad-{}", c.escape_default()),
            (None, code) => write!(f, "{code:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_alike() {
        for name in
            ["enter", "ctrl-c", "shift-enter", "f1", "f24", "x", "X", "-", "ctrl--", "space"]
        {
            assert_eq!(name.parse::<Key>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn other_spellings_mean_the_same_key() {
        assert_eq!("Ctrl+C".parse::<Key>().unwrap().code, KeyCode::Char('C'));
        assert_eq!("Escape".parse::<Key>(), "esc".parse::<Key>());
        assert_eq!("C-a".parse::<Key>(), "ctrl-a".parse::<Key>());
    }

    #[test]
    fn nonsense_is_not_a_key() {
        for name in ["", "entr", "hyper-x", "f0", "f25", "ctrl-", "\u{1b}"] {
            assert!(name.parse::<Key>().is_err(), "{name:?}");
        }
    }
}
