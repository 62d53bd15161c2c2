//! The line in which a prompt is written, for one agent, for those it names, or for many.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use super::dialog_box::{AROUND_COLS, AROUND_ROWS, Button, DialogBox, Hit};
use super::list::List;
use super::recipients::{RecipientList, Recipients, recipients_line, toggled_by};
use super::stack::{Handled, Next, Overlay};
use crate::model::{AgentName, Key, KeyCode};
use crate::tui::app::{App, LocalEffect, PromptKind, SentPrompt};
use crate::tui::keys::{Action, EditAction, ListAction};
use crate::tui::keys::{is_text, off_the_pad};
use crate::tui::prompt::{Addressed, TextEditor, addressed, completion};
use crate::tui::style::Tone;
use crate::tui::text::clip;

/// A prompt that is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PromptBox {
    editor: TextEditor,
    recipients: Recipients,
    /// How many steps back in the history, and what was written before that.
    recalled: Option<(usize, TextEditor)>,
    /// Why it was not sent.
    fault: Option<String>,
}

/// Rows that the text may take before it scrolls.
const TEXT_ROWS_MAX: u16 = 6;

/// Rows that the list of agents may take before it scrolls.
const LIST_ROWS_MAX: u16 = 10;

/// The parts of the box.
struct Parts {
    recipients: Rect,
    text: Rect,
    fault: Rect,
}

impl PromptBox {
    /// Returns a line for an agent, with what was left in it the last time.
    pub(crate) fn for_pane(app: &App, agent: AgentName) -> Self {
        Self::new(app, Recipients::Pane(agent))
    }

    /// Returns a line for everyone who can take a prompt now.
    pub(crate) fn for_all(app: &App) -> Self {
        Self::new(app, Recipients::Chosen(RecipientList::new(app)))
    }

    fn new(app: &App, recipients: Recipients) -> Self {
        let kind = recipients.kind();
        let editor = app.drafts[kind as usize].clone();
        Self { editor, recipients, recalled: None, fault: None }
    }

    fn press_in_list(&mut self, app: &mut App, key: Key) -> Next {
        if app.keymap.edit_action(key) == Some(EditAction::Complete) {
            self.focus_list(false);
            return Next::Stay;
        }
        app.keymap.list_action(key).map_or(Next::Stay, |choice| self.choose(app, choice))
    }

    fn focus_list(&mut self, has_focus: bool) {
        if let Recipients::Chosen(list) = &mut self.recipients {
            list.has_focus = has_focus;
        }
    }

    /// Does what a key of the keymap means.
    fn write(&mut self, app: &mut App, writing: EditAction) -> Next {
        match writing {
            EditAction::Send => return self.send(app, false),
            EditAction::SendAnyway => return self.send(app, true),
            EditAction::Leave => return self.leave(app),
            EditAction::OpenEditor => {
                app.wishes.push(LocalEffect::Edit(self.editor.text().to_owned()));
            }
            EditAction::Complete => self.complete(app),
            EditAction::Older => self.recall(app, true),
            EditAction::Newer => self.recall(app, false),
            EditAction::NewLine
            | EditAction::WordLeft
            | EditAction::WordRight
            | EditAction::LineStart
            | EditAction::LineEnd
            | EditAction::KillWord
            | EditAction::KillStart
            | EditAction::KillEnd => {
                self.editor.write(writing);
            }
        }
        Next::Stay
    }

    /// Writes at the cursor.
    fn insert(&mut self, text: &str) {
        self.focus_list(false);
        self.editor.insert(text);
    }

    fn complete(&mut self, app: &App) {
        match &mut self.recipients {
            Recipients::Chosen(list) => list.has_focus = true,
            Recipients::Pane(_) => {
                if let Some(rest) = completion(self.editor.before_cursor(), &app.names()) {
                    self.editor.insert(&rest);
                }
            }
        }
    }

    /// Goes a line up or down; beyond the first and the last line lies the past.
    fn recall(&mut self, app: &App, is_older: bool) {
        let has_moved = if is_older { self.editor.go_up() } else { self.editor.go_down() };
        let steps = self.recalled.as_ref().map_or(0, |(steps, _)| *steps);
        if has_moved || (!is_older && steps == 0) {
            return;
        }
        let steps = if is_older { steps + 1 } else { steps - 1 };
        let own = self.recalled.take().map_or_else(|| self.editor.clone(), |(_, own)| own);
        match app.history.back(steps) {
            Some(prompt) => {
                self.editor = TextEditor::new(prompt);
                self.recalled = Some((steps, own));
            }
            None if steps == 0 => self.editor = own,
            None => self.recalled = (steps > 1).then_some((steps - 1, own)),
        }
    }

    fn leave(&self, app: &mut App) -> Next {
        app.drafts[self.kind() as usize] = self.editor.clone();
        Next::Close
    }

    fn kind(&self) -> PromptKind {
        self.recipients.kind()
    }

    fn send(&mut self, app: &mut App, anyway: bool) -> Next {
        match self.addressed(app) {
            Ok((agents, text)) => {
                send(app, self.kind(), &agents, text, self.editor.text().to_owned(), anyway);
                Next::Close
            }
            Err(fault) => {
                self.fault = Some(fault);
                Next::Stay
            }
        }
    }

    /// Returns who gets what, or why nobody does.
    fn addressed(&self, app: &App) -> Result<(Vec<AgentName>, String), String> {
        let names = app.names();
        let whole = self.editor.text();
        let (agents, text) = match &self.recipients {
            Recipients::Pane(agent) => {
                let Addressed { names: others, text, unknown } = addressed(whole, &names);
                if let Some(name) = unknown {
                    let nearest =
                        names.iter().min_by_key(|known| strsim::levenshtein(known.as_str(), name));
                    let nearest = nearest.map_or("", AgentName::as_str);
                    return Err(format!(
                        "There is no agent `{name}`; the nearest is `{nearest}`. Type a space before the @ to send it as text"
                    ));
                }
                (if others.is_empty() { vec![agent.clone()] } else { others }, text)
            }
            Recipients::Chosen(list) => (list.names(app), whole),
        };
        let text = text.trim();
        if text.is_empty() {
            return Err("The prompt is empty".to_owned());
        }
        if agents.is_empty() {
            return Err("No agent is selected: tab goes to the list, space selects".to_owned());
        }
        if !app.is_connected() {
            return Err("Not sent: no connection to the hub. Your text is kept here".to_owned());
        }
        Ok((agents, text.to_owned()))
    }

    /// Returns the box, and the strip of the window that it fills: away from the pane that it is for,
    /// where that is possible.
    fn dialog(&self, app: &App, area: Rect) -> (DialogBox, Rect) {
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
        let dialog = DialogBox {
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
            PromptKind::Broadcast if self.writes() => "choose agents",
            PromptKind::Broadcast => "back to the text",
        };
        let hint = |writing, choice: Option<ListAction>, what| {
            let key = app.keymap.hint(Action::Write(writing))?;
            Some(Button { key, action: choice.map(Action::Choose), what })
        };
        [
            hint(EditAction::Send, Some(ListAction::Accept), "send"),
            hint(EditAction::Leave, Some(ListAction::Cancel), "leave"),
            hint(EditAction::NewLine, None, "new line"),
            hint(EditAction::Complete, None, complete),
            hint(EditAction::OpenEditor, None, "editor"),
            hint(EditAction::Older, None, "history"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn parts(&self, app: &App, inner: Rect) -> Parts {
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
}

impl Overlay for PromptBox {
    /// Says whether letters go into the text.
    fn writes(&self) -> bool {
        !matches!(&self.recipients, Recipients::Chosen(list) if list.has_focus)
    }

    fn press(&mut self, app: &mut App, key: Key) -> Next {
        let key = off_the_pad(key);
        self.fault = None;
        if let Recipients::Chosen(list) = &mut self.recipients
            && let Some(index) = toggled_by(list, key)
        {
            list.toggle(app, index);
            return Next::Stay;
        }
        if !self.writes() {
            return self.press_in_list(app, key);
        }
        if is_text(key) {
            if let KeyCode::Char(c) = key.code {
                self.insert(c.encode_utf8(&mut [0; 4]));
            }
            return Next::Stay;
        }
        if let Some(writing) = app.keymap.edit_action(key) {
            return self.write(app, writing);
        }
        self.editor.press(key);
        Next::Stay
    }

    fn paste(&mut self, _app: &App, text: &str) -> Handled {
        self.insert(text);
        Handled::Consumed
    }

    fn edited(&mut self, _app: &mut App, outcome: Result<String, String>) {
        match outcome {
            Ok(text) if !text.trim().is_empty() => self.editor = TextEditor::new(&text),
            Ok(_) => {}
            Err(fault) => self.fault = Some(fault),
        }
    }

    /// Whoever writes to an agent looks at it.
    fn dims(&self) -> bool {
        false
    }

    fn list(&self, app: &App) -> List {
        match &self.recipients {
            Recipients::Pane(_) => List::default(),
            Recipients::Chosen(list) => list.list(app),
        }
    }

    fn pick(&mut self, _app: &App, index: usize) {
        if let Recipients::Chosen(list) = &mut self.recipients {
            list.at = index;
        }
    }

    fn click(&mut self, app: &mut App, index: usize) -> Next {
        self.pick(app, index);
        self.toggle(app)
    }

    /// Chooses an agent of the list, or no longer.
    fn toggle(&mut self, app: &mut App) -> Next {
        if let Recipients::Chosen(list) = &mut self.recipients {
            list.toggle(app, list.at);
        }
        Next::Stay
    }

    fn accept(&mut self, app: &mut App) -> Next {
        self.send(app, false)
    }

    fn cancel(&mut self, app: &mut App) -> Next {
        self.leave(app)
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let (dialog, strip) = self.dialog(app, area);
        let parts = self.parts(app, dialog.inner(strip));
        let agent = self.list(app).entry_at(parts.recipients, at);
        agent.map_or_else(|| dialog.hit(strip, at), Hit::Item)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let (dialog, strip) = self.dialog(app, area);
        let inner = dialog.draw(app, strip, buffer);
        let parts = self.parts(app, inner);
        match &self.recipients {
            Recipients::Pane(agent) => {
                let line = recipients_line(app, agent, &self.editor);
                for row in parts.recipients.rows() {
                    buffer.set_line(row.x, row.y, &line, row.width);
                }
            }
            Recipients::Chosen(list) => list.draw(app, parts.recipients, buffer),
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
}

fn send(
    app: &mut App,
    kind: PromptKind,
    agents: &[AgentName],
    prompt: String,
    draft: String,
    anyway: bool,
) {
    if app.history.add(&prompt) {
        app.wishes.push(LocalEffect::Keep(prompt.clone()));
    }
    app.drafts[kind as usize] = TextEditor::default();
    for agent in agents {
        app.dismiss(agent);
    }
    let names: Vec<String> = agents.iter().map(ToString::to_string).collect();
    app.say(Tone::Dim, format!("Sending to {}…", names.join(", ")));
    let key = app.new_key();
    app.post(SentPrompt { kind, draft, agents: names, prompt, key, anyway });
}
