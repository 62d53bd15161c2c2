//! Every key there is, straight from the keymap.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::dialog_box::{AROUND_COLS, AROUND_ROWS, DialogBox, Hit, buttons};
use super::stack::{Next, Overlay, means};
use crate::model::{AgentState, Key};
use crate::tui::app::App;
use crate::tui::keys::{Action, KeyScope, ListAction};
use crate::tui::style::{Tone, sign};
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
    fn move_by(&mut self, app: &App, lines: u16, is_down: bool) {
        let up = self.offset.saturating_sub(lines);
        let offset = if is_down { self.offset.saturating_add(lines) } else { up };
        self.offset = offset.min(hidden(app));
    }
}

impl Overlay for Help {
    /// The key that opens it closes it too.
    fn press(&mut self, app: &mut App, key: Key) -> Next {
        if means(app, key, Action::Help) {
            return Next::Close;
        }
        app.keymap.list_action(key).map_or(Next::Stay, |choice| self.choose(app, choice))
    }

    fn step(&mut self, app: &App, is_down: bool) {
        self.move_by(app, 1, is_down);
    }

    fn scroll(&mut self, app: &App, is_down: bool) {
        self.move_by(app, WHEEL_LINES, is_down);
    }

    fn accept(&mut self, _app: &mut App) -> Next {
        Next::Close
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        dialog(app, area, &lines(app)).hit(area, at)
    }

    /// Draws the list, in two columns if there is room.
    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
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
fn dialog(app: &App, area: Rect, lines: &[Line<'_>]) -> DialogBox {
    let total = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let fits_two = area.width >= 2 * COLUMN_COLS + GAP_COLS + AROUND_COLS;
    let columns = if fits_two && total + AROUND_ROWS > area.height { 2 } else { 1 };
    DialogBox {
        title: "Keys".to_owned(),
        tone: Tone::Accent,
        width: columns * COLUMN_COLS + (columns - 1) * GAP_COLS,
        height: total.div_ceil(columns),
        buttons: buttons(app, &[(ListAction::Down, "more"), (ListAction::Cancel, "close")]),
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
    for scope in KeyScope::ALL {
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
