//! Plays in a terminal: raw keys in, drawn frames out.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::model::{Moment, Size};

use super::clock::Clock;
use super::flood::flood;
use super::input::Decoder;
use super::order::Order;
use super::outside::{Outside, detach, die};
use super::painter::{ENTER, Painter};
use super::player::Player;
use super::run::SimError;

/// At most thirty frames a second, as other agents do.
const FRAME: Duration = Duration::from_millis(33);
/// The pace of one that repaints everything all the time.
const REPAINT: Duration = Duration::from_millis(40);
/// A resize is signalled; this only covers the signal that came just before the wait.
const SIZE_CHECK: Duration = Duration::from_millis(500);
/// Bytes that are read at once.
const READ_BYTES: usize = 4096;

/// Plays until the script or the person ends it.
pub(super) fn play(player: Player, outside: Outside, clock: Clock) -> Result<ExitCode, SimError> {
    let _raw = RawMode::enter().map_err(SimError::system("switch the terminal to raw mode"))?;
    let mut shell = Shell {
        player,
        outside,
        clock,
        painter: Painter::default(),
        decoder: Decoder::default(),
        drawn_at: None,
        is_gone: false,
        was_hanging: false,
    };
    shell.outside.notice_resizes().map_err(SimError::system("listen for resizes"))?;
    shell.write(ENTER);
    let code = loop {
        let now = clock.now();
        shell.player.advance(now);
        if let Some(code) = shell.carry_out(now)? {
            break code;
        }
        shell.draw(now);
        if shell.is_gone && !shell.outside.survives_hangup() {
            break ExitCode::FAILURE;
        }
        shell.wait()?;
    };
    shell.outside.abandon();
    shell.draw_now();
    let last = shell.painter.leave(shell.player.script.settings.reports_state);
    shell.write(&last);
    Ok(code)
}

struct Shell {
    player: Player,
    outside: Outside,
    clock: Clock,
    painter: Painter,
    decoder: Decoder,
    drawn_at: Option<Moment>,
    /// The terminal is closed; there is nobody to draw for.
    is_gone: bool,
    was_hanging: bool,
}

impl Shell {
    fn carry_out(&mut self, now: Moment) -> Result<Option<ExitCode>, SimError> {
        for order in self.player.take_orders() {
            match order {
                Order::Act { number, act } => self.outside.begin(number, act),
                Order::Abandon => self.outside.abandon(),
                Order::Exit(code) => return Ok(Some(ExitCode::from(code))),
                Order::Die => die().map_err(SimError::system("end this process"))?,
                Order::Ignore(signals) => {
                    self.outside.ignore(&signals).map_err(SimError::system("ignore signals"))?;
                }
                Order::Detach { time, keeps_terminal } => {
                    detach(time, keeps_terminal)
                        .map_err(SimError::system("leave a process behind"))?;
                }
                Order::Flood { kind, bytes, seed } => {
                    self.draw_now();
                    let aside = self.painter.step_aside();
                    self.write(&aside);
                    self.is_gone |= flood(&mut io::stdout().lock(), kind, bytes, seed).is_err();
                    // Random bytes end in a reset, which turns our modes off.
                    self.write(&format!("\r\n{ENTER}"));
                    self.drawn_at = Some(now);
                }
                Order::Memory(bytes) => self.outside.hold(bytes),
                Order::Raw(text) => {
                    self.draw_now();
                    let aside = self.painter.step_aside();
                    self.write(&aside);
                    self.write(&text);
                    self.write("\r\n");
                }
            }
        }
        Ok(None)
    }

    fn draw(&mut self, now: Moment) {
        let is_hanging = self.player.is_hanging();
        // A script that never waits shows every part of itself all the same.
        let is_due = self.due(now).is_none() || self.player.deadline(now) == Some(now);
        // One that hangs still shows what it did last.
        if (is_due && !is_hanging) || (is_hanging && !self.was_hanging) {
            self.draw_now();
            self.drawn_at = Some(now);
        }
        self.was_hanging = is_hanging;
    }

    fn draw_now(&mut self) {
        let size = size();
        let bytes = if self.player.is_repainting() {
            self.painter.repaint(&self.player.ui, size)
        } else {
            let reports_state = self.player.script.settings.reports_state;
            self.painter.draw(&self.player.ui, size, reports_state)
        };
        self.write(&bytes);
    }

    /// Returns when the next frame may be drawn, if one was drawn lately.
    fn due(&self, now: Moment) -> Option<Moment> {
        let pace = if self.player.is_repainting() { REPAINT } else { FRAME };
        self.drawn_at.map(|at| at + pace).filter(|due| now < *due)
    }

    /// Waits until something happens or is due, and takes it in.
    fn wait(&mut self) -> Result<(), SimError> {
        let now = self.clock.now();
        let listens = !self.player.is_hanging() && !self.is_gone;
        let due = if listens { self.due(now) } else { None };
        let repaint = self.player.is_repainting().then(|| now + REPAINT);
        let check = listens.then(|| now + SIZE_CHECK);
        let wakes = [self.player.deadline(now), self.decoder.deadline(), due, repaint, check];
        let timeout = wakes.into_iter().flatten().min().map(|wake| timespec(wake.since(now)));
        let stdin = io::stdin();
        let mut polled = vec![PollFd::new(&self.outside.woken, PollFlags::IN)];
        if listens {
            polled.push(PollFd::new(&stdin, PollFlags::IN));
        }
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(SimError::system("wait for input")(error)),
        }
        let is_typed = polled.get(1).is_some_and(|fd| !fd.revents().is_empty());
        let now = self.clock.now();
        if is_typed {
            self.read(now);
        }
        if let Some(typed) = self.decoder.expire(now) {
            self.player.typed(typed, now);
        }
        while let Some(acted) = self.outside.ended() {
            self.player.acted(acted.number, acted.passed, acted.output, now);
        }
        Ok(())
    }

    fn read(&mut self, now: Moment) {
        let mut bytes = [0; READ_BYTES];
        // Not through the standard library's buffer: what it held back, no poll would tell of.
        match rustix::io::read(io::stdin(), &mut bytes) {
            Ok(count) if count > 0 => {
                for typed in self.decoder.feed(&bytes[..count], now) {
                    self.player.typed(typed, now);
                }
            }
            Err(Errno::INTR) => {}
            Ok(_) | Err(_) => self.is_gone = true,
        }
    }

    fn write(&mut self, text: &str) {
        if text.is_empty() || self.is_gone {
            return;
        }
        let mut out = io::stdout().lock();
        self.is_gone |= out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err();
    }
}

/// Raw mode for as long as this lives.
struct RawMode(Termios);

impl RawMode {
    fn enter() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self(before))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        if let Err(error) = tcsetattr(io::stdin(), OptionalActions::Now, &self.0) {
            tracing::debug!(%error, "the terminal is gone");
        }
    }
}

fn size() -> Size {
    match tcgetwinsize(io::stdout()) {
        Ok(found) if found.ws_row > 0 && found.ws_col > 0 => {
            Size { rows: found.ws_row, cols: found.ws_col }.clamped()
        }
        Ok(_) | Err(_) => Size::default(),
    }
}

pub(super) fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}
