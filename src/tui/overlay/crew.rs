//! Who gets a broadcast: everyone who can take it, unless the person says otherwise.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::list::{first_shown, stepped, turned};
use crate::model::AgentName;
use crate::tui::app::{Agent, App, state_word};
use crate::tui::look::{Tone, sign};
use crate::tui::text::{clip, width};

/// The list of agents, with those who were chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Crew {
    chosen: BTreeSet<AgentName>,
    pub at: usize,
    /// Keys go to the list, not to the text.
    pub has_focus: bool,
}

const NAME_COLS: usize = 16;

impl Crew {
    /// Returns everyone who would take a prompt now.
    pub(super) fn new(app: &App) -> Self {
        let takes = app.agents.iter().filter(|agent| agent.objection().is_none());
        let chosen = takes.map(|agent| agent.name.clone()).collect();
        Self { chosen, ..Self::default() }
    }

    /// Returns who was chosen and is there, in the order of the panes.
    pub(super) fn names(&self, app: &App) -> Vec<AgentName> {
        app.names().into_iter().filter(|name| self.chosen.contains(name)).collect()
    }

    pub(super) fn step(&mut self, app: &App, is_down: bool) {
        self.at = stepped(self.at, app.agents.len(), is_down);
    }

    pub(super) fn turn(&mut self, app: &App, is_down: bool) {
        self.at = turned(self.at, app.agents.len(), is_down);
    }

    /// Chooses an agent, or no longer.
    pub(super) fn toggle(&mut self, app: &App, index: usize) {
        let Some(agent) = app.agents.get(index) else { return };
        self.at = index;
        if !self.chosen.remove(&agent.name) {
            self.chosen.insert(agent.name.clone());
        }
    }

    pub(super) fn draw(&self, app: &App, room: Rect, buffer: &mut Buffer) {
        let shown = app.agents.iter().enumerate().skip(first_shown(self.at, room));
        for (row, (index, agent)) in room.rows().zip(shown) {
            let line = self.line(app, index, agent, usize::from(row.width));
            buffer.set_line(row.x, row.y, &line, row.width);
        }
    }

    fn line(&self, app: &App, index: usize, agent: &Agent, room: usize) -> Line<'static> {
        let is_chosen = self.chosen.contains(&agent.name);
        let arrow = if self.has_focus && index == self.at { "▸" } else { " " };
        let mark = if is_chosen { "[x]" } else { "[ ]" };
        let name = clip(agent.name.as_str(), NAME_COLS).into_owned();
        let pad = " ".repeat(NAME_COLS.saturating_sub(width(&name)));
        let objection = agent.objection().map(|why| format!(" · would refuse: {why}"));
        let (number, sign, state) = (index + 1, sign(agent.state), state_word(agent));
        let objection = objection.unwrap_or_default();
        let text = format!("{arrow}{mark} {number:>2} {sign} {name}{pad} {state}{objection}");
        let text = clip(&text, room).into_owned();
        let fill = " ".repeat(room.saturating_sub(width(&text)));
        let tone = match (is_chosen, agent.objection()) {
            (true, None) => Tone::Text,
            (true, Some(_)) => Tone::Warning,
            (false, _) => Tone::Dim,
        };
        let is_here = self.has_focus && index == self.at;
        let style = if is_here { app.theme.block(Tone::Accent) } else { app.theme.tone(tone) };
        Line::styled(format!("{text}{fill}"), style)
    }
}
