//! The box that overlays are drawn in.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Padding, Widget};

use crate::tui::action::{Action, Choice};
use crate::tui::app::App;
use crate::tui::look::Tone;

/// A box in the middle, as large as its content asks for and the window allows.
pub(super) struct Dialog<'a> {
    pub title: &'a str,
    pub tone: Tone,
    pub width: u16,
    pub height: u16,
    /// Keys and what they do, for the lower edge.
    pub keys: &'a [(Choice, &'a str)],
}

/// Columns and rows that the frame and its padding take.
pub(super) const AROUND_COLS: u16 = 6;
pub(super) const AROUND_ROWS: u16 = 4;

impl Dialog<'_> {
    /// Draws the box and returns the room inside.
    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) -> Rect {
        let width = (self.width.saturating_add(AROUND_COLS)).min(area.width);
        let height = (self.height.saturating_add(AROUND_ROWS)).min(area.height);
        let place = Rect {
            x: area.x + (area.width - width) / 2,
            y: area.y + (area.height - height) / 2,
            width,
            height,
        };
        let style = app.theme.tone(self.tone).add_modifier(Modifier::BOLD);
        let block = Block::bordered()
            .border_type(BorderType::Thick)
            .border_style(style)
            .title_top(Span::styled(format!(" {} ", self.title), style))
            .title_bottom(self.hints(app))
            .padding(Padding::symmetric(2, 1));
        let inner = block.inner(place);
        Clear.render(place, buffer);
        block.render(place, buffer);
        inner
    }

    fn hints(&self, app: &App) -> Line<'static> {
        let mut spans = Vec::new();
        for (choice, what) in self.keys {
            let Some(key) = app.keymap.hint(Action::Choose(*choice)) else { continue };
            let bold = app.theme.tone(Tone::Accent).add_modifier(Modifier::BOLD);
            spans.push(Span::styled(format!(" {key}"), bold));
            spans.push(Span::styled(format!(" {what} "), app.theme.tone(Tone::Dim)));
        }
        Line::from(spans)
    }
}
