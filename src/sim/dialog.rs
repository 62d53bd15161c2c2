//! A question that stands in place of the prompt box until someone answers.

use crate::model::{Key, KeyCode};

use super::line::{Ink, Line};
use super::script::{Approval, ApprovalKind};
use super::wrap::{cut, wrap};

/// A dialog, with the option that Enter would take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialog {
    pub(super) kind: DialogKind,
    head: String,
    /// What the question is about, a little deeper.
    subject: Vec<String>,
    question: String,
    options: Vec<String>,
    chosen: usize,
    footer: &'static str,
}

/// What a dialog wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DialogKind {
    Permission,
    Question,
}

/// What a key did to a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// It is still open.
    Open,
    /// The option was taken, counted from 1.
    Chosen {
        number: usize,
        text: String,
    },
    Cancelled,
}

impl Dialog {
    /// Returns the dialog that asks for this permission: yes, yes for good, or no.
    pub(super) fn approval(approval: &Approval) -> Self {
        let subject = &approval.subject;
        let file = subject.rsplit('/').next().unwrap_or(subject);
        let all = "Yes, allow all edits during this session (shift+tab)".to_owned();
        let (head, question, second) = match approval.kind {
            ApprovalKind::Command => (
                "Bash command",
                "Do you want to proceed?".to_owned(),
                format!("Yes, and don't ask again for: {}", program(subject)),
            ),
            ApprovalKind::Create => ("Create file", format!("Do you want to create {file}?"), all),
            ApprovalKind::Edit => {
                ("Edit file", format!("Do you want to make this edit to {file}?"), all)
            }
        };
        Self {
            kind: DialogKind::Permission,
            head: head.into(),
            subject: std::iter::once(subject.clone()).chain(approval.reason.clone()).collect(),
            question,
            options: vec!["Yes".into(), second, "No".into()],
            chosen: 0,
            footer: "Esc to cancel · Tab to amend",
        }
    }

    /// Returns the dialog that asks to choose.
    pub(super) fn question(question: String, options: Vec<String>) -> Self {
        Self {
            kind: DialogKind::Question,
            head: "☐ Question".into(),
            subject: Vec::new(),
            question,
            options,
            chosen: 0,
            footer: "Enter to select · ↑/↓ to navigate · Esc to cancel",
        }
    }

    pub(super) fn press(&mut self, key: Key) -> Pressed {
        let count = self.options.len();
        let is_cancel = key.modifiers.control && key.code == KeyCode::Char('c');
        if key.code == KeyCode::Escape || is_cancel {
            return Pressed::Cancelled;
        }
        if key.code == KeyCode::Enter {
            return self.take(self.chosen);
        }
        if let KeyCode::Up | KeyCode::Char('k') = key.code {
            self.chosen = (self.chosen + count - 1) % count;
        }
        if let KeyCode::Down | KeyCode::Tab | KeyCode::Char('j') = key.code {
            self.chosen = (self.chosen + 1) % count;
        }
        if let KeyCode::Char(digit) = key.code
            && let Some(number) = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok())
            && (1..=count).contains(&number)
        {
            return self.take(number - 1);
        }
        Pressed::Open
    }

    /// Takes a line of text for an answer, where there are no keys.
    pub(super) fn answer(&self, text: &str) -> Pressed {
        let text = text.trim().to_lowercase();
        let by_number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let by_text = || {
            self.options.iter().position(|option| {
                let option = option.to_lowercase();
                option == text || (!text.is_empty() && option.starts_with(&text))
            })
        };
        match by_number.filter(|at| *at < self.options.len()).or_else(by_text) {
            Some(at) => self.take(at),
            None => Pressed::Cancelled,
        }
    }

    fn take(&self, at: usize) -> Pressed {
        Pressed::Chosen { number: at + 1, text: self.options[at].clone() }
    }

    pub(super) fn lines(&self, width: usize) -> Vec<Line> {
        let room = width.saturating_sub(3).max(1);
        let indented = |text: &str, ink: Ink, indent: &str| -> Vec<Line> {
            let room = width.saturating_sub(indent.len()).max(1);
            let line = |text| Line::of(Ink::Plain, indent).and(ink, text);
            wrap(text, room).into_iter().map(line).collect()
        };
        let rule = "─".repeat(width);
        let mut lines = vec![Line::default(), Line::of(Ink::Choice, rule)];
        lines.extend(indented(&self.head, Ink::Choice, " "));
        lines.push(Line::default());
        for (at, text) in self.subject.iter().enumerate() {
            lines.extend(indented(text, if at == 0 { Ink::Plain } else { Ink::Dim }, "   "));
        }
        if !self.subject.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(indented(&self.question, Ink::Plain, " "));
        for (at, option) in self.options.iter().enumerate() {
            let (mark, ink) =
                if at == self.chosen { (" ❯ ", Ink::Choice) } else { ("   ", Ink::Plain) };
            let text = cut(&format!("{}. {option}", at + 1), room);
            lines.push(Line::of(Ink::Choice, mark).and(ink, text));
        }
        lines.push(Line::default());
        lines.push(Line::of(Ink::Dim, cut(&format!(" {}", self.footer), width)));
        lines
    }
}

/// Returns what a permission that is given for good covers: the command's first words.
pub(super) fn program(command: &str) -> String {
    command.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialog() -> Dialog {
        Dialog::question("Which port?".into(), vec!["8080".into(), "3000".into()])
    }

    fn press(keys: &str) -> Pressed {
        let mut dialog = dialog();
        keys.split(' ').fold(Pressed::Open, |_, key| dialog.press(key.parse().unwrap()))
    }

    #[test]
    fn an_option_is_taken_by_arrow_or_digit() {
        let chosen = |number, text: &str| Pressed::Chosen { number, text: text.into() };
        assert_eq!(press("enter"), chosen(1, "8080"));
        assert_eq!(press("down enter"), chosen(2, "3000"));
        assert_eq!(press("up up up enter"), chosen(2, "3000"));
        assert_eq!(press("2"), chosen(2, "3000"));
        assert_eq!(press("3"), Pressed::Open);
        assert_eq!(press("esc"), Pressed::Cancelled);
    }

    #[test]
    fn an_answer_in_words_is_understood() {
        assert_eq!(dialog().answer("3000"), Pressed::Chosen { number: 2, text: "3000".into() });
        assert_eq!(dialog().answer("1"), Pressed::Chosen { number: 1, text: "8080".into() });
        assert_eq!(dialog().answer("neither"), Pressed::Cancelled);
        assert_eq!(dialog().answer(""), Pressed::Cancelled);
    }
}
