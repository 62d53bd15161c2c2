//! Every key there is, straight from the keymap.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::dialog::{AROUND_COLS, AROUND_ROWS, Dialog, Hit, buttons};
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

/// Lines that one notch of the wheel turns.
const WHEEL_LINES: u16 = 3;

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
    pub(super) fn choose(&mut self, app: &App, choice: Choice) -> Fate {
        match choice {
            Choice::Up => self.offset = self.offset.saturating_sub(1),
            Choice::Down => self.offset = self.offset.saturating_add(1).min(hidden(app)),
            Choice::Toggle => {}
            Choice::Cancel | Choice::Accept => return Fate::Close,
        }
        Fate::Stay
    }

    pub(super) fn turn(&mut self, app: &App, is_down: bool) {
        let offset = if is_down {
            self.offset.saturating_add(WHEEL_LINES)
        } else {
            self.offset.saturating_sub(WHEEL_LINES)
        };
        self.offset = offset.min(hidden(app));
    }

    /// Returns what lies under the mouse.
    pub(super) fn hit(app: &App, area: Rect, at: Position) -> Hit {
        dialog(app, area, &lines(app)).hit(area, at)
    }

    /// Draws the list, in two columns if there is room.
    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let lines = lines(app);
        let dialog = dialog(app, area, &lines);
        let inner = dialog.draw(app, area, buffer);
        let height = dialog.height;
        let offset = usize::from(self.offset.min(height.saturating_sub(inner.height)));
        for (column, part) in lines.chunks(usize::from(height).max(1)).enumerate() {
            let shift = u16::try_from(column).unwrap_or(0) * (COLUMN_COLS + GAP_COLS);
            for (row, line) in inner.rows().zip(part.iter().skip(offset)) {
                let room = row.width.saturating_sub(shift);
                buffer.set_line(row.x + shift, row.y, line, room.min(COLUMN_COLS));
            }
        }
    }
}

/// Returns the box, with two columns if there is room and need.
fn dialog(app: &App, area: Rect, lines: &[Line<'_>]) -> Dialog {
    let total = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let fits_two = area.width >= 2 * COLUMN_COLS + GAP_COLS + AROUND_COLS;
    let columns = if fits_two && total + AROUND_ROWS > area.height { 2 } else { 1 };
    Dialog {
        title: "Keys".to_owned(),
        tone: Tone::Accent,
        width: columns * COLUMN_COLS + (columns - 1) * GAP_COLS,
        height: total.div_ceil(columns),
        buttons: buttons(app, &[(Choice::Down, "more"), (Choice::Cancel, "close")]),
    }
}

/// Returns how many lines do not fit.
fn hidden(app: &App) -> u16 {
    let dialog = dialog(app, app.body(), &lines(app));
    dialog.height.saturating_sub(dialog.inner(app.body()).height)
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
