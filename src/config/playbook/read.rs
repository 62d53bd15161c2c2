//! Reads a whole playbook out of its table.

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::super::pattern::is_variable_name;
use super::super::problem::{Problems, suggest};
use super::super::reader::Reader;
use super::super::team::{Agent, Known, read_agents};
use super::super::{Settings, Team};
use super::task::{duration, read_task, words};
use crate::model::{LockTerms, Pattern};
use crate::playbook::{self, Place, Playbook, Stage, SubTeam, Task};
use crate::template::Variable;

/// A run with more tasks is a program, not a playbook.
const TASKS_MAX: usize = 256;

const PATTERNS: &[Pattern] =
    &[Pattern::Hub, Pattern::Pipeline, Pattern::Swarm, Pattern::Chain, Pattern::Mesh];

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
    let name = head.required_text("name", problems);
    let purpose = head.required_text("purpose", problems);
    let pattern = head.choice("pattern", PATTERNS, problems);
    if !head.has("pattern") {
        let hint = "Add `pattern = \"hub\"`, or pipeline, swarm, chain or mesh";
        problems.error(head.span(), "No `pattern` in `[playbook]`", Some(hint));
    }
    let expected = duration(&mut head, "expected", problems);
    let (team, agents) = read_team(&mut head, &mut file, settings, problems);
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
    Some(Playbook {
        name: name?.value,
        purpose: purpose?.value,
        pattern: pattern?,
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
    head: &mut Reader,
    file: &mut Reader,
    settings: &Settings,
    problems: &mut Problems,
) -> (Option<String>, Vec<playbook::Agent>) {
    let known = Known::of(settings);
    let own = read_agents("playbook", file, known, problems);
    let named = head.text("team", problems);
    let team: Option<&Team> = named.as_ref().and_then(|name| settings.team(&name.value));
    match &named {
        Some(name) if team.is_none() => {
            let message = format!("Unknown team `{}`", name.value);
            let hint = suggest(&name.value, settings.teams().map(|team| team.name.as_str()));
            problems.error(&name.span, &message, Some(&hint));
        }
        Some(name) if file.has("agents") => {
            let message = "Both `team` and `[[agents]]`";
            problems.error(&name.span, message, Some("Keep one of them"));
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
        if !is_variable_name(&name.value) {
            let message = format!("`{}` cannot name a variable", name.value);
            problems.error(&name.span, &message, Some("Use letters, digits and `_`"));
        }
        let what = table.required_text("what", problems);
        let default = table.text("default", problems).map(|default| default.value);
        if let Some(text) = table.text("rehearsal", problems) {
            rehearsal.insert(name.value.clone(), text.value);
        }
        table.finish(problems);
        let what = what.map(|what| what.value).unwrap_or_default();
        vars.insert(name.value, Variable { what, default });
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
        let name = table.required_text("name", problems).map(|name| name.value);
        let first = tasks.len();
        tasks.extend(read_tasks(&mut table, &Place::entry("stages", at), problems));
        if !table.has("tasks") {
            let message = format!("No tasks{}", table.within());
            problems.error(table.span(), &message, Some("Add `[[stages.tasks]]` below it"));
        }
        stages.push(Stage {
            name: name.unwrap_or_default(),
            tasks: first..tasks.len(),
            gates: words(&mut table, "gates", problems),
            hands_on: words(&mut table, "hands_on", problems),
        });
        table.finish(problems);
    }
    stages
}

fn read_teams(file: &mut Reader, problems: &mut Problems) -> Vec<SubTeam> {
    let tables = file.listed_tables("teams", problems);
    let team = |mut table: Reader| {
        let name = table.required_text("name", problems).map(|name| name.value);
        let lead = table.required_text("lead", problems).map(|lead| lead.value);
        let members = words(&mut table, "members", problems);
        table.finish(problems);
        Some(SubTeam { name: name?, lead: lead?, members })
    };
    tables.into_iter().filter_map(team).collect()
}

fn read_locks(file: &mut Reader, problems: &mut Problems) -> Vec<LockTerms> {
    let mut locks = Vec::new();
    for mut table in file.listed_tables("locks", problems) {
        let name = table.required_text("name", problems);
        table.text("what", problems);
        let limit = duration(&mut table, "time_limit", problems);
        let limit_ms = limit.and_then(|limit| limit.as_millis().try_into().ok());
        locks.extend(name.map(|name| LockTerms { name: name.value, limit_ms }));
        table.finish(problems);
    }
    locks
}
