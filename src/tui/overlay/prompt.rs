//! The line in which a prompt is written, for one agent, for those it names, or for many.

use ratatui::layout::{Position, Rect};

use super::crew::Crew;
use super::dialog::Hit;
use super::list::item_at;
use super::stack::Fate;
use crate::model::{AgentName, Key, KeyCode};
use crate::tui::action::{Choice, Writing};
use crate::tui::app::{App, Mail, PromptKind, Wish};
use crate::tui::keymap::{is_text, off_the_pad};
use crate::tui::look::Tone;
use crate::tui::prompt::{Addressed, Editor, addressed, completion};

/// A prompt that is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(super) editor: Editor,
    pub(super) recipients: Recipients,
    /// How many steps back in the history, and what was written before that.
    recalled: Option<(usize, Editor)>,
    /// Why it was not sent.
    pub(super) fault: Option<String>,
}

/// Whom the prompt is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Recipients {
    /// This one, unless the text names others.
    Pane(AgentName),
    Chosen(Crew),
}

impl Prompt {
    /// Returns a line for an agent, with what was left in it the last time.
    pub(crate) fn for_pane(app: &App, agent: AgentName) -> Self {
        Self::new(app, Recipients::Pane(agent))
    }

    /// Returns a line for everyone who can take a prompt now.
    pub(crate) fn for_all(app: &App) -> Self {
        Self::new(app, Recipients::Chosen(Crew::new(app)))
    }

    fn new(app: &App, recipients: Recipients) -> Self {
        let kind = recipients.kind();
        let editor = app.drafts[kind as usize].clone();
        Self { editor, recipients, recalled: None, fault: None }
    }

    /// Says whether letters go into the text.
    pub(super) fn writes(&self) -> bool {
        !matches!(&self.recipients, Recipients::Chosen(crew) if crew.has_focus)
    }

    pub(super) fn press(&mut self, app: &mut App, key: Key) -> Fate {
        let key = off_the_pad(key);
        self.fault = None;
        if let Recipients::Chosen(crew) = &mut self.recipients
            && let Some(index) = toggled_by(crew, key)
        {
            crew.toggle(app, index);
            return Fate::Stay;
        }
        if !self.writes() {
            return self.press_in_list(app, key);
        }
        if is_text(key) {
            if let KeyCode::Char(c) = key.code {
                self.insert(c.encode_utf8(&mut [0; 4]));
            }
            return Fate::Stay;
        }
        if let Some(writing) = app.keymap.writing(key) {
            return self.write(app, writing);
        }
        self.editor.press(key);
        Fate::Stay
    }

    fn press_in_list(&mut self, app: &mut App, key: Key) -> Fate {
        if app.keymap.writing(key) == Some(Writing::Complete) {
            self.focus_list(false);
            return Fate::Stay;
        }
        app.keymap.choice(key).map_or(Fate::Stay, |choice| self.choose(app, choice))
    }

    fn focus_list(&mut self, has_focus: bool) {
        if let Recipients::Chosen(crew) = &mut self.recipients {
            crew.has_focus = has_focus;
        }
    }

    /// Does what a key of the keymap means.
    fn write(&mut self, app: &mut App, writing: Writing) -> Fate {
        match writing {
            Writing::Send => return self.send(app, false),
            Writing::SendAnyway => return self.send(app, true),
            Writing::Leave => return self.leave(app),
            Writing::OpenEditor => app.wishes.push(Wish::Edit(self.editor.text().to_owned())),
            Writing::Complete => self.complete(app),
            Writing::Older => self.recall(app, true),
            Writing::Newer => self.recall(app, false),
            Writing::NewLine
            | Writing::WordLeft
            | Writing::WordRight
            | Writing::LineStart
            | Writing::LineEnd
            | Writing::KillWord
            | Writing::KillStart
            | Writing::KillEnd => {
                self.editor.write(writing);
            }
        }
        Fate::Stay
    }

    /// Writes at the cursor.
    pub(super) fn insert(&mut self, text: &str) {
        self.focus_list(false);
        self.editor.insert(text);
    }

    fn complete(&mut self, app: &App) {
        match &mut self.recipients {
            Recipients::Chosen(crew) => crew.has_focus = true,
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
                self.editor = Editor::new(prompt);
                self.recalled = Some((steps, own));
            }
            None if steps == 0 => self.editor = own,
            None => self.recalled = (steps > 1).then_some((steps - 1, own)),
        }
    }

    /// Takes over what came back from the person's own editor.
    pub(crate) fn edited(&mut self, outcome: Result<String, String>) {
        match outcome {
            Ok(text) if !text.trim().is_empty() => self.editor = Editor::new(&text),
            Ok(_) => {}
            Err(fault) => self.fault = Some(fault),
        }
    }

    pub(super) fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        match (choice, &mut self.recipients) {
            (Choice::Accept, _) => return self.send(app, false),
            (Choice::Cancel, _) => return self.leave(app),
            (Choice::Up, Recipients::Chosen(crew)) => crew.step(app, false),
            (Choice::Down, Recipients::Chosen(crew)) => crew.step(app, true),
            (Choice::Toggle, Recipients::Chosen(crew)) => crew.toggle(app, crew.at),
            (Choice::Up | Choice::Down | Choice::Toggle, Recipients::Pane(_)) => {}
        }
        Fate::Stay
    }

    pub(super) fn turn(&mut self, app: &App, is_down: bool) {
        if let Recipients::Chosen(crew) = &mut self.recipients {
            crew.turn(app, is_down);
        }
    }

    /// Chooses an agent of the list, or no longer.
    pub(super) fn toggle(&mut self, app: &App, index: usize) {
        if let Recipients::Chosen(crew) = &mut self.recipients {
            crew.toggle(app, index);
        }
    }

    fn leave(&self, app: &mut App) -> Fate {
        app.drafts[self.kind() as usize] = self.editor.clone();
        Fate::Close
    }

    pub(super) fn kind(&self) -> PromptKind {
        self.recipients.kind()
    }

    fn send(&mut self, app: &mut App, anyway: bool) -> Fate {
        match self.addressed(app) {
            Ok((agents, text)) => {
                send(app, self.kind(), &agents, text, self.editor.text().to_owned(), anyway);
                Fate::Close
            }
            Err(fault) => {
                self.fault = Some(fault);
                Fate::Stay
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
                        "There is no agent `{name}`; the nearest is `{nearest}`. A blank before the @ sends it as it is"
                    ));
                }
                (if others.is_empty() { vec![agent.clone()] } else { others }, text)
            }
            Recipients::Chosen(crew) => (crew.names(app), whole),
        };
        let text = text.trim();
        if text.is_empty() {
            return Err("There is nothing to send yet".to_owned());
        }
        if agents.is_empty() {
            return Err("Nobody is chosen: tab goes to the list, space chooses".to_owned());
        }
        if !app.is_connected() {
            return Err("Not sent: the hub is away. What you wrote stays here".to_owned());
        }
        Ok((agents, text.to_owned()))
    }

    /// Returns what lies under the mouse.
    pub(super) fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let (dialog, strip) = self.dialog(app, area);
        let parts = self.parts(app, dialog.inner(strip));
        if let Recipients::Chosen(crew) = &self.recipients
            && let Some(index) = item_at(crew.at, app.agents.len(), parts.recipients, at)
        {
            return Hit::Item(index);
        }
        dialog.hit(strip, at)
    }
}

impl Recipients {
    fn kind(&self) -> PromptKind {
        match self {
            Self::Pane(_) => PromptKind::Dispatch,
            Self::Chosen(_) => PromptKind::Broadcast,
        }
    }
}

/// Returns whom a key chooses or no longer chooses: a digit in the list, with alt beside the text.
fn toggled_by(crew: &Crew, key: Key) -> Option<usize> {
    let KeyCode::Char(c) = key.code else { return None };
    let number = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok())?;
    let is_meant = key.modifiers.alt || (crew.has_focus && is_text(key));
    number.checked_sub(1).filter(|_| is_meant)
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
        app.wishes.push(Wish::Keep(prompt.clone()));
    }
    app.drafts[kind as usize] = Editor::default();
    for agent in agents {
        app.dismiss(agent);
    }
    let names: Vec<String> = agents.iter().map(ToString::to_string).collect();
    app.say(Tone::Dim, format!("Sending to {}…", names.join(", ")));
    let key = app.new_key();
    app.post(Mail { kind, draft, agents: names, prompt, key, anyway });
}
