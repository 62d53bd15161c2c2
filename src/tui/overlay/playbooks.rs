//! Playbooks to run: what each is for, its graph, and what must be said before it begins.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::dialog_box::{DialogBox, Hit, buttons};
use super::launcher::Launcher;
use super::list::{List, entry};
use super::stack::{Handled, Next, Overlay};
use crate::model::{Key, KeyCode};
use crate::tui::app::App;
use crate::tui::keys::ListAction;
use crate::tui::keys::is_text;
use crate::tui::options::{Ended, PlaybookOffer, RunWish};
use crate::tui::prompt::TextEditor;
use crate::tui::style::Tone;
use crate::tui::text::{clean, clip, wrapped};

/// The list of playbooks, and what was said so far about the chosen one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlaybookList {
    chosen: usize,
    /// Scripted agents take the place of all.
    is_rehearsal: bool,
    /// Which of the variables without a default is asked for.
    asked: Option<usize>,
    /// What stands on the line.
    line: TextEditor,
    values: BTreeMap<String, String>,
    fault: Option<&'static str>,
}

const WIDTH: u16 = 100;
/// What fills a variable is a sentence or a path.
const LINE_CHARS_MAX: usize = 500;

impl PlaybookList {
    /// Adds to the line what can be part of one.
    fn write(&mut self, text: &str) {
        if self.writes() {
            let room = LINE_CHARS_MAX.saturating_sub(self.line.text().chars().count());
            let fitting = text.chars().filter(|c| !c.is_control()).take(room);
            self.line.insert(&fitting.collect::<String>());
            self.fault = None;
        }
    }

    /// Takes what stands on the line and asks for the next thing; once all is said, the run begins.
    fn answer(&mut self, app: &mut App) {
        let Some(offer) = app.settings.playbooks.get(self.chosen) else { return };
        let wanted: Vec<&String> = offer.wanted().collect();
        let mut next = 0;
        if let Some(asked) = self.asked {
            let text = self.line.text().trim().to_owned();
            if text.is_empty() {
                self.fault = Some("Write something first");
                return;
            }
            if let Some(name) = wanted.get(asked) {
                self.values.insert((*name).clone(), text);
            }
            self.line = TextEditor::default();
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

    fn dialog(&self, app: &App) -> DialogBox {
        let rows = |offer: &PlaybookOffer| offer.waves.len() * 2 + offer.vars.len() + 10;
        let rows = app.settings.playbooks.iter().map(rows).max().unwrap_or(8);
        let choices: &[(ListAction, &'static str)] = if self.writes() {
            &[(ListAction::Accept, "go on"), (ListAction::Cancel, "back")]
        } else {
            &[
                (ListAction::Accept, "run"),
                (ListAction::Toggle, "scripted agents"),
                (ListAction::Up, "up"),
                (ListAction::Down, "down"),
                (ListAction::Cancel, "close"),
            ]
        };
        DialogBox {
            title: "Run a playbook".to_owned(),
            tone: Tone::Accent,
            width: WIDTH,
            height: u16::try_from(rows).unwrap_or(u16::MAX),
            buttons: buttons(app, choices),
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
        let (before, after) = self.line.text().split_at(self.line.before_cursor().len());
        let (before, after) = (clean(before), clean(after));
        let skip = before.chars().count().saturating_sub(room.saturating_sub(4));
        let before: String = before.chars().skip(skip).collect();
        lines.push(Line::styled(format!("> {before}▏{after}"), app.theme.tone(Tone::Accent)));
        if let Some(fault) = self.fault {
            lines.push(Line::styled(format!("✗ {fault}"), app.theme.tone(Tone::Danger)));
        }
        lines
    }
}

impl Overlay for PlaybookList {
    fn writes(&self) -> bool {
        self.asked.is_some()
    }

    fn press(&mut self, app: &mut App, key: Key) -> Next {
        let choice = if self.writes() {
            app.keymap.list_action_beside_text(key)
        } else {
            app.keymap.list_action(key)
        };
        if let Some(choice) = choice {
            return self.choose(app, choice);
        }
        if let (KeyCode::Char(c), true) = (key.code, is_text(key)) {
            self.write(c.encode_utf8(&mut [0; 4]));
        } else if self.writes() {
            self.line.press_in_line(&app.keymap, key);
        }
        Next::Stay
    }

    fn paste(&mut self, _app: &App, text: &str) -> Handled {
        self.write(text);
        Handled::Consumed
    }

    fn list(&self, app: &App) -> List {
        List { chosen: self.chosen, count: app.settings.playbooks.len() }
    }

    fn pick(&mut self, _app: &App, index: usize) {
        let is_rehearsal = self.is_rehearsal;
        *self = Self { chosen: index, is_rehearsal, ..Self::default() };
    }

    fn step(&mut self, app: &App, is_down: bool) {
        if !self.writes() {
            self.pick(app, self.list(app).stepped(is_down));
        }
    }

    fn scroll(&mut self, app: &App, is_down: bool) {
        if !self.writes() {
            self.pick(app, self.list(app).scrolled(is_down));
        }
    }

    fn toggle(&mut self, _app: &mut App) -> Next {
        self.is_rehearsal ^= !self.writes();
        Next::Stay
    }

    fn accept(&mut self, app: &mut App) -> Next {
        self.answer(app);
        Next::Stay
    }

    fn cancel(&mut self, app: &mut App) -> Next {
        if !self.writes() {
            return Next::Close;
        }
        self.pick(app, self.chosen);
        Next::Stay
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = self.dialog(app);
        let (list, _) = Launcher::parts(dialog.inner(area), app.settings.playbooks.len());
        let playbook = self.list(app).entry_at(list, at).filter(|_| !self.writes());
        playbook.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = self.dialog(app).draw(app, area, buffer);
        let offers = &app.settings.playbooks;
        let (list, details) = Launcher::parts(inner, offers.len());
        self.list(app).draw(list, buffer, |index, is_chosen, room| {
            let name = clean(&offers[index].name);
            let text = format!(" {}", clip(&name, room.saturating_sub(2)));
            entry(app, &text, is_chosen, app.theme.tone(Tone::Text), room)
        });
        if let Some(offer) = offers.get(self.chosen) {
            let lines = self.details(app, offer, usize::from(details.width));
            for (row, line) in details.rows().zip(lines) {
                buffer.set_line(row.x, row.y, &line, row.width);
            }
        }
    }
}
