//! Reads one task, and what it hands on.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::super::checks::{Inside, between, texts};
use super::super::problem::Problems;
use super::super::reader::Reader;
use super::super::team::well_named;
use crate::model::Role;
use crate::playbook::{Artifact, OnFailure, Place, Task, Who};

/// The template of a task that names none.
const TEMPLATE: &str = "worker";
/// Whoever fails more often needs another task, not another try.
const ATTEMPTS_MAX: u32 = 20;
const ATTEMPTS: u32 = 3;
const VERIFIERS_MAX: u32 = 8;
const ARTIFACTS_MAX: usize = 32;

/// What a task's table says.
#[derive(Deserialize)]
struct TaskTable {
    id: Spanned<String>,
    title: String,
    #[serde(default)]
    prompt: String,
    template: Option<String>,
    #[serde(default)]
    vars: BTreeMap<String, String>,
    agent: Option<String>,
    role: Option<Role>,
    #[serde(default)]
    requires: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default, deserialize_with = "texts::<_, Inside>")]
    owns: Vec<String>,
    #[serde(default)]
    gates: Vec<String>,
    #[serde(default, deserialize_with = "between::<_, _, 0, VERIFIERS_MAX>")]
    verifiers: u32,
    #[serde(default, deserialize_with = "between::<_, _, 0, VERIFIERS_MAX>")]
    agree: Option<u32>,
    #[serde(default, deserialize_with = "between::<_, _, 1, ATTEMPTS_MAX>")]
    attempts: Option<u32>,
    #[serde(default, deserialize_with = "duration")]
    time_limit: Option<Duration>,
    #[serde(default)]
    on_failure: OnFailure,
    reduced: Option<String>,
    #[serde(default, deserialize_with = "texts::<_, Inside>")]
    context: Vec<String>,
    #[serde(default, deserialize_with = "texts::<_, Inside>")]
    takes: Vec<String>,
    #[serde(default)]
    artifacts: Vec<Artifact>,
    #[serde(default)]
    locks: Vec<String>,
}

/// Returns the task, as far as it can be read.
pub(super) fn read_task(mut table: Reader, place: Place, problems: &mut Problems) -> Option<Task> {
    let mut found = table.part_with_stand_ins::<TaskTable>(problems).value?;
    // A word that stands in for a missing one is nowhere in the file.
    let has_id = !found.id.span().is_empty();
    if has_id {
        well_named("task", &found.id, problems);
    }
    if found.artifacts.len() > ARTIFACTS_MAX {
        let count = found.artifacts.len();
        let message = format!("{count} artifacts{} are too many", table.within());
        problems.error(table.span(), &message, Some(&format!("Keep at most {ARTIFACTS_MAX}")));
        found.artifacts.truncate(ARTIFACTS_MAX);
    }
    table.finish(problems);
    has_id.then(|| Task {
        id: found.id.into_inner(),
        title: found.title,
        prompt: found.prompt,
        template: found.template.unwrap_or_else(|| TEMPLATE.to_owned()),
        vars: found.vars,
        who: Who { agent: found.agent, role: found.role, requires: found.requires },
        needs: found.needs,
        owns: found.owns,
        gates: found.gates,
        verifiers: found.verifiers,
        agree: found.agree.unwrap_or(found.verifiers),
        attempts: found.attempts.unwrap_or(ATTEMPTS),
        time_limit: found.time_limit,
        on_failure: found.on_failure,
        reduced: found.reduced,
        context: found.context,
        takes: found.takes,
        artifacts: found.artifacts,
        locks: found.locks,
        place,
    })
}

/// Reads a time, such as `45m`.
pub(super) fn duration<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let told = |error: &dyn Display| {
        let hint = "Write `45m` or `1h 30m`";
        serde::de::Error::custom(format!("`{text}` is not a time: {error}\nhint: {hint}"))
    };
    match humantime::parse_duration(&text) {
        Ok(time) if !time.is_zero() => Ok(Some(time)),
        Ok(_) => Err(told(&"it is zero")),
        Err(error) => Err(told(&error)),
    }
}
