//! Who gets a prompt: one agent unless the text names others; or everyone who can take it, unless the
//! person says otherwise.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::list::{List, entry};
use crate::model::{AgentName, AgentState, Key, KeyCode};
use crate::tui::app::{AgentView, App, PromptKind, state_word};
use crate::tui::keys::{Action, EditAction, is_text};
use crate::tui::prompt::{TextEditor, addressed, candidates};
use crate::tui::style::{Tone, sign};
use crate::tui::text::{clip, padded};

/// Whom the prompt is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Recipients {
    /// This one, unless the text names others.
    Pane(AgentName),
    Chosen(RecipientList),
}

/// The list of agents, with those who were chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecipientList {
    chosen: BTreeSet<AgentName>,
    pub at: usize,
    /// Keys go to the list, not to the text.
    pub has_focus: bool,
}

const NAME_COLS: usize = 16;
/// What becomes of a prompt for an agent that asks something.
const AT_DIALOG: &str = "is sent when its dialog is closed";

impl RecipientList {
    /// Returns everyone who would take a prompt now.
    pub(super) fn new(app: &App) -> Self {
        let is_free =
            |agent: &&AgentView| agent.objection().is_none() && agent.state != AgentState::Waiting;
        let takes = app.agents.iter().filter(is_free);
        let chosen = takes.map(|agent| agent.name.clone()).collect();
        Self { chosen, ..Self::default() }
    }

    /// Returns who was chosen and is there, in the order of the panes.
    pub(super) fn names(&self, app: &App) -> Vec<AgentName> {
        app.names().into_iter().filter(|name| self.chosen.contains(name)).collect()
    }

    pub(super) fn list(&self, app: &App) -> List {
        List { chosen: self.at, count: app.agents.len() }
    }

    /// Chooses an agent, or no longer.
    pub(super) fn toggle(&mut self, app: &App, index: usize) {
        let Some(agent) = app.agents.get(index) else { return };
        self.at = index;
        if !self.chosen.remove(&agent.name) {
            self.chosen.insert(agent.name.clone());
        }
    }

    pub(super) fn draw(&self, app: &App, room: Rect, buffer: &mut Buffer) {
        self.list(app)
            .draw(room, buffer, |index, _, room| self.line(app, index, &app.agents[index], room));
    }

    fn line(&self, app: &App, index: usize, agent: &AgentView, room: usize) -> Line<'static> {
        let is_chosen = self.chosen.contains(&agent.name);
        let arrow = if self.has_focus && index == self.at { "▸" } else { " " };
        let mark = if is_chosen { "[x]" } else { "[ ]" };
        let name = padded(&clip(agent.name.as_str(), NAME_COLS), NAME_COLS);
        let is_asking = agent.state == AgentState::Waiting && agent.objection().is_none();
        let waits = is_asking.then(|| format!(" · {AT_DIALOG}"));
        let objection = agent.objection().map(|why| format!(" · would refuse: {why}")).or(waits);
        let is_doubtful = objection.is_some();
        let (number, sign, state) = (index + 1, sign(agent.state), state_word(agent));
        let objection = objection.unwrap_or_default();
        let text = format!("{arrow}{mark} {number:>2} {sign} {name} {state}{objection}");
        let tone = match (is_chosen, is_doubtful) {
            (true, false) => Tone::Text,
            (true, true) => Tone::Warning,
            (false, _) => Tone::Dim,
        };
        entry(app, &text, self.has_focus && index == self.at, app.theme.tone(tone), room)
    }
}

impl Recipients {
    pub(super) fn kind(&self) -> PromptKind {
        match self {
            Self::Pane(_) => PromptKind::Dispatch,
            Self::Chosen(_) => PromptKind::Broadcast,
        }
    }
}

/// Returns whom a key chooses or no longer chooses: a digit in the list, with alt beside the text.
pub(super) fn toggled_by(list: &RecipientList, key: Key) -> Option<usize> {
    let KeyCode::Char(c) = key.code else { return None };
    let number = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok())?;
    let is_meant = key.modifiers.alt || (list.has_focus && is_text(key));
    number.checked_sub(1).filter(|_| is_meant)
}

/// Returns who gets the prompt as it is, and who could be meant by a name that is not finished.
pub(super) fn recipients_line(app: &App, pane: &AgentName, editor: &TextEditor) -> Line<'static> {
    let names = app.names();
    let others = addressed(editor.text(), &names).names;
    let all = if others.is_empty() { vec![pane.clone()] } else { others };
    let mut spans = vec![Span::styled("→ ", app.theme.tone(Tone::Dim))];
    for agent in all.iter().filter_map(|name| app.agent(name)) {
        let state = app.theme.state(agent.state);
        let chip = format!(" {} {} ", sign(agent.state), agent.name);
        spans.push(Span::styled(chip, app.theme.block(Tone::Accent)));
        spans.push(Span::styled(format!(" {} ", state_word(agent)), state));
        if let Some(doubt) = doubt(app, agent) {
            let style = app.theme.tone(Tone::Warning).add_modifier(Modifier::BOLD);
            spans.push(Span::styled(format!("! {doubt} "), style));
        }
    }
    if let Some((_, fitting)) = candidates(editor.before_cursor(), &names) {
        let fitting: Vec<&str> = fitting.into_iter().map(AgentName::as_str).collect();
        let text = format!("  @ {}", fitting.join(" "));
        spans.push(Span::styled(text, app.theme.tone(Tone::Dim)));
    }
    Line::from(spans)
}

/// Returns what stands between an agent and a prompt that is sent to it now, and the key that helps.
fn doubt(app: &App, agent: &AgentView) -> Option<String> {
    let key = app.keymap.hint(Action::Write(EditAction::SendAnyway));
    let anyway = key.map(|key| format!(" · {key} sends it anyway")).unwrap_or_default();
    match (agent.objection(), agent.state) {
        (Some(why), AgentState::Unknown) if !agent.is_unreachable => {
            Some(format!("would refuse: {why}{anyway}"))
        }
        (Some(why), _) => Some(format!("would refuse: {why}")),
        (None, AgentState::Waiting) => Some(AT_DIALOG.to_owned()),
        (None, AgentState::Limited) => Some(format!("is sent when its limit ends{anyway}")),
        (None, _) => None,
    }
}
