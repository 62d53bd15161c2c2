//! Everything that waits for a person, oldest first.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::dialog::{Dialog, Hit, buttons};
use super::list::{first_shown, item_at, stepped, turned};
use super::stack::Fate;
use crate::tui::action::Choice;
use crate::tui::app::{App, Lead, Waiting};
use crate::tui::look::{Tone, sign};
use crate::tui::text::{clip, elapsed, width};

/// The list; what is in it is looked up each time, since things come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attention {
    /// By what it is, so that no key meant for one thing leads to another.
    chosen: Option<Waiting>,
    /// Where it was last, for when it is gone.
    place: usize,
}

const WIDTH: u16 = 84;
const NAME_COLS: usize = 16;
const TIME_COLS: usize = 4;

impl Attention {
    /// Returns the list with the oldest thing chosen.
    pub(crate) fn new(app: &App) -> Self {
        Self { chosen: app.attention().into_iter().next(), place: 0 }
    }

    pub(super) fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        match choice {
            Choice::Up => self.pick(app, stepped(self.at(app), app.attention().len(), false)),
            Choice::Down => self.pick(app, stepped(self.at(app), app.attention().len(), true)),
            Choice::Toggle => {}
            Choice::Accept => {
                app.lead = app.attention().get(self.at(app)).cloned().map(Lead::To);
                return Fate::Close;
            }
            Choice::Cancel => return Fate::Close,
        }
        Fate::Stay
    }

    /// Returns the place of the chosen one, wherever it has moved; if it is gone, that of what stands
    /// there now.
    fn at(&self, app: &App) -> usize {
        let all = app.attention();
        let is_it = |one: &Waiting| self.chosen.as_ref().is_some_and(|chosen| chosen.is_same(one));
        let place = all.iter().position(is_it);
        place.unwrap_or_else(|| self.place.min(all.len().saturating_sub(1)))
    }

    pub(super) fn turn(&mut self, app: &App, is_down: bool) {
        self.pick(app, turned(self.at(app), app.attention().len(), is_down));
    }

    pub(super) fn pick(&mut self, app: &App, index: usize) {
        (self.chosen, self.place) = (app.attention().get(index).cloned(), index);
    }

    fn dialog(app: &App) -> Dialog {
        let choices = [
            (Choice::Accept, "go there"),
            (Choice::Up, "up"),
            (Choice::Down, "down"),
            (Choice::Cancel, "close"),
        ];
        Dialog {
            title: "What waits for you".to_owned(),
            tone: Tone::Accent,
            width: WIDTH,
            height: u16::try_from(app.attention().len().max(1)).unwrap_or(u16::MAX),
            buttons: buttons(app, &choices),
        }
    }

    /// Returns what lies under the mouse.
    pub(super) fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = Self::dialog(app);
        let item = item_at(self.at(app), app.attention().len(), dialog.inner(area), at);
        item.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    /// Draws the list.
    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = Self::dialog(app).draw(app, area, buffer);
        let all = app.attention();
        if all.is_empty() && inner.height > 0 {
            let dim = app.theme.tone(Tone::Dim);
            let text = "Nothing waits for you";
            buffer.set_stringn(inner.x, inner.y, text, usize::from(inner.width), dim);
        }
        let shown = all.iter().enumerate().skip(first_shown(self.at(app), inner));
        for (row, (index, waiting)) in inner.rows().zip(shown) {
            let line = list_line(app, waiting, index == self.at(app), usize::from(row.width));
            buffer.set_line(row.x, row.y, &line, row.width);
        }
    }
}

fn list_line(app: &App, waiting: &Waiting, is_chosen: bool, room: usize) -> Line<'static> {
    let agent = waiting.agent.as_ref().and_then(|name| app.agent(name));
    let sign = agent.map_or(" ", |agent| sign(agent.state));
    let name = waiting.agent.as_ref().map_or("", |name| name.as_str());
    let name = clip(name, NAME_COLS).into_owned();
    let pad = " ".repeat(NAME_COLS.saturating_sub(width(&name)));
    let age = elapsed(app.now.since(waiting.since));
    let arrow = if is_chosen { "▸" } else { " " };
    let text = format!("{arrow} {sign} {name}{pad} {age:>TIME_COLS$}  {}", app.want(waiting));
    let text = clip(&text, room).into_owned();
    let fill = " ".repeat(room.saturating_sub(width(&text)));
    let style = match (is_chosen, agent) {
        (true, _) => app.theme.block(Tone::Accent),
        (false, Some(agent)) => app.theme.state(agent.state),
        (false, None) => app.theme.tone(Tone::Dim),
    };
    Line::styled(format!("{text}{fill}"), style)
}
