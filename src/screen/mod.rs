//! TEMPORARY.
#![allow(warnings)]
use crate::model::*;
#[derive(Clone, Copy, Debug)]
pub struct HistoryLimit {
    pub lines: usize,
    pub bytes: usize,
}
impl Default for HistoryLimit {
    fn default() -> Self {
        Self { lines: 10_000, bytes: 8 << 20 }
    }
}
pub struct Screen {
    p: vt100::Parser,
    size: Size,
    gene: u64,
}
impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
pub struct Fed {
    pub answers: Vec<u8>,
    pub signals: Vec<()>,
    pub rebuilt: bool,
}
pub struct Cursor {
    pub row: u16,
    pub col: u16,
    pub visible: bool,
}
pub struct Modes {
    pub alternate_screen: bool,
}
impl Modes {
    pub fn wants_mouse(&self) -> bool {
        false
    }
}
impl Screen {
    pub fn new(size: Size, limit: HistoryLimit) -> Self {
        let s = size.clamped();
        Self {
            p: vt100::Parser::new(
                s.rows.try_into().unwrap(),
                s.cols.try_into().unwrap(),
                limit.lines,
            ),
            size: s,
            gene: 0,
        }
    }
    pub fn feed(&mut self, b: &[u8], now: Moment) -> Fed {
        self.p.process(b);
        self.gene += 1;
        let mut answers = vec![];
        if b.windows(4).any(|w| w == b"\x1b[6n") {
            answers = b"\x1b[1;1R".to_vec();
        }
        Fed { answers, signals: vec![], rebuilt: false }
    }
    pub fn resize(&mut self, size: Size) {
        let s = size.clamped();
        self.size = s;
        self.p.set_size(s.rows.try_into().unwrap(), s.cols.try_into().unwrap());
    }
    pub fn size(&self) -> Size {
        self.size
    }
    pub fn generation(&self) -> u64 {
        self.gene
    }
    pub fn rows(&self) -> Vec<Row> {
        self.p
            .screen()
            .rows(0, self.size.cols)
            .map(|t| Row {
                runs: vec![Run {
                    columns: t.chars().count() as u16,
                    text: t,
                    style: Style::default(),
                }],
                wrapped: false,
            })
            .collect()
    }
    pub fn cursor(&self) -> Cursor {
        let (row, col) = self.p.screen().cursor_position();
        Cursor { row, col, visible: true }
    }
    pub fn modes(&self) -> Modes {
        Modes { alternate_screen: self.p.screen().alternate_screen() }
    }
    pub fn title(&self) -> &str {
        ""
    }
    pub fn is_held(&self, now: Moment) -> bool {
        false
    }
    pub fn held_until(&self) -> Option<Moment> {
        None
    }
    pub fn committed(&self) -> u64 {
        0
    }
    pub fn history_range(&self) -> std::ops::Range<u64> {
        0..0
    }
    pub fn history_row(&self, n: u64) -> Option<Row> {
        None
    }
    pub fn text(&self) -> String {
        self.p.screen().contents()
    }
    pub fn history_text(&self, n: usize) -> String {
        String::new()
    }
    pub fn restore_stream(&self) -> Vec<u8> {
        self.p.screen().state_formatted().into()
    }
}
pub fn key_bytes(k: Key, m: &Modes) -> Vec<u8> {
    match k.code {
        KeyCode::Char(c) if k.modifiers.control => vec![c as u8 & 31],
        KeyCode::Char(c) => c.to_string().into_bytes(),
        KeyCode::Enter => b"\r".to_vec(),
        _ => vec![],
    }
}
pub fn mouse_bytes(e: Mouse, m: &Modes) -> Option<Vec<u8>> {
    None
}
pub fn paste_bytes(t: &str, m: &Modes) -> Vec<u8> {
    t.as_bytes().to_vec()
}
pub fn focus_bytes(g: bool, m: &Modes) -> Option<&'static [u8]> {
    None
}
