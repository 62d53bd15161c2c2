//! `[notify]`: what a person is told of beside the dashboard, and how; `[reporters]`: what agents tell.

use std::fmt;

use crate::model::AgentState;
use crate::notify::{OCCASIONS, Occasion, TerminalForm};

use super::problem::{Problems, suggest};
use super::reader::Reader;

/// No program takes more words.
const WORDS_MAX: usize = 256;

/// What a person is told of, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifySettings {
    pub states: Vec<Occasion>,
    pub desktop: Desktop,
    /// Without one, the terminal's name says it.
    pub terminal: Option<TerminalForm>,
    pub bell: bool,
    /// A program of the user's and its arguments; nothing, if there is none.
    pub command: Vec<String>,
}

/// What is made of what agents tell other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReporterSettings {
    /// Whether it is understood.
    pub enabled: bool,
}

/// Which way a notification comes to the desktop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Desktop {
    /// Through the terminal of a dashboard that is open, else the desktop's own way.
    Auto,
    Terminal,
    System,
    Never,
}

/// `auto`, or a form.
#[derive(Clone, Copy, Debug)]
pub(super) struct FormChoice(pub(super) Option<TerminalForm>);

impl Default for NotifySettings {
    fn default() -> Self {
        use AgentState::{Blocked, Done, Error, Limited, Waiting};
        let states = [Waiting, Blocked, Done, Error, Limited].map(Occasion::State);
        Self {
            states: states.into(),
            desktop: Desktop::Auto,
            terminal: None,
            bell: false,
            command: Vec::new(),
        }
    }
}

/// What one file says of it.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) states: Option<Vec<Occasion>>,
    pub(super) desktop: Option<Desktop>,
    pub(super) terminal: Option<FormChoice>,
    pub(super) bell: Option<bool>,
    pub(super) command: Option<Vec<String>>,
}

/// Reads the table.
pub(super) fn read(mut table: Reader, problems: &mut Problems) -> Read {
    use TerminalForm::{Osc9, Osc777};
    let ways = [Desktop::Auto, Desktop::Terminal, Desktop::System, Desktop::Never];
    let forms = [FormChoice(None), FormChoice(Some(Osc9)), FormChoice(Some(Osc777))];
    let found = Read {
        states: states(&mut table, problems),
        desktop: table.choice("desktop", &ways, problems),
        terminal: table.choice("terminal", &forms, problems),
        bell: table.switch("bell", problems),
        command: command(&mut table, problems),
    };
    table.finish(problems);
    found
}

fn states(table: &mut Reader, problems: &mut Problems) -> Option<Vec<Occasion>> {
    let names: Vec<String> = OCCASIONS.iter().map(ToString::to_string).collect();
    let mut states = Vec::new();
    for text in table.texts("states", problems)?.value {
        let found = OCCASIONS.iter().find(|known| known.to_string() == text.value);
        if let Some(found) = found {
            states.push(*found);
        } else {
            let message = format!("Unknown state `{}`{}", text.value, table.within());
            let hint = suggest(&text.value, names.iter().map(String::as_str));
            problems.error(&text.span, &message, Some(&hint));
        }
    }
    Some(states)
}

fn command(table: &mut Reader, problems: &mut Problems) -> Option<Vec<String>> {
    let words = table.texts("command", problems)?.value;
    for word in &words {
        super::cli::no_zero(word, problems);
    }
    if let Some(word) = words.get(WORDS_MAX) {
        let hint = format!("Keep at most {WORDS_MAX} words");
        problems.error(&word.span, "The command has too many words", Some(&hint));
    }
    Some(words.into_iter().map(|word| word.value).collect())
}

impl fmt::Display for Desktop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Auto => "auto",
            Self::Terminal => "terminal",
            Self::System => "system",
            Self::Never => "never",
        })
    }
}

impl fmt::Display for FormChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.pad("auto"),
            Some(form) => form.fmt(f),
        }
    }
}
