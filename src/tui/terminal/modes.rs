//! Puts the terminal into the modes of a full-screen program, and back, whatever happens.

use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::terminal::{
    DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{Command, queue};

use super::output::{TerminalOutput, say_last};
use crate::model::Size;

/// Buttons, drags and the wheel in the form without limits; not every motion, which would wake us
/// for nothing.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";

/// Every motion of the mouse, for an application that wants it. Most terminals have one mode for the
/// mouse, whatever they are asked for: to take this one back is to take all of them back.
const MOTION_ON: &str = "\x1b[?1003h";
const MOTION_OFF: &str = "\x1b[?1003l";

/// Ends a frame that may have been cut off in the middle.
const END_FRAME: &str = "\x1b[?2026l";

const PASTE_AND_FOCUS_ON: &str = "\x1b[?2004h\x1b[?1004h";
const PASTE_AND_FOCUS_OFF: &str = "\x1b[?1004l\x1b[?2004l";

/// Asks for unambiguous keys in the form of kitty; a terminal without it ignores the sequence, so
/// that nobody has to wait for an answer.
const KEYBOARD_ON: &str = "\x1b[>1u";
const KEYBOARD_OFF: &str = "\x1b[<1u";

/// Gives the cursor the shape that the terminal's owner chose.
const OWN_CURSOR: &str = "\x1b[0 q";

/// Has the terminal keep its title, and take it up again.
const KEEP_TITLE: &str = "\x1b[22;2t";
const TITLE_BACK: &str = "\x1b[23;2t";

const ASK_BACKGROUND: &str = "\x1b]11;?\x1b\\";

/// A panic must know whether there is anything to restore.
static ENTERED: AtomicBool = AtomicBool::new(false);
static IS_PLAIN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal in our hands; dropped, it is as it was.
#[derive(Debug)]
pub(crate) struct TerminalModes {
    is_plain: bool,
    has_motion: bool,
    /// What the terminal's window is called.
    title: String,
}

impl TerminalModes {
    /// Takes the terminal over. With `ask_background`, it is asked for its background, too.
    pub(crate) fn enter(
        term: &str,
        ask_background: bool,
        output: &mut TerminalOutput,
    ) -> io::Result<Self> {
        restore_before_a_panic_speaks();
        // The console of Linux prints what it does not know.
        let is_plain = matches!(term, "linux" | "dumb");
        let mut modes = Self { is_plain, has_motion: false, title: String::new() };
        IS_PLAIN.store(is_plain, Ordering::SeqCst);
        modes.resume(output)?;
        if ask_background && !modes.is_plain {
            output.send(ASK_BACKGROUND.as_bytes())?;
        }
        Ok(modes)
    }

    /// Sets the modes again, after the process had been stopped.
    pub(crate) fn resume(&mut self, output: &mut TerminalOutput) -> io::Result<()> {
        enable_raw_mode()?;
        let is_first = !ENTERED.swap(true, Ordering::SeqCst);
        let mut out = Vec::new();
        if is_first && !self.is_plain {
            out.extend(KEEP_TITLE.bytes());
        }
        self.title.clear();
        // A terminal that draws a picture wider than it is must not push the rest to the next row.
        queue!(out, EnterAlternateScreen, Hide, DisableLineWrap)?;
        if !self.is_plain {
            // Set anew rather than set twice: each setting has to be taken back.
            out.extend(KEYBOARD_OFF.bytes());
            out.extend(KEYBOARD_ON.bytes());
        }
        out.extend(PASTE_AND_FOCUS_ON.bytes());
        out.extend(MOUSE_ON.bytes());
        if self.has_motion {
            out.extend(MOTION_ON.bytes());
        }
        output.send(&out)
    }

    /// Asks the terminal for every motion of the mouse, or no longer.
    pub(crate) fn set_motion(
        &mut self,
        wanted: bool,
        output: &mut TerminalOutput,
    ) -> io::Result<()> {
        if self.has_motion == wanted {
            return Ok(());
        }
        self.has_motion = wanted;
        let change = if wanted { MOTION_ON.to_owned() } else { format!("{MOTION_OFF}{MOUSE_ON}") };
        output.send(change.as_bytes())
    }

    /// Names the terminal's window.
    pub(crate) fn set_title(&mut self, title: &str, output: &mut TerminalOutput) -> io::Result<()> {
        if self.is_plain || self.title == title {
            return Ok(());
        }
        title.clone_into(&mut self.title);
        output.send(format!("\x1b]2;{title}\x07").as_bytes())
    }

    /// Gives the terminal back before its time, and says whether it heard of it.
    pub(crate) fn leave() -> bool {
        restore()
    }
}

impl Drop for TerminalModes {
    fn drop(&mut self) {
        restore();
    }
}

/// Puts the terminal back, if that has not been done, and says whether it heard of it.
fn restore() -> bool {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return true;
    }
    let mut out = format!(
        "{END_FRAME}{MOTION_OFF}{MOUSE_OFF}{PASTE_AND_FOCUS_OFF}{KEYBOARD_OFF}{TITLE_BACK}\x1b[m"
    );
    if !IS_PLAIN.load(Ordering::SeqCst) {
        out.push_str(OWN_CURSOR);
    }
    let leaving = EnableLineWrap.write_ansi(&mut out).and_then(|()| Show.write_ansi(&mut out));
    let leaving = leaving.and_then(|()| LeaveAlternateScreen.write_ansi(&mut out));
    let written = leaving.map_err(io::Error::other).and_then(|()| say_last(out.as_bytes()));
    for failed in [written.as_ref().err(), disable_raw_mode().as_ref().err()].into_iter().flatten()
    {
        tracing::warn!(error = %failed, "the terminal could not be restored");
    }
    written.is_ok()
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

/// Returns the size of the terminal's window.
pub(crate) fn window_size() -> Size {
    let told = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let told = told.filter(|size| size.ws_row > 0 && size.ws_col > 0);
    told.map_or_else(Size::default, |size| Size { rows: size.ws_row, cols: size.ws_col }.clamped())
}
