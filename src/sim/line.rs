//! A line of the terminal: pieces of text, each in one ink.

use std::fmt::Write;

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    Dim,
    Bold,
    /// The agent's own colour.
    Accent,
    /// What can be chosen now.
    Choice,
    Good,
    Bad,
    /// What the person said.
    Echo,
}

impl Ink {
    fn codes(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "\x1b[2m",
            Self::Bold => "\x1b[1m",
            Self::Accent => "\x1b[38;5;73m",
            Self::Choice => "\x1b[38;5;111m",
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[31m",
            Self::Echo => "\x1b[38;5;250m",
        }
    }
}

/// A line that fits the terminal's width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line(Vec<(Ink, String)>);

impl Line {
    pub(super) fn of(ink: Ink, text: impl Into<String>) -> Self {
        Self::default().and(ink, text)
    }

    #[must_use]
    pub(super) fn and(mut self, ink: Ink, text: impl Into<String>) -> Self {
        let mut text = text.into();
        // What a script or a command says must not move our cursor.
        text.retain(|c| !c.is_control());
        self.0.push((ink, text));
        self
    }

    /// Returns the characters alone.
    pub(super) fn plain(&self) -> String {
        let text: String = self.0.iter().map(|(_, text)| text.as_str()).collect();
        text.trim_end().to_owned()
    }

    /// Writes the line with its colours, without any line end.
    pub(super) fn paint(&self, out: &mut String) {
        for (ink, text) in &self.0 {
            let codes = ink.codes();
            let end = if codes.is_empty() { "" } else { "\x1b[m" };
            write!(out, "{codes}{text}{end}").expect("a string takes all that is written to it");
        }
    }
}
