//! Looks for a pattern in every pane and all that has scrolled off it, while it is typed.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::dialog_box::{Button, DialogBox, Hit};
use super::list::{List, entry};
use super::stack::{Handled, Next, Overlay};
use crate::api::{Fault, Request, Response};
use crate::model::{AgentName, Key, KeyCode};
use crate::tui::app::{App, PaneGoal, Purpose};
use crate::tui::keys::{Action, ListAction, is_text, off_the_pad};
use crate::tui::prompt::TextEditor;
use crate::tui::reading::{PaneReading, SearchPattern};
use crate::tui::style::Tone;
use crate::tui::text::{clean, clip, padded, width};

/// The line of the pattern, what was found, and the texts that are searched.
#[derive(Debug)]
pub(crate) struct SearchBox {
    input: TextEditor,
    pattern: Option<SearchPattern>,
    texts: BTreeMap<AgentName, PaneReading>,
    /// Those whose pane cannot be read, and why.
    faults: BTreeMap<AgentName, String>,
    found: Vec<FoundLine>,
    /// How many lines have it, listed or not.
    count: usize,
    chosen: usize,
}

/// A line that has the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FoundLine {
    agent: AgentName,
    line: u64,
}

/// Lines of one agent that are listed: the newest.
const FOUND_MAX: usize = 300;

const WIDTH: u16 = 110;
const NAME_COLS: usize = 14;

/// Rows above the list: the line of the pattern and a blank one.
const INPUT_ROWS: u16 = 2;

/// Lines shown on each side of the chosen one.
const CONTEXT: u64 = 2;
const CONTEXT_ROWS: u16 = 6;

impl SearchBox {
    /// Returns the box, and asks for all panes.
    pub(crate) fn open(app: &mut App) -> Self {
        let faults = BTreeMap::new();
        for agent in app.names() {
            let request = Request::Screen { agent: agent.to_string() };
            app.ask(Purpose::Search { agent }, request);
        }
        Self {
            input: TextEditor::new(""),
            pattern: None,
            texts: BTreeMap::new(),
            faults,
            found: Vec::new(),
            count: 0,
            chosen: 0,
        }
    }

    /// Takes a part of a pane's text, and asks for the part before it.
    pub(crate) fn take(
        &mut self,
        app: &mut App,
        agent: &AgentName,
        outcome: Result<Response, Fault>,
    ) {
        match outcome {
            Ok(Response::Screen { first, rows, .. }) => {
                let mut text = PaneReading::of_rows(agent.clone(), first, rows);
                text.want_all();
                text.mark(self.pattern.clone());
                self.texts.insert(agent.clone(), text);
            }
            Ok(Response::History { first, kept_from, rows, .. }) => {
                if let Some(text) = self.texts.get_mut(agent) {
                    text.add(first, kept_from, rows);
                }
            }
            Ok(_) => return,
            Err(fault) => drop(self.faults.insert(agent.clone(), fault.message)),
        }
        if let Some(text) = self.texts.get_mut(agent)
            && let Some((before, count)) = text.wanted()
        {
            text.is_asking = true;
            let request =
                Request::History { agent: agent.to_string(), before: Some(before), count };
            app.ask(Purpose::Search { agent: agent.clone() }, request);
        }
        self.list_found(app);
    }

    fn is_loading(&self, app: &App) -> bool {
        let is_here = |agent: &AgentName| {
            self.faults.contains_key(agent)
                || self.texts.get(agent).is_some_and(PaneReading::is_loaded)
        };
        !app.names().iter().all(is_here)
    }

    fn look(&mut self, app: &App) {
        self.pattern = SearchPattern::typed(self.input.text());
        for text in self.texts.values_mut() {
            text.mark(self.pattern.clone());
        }
        self.chosen = 0;
        self.list_found(app);
    }

    /// Lists the lines that have the pattern: agent by agent as they stand in the grid, the newest
    /// first. The chosen one stays chosen.
    fn list_found(&mut self, app: &App) {
        let chosen = self.found.get(self.chosen).cloned();
        self.found.clear();
        self.count = 0;
        for agent in app.names() {
            let Some(search) = self.texts.get(&agent).and_then(|text| text.search.as_ref()) else {
                continue;
            };
            let mut lines: Vec<u64> = search.hits.iter().map(|hit| hit.from.line).collect();
            lines.dedup();
            self.count += lines.len();
            let newest = lines.into_iter().rev().take(FOUND_MAX);
            self.found.extend(newest.map(|line| FoundLine { agent: agent.clone(), line }));
        }
        let place = chosen.and_then(|chosen| self.found.iter().position(|one| *one == chosen));
        self.chosen = place.unwrap_or(self.chosen).min(self.found.len().saturating_sub(1));
    }

    fn text(&self, agent: &AgentName, line: u64) -> String {
        let row = self.texts.get(agent).and_then(|text| text.line(line));
        row.map(|row| clean(row.text().trim_end())).unwrap_or_default()
    }

    fn dialog(app: &App) -> DialogBox {
        let button = |choice, what| Button {
            key: app.keymap.hint_beside_text(choice),
            action: Some(Action::Choose(choice)),
            what,
        };
        DialogBox {
            title: "Search in all panes".to_owned(),
            tone: Tone::Accent,
            width: WIDTH,
            height: u16::MAX,
            buttons: vec![
                button(ListAction::Accept, "go there"),
                button(ListAction::Up, "up"),
                button(ListAction::Down, "down"),
                button(ListAction::Cancel, "close"),
            ],
        }
    }

    /// Returns the rooms of the input, the list, and the context of the chosen line.
    fn rooms(inner: Rect) -> (Rect, Rect, Rect) {
        let input = Rect { height: inner.height.min(1), ..inner };
        let rest = inner.height.saturating_sub(INPUT_ROWS);
        let context_rows = if rest > 2 * CONTEXT_ROWS { CONTEXT_ROWS } else { 0 };
        let list = Rect {
            y: inner.y + INPUT_ROWS.min(inner.height),
            height: rest - context_rows,
            ..inner
        };
        let context = Rect { y: list.bottom(), height: context_rows, ..inner };
        (input, list, context)
    }

    fn status(&self, app: &App) -> String {
        let loading = if self.is_loading(app) { " · reading…" } else { "" };
        let unread = if self.faults.is_empty() {
            String::new()
        } else {
            let names: Vec<&str> = self.faults.keys().map(AgentName::as_str).collect();
            format!(" · cannot be read: {}", names.join(", "))
        };
        match (&self.pattern, self.count) {
            (None, _) => format!("a regular expression{loading}{unread}"),
            (Some(_), 1) => format!("1 line{loading}{unread}"),
            (Some(_), count) => format!("{count} lines{loading}{unread}"),
        }
    }

    fn draw_context(&self, app: &App, room: Rect, buffer: &mut Buffer) {
        let Some(chosen) = self.found.get(self.chosen).filter(|_| room.height > 1) else { return };
        let rule = "─".repeat(usize::from(room.width));
        buffer.set_stringn(
            room.x,
            room.y,
            rule,
            usize::from(room.width),
            app.theme.tone(Tone::Faint),
        );
        let lines = chosen.line.saturating_sub(CONTEXT)..=chosen.line + CONTEXT;
        for (row, line) in room.rows().skip(1).zip(lines) {
            let tone = if line == chosen.line { Tone::Text } else { Tone::Dim };
            let text = self.text(&chosen.agent, line);
            buffer.set_stringn(row.x, row.y, text, usize::from(row.width), app.theme.tone(tone));
        }
    }
}

impl Overlay for SearchBox {
    fn press(&mut self, app: &mut App, key: Key) -> Next {
        if let Some(choice) = app.keymap.list_action_beside_text(key) {
            return self.choose(app, choice);
        }
        let before = self.input.text().to_owned();
        let written = off_the_pad(key);
        if let KeyCode::Char(c) = written.code
            && is_text(written)
        {
            self.input.insert(&c.to_string());
        } else {
            self.input.press_in_line(&app.keymap, key);
        }
        if self.input.text() != before {
            self.look(app);
        }
        Next::Stay
    }

    fn writes(&self) -> bool {
        true
    }

    fn paste(&mut self, app: &App, text: &str) -> Handled {
        self.input.insert(text.lines().next().unwrap_or_default());
        self.look(app);
        Handled::Consumed
    }

    fn list(&self, _app: &App) -> List {
        List { chosen: self.chosen, count: self.found.len() }
    }

    fn pick(&mut self, _app: &App, index: usize) {
        self.chosen = index;
    }

    fn accept(&mut self, app: &mut App) -> Next {
        let (Some(found), Some(pattern)) = (self.found.get(self.chosen), self.pattern.clone())
        else {
            return Next::Stay;
        };
        let FoundLine { agent, line } = found.clone();
        app.goal = Some(PaneGoal { agent, line, pattern });
        Next::Close
    }

    fn lose_hub(&mut self) {
        self.texts.values_mut().for_each(|text| text.is_asking = false);
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = Self::dialog(app);
        let (_, list, _) = Self::rooms(dialog.inner(area));
        let item = self.list(app).entry_at(list, at);
        item.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = Self::dialog(app).draw(app, area, buffer);
        let (input, list, context) = Self::rooms(inner);
        let status = self.status(app);
        let status_cols = u16::try_from(width(&status)).unwrap_or(u16::MAX).min(input.width / 2);
        let room = Rect { width: input.width.saturating_sub(status_cols + 1), ..input };
        self.input.draw(room, true, app.theme.tone(Tone::Text), buffer);
        let dim = app.theme.tone(Tone::Dim);
        buffer.set_stringn(room.right() + 1, input.y, status, usize::from(status_cols), dim);
        self.list(app).draw(list, buffer, |index, is_chosen, columns| {
            let found = &self.found[index];
            let name = padded(&clip(found.agent.as_str(), NAME_COLS), NAME_COLS);
            let arrow = if is_chosen { "▸" } else { " " };
            let text = self.text(&found.agent, found.line);
            let line = format!("{arrow} {name} {}", text.trim_start());
            entry(app, &line, is_chosen, app.theme.tone(Tone::Text), columns)
        });
        self.draw_context(app, context, buffer);
    }
}
