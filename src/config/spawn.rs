//! `[team.NAME.spawn]`: which agents the agents of a team may start.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::Cli;
use super::checks::between;
use super::problem::{Problems, suggest};
use super::reader::Reader;
use crate::model::SpawnTerms;

/// As many as a team has at most.
const AGENTS_MAX: u32 = 64;
const DEPTH_MAX: u32 = 8;
const PER_HOUR_MAX: u32 = 1000;

/// What a team lets its agents start.
#[derive(Deserialize)]
#[serde(default)]
struct SpawnTable {
    clis: Vec<Spanned<String>>,
    #[serde(deserialize_with = "between::<_, _, 1, AGENTS_MAX>")]
    agents_max: u16,
    #[serde(deserialize_with = "between::<_, _, 1, DEPTH_MAX>")]
    depth_max: u16,
    #[serde(deserialize_with = "between::<_, _, 1, PER_HOUR_MAX>")]
    per_hour_max: u16,
}

impl Default for SpawnTable {
    fn default() -> Self {
        Self { clis: Vec::new(), agents_max: 4, depth_max: 1, per_hour_max: 12 }
    }
}

/// Returns the terms, if the table is there and names a cli.
pub(super) fn read_spawn(
    table: &mut Reader,
    clis: &BTreeMap<String, Cli>,
    problems: &mut Problems,
) -> Option<SpawnTerms> {
    let mut table = table.table("spawn", problems)?;
    let found = table.part::<SpawnTable>(problems)?;
    if found.clis.is_empty() {
        let hint = "Name what may be started, such as `clis = [\"claude\"]`";
        problems.error(table.span(), &format!("No `clis`{}", table.within()), Some(hint));
    }
    for cli in found.clis.iter().filter(|cli| !clis.contains_key(cli.get_ref())) {
        let hint = suggest(cli.get_ref(), clis.keys().map(String::as_str));
        problems.error(&cli.span(), &format!("Unknown cli `{}`", cli.get_ref()), Some(&hint));
    }
    table.finish(problems);
    let [agents_max, depth_max, per_hour_max] =
        [found.agents_max, found.depth_max, found.per_hour_max].map(usize::from);
    let clis: Vec<String> = found.clis.into_iter().map(Spanned::into_inner).collect();
    (!clis.is_empty()).then_some(SpawnTerms { clis, agents_max, depth_max, per_hour_max })
}
