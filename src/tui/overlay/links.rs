//! The links of a pane: where each leads, and what can be done with it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::dialog_box::{Button, DialogBox, Hit, buttons};
use super::list::{List, entry};
use super::stack::{Next, Overlay};
use crate::model::{AgentName, Key};
use crate::tui::app::{App, LocalEffect};
use crate::tui::keys::{Action, KeyScope, ListAction};
use crate::tui::reading::{LinkTarget, PaneLink};
use crate::tui::style::Tone;
use crate::tui::text::clean;

/// The list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkList {
    agent: AgentName,
    links: Vec<PaneLink>,
    chosen: usize,
}

const WIDTH: u16 = 96;

/// Rows below the list that show a whole target.
const TARGET_ROWS: u16 = 4;

impl LinkList {
    pub(crate) fn new(agent: AgentName, links: Vec<PaneLink>, chosen: usize) -> Self {
        Self { agent, links, chosen }
    }

    fn dialog(&self, app: &App) -> DialogBox {
        let mut shown = buttons(app, &[(ListAction::Accept, "open")]);
        shown.extend(Button::new(app, Action::CopyLink, "copy"));
        let rest =
            [(ListAction::Up, "up"), (ListAction::Down, "down"), (ListAction::Cancel, "close")];
        shown.extend(buttons(app, &rest));
        let count = u16::try_from(self.links.len()).unwrap_or(u16::MAX);
        DialogBox {
            title: format!("Links of {}", self.agent),
            tone: Tone::Accent,
            width: WIDTH,
            height: count.saturating_add(TARGET_ROWS),
            buttons: shown,
        }
    }

    /// Returns the rooms of the list and of the chosen target.
    fn rooms(inner: Rect) -> (Rect, Rect) {
        let height = inner.height.saturating_sub(TARGET_ROWS);
        let list = Rect { height, ..inner };
        let target = Rect {
            y: inner.y + height + 1,
            height: (inner.height - height).saturating_sub(1),
            ..inner
        };
        (list, target)
    }
}

impl Overlay for LinkList {
    fn press(&mut self, app: &mut App, key: Key) -> Next {
        if app.keymap.action(KeyScope::Links, key) == Some(Action::CopyLink) {
            return self.act(app, Action::CopyLink);
        }
        app.keymap.list_action(key).map_or(Next::Stay, |choice| self.choose(app, choice))
    }

    fn act(&mut self, app: &mut App, action: Action) -> Next {
        match self.links.get(self.chosen) {
            Some(link) if action == Action::CopyLink => {
                app.wishes.push(LocalEffect::Copy(link.target.words()));
                Next::Close
            }
            _ => Next::Stay,
        }
    }

    fn list(&self, _app: &App) -> List {
        List { chosen: self.chosen, count: self.links.len() }
    }

    fn pick(&mut self, _app: &App, index: usize) {
        self.chosen = index;
    }

    fn accept(&mut self, app: &mut App) -> Next {
        let Some(link) = self.links.get(self.chosen) else { return Next::Close };
        if let LinkTarget::Unsafe(_) = link.target {
            app.say(Tone::Warning, "Not opened: only http, https, mailto and files are");
            return Next::Stay;
        }
        let directory = app.agent(&self.agent).and_then(|agent| agent.directory.clone());
        app.wishes.push(LocalEffect::Open { target: link.target.clone(), directory });
        Next::Close
    }

    fn still_stands(&self, app: &App) -> bool {
        app.agent(&self.agent).is_some()
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = self.dialog(app);
        let (list, _) = Self::rooms(dialog.inner(area));
        let item = self.list(app).entry_at(list, at);
        item.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let (list, below) = Self::rooms(self.dialog(app).draw(app, area, buffer));
        self.list(app).draw(list, buffer, |index, is_chosen, room| {
            let link = &self.links[index];
            let (text, target) = (clean(&link.text), clean(&link.target.words()));
            // What a program calls a link need not be where it leads.
            let shown = match &link.target {
                LinkTarget::File { path, .. } if text.contains(path.as_str()) => text,
                LinkTarget::Address(_) | LinkTarget::File { .. } | LinkTarget::Unsafe(_) => {
                    if target == text {
                        target
                    } else {
                        format!("{text}  →  {target}")
                    }
                }
            };
            let arrow = if is_chosen { "▸" } else { " " };
            let plain = match link.target {
                LinkTarget::Unsafe(_) => app.theme.tone(Tone::Warning),
                LinkTarget::Address(_) | LinkTarget::File { .. } => app.theme.tone(Tone::Text),
            };
            entry(app, &format!("{arrow} {shown}"), is_chosen, plain, room)
        });
        if let Some(link) = self.links.get(self.chosen) {
            let style = app.theme.tone(Tone::Dim);
            let target: Vec<char> = clean(&link.target.words()).chars().collect();
            for (row, part) in below.rows().zip(target.chunks(usize::from(below.width.max(1)))) {
                let part: String = part.iter().collect();
                buffer.set_stringn(row.x, row.y, part, usize::from(row.width), style);
            }
        }
    }
}
