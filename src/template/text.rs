//! Parses a template's file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::model::Role;

/// A prompt with blanks in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub name: String,
    /// Where its text stands, for whoever must mend it.
    pub file: PathBuf,
    pub purpose: String,
    /// Whom it is meant for.
    pub role: Role,
    pub variables: BTreeMap<String, Variable>,
    /// What follows the front matter.
    pub body: String,
    /// The line of the file, from 1, on which the body begins.
    pub body_line: usize,
}

/// A blank of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// What goes in there.
    pub what: String,
    /// What goes in where nothing is given; without it, something must be given.
    pub default: Option<String>,
}

/// What someone is told: in words, or by a template and what fills it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompt {
    Text(String),
    Template { name: String, vars: BTreeMap<String, String> },
}
