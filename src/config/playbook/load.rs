//! From what was asked for to a playbook in which nothing is wrong.

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::DeTable;

use super::super::problem::{Problems, suggest};
use super::super::source_file::{SourceFile, whole_file};
use super::super::{ConfigError, Problem, Settings};
use super::embedded::EMBEDDED;
use super::locate::locate;
use super::read::read_playbook;
use crate::playbook::{Finding, Hint, Playbook, check, fill_in};

/// A playbook that is good, with its variables filled in.
#[derive(Debug)]
pub struct LoadedPlaybook {
    pub playbook: Playbook,
    pub vars: BTreeMap<String, String>,
    /// What scripted agents play, where a file of the same name with `.sim` lies beside it.
    pub script: Option<String>,
}

/// Returns the names of the playbooks that the program brings along.
pub fn built_in_playbooks() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

/// Reads a built-in playbook by its name, or a file: whatever has a slash or ends in `.toml`.
pub fn load_playbook(
    asked: &str,
    directory: &Path,
    given: &BTreeMap<String, String>,
    settings: &Settings,
) -> Result<LoadedPlaybook, ConfigError> {
    if !asked.contains('/') && !asked.ends_with(".toml") {
        let Some((name, text)) = EMBEDDED.iter().find(|(name, _)| *name == asked) else {
            let hint = suggest(asked, built_in_playbooks());
            let text =
                format!("No playbook has this name\nhint: {hint} A file needs a `/`: `./{asked}`");
            return Err(failed(vec![whole_file(Path::new(asked), &text)]));
        };
        return read(&Path::new("playbooks").join(format!("{name}.toml")), text, given, settings);
    }
    let path = directory.join(asked);
    let file = SourceFile::read(&path).map_err(|problem| failed(vec![problem]))?;
    let file = file.ok_or_else(|| failed(vec![whole_file(&path, "It is not there")]))?;
    let script = SourceFile::read(&path.with_extension("sim"));
    let script = script.map_err(|problem| failed(vec![problem]))?.map(|script| script.text);
    Ok(LoadedPlaybook { script, ..read(&path, &file.text, given, settings)? })
}

fn read(
    path: &Path,
    text: &str,
    given: &BTreeMap<String, String>,
    settings: &Settings,
) -> Result<LoadedPlaybook, ConfigError> {
    let mut problems = Problems::new(path, text);
    let (table, faults) = DeTable::parse_recoverable(text);
    for fault in &faults {
        let span = fault.span().unwrap_or_default();
        problems.error(&span, &format!("Not TOML: {}", fault.message()), None);
    }
    let mut found = None;
    if faults.is_empty() {
        found = read_playbook(table.get_ref(), settings, &mut problems);
    }
    let mut vars = BTreeMap::new();
    if let Some(playbook) = &mut found {
        let (values, findings) = fill_in(playbook, given);
        vars = values;
        let checked = check(playbook, &settings.templates);
        for finding in findings.iter().chain(&checked) {
            tell(finding, table.get_ref(), &mut problems);
        }
    }
    problems.errors.sort_by_key(|problem| (problem.line, problem.column));
    match found {
        Some(playbook) if problems.errors.is_empty() => {
            Ok(LoadedPlaybook { playbook, vars, script: None })
        }
        Some(_) | None => Err(failed(problems.errors)),
    }
}

fn tell(finding: &Finding, table: &DeTable, problems: &mut Problems) {
    let hint = finding.hint.as_ref().map(|hint| match hint {
        Hint::Say(text) => text.clone(),
        Hint::Nearest { word, known } => suggest(word, known.iter().map(String::as_str)),
    });
    problems.error(&locate(table, &finding.place), &finding.message, hint.as_deref());
}

fn failed(problems: Vec<Problem>) -> ConfigError {
    ConfigError { problems, warnings: Vec::new() }
}
