//! What the line in which a prompt is written looks like.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::dialog::{AROUND_COLS, AROUND_ROWS, Button, Dialog};
use super::prompt::{Prompt, Recipients};
use crate::model::{AgentName, AgentState};
use crate::tui::action::{Action, Choice, Writing};
use crate::tui::app::{Agent, App, PromptKind, state_word};
use crate::tui::look::{Tone, sign};
use crate::tui::prompt::{addressed, candidates};
use crate::tui::text::clip;

/// Rows that the text may take before it scrolls.
const TEXT_ROWS_MAX: u16 = 6;

/// Rows that the list of agents may take before it scrolls.
const LIST_ROWS_MAX: u16 = 10;

/// The parts of the box.
pub(super) struct Parts {
    pub recipients: Rect,
    pub text: Rect,
    pub fault: Rect,
}

impl Prompt {
    /// Returns the box, and the strip of the window that it fills: away from the pane that it is for,
    /// where that is possible.
    pub(super) fn dialog(&self, app: &App, area: Rect) -> (Dialog, Rect) {
        let text_rows =
            self.editor.rows(usize::from(area.width.saturating_sub(AROUND_COLS))).rows.len();
        let text_rows = u16::try_from(text_rows).unwrap_or(u16::MAX).clamp(1, TEXT_ROWS_MAX);
        let above = self.list_rows(app) + self.gap_rows();
        let height = above + text_rows + u16::from(self.fault.is_some());
        let title = match self.kind() {
            PromptKind::Dispatch => "Dispatch",
            PromptKind::Broadcast => "Broadcast",
        };
        let buttons = self.buttons(app);
        let dialog = Dialog {
            title: title.to_owned(),
            tone: Tone::Typing,
            width: area.width.saturating_sub(AROUND_COLS),
            height,
            buttons,
        };
        let rows = (height + AROUND_ROWS).min(area.height);
        let y = if self.is_below(app, area) { area.y } else { area.bottom() - rows };
        (dialog, Rect { y, height: rows, ..area })
    }

    /// Says whether the pane that the prompt is for is in the lower half of the window.
    fn is_below(&self, app: &App, area: Rect) -> bool {
        let Recipients::Pane(agent) = &self.recipients else { return false };
        app.slot_of(agent).is_some_and(|slot| slot.area.y >= area.y + area.height / 2)
    }

    fn list_rows(&self, app: &App) -> u16 {
        let agents = u16::try_from(app.agents.len()).unwrap_or(u16::MAX);
        match &self.recipients {
            Recipients::Pane(_) => 1,
            Recipients::Chosen(_) => agents.clamp(1, LIST_ROWS_MAX),
        }
    }

    /// Returns the rows between a list and the text below it.
    fn gap_rows(&self) -> u16 {
        match &self.recipients {
            Recipients::Pane(_) => 0,
            Recipients::Chosen(_) => 1,
        }
    }

    fn buttons(&self, app: &App) -> Vec<Button> {
        let complete = match self.kind() {
            PromptKind::Dispatch => "complete @name",
            PromptKind::Broadcast if self.writes() => "who gets it",
            PromptKind::Broadcast => "back to the text",
        };
        let hint = |writing, choice: Option<Choice>, what| {
            let key = app.keymap.hint(Action::Write(writing))?;
            Some(Button { key, action: choice.map(Action::Choose), what })
        };
        [
            hint(Writing::Send, Some(Choice::Accept), "send"),
            hint(Writing::Leave, Some(Choice::Cancel), "leave"),
            hint(Writing::NewLine, None, "new line"),
            hint(Writing::Complete, None, complete),
            hint(Writing::OpenEditor, None, "editor"),
            hint(Writing::Older, None, "history"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    pub(super) fn parts(&self, app: &App, inner: Rect) -> Parts {
        let fault_rows = u16::from(self.fault.is_some()).min(inner.height);
        let fault = Rect { y: inner.bottom() - fault_rows, height: fault_rows, ..inner };
        let above = inner.height - fault_rows;
        // A window may be too low for all of it; then the text matters most.
        let list_rows = self.list_rows(app).min(above.saturating_sub(1));
        let recipients = Rect { height: list_rows, ..inner };
        let gap = self.gap_rows().min((above - list_rows).saturating_sub(1));
        let y = recipients.bottom() + gap;
        let text = Rect { y, height: above - list_rows - gap, ..inner };
        Parts { recipients, text, fault }
    }

    /// Draws the box.
    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let (dialog, strip) = self.dialog(app, area);
        let inner = dialog.draw(app, strip, buffer);
        let parts = self.parts(app, inner);
        match &self.recipients {
            Recipients::Pane(agent) => {
                let line = self.recipients_line(app, agent);
                for row in parts.recipients.rows() {
                    buffer.set_line(row.x, row.y, &line, row.width);
                }
            }
            Recipients::Chosen(crew) => crew.draw(app, parts.recipients, buffer),
        }
        self.editor.draw(parts.text, self.writes(), app.theme.tone(Tone::Text), buffer);
        if let Some(fault) = &self.fault {
            let style = app.theme.tone(Tone::Danger).add_modifier(Modifier::BOLD);
            let text = clip(fault, usize::from(parts.fault.width).saturating_sub(2));
            for row in parts.fault.rows() {
                buffer.set_stringn(
                    row.x,
                    row.y,
                    format!("✗ {text}"),
                    usize::from(row.width),
                    style,
                );
            }
        }
    }

    /// Returns who gets the prompt as it is, and who could be meant by a name that is not finished.
    fn recipients_line(&self, app: &App, pane: &AgentName) -> Line<'static> {
        let names = app.names();
        let others = addressed(self.editor.text(), &names).names;
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
        if let Some((_, fitting)) = candidates(self.editor.before_cursor(), &names) {
            let fitting: Vec<&str> = fitting.into_iter().map(AgentName::as_str).collect();
            let text = format!("  @ {}", fitting.join(" "));
            spans.push(Span::styled(text, app.theme.tone(Tone::Dim)));
        }
        Line::from(spans)
    }
}

/// Returns what stands between an agent and a prompt that is sent to it now, and the key that helps.
fn doubt(app: &App, agent: &Agent) -> Option<String> {
    let key = app.keymap.hint(Action::Write(Writing::SendAnyway));
    let anyway = key.map(|key| format!(" · {key} sends it anyway")).unwrap_or_default();
    match (agent.objection(), agent.state) {
        (Some(why), AgentState::Unknown) if !agent.is_unreachable => {
            Some(format!("would refuse: {why}{anyway}"))
        }
        (Some(why), _) => Some(format!("would refuse: {why}")),
        (None, AgentState::Limited) => Some(format!("waits for the end of its limit{anyway}")),
        (None, _) => None,
    }
}
