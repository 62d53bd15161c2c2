//! Everything that waits for a person, oldest first.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::dialog_box::{DialogBox, Hit, buttons};
use super::list::{List, entry};
use super::stack::{Next, Overlay};
use crate::tui::app::{App, AttentionGoal, AttentionItem};
use crate::tui::keys::ListAction;
use crate::tui::style::{Tone, sign};
use crate::tui::text::{clip, elapsed, padded};

/// The list; what is in it is looked up each time, since things come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttentionList {
    /// By what it is, so that no key meant for one thing leads to another.
    chosen: Option<AttentionItem>,
    /// Where it was last, for when it is gone.
    place: usize,
}

const WIDTH: u16 = 84;
const NAME_COLS: usize = 16;
const TIME_COLS: usize = 4;

impl AttentionList {
    /// Returns the list with the oldest thing chosen.
    pub(crate) fn new(app: &App) -> Self {
        Self { chosen: app.attention().into_iter().next(), place: 0 }
    }

    /// Returns the place of the chosen one, wherever it has moved; if it is gone, that of what stands
    /// there now.
    fn at(&self, app: &App) -> usize {
        let all = app.attention();
        let is_it =
            |one: &AttentionItem| self.chosen.as_ref().is_some_and(|chosen| chosen.is_same(one));
        let place = all.iter().position(is_it);
        place.unwrap_or_else(|| self.place.min(all.len().saturating_sub(1)))
    }

    fn dialog(app: &App) -> DialogBox {
        let choices = [
            (ListAction::Accept, "go there"),
            (ListAction::Up, "up"),
            (ListAction::Down, "down"),
            (ListAction::Cancel, "close"),
        ];
        DialogBox {
            title: "Needs you".to_owned(),
            tone: Tone::Accent,
            width: WIDTH,
            height: u16::try_from(app.attention().len().max(1)).unwrap_or(u16::MAX),
            buttons: buttons(app, &choices),
        }
    }
}

impl Overlay for AttentionList {
    fn list(&self, app: &App) -> List {
        List { chosen: self.at(app), count: app.attention().len() }
    }

    fn pick(&mut self, app: &App, index: usize) {
        (self.chosen, self.place) = (app.attention().get(index).cloned(), index);
    }

    fn accept(&mut self, app: &mut App) -> Next {
        app.lead = app.attention().get(self.at(app)).cloned().map(AttentionGoal::To);
        Next::Close
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = Self::dialog(app);
        let item = self.list(app).entry_at(dialog.inner(area), at);
        item.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = Self::dialog(app).draw(app, area, buffer);
        let all = app.attention();
        if all.is_empty() && inner.height > 0 {
            let dim = app.theme.tone(Tone::Dim);
            let text = "Nothing needs you";
            buffer.set_stringn(inner.x, inner.y, text, usize::from(inner.width), dim);
        }
        self.list(app).draw(inner, buffer, |index, is_chosen, room| {
            list_line(app, &all[index], is_chosen, room)
        });
    }
}

fn list_line(app: &App, waiting: &AttentionItem, is_chosen: bool, room: usize) -> Line<'static> {
    let agent = waiting.agent.as_ref().and_then(|name| app.agent(name));
    let sign = agent.map_or(" ", |agent| sign(agent.state));
    let name = waiting.agent.as_ref().map_or("", |name| name.as_str());
    let name = padded(&clip(name, NAME_COLS), NAME_COLS);
    let age = elapsed(app.now.since(waiting.since));
    let arrow = if is_chosen { "▸" } else { " " };
    let text = format!("{arrow} {sign} {name} {age:>TIME_COLS$}  {}", app.want(waiting));
    let plain = agent.map_or(app.theme.tone(Tone::Dim), |agent| app.theme.state(agent.state));
    entry(app, &text, is_chosen, plain, room)
}
