//! `[team.NAME.spawn]`: which agents the agents of a team may start.

use std::collections::BTreeMap;

use super::Cli;
use super::problem::{Problems, suggest};
use super::reader::Reader;
use crate::model::SpawnTerms;

/// As many as a team has at most.
const AGENTS_MAX: u32 = 64;
const DEPTH_MAX: u32 = 8;
const PER_HOUR_MAX: u32 = 1000;

/// Returns the terms, if the table is there and names a cli.
pub(super) fn read_spawn(
    table: &mut Reader,
    clis: &BTreeMap<String, Cli>,
    problems: &mut Problems,
) -> Option<SpawnTerms> {
    let mut table = table.table("spawn", problems)?;
    let named = table.texts("clis", problems).map(|clis| clis.value).unwrap_or_default();
    if named.is_empty() {
        let hint = "Name what may be started, such as `clis = [\"claude\"]`";
        problems.error(table.span(), &format!("No `clis`{}", table.within()), Some(hint));
    }
    for cli in named.iter().filter(|cli| !clis.contains_key(&cli.value)) {
        let hint = suggest(&cli.value, clis.keys().map(String::as_str));
        problems.error(&cli.span, &format!("Unknown cli `{}`", cli.value), Some(&hint));
    }
    let mut number = |key, most, usual: usize| {
        let number = table.number(key, 1..=most, problems);
        number.and_then(|number| usize::try_from(number).ok()).unwrap_or(usual)
    };
    let agents_max = number("agents_max", AGENTS_MAX, 4);
    let depth_max = number("depth_max", DEPTH_MAX, 1);
    let per_hour_max = number("per_hour_max", PER_HOUR_MAX, 12);
    table.finish(problems);
    let clis: Vec<String> = named.into_iter().map(|cli| cli.value).collect();
    (!clis.is_empty()).then_some(SpawnTerms { clis, agents_max, depth_max, per_hour_max })
}
