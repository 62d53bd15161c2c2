//! Draws the player; reads it and changes nothing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::state::FilmPlayer;
use crate::history::{PastMoment, clock};
use crate::model::TaskState;
use crate::tui::draw::draw_row;
use crate::tui::style::{Tone, sign};
use crate::tui::text::{clean, clip, width};

/// Columns of the lists beside the screen, and the least that a window has where they are shown.
const LISTS_COLS: u16 = 34;
const LISTS_FROM_COLS: u16 = 90;
/// Rows above the screen, and the one below it.
const HEAD_ROWS: u16 = 3;

const KEYS: &str =
    "←→ event  pgup/pgdn minute  home/end  space play  +- speed  tab 1-9 agent  q leave";

/// Draws everything.
pub(super) fn draw(player: &FilmPlayer, area: Rect, buffer: &mut Buffer) {
    buffer.reset();
    let page = Page { player, dim: player.theme.tone(Tone::Dim) };
    page.head(area, buffer);
    let below = area.height.saturating_sub(HEAD_ROWS + 1);
    let body = Rect { y: area.y + HEAD_ROWS, height: below, ..area };
    let has_lists = area.width >= LISTS_FROM_COLS;
    let lists = if has_lists { LISTS_COLS } else { 0 };
    if has_lists {
        page.lists(Rect { width: lists - 2, ..body }, buffer);
    }
    let screen = Rect { x: body.x + lists, width: body.width - lists, ..body };
    page.screen(screen, buffer);
    if area.height > HEAD_ROWS {
        let last = Rect { y: area.bottom() - 1, height: 1, ..area };
        put(last, 0, KEYS, page.dim, buffer);
    }
}

struct Page<'a> {
    player: &'a FilmPlayer,
    dim: Style,
}

impl Page<'_> {
    fn head(&self, area: Rect, buffer: &mut Buffer) {
        let player = self.player;
        let bold = player.theme.tone(Tone::Accent).add_modifier(Modifier::BOLD);
        let play = if player.is_playing { "▶" } else { "⏸" };
        let (entry, all) = (player.index.saturating_add(1), player.entries.len());
        let title = format!(
            "Replay {}  {} UTC  entry {entry} of {all}  {play} {}×",
            clean(&player.run),
            clock(player.at),
            player.speed()
        );
        put(area, 0, &title, bold, buffer);
        put(area, 1, &self.progress(area.width), self.dim, buffer);
        let told = match (&player.scene, player.entries.get(player.index)) {
            (Err(fault), _) => format!("This moment cannot be shown: {}", clean(fault)),
            (Ok(_), Some(told)) => {
                let entry = &told.entry;
                let agent = entry.agent.as_ref().map(|name| format!("{name} ")).unwrap_or_default();
                let task = entry.task.as_ref().map(|task| format!("{task} ")).unwrap_or_default();
                clean(&format!("{} {agent}{task}{} {}", told.seq, entry.kind, entry.text))
            }
            (Ok(_), None) => String::new(),
        };
        put(area, 2, &told, player.theme.tone(Tone::Text), buffer);
    }

    /// Returns how far into the run this is.
    fn progress(&self, columns: u16) -> String {
        let (first, last) = self.player.bounds();
        let (past, all) = (self.player.at.since(first), last.since(first));
        let room = u128::from(columns.saturating_sub(1));
        let place = (past.as_millis() * room).checked_div(all.as_millis()).unwrap_or(0);
        let place = usize::try_from(place).unwrap_or(0);
        let rest = usize::from(columns).saturating_sub(place + 1);
        format!("{}●{}", "━".repeat(place), "─".repeat(rest))
    }

    fn lists(&self, area: Rect, buffer: &mut Buffer) {
        let Ok(scene) = &self.player.scene else { return };
        let mut lines: Vec<(String, Style)> = Vec::new();
        self.agents(scene, &mut lines);
        let theme = &self.player.theme;
        let heading = theme.tone(Tone::Text).add_modifier(Modifier::BOLD);
        if !scene.attention.is_empty() {
            lines.push((String::new(), self.dim));
            lines.push(("Needs you".to_owned(), heading));
        }
        for item in &scene.attention {
            let about = item.agent.as_ref().or(item.task.as_ref());
            let about = about.map(|about| format!("{about}: ")).unwrap_or_default();
            let text = format!("{} {about}{}", item.kind, item.text);
            lines.push((clean(&text), theme.tone(Tone::Warning)));
        }
        if !scene.tasks.is_empty() {
            lines.push((String::new(), self.dim));
            lines.push(("Tasks".to_owned(), heading));
        }
        for task in &scene.tasks {
            let tone = match task.state {
                TaskState::Running | TaskState::Claimed => Tone::Accent,
                TaskState::Failed | TaskState::Blocked | TaskState::Interrupted => Tone::Danger,
                TaskState::Pending | TaskState::Ready | TaskState::Done | TaskState::Cancelled => {
                    Tone::Dim
                }
            };
            let text = format!("{} {} {}", task.id, task.state, task.title);
            lines.push((clean(&text), theme.tone(tone)));
        }
        for (row, (text, style)) in area.rows().zip(lines) {
            put(row, 0, &text, style, buffer);
        }
    }

    fn agents(&self, scene: &PastMoment, lines: &mut Vec<(String, Style)>) {
        for (index, agent) in scene.agents.iter().enumerate() {
            let is_chosen = self.player.chosen.as_ref() == Some(&agent.name);
            let style = self.player.theme.state(agent.state);
            let style = if is_chosen { style.add_modifier(Modifier::REVERSED) } else { style };
            let task = agent.task.as_ref().map(|task| format!(" {task}")).unwrap_or_default();
            let ending = agent.ending.as_ref().map(|end| format!(" ({end})")).unwrap_or_default();
            let (number, sign) = (index + 1, sign(agent.state));
            let text = format!("{number} {sign} {} {}{ending}{task}", agent.name, agent.state);
            lines.push((clean(&text), style));
        }
    }

    /// Draws the chosen agent's screen under its name; where it is larger than the window, its end.
    fn screen(&self, area: Rect, buffer: &mut Buffer) {
        let player = self.player;
        let Some(name) = &player.chosen else {
            let text = player.footage.missing.clone().unwrap_or_default();
            return put(area, 0, &clean(&text), self.dim, buffer);
        };
        let room = usize::from(area.width);
        let title = format!("── {name} ");
        let rule = "─".repeat(room.saturating_sub(width(&title)));
        put(area, 0, &format!("{title}{rule}"), self.dim, buffer);
        let inner = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        if let Some(missing) = &player.footage.missing {
            return put(inner, 0, &clean(missing), self.dim, buffer);
        }
        let rows = &player.footage.rows;
        // Blank rows at the end say nothing; those above them matter more.
        let used = rows.len().min(player.footage.lines.len().max(1));
        let skipped = used.saturating_sub(usize::from(inner.height));
        for (line, row) in inner.rows().zip(rows[..used].iter().skip(skipped)) {
            draw_row(buffer, line, Some(row), 0, &player.theme);
        }
    }
}

fn put(area: Rect, down: u16, text: &str, style: Style, buffer: &mut Buffer) {
    if down < area.height {
        let room = usize::from(area.width);
        buffer.set_stringn(area.x, area.y + down, clip(text, room), room, style);
    }
}
