//! The player's loop: waits for the person and the clock, and draws.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::draw::draw;
use super::state::{Film, FilmPlayer};
use crate::history::JournalItem;
use crate::model::Environment;
use crate::tui::clock;
use crate::tui::options::TuiError;
use crate::tui::style::{Depth, Theme, ThemeChoice, is_light};
use crate::tui::terminal::{
    Parser, TerminalCanvas, TerminalInput, TerminalModes, TerminalOutput, TerminalSignal,
    TerminalSignals, is_terminal, window_size,
};

/// Time between frames while it plays: what moves faster cannot be read.
const FRAME_TIME: Duration = Duration::from_millis(100);

/// How long a lone escape waits for the rest of a sequence that a slow line may have torn.
const ESCAPE_TIME: Duration = Duration::from_millis(25);

const STDIN_BYTES: usize = 4096;

/// What is played, and how it looks.
#[derive(Clone, Debug)]
pub struct PlayerOptions {
    pub theme: ThemeChoice,
    /// The caller's own environment, for what the terminal can show.
    pub environment: Environment,
    pub run: String,
    /// What happened, oldest first.
    pub entries: Vec<JournalItem>,
}

/// Plays a run on the terminal of this process until the person leaves it.
///
/// The terminal is restored whatever happens.
pub fn play(film: &mut impl Film, options: PlayerOptions) -> Result<(), TuiError> {
    let PlayerOptions { theme: choice, environment, run, entries } = options;
    let depth = Depth::detect(&environment);
    let theme = Theme::load(&choice, depth)?;
    if !is_terminal() {
        return Err(TuiError::NoTerminal);
    }
    let is_auto = choice.is_auto();
    let term = environment.0.get("TERM").cloned().unwrap_or_default();
    let signals = TerminalSignals::listen()?;
    let mut output = TerminalOutput::open()?;
    let modes = TerminalModes::enter(&term, is_auto, &mut output)?;
    let player = FilmPlayer::new(run, entries, theme, window_size(), film);
    let canvas = TerminalCanvas::new(player.window);
    let light = is_auto.then(|| Theme::load(&ThemeChoice::Named("light".into()), depth));
    let light = light.transpose()?;
    let parser = Parser::default();
    let now = clock::instant();
    let mut stage =
        Stage { player, canvas, light, signals, output, modes, parser, escape_at: None, now };
    while !stage.player.is_over {
        stage.draw()?;
        stage.turn(film)?;
    }
    TerminalModes::leave();
    Ok(())
}

struct Stage {
    player: FilmPlayer,
    canvas: TerminalCanvas,
    /// What to use if the terminal's background turns out to be light.
    light: Option<Theme>,
    signals: TerminalSignals,
    output: TerminalOutput,
    modes: TerminalModes,
    parser: Parser,
    escape_at: Option<Instant>,
    /// When time was last looked at.
    now: Instant,
}

impl Stage {
    fn draw(&mut self) -> Result<(), TuiError> {
        if self.output.is_busy() {
            return Ok(());
        }
        draw(&self.player, self.canvas.area(), &mut self.canvas.picture);
        self.canvas.mark_all();
        Ok(self.output.send(self.canvas.flush())?)
    }

    fn turn(&mut self, film: &mut impl Film) -> Result<(), TuiError> {
        let (has_keys, has_signals, has_room) = self.wait()?;
        if has_room {
            self.output.flush()?;
        }
        if has_signals {
            self.take_signals()?;
        }
        if has_keys {
            self.take_keys(film)?;
        }
        let now = clock::instant();
        if self.escape_at.is_some_and(|at| at <= now) {
            self.escape_at = None;
            let typed = self.parser.give_up();
            self.give(typed, film);
        }
        let passed = now.saturating_duration_since(self.now);
        if passed >= FRAME_TIME || !self.player.is_playing {
            self.now = now;
            self.player.tick(passed, film);
        }
        Ok(())
    }

    /// Waits for keys, signals, or room in the terminal, and says which of them came.
    fn wait(&self) -> Result<(bool, bool, bool), TuiError> {
        let stdin = io::stdin();
        let mut waited = vec![PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        let mut room = PollFlags::empty();
        room.set(PollFlags::OUT, self.output.is_busy());
        waited.push(PollFd::from_borrowed_fd(self.output.descriptor(), room));
        for descriptor in self.signals.descriptors() {
            waited.push(PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        }
        let now = clock::instant();
        let frame_at = self.player.is_playing.then(|| self.now + FRAME_TIME);
        let due = [frame_at, self.escape_at].into_iter().flatten().min();
        let pause = due.map(|at| at.saturating_duration_since(now));
        let timeout = pause.and_then(|pause| Timespec::try_from(pause).ok());
        match poll(&mut waited, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(TuiError::Terminal(error.into())),
        }
        let came = |at: usize| !waited[at].revents().is_empty();
        Ok((came(0), (2..waited.len()).any(came), came(1)))
    }

    fn take_signals(&mut self) -> Result<(), TuiError> {
        for signal in self.signals.take() {
            match signal {
                TerminalSignal::WindowChanged => {}
                TerminalSignal::Resumed => self.modes.resume(&mut self.output)?,
                TerminalSignal::Interrupted | TerminalSignal::End => self.player.is_over = true,
            }
            self.player.window = window_size();
            self.canvas = TerminalCanvas::new(self.player.window);
        }
        Ok(())
    }

    fn take_keys(&mut self, film: &mut impl Film) -> Result<(), TuiError> {
        let mut bytes = [0; STDIN_BYTES];
        let typed = match rustix::io::read(io::stdin(), &mut bytes) {
            // The terminal is gone.
            Ok(0) | Err(Errno::IO) => {
                self.player.is_over = true;
                return Ok(());
            }
            Ok(count) => self.parser.push(&bytes[..count]),
            Err(Errno::INTR | Errno::AGAIN) => return Ok(()),
            Err(error) => return Err(TuiError::Terminal(error.into())),
        };
        self.escape_at = self.parser.is_waiting().then(|| clock::instant() + ESCAPE_TIME);
        self.give(typed, film);
        Ok(())
    }

    fn give(&mut self, typed: Vec<TerminalInput>, film: &mut impl Film) {
        for one in typed {
            match one {
                TerminalInput::Key(key) => self.player.press(key, film),
                TerminalInput::Background(rgb) => {
                    if let Some(light) = self.light.take().filter(|_| is_light(rgb)) {
                        self.player.theme = light;
                    }
                }
                TerminalInput::Paste(_) | TerminalInput::Mouse(_) | TerminalInput::Focus(_) => {}
            }
        }
    }
}
