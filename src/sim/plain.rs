//! Plays without a terminal: each line of input is a prompt or an answer, output is plain text.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::clock::Clock;
use super::flood::flood;
use super::line::Line;
use super::order::Order;
use super::outside::{Outside, detach, die};
use super::player::Player;
use super::run::SimError;
use super::terminal::timespec;
use super::ui::Place;
use super::wrap::ENDLESS;

/// Lines that are read ahead; more stay in the pipe.
const LINES_MAX: usize = 64;
/// A longer line is taken as it is, so that one without an end cannot fill the memory.
const LINE_BYTES_MAX: usize = 1 << 20;
/// The width of a dialog, which has no other.
const DIALOG_COLS: usize = 80;

/// Plays until the script ends, or the input and all that followed from it.
pub(super) fn play(player: Player, outside: Outside, clock: Clock) -> Result<ExitCode, SimError> {
    let mut pipe = Pipe {
        player,
        outside,
        clock,
        place: Place::default(),
        shows_dialog: false,
        input: Vec::new(),
        lines: VecDeque::new(),
        is_at_end: false,
    };
    loop {
        pipe.player.advance(clock.now());
        pipe.print()?;
        if let Some(code) = pipe.carry_out()? {
            pipe.outside.abandon();
            pipe.print()?;
            return Ok(code);
        }
        if pipe.is_at_end && pipe.lines.is_empty() && pipe.player.is_resting() {
            return Ok(ExitCode::SUCCESS);
        }
        pipe.wait()?;
        pipe.hand_over();
    }
}

struct Pipe {
    player: Player,
    outside: Outside,
    clock: Clock,
    place: Place,
    shows_dialog: bool,
    input: Vec<u8>,
    lines: VecDeque<String>,
    is_at_end: bool,
}

impl Pipe {
    /// Gives the player the next line when it can do something with it.
    fn hand_over(&mut self) {
        let now = self.clock.now();
        let has_dialog = self.player.ui.dialog.is_some();
        if self.player.turn.is_some() && !has_dialog {
            return;
        }
        if let Some(line) = self.lines.pop_front() {
            self.player.line(&line, now);
        } else if self.is_at_end && has_dialog {
            self.player.line("", now);
        }
    }

    fn print(&mut self) -> Result<(), SimError> {
        let (mut lines, place) = self.player.ui.settled(self.place, ENDLESS);
        self.place = place;
        let dialog = self.player.ui.dialog.as_ref().filter(|_| !self.shows_dialog);
        lines.extend(dialog.map(|dialog| dialog.lines(DIALOG_COLS)).unwrap_or_default());
        self.shows_dialog = self.player.ui.dialog.is_some();
        let text: String = lines.iter().map(|line: &Line| line.plain() + "\n").collect();
        write(text.as_bytes())
    }

    fn carry_out(&mut self) -> Result<Option<ExitCode>, SimError> {
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
                    flood(&mut io::stdout().lock(), kind, bytes, seed)
                        .map_err(SimError::system("write"))?;
                }
                Order::Memory(bytes) => self.outside.hold(bytes),
                Order::Raw(text) => write(text.as_bytes())?,
            }
        }
        Ok(None)
    }

    fn wait(&mut self) -> Result<(), SimError> {
        let now = self.clock.now();
        let listens = !self.is_at_end && self.lines.len() < LINES_MAX && !self.player.is_hanging();
        let is_handy = !self.lines.is_empty() || self.is_at_end;
        let is_free = self.player.turn.is_none() || self.player.ui.dialog.is_some();
        let soon = (is_handy && is_free && !self.player.is_hanging()).then_some(now);
        let wake = [self.player.deadline(now), soon].into_iter().flatten().min();
        let timeout = wake.map(|wake| timespec(wake.since(now)));
        let stdin = io::stdin();
        let mut polled = vec![PollFd::new(&self.outside.woken, PollFlags::IN)];
        if listens {
            polled.push(PollFd::new(&stdin, PollFlags::IN));
        }
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(SimError::system("wait for input")(error)),
        }
        if polled.get(1).is_some_and(|fd| !fd.revents().is_empty()) {
            self.read()?;
        }
        let now = self.clock.now();
        while let Some(acted) = self.outside.ended() {
            self.player.acted(acted.number, acted.passed, acted.output, now);
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), SimError> {
        let mut bytes = [0; 4096];
        let count = match rustix::io::read(io::stdin(), &mut bytes) {
            Ok(count) => count,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(SimError::system("read the input")(error)),
        };
        self.is_at_end = count == 0;
        self.input.extend_from_slice(&bytes[..count]);
        while let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            self.lines.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
        }
        if (self.is_at_end && !self.input.is_empty()) || self.input.len() > LINE_BYTES_MAX {
            self.lines.push_back(String::from_utf8_lossy(&self.input).into_owned());
            self.input.clear();
        }
        Ok(())
    }
}

fn write(bytes: &[u8]) -> Result<(), SimError> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(SimError::system("write"))
}
