//! Writes mouse events, pastes and changes of focus as the bytes that the application asked for.

use crate::model::{Mouse, MouseButton, MouseKind};

use super::mode::{Modes, MouseEncoding, MouseMode};

/// How many rows a step of the wheel means to a program that has no use for the mouse.
const ROWS_PER_STEP: usize = 3;

/// What stands for "no button" and is added for a move, as xterm writes them.
const NO_BUTTON: u16 = 3;
const MOTION: u16 = 32;

/// Returns what a terminal in these modes sends for a mouse event, if anything.
pub fn mouse_bytes(mouse: Mouse, modes: &Modes) -> Option<Vec<u8>> {
    let is_drag = matches!(mouse.kind, MouseKind::Drag(_));
    let is_motion = is_drag || mouse.kind == MouseKind::Move;
    let is_wanted = match modes.mouse {
        MouseMode::None => return scroll_as_keys(mouse.kind, modes),
        MouseMode::X10 => matches!(mouse.kind, MouseKind::Press(_)),
        MouseMode::Normal => !is_motion,
        MouseMode::Button => !is_motion || is_drag,
        MouseMode::Any => true,
    };
    is_wanted.then(|| encode(mouse, modes)).flatten()
}

/// Scrolls a full-screen program by its cursor keys, if it asked for that.
fn scroll_as_keys(kind: MouseKind, modes: &Modes) -> Option<Vec<u8>> {
    let letter = match kind {
        MouseKind::ScrollUp => b'A',
        MouseKind::ScrollDown => b'B',
        MouseKind::Press(_)
        | MouseKind::Release(_)
        | MouseKind::Drag(_)
        | MouseKind::Move
        | MouseKind::ScrollLeft
        | MouseKind::ScrollRight => return None,
    };
    let prefix = if modes.application_cursor { b'O' } else { b'[' };
    let is_on = modes.alternate_scroll && modes.alternate_screen;
    is_on.then(|| [0x1b, prefix, letter].repeat(ROWS_PER_STEP))
}

fn encode(mouse: Mouse, modes: &Modes) -> Option<Vec<u8>> {
    let is_sgr = modes.mouse_encoding == MouseEncoding::Sgr;
    let code = match mouse.kind {
        MouseKind::Press(button) => number(button),
        MouseKind::Release(button) if is_sgr => number(button),
        MouseKind::Release(_) => NO_BUTTON,
        MouseKind::Drag(button) => MOTION + number(button),
        MouseKind::Move => MOTION + NO_BUTTON,
        MouseKind::ScrollUp => 64,
        MouseKind::ScrollDown => 65,
        MouseKind::ScrollLeft => 66,
        MouseKind::ScrollRight => 67,
    };
    let held = mouse.modifiers;
    let bits = [(held.shift, 4), (held.alt, 8), (held.control, 16)];
    let held: u16 = bits.iter().filter(|(down, _)| *down).map(|(_, bit)| bit).sum();
    let code = if modes.mouse == MouseMode::X10 { code } else { code + held };
    let (row, col) = (mouse.row.saturating_add(1), mouse.col.saturating_add(1));
    if is_sgr {
        let last = if matches!(mouse.kind, MouseKind::Release(_)) { 'm' } else { 'M' };
        return Some(format!("\x1b[<{code};{col};{row}{last}").into_bytes());
    }
    let mut bytes = b"\x1b[M".to_vec();
    for number in [code, col, row] {
        let number = number.checked_add(32)?;
        if modes.mouse_encoding == MouseEncoding::Utf8 {
            let c = char::from_u32(u32::from(number)).filter(|c| c.len_utf8() <= 2)?;
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            bytes.push(u8::try_from(number).ok()?);
        }
    }
    Some(bytes)
}

fn number(button: MouseButton) -> u16 {
    match button {
        MouseButton::Left => 0,
        MouseButton::Middle => 1,
        MouseButton::Right => 2,
    }
}

/// Returns what a terminal in these modes sends for a text that is pasted.
pub fn paste_bytes(text: &str, modes: &Modes) -> Vec<u8> {
    let clean = harmless(text);
    if modes.bracketed_paste {
        format!("\x1b[200~{clean}\x1b[201~").into_bytes()
    } else {
        clean.replace('\n', "\r").into_bytes()
    }
}

/// Returns the text without controls, so that it can neither end a paste nor press keys; ends of
/// lines, all as `\n`, and tabs stay.
pub fn harmless(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// Returns what a terminal in these modes sends when it gains or loses the focus, if anything.
pub fn focus_bytes(gained: bool, modes: &Modes) -> Option<&'static [u8]> {
    let bytes: &[u8] = if gained { b"\x1b[I" } else { b"\x1b[O" };
    modes.focus_events.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Modifiers;

    fn mouse(kind: MouseKind) -> Mouse {
        Mouse { kind, row: 1, col: 2, modifiers: Modifiers::default() }
    }

    fn sent(mouse: Mouse, mode: MouseMode, mouse_encoding: MouseEncoding) -> Option<String> {
        let modes = Modes { mouse: mode, mouse_encoding, ..Modes::default() };
        mouse_bytes(mouse, &modes).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn each_mode_sends_what_it_promises() {
        use MouseButton::{Left, Right};
        use MouseKind::{Drag, Move, Press, Release, ScrollDown, ScrollUp};
        use MouseMode as Mode;
        let table = [
            (Press(Left), [None, Some("\x1b[M #\""), Some("\x1b[M #\"")]),
            (Release(Left), [None, None, Some("\x1b[M##\"")]),
            (ScrollUp, [None, None, Some("\x1b[M`#\"")]),
            (Drag(Left), [None, None, None]),
        ];
        for (kind, expected) in table {
            let modes = [Mode::None, Mode::X10, Mode::Normal];
            for (mode, expected) in modes.into_iter().zip(expected) {
                let sent = sent(mouse(kind), mode, MouseEncoding::Default);
                assert_eq!(sent.as_deref(), expected, "{kind:?} {mode:?}");
            }
        }
        let sgr = |kind, mode| sent(mouse(kind), mode, MouseEncoding::Sgr);
        assert_eq!(sgr(Press(Right), Mode::Normal).unwrap(), "\x1b[<2;3;2M");
        assert_eq!(sgr(Release(Right), Mode::Normal).unwrap(), "\x1b[<2;3;2m");
        assert_eq!(sgr(Drag(Left), Mode::Button).unwrap(), "\x1b[<32;3;2M");
        assert_eq!(sgr(Move, Mode::Button), None);
        assert_eq!(sgr(Move, Mode::Any).unwrap(), "\x1b[<35;3;2M");
        assert_eq!(sgr(ScrollDown, Mode::Any).unwrap(), "\x1b[<65;3;2M");
    }

    #[test]
    fn modifiers_and_far_cells() {
        let modifiers = Modifiers { shift: true, control: true, ..Modifiers::default() };
        let far = Mouse { modifiers, col: 400, ..mouse(MouseKind::Press(MouseButton::Left)) };
        let sent = |encoding| sent(far, MouseMode::Normal, encoding);
        assert_eq!(sent(MouseEncoding::Sgr).unwrap(), "\x1b[<20;401;2M");
        assert_eq!(sent(MouseEncoding::Utf8).unwrap(), "\x1b[M4\u{1b1}\"");
        assert_eq!(sent(MouseEncoding::Default), None);
    }

    #[test]
    fn the_wheel_scrolls_a_full_screen_program_that_asked_for_it() {
        let scroll = mouse(MouseKind::ScrollUp);
        let modes = Modes { alternate_scroll: true, alternate_screen: true, ..Modes::default() };
        assert_eq!(mouse_bytes(scroll, &modes).unwrap(), b"\x1b[A\x1b[A\x1b[A");
        assert_eq!(mouse_bytes(scroll, &Modes::default()), None);
    }

    #[test]
    fn a_paste_cannot_end_itself() {
        let text = "a\x1b[201~rm\r\nb\tc\rd\u{9b}e\x03";
        let modes = Modes { bracketed_paste: true, ..Modes::default() };
        assert_eq!(paste_bytes(text, &modes), b"\x1b[200~a[201~rm\nb\tc\nde\x1b[201~");
        assert_eq!(paste_bytes(text, &Modes::default()), b"a[201~rm\rb\tc\rde");
    }

    #[test]
    fn focus_is_told_to_whoever_asked() {
        let modes = Modes { focus_events: true, ..Modes::default() };
        assert_eq!(focus_bytes(true, &modes), Some(&b"\x1b[I"[..]));
        assert_eq!(focus_bytes(false, &modes), Some(&b"\x1b[O"[..]));
        assert_eq!(focus_bytes(true, &Modes::default()), None);
    }
}
