//! Puts the terminal into the modes of a full-screen program, and back, whatever happens.

use std::io;
use std::os::fd::AsFd;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{Command, queue};

use crate::model::Size;

/// Buttons, drags and the wheel in the form without limits; not every motion, which would wake us
/// for nothing.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";

const PASTE_AND_FOCUS_ON: &str = "\x1b[?2004h\x1b[?1004h";
const PASTE_AND_FOCUS_OFF: &str = "\x1b[?1004l\x1b[?2004l";

/// Asks for unambiguous keys in the form of kitty; a terminal without it ignores the sequence, so
/// that nobody has to wait for an answer.
const KEYBOARD_ON: &str = "\x1b[>1u";
const KEYBOARD_OFF: &str = "\x1b[<1u";

const ASK_BACKGROUND: &str = "\x1b]11;?\x1b\\";

/// A panic must know whether there is anything to restore.
static ENTERED: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal in our hands; dropped, it is as it was.
#[derive(Debug)]
pub(crate) struct Modes {
    is_plain: bool,
}

impl Modes {
    /// Takes the terminal over. With `ask_background`, it is asked for its background, too.
    pub(crate) fn enter(term: &str, ask_background: bool) -> io::Result<Self> {
        restore_before_a_panic_speaks();
        // The console of Linux prints what it does not know.
        let modes = Self { is_plain: matches!(term, "linux" | "dumb") };
        modes.resume()?;
        if ask_background && !modes.is_plain {
            write_all(ASK_BACKGROUND.as_bytes())?;
        }
        Ok(modes)
    }

    /// Sets the modes again, after the process had been stopped.
    pub(crate) fn resume(&self) -> io::Result<()> {
        enable_raw_mode()?;
        ENTERED.store(true, Ordering::SeqCst);
        let mut out = Vec::new();
        queue!(out, EnterAlternateScreen, Hide)?;
        if !self.is_plain {
            // Set anew rather than set twice: each setting has to be taken back.
            out.extend(KEYBOARD_OFF.bytes());
            out.extend(KEYBOARD_ON.bytes());
        }
        out.extend(PASTE_AND_FOCUS_ON.bytes());
        out.extend(MOUSE_ON.bytes());
        write_all(&out)
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = format!("{MOUSE_OFF}{PASTE_AND_FOCUS_OFF}{KEYBOARD_OFF}\x1b[m");
    let leaving =
        Show.write_ansi(&mut out).and_then(|()| LeaveAlternateScreen.write_ansi(&mut out));
    let written = leaving.map_err(io::Error::other).and_then(|()| write_all(out.as_bytes()));
    if let Err(error) = written.and_then(|()| disable_raw_mode()) {
        tracing::warn!(%error, "the terminal could not be restored");
    }
}

fn restore_before_a_panic_speaks() {
    HOOK.call_once(|| {
        let speak = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            speak(panic);
        }));
    });
}

/// Says whether a person can see and type here.
pub(crate) fn is_terminal() -> bool {
    rustix::termios::isatty(io::stdin()) && rustix::termios::isatty(io::stdout())
}

/// Writes to the terminal, if possible with one call.
pub(crate) fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    let stdout = io::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(stdout.as_fd(), bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                let mut wait = [rustix::event::PollFd::new(&stdout, rustix::event::PollFlags::OUT)];
                rustix::event::poll(&mut wait, None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Returns the size of the terminal's window.
pub(crate) fn window_size() -> Size {
    let told = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let told = told.filter(|size| size.ws_row > 0 && size.ws_col > 0);
    told.map_or_else(Size::default, |size| Size { rows: size.ws_row, cols: size.ws_col }.clamped())
}
