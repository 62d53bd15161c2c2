//! The modes that an application can turn on and off.

/// Which mouse events the application wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseMode {
    #[default]
    None,
    /// Presses only.
    X10,
    /// Presses and releases.
    Normal,
    /// Also moves while a button is down.
    Button,
    /// All moves.
    Any,
}

/// How the application wants mouse events written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseEncoding {
    #[default]
    Default,
    Utf8,
    Sgr,
}

/// The modes that matter to whoever sends input to the application.
#[expect(clippy::struct_excessive_bools, reason = "each is a mode of its own")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    pub application_cursor: bool,
    pub application_keypad: bool,
    pub bracketed_paste: bool,
    pub mouse: MouseMode,
    pub mouse_encoding: MouseEncoding,
    pub focus_events: bool,
    pub alternate_scroll: bool,
    /// The flags of the kitty keyboard protocol that are on top of the stack.
    pub kitty_flags: u8,
    pub modify_other_keys: u8,
    pub alternate_screen: bool,
}

impl Modes {
    /// Sets a private mode and says whether it is one of these.
    pub(super) fn set(&mut self, mode: u16, on: bool) -> bool {
        let mouse = |mode| if on { mode } else { MouseMode::None };
        let encoding = |encoding| if on { encoding } else { MouseEncoding::Default };
        match mode {
            1 => self.application_cursor = on,
            66 => self.application_keypad = on,
            9 => self.mouse = mouse(MouseMode::X10),
            1000 => self.mouse = mouse(MouseMode::Normal),
            1002 => self.mouse = mouse(MouseMode::Button),
            1003 => self.mouse = mouse(MouseMode::Any),
            1004 => self.focus_events = on,
            1005 => self.mouse_encoding = encoding(MouseEncoding::Utf8),
            1006 => self.mouse_encoding = encoding(MouseEncoding::Sgr),
            1007 => self.alternate_scroll = on,
            2004 => self.bracketed_paste = on,
            _ => return false,
        }
        true
    }

    /// Returns whether a private mode is on, if it is one of these.
    pub(super) fn get(&self, mode: u16) -> Option<bool> {
        Some(match mode {
            1 => self.application_cursor,
            66 => self.application_keypad,
            9 => self.mouse == MouseMode::X10,
            1000 => self.mouse == MouseMode::Normal,
            1002 => self.mouse == MouseMode::Button,
            1003 => self.mouse == MouseMode::Any,
            1004 => self.focus_events,
            1005 => self.mouse_encoding == MouseEncoding::Utf8,
            1006 => self.mouse_encoding == MouseEncoding::Sgr,
            1007 => self.alternate_scroll,
            2004 => self.bracketed_paste,
            47 | 1047 | 1049 => self.alternate_screen,
            _ => return None,
        })
    }
}

/// The private modes that `Modes` holds one by one, for whoever writes them all.
pub(super) const WRITTEN: [u16; 11] = [1, 66, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 2004];

/// Programs push once and pop once; a loop of pushes must not grow without end.
const STACK_MAX: usize = 16;

/// The keyboard flags of one screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeyboardStack {
    flags: Vec<u8>,
}

impl KeyboardStack {
    /// All flags that the protocol knows.
    const KNOWN: u16 = 0b1_1111;

    pub(super) fn top(&self) -> u8 {
        self.flags.last().copied().unwrap_or(0)
    }

    pub(super) fn push(&mut self, flags: u16) {
        if self.flags.len() == STACK_MAX {
            self.flags.remove(0);
        }
        self.flags.push((flags & Self::KNOWN).to_le_bytes()[0]);
    }

    pub(super) fn pop(&mut self, count: u16) {
        self.flags.truncate(self.flags.len().saturating_sub(usize::from(count)));
    }

    /// Changes the top: 1 sets exactly, 2 adds, 3 takes away.
    pub(super) fn change(&mut self, flags: u16, how: u16) {
        let flags = (flags & Self::KNOWN).to_le_bytes()[0];
        let top = self.top();
        let new = match how {
            2 => top | flags,
            3 => top & !flags,
            _ => flags,
        };
        match self.flags.last_mut() {
            Some(last) => *last = new,
            None => self.flags.push(new),
        }
    }

    pub(super) fn flags(&self) -> &[u8] {
        &self.flags
    }
}
