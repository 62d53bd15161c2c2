//! Turns: from a prompt to the line that says how long it took.

use crate::model::Moment;

use super::block::{Block, Outcome};
use super::order::Order;
use super::player::{Activity, Frame, FrameKind, Player, Turn};
use super::script::Steps;
use super::ui::{Spinner, TurnState};

/// Tokens that a thinking model makes up in a second.
const TOKENS_PER_SECOND: u64 = 37;
/// What an agent says that it does while it thinks, and did when it is done.
const VERBS: &[(&str, &str)] = &[
    ("Steering", "Steered"),
    ("Charting", "Charted"),
    ("Rigging", "Rigged"),
    ("Sounding", "Sounded"),
    ("Trimming", "Trimmed"),
    ("Splicing", "Spliced"),
];

impl Player {
    /// Starts the reaction to a prompt, on top of whatever rests now.
    pub(super) fn begin_prompt(&mut self, text: String, now: Moment) {
        let lower = text.to_lowercase();
        let fits = |containing: &Option<String>| match containing {
            Some(part) => lower.contains(&part.to_lowercase()),
            None => true,
        };
        let reactions = &mut self.script.reactions;
        let found = reactions.iter().position(|reaction| fits(&reaction.containing));
        let steps = match found {
            Some(at) if reactions[at].is_once => reactions.remove(at).steps,
            Some(at) => reactions[at].steps.clone(),
            None => Steps::from([]),
        };
        self.names.read_prompt(&text);
        self.ui.push(Block::Prompt(text.trim_end().to_owned()));
        self.prompt = text;
        self.frames.push(Frame { steps, at: 0, kind: FrameKind::Turn, began: now });
        self.activity = Activity::Ready;
        self.begin_turn(now);
    }

    /// Opens a turn if none is open.
    pub(super) fn begin_turn(&mut self, now: Moment) {
        if self.turn.is_some() {
            return;
        }
        let (verb, past) = VERBS[self.random.below(VERBS.len())];
        let (words, has_failed, ends_in_report) = (0, false, false);
        let verb = verb.to_owned();
        self.turn = Some(Turn { began: now, verb, past, words, has_failed, ends_in_report });
        self.ui.turn = TurnState::Working;
    }

    /// Closes the turn and says how long it took.
    pub(super) fn end_turn(&mut self, now: Moment) {
        let Some(turn) = self.close_turn() else { return };
        let seconds = now.since(turn.began).as_secs();
        self.ui.push(Block::Summary(format!("{} for {seconds}s", turn.past)));
        self.ui.turn = if turn.has_failed { TurnState::Failed } else { TurnState::Done };
    }

    fn close_turn(&mut self) -> Option<Turn> {
        let turn = self.turn.take()?;
        let todos = std::mem::take(&mut self.ui.todos);
        if todos.iter().any(|todo| !todo.is_done) {
            self.ui.push(Block::Todos(todos));
        }
        self.ui.is_last_open = false;
        self.ui.spinner = None;
        self.ui.dialog = None;
        Some(turn)
    }

    /// Ends the turn because a person said so.
    pub(super) fn interrupt(&mut self, now: Moment) {
        if matches!(self.activity, Activity::Act) {
            self.orders.push(Order::Abandon);
            self.act += 1;
        }
        self.ui.close_tool(Outcome::Failed(Vec::new()));
        self.leave_frames();
        if self.close_turn().is_some() {
            let text = "Interrupted · What should I do instead?";
            self.ui.push(Block::Remark(text.into()));
        }
        self.ui.turn = TurnState::Idle;
        self.next_prompt(now);
    }

    /// Leaves the steps of this turn, but not those that it came on top of.
    pub(super) fn leave_frames(&mut self) {
        while self.frames.pop().is_some_and(|frame| frame.kind != FrameKind::Turn) {}
        self.activity = Activity::Ready;
    }

    /// Starts the prompt that has waited longest, if one has.
    pub(super) fn next_prompt(&mut self, now: Moment) {
        if let Some(text) = self.ui.queue.pop_front() {
            self.begin_prompt(text, now);
        }
    }

    /// Brings the spinner up to date; it hides while text streams and while a dialog is open.
    pub(super) fn spin(&mut self, now: Moment) {
        let Some(turn) = &self.turn else {
            self.ui.spinner = None;
            return;
        };
        let is_shown = match &self.activity {
            Activity::Ready
            | Activity::Until(_)
            | Activity::Tool { .. }
            | Activity::Act
            | Activity::Repaint(_)
            | Activity::Hang(_) => true,
            Activity::Stream { .. }
            | Activity::Approval(_)
            | Activity::Question
            | Activity::Over => false,
        };
        let elapsed = now.since(turn.began);
        let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.ui.spinner = is_shown.then(|| Spinner {
            verb: turn.verb.clone(),
            beat: usize::try_from(milliseconds / 100).unwrap_or_default(),
            seconds: elapsed.as_secs(),
            tokens: milliseconds.saturating_mul(TOKENS_PER_SECOND) / 1000 + turn.words * 4 / 3,
        });
    }
}
