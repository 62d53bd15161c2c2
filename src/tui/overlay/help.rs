//! Every key there is, straight from the keymap.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::dialog::{AROUND_COLS, AROUND_ROWS, Dialog};
use super::stack::Fate;
use crate::model::AgentState;
use crate::tui::action::{Choice, Scope};
use crate::tui::app::App;
use crate::tui::look::{Tone, sign};
use crate::tui::text::width;

/// The help, which can be scrolled where the window is small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Help {
    offset: u16,
}

const COLUMN_COLS: u16 = 54;
const GAP_COLS: u16 = 3;
const KEY_COLS: usize = 16;

const STATES: [AgentState; 10] = [
    AgentState::Starting,
    AgentState::Idle,
    AgentState::Working,
    AgentState::Waiting,
    AgentState::Blocked,
    AgentState::Done,
    AgentState::Error,
    AgentState::Limited,
    AgentState::Unknown,
    AgentState::Exited,
];

impl Help {
    /// Takes a key.
    pub(crate) fn press(&mut self, choice: Option<Choice>) -> Fate {
        match choice {
            Some(Choice::Up) => self.offset = self.offset.saturating_sub(1),
            Some(Choice::Down) => self.offset = self.offset.saturating_add(1),
            Some(Choice::Cancel | Choice::Accept) => return Fate::Close,
            None => {}
        }
        Fate::Stay
    }

    /// Draws the list, in two columns if there is room.
    pub(crate) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let lines = lines(app);
        let total = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        let fits_two = area.width >= 2 * COLUMN_COLS + GAP_COLS + AROUND_COLS;
        let columns = if fits_two && total + AROUND_ROWS > area.height { 2 } else { 1 };
        let height = total.div_ceil(columns);
        let dialog = Dialog {
            title: "Keys",
            tone: Tone::Accent,
            width: columns * COLUMN_COLS + (columns - 1) * GAP_COLS,
            height,
            keys: &[(Choice::Down, "more"), (Choice::Cancel, "close")],
        };
        let inner = dialog.draw(app, area, buffer);
        let hidden = height.saturating_sub(inner.height);
        let offset = usize::from(self.offset.min(hidden));
        for (column, part) in lines.chunks(usize::from(height).max(1)).enumerate() {
            let shift = u16::try_from(column).unwrap_or(0) * (COLUMN_COLS + GAP_COLS);
            for (row, line) in inner.rows().zip(part.iter().skip(offset)) {
                let room = row.width.saturating_sub(shift);
                buffer.set_line(row.x + shift, row.y, line, room.min(COLUMN_COLS));
            }
        }
    }
}

fn lines(app: &App) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let heading = app.theme.tone(Tone::Accent).add_modifier(Modifier::BOLD);
    for scope in Scope::ALL {
        lines.push(Line::styled(scope.heading(), heading));
        for (keys, what) in app.keymap.help(scope) {
            let pad = KEY_COLS.saturating_sub(width(&keys));
            lines.push(Line::from(vec![
                Span::styled(format!("  {keys}{} ", " ".repeat(pad)), app.theme.tone(Tone::Text)),
                Span::styled(what, app.theme.tone(Tone::Dim)),
            ]));
        }
        lines.push(Line::default());
    }
    lines.push(Line::styled("Signs", heading));
    for pair in STATES.chunks(5) {
        let spans = pair.iter().map(|state| {
            Span::styled(format!("  {} {state}", sign(*state)), app.theme.state(*state))
        });
        lines.push(Line::from(spans.collect::<Vec<_>>()));
    }
    lines
}
