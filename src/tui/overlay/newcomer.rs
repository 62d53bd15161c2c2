//! The form for one more agent: its name, what it runs, where and within which bounds, and why it did
//! not start.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::dialog::{Button, Dialog, Hit};
use super::list::{first_shown, item_at, stepped, turned};
use super::newcomer_settings::{SETTINGS, Setting, Wanted};
use super::stack::Fate;
use super::wrapped::wrapped;
use crate::model::{AgentName, Environment, Key, KeyCode};
use crate::tui::action::{Action, Choice};
use crate::tui::app::{App, Purpose};
use crate::tui::keymap::{is_text, off_the_pad};
use crate::tui::look::Tone;
use crate::tui::text::{clean, clip, width};
use crate::wire::{CliOffer, NewAgent, Request};

/// An agent that is being described.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Newcomer {
    /// What the person typed; without it the name follows the cli.
    name: Option<String>,
    chosen: usize,
    wanted: Wanted,
    /// The setting that keys are about; without one, the name and the list of clis.
    at: Option<Setting>,
    /// The agent that is being started.
    pub starting: Option<AgentName>,
    /// Why the last start failed.
    fault: Option<String>,
}

const WIDTH: u16 = 64;
const NAME_CHARS_MAX: usize = 32;
/// The name and the blank under it.
const ABOVE_ROWS: u16 = 2;
/// The settings and the blank above them.
const SETTING_ROWS: u16 = 6;
/// The blank above the last lines, and those.
const BELOW_ROWS: u16 = 4;
const LABEL_COLS: usize = 9;

impl Newcomer {
    /// Takes a key: letters are part of the name, or of what is typed for a setting.
    pub(super) fn press(&mut self, app: &mut App, key: Key) -> Fate {
        let key = off_the_pad(key);
        if key.code == KeyCode::Tab {
            self.step(!key.modifiers.shift);
            return Fate::Stay;
        }
        if let Some(choice) = app.keymap.choice_beside_text(key) {
            return self.choose(app, choice);
        }
        match key.code {
            KeyCode::Char('u') if key.modifiers.control => self.erase(app, true),
            KeyCode::Char(' ') if self.is_chosen() => self.change(app, true),
            KeyCode::Left => self.change(app, false),
            KeyCode::Right => self.change(app, true),
            KeyCode::Char(c) if is_text(key) => self.write(app, c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => self.erase(app, false),
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
            | KeyCode::Function(_)
            | KeyCode::Keypad(_) => return Fate::Stay,
        }
        self.fault = None;
        Fate::Stay
    }

    /// Says whether keys are about a setting whose values are given.
    fn is_chosen(&self) -> bool {
        self.at.is_some_and(|setting| setting != Setting::Limits)
    }

    /// Goes to the next setting or the one before; the name comes before the first.
    fn step(&mut self, is_down: bool) {
        let place = |setting| SETTINGS.iter().position(|one| *one == setting);
        let at = self.at.and_then(place).map_or(0, |at| at + 1);
        let next = stepped(at, SETTINGS.len() + 1, is_down);
        self.at = next.checked_sub(1).map(|index| SETTINGS[index]);
    }

    fn change(&mut self, app: &App, is_forward: bool) {
        if let Some(setting) = self.at {
            self.wanted.turn(setting, &app.runners, is_forward);
        }
    }

    fn erase(&mut self, app: &App, is_all: bool) {
        match self.at {
            Some(Setting::Limits) => self.wanted.erase(is_all),
            Some(Setting::Role | Setting::Workspace | Setting::Runner | Setting::Sandbox) => {}
            None if is_all => self.name = Some(String::new()),
            None => {
                let mut name = self.shown_name(app);
                name.pop();
                self.name = Some(name);
            }
        }
    }

    /// Adds to the name, or to the limits, what can be part of a line.
    pub(super) fn write(&mut self, app: &App, text: &str) {
        match self.at {
            Some(Setting::Limits) => self.wanted.write(text),
            Some(Setting::Role | Setting::Workspace | Setting::Runner | Setting::Sandbox) => {}
            None => {
                let mut name = self.shown_name(app);
                let room = NAME_CHARS_MAX.saturating_sub(name.chars().count());
                name.extend(text.chars().filter(char::is_ascii_graphic).take(room));
                self.name = Some(name);
            }
        }
    }

    pub(super) fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        match choice {
            Choice::Up | Choice::Down if self.at.is_some() => self.step(choice == Choice::Down),
            Choice::Up => self.take(stepped(self.chosen, clis(app).len(), false)),
            Choice::Down => self.take(stepped(self.chosen, clis(app).len(), true)),
            Choice::Accept => self.start(app),
            Choice::Toggle => self.change(app, true),
            Choice::Cancel => return Fate::Close,
        }
        Fate::Stay
    }

    pub(super) fn turn(&mut self, app: &App, is_down: bool) {
        self.take(turned(self.chosen, clis(app).len(), is_down));
    }

    fn take(&mut self, index: usize) {
        self.chosen = index;
        self.fault = None;
    }

    /// Takes what was clicked on: a cli, or a setting, which changes with the second click.
    pub(super) fn pick(&mut self, app: &App, index: usize) {
        match setting_of(app, index) {
            Some(setting) if self.at == Some(setting) => self.change(app, true),
            Some(setting) => self.at = Some(setting),
            None => {
                self.at = None;
                self.take(index);
            }
        }
    }

    /// Says whether an entry is one to choose and start with.
    pub(super) fn is_cli(app: &App, index: usize) -> bool {
        setting_of(app, index).is_none()
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
            role: self.wanted.role,
            team: team(app),
            cwd: None,
            env: Environment::default(),
            command: Vec::new(),
            posting: self.wanted.posting()?,
        };
        Ok((parsed, new))
    }

    fn shown_name(&self, app: &App) -> String {
        let cli = clis(app).get(self.chosen).map_or("agent", |cli| cli.name.as_str());
        self.name.clone().unwrap_or_else(|| free_name(app, cli))
    }

    fn dialog(&self, app: &App) -> Dialog {
        let button = |choice, what| {
            let key = app.keymap.hint_beside_text(choice);
            Button { key, action: Some(Action::Choose(choice)), what }
        };
        let tells = |key: &str, what| Button { key: key.to_owned(), action: None, what };
        let mut buttons = vec![button(Choice::Accept, "start")];
        if self.at.is_none() {
            buttons.extend([button(Choice::Up, "up"), button(Choice::Down, "down")]);
            buttons.push(tells("tab", "settings"));
        } else {
            buttons.extend(self.is_chosen().then(|| tells("←→", "change")));
            buttons.push(tells("tab", "next"));
        }
        buttons.push(button(Choice::Cancel, "close"));
        let rows = u16::try_from(clis(app).len().max(1)).unwrap_or(u16::MAX);
        Dialog {
            title: "Add an agent".to_owned(),
            tone: Tone::Accent,
            width: WIDTH,
            height: rows.saturating_add(ABOVE_ROWS + SETTING_ROWS + BELOW_ROWS),
            buttons,
        }
    }

    /// Returns the room of the list within that of the form, that of the settings, and what is left.
    fn parts(inner: Rect) -> (Rect, Rect, Rect) {
        let others = ABOVE_ROWS + SETTING_ROWS + BELOW_ROWS;
        let height = inner.height.saturating_sub(others).max(1);
        let list = Rect { y: inner.y + ABOVE_ROWS, height, ..inner };
        let settings = Rect { y: list.bottom() + 1, height: SETTING_ROWS - 1, ..inner };
        let below = Rect { y: settings.bottom() + 1, height: BELOW_ROWS - 1, ..inner };
        (list.intersection(inner), settings.intersection(inner), below.intersection(inner))
    }

    /// Returns what lies under the mouse.
    pub(super) fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = self.dialog(app);
        let (list, settings, _) = Self::parts(dialog.inner(area));
        let cli = item_at(self.chosen, clis(app).len(), list, at);
        let setting = || item_at(0, SETTINGS.len(), settings, at).map(|row| clis(app).len() + row);
        cli.or_else(setting).map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    /// Draws the form.
    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = self.dialog(app).draw(app, area, buffer);
        let bold = app.theme.tone(Tone::Text).add_modifier(Modifier::BOLD);
        let cursor = if self.at.is_none() { bold.add_modifier(Modifier::REVERSED) } else { bold };
        let name = Line::from(vec![
            Span::styled("Name  ", app.theme.tone(Tone::Dim)),
            Span::styled(self.shown_name(app), bold),
            Span::styled(" ", cursor),
        ]);
        if inner.height > 0 {
            buffer.set_line(inner.x, inner.y, &name, inner.width);
        }
        let (list, settings, below) = Self::parts(inner);
        let dim = app.theme.tone(Tone::Dim);
        if app.clis.is_none() {
            buffer.set_stringn(list.x, list.y, "Asking the hub…", usize::from(list.width), dim);
        }
        let shown = clis(app).iter().enumerate().skip(first_shown(self.chosen, list));
        for (row, (index, cli)) in list.rows().zip(shown) {
            let line = list_line(app, cli, index == self.chosen, usize::from(row.width));
            buffer.set_line(row.x, row.y, &line, row.width);
        }
        for (row, setting) in settings.rows().zip(SETTINGS) {
            buffer.set_line(row.x, row.y, &self.setting_line(app, setting), row.width);
        }
        let (note, style) = self.note(app);
        for (row, line) in below.rows().zip(wrapped(&note, usize::from(below.width))) {
            buffer.set_stringn(row.x, row.y, line, usize::from(row.width), style);
        }
    }

    fn setting_line(&self, app: &App, setting: Setting) -> Line<'static> {
        let has_focus = self.at == Some(setting);
        let (mark, tone) = if has_focus { ("▸", Tone::Accent) } else { (" ", Tone::Dim) };
        let label = format!("{mark}  {:LABEL_COLS$}  ", setting.label());
        let value = clean(&self.wanted.value(setting));
        let plain = app.theme.tone(Tone::Text);
        let style = if has_focus { plain.add_modifier(Modifier::BOLD) } else { plain };
        let value = match (setting, has_focus) {
            (Setting::Limits, false) if value.is_empty() => {
                vec![Span::styled("none", app.theme.tone(Tone::Dim))]
            }
            (Setting::Limits, true) => vec![
                Span::styled(value, style),
                Span::styled(" ", style.add_modifier(Modifier::REVERSED)),
            ],
            (Setting::Role | Setting::Workspace | Setting::Runner | Setting::Sandbox, true) => {
                vec![Span::styled(format!("‹ {value} ›"), style)]
            }
            (
                Setting::Role
                | Setting::Workspace
                | Setting::Runner
                | Setting::Sandbox
                | Setting::Limits,
                false,
            ) => vec![Span::styled(value, style)],
        };
        let label = Span::styled(label, app.theme.tone(tone));
        Line::from(std::iter::once(label).chain(value).collect::<Vec<_>>())
    }

    /// Returns what went wrong, or what will happen.
    fn note(&self, app: &App) -> (String, Style) {
        let bold = |tone| app.theme.tone(tone).add_modifier(Modifier::BOLD);
        match (&self.fault, &self.starting) {
            (Some(fault), _) => (format!("✗ {fault}"), bold(Tone::Danger)),
            (None, Some(name)) => (format!("Starting {name}…"), bold(Tone::Accent)),
            (None, None) => {
                let team = || clean(&team(app).unwrap_or_default());
                let joins = || format!("It joins the team {}.", team());
                let words = self.at.map_or_else(joins, |setting| setting.about().to_owned());
                (words, app.theme.tone(Tone::Dim))
            }
        }
    }
}

/// Returns the team of the selected agent, which is the one that the person looks at.
fn team(app: &App) -> Option<String> {
    app.selected_agent().map(|agent| agent.team.clone())
}

/// Returns the setting that an entry is: they come after the clis.
fn setting_of(app: &App, index: usize) -> Option<Setting> {
    SETTINGS.get(index.checked_sub(clis(app).len())?).copied()
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
