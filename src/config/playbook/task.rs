//! Reads one task, and what it hands on.

use std::fmt::Display;
use std::time::Duration;

use super::super::manifest::pattern;
use super::super::problem::Problems;
use super::super::reader::Reader;
use super::super::team::{ROLES, inside, well_named};
use crate::playbook::{Artifact, Format, OnFailure, Place, Task, Who};

/// The template of a task that names none.
const TEMPLATE: &str = "worker";
/// Whoever fails more often needs another task, not another try.
const ATTEMPTS_MAX: u32 = 20;
const ATTEMPTS: u32 = 3;
const VERIFIERS_MAX: u32 = 8;
const ARTIFACTS_MAX: usize = 32;

const FORMATS: &[Format] = &[
    Format::Text,
    Format::Markdown,
    Format::Json,
    Format::Toml,
    Format::Yaml,
    Format::Csv,
    Format::Html,
];
const FAILURES: &[OnFailure] = &[OnFailure::Skip, OnFailure::Reduce, OnFailure::Stop];

/// Returns the task, as far as it can be read.
pub(super) fn read_task(mut table: Reader, place: Place, problems: &mut Problems) -> Option<Task> {
    let id = table.required_text("id", problems);
    if let Some(id) = &id {
        well_named("task", id, problems);
    }
    let title = table.required_text("title", problems);
    let prompt = table.text("prompt", problems).map(|prompt| prompt.value).unwrap_or_default();
    let template = table.text("template", problems);
    let template = template.map_or(TEMPLATE.to_owned(), |template| template.value);
    let vars = table.named_texts("vars", problems).unwrap_or_default().into_iter();
    let verifiers = table.number("verifiers", 0..=VERIFIERS_MAX, problems).unwrap_or_default();
    let task = Task {
        id: id.map(|id| id.value).unwrap_or_default(),
        title: title.map(|title| title.value).unwrap_or_default(),
        prompt,
        template,
        vars: vars.map(|(name, value)| (name, value.value)).collect(),
        who: Who {
            agent: table.text("agent", problems).map(|agent| agent.value),
            role: table.choice("role", ROLES, problems),
            requires: words(&mut table, "requires", problems),
        },
        needs: words(&mut table, "needs", problems),
        owns: inside(&mut table, "owns", problems),
        gates: words(&mut table, "gates", problems),
        verifiers,
        agree: table.number("agree", 0..=VERIFIERS_MAX, problems).unwrap_or(verifiers),
        attempts: table.number("attempts", 1..=ATTEMPTS_MAX, problems).unwrap_or(ATTEMPTS),
        time_limit: duration(&mut table, "time_limit", problems),
        on_failure: table.choice("on_failure", FAILURES, problems).unwrap_or_default(),
        reduced: table.text("reduced", problems).map(|reduced| reduced.value),
        context: inside(&mut table, "context", problems),
        takes: inside(&mut table, "takes", problems),
        artifacts: read_artifacts(&mut table, problems),
        locks: words(&mut table, "locks", problems),
        place,
    };
    table.finish(problems);
    (!task.id.is_empty()).then_some(task)
}

fn read_artifacts(table: &mut Reader, problems: &mut Problems) -> Vec<Artifact> {
    let tables = table.listed_tables("artifacts", problems);
    if tables.len() > ARTIFACTS_MAX {
        let message = format!("{} artifacts{} are too many", tables.len(), table.within());
        problems.error(table.span(), &message, Some(&format!("Keep at most {ARTIFACTS_MAX}")));
    }
    let read = |mut table: Reader| {
        let path = table.required_text("path", problems).map(|path| path.value);
        let text = |table: &mut Reader, key, problems: &mut Problems| {
            table.text(key, problems).map(|text| text.value)
        };
        let artifact = Artifact {
            path: path.unwrap_or_default(),
            format: table.choice("format", FORMATS, problems).unwrap_or_default(),
            what: text(&mut table, "what", problems).unwrap_or_default(),
            schema: text(&mut table, "schema", problems),
            regex: table.text("regex", problems).and_then(|regex| pattern(regex, problems)),
            example: text(&mut table, "example", problems),
        };
        table.finish(problems);
        artifact
    };
    tables.into_iter().take(ARTIFACTS_MAX).map(read).collect()
}

/// Returns the texts of the list under the key.
pub(super) fn words(table: &mut Reader, key: &'static str, problems: &mut Problems) -> Vec<String> {
    let texts = table.texts(key, problems).map(|texts| texts.value).unwrap_or_default();
    texts.into_iter().map(|text| text.value).collect()
}

/// Returns the time under the key, such as `45m`.
pub(super) fn duration(
    table: &mut Reader,
    key: &'static str,
    problems: &mut Problems,
) -> Option<Duration> {
    let text = table.text(key, problems)?;
    let told = |error: &dyn Display| format!("`{}` is not a time: {error}", text.value);
    match humantime::parse_duration(&text.value) {
        Ok(time) if !time.is_zero() => Some(time),
        Ok(_) => {
            problems.error(&text.span, &told(&"it is zero"), Some("Write `45m` or `1h 30m`"));
            None
        }
        Err(error) => {
            problems.error(&text.span, &told(&error), Some("Write `45m` or `1h 30m`"));
            None
        }
    }
}
