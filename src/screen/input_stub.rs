//! Stand-in until the encoders of keys, mouse and paste arrive.
use super::Modes;
use crate::model::{Key, KeyCode, Mouse};

pub fn key_bytes(k: Key, _m: &Modes) -> Vec<u8> {
    match k.code {
        KeyCode::Char(c) if k.modifiers.control => vec![c as u8 & 31],
        KeyCode::Char(c) => c.to_string().into_bytes(),
        KeyCode::Enter => b"\r".to_vec(),
        KeyCode::Escape => b"\x1b".to_vec(),
        KeyCode::Up => b"\x1b[A".to_vec(),
        KeyCode::Down => b"\x1b[B".to_vec(),
        _ => vec![],
    }
}
pub fn mouse_bytes(_e: Mouse, _m: &Modes) -> Option<Vec<u8>> {
    None
}
pub fn paste_bytes(t: &str, m: &Modes) -> Vec<u8> {
    if m.bracketed_paste {
        format!("\x1b[200~{t}\x1b[201~").into_bytes()
    } else {
        t.replace('\n', "\r").into_bytes()
    }
}
pub fn focus_bytes(_g: bool, _m: &Modes) -> Option<&'static [u8]> {
    None
}
