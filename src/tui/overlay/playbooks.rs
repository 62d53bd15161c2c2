//! Playbooks to run: what each is for, its graph, and what must be said before it begins.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::dialog::{Dialog, Hit, buttons};
use super::launcher::Launcher;
use super::list::{first_shown, item_at, stepped, turned};
use super::stack::Fate;
use super::wrapped::wrapped;
use crate::model::{Key, KeyCode};
use crate::tui::action::Choice;
use crate::tui::app::App;
use crate::tui::look::Tone;
use crate::tui::options::{Ended, PlaybookOffer, RunWish};
use crate::tui::text::{clean, clip};

/// The list of playbooks, and what was said so far about the chosen one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Playbooks {
    chosen: usize,
    /// Scripted agents take the place of all.
    is_rehearsal: bool,
    /// Which of the variables without a default is asked for.
    asked: Option<usize>,
    /// What stands on the line.
    text: String,
    values: BTreeMap<String, String>,
    fault: Option<&'static str>,
}

const WIDTH: u16 = 100;
/// What fills a variable is a sentence or a path.
const TEXT_CHARS_MAX: usize = 500;

impl Playbooks {
    /// Says whether letters are written into it.
    pub(super) fn writes(&self) -> bool {
        self.asked.is_some()
    }

    pub(super) fn press(&mut self, app: &mut App, key: Key) -> Fate {
        let choice =
            if self.writes() { app.keymap.choice_beside_text(key) } else { app.keymap.choice(key) };
        if let Some(choice) = choice {
            return self.choose(app, choice);
        }
        if !self.writes() {
            return Fate::Stay;
        }
        let is_plain = !key.modifiers.control && !key.modifiers.alt;
        if key.code == KeyCode::Backspace {
            self.text.pop();
        } else if let KeyCode::Char(c) = key.code {
            if is_plain {
                self.write(c.encode_utf8(&mut [0; 4]));
            } else if c == 'u' && key.modifiers.control {
                self.text.clear();
            }
        }
        Fate::Stay
    }

    /// Adds to the line what can be part of one.
    pub(super) fn write(&mut self, text: &str) {
        if self.writes() {
            let room = TEXT_CHARS_MAX.saturating_sub(self.text.chars().count());
            self.text.extend(text.chars().filter(|c| !c.is_control()).take(room));
            self.fault = None;
        }
    }

    pub(super) fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        let count = app.settings.playbooks.len();
        match choice {
            Choice::Up if !self.writes() => self.pick(stepped(self.chosen, count, false)),
            Choice::Down if !self.writes() => self.pick(stepped(self.chosen, count, true)),
            Choice::Toggle if !self.writes() => self.is_rehearsal = !self.is_rehearsal,
            Choice::Up | Choice::Down | Choice::Toggle => {}
            Choice::Accept => self.accept(app),
            Choice::Cancel if self.writes() => self.pick(self.chosen),
            Choice::Cancel => return Fate::Close,
        }
        Fate::Stay
    }

    pub(super) fn turn(&mut self, app: &App, is_down: bool) {
        if !self.writes() {
            self.pick(turned(self.chosen, app.settings.playbooks.len(), is_down));
        }
    }

    pub(super) fn pick(&mut self, index: usize) {
        let is_rehearsal = self.is_rehearsal;
        *self = Self { chosen: index, is_rehearsal, ..Self::default() };
    }

    /// Takes what stands on the line and asks for the next thing; once all is said, the run begins.
    fn accept(&mut self, app: &mut App) {
        let Some(offer) = app.settings.playbooks.get(self.chosen) else { return };
        let wanted: Vec<&String> = offer.wanted().collect();
        let mut next = 0;
        if let Some(asked) = self.asked {
            let text = self.text.trim().to_owned();
            if text.is_empty() {
                self.fault = Some("Write something first");
                return;
            }
            if let Some(name) = wanted.get(asked) {
                self.values.insert((*name).clone(), text);
            }
            self.text.clear();
            next = asked + 1;
        }
        if next < wanted.len() {
            self.asked = Some(next);
            return;
        }
        app.end = Some(Ok(Ended::RunWanted(RunWish {
            playbook: offer.name.clone(),
            vars: std::mem::take(&mut self.values),
            is_rehearsal: self.is_rehearsal,
        })));
    }

    fn dialog(&self, app: &App) -> Dialog {
        let rows = |offer: &PlaybookOffer| offer.waves.len() * 2 + offer.vars.len() + 10;
        let rows = app.settings.playbooks.iter().map(rows).max().unwrap_or(8);
        let choices: &[(Choice, &'static str)] = if self.writes() {
            &[(Choice::Accept, "go on"), (Choice::Cancel, "back")]
        } else {
            &[
                (Choice::Accept, "run"),
                (Choice::Toggle, "scripted agents"),
                (Choice::Up, "up"),
                (Choice::Down, "down"),
                (Choice::Cancel, "close"),
            ]
        };
        Dialog {
            title: "Run a playbook".to_owned(),
            tone: Tone::Accent,
            width: WIDTH,
            height: u16::try_from(rows).unwrap_or(u16::MAX),
            buttons: buttons(app, choices),
        }
    }

    /// Returns what lies under the mouse.
    pub(super) fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let (dialog, count) = (self.dialog(app), app.settings.playbooks.len());
        let (list, _) = Launcher::parts(dialog.inner(area), count);
        let item = item_at(self.chosen, count, list, at).filter(|_| !self.writes());
        item.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = self.dialog(app).draw(app, area, buffer);
        let offers = &app.settings.playbooks;
        let (list, details) = Launcher::parts(inner, offers.len());
        let shown = offers.iter().enumerate().skip(first_shown(self.chosen, list));
        for (row, (index, offer)) in list.rows().zip(shown) {
            let is_chosen = index == self.chosen;
            let style =
                if is_chosen { app.theme.block(Tone::Accent) } else { app.theme.tone(Tone::Text) };
            let room = usize::from(row.width);
            let text = format!(" {:<room$}", clip(&clean(&offer.name), room.saturating_sub(2)));
            buffer.set_stringn(row.x, row.y, text, room, style);
        }
        if let Some(offer) = offers.get(self.chosen) {
            let lines = self.details(app, offer, usize::from(details.width));
            for (row, line) in details.rows().zip(lines) {
                buffer.set_line(row.x, row.y, &line, row.width);
            }
        }
    }

    fn details(&self, app: &App, offer: &PlaybookOffer, room: usize) -> Vec<Line<'static>> {
        let (dim, text) = (app.theme.tone(Tone::Dim), app.theme.tone(Tone::Text));
        let bold = text.add_modifier(Modifier::BOLD);
        let who = if self.is_rehearsal { "scripted agents" } else { "real agents" };
        let about = format!("  {} · {who}", offer.pattern);
        let mut lines = vec![Line::from(vec![
            Span::styled(clean(&offer.name), bold),
            Span::styled(about, dim),
        ])];
        lines.extend(
            wrapped(&clean(&offer.purpose), room).into_iter().map(|l| Line::styled(l, dim)),
        );
        lines.push(Line::default());
        if let Some(name) = self.asked.and_then(|asked| offer.wanted().nth(asked)) {
            lines.extend(self.question(app, offer, name, room));
            return lines;
        }
        for (at, wave) in offer.waves.iter().enumerate() {
            if at > 0 {
                lines.push(Line::styled("│", dim));
            }
            let tasks = wrapped(&clean(&wave.join(" · ")), room.saturating_sub(2));
            for (row, tasks) in tasks.into_iter().enumerate() {
                let mark = if row == 0 { "● " } else { "│ " };
                lines.push(Line::from(vec![Span::styled(mark, dim), Span::styled(tasks, text)]));
            }
        }
        lines.push(Line::default());
        let agents = format!("by {}", clean(&offer.agents.join(", ")));
        lines.extend(wrapped(&agents, room).into_iter().map(|line| Line::styled(line, dim)));
        for (name, what, default) in &offer.vars {
            let given = default.as_deref().map_or("asked for".to_owned(), clean);
            let line = format!("{name} = {given}  ({})", clean(what));
            lines.push(Line::styled(clip(&line, room).into_owned(), dim));
        }
        lines
    }

    /// Returns the lines in which a variable is asked for.
    fn question(
        &self,
        app: &App,
        offer: &PlaybookOffer,
        name: &str,
        room: usize,
    ) -> Vec<Line<'static>> {
        let what = offer.vars.iter().find(|(known, ..)| known == name).map(|(_, what, _)| what);
        let label =
            format!("{}: {}", clean(name), what.map(|what| clean(what)).unwrap_or_default());
        let mut lines: Vec<Line> = wrapped(&label, room).into_iter().map(Line::from).collect();
        let typed = clean(&self.text);
        let skip = typed.chars().count().saturating_sub(room.saturating_sub(4));
        let typed: String = typed.chars().skip(skip).collect();
        lines.push(Line::styled(format!("> {typed}▏"), app.theme.tone(Tone::Accent)));
        if let Some(fault) = self.fault {
            lines.push(Line::styled(format!("✗ {fault}"), app.theme.tone(Tone::Danger)));
        }
        lines
    }
}
