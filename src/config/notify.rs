//! `[notify]`: what a person is told of beside the dashboard, and how.

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::AgentState;
use crate::notify::{Occasion, TerminalForm};

use super::checks::{NoZero, texts};

/// No program takes more words.
const WORDS_MAX: usize = 256;

/// What a person is told of, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotifySettings {
    pub states: Vec<Occasion>,
    pub desktop: Desktop,
    pub terminal: TerminalChoice,
    pub bell: bool,
    /// A program of the user's and its arguments; nothing, if there is none.
    #[serde(deserialize_with = "words")]
    pub command: Vec<String>,
}

/// Which way a notification comes to the desktop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Desktop {
    /// Through the terminal of a dashboard that is open, else the desktop's own way.
    Auto,
    Terminal,
    System,
    Never,
}

/// In which form a terminal gets its notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TerminalChoice {
    /// The terminal's name says it.
    Auto,
    Osc9,
    Osc777,
}

impl TerminalChoice {
    /// Returns the form for the terminal of this name (`TERM`).
    pub fn form(self, terminal: &str) -> TerminalForm {
        match self {
            Self::Auto => TerminalForm::of_terminal(terminal),
            Self::Osc9 => TerminalForm::Osc9,
            Self::Osc777 => TerminalForm::Osc777,
        }
    }
}

impl Default for NotifySettings {
    fn default() -> Self {
        use AgentState::{Blocked, Done, Error, Limited, Waiting};
        let states = [Waiting, Blocked, Done, Error, Limited].map(Occasion::State);
        Self {
            states: states.into(),
            desktop: Desktop::Auto,
            terminal: TerminalChoice::Auto,
            bell: false,
            command: Vec::new(),
        }
    }
}

fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let words = texts::<D, NoZero>(deserializer)?;
    if words.len() > WORDS_MAX {
        let text = format!("The command has too many words\nhint: Keep at most {WORDS_MAX} words");
        return Err(serde::de::Error::custom(text));
    }
    Ok(words)
}
