//! Keeps the picture up to date with as little work as the damage allows.

use std::collections::BTreeMap;

use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use super::bars::{draw_footer, draw_header, search_cursor};
use super::card::draw_card;
use super::cells::draw_centred;
use super::tile::{draw_frame, draw_pane};
use crate::model::{AgentName, Size};
use crate::tui::app::{App, Damage, Mode, PaneDamage, PaneOffset};
use crate::tui::grid::TileSlot;
use crate::tui::keys::Action;
use crate::tui::overlay::Overlay;
use crate::tui::reading::PaneReading;
use crate::tui::style::Tone;
use crate::tui::terminal::TerminalCanvas;

/// What is on the window, and which part of each pane that is.
#[derive(Debug)]
pub(crate) struct Picture {
    canvas: TerminalCanvas,
    views: BTreeMap<AgentName, PaneOffset>,
}

impl Picture {
    /// Returns a picture of nothing.
    pub(crate) fn new(window: Size) -> Self {
        Self { canvas: TerminalCanvas::new(window), views: BTreeMap::new() }
    }

    /// Draws what is damaged and returns what to write to the terminal.
    pub(crate) fn draw(&mut self, app: &App, damage: &Damage) -> &[u8] {
        self.canvas.set_abilities(app.settings.abilities);
        let area = self.canvas.area();
        if (area.height, area.width) != (app.window.rows, app.window.cols) {
            *self = Self::new(app.window);
            self.canvas.set_abilities(app.settings.abilities);
            self.draw_all(app);
        } else if damage.is_all || !app.overlays.is_empty() {
            self.draw_all(app);
        } else {
            self.draw_parts(app, damage);
        }
        self.canvas.flush()
    }

    /// Returns the picture as text, for tests.
    #[cfg(test)]
    pub(crate) fn buffer(&self) -> &ratatui::buffer::Buffer {
        &self.canvas.picture
    }

    fn draw_all(&mut self, app: &App) {
        let area = self.canvas.area();
        self.canvas.picture.reset();
        self.views.clear();
        draw_header(app, Rect { height: 1, ..area }, &mut self.canvas.picture);
        let slots = app.slots();
        for slot in &slots {
            if slot.is_card {
                self.draw_card(app, slot);
            } else {
                draw_frame(app, slot, &mut self.canvas.picture);
                self.draw_tile(app, slot, &PaneDamage { is_whole: true, rows: Vec::new() });
            }
        }
        if slots.is_empty() {
            self.draw_emptiness(app);
        }
        let footer = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
        if area.height > 1 {
            draw_footer(app, footer, &mut self.canvas.picture);
        }
        if app.overlays.iter().any(Overlay::dims) {
            self.dim(app);
        }
        for overlay in app.overlays.iter() {
            overlay.draw(app, app.body(), &mut self.canvas.picture);
        }
        self.canvas.mark_all();
        self.place_cursor(app, &slots);
    }

    /// Takes the colour out of what lies under an overlay.
    fn dim(&mut self, app: &App) {
        let area = self.canvas.area();
        let style = app.theme.tone(Tone::Faint).bg(Color::Reset).remove_modifier(Modifier::BOLD);
        let below_header = Rect { y: 1, height: area.height.saturating_sub(1), ..area };
        self.canvas.picture.set_style(below_header, style);
    }

    fn draw_parts(&mut self, app: &App, damage: &Damage) {
        let slots = app.slots();
        for slot in &slots {
            let pane = damage.panes.get(&app.agents[slot.index].name);
            if slot.is_card && (pane.is_some() || damage.has_labels) {
                self.draw_card(app, slot);
                continue;
            }
            if let Some(pane) = pane {
                self.draw_tile(app, slot, pane);
            }
            if damage.has_labels {
                self.draw_label(app, slot);
            }
        }
        self.place_cursor(app, &slots);
    }

    fn draw_tile(&mut self, app: &App, slot: &TileSlot, damage: &PaneDamage) {
        let name = &app.agents[slot.index].name;
        let inner = slot.inner();
        let pane = app.panes.get(name);
        let view =
            pane.map_or_else(PaneOffset::default, |pane| pane.view(inner.width, inner.height));
        let has_moved = self.views.insert(name.clone(), view) != Some(view);
        let rows = (!damage.is_whole && !has_moved).then_some(damage.rows.as_slice());
        for area in draw_pane(app, slot, view, rows, &mut self.canvas) {
            self.canvas.mark(area);
        }
    }

    fn draw_card(&mut self, app: &App, slot: &TileSlot) {
        draw_card(app, slot, &mut self.canvas.picture);
        self.canvas.mark(slot.area);
    }

    /// Draws the edge of a tile that tells since when something has been so.
    fn draw_label(&mut self, app: &App, slot: &TileSlot) {
        draw_frame(app, slot, &mut self.canvas.picture);
        self.canvas.mark(Rect { height: u16::from(slot.has_frame), ..slot.area });
        // The frame has sides, too, and they may have marks.
        self.draw_tile(app, slot, &PaneDamage { is_whole: true, rows: Vec::new() });
    }

    fn draw_emptiness(&mut self, app: &App) {
        let lines = match (&app.project, app.keymap.hint(Action::Teams)) {
            (None, _) => vec!["Loading…".to_owned()],
            (Some(_), Some(key)) => {
                vec!["No agents yet".to_owned(), format!("Press {key} to start a team")]
            }
            (Some(_), None) => vec!["No agents yet".to_owned()],
        };
        draw_centred(&lines, app.theme.tone(Tone::Dim), app.body(), &mut self.canvas.picture);
    }

    /// Shows the cursor where the person types, and nowhere else.
    fn place_cursor(&mut self, app: &App, slots: &[TileSlot]) {
        self.canvas.cursor = self.cursor(app, slots).filter(|_| app.overlays.is_empty());
        let pane = app.selected.as_ref().and_then(|name| app.panes.get(name));
        self.canvas.cursor_shape = pane.map_or(0, |pane| pane.cursor.shape);
    }

    fn cursor(&self, app: &App, slots: &[TileSlot]) -> Option<(u16, u16)> {
        if let Mode::Reading(reading) = &app.mode {
            return reading_cursor(app, reading, slots);
        }
        let name = app.selected.as_ref().filter(|_| app.is_typing())?;
        let slot = slots.iter().find(|slot| app.agents[slot.index].name == *name)?;
        let cursor = app.panes.get(name)?.cursor;
        let (view, inner) = (self.views.get(name)?, slot.inner());
        let x = cursor.col.checked_sub(view.col).filter(|x| *x < inner.width)?;
        let y = cursor.row.checked_sub(view.row).filter(|y| *y < inner.height)?;
        cursor.is_visible.then_some((inner.x + x, inner.y + y))
    }
}

/// Returns where the cursor of reading is seen; while what is typed goes to the pane, nowhere.
fn reading_cursor(app: &App, reading: &PaneReading, slots: &[TileSlot]) -> Option<(u16, u16)> {
    if let Some(input) = reading.input.as_ref() {
        return search_cursor(app, input);
    }
    let slot = slots.iter().find(|slot| app.agents[slot.index].name == reading.agent)?;
    let inner = slot.inner();
    let row = u16::try_from(reading.cursor.line.checked_sub(reading.top)?).ok()?;
    let col = reading.cursor.col.checked_sub(reading.left)?;
    let is_seen = row < inner.height && col < inner.width && !reading.was_typing;
    is_seen.then_some((inner.x + col, inner.y + row))
}
