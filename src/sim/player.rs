//! Plays a script: input and time in, a changed `Ui` and orders for the outside world out.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use crate::model::{Key, KeyCode, Moment};

use super::block::{Block, Outcome};
use super::dialog::{Dialog, DialogKind, Pressed};
use super::input::Typed;
use super::names::Names;
use super::order::{Facts, Order};
use super::random::Random;
use super::script::{Approval, Script, Steps};
use super::ui::{TurnState, Ui};

/// How long a first Ctrl-C is remembered.
const EXIT_WAIT: Duration = Duration::from_secs(2);
/// For so long after a paste, a shy prompt box takes Enter for a new line.
const PASTE_FEAR: Duration = Duration::from_millis(40);
/// The spinner moves ten times a second.
const BEAT: Duration = Duration::from_millis(100);
/// Prompts that wait for the turn to end; more are dropped.
const QUEUE_MAX: usize = 16;

/// A script at play.
#[derive(Debug)]
pub(super) struct Player {
    pub(super) script: Script,
    pub(super) ui: Ui,
    pub(super) frames: Vec<Frame>,
    pub(super) activity: Activity,
    pub(super) turn: Option<Turn>,
    pub(super) names: Names,
    pub(super) random: Random,
    pub(super) prompt: String,
    pub(super) answer: Option<(usize, String)>,
    pub(super) has_passed: bool,
    /// Commands that need no permission any more.
    pub(super) allowed: BTreeSet<String>,
    pub(super) orders: Vec<Order>,
    /// The number of the last act that was ordered; an outcome with another number is late.
    pub(super) act: u64,
    pasted_at: Option<Moment>,
    exit_until: Option<Moment>,
}

/// Steps that are being played.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) steps: Steps,
    pub(super) at: usize,
    pub(super) kind: FrameKind,
    pub(super) began: Moment,
}

/// What happens at the end of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The turn ends.
    Turn,
    /// The steps around go on.
    Branch,
    /// They begin again: so many times, or for ever.
    Repeat(Option<u32>),
}

/// What the agent is at.
#[derive(Debug)]
pub(super) enum Activity {
    /// Ready for the next step.
    Ready,
    Until(Moment),
    Tool {
        until: Moment,
        output: Vec<String>,
    },
    Stream {
        words: VecDeque<String>,
        next: Moment,
    },
    Approval(Approval),
    Question,
    /// The outside world is at it.
    Act,
    Repaint(Moment),
    /// Nothing moves; without a moment, for good.
    Hang(Option<Moment>),
    /// Nothing more will happen.
    Over,
}

/// The work between a prompt and its end.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) began: Moment,
    pub(super) verb: String,
    pub(super) past: &'static str,
    pub(super) words: u64,
    pub(super) has_failed: bool,
    /// The end of the open message is a report, so another report may follow directly.
    pub(super) ends_in_report: bool,
}

impl Player {
    pub(super) fn new(script: Script, facts: &Facts, now: Moment) -> Self {
        let title = script.settings.title.clone().unwrap_or_else(|| facts.name.clone());
        let mut names = Names::default();
        names.set("NAME", &facts.name);
        for (at, (path, lines)) in facts.files.iter().enumerate() {
            names.set(&format!("FILE{}", at + 1), path);
            names.set(&format!("LINES{}", at + 1), lines.to_string());
        }
        let mut ui = Ui { title: title.clone(), ..Ui::default() };
        ui.push(Block::Banner { title, directory: facts.directory.clone() });
        let start = Frame { steps: script.start.clone(), at: 0, kind: FrameKind::Turn, began: now };
        Self {
            random: Random::new(script.settings.seed),
            script,
            ui,
            frames: vec![start],
            activity: Activity::Ready,
            turn: None,
            names,
            prompt: String::new(),
            answer: None,
            has_passed: true,
            allowed: BTreeSet::new(),
            orders: Vec::new(),
            act: 0,
            pasted_at: None,
            exit_until: None,
        }
    }

    /// Takes what a person typed.
    pub(super) fn typed(&mut self, typed: Typed, now: Moment) {
        match typed {
            Typed::Paste(text) if self.ui.dialog.is_none() => {
                self.ui.editor.paste(text);
                self.pasted_at = Some(now);
            }
            Typed::Paste(_) => {}
            Typed::Key(key) if self.ui.dialog.is_some() => self.press_dialog(key, now),
            Typed::Key(key) => self.press(key, now),
        }
        self.advance(now);
    }

    /// Takes a whole line: an answer if a dialog is open, and a prompt otherwise.
    pub(super) fn line(&mut self, text: &str, now: Moment) {
        match self.ui.dialog.as_ref().map(|dialog| dialog.answer(text)) {
            Some(answer) => self.settle_dialog(answer, now),
            None => self.submit(text.to_owned(), now),
        }
        self.advance(now);
    }

    /// Takes the outcome of an act that was ordered.
    pub(super) fn acted(&mut self, act: u64, passed: bool, output: Vec<String>, now: Moment) {
        if act != self.act || !matches!(self.activity, Activity::Act) {
            return;
        }
        self.has_passed = passed;
        let outcome = if passed { Outcome::Passed(output) } else { Outcome::Failed(output) };
        self.ui.close_tool(outcome);
        self.activity = Activity::Ready;
        self.advance(now);
    }

    /// Returns when `advance` must be called, whatever else happens.
    pub(super) fn deadline(&self, now: Moment) -> Option<Moment> {
        let activity = match &self.activity {
            Activity::Ready => (!self.frames.is_empty()).then_some(now),
            Activity::Until(until) | Activity::Tool { until, .. } | Activity::Repaint(until) => {
                Some(*until)
            }
            Activity::Stream { next, .. } => Some(*next),
            Activity::Hang(until) => return *until,
            Activity::Over => return None,
            Activity::Approval(_) | Activity::Question | Activity::Act => None,
        };
        let beat = self.ui.spinner.is_some().then(|| now + BEAT);
        [activity, beat, self.exit_until].into_iter().flatten().min()
    }

    /// Returns what the outside world has to do, once.
    pub(super) fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Says that nothing happens until somebody types.
    pub(super) fn is_resting(&self) -> bool {
        self.frames.is_empty() && self.turn.is_none() && self.ui.queue.is_empty()
    }

    /// Says that the agent neither draws nor listens.
    pub(super) fn is_hanging(&self) -> bool {
        matches!(self.activity, Activity::Hang(_))
    }

    pub(super) fn is_repainting(&self) -> bool {
        matches!(self.activity, Activity::Repaint(_))
    }

    fn press(&mut self, key: Key, now: Moment) {
        let held = key.modifiers;
        match key.code {
            KeyCode::Char('c') if held.control => return self.cancel(now),
            KeyCode::Char('d') if held.control && self.ui.editor.is_empty() => {
                return self.cancel(now);
            }
            KeyCode::Escape if self.turn.is_some() => self.interrupt(now),
            KeyCode::Enter if !held.shift && !held.alt && !held.control => {
                let is_too_soon = self.script.settings.fears_pastes
                    && self.pasted_at.is_some_and(|at| now.since(at) < PASTE_FEAR);
                if is_too_soon {
                    self.ui.editor.press(key);
                } else {
                    let text = self.ui.editor.take();
                    self.submit(text, now);
                }
            }
            _ => {
                self.ui.editor.press(key);
            }
        }
        self.exit_until = None;
        self.ui.notice = None;
    }

    /// Stops what goes on at the first Ctrl-C, and the program at the second.
    fn cancel(&mut self, now: Moment) {
        if self.exit_until.is_some_and(|until| now < until) {
            self.exit(0);
            return;
        }
        if self.turn.is_some() {
            self.interrupt(now);
        }
        self.ui.editor.take();
        self.exit_until = Some(now + EXIT_WAIT);
        self.ui.notice = Some("Press Ctrl-C again to exit".into());
    }

    /// Forgets a Ctrl-C that was not repeated.
    pub(super) fn expire_notice(&mut self, now: Moment) {
        if self.exit_until.is_some_and(|until| now >= until) {
            self.exit_until = None;
            self.ui.notice = None;
        }
    }

    fn press_dialog(&mut self, key: Key, now: Moment) {
        let Some(dialog) = &mut self.ui.dialog else { return };
        let pressed = dialog.press(key);
        if pressed != Pressed::Open {
            self.settle_dialog(pressed, now);
        }
    }

    fn submit(&mut self, text: String, now: Moment) {
        if text.trim().is_empty() {
            return;
        }
        if self.turn.is_some() {
            if self.ui.queue.len() < QUEUE_MAX {
                self.ui.queue.push_back(text);
            }
            return;
        }
        self.begin_prompt(text, now);
    }

    pub(super) fn exit(&mut self, code: u8) {
        self.activity = Activity::Over;
        self.orders.push(Order::Exit(code));
    }

    /// Opens a dialog; the turn waits for its answer.
    pub(super) fn open_dialog(&mut self, dialog: Dialog, activity: Activity) {
        self.ui.turn = match dialog.kind {
            DialogKind::Permission => TurnState::Permission,
            DialogKind::Question => TurnState::Question,
        };
        self.ui.is_last_open = false;
        self.ui.dialog = Some(dialog);
        self.activity = activity;
    }
}
