//! What the codes of a keyboard mean, in the forms of xterm and of kitty.

use crate::model::{Key, KeyCode, Modifiers};

/// Returns the key of one byte below 128.
pub(super) fn plain_key(byte: u8) -> Option<Key> {
    let control = |c: char| Key {
        code: KeyCode::Char(c),
        modifiers: Modifiers { control: true, ..Modifiers::default() },
    };
    Some(match byte {
        b'\r' => Key::plain(KeyCode::Enter),
        b'\t' => Key::plain(KeyCode::Tab),
        0x7f | 0x08 => Key::plain(KeyCode::Backspace),
        0x1b => Key::plain(KeyCode::Escape),
        0 => control(' '),
        1..=26 => control(char::from(byte - 1 + b'a')),
        28..=31 => control(char::from(byte - 28 + b'4')),
        32..=126 => Key::plain(KeyCode::Char(char::from(byte))),
        _ => return None,
    })
}

/// Returns the key of `CSI 1 ; modifiers letter` or `SS3 letter`.
pub(super) fn legacy_key(letter: u8, parameters: &str) -> Option<Key> {
    let code = match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'M' => KeyCode::Enter,
        b'P'..=b'S' => KeyCode::Function(letter - b'P' + 1),
        b'Z' => KeyCode::Tab,
        _ => return None,
    };
    let mut key = with_modifiers(code, parameters.split(';').nth(1))?;
    key.modifiers.shift |= letter == b'Z';
    Some(key)
}

/// Returns the key of `CSI number ; modifiers ~`.
pub(super) fn numbered_key(parameters: &str) -> Option<Key> {
    let mut fields = parameters.split(';');
    let number: u8 = fields.next()?.parse().ok()?;
    let code = match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::Function(number - 10),
        17..=21 => KeyCode::Function(number - 11),
        23..=26 => KeyCode::Function(number - 12),
        28 | 29 => KeyCode::Function(number - 13),
        31..=34 => KeyCode::Function(number - 14),
        _ => return None,
    };
    with_modifiers(code, fields.next())
}

/// Returns the key of `CSI code ; modifiers u`.
pub(super) fn unicode_key(parameters: &str) -> Option<Key> {
    let mut fields = parameters.split(';');
    let code: u32 = fields.next()?.split(':').next()?.parse().ok()?;
    let code = match code {
        13 => KeyCode::Enter,
        27 => KeyCode::Escape,
        9 => KeyCode::Tab,
        127 | 8 => KeyCode::Backspace,
        57399..=57408 => KeyCode::Keypad(char::from_digit(code - 57399, 10)?),
        57409 => KeyCode::Keypad('.'),
        57410 => KeyCode::Keypad('/'),
        57411 => KeyCode::Keypad('*'),
        57412 => KeyCode::Keypad('-'),
        57413 => KeyCode::Keypad('+'),
        57414 => KeyCode::Keypad('\r'),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        // The rest of the private range are keys that we have no name for.
        0xe000..=0xf8ff => return None,
        other => KeyCode::Char(char::from_u32(other).filter(|c| !c.is_control())?),
    };
    let mut key = with_modifiers(code, fields.next())?;
    if let (KeyCode::Char(c), true) = (key.code, key.modifiers.shift)
        && c.is_lowercase()
    {
        key.code = KeyCode::Char(c.to_uppercase().next().unwrap_or(c));
        key.modifiers.shift = false;
    }
    Some(key)
}

/// Returns the modifiers of a parameter, which is a bit mask plus one.
pub(super) fn modifiers(parameter: u32) -> Modifiers {
    let mask = parameter.saturating_sub(1);
    Modifiers {
        shift: mask & 1 != 0,
        alt: mask & 2 != 0,
        control: mask & 4 != 0,
        meta: mask & (8 | 32) != 0,
    }
}

fn with_modifiers(code: KeyCode, field: Option<&str>) -> Option<Key> {
    const RELEASED: &str = "3";
    let mut parts = field.unwrap_or("1").split(':');
    let held = parts.next().and_then(|mask| mask.parse().ok()).unwrap_or(1);
    if parts.next() == Some(RELEASED) {
        return None;
    }
    Some(Key { code, modifiers: modifiers(held) })
}
