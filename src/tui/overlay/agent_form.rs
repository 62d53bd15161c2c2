//! The form for one more agent: its name, what it runs, where and within which bounds, and why it did
//! not start.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use super::dialog_box::{Button, DialogBox, Hit, draw_wrapped, remark};
use super::form::{Field, Form, Labels, Value};
use super::list::{List, entry};
use super::stack::{Handled, Next, Overlay};
use crate::api::{CliOffer, NewAgent, Request, WantedPosting};
use crate::config::set_limit;
use crate::model::{AgentName, Environment, Key, KeyCode, Limits, Role, WorkspaceChoice};
use crate::tui::app::{App, Purpose, Target};
use crate::tui::keys::off_the_pad;
use crate::tui::keys::{Action, ListAction};
use crate::tui::prompt::TextEditor;
use crate::tui::style::Tone;
use crate::tui::text::{clean, clip, padded};

/// An agent that is being described.
#[derive(Debug)]
pub(crate) struct AgentForm {
    form: Form<AgentField>,
    /// The person has typed a name; without it the name follows the cli.
    is_named: bool,
    /// The cli that is chosen.
    chosen: usize,
    /// The agent that is being started.
    pub starting: Option<AgentName>,
    /// Why the last start failed.
    fault: Option<String>,
}

/// What is asked beside the cli. The list of clis stands under the name, the rest below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AgentField {
    Name,
    Role,
    Workspace,
    Runner,
    Sandbox,
    Limits,
}

const ROLES: [Role; 4] = [Role::Worker, Role::Lead, Role::Orchestrator, Role::Verifier];

const WORKSPACES: [WorkspaceChoice; 4] = [
    WorkspaceChoice::Auto,
    WorkspaceChoice::Worktree,
    WorkspaceChoice::Copy,
    WorkspaceChoice::Shared,
];

const WIDTH: u16 = 64;
/// The name and the blank under it.
const ABOVE_ROWS: u16 = 2;
/// The settings and the blank above them.
const SETTING_ROWS: u16 = 6;
/// The blank above the last lines, and those.
const BELOW_ROWS: u16 = 4;
const NAME_LABEL: &str = "Name  ";
const LABELS: Labels = Labels { gap: 2, columns: 14 };

impl AgentForm {
    pub(crate) fn new() -> Self {
        let roles = ROLES.iter().map(ToString::to_string).collect();
        let as_set = std::iter::once("as [workspace] says".to_owned());
        let workspaces = as_set.chain(WORKSPACES.iter().map(ToString::to_string)).collect();
        let here = vec!["this machine".to_owned()];
        let no_yes = vec!["no".to_owned(), "yes".to_owned()];
        let fields = vec![
            Field::text(AgentField::Name, "Name", "").at_most(32, |c| c.is_ascii_graphic()),
            Field::choice(
                AgentField::Role,
                "Role",
                roles,
                "Its role. Workers and leads write files; the others read them.",
            ),
            Field::choice(
                AgentField::Workspace,
                "Workspace",
                workspaces,
                "Where its files are: a git worktree or copy of its own, or the project itself (shared).",
            ),
            Field::choice(
                AgentField::Runner,
                "Runner",
                here,
                "Where it runs: here, or on a `[runner.NAME]` of the settings.",
            ),
            Field::choice(
                AgentField::Sandbox,
                "Sandbox",
                no_yes,
                "Whether it may change nothing but its workspace.",
            ),
            Field::text(
                AgentField::Limits,
                "Limits",
                "Limits for it and all that it starts, such as memory=4G cpu=1.5 processes=512.",
            )
            .with_placeholder("none")
            .at_most(64, |c| c.is_ascii_graphic() || c == ' '),
        ];
        let form = Form::new(fields);
        Self { form, is_named: false, chosen: 0, starting: None, fault: None }
    }

    fn at(&self) -> AgentField {
        self.form.current().kind
    }

    /// Says whether keys are about a setting whose values are given.
    fn is_choice(&self) -> bool {
        matches!(self.form.current().value, Value::Choice { .. })
    }

    /// Takes the next value of a setting, or the one before.
    fn change(&mut self, runners: &[String], is_forward: bool) {
        for field in &mut self.form.fields {
            if let (AgentField::Runner, Value::Choice { options, chosen }) =
                (field.kind, &mut field.value)
            {
                options.truncate(1);
                options.extend_from_slice(runners);
                *chosen = if *chosen < options.len() { *chosen } else { 0 };
            }
        }
        self.form.turn(is_forward);
    }

    /// Changes what is typed. A name that was changed no longer follows the cli.
    fn edit(&mut self, app: &App, change: impl FnOnce(&mut Form<AgentField>)) {
        let is_name = self.at() == AgentField::Name;
        if let Some(editor) = self.form.editor().filter(|_| is_name && !self.is_named) {
            *editor = TextEditor::new(&free_name(app, self.chosen));
        }
        let before = self.form.text(AgentField::Name).to_owned();
        change(&mut self.form);
        self.is_named |= is_name && self.form.text(AgentField::Name) != before;
    }

    /// Takes note of why the agent did not start; what was typed stays.
    pub(crate) fn fail(&mut self, fault: String) {
        (self.starting, self.fault) = (None, Some(fault));
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
            return Err("No connection to the hub".to_owned());
        }
        let name = self.name(app);
        let parsed: AgentName = name.parse().map_err(|error| clean(&format!("{error}")))?;
        let cli = clis(app).get(self.chosen).ok_or("Still loading the CLIs that can run")?;
        if let Some(obstacle) = &cli.obstacle {
            return Err(clean(obstacle));
        }
        let new = NewAgent {
            name,
            cli: cli.name.clone(),
            role: self.role(),
            team: team(app),
            cwd: None,
            env: Environment::default(),
            command: Vec::new(),
            posting: self.posting()?,
        };
        Ok((parsed, new))
    }

    fn role(&self) -> Role {
        ROLES[self.form.chosen(AgentField::Role)]
    }

    /// Returns where the agent is to work, or what is wrong with that.
    fn posting(&self) -> Result<WantedPosting, String> {
        let mut limits = Limits::default();
        let typed = self.form.text(AgentField::Limits).split([' ', ',']);
        for word in typed.filter(|word| !word.is_empty()) {
            set_limit(word, &mut limits)
                .map_err(|(message, hint)| format!("{message} · {hint}"))?;
        }
        let workspace = self.form.chosen(AgentField::Workspace).checked_sub(1);
        let runner = match self.form.value(AgentField::Runner) {
            Some(Value::Choice { options, chosen: 1.. }) => {
                options.get(self.form.chosen(AgentField::Runner)).cloned()
            }
            _ => None,
        };
        let sandbox = self.form.chosen(AgentField::Sandbox) == 1;
        Ok(WantedPosting { workspace: workspace.map(|at| WORKSPACES[at]), runner, sandbox, limits })
    }

    fn name(&self, app: &App) -> String {
        if self.is_named {
            return self.form.text(AgentField::Name).to_owned();
        }
        free_name(app, self.chosen)
    }

    fn dialog(&self, app: &App) -> DialogBox {
        let button = |choice, what| {
            let key = app.keymap.hint_beside_text(choice);
            Button { key, action: Some(Action::Choose(choice)), what }
        };
        let tells = |key: &str, what| Button { key: key.to_owned(), action: None, what };
        let mut buttons = vec![button(ListAction::Accept, "start")];
        if self.at() == AgentField::Name {
            buttons.extend([button(ListAction::Up, "up"), button(ListAction::Down, "down")]);
            buttons.push(tells("tab", "settings"));
        } else {
            buttons.extend(self.is_choice().then(|| tells("←→", "change")));
            buttons.push(tells("tab", "next"));
        }
        buttons.push(button(ListAction::Cancel, "close"));
        let rows = u16::try_from(clis(app).len().max(1)).unwrap_or(u16::MAX);
        DialogBox {
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

    fn draw_name(&self, app: &App, inner: Rect, buffer: &mut Buffer) {
        if inner.height == 0 {
            return;
        }
        let (dim, cols) = (app.theme.tone(Tone::Dim), usize::from(inner.width));
        let (x, _) = buffer.set_stringn(inner.x, inner.y, NAME_LABEL, cols, dim);
        let room = Rect { x, width: inner.right() - x, height: 1, ..inner };
        let bold = app.theme.tone(Tone::Text).add_modifier(Modifier::BOLD);
        let has_focus = self.at() == AgentField::Name;
        match self.form.value(AgentField::Name) {
            Some(Value::Text(editor)) if self.is_named => {
                editor.draw(room, has_focus, bold, buffer);
            }
            _ => TextEditor::new(&self.name(app)).draw(room, has_focus, bold, buffer),
        }
    }

    /// Returns what went wrong, or what will happen.
    fn note(&self, app: &App) -> (String, Style) {
        let starting = self.starting.as_ref().map(|name| format!("Starting {name}…"));
        remark(app, self.fault.as_ref(), starting).unwrap_or_else(|| {
            let joins = || format!("It joins the team {}.", clean(&team(app).unwrap_or_default()));
            let is_name = self.at() == AgentField::Name;
            let words = if is_name { joins() } else { self.form.current().about.to_owned() };
            (words, app.theme.tone(Tone::Dim))
        })
    }
}

impl Overlay for AgentForm {
    fn writes(&self) -> bool {
        true
    }

    /// Takes a key: letters are part of the name, or of what is typed for a setting.
    fn press(&mut self, app: &mut App, key: Key) -> Next {
        let key = off_the_pad(key);
        if key.code == KeyCode::Tab {
            self.form.step(!key.modifiers.shift);
            return Next::Stay;
        }
        if let Some(choice) = app.keymap.list_action_beside_text(key) {
            return self.choose(app, choice);
        }
        self.fault = None;
        let turns = matches!(key.code, KeyCode::Char(' ') | KeyCode::Left | KeyCode::Right);
        if turns && self.is_choice() {
            self.change(&app.runners, key.code != KeyCode::Left);
        } else {
            self.edit(app, |form| form.press_in_line(&app.keymap, key));
        }
        Next::Stay
    }

    fn paste(&mut self, app: &App, text: &str) -> Handled {
        self.edit(app, |form| form.insert(text));
        Handled::Consumed
    }

    fn list(&self, app: &App) -> List {
        List { chosen: self.chosen, count: clis(app).len() }
    }

    fn pick(&mut self, _app: &App, index: usize) {
        (self.chosen, self.fault) = (index, None);
    }

    /// Takes what was clicked on: a cli, or a setting, which changes with the second click.
    fn click(&mut self, app: &mut App, index: usize) -> Next {
        let setting = index.checked_sub(clis(app).len()).map(|row| self.form.fields[row + 1].kind);
        match setting {
            Some(setting) if self.at() == setting => self.change(&app.runners, true),
            Some(setting) => self.form.go_to(setting),
            None => {
                self.form.go_to(AgentField::Name);
                self.pick(app, index);
                if app.is_double_click(Target::Item(index)) {
                    self.start(app);
                }
            }
        }
        Next::Stay
    }

    fn step(&mut self, app: &App, is_down: bool) {
        if self.at() == AgentField::Name {
            self.pick(app, self.list(app).stepped(is_down));
        } else {
            self.form.step(is_down);
        }
    }

    fn toggle(&mut self, app: &mut App) -> Next {
        self.change(&app.runners, true);
        Next::Stay
    }

    fn accept(&mut self, app: &mut App) -> Next {
        self.start(app);
        Next::Stay
    }

    fn request(&self, app: &App) -> Option<(Purpose, Request)> {
        Some((Purpose::Clis, Request::Clis { environment: app.settings.environment.clone() }))
    }

    fn lose_hub(&mut self) {
        self.starting = None;
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = self.dialog(app);
        let (list, settings, _) = Self::parts(dialog.inner(area));
        let cli = self.list(app).entry_at(list, at);
        let rows = List { chosen: 0, count: self.form.fields.len() - 1 };
        let setting = || rows.entry_at(settings, at).map(|row| clis(app).len() + row);
        cli.or_else(setting).map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = self.dialog(app).draw(app, area, buffer);
        self.draw_name(app, inner, buffer);
        let (list, settings, below) = Self::parts(inner);
        let dim = app.theme.tone(Tone::Dim);
        if app.clis.is_none() {
            buffer.set_stringn(list.x, list.y, "Loading…", usize::from(list.width), dim);
        }
        self.list(app).draw(list, buffer, |index, is_chosen, room| {
            cli_line(app, &clis(app)[index], is_chosen, room)
        });
        for (row, index) in settings.rows().zip(1..self.form.fields.len()) {
            self.form.draw(app, index, row, LABELS, buffer);
        }
        let (note, style) = self.note(app);
        draw_wrapped(&note, style, below, buffer);
    }
}

/// Returns the team of the selected agent, which is the one that the person looks at.
fn team(app: &App) -> Option<String> {
    app.selected_agent().map(|agent| agent.team.clone())
}

fn clis(app: &App) -> &[CliOffer] {
    app.clis.as_deref().unwrap_or_default()
}

/// Returns the name of an agent that is not named: that of its cli.
fn free_name(app: &App, cli: usize) -> String {
    let cli = clis(app).get(cli).map_or("agent", |cli| cli.name.as_str());
    app.free_name(cli)
}

fn cli_line(app: &App, cli: &CliOffer, is_chosen: bool, room: usize) -> Line<'static> {
    const NAME_COLS: usize = 12;
    let (mark, about, tone) = match &cli.obstacle {
        Some(obstacle) => ("!", clean(obstacle), Tone::Warning),
        None => (" ", clean(&cli.command.join(" ")), Tone::Text),
    };
    let name = clean(&cli.name);
    let name = padded(&clip(&name, NAME_COLS), NAME_COLS);
    let arrow = if is_chosen { "▸" } else { " " };
    entry(app, &format!("{arrow}{mark} {name}  {about}"), is_chosen, app.theme.tone(tone), room)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl AgentForm {
        fn write(&mut self, text: &str) {
            self.form.go_to(AgentField::Limits);
            *self.form.editor().unwrap() = TextEditor::default();
            self.form.insert(text);
        }

        fn turn(&mut self, setting: AgentField, runners: &[String], is_forward: bool) {
            self.form.go_to(setting);
            self.change(runners, is_forward);
        }

        fn runner(&self) -> Option<String> {
            self.posting().unwrap().runner
        }
    }

    #[test]
    fn choices_go_around_and_limits_are_those_of_the_command() {
        let runners = ["box".to_owned()];
        let mut form = AgentForm::new();
        assert_eq!(form.posting().unwrap(), WantedPosting::default());
        for field in form.form.fields.clone() {
            form.turn(field.kind, &runners, true);
        }
        form.write("memory=1G, cpu=1.5");
        let posting = form.posting().unwrap();
        assert_eq!(form.role(), Role::Lead);
        assert_eq!(posting.workspace, Some(WorkspaceChoice::Auto));
        assert_eq!((posting.runner.as_deref(), posting.sandbox), (Some("box"), true));
        assert_eq!(posting.limits.memory_bytes, Some(1 << 30));
        assert_eq!(posting.limits.cpu_hundredths, Some(150));
        form.turn(AgentField::Runner, &runners, true);
        assert_eq!(form.runner(), None, "this machine");
        form.turn(AgentField::Runner, &[], false);
        assert_eq!(form.runner(), None, "this machine");
        form.write("memory=4");
        let said = form.posting().unwrap_err();
        assert_eq!(said, "`memory=4` is no limit · Write it as `512M` or `4G`, at least `16M`");
    }
}
