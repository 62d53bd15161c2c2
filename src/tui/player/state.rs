//! Where the player stands, and what keys do about it.

use std::time::Duration;

use crate::history::{JournalItem, PastMoment, PastScreen};
use crate::model::{AgentName, Key, KeyCode, Moment, Size};
use crate::tui::style::Theme;

/// Whoever knows the past.
pub trait Film {
    /// Returns the moment of an entry, by its place in the run.
    fn scene(&mut self, index: usize) -> Result<PastMoment, String>;

    /// Returns what an agent's terminal showed at a moment.
    fn footage(&mut self, agent: &AgentName, at: Moment) -> PastScreen;
}

/// How many times as fast as it happened.
const SPEEDS: [u32; 6] = [1, 2, 4, 16, 64, 256];
/// Whoever presses play wants to see something soon, and still read it.
const FIRST_SPEED: usize = 2;
/// What a page is.
const PAGE: Duration = Duration::from_mins(1);

/// A run that is being looked at. There is always at least one entry.
#[derive(Debug)]
pub(super) struct FilmPlayer {
    pub(super) run: String,
    pub(super) entries: Vec<JournalItem>,
    /// The last entry by now.
    pub(super) index: usize,
    pub(super) at: Moment,
    /// What was then; or why that cannot be told.
    pub(super) scene: Result<PastMoment, String>,
    /// Whose screen is seen.
    pub(super) chosen: Option<AgentName>,
    pub(super) footage: PastScreen,
    pub(super) is_playing: bool,
    speed: usize,
    pub(super) window: Size,
    pub(super) theme: Theme,
    pub(super) is_over: bool,
}

impl FilmPlayer {
    pub(super) fn new(
        run: String,
        entries: Vec<JournalItem>,
        theme: Theme,
        window: Size,
        film: &mut impl Film,
    ) -> Self {
        let mut player = Self {
            run,
            at: entries.first().map(|first| first.at).unwrap_or_default(),
            index: usize::MAX,
            entries,
            scene: Err(String::new()),
            chosen: None,
            footage: PastScreen::default(),
            is_playing: false,
            speed: FIRST_SPEED,
            window,
            theme,
            is_over: false,
        };
        player.go_to_entry(0, film);
        player
    }

    pub(super) fn speed(&self) -> u32 {
        SPEEDS[self.speed]
    }

    pub(super) fn bounds(&self) -> (Moment, Moment) {
        let first = self.entries.first().map(|told| told.at).unwrap_or_default();
        (first, self.entries.last().map_or(first, |told| told.at.max(first)))
    }

    pub(super) fn press(&mut self, key: Key, film: &mut impl Film) {
        let last = self.entries.len().saturating_sub(1);
        match key.code {
            KeyCode::Char('c') if key.modifiers.control => self.is_over = true,
            KeyCode::Char('q') | KeyCode::Escape => self.is_over = true,
            KeyCode::Left | KeyCode::Char('h') => {
                // Between two entries the one before is the one that is seen.
                let is_there = self.entries.get(self.index).is_some_and(|told| told.at == self.at);
                self.step_to(self.index.saturating_sub(usize::from(is_there)), film);
            }
            KeyCode::Right | KeyCode::Char('l') => self.step_to((self.index + 1).min(last), film),
            KeyCode::PageUp => self.jump(Moment(0) + self.at.since(Moment(0) + PAGE), film),
            KeyCode::PageDown => self.jump(self.at + PAGE, film),
            KeyCode::Home => self.step_to(0, film),
            KeyCode::End => self.step_to(last, film),
            KeyCode::Char(' ') => {
                // At the end there is nothing left to play but all of it.
                if !self.is_playing && self.at >= self.bounds().1 {
                    self.step_to(0, film);
                }
                self.is_playing = !self.is_playing;
            }
            KeyCode::Char('+' | '=') => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            KeyCode::Char('-') => self.speed = self.speed.saturating_sub(1),
            KeyCode::Tab => self.choose_next(!key.modifiers.shift, film),
            KeyCode::Char(digit @ '1'..='9') => {
                let index = digit.to_digit(10).map_or(0, |digit| digit as usize - 1);
                self.choose(index, film);
            }
            KeyCode::Char(_)
            | KeyCode::Enter
            | KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Insert
            | KeyCode::Up
            | KeyCode::Down
            | KeyCode::Function(_)
            | KeyCode::Keypad(_) => {}
        }
    }

    /// Plays on after so much time has passed for the person.
    pub(super) fn tick(&mut self, passed: Duration, film: &mut impl Film) {
        if !self.is_playing {
            return;
        }
        self.go_to_time(self.at + passed * self.speed(), film);
        self.is_playing = self.at < self.bounds().1;
    }

    fn step_to(&mut self, index: usize, film: &mut impl Film) {
        self.is_playing = false;
        self.go_to_entry(index, film);
    }

    fn jump(&mut self, at: Moment, film: &mut impl Film) {
        self.is_playing = false;
        self.go_to_time(at, film);
    }

    fn go_to_entry(&mut self, index: usize, film: &mut impl Film) {
        let Some(told) = self.entries.get(index) else { return };
        self.at = told.at;
        self.show(index, film);
    }

    fn go_to_time(&mut self, at: Moment, film: &mut impl Film) {
        let (first, last) = self.bounds();
        self.at = at.clamp(first, last);
        let by_then = self.entries.partition_point(|told| told.at <= self.at);
        self.show(by_then.saturating_sub(1), film);
    }

    fn show(&mut self, index: usize, film: &mut impl Film) {
        if index != self.index {
            self.index = index;
            self.scene = film.scene(index);
        }
        let is_there = |agent: &AgentName| self.names().contains(agent);
        if !self.chosen.as_ref().is_some_and(is_there) {
            self.chosen = self.names().first().cloned();
        }
        self.footage = match &self.chosen {
            Some(agent) => film.footage(agent, self.at),
            None => PastScreen::missing("no agent was there yet"),
        };
    }

    fn names(&self) -> Vec<AgentName> {
        let agents = self.scene.iter().flat_map(|scene| &scene.agents);
        agents.map(|agent| agent.name.clone()).collect()
    }

    fn choose(&mut self, index: usize, film: &mut impl Film) {
        if let Some(agent) = self.names().get(index) {
            self.footage = film.footage(agent, self.at);
            self.chosen = Some(agent.clone());
        }
    }

    fn choose_next(&mut self, is_forward: bool, film: &mut impl Film) {
        let names = self.names();
        let at = names.iter().position(|name| Some(name) == self.chosen.as_ref()).unwrap_or(0);
        let step = if is_forward { 1 } else { names.len().saturating_sub(1) };
        if !names.is_empty() {
            self.choose((at + step) % names.len(), film);
        }
    }
}
