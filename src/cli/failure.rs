//! How an error looks to the person who typed the command.

use std::fmt;
use std::io::{self, Write};

use crate::client::ClientError;
use crate::config::{plain, suggest};
use crate::template::TemplateError;

/// An error of the command line itself, with what to type next.
#[derive(Debug)]
pub(super) struct Hinted {
    message: String,
    hint: String,
}

impl Hinted {
    pub(super) fn error(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Self { message: message.into(), hint: hint.into() })
    }
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Hinted {}

/// Returns an error's words: what went wrong, its causes, and what to type next.
pub(super) fn words(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    let mut own_hint = String::new();
    if let Some(at) = text.find("\nhint: ") {
        own_hint = text.split_off(at);
    }
    let told = text.clone();
    let causes = error.chain().skip(1).map(ToString::to_string);
    let causes =
        causes.filter(|cause| !told.contains(cause)).map(|cause| format!("\n  because: {cause}"));
    let hint = hint(error).map(|hint| format!("\nhint: {hint}"));
    text.extend(causes.chain([own_hint]).chain(hint));
    text
}

/// Prints an error, its causes, and what to type next.
pub(super) fn report(error: &anyhow::Error) {
    let mut text = words(error);
    if !text.starts_with("error: ") {
        text.insert_str(0, "error: ");
    }
    // Where standard error is closed, there is nobody to tell.
    let lines: Vec<String> = text.lines().map(plain).collect();
    let _ = writeln!(io::stderr(), "{}", lines.join("\n"));
}

/// Prints what a person should know beside the answer.
pub(super) fn note(text: &str) {
    // Where standard error is closed, there is nobody to tell.
    let _ = writeln!(io::stderr(), "note: {}", plain(text));
}

fn hint(error: &anyhow::Error) -> Option<String> {
    if let Some(hinted) = error.downcast_ref::<Hinted>() {
        return Some(hinted.hint.clone());
    }
    if let Some(error) = error.downcast_ref::<TemplateError>() {
        return template_hint(error);
    }
    error.downcast_ref::<ClientError>().and_then(ClientError::hint)
}

fn template_hint(error: &TemplateError) -> Option<String> {
    if let TemplateError::MissingVariable { name, .. } = error {
        return Some(format!("Add `--var {name}='…'`"));
    }
    let (name, known) = error.unknown()?;
    if known.is_empty() {
        return Some("Leave it out: the template has no variables".to_owned());
    }
    Some(suggest(name, known.iter().map(String::as_str)))
}
