//! Teams to start: who is in them, what would run, and what stands in the way.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::dialog::Dialog;
use super::stack::Fate;
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
    /// Takes a key.
    pub(crate) fn press(&mut self, app: &mut App, choice: Option<Choice>) -> Fate {
        let count = app.teams.as_ref().map_or(0, Vec::len);
        match choice {
            Some(Choice::Up) => self.choose(self.chosen.checked_sub(1), count),
            Some(Choice::Down) => self.choose(Some(self.chosen + 1), count),
            Some(Choice::Accept) => self.launch(app),
            Some(Choice::Cancel) => return Fate::Close,
            None => {}
        }
        Fate::Stay
    }

    fn choose(&mut self, wanted: Option<usize>, count: usize) {
        let last = count.saturating_sub(1);
        self.chosen = wanted.unwrap_or(last);
        if self.chosen > last {
            self.chosen = 0;
        }
        self.fault = None;
    }

    fn launch(&mut self, app: &mut App) {
        let Some(team) = app.teams.as_ref().and_then(|teams| teams.get(self.chosen)) else {
            return;
        };
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

    /// Draws the list and the chosen team.
    pub(crate) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let teams = app.teams.as_deref();
        let members = teams.unwrap_or_default().iter().map(|team| team.agents.len());
        let rows = members.max().unwrap_or(0) * 2 + 6;
        let dialog = Dialog {
            title: "Start a team",
            tone: Tone::Accent,
            width: WIDTH,
            height: u16::try_from(rows.max(8)).unwrap_or(u16::MAX),
            keys: &[
                (Choice::Accept, "start"),
                (Choice::Up, "up"),
                (Choice::Down, "down"),
                (Choice::Cancel, "close"),
            ],
        };
        let inner = dialog.draw(app, area, buffer);
        match teams {
            None => paragraph(buffer, inner, "Asking the hub…", app.theme.tone(Tone::Dim)),
            Some([]) => draw_no_teams(app, inner, buffer),
            Some(teams) => self.draw_teams(app, teams, inner, buffer),
        }
    }

    fn draw_teams(&self, app: &App, teams: &[TeamOffer], inner: Rect, buffer: &mut Buffer) {
        let is_beside = inner.width >= BESIDE_COLS_MIN;
        let count = u16::try_from(teams.len()).unwrap_or(u16::MAX);
        let list = if is_beside {
            Rect { width: LIST_COLS, ..inner }
        } else {
            Rect { height: count.min(inner.height / 3).max(1), ..inner }
        };
        let details = if is_beside {
            Rect { x: list.right() + 2, width: inner.width - LIST_COLS - 2, ..inner }
        } else {
            let y = list.bottom() + 1;
            Rect { y, height: inner.bottom().saturating_sub(y), ..inner }
        };
        let hidden = (self.chosen + 1).saturating_sub(usize::from(list.height));
        let shown = teams.iter().enumerate().skip(hidden);
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

/// Breaks a text into lines at blanks.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(&clip(word, room));
        } else if width(line) + 1 + width(word) <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(clip(word, room).into_owned());
        }
    }
    lines
}
