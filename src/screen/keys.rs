//! Writes keys as the bytes that the application asked for.

use crate::model::{Key, KeyCode, Modifiers};

use super::mode::Modes;

/// The flags of the kitty keyboard protocol that change how a press is written.
const DISAMBIGUATE: u8 = 1;
const ALTERNATE_KEYS: u8 = 4;
const ALL_AS_SEQUENCES: u8 = 8;
const ASSOCIATED_TEXT: u8 = 16;

/// Returns what a terminal in these modes sends for a key.
pub fn key_bytes(key: Key, modes: &Modes) -> Vec<u8> {
    if modes.kitty_flags & (DISAMBIGUATE | ALL_AS_SEQUENCES) != 0 {
        return kitty(key, modes.kitty_flags).into_bytes();
    }
    if let Some(code) = other_key(key, modes.modify_other_keys) {
        return format!("\x1b[27;{};{code}~", parameter(key.modifiers)).into_bytes();
    }
    legacy(key, modes).into_bytes()
}

/// Returns the modifiers as sequences count them: one more than the sum of their bits.
fn parameter(modifiers: Modifiers) -> u8 {
    let bits =
        [(modifiers.shift, 1), (modifiers.alt, 2), (modifiers.control, 4), (modifiers.meta, 8)];
    1 + bits.iter().filter(|(down, _)| *down).map(|(_, bit)| bit).sum::<u8>()
}

fn is_plain(modifiers: Modifiers) -> bool {
    modifiers == Modifiers::default()
}

/// A key that is written by the last letter, or by a number before a tilde.
enum Named {
    Letter(char),
    Number(u8),
}

fn named(code: KeyCode) -> Option<Named> {
    Some(match code {
        KeyCode::Up => Named::Letter('A'),
        KeyCode::Down => Named::Letter('B'),
        KeyCode::Right => Named::Letter('C'),
        KeyCode::Left => Named::Letter('D'),
        KeyCode::End => Named::Letter('F'),
        KeyCode::Home => Named::Letter('H'),
        KeyCode::Insert => Named::Number(2),
        KeyCode::Delete => Named::Number(3),
        KeyCode::PageUp => Named::Number(5),
        KeyCode::PageDown => Named::Number(6),
        KeyCode::Function(number) => return function(number),
        KeyCode::Char(_)
        | KeyCode::Enter
        | KeyCode::Escape
        | KeyCode::Tab
        | KeyCode::Backspace
        | KeyCode::Keypad(_) => return None,
    })
}

fn function(number: u8) -> Option<Named> {
    const NUMBERS: [u8; 20] =
        [15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34, 42, 43, 44, 45];
    match number {
        1..=4 => Some(Named::Letter(char::from(b'O' + number))),
        5..=24 => Some(Named::Number(NUMBERS[usize::from(number - 5)])),
        _ => None,
    }
}

/// Writes a named key with its modifiers; `single_shift` for the forms that begin with `ESC O`.
fn write_named(named: &Named, modifiers: Modifiers, single_shift: bool) -> String {
    let held = parameter(modifiers);
    match (named, is_plain(modifiers)) {
        (Named::Letter(letter), true) if single_shift => format!("\x1bO{letter}"),
        (Named::Letter(letter), true) => format!("\x1b[{letter}"),
        (Named::Letter(letter), false) => format!("\x1b[1;{held}{letter}"),
        (Named::Number(number), true) => format!("\x1b[{number}~"),
        (Named::Number(number), false) => format!("\x1b[{number};{held}~"),
    }
}

fn legacy(key: Key, modes: &Modes) -> String {
    if let Some(name) = named(key.code) {
        let is_function = matches!(key.code, KeyCode::Function(_));
        return write_named(&name, key.modifiers, is_function || modes.application_cursor);
    }
    let held = key.modifiers;
    let text = match key.code {
        KeyCode::Tab if held.shift => "\x1b[Z".to_owned(),
        KeyCode::Enter => "\r".to_owned(),
        KeyCode::Tab => "\t".to_owned(),
        KeyCode::Escape => "\x1b".to_owned(),
        KeyCode::Backspace if held.control => "\x08".to_owned(),
        KeyCode::Backspace => "\x7f".to_owned(),
        KeyCode::Keypad(c) if modes.application_keypad => {
            return keypad(c).map_or_else(|| c.to_string(), |letter| format!("\x1bO{letter}"));
        }
        KeyCode::Keypad(c) | KeyCode::Char(c) => {
            let c = if held.control { control(c).unwrap_or(c) } else { shifted(c, held) };
            c.to_string()
        }
        KeyCode::Delete
        | KeyCode::Insert
        | KeyCode::Home
        | KeyCode::End
        | KeyCode::PageUp
        | KeyCode::PageDown
        | KeyCode::Up
        | KeyCode::Down
        | KeyCode::Left
        | KeyCode::Right
        | KeyCode::Function(_) => String::new(),
    };
    if held.alt { format!("\x1b{text}") } else { text }
}

fn shifted(c: char, modifiers: Modifiers) -> char {
    if modifiers.shift { c.to_uppercase().next().unwrap_or(c) } else { c }
}

/// Returns the control that a character becomes with the control key held.
fn control(c: char) -> Option<char> {
    let byte = match c {
        'a'..='z' | 'A'..='Z' | '[' | '\\' | ']' | '^' | '_' => u32::from(c) & 0x1f,
        '@' | ' ' | '2' => 0,
        '3'..='7' => u32::from(c) - u32::from('3') + 0x1b,
        '/' => 0x1f,
        '8' | '?' => 0x7f,
        _ => return None,
    };
    char::from_u32(byte)
}

/// Returns the letter of a key of the numeric keypad in application mode.
fn keypad(c: char) -> Option<char> {
    Some(match c {
        '0'..='9' => char::from_u32(u32::from('p') + u32::from(c) - u32::from('0'))?,
        '*' => 'j',
        '+' => 'k',
        ',' => 'l',
        '-' => 'm',
        '.' => 'n',
        '/' => 'o',
        '=' => 'X',
        '\r' => 'M',
        _ => return None,
    })
}

/// Returns the code of a key that xterm's `modifyOtherKeys` writes out: at level 1 those that
/// have no other form, at level 2 all that are modified.
fn other_key(key: Key, level: u8) -> Option<u32> {
    let held = key.modifiers;
    if level == 0 || is_plain(held) {
        return None;
    }
    let only_shift = held == Modifiers { shift: true, ..Modifiers::default() };
    match key.code {
        KeyCode::Char(c) if only_shift && c != ' ' => None,
        KeyCode::Char(c) => {
            let has_form = !held.control || control(c).is_some() && !held.shift;
            (level > 1 || !has_form).then_some(u32::from(c))
        }
        KeyCode::Enter => Some(13),
        KeyCode::Tab => (level > 1 && !only_shift || held.control).then_some(9),
        KeyCode::Backspace => (level > 1).then_some(127),
        KeyCode::Escape => (level > 1).then_some(27),
        KeyCode::Delete
        | KeyCode::Insert
        | KeyCode::Home
        | KeyCode::End
        | KeyCode::PageUp
        | KeyCode::PageDown
        | KeyCode::Up
        | KeyCode::Down
        | KeyCode::Left
        | KeyCode::Right
        | KeyCode::Function(_)
        | KeyCode::Keypad(_) => None,
    }
}

/// Writes a press by the kitty keyboard protocol.
fn kitty(key: Key, flags: u8) -> String {
    let held = key.modifiers;
    let is_all = flags & ALL_AS_SEQUENCES != 0;
    let only_shift = !held.alt && !held.control && !held.meta;
    match key.code {
        KeyCode::Function(3) => write_named(&Named::Number(13), held, false),
        KeyCode::Function(number @ 13..) => kitty_code(57363 + u32::from(number), held, ""),
        KeyCode::Enter | KeyCode::Tab | KeyCode::Backspace if is_plain(held) && !is_all => {
            legacy(key, &Modes::default())
        }
        KeyCode::Enter => kitty_code(13, held, ""),
        KeyCode::Escape => kitty_code(27, held, ""),
        KeyCode::Tab => kitty_code(9, held, ""),
        KeyCode::Backspace => kitty_code(127, held, ""),
        KeyCode::Keypad(c) if c != '\r' && only_shift && !is_all => c.to_string(),
        KeyCode::Keypad(c) => {
            kitty_keypad(c).map_or_else(|| c.to_string(), |code| kitty_code(code, held, ""))
        }
        KeyCode::Char(c) if only_shift && !is_all => shifted(c, held).to_string(),
        KeyCode::Char(c) => kitty_char(c, held, flags),
        KeyCode::Delete
        | KeyCode::Insert
        | KeyCode::Home
        | KeyCode::End
        | KeyCode::PageUp
        | KeyCode::PageDown
        | KeyCode::Up
        | KeyCode::Down
        | KeyCode::Left
        | KeyCode::Right
        | KeyCode::Function(_) => {
            named(key.code).map_or_else(String::new, |named| write_named(&named, held, false))
        }
    }
}

fn kitty_char(c: char, held: Modifiers, flags: u8) -> String {
    let base = c.to_lowercase().next().unwrap_or(c);
    let upper = shifted(c, held);
    let mut code = u32::from(base).to_string();
    if flags & ALTERNATE_KEYS != 0 && held.shift && upper != base {
        code = format!("{code}:{}", u32::from(upper));
    }
    let is_text = !held.control && !held.alt && !held.meta;
    let text = if flags & ASSOCIATED_TEXT != 0 && flags & ALL_AS_SEQUENCES != 0 && is_text {
        format!(";{}", u32::from(upper))
    } else {
        String::new()
    };
    kitty_code(code, held, &text)
}

fn kitty_code(code: impl std::fmt::Display, held: Modifiers, text: &str) -> String {
    match (is_plain(held), text.is_empty()) {
        (true, true) => format!("\x1b[{code}u"),
        (true, false) => format!("\x1b[{code};{text}u"),
        (false, _) => format!("\x1b[{code};{}{text}u", parameter(held)),
    }
}

fn kitty_keypad(c: char) -> Option<u32> {
    Some(match c {
        '0'..='9' => 57399 + u32::from(c) - u32::from('0'),
        '.' => 57409,
        '/' => 57410,
        '*' => 57411,
        '-' => 57412,
        '+' => 57413,
        '\r' => 57414,
        '=' => 57415,
        ',' => 57416,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(name: &str, modes: &Modes) -> String {
        let key = match name.strip_prefix("kp-") {
            Some("enter") => Key::plain(KeyCode::Keypad('\r')),
            Some(c) => Key::plain(KeyCode::Keypad(c.chars().next().unwrap())),
            None => name.parse().unwrap(),
        };
        String::from_utf8(key_bytes(key, modes)).unwrap()
    }

    fn check(modes: &Modes, table: &[(&str, &str)]) {
        for (name, bytes) in table {
            assert_eq!(sent(name, modes), *bytes, "{name} {modes:?}");
        }
    }

    #[test]
    fn legacy_keys() {
        check(
            &Modes::default(),
            &[
                ("a", "a"),
                ("shift-a", "A"),
                ("A", "A"),
                ("é", "é"),
                ("space", " "),
                ("ctrl-a", "\x01"),
                ("ctrl-c", "\x03"),
                ("ctrl-j", "\n"),
                ("ctrl-space", "\0"),
                ("ctrl-[", "\x1b"),
                ("ctrl-/", "\x1f"),
                ("ctrl-6", "\x1e"),
                ("ctrl-8", "\x7f"),
                ("ctrl-9", "9"),
                ("alt-x", "\x1bx"),
                ("ctrl-alt-x", "\x1b\x18"),
                ("enter", "\r"),
                ("shift-enter", "\r"),
                ("alt-enter", "\x1b\r"),
                ("esc", "\x1b"),
                ("alt-esc", "\x1b\x1b"),
                ("tab", "\t"),
                ("shift-tab", "\x1b[Z"),
                ("backspace", "\x7f"),
                ("ctrl-backspace", "\x08"),
                ("alt-backspace", "\x1b\x7f"),
                ("up", "\x1b[A"),
                ("home", "\x1b[H"),
                ("ctrl-right", "\x1b[1;5C"),
                ("shift-alt-end", "\x1b[1;4F"),
                ("insert", "\x1b[2~"),
                ("delete", "\x1b[3~"),
                ("ctrl-delete", "\x1b[3;5~"),
                ("pageup", "\x1b[5~"),
                ("shift-pagedown", "\x1b[6;2~"),
                ("f1", "\x1bOP"),
                ("f4", "\x1bOS"),
                ("shift-f1", "\x1b[1;2P"),
                ("f5", "\x1b[15~"),
                ("f12", "\x1b[24~"),
                ("ctrl-f12", "\x1b[24;5~"),
                ("f13", "\x1b[25~"),
                ("f20", "\x1b[34~"),
                ("f24", "\x1b[45~"),
                ("kp-5", "5"),
                ("kp-enter", "\r"),
            ],
        );
    }

    #[test]
    fn application_modes() {
        let modes =
            Modes { application_cursor: true, application_keypad: true, ..Modes::default() };
        check(
            &modes,
            &[
                ("up", "\x1bOA"),
                ("end", "\x1bOF"),
                ("ctrl-up", "\x1b[1;5A"),
                ("kp-0", "\x1bOp"),
                ("kp-9", "\x1bOy"),
                ("kp-enter", "\x1bOM"),
                ("kp-+", "\x1bOk"),
                ("pageup", "\x1b[5~"),
            ],
        );
    }

    #[test]
    fn modify_other_keys() {
        let level = |modify_other_keys| Modes { modify_other_keys, ..Modes::default() };
        check(
            &level(1),
            &[
                ("a", "a"),
                ("ctrl-a", "\x01"),
                ("ctrl-9", "\x1b[27;5;57~"),
                ("ctrl-shift-a", "\x1b[27;6;97~"),
                ("shift-enter", "\x1b[27;2;13~"),
                ("alt-x", "\x1bx"),
                ("ctrl-tab", "\x1b[27;5;9~"),
                ("shift-tab", "\x1b[Z"),
                ("up", "\x1b[A"),
            ],
        );
        check(
            &level(2),
            &[
                ("a", "a"),
                ("shift-a", "A"),
                ("ctrl-a", "\x1b[27;5;97~"),
                ("alt-x", "\x1b[27;3;120~"),
                ("ctrl-enter", "\x1b[27;5;13~"),
                ("enter", "\r"),
                ("esc", "\x1b"),
            ],
        );
    }

    #[test]
    fn kitty_keyboard() {
        let flags =
            |kitty_flags| Modes { kitty_flags, application_cursor: true, ..Modes::default() };
        check(
            &flags(1),
            &[
                ("a", "a"),
                ("shift-a", "A"),
                ("ctrl-a", "\x1b[97;5u"),
                ("ctrl-j", "\x1b[106;5u"),
                ("alt-x", "\x1b[120;3u"),
                ("esc", "\x1b[27u"),
                ("enter", "\r"),
                ("shift-enter", "\x1b[13;2u"),
                ("alt-enter", "\x1b[13;3u"),
                ("tab", "\t"),
                ("shift-tab", "\x1b[9;2u"),
                ("backspace", "\x7f"),
                ("up", "\x1b[A"),
                ("ctrl-up", "\x1b[1;5A"),
                ("f1", "\x1b[P"),
                ("f3", "\x1b[13~"),
                ("f13", "\x1b[57376u"),
                ("super-k", "\x1b[107;9u"),
                ("kp-5", "5"),
                ("kp-enter", "\x1b[57414u"),
            ],
        );
        check(&flags(5), &[("ctrl-shift-a", "\x1b[97:65;6u")]);
        check(
            &flags(8 | 16),
            &[
                ("a", "\x1b[97;;97u"),
                ("shift-a", "\x1b[97;2;65u"),
                ("enter", "\x1b[13u"),
                ("ctrl-a", "\x1b[97;5u"),
            ],
        );
        check(&flags(2), &[("esc", "\x1b"), ("up", "\x1bOA")]);
    }
}
