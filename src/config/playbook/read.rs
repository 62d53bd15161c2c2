//! Reads a whole playbook out of its table.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;
use toml::de::DeTable;

use super::super::pattern::is_variable_name;
use super::super::problem::{Problems, suggest};
use super::super::reader::Reader;
use super::super::team::{Agent, Known, read_agents};
use super::super::{Settings, Team};
use super::task::{duration, read_task};
use crate::model::{LockTerms, Pattern};
use crate::playbook::{self, Place, Playbook, Stage, SubTeam, Task};
use crate::template::Variable;

/// A run with more tasks is a program, not a playbook.
const TASKS_MAX: usize = 256;

/// What a playbook says of itself.
#[derive(Deserialize)]
struct HeadTable {
    name: String,
    purpose: String,
    pattern: Pattern,
    #[serde(default, deserialize_with = "duration")]
    expected: Option<Duration>,
    team: Option<Spanned<String>>,
}

#[derive(Deserialize)]
struct VariableTable {
    what: String,
    default: Option<String>,
    rehearsal: Option<String>,
}

#[derive(Deserialize)]
struct StageTable {
    name: String,
    #[serde(default)]
    gates: Vec<String>,
    #[serde(default)]
    hands_on: Vec<String>,
}

#[derive(Deserialize)]
struct LockTable {
    name: String,
    /// For whoever reads the file.
    #[serde(rename = "what")]
    _what: Option<String>,
    #[serde(default, deserialize_with = "duration")]
    time_limit: Option<Duration>,
}

/// Returns the playbook, as far as it can be read.
pub(super) fn read_playbook(
    table: &DeTable,
    settings: &Settings,
    problems: &mut Problems,
) -> Option<Playbook> {
    let mut file = Reader::of_file(table);
    let head = file.table("playbook", problems);
    if head.is_none() && !file.has("playbook") {
        let hint = "Add it, with `name`, `purpose` and `pattern`";
        problems.error(&(0..0), "No `[playbook]`", Some(hint));
    }
    let mut head = head?;
    let read = head.part_with_stand_ins(problems);
    let HeadTable { name, purpose, pattern, expected, team } = read.value?;
    let (team, agents) = read_team(team.as_ref(), (&head, &mut file), settings, problems);
    head.finish(problems);
    let (vars, rehearsal) = read_vars(&mut file, problems);
    let mut tasks = read_tasks(&mut file, &Place::default(), problems);
    let stages = read_stages(&mut file, &mut tasks, problems);
    if tasks.is_empty() && !file.has("tasks") && !file.has("stages") {
        let hint = "Add `[[tasks]]` with `id` and `title`";
        problems.error(&(0..0), "The playbook has no tasks", Some(hint));
    }
    if tasks.len() > TASKS_MAX {
        let message = format!("The playbook has {} tasks", tasks.len());
        problems.error(&(0..0), &message, Some(&format!("Keep at most {TASKS_MAX}")));
        return None;
    }
    let teams = read_teams(&mut file, problems);
    let locks = read_locks(&mut file, problems);
    file.finish(problems);
    read.is_whole.then_some(Playbook {
        name,
        purpose,
        pattern,
        expected,
        vars,
        rehearsal,
        team,
        agents,
        tasks,
        stages,
        teams,
        locks,
    })
}

/// Reads the agents: those of a team by its name, or those in the file itself.
fn read_team(
    named: Option<&Spanned<String>>,
    (head, file): (&Reader, &mut Reader),
    settings: &Settings,
    problems: &mut Problems,
) -> (Option<String>, Vec<playbook::Agent>) {
    let known = Known::of(settings);
    let own = read_agents("playbook", file, known, problems);
    let team: Option<&Team> = named.and_then(|name| settings.team(name.get_ref()));
    match named {
        Some(name) if team.is_none() => {
            let message = format!("Unknown team `{}`", name.get_ref());
            let known = settings.teams().map(|team| team.name.as_str());
            let hint = suggest(name.get_ref(), known);
            problems.error(&name.span(), &message, Some(&hint));
        }
        Some(name) if file.has("agents") => {
            let message = "Both `team` and `[[agents]]`";
            problems.error(&name.span(), message, Some("Keep one of them"));
        }
        None if !file.has("agents") => {
            let hint = "Add `[[agents]]` with `name` and `cli`, or `team = \"…\"` in `[playbook]`";
            problems.error(head.span(), "Nobody takes part", Some(hint));
        }
        Some(_) | None => {}
    }
    let agents = team.map_or(own, |team| team.agents.clone());
    let name = team.map(|team| team.name.clone());
    (name, agents.into_iter().map(|agent| taking_part(agent, settings)).collect())
}

fn taking_part(agent: Agent, settings: &Settings) -> playbook::Agent {
    let kit = settings.kit_of(&agent);
    let Agent { name, cli, role, prompt, owns, capabilities, posting, .. } = agent;
    playbook::Agent { name, cli, role, prompt, owns, capabilities, kit, posting }
}

/// Returns the variables, and what fills some of them in a rehearsal.
fn read_vars(
    file: &mut Reader,
    problems: &mut Problems,
) -> (BTreeMap<String, Variable>, BTreeMap<String, String>) {
    let mut vars = BTreeMap::new();
    let mut rehearsal = BTreeMap::new();
    for (name, mut table) in file.named_tables("vars", problems) {
        if !is_variable_name(name.get_ref()) {
            let message = format!("`{}` cannot name a variable", name.get_ref());
            problems.error(&name.span(), &message, Some("Use letters, digits and `_`"));
        }
        let found = table.part_with_stand_ins(problems).value;
        table.finish(problems);
        let Some(VariableTable { what, default, rehearsal: text }) = found else { continue };
        rehearsal.extend(text.map(|text| (name.get_ref().clone(), text)));
        vars.insert(name.into_inner(), Variable { what, default });
    }
    (vars, rehearsal)
}

fn read_tasks(table: &mut Reader, place: &Place, problems: &mut Problems) -> Vec<Task> {
    let tables = table.listed_tables("tasks", problems).into_iter().enumerate();
    let task = |(at, table)| read_task(table, place.clone().key("tasks").index(at), problems);
    tables.filter_map(task).collect()
}

fn read_stages(file: &mut Reader, tasks: &mut Vec<Task>, problems: &mut Problems) -> Vec<Stage> {
    let mut stages = Vec::new();
    for (at, mut table) in file.listed_tables("stages", problems).into_iter().enumerate() {
        let Some(stage) = table.part_with_stand_ins::<StageTable>(problems).value else { continue };
        let first = tasks.len();
        tasks.extend(read_tasks(&mut table, &Place::entry("stages", at), problems));
        if !table.has("tasks") {
            let message = format!("No tasks{}", table.within());
            problems.error(table.span(), &message, Some("Add `[[stages.tasks]]` below it"));
        }
        stages.push(Stage {
            name: stage.name,
            tasks: first..tasks.len(),
            gates: stage.gates,
            hands_on: stage.hands_on,
        });
        table.finish(problems);
    }
    stages
}

fn read_teams(file: &mut Reader, problems: &mut Problems) -> Vec<SubTeam> {
    let tables = file.listed_tables("teams", problems);
    let team = |mut table: Reader| {
        let team = table.part::<SubTeam>(problems);
        table.finish(problems);
        team
    };
    tables.into_iter().filter_map(team).collect()
}

fn read_locks(file: &mut Reader, problems: &mut Problems) -> Vec<LockTerms> {
    let mut locks = Vec::new();
    for mut table in file.listed_tables("locks", problems) {
        if let Some(LockTable { name, time_limit, .. }) = table.part(problems) {
            let limit_ms = time_limit.and_then(|limit| limit.as_millis().try_into().ok());
            locks.push(LockTerms { name, limit_ms });
        }
        table.finish(problems);
    }
    locks
}
