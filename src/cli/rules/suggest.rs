//! Runs every manifest over a recording, and tells how much of it each could read.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::read_cast::read_cast;
use super::show::{ANY, rules_of};
use super::test::{end_of, replay};
use crate::cli::context::Context;
use crate::cli::table::Table;
use crate::config::Settings;
use crate::detect::{Finding, Shown};
use crate::model::{AgentState, Moment};

/// How often states are compared.
const STEP: Duration = Duration::from_millis(250);

/// What one manifest makes of a recording.
struct Trial {
    cli: String,
    /// The share of time, in percent, in which it was known what the screen means.
    known: u64,
    /// The share of time in which the general reader says the same.
    agreed: u64,
    reports: usize,
    /// Its own rules that matched.
    rules: BTreeSet<String>,
}

/// Prints a row for each manifest, the best first.
pub(in super::super) fn suggest(
    context: &mut Context,
    file: &Path,
    screen_only: bool,
    json: bool,
) -> anyhow::Result<()> {
    let cast = read_cast(file)?;
    let settings = Settings::load(&context.paths)?.settings;
    let own = settings.clis().filter(|(_, cli)| !cli.manifest.rules.is_empty());
    let names: Vec<String> = own.map(|(name, _)| name.to_owned()).filter(|it| it != ANY).collect();
    let mut found = Vec::new();
    for name in [ANY.to_owned()].into_iter().chain(names) {
        let rules = rules_of(context, &name)?;
        found.push((name, replay(&cast, rules, !screen_only)));
    }
    let end = end_of(&cast);
    let general = found[0].1.clone();
    let trial = |(cli, found): (String, Vec<(Moment, Finding)>)| trial(cli, &found, &general, end);
    let mut trials: Vec<Trial> = found.into_iter().map(trial).collect();
    trials.sort_by_key(|trial| (std::cmp::Reverse(trial.known + trial.agreed), trial.cli != ANY));
    if json {
        let each = |trial: &Trial| {
            json!({
                "cli": trial.cli,
                "known_percent": trial.known,
                "agreed_percent": trial.agreed,
                "reports": trial.reports,
                "rules": trial.rules,
            })
        };
        return context.print_json(&trials.iter().map(each).collect::<Vec<_>>());
    }
    let mut table = Table::new(["RULES", "KNOWN", "AS ANY", "REPORTS", "THOSE THAT MATCHED"]);
    for trial in trials {
        let percent = |share: u64| format!("{share} %");
        let rules = trial.rules.into_iter().collect::<Vec<_>>().join(" ");
        let (known, agreed) = (percent(trial.known), percent(trial.agreed));
        table.push([trial.cli, known, agreed, trial.reports.to_string(), rules]);
    }
    table.print(&mut context.out)?;
    Ok(())
}

fn trial(
    cli: String,
    found: &[(Moment, Finding)],
    general: &[(Moment, Finding)],
    end: Moment,
) -> Trial {
    let (mut steps, mut known, mut agreed) = (0, 0, 0);
    let mut at = Moment(0);
    while at < end {
        let state = state_at(found, at);
        let is_known = !matches!(state, AgentState::Unknown | AgentState::Starting);
        steps += 1;
        known += u64::from(is_known);
        agreed += u64::from(is_known && state == state_at(general, at));
        at = at + STEP;
    }
    let percent = |count: u64| 100 * count / u64::max(steps, 1);
    let prefix = format!("{cli}.");
    let states = found.iter().filter_map(|(_, finding)| shown(finding));
    let own = states.filter_map(|shown| shown.rule.strip_prefix(&prefix)).map(str::to_owned);
    let is_report = |(_, finding): &&(Moment, Finding)| matches!(finding, Finding::Report(_));
    let reports = found.iter().filter(is_report).count();
    let rules = own.filter(|rule| rule != "none").collect();
    Trial { known: percent(known), agreed: percent(agreed), reports, rules, cli }
}

fn state_at(found: &[(Moment, Finding)], at: Moment) -> AgentState {
    let before = found.iter().rev().filter(|(since, _)| *since <= at);
    let mut states = before.filter_map(|(_, finding)| shown(finding));
    states.next().map_or(AgentState::Starting, |shown| shown.state)
}

fn shown(finding: &Finding) -> Option<&Shown> {
    match finding {
        Finding::State(shown) => Some(shown),
        Finding::Report(_)
        | Finding::Amended(_)
        | Finding::TurnEnded
        | Finding::Compacted
        | Finding::Foreign(_) => None,
    }
}
