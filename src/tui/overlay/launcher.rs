//! Teams to start: who is in them, what would run, and what stands in the way.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::dialog_box::{DialogBox, Hit, buttons, draw_wrapped, remark};
use super::list::{List, entry};
use super::stack::{Next, Overlay};
use crate::api::{Request, TeamOffer};
use crate::tui::app::{App, Purpose};
use crate::tui::grid::Layout;
use crate::tui::keys::ListAction;
use crate::tui::options::Ended;
use crate::tui::style::Tone;
use crate::tui::text::{clean, clip, padded, width, wrapped};

/// The list of teams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Launcher {
    chosen: usize,
    /// Nobody asked for it: it is there because there are no agents, and goes when there are.
    is_first_screen: bool,
    /// The team that is being started.
    starting: Option<String>,
    /// Why the last start failed.
    fault: Option<String>,
}

const WIDTH: u16 = 96;
const LIST_COLS: u16 = 28;
/// Below this width the details go under the list.
const BESIDE_COLS_MIN: u16 = 72;

impl Launcher {
    /// Returns the list for its first showing; with `is_first_screen`, nobody asked for it.
    pub(crate) fn new(is_first_screen: bool) -> Self {
        Self { is_first_screen, ..Self::default() }
    }

    /// Takes note of why the team did not start.
    pub(crate) fn fail(&mut self, fault: String) {
        (self.starting, self.fault) = (None, Some(fault));
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
            self.fault = Some("No connection to the hub".to_owned());
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

    fn dialog(app: &App) -> DialogBox {
        let members = teams(app).iter().map(|team| team.agents.len());
        let rows = members.max().unwrap_or(0) * 2 + 6;
        let choices = [
            (ListAction::Accept, "start"),
            (ListAction::Up, "up"),
            (ListAction::Down, "down"),
            (ListAction::Cancel, "close"),
        ];
        DialogBox {
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

    fn draw_teams(&self, app: &App, teams: &[TeamOffer], inner: Rect, buffer: &mut Buffer) {
        let (list, details) = Self::parts(inner, teams.len());
        self.list(app).draw(list, buffer, |index, is_chosen, room| {
            list_line(app, &teams[index], is_chosen, room)
        });
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
        let starting = self.starting.as_ref().map(|name| format!("Starting {name}…"));
        let warning = app.theme.tone(Tone::Warning).add_modifier(Modifier::BOLD);
        let obstacle = || Some((format!("! {}", clean(team.obstacle.as_ref()?)), warning));
        let note = remark(app, self.fault.as_ref(), starting).or_else(obstacle);
        if let Some((note, style)) = note {
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

impl Overlay for Launcher {
    fn list(&self, app: &App) -> List {
        List { chosen: self.chosen, count: teams(app).len() }
    }

    fn pick(&mut self, _app: &App, index: usize) {
        (self.chosen, self.fault) = (index, None);
    }

    fn accept(&mut self, app: &mut App) -> Next {
        self.launch(app);
        Next::Stay
    }

    fn request(&self, app: &App) -> Option<(Purpose, Request)> {
        Some((Purpose::Teams, Request::Teams { environment: app.settings.environment.clone() }))
    }

    fn lose_hub(&mut self) {
        self.starting = None;
    }

    fn still_stands(&self, app: &App) -> bool {
        !self.is_first_screen || app.agents.is_empty()
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = Self::dialog(app);
        let (list, _) = Self::parts(dialog.inner(area), teams(app).len());
        let team = self.list(app).entry_at(list, at);
        team.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = Self::dialog(app).draw(app, area, buffer);
        match app.teams.as_deref() {
            None => draw_wrapped("Loading…", app.theme.tone(Tone::Dim), inner, buffer),
            Some([]) => draw_no_teams(app, inner, buffer),
            Some(teams) => self.draw_teams(app, teams, inner, buffer),
        }
    }
}

fn teams(app: &App) -> &[TeamOffer] {
    app.teams.as_deref().unwrap_or_default()
}

fn list_line(app: &App, team: &TeamOffer, is_chosen: bool, room: usize) -> Line<'static> {
    let plural = if team.agents.len() == 1 { "" } else { "s" };
    let count = format!("{} agent{plural}", team.agents.len());
    let name_room = room.saturating_sub(width(&count) + 3);
    let name = clean(&team.name);
    let name = padded(&clip(&name, name_room.saturating_sub(1)), name_room);
    let has_obstacle = team.obstacle.is_some();
    let (mark, tone) = if has_obstacle { ("!", Tone::Warning) } else { (" ", Tone::Text) };
    entry(app, &format!("{mark} {name}{count} "), is_chosen, app.theme.tone(tone), room)
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
