//! The form for one more agent: its name, what it runs, and why it did not start.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::dialog::{Button, Dialog, Hit};
use super::list::{first_shown, item_at, stepped, turned};
use super::stack::Fate;
use super::wrapped::wrapped;
use crate::model::{AgentName, Environment, Key, KeyCode, Role};
use crate::tui::action::{Action, Choice};
use crate::tui::app::{App, Purpose};
use crate::tui::look::Tone;
use crate::tui::text::{clean, clip, width};
use crate::wire::{CliOffer, NewAgent, Request, WantedPosting};

/// An agent that is being described.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Newcomer {
    /// What the person typed; without it the name follows the cli.
    name: Option<String>,
    chosen: usize,
    /// The agent that is being started.
    pub starting: Option<AgentName>,
    /// Why the last start failed.
    fault: Option<String>,
}

const WIDTH: u16 = 64;
const NAME_CHARS_MAX: usize = 32;
/// The name and the blank under it.
const ABOVE_ROWS: u16 = 2;
/// The blank above the last lines, and those.
const BELOW_ROWS: u16 = 4;

impl Newcomer {
    /// Takes a key: letters are part of the name.
    pub(super) fn press(&mut self, app: &mut App, key: Key) -> Fate {
        if let Some(choice) = app.keymap.choice_beside_text(key) {
            return self.choose(app, choice);
        }
        match key.code {
            KeyCode::Char('u') if key.modifiers.control => self.name = Some(String::new()),
            KeyCode::Char(c) if !key.modifiers.control && !key.modifiers.alt => {
                self.write(app, c.encode_utf8(&mut [0; 4]));
            }
            KeyCode::Backspace => {
                let mut name = self.shown_name(app);
                name.pop();
                self.name = Some(name);
            }
            KeyCode::Char(_)
            | KeyCode::Enter
            | KeyCode::Escape
            | KeyCode::Tab
            | KeyCode::Delete
            | KeyCode::Insert
            | KeyCode::Home
            | KeyCode::End
            | KeyCode::PageUp
            | KeyCode::PageDown
            | KeyCode::Up
            | KeyCode::Down
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Function(_)
            | KeyCode::Keypad(_) => return Fate::Stay,
        }
        self.fault = None;
        Fate::Stay
    }

    /// Adds to the name what can be part of a line.
    pub(super) fn write(&mut self, app: &App, text: &str) {
        let mut name = self.shown_name(app);
        let room = NAME_CHARS_MAX.saturating_sub(name.chars().count());
        name.extend(text.chars().filter(char::is_ascii_graphic).take(room));
        self.name = Some(name);
    }

    pub(super) fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        match choice {
            Choice::Up => self.pick(stepped(self.chosen, clis(app).len(), false)),
            Choice::Down => self.pick(stepped(self.chosen, clis(app).len(), true)),
            Choice::Accept => self.start(app),
            Choice::Toggle => {}
            Choice::Cancel => return Fate::Close,
        }
        Fate::Stay
    }

    pub(super) fn turn(&mut self, app: &App, is_down: bool) {
        self.pick(turned(self.chosen, clis(app).len(), is_down));
    }

    pub(super) fn pick(&mut self, index: usize) {
        self.chosen = index;
        self.fault = None;
    }

    /// Takes note of why the agent did not start; what was typed stays.
    pub(crate) fn fail(&mut self, fault: String) {
        self.starting = None;
        self.fault = Some(fault);
    }

    fn start(&mut self, app: &mut App) {
        if self.starting.is_some() {
            return;
        }
        match self.described(app) {
            Ok((name, agent)) => {
                self.fault = None;
                self.starting = Some(name.clone());
                let environment = app.settings.environment.clone();
                app.ask(Purpose::Add { agent: name }, Request::Add { agent, environment });
            }
            Err(fault) => self.fault = Some(fault),
        }
    }

    /// Returns the agent as it is described, or what is wrong with that.
    fn described(&self, app: &App) -> Result<(AgentName, NewAgent), String> {
        if !app.is_connected() {
            return Err("The hub is away".to_owned());
        }
        let name = self.shown_name(app);
        let parsed: AgentName = name.parse().map_err(|error| clean(&format!("{error}")))?;
        let cli = clis(app).get(self.chosen).ok_or("The hub has not said yet what could run")?;
        if let Some(obstacle) = &cli.obstacle {
            return Err(clean(obstacle));
        }
        let new = NewAgent {
            name,
            cli: cli.name.clone(),
            role: Role::default(),
            team: team(app),
            cwd: None,
            env: Environment::default(),
            command: Vec::new(),
            posting: WantedPosting::default(),
        };
        Ok((parsed, new))
    }

    fn shown_name(&self, app: &App) -> String {
        let cli = clis(app).get(self.chosen).map_or("agent", |cli| cli.name.as_str());
        self.name.clone().unwrap_or_else(|| free_name(app, cli))
    }

    fn dialog(app: &App) -> Dialog {
        let button = |choice, what| {
            let key = app.keymap.hint_beside_text(choice);
            Button { key, action: Some(Action::Choose(choice)), what }
        };
        let rows = u16::try_from(clis(app).len().max(1)).unwrap_or(u16::MAX);
        Dialog {
            title: "Add an agent".to_owned(),
            tone: Tone::Accent,
            width: WIDTH,
            height: rows.saturating_add(ABOVE_ROWS + BELOW_ROWS),
            buttons: vec![
                button(Choice::Accept, "start"),
                button(Choice::Up, "up"),
                button(Choice::Down, "down"),
                button(Choice::Cancel, "close"),
            ],
        }
    }

    /// Returns the room of the list within that of the form.
    fn list(inner: Rect) -> Rect {
        let height = inner.height.saturating_sub(ABOVE_ROWS + BELOW_ROWS).max(1);
        let room = Rect { y: inner.y + ABOVE_ROWS, height, ..inner };
        room.intersection(inner)
    }

    /// Returns what lies under the mouse.
    pub(super) fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = Self::dialog(app);
        let list = Self::list(dialog.inner(area));
        let item = item_at(self.chosen, clis(app).len(), list, at);
        item.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    /// Draws the form.
    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = Self::dialog(app).draw(app, area, buffer);
        let bold = app.theme.tone(Tone::Text).add_modifier(Modifier::BOLD);
        let name = Line::from(vec![
            Span::styled("Name  ", app.theme.tone(Tone::Dim)),
            Span::styled(self.shown_name(app), bold),
            Span::styled(" ", bold.add_modifier(Modifier::REVERSED)),
        ]);
        if inner.height > 0 {
            buffer.set_line(inner.x, inner.y, &name, inner.width);
        }
        let list = Self::list(inner);
        let dim = app.theme.tone(Tone::Dim);
        if app.clis.is_none() {
            buffer.set_stringn(list.x, list.y, "Asking the hub…", usize::from(list.width), dim);
        }
        let shown = clis(app).iter().enumerate().skip(first_shown(self.chosen, list));
        for (row, (index, cli)) in list.rows().zip(shown) {
            let line = list_line(app, cli, index == self.chosen, usize::from(row.width));
            buffer.set_line(row.x, row.y, &line, row.width);
        }
        let below = Rect {
            y: list.bottom() + 1,
            height: inner.bottom().saturating_sub(list.bottom() + 1),
            ..inner
        };
        let (note, style) = self.note(app);
        for (row, line) in below.rows().zip(wrapped(&note, usize::from(below.width))) {
            buffer.set_stringn(row.x, row.y, line, usize::from(row.width), style);
        }
    }

    /// Returns what went wrong, or what will happen.
    fn note(&self, app: &App) -> (String, Style) {
        let bold = |tone| app.theme.tone(tone).add_modifier(Modifier::BOLD);
        match (&self.fault, &self.starting) {
            (Some(fault), _) => (format!("✗ {fault}"), bold(Tone::Danger)),
            (None, Some(name)) => (format!("Starting {name}…"), bold(Tone::Accent)),
            (None, None) => {
                let team = team(app).unwrap_or_default();
                (format!("It joins the team {}.", clean(&team)), app.theme.tone(Tone::Dim))
            }
        }
    }
}

/// Returns the team of the selected agent, which is the one that the person looks at.
fn team(app: &App) -> Option<String> {
    app.selected_agent().map(|agent| agent.team.clone())
}

fn clis(app: &App) -> &[CliOffer] {
    app.clis.as_deref().unwrap_or_default()
}

/// Returns a name that no agent has: that of the cli, with a number if need be.
fn free_name(app: &App, cli: &str) -> String {
    let is_part = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-' || *c == '_';
    let stem: String = cli.to_ascii_lowercase().chars().filter(is_part).take(24).collect();
    let stem = if stem.parse::<AgentName>().is_ok() { stem } else { "agent".to_owned() };
    let is_free = |name: &String| app.agents.iter().all(|agent| agent.name.as_str() != name);
    let numbered = (2..).map(|number: usize| format!("{stem}-{number}"));
    let mut names = std::iter::once(stem.clone()).chain(numbered);
    names.find(is_free).unwrap_or_default()
}

fn list_line(app: &App, cli: &CliOffer, is_chosen: bool, room: usize) -> Line<'static> {
    const NAME_COLS: usize = 12;
    let (mark, about, tone) = match &cli.obstacle {
        Some(obstacle) => ("!", clean(obstacle), Tone::Warning),
        None => (" ", clean(&cli.command.join(" ")), Tone::Text),
    };
    let name = clip(&clean(&cli.name), NAME_COLS).into_owned();
    let pad = " ".repeat(NAME_COLS.saturating_sub(width(&name)));
    let arrow = if is_chosen { "▸" } else { " " };
    let text = format!("{arrow}{mark} {name}{pad}  {about}");
    let text = clip(&text, room).into_owned();
    let fill = " ".repeat(room.saturating_sub(width(&text)));
    let style = if is_chosen { app.theme.block(Tone::Accent) } else { app.theme.tone(tone) };
    Line::styled(format!("{text}{fill}"), style)
}
