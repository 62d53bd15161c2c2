//! The box that overlays are drawn in.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Padding, Widget};

use crate::tui::app::App;
use crate::tui::keys::{Action, ListAction};
use crate::tui::style::Tone;
use crate::tui::text::{width, wrapped};

/// A box in the middle, as large as its content asks for and the window allows.
pub(super) struct DialogBox {
    pub title: String,
    pub tone: Tone,
    pub width: u16,
    pub height: u16,
    /// For the lower edge.
    pub buttons: Vec<Button>,
}

/// A key and what it does; a click on it does the same.
pub(super) struct Button {
    pub key: String,
    /// Without one, it only tells of the key.
    pub action: Option<Action>,
    pub what: &'static str,
}

/// What lies under the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hit {
    Outside,
    Button(Action),
    /// An entry of the list, counted from zero.
    Item(usize),
    /// A place inside where a click means nothing.
    Inside,
}

/// Columns and rows that the frame and its padding take.
pub(super) const AROUND_COLS: u16 = 6;
pub(super) const AROUND_ROWS: u16 = 4;

/// Returns the buttons of choices, each with the first key that means it.
pub(super) fn buttons(app: &App, choices: &[(ListAction, &'static str)]) -> Vec<Button> {
    let button = |(choice, what): &(ListAction, &'static str)| {
        Button::new(app, Action::Choose(*choice), what)
    };
    choices.iter().filter_map(button).collect()
}

impl DialogBox {
    /// Returns where the box is.
    fn place(&self, area: Rect) -> Rect {
        let width = (self.width.saturating_add(AROUND_COLS)).min(area.width);
        let height = (self.height.saturating_add(AROUND_ROWS)).min(area.height);
        Rect {
            x: area.x + (area.width - width) / 2,
            y: area.y + (area.height - height) / 2,
            width,
            height,
        }
    }

    /// Returns the room inside.
    pub(super) fn inner(&self, area: Rect) -> Rect {
        frame().inner(self.place(area))
    }

    /// Draws the box and returns the room inside.
    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) -> Rect {
        let place = self.place(area);
        let style = app.theme.tone(self.tone).add_modifier(Modifier::BOLD);
        let block = frame()
            .border_style(style)
            .title_top(Span::styled(format!(" {} ", self.title), style))
            .title_bottom(self.edge(app, place));
        Clear.render(place, buffer);
        block.render(place, buffer);
        frame().inner(place)
    }

    /// Returns what lies under the mouse, as far as the box itself goes.
    pub(super) fn hit(&self, area: Rect, at: Position) -> Hit {
        let place = self.place(area);
        if !place.contains(at) {
            return Hit::Outside;
        }
        let is_edge = at.y + 1 == place.bottom();
        let mut end = usize::from(place.x) + 1;
        let under = self.shown(place).into_iter().find(|button| {
            end += button.columns();
            usize::from(at.x) < end
        });
        let action = under.filter(|_| is_edge && at.x > place.x).and_then(|button| button.action);
        action.map_or(Hit::Inside, Hit::Button)
    }

    /// Returns the buttons that fit; the last is the way out, and stays.
    fn shown(&self, place: Rect) -> Vec<&Button> {
        let Some((last, others)) = self.buttons.split_last() else { return Vec::new() };
        let mut room = usize::from(place.width).saturating_sub(2 + last.columns());
        let fitting = others.iter().take_while(|button| {
            let is_fitting = button.columns() <= room;
            room = room.saturating_sub(button.columns());
            is_fitting
        });
        fitting.chain([last]).collect()
    }

    fn edge(&self, app: &App, place: Rect) -> Line<'static> {
        let mut spans = Vec::new();
        for Button { key, what, .. } in self.shown(place) {
            let bold = app.theme.tone(Tone::Accent).add_modifier(Modifier::BOLD);
            spans.push(Span::styled(format!(" {key}"), bold));
            spans.push(Span::styled(format!(" {what} "), app.theme.tone(Tone::Dim)));
        }
        Line::from(spans)
    }
}

impl Button {
    /// Returns the button of an action, with the first key that means it.
    pub(super) fn new(app: &App, action: Action, what: &'static str) -> Option<Self> {
        Some(Self { key: app.keymap.hint(action)?, action: Some(action), what })
    }

    /// Returns the columns that it takes, with the blanks around its words.
    fn columns(&self) -> usize {
        width(&self.key) + width(self.what) + 3
    }
}

/// Draws a text on as many lines as there are.
pub(super) fn draw_wrapped(text: &str, style: Style, room: Rect, buffer: &mut Buffer) {
    for (row, line) in room.rows().zip(wrapped(text, usize::from(room.width))) {
        buffer.set_stringn(row.x, row.y, line, usize::from(row.width), style);
    }
}

/// Returns what went wrong or is under way, if anything; it stands out.
pub(super) fn remark(
    app: &App,
    fault: Option<&String>,
    progress: Option<String>,
) -> Option<(String, Style)> {
    let bold = |tone| app.theme.tone(tone).add_modifier(Modifier::BOLD);
    match fault {
        Some(fault) => Some((format!("✗ {fault}"), bold(Tone::Danger))),
        None => progress.map(|progress| (progress, bold(Tone::Accent))),
    }
}

fn frame() -> Block<'static> {
    Block::bordered().border_type(BorderType::Thick).padding(Padding::symmetric(2, 1))
}
