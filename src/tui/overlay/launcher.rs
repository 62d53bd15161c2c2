//! Teams to start: who is in them, what would run, and what stands in the way.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::dialog::{Dialog, Hit, buttons};
use super::list::{first_shown, item_at, stepped, turned};
use super::stack::Fate;
use super::wrapped::wrapped;
use crate::tui::action::Choice;
use crate::tui::app::{App, Purpose};
use crate::tui::grid::Layout;
use crate::tui::look::Tone;
use crate::tui::options::Ended;
use crate::tui::text::{clean, clip, width};
use crate::wire::{Request, TeamOffer};

/// The list of teams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Launcher {
    pub chosen: usize,
    /// Nobody asked for it: it is there because there are no agents, and goes when there are.
    pub is_first_screen: bool,
    /// The team that is being started.
    pub starting: Option<String>,
    /// Why the last start failed.
    pub fault: Option<String>,
}

const WIDTH: u16 = 96;
const LIST_COLS: u16 = 28;
/// Below this width the details go under the list.
const BESIDE_COLS_MIN: u16 = 72;

impl Launcher {
    pub(super) fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        match choice {
            Choice::Up => self.pick(stepped(self.chosen, teams(app).len(), false)),
            Choice::Down => self.pick(stepped(self.chosen, teams(app).len(), true)),
            Choice::Accept => self.launch(app),
            Choice::Toggle => {}
            Choice::Cancel => return Fate::Close,
        }
        Fate::Stay
    }

    pub(super) fn turn(&mut self, app: &App, is_down: bool) {
        self.pick(turned(self.chosen, teams(app).len(), is_down));
    }

    pub(super) fn pick(&mut self, index: usize) {
        self.chosen = index;
        self.fault = None;
    }

    fn launch(&mut self, app: &mut App) {
        let Some(team) = teams(app).get(self.chosen) else { return };
        if self.starting.is_some() {
            return;
        }
        if app.settings.demo.as_ref() == Some(team) {
            app.end = Some(Ok(Ended::DemoWanted));
            return;
        }
        if !app.is_connected() {
            self.fault = Some("The hub is away".to_owned());
            return;
        }
        if let Some(obstacle) = &team.obstacle {
            self.fault = Some(clean(obstacle));
            return;
        }
        let (name, layout) = (team.name.clone(), Layout::named(&team.layout));
        self.starting = Some(clean(&name));
        self.fault = None;
        let environment = app.settings.environment.clone();
        app.ask(Purpose::Up { layout }, Request::Up { team: Some(name), environment });
    }

    fn dialog(app: &App) -> Dialog {
        let members = teams(app).iter().map(|team| team.agents.len());
        let rows = members.max().unwrap_or(0) * 2 + 6;
        let choices = [
            (Choice::Accept, "start"),
            (Choice::Up, "up"),
            (Choice::Down, "down"),
            (Choice::Cancel, "close"),
        ];
        Dialog {
            title: "Start a team".to_owned(),
            tone: Tone::Accent,
            width: WIDTH,
            height: u16::try_from(rows.max(8)).unwrap_or(u16::MAX),
            buttons: buttons(app, &choices),
        }
    }

    /// Returns the room of the list and that of the chosen team.
    pub(super) fn parts(inner: Rect, count: usize) -> (Rect, Rect) {
        if inner.width >= BESIDE_COLS_MIN {
            let list = Rect { width: LIST_COLS, ..inner };
            let rest = Rect { x: list.right() + 2, width: inner.width - LIST_COLS - 2, ..inner };
            return (list, rest);
        }
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        let list = Rect { height: count.min(inner.height / 3).max(1), ..inner }.intersection(inner);
        let y = list.bottom() + 1;
        (list, Rect { y, height: inner.bottom().saturating_sub(y), ..inner })
    }

    /// Returns what lies under the mouse.
    pub(super) fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let (dialog, count) = (Self::dialog(app), teams(app).len());
        let (list, _) = Self::parts(dialog.inner(area), count);
        item_at(self.chosen, count, list, at).map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    /// Draws the list and the chosen team.
    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = Self::dialog(app).draw(app, area, buffer);
        match app.teams.as_deref() {
            None => paragraph(buffer, inner, "Asking the hub…", app.theme.tone(Tone::Dim)),
            Some([]) => draw_no_teams(app, inner, buffer),
            Some(teams) => self.draw_teams(app, teams, inner, buffer),
        }
    }

    fn draw_teams(&self, app: &App, teams: &[TeamOffer], inner: Rect, buffer: &mut Buffer) {
        let (list, details) = Self::parts(inner, teams.len());
        let shown = teams.iter().enumerate().skip(first_shown(self.chosen, list));
        for (row, (index, team)) in list.rows().zip(shown) {
            let line = list_line(app, team, index == self.chosen, usize::from(row.width));
            buffer.set_line(row.x, row.y, &line, row.width);
        }
        if let Some(team) = teams.get(self.chosen) {
            for (row, line) in
                details.rows().zip(self.details(app, team, usize::from(details.width)))
            {
                buffer.set_line(row.x, row.y, &line, row.width);
            }
        }
    }

    fn details(&self, app: &App, team: &TeamOffer, room: usize) -> Vec<Line<'static>> {
        let dim = app.theme.tone(Tone::Dim);
        let bold = app.theme.tone(Tone::Text).add_modifier(Modifier::BOLD);
        let about = format!("  {} layout · from {}", clean(&team.layout), clean(&team.origin));
        let mut lines = vec![
            Line::from(vec![Span::styled(clean(&team.name), bold), Span::styled(about, dim)]),
            Line::default(),
        ];
        let (tone, note) = match (&self.fault, &self.starting, &team.obstacle) {
            (Some(fault), ..) => (Tone::Danger, Some(format!("✗ {fault}"))),
            (None, Some(name), _) => (Tone::Accent, Some(format!("Starting {name}…"))),
            (None, None, Some(obstacle)) => (Tone::Warning, Some(format!("! {}", clean(obstacle)))),
            (None, None, None) => (Tone::Dim, None),
        };
        if let Some(note) = note {
            let style = app.theme.tone(tone).add_modifier(Modifier::BOLD);
            lines.extend(wrapped(&note, room).into_iter().map(|line| Line::styled(line, style)));
            lines.push(Line::default());
        }
        for agent in &team.agents {
            let about = format!("  {} · {}", clean(&agent.cli), agent.role);
            lines.push(Line::from(vec![
                Span::styled(clean(&agent.name), app.theme.tone(Tone::Text)),
                Span::styled(about, dim),
            ]));
            let command = clean(&agent.command.join(" "));
            let command = format!("  {}", clip(&command, room.saturating_sub(2)));
            lines.push(Line::styled(command, dim));
        }
        lines
    }
}

fn teams(app: &App) -> &[TeamOffer] {
    app.teams.as_deref().unwrap_or_default()
}

fn list_line(app: &App, team: &TeamOffer, is_chosen: bool, room: usize) -> Line<'static> {
    let plural = if team.agents.len() == 1 { "" } else { "s" };
    let count = format!("{} agent{plural}", team.agents.len());
    let name_room = room.saturating_sub(width(&count) + 4);
    let name = clip(&clean(&team.name), name_room).into_owned();
    let pad = " ".repeat(room.saturating_sub(width(&name) + width(&count) + 3));
    let tone = if team.obstacle.is_some() { Tone::Warning } else { Tone::Text };
    let style = if is_chosen { app.theme.block(Tone::Accent) } else { app.theme.tone(tone) };
    let mark = if team.obstacle.is_some() { "!" } else { " " };
    let text = format!("{mark} {name}{pad}{count} ");
    Line::styled(text, style)
}

fn draw_no_teams(app: &App, area: Rect, buffer: &mut Buffer) {
    let lines = [
        ("There is no team here yet.", Tone::Text),
        ("", Tone::Text),
        ("Write one with `wheelhouse config init`,", Tone::Dim),
        ("or see a team at work with `wheelhouse demo`.", Tone::Dim),
    ];
    for (row, (text, tone)) in area.rows().zip(lines) {
        buffer.set_stringn(row.x, row.y, text, usize::from(row.width), app.theme.tone(tone));
    }
}

fn paragraph(buffer: &mut Buffer, area: Rect, text: &str, style: Style) {
    for (row, line) in area.rows().zip(wrapped(text, usize::from(area.width))) {
        buffer.set_stringn(row.x, row.y, line, usize::from(row.width), style);
    }
}
