//! The loop: waits for the person, the hub and the clock, and draws what has changed.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::app::{App, AppSettings, Mode};
use super::clipboard::Clipboard;
use super::clock;
use super::draw::Picture;
use super::hub_link::{HubLink, HubLinkError};
use super::keys::Keymap;
use super::options::{AlertOptions, Ended, Hub, Options, TuiError};
use super::overlay::Overlay;
use super::style::{Depth, Theme, ThemeChoice};
use super::terminal::{
    Abilities, Parser, TerminalInput, TerminalModes, TerminalOutput, TerminalSignal,
    TerminalSignals, is_terminal, window_size,
};
use super::text::SECONDS_STEP;
use super::update::{AppInput, update};
use super::user_files::UserFiles;
use crate::model::Moment;

/// Time between frames: sixty a second are all that a person sees.
const FRAME_TIME: Duration = Duration::from_micros(16_600);

/// Time between frames for panes that the person only glances at. Until it is over the hub is not
/// even listened to: sixteen spinners would wake us for each of their turns.
const GLANCE_TIME: Duration = Duration::from_millis(33);

/// How long a lone escape waits for the rest of a sequence that a slow line may have torn.
const ESCAPE_TIME: Duration = Duration::from_millis(25);

/// The pause before the hub is tried again doubles from the first to the last of these.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(2);

const STDIN_BYTES: usize = 16 * 1024;

/// Runs the dashboard on the terminal of this process until the person leaves it.
///
/// The terminal is restored whatever happens. Agents are never stopped by leaving.
pub fn run(mut hub: impl Hub, options: Options) -> Result<Ended, TuiError> {
    let term = options.environment.0.get("TERM").cloned().unwrap_or_default();
    let (mut outside, alerts) = (UserFiles::new(&options), options.alerts);
    let clipboard = Clipboard::new(&options.environment);
    let mut app = open(options)?;
    app.history = outside.history();
    app.reviews = outside.reviews();
    if !is_terminal() {
        return Err(TuiError::NoTerminal);
    }
    let stream = hub.connect().map_err(TuiError::Connect)?;
    let link = HubLink::new(stream).map_err(TuiError::Connect)?;
    let signals = TerminalSignals::listen()?;
    let mut output = TerminalOutput::open()?;
    let modes = TerminalModes::enter(&term, app.theme_if_light.is_some(), &mut output)?;
    let picture = Picture::new(app.window);
    let mut dashboard = Dashboard {
        app,
        hub,
        link: None,
        retry_at: None,
        retry_pause: RETRY_MIN,
        signals,
        outside,
        clipboard,
        alerts,
        modes,
        output,
        parser: Parser::default(),
        escape_at: None,
        picture,
        drawn_at: None,
        listen_at: None,
        label_at: None,
    };
    dashboard.use_link(link);
    loop {
        if let Some(end) = dashboard.app.end.take() {
            let is_heard = TerminalModes::leave();
            return end.map(|ended| if is_heard { ended } else { Ended::Unheard });
        }
        dashboard.turn()?;
    }
}

/// Says whether keys and theme are such that `run` could use them.
pub fn check(options: Options) -> Result<(), TuiError> {
    open(options).map(drop)
}

fn open(options: Options) -> Result<App, TuiError> {
    let keymap = Keymap::new(&options.keys, options.environment.0.contains_key("TMUX"))?;
    let depth = options.color.unwrap_or_else(|| Depth::detect(&options.environment));
    let theme = Theme::load(&options.theme, depth)?;
    let is_auto = options.theme.is_auto();
    let settings = AppSettings {
        cards: options.cards,
        min_size: options.min_size.clamped(),
        abilities: Abilities::detect(&options.environment),
        environment: options.environment,
        start: options.start,
        demo: options.demo,
        playbooks: options.playbooks,
    };
    let mut app = App::new(keymap, theme, settings, window_size());
    app.set_layout(options.layout);
    if is_auto {
        app.theme_if_light = Some(Theme::load(&ThemeChoice::Named("light".into()), depth)?);
    }
    Ok(app)
}

/// Everything that a turn of the loop needs.
pub(super) struct Dashboard<H> {
    pub(super) app: App,
    hub: H,
    link: Option<HubLink>,
    retry_at: Option<Instant>,
    retry_pause: Duration,
    pub(super) signals: TerminalSignals,
    pub(super) outside: UserFiles,
    pub(super) clipboard: Clipboard,
    pub(super) alerts: AlertOptions,
    pub(super) modes: TerminalModes,
    pub(super) output: TerminalOutput,
    parser: Parser,
    escape_at: Option<Instant>,
    picture: Picture,
    /// When the last whole frame was drawn.
    drawn_at: Option<Instant>,
    /// When the hub is listened to again.
    listen_at: Option<Instant>,
    /// When a label that tells a time changes next.
    label_at: Option<Instant>,
}

/// What woke the loop: what each source has to say.
#[derive(Clone, Copy)]
struct Woken {
    person: PollFlags,
    signals: PollFlags,
    terminal: PollFlags,
    hub: PollFlags,
}

impl<H: Hub> Dashboard<H> {
    fn turn(&mut self) -> Result<(), TuiError> {
        let woken = self.wait()?;
        if !woken.signals.is_empty() {
            self.take_signals()?;
        }
        if !woken.terminal.is_empty() {
            let flushed = self.output.flush();
            self.heed_terminal(&flushed);
        }
        if !woken.person.is_empty() {
            self.take_keys()?;
        }
        if !(woken.hub - PollFlags::OUT).is_empty() {
            self.take_frames();
        }
        if woken.hub.contains(PollFlags::OUT)
            && let Some(Err(error)) = self.link.as_mut().map(HubLink::flush)
        {
            self.lose(&error);
        }
        self.take_time();
        self.grant_wishes()?;
        self.outside.keep_reviews(&self.app.reviews);
        let asked = self.modes.set_motion(self.app.wants_motion(), &mut self.output);
        self.heed_terminal(&asked);
        if self.app.damage.is_all {
            let named = self.modes.set_title(&self.app.title(), &mut self.output);
            self.heed_terminal(&named);
        }
        self.draw();
        Ok(())
    }

    /// Takes note that the terminal is gone, if that is what writing to it showed.
    pub(super) fn heed_terminal(&mut self, written: &io::Result<()>) {
        if written.is_err() {
            self.app.end = Some(Ok(Ended::Signalled));
        }
    }

    fn wait(&self) -> Result<Woken, TuiError> {
        let stdin = io::stdin();
        let [window, resumed, interrupted, end] = self.signals.descriptors();
        let mut waited = vec![
            PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(window, PollFlags::IN),
            PollFd::from_borrowed_fd(resumed, PollFlags::IN),
            PollFd::from_borrowed_fd(interrupted, PollFlags::IN),
            PollFd::from_borrowed_fd(end, PollFlags::IN),
        ];
        let mut room = PollFlags::empty();
        room.set(PollFlags::OUT, self.output.is_busy());
        waited.push(PollFd::from_borrowed_fd(self.output.descriptor(), room));
        if let Some(link) = &self.link {
            let listens = self.listen_at.is_none();
            let mut flags = if listens { PollFlags::IN } else { PollFlags::empty() };
            flags.set(PollFlags::OUT, link.has_unsent());
            waited.push(PollFd::from_borrowed_fd(link.descriptor(), flags));
        }
        let timeout = self.timeout();
        match poll(&mut waited, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(TuiError::Terminal(error.into())),
        }
        let said = |at: usize| waited.get(at).map_or(PollFlags::empty(), PollFd::revents);
        let signals = said(1) | said(2) | said(3) | said(4);
        Ok(Woken { person: said(0), signals, terminal: said(5), hub: said(6) })
    }

    /// Returns how long nothing has to happen; nothing if there is no end to it.
    fn timeout(&self) -> Option<Timespec> {
        let now = clock::instant();
        let draws = !self.app.damage.is_none() && !self.output.is_busy();
        let frame_at = draws.then(|| self.frame_due().unwrap_or(now));
        let times = [frame_at, self.listen_at, self.label_at, self.escape_at, self.retry_at];
        let pause = times.into_iter().flatten().min()?.saturating_duration_since(now);
        Timespec::try_from(pause).ok()
    }

    fn take_signals(&mut self) -> Result<(), TuiError> {
        for signal in self.signals.take() {
            match signal {
                TerminalSignal::WindowChanged => {}
                TerminalSignal::Resumed => {
                    self.modes.resume(&mut self.output)?;
                    self.app.needs_whole_frame = true;
                }
                TerminalSignal::Interrupted | TerminalSignal::End => {
                    self.app.end = Some(Ok(Ended::Signalled));
                    return Ok(());
                }
            }
            self.give([AppInput::Resized(window_size())]);
        }
        Ok(())
    }

    fn take_keys(&mut self) -> Result<(), TuiError> {
        let mut bytes = [0; STDIN_BYTES];
        let typed = match rustix::io::read(io::stdin(), &mut bytes) {
            // The terminal is gone.
            Ok(0) | Err(Errno::IO) => {
                self.app.end = Some(Ok(Ended::Signalled));
                return Ok(());
            }
            Ok(count) => self.parser.push(&bytes[..count]),
            Err(Errno::INTR | Errno::AGAIN) => return Ok(()),
            Err(error) => return Err(TuiError::Terminal(error.into())),
        };
        self.escape_at = self.parser.is_waiting().then(|| clock::instant() + ESCAPE_TIME);
        self.give_typed(typed);
        Ok(())
    }

    fn give_typed(&mut self, typed: Vec<TerminalInput>) {
        let inputs = typed.into_iter().map(|one| match one {
            TerminalInput::Key(key) => AppInput::Key(key),
            TerminalInput::Paste(text) => AppInput::Paste(text),
            TerminalInput::Mouse(mouse) => AppInput::Mouse(mouse),
            TerminalInput::Focus(has_focus) => AppInput::Focus(has_focus),
            TerminalInput::Background(rgb) => AppInput::Background(rgb),
        });
        self.give(inputs);
    }

    fn take_frames(&mut self) {
        let Some(link) = &mut self.link else { return };
        match link.receive() {
            Ok(frames) => {
                self.retry_pause = RETRY_MIN;
                self.give(frames.into_iter().map(AppInput::Hub));
            }
            Err(error) => self.lose(&error),
        }
    }

    /// Does what is due by the clock.
    fn take_time(&mut self) {
        let now = clock::instant();
        if self.escape_at.is_some_and(|at| at <= now) {
            self.escape_at = None;
            let typed = self.parser.give_up();
            self.give_typed(typed);
        }
        if self.app.is_typing() || self.listen_at.is_some_and(|at| at <= now) {
            self.listen_at = None;
        }
        if self.retry_at.is_some_and(|at| at <= now) {
            self.reconnect();
        }
        let moment = clock::moment();
        if self.label_at.is_some_and(|at| at <= now) {
            self.label_at = None;
            self.give([AppInput::TimePassed]);
        }
        let next = label_pause(&self.app, moment).map(|pause| now + pause);
        self.label_at = match (self.label_at, next) {
            (Some(set), Some(next)) => Some(set.min(next)),
            (_, next) => next,
        };
    }

    fn reconnect(&mut self) {
        self.retry_at = None;
        match self.hub.connect().and_then(HubLink::new) {
            Ok(link) => self.use_link(link),
            Err(error) => self.lose(&HubLinkError::Failed(error)),
        }
    }

    fn use_link(&mut self, link: HubLink) {
        self.link = Some(link);
        self.give([AppInput::Connected]);
    }

    fn lose(&mut self, error: &HubLinkError) {
        self.link = None;
        self.retry_at = Some(clock::instant() + self.retry_pause);
        self.retry_pause = (self.retry_pause * 2).min(RETRY_MAX);
        self.give([AppInput::Lost { reason: error.to_string() }]);
    }

    pub(super) fn give(&mut self, inputs: impl IntoIterator<Item = AppInput>) {
        let asks = update(&mut self.app, inputs, clock::moment());
        if asks.is_empty() {
            return;
        }
        if let Some(Err(error)) = self.link.as_mut().map(|link| link.send(&asks)) {
            self.lose(&error);
        }
    }

    /// Returns when the damage may be drawn; the first after a quiet time has no reason to wait.
    fn frame_due(&self) -> Option<Instant> {
        let damage = &self.app.damage;
        let is_glance = !damage.is_all && !damage.has_labels;
        Some(self.drawn_at? + if is_glance { GLANCE_TIME } else { FRAME_TIME })
    }

    /// Draws a frame if one is due; the pane that the person types into does not wait for it.
    fn draw(&mut self) {
        if self.app.damage.is_none() || self.output.is_busy() {
            return;
        }
        let now = clock::instant();
        let damage = if self.frame_due().is_none_or(|due| due <= now) {
            self.drawn_at = Some(now);
            if !self.app.is_typing() && !self.app.damage.panes.is_empty() {
                self.listen_at = Some(now + GLANCE_TIME);
            }
            Some(std::mem::take(&mut self.app.damage))
        } else if self.app.is_typing() && !self.app.damage.is_all {
            let selected = self.app.selected.clone();
            selected.and_then(|agent| self.app.damage.take_pane(&agent))
        } else {
            None
        };
        let Some(mut damage) = damage else { return };
        if std::mem::take(&mut self.app.needs_whole_frame) {
            self.picture = Picture::new(self.app.window);
            damage.is_all = true;
        }
        let drawn = self.output.send(self.picture.draw(&self.app, &damage));
        self.heed_terminal(&drawn);
    }
}

/// Returns how long all labels that tell a time stay as they are.
///
/// They change together, on a grid of the clock, so that many agents wake nobody more often.
fn label_pause(app: &App, now: Moment) -> Option<Duration> {
    const STEP: u64 = 1000 * SECONDS_STEP;
    const MINUTE: u64 = 60 * 1000;
    let youngest = app.agents.iter().map(|agent| now.since(agent.since)).min()?;
    let grid = if youngest < Duration::from_millis(MINUTE) { STEP } else { MINUTE };
    let label = Duration::from_millis(grid - now.0 % grid);
    let drag = match &app.mode {
        Mode::Reading(reading) => reading.drag.map(|drag| drag.due),
        Mode::Overview { .. } | Mode::Typing => None,
    };
    let due = app.overlays.iter().filter_map(Overlay::due).chain(drag).min();
    Some(due.map_or(label, |due| label.min(due.since(now))))
}
