//! Teams: which agents run together, and what each one is for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::model::{
    AgentName, Environment, Kit, Posting, Role, Runner, SpawnTerms, WorkspaceChoice, overlap,
};
use crate::template::{Prompt, TemplateError, Templates};

use super::bounds::read_bounds;
use super::checks::{Inside, NoZero, checks, environment, text, texts};
use super::kit::{check_kit, read_kit};
use super::problem::{Problems, distance, quoted, suggest};
use super::reader::Reader;
use super::runner::LOCAL;
use super::spawn::read_spawn;
use super::{Cli, Server, Settings};

/// Each agent is a terminal and a process tree; more than this is a mistake.
const AGENTS_MAX: usize = 64;
const NAME_CHARS_MAX: usize = 64;
/// A hint that names more is not read.
const CLIS_OFFERED_MAX: usize = 12;

pub(super) const ROLES: &[Role] = &[Role::Worker, Role::Lead, Role::Orchestrator, Role::Verifier];

/// How the dashboard arranges the panes of a team.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    #[default]
    Grid,
    Focus,
    Columns,
    Single,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Whose words may reach whom in a team without a person's consent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaks {
    /// To and from whoever leads, and along dependencies between tasks.
    #[default]
    Leads,
    /// Everyone to everyone.
    Team,
}

impl fmt::Display for Speaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A preset of agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    pub name: String,
    pub layout: Layout,
    pub speaks: Speaks,
    /// Which agents its leads and its orchestrator may start, if any.
    pub spawn: Option<SpawnTerms>,
    /// In the order of the file; never empty.
    pub agents: Vec<Agent>,
}

/// One member of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub name: AgentName,
    pub cli: String,
    pub role: Role,
    /// What to tell the agent once it is ready.
    pub prompt: Option<Prompt>,
    /// As it is written: relative to the project.
    pub cwd: PathBuf,
    pub env: Environment,
    /// The paths that only this agent changes: needs for them go to it. Not watched yet.
    pub owns: Vec<String>,
    /// What kinds of work it can take.
    pub capabilities: Vec<String>,
    /// Its words may reach these, too, without a person's consent.
    pub speaks: Vec<AgentName>,
    /// It is told first how to use this tool, by its role.
    pub skill: bool,
    /// What it works with, as far as it says so itself.
    pub kit: Kit,
    /// Where it works, and within which bounds.
    pub posting: Posting,
}

/// What a team may name.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    pub(super) clis: &'k BTreeMap<String, Cli>,
    pub(super) templates: &'k Templates,
    pub(super) servers: &'k BTreeMap<String, Server>,
    pub(super) roles: &'k BTreeMap<String, Kit>,
    pub(super) runners: &'k BTreeMap<String, Runner>,
}

impl<'k> Known<'k> {
    pub(super) fn of(settings: &'k Settings) -> Self {
        let Settings { clis, templates, servers, roles, runners, .. } = settings;
        Self { clis, templates, servers, roles, runners }
    }
}

impl Agent {
    /// Returns the directory in which the agent runs.
    pub fn directory(&self, project: &Path) -> PathBuf {
        project.join(&self.cwd).components().collect()
    }
}

/// Returns the team that the table describes, as far as it can be read.
pub(super) fn read_team(
    name: &str,
    mut table: Reader,
    known: Known,
    problems: &mut Problems,
) -> Team {
    let TeamTable { layout, speaks } = table.part(problems).unwrap_or_default();
    let spawn = read_spawn(&mut table, known.clis, problems);
    let errors_before = problems.errors.len();
    let agents = read_agents(&format!("team `{name}`"), &mut table, known, problems);
    if agents.is_empty() && problems.errors.len() == errors_before {
        let hint = format!("Add one: `[[team.{name}.agents]]` with `name` and `cli`");
        problems.error(table.span(), &format!("The team `{name}` has no agents"), Some(&hint));
    }
    table.finish(problems);
    Team { name: name.to_owned(), layout, speaks, spawn, agents }
}

/// Returns the agents below the key `agents`, as far as they can be read.
pub(super) fn read_agents(
    whose: &str,
    table: &mut Reader,
    known: Known,
    problems: &mut Problems,
) -> Vec<Agent> {
    let tables = table.listed_tables("agents", problems);
    if tables.len() > AGENTS_MAX {
        let message = format!("The {whose} has {} agents", tables.len());
        let hint = format!("Split it into teams of at most {AGENTS_MAX}");
        problems.error(table.span(), &message, Some(&hint));
    }
    let mut seen = BTreeSet::new();
    let mut agents: Vec<Agent> = Vec::new();
    let mut addressees = Vec::new();
    for inner in tables.into_iter().take(AGENTS_MAX) {
        let (name_span, owns_span) = (inner.span_of("name"), inner.span_of("owns"));
        let speaks_span = inner.span_of("speaks");
        let Some(agent) = read_agent(inner, known, problems) else { continue };
        addressees.extend(agent.speaks.iter().map(|to| (speaks_span.clone(), to.clone())));
        if !seen.insert(agent.name.clone()) {
            let message = format!("The {whose} has two agents named `{}`", agent.name);
            problems.error(&name_span, &message, Some("Give each agent of a team its own name"));
        }
        if let Some(message) = agents.iter().find_map(|other| shared_paths(other, &agent)) {
            let hint = "Such a team is not started: give each agent paths of its own";
            problems.warning(&owns_span, &message, Some(hint));
        }
        agents.push(agent);
    }
    for (span, to) in addressees {
        let names = || agents.iter().map(|agent| agent.name.as_str());
        if !names().any(|name| name == to.as_str()) {
            let message = format!("The {whose} has no agent `{to}` to speak to");
            problems.error(&span, &message, Some(&suggest(to.as_str(), names())));
        }
    }
    agents
}

/// Says which files two agents would both own.
fn shared_paths(one: &Agent, other: &Agent) -> Option<String> {
    one.owns.iter().find_map(|path| {
        let same = other.owns.iter().find(|same| overlap(path, same))?;
        let (first, second) = (&one.name, &other.name);
        Some(format!("`{path}` of {first} and `{same}` of {second} match the same files"))
    })
}

/// What a team's table says beside its agents and what those may start.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TeamTable {
    layout: Layout,
    speaks: Speaks,
}

/// What an agent's table says, but for its tools and its bounds.
#[derive(Deserialize)]
struct AgentTable {
    name: AgentName,
    cli: Spanned<String>,
    #[serde(default)]
    role: Role,
    prompt: Option<String>,
    template: Option<String>,
    vars: Option<BTreeMap<String, String>>,
    #[serde(default, deserialize_with = "text::<_, NoZero, _>")]
    cwd: Option<String>,
    #[serde(default, deserialize_with = "environment")]
    env: Environment,
    #[serde(default, deserialize_with = "texts::<_, Inside>")]
    owns: Vec<String>,
    #[serde(default, deserialize_with = "texts::<_, Capability>")]
    capabilities: Vec<String>,
    #[serde(default)]
    speaks: Vec<AgentName>,
    #[serde(default)]
    skill: bool,
    workspace: Option<WorkspaceChoice>,
    runner: Option<Spanned<String>>,
    setup: Option<Spanned<String>>,
    teardown: Option<Spanned<String>>,
}

checks! {
    Capability => |word| name_fault("capability", word);
}

fn read_agent(mut table: Reader, known: Known, problems: &mut Problems) -> Option<Agent> {
    let read = table.part_with_stand_ins::<AgentTable>(problems);
    let mut found = read.value?;
    // A word that stands in for a missing one is nowhere in the file.
    let is_written = !found.cli.span().is_empty();
    if is_written {
        known_cli(&found.cli, known.clis, problems);
    }
    let prompt = read_prompt(&mut found, &table, problems);
    let prompt = prompt.map(|prompt| with_owns(prompt, &found.owns, known.templates));
    if let Some(prompt) = &prompt {
        check_prompt(prompt, &table, known.templates, problems);
    }
    let kit = read_kit(&mut table, known.servers, problems);
    let whole = known.roles.get(&found.role.to_string()).map(|below| kit.clone().over(below));
    if let Some(cli) = known.clis.get_key_value(found.cli.get_ref()).filter(|_| is_written) {
        check_kit((cli.0, cli.1), whole.as_ref().unwrap_or(&kit), &table, problems);
    }
    let runner = found.runner.take();
    let runner = runner.and_then(|name| known_runner(&name, known.runners, problems));
    let confinement = read_bounds(&mut table, problems);
    if found.workspace == Some(WorkspaceChoice::Shared) {
        for (key, text) in [("setup", &found.setup), ("teardown", &found.teardown)] {
            let Some(text) = text else { continue };
            let message = format!("`{key}`{} is about a workspace of its own", table.within());
            let hint = "Add `workspace = \"worktree\"`";
            problems.warning(&text.span(), &message, Some(hint));
        }
    }
    table.finish(problems);
    read.is_whole.then(|| Agent {
        name: found.name,
        cli: found.cli.into_inner(),
        role: found.role,
        prompt,
        cwd: PathBuf::from(found.cwd.unwrap_or_else(|| ".".to_owned())),
        env: found.env,
        owns: found.owns,
        capabilities: found.capabilities,
        speaks: found.speaks,
        skill: found.skill,
        kit,
        posting: Posting {
            workspace: found.workspace,
            runner: runner.map(Box::new),
            confinement,
            setup: found.setup.map(Spanned::into_inner),
            teardown: found.teardown.map(Spanned::into_inner),
        },
    })
}

fn known_cli(cli: &Spanned<String>, clis: &BTreeMap<String, Cli>, problems: &mut Problems) {
    let name = cli.get_ref();
    if clis.contains_key(name) || problems.is_full() {
        return;
    }
    let mut known: Vec<&str> = clis.keys().map(String::as_str).collect();
    known.sort_by_key(|known| distance(name, known));
    known.truncate(CLIS_OFFERED_MAX);
    let hint = format!("Use one of {}, or add `[cli.{name}]`", quoted(&known));
    problems.error(&cli.span(), &format!("Unknown cli `{name}`"), Some(&hint));
}

/// Returns what `prompt` says, or `template` with `vars`.
fn read_prompt(found: &mut AgentTable, table: &Reader, problems: &mut Problems) -> Option<Prompt> {
    let (text, template, vars) = (found.prompt.take(), found.template.take(), found.vars.take());
    if vars.is_some() && !table.has("template") {
        let message = format!("`vars`{} fill a template, and there is none", table.within());
        problems.error(&table.span_of("vars"), &message, Some("Add `template = \"…\"`"));
    }
    match (text, template) {
        (Some(_), Some(_)) => {
            let message = format!("Both `prompt` and `template`{}", table.within());
            problems.error(&table.span_of("template"), &message, Some("Keep one of them"));
            None
        }
        (Some(text), None) => Some(Prompt::Text(text)),
        (None, Some(name)) => Some(Prompt::Template { name, vars: vars.unwrap_or_default() }),
        (None, None) => None,
    }
}

/// Tells a template that asks for it what the agent owns.
fn with_owns(prompt: Prompt, owns: &[String], templates: &Templates) -> Prompt {
    match prompt {
        Prompt::Template { name, mut vars } => {
            let asks = templates.get(&name).is_ok_and(|template| template.takes("owns"));
            if asks && !owns.is_empty() {
                vars.entry("owns".to_owned()).or_insert_with(|| owns.join(", "));
            }
            Prompt::Template { name, vars }
        }
        Prompt::Text(text) => Prompt::Text(text),
    }
}

fn check_prompt(prompt: &Prompt, table: &Reader, templates: &Templates, problems: &mut Problems) {
    let Prompt::Template { name, vars } = prompt else { return };
    for error in templates.check(name, vars) {
        let (key, hint) = match &error {
            TemplateError::UnknownVariable { .. } => ("vars", None),
            TemplateError::MissingVariable { name, .. } => {
                let key = if table.has("vars") { "vars" } else { "template" };
                (key, Some(format!("Add `vars = {{ {name} = \"…\" }}`")))
            }
            TemplateError::UnknownTemplate { .. } | TemplateError::Broken { .. } => {
                ("template", None)
            }
        };
        let hint = hint.or_else(|| nearest(&error));
        problems.error(&table.span_of(key), &error.to_string(), hint.as_deref());
    }
}

/// Returns a hint for a name that a template or its variables lack.
pub(super) fn nearest(error: &TemplateError) -> Option<String> {
    let (name, known) = error.unknown()?;
    Some(suggest(name, known.iter().map(String::as_str)))
}

/// Returns the runner of this name, unless that is this machine.
fn known_runner(
    name: &Spanned<String>,
    runners: &BTreeMap<String, Runner>,
    problems: &mut Problems,
) -> Option<Runner> {
    let (name, span) = (name.get_ref(), name.span());
    let found = runners.get(name);
    if found.is_none() && name != LOCAL {
        let known: Vec<&str> = runners.keys().map(String::as_str).chain([LOCAL]).collect();
        let hint = format!("Use one of {}, or add `[runner.{name}]`", quoted(&known));
        problems.error(&span, &format!("Unknown runner `{name}`"), Some(&hint));
    }
    found.cloned()
}

/// Notes an error where the text cannot name a cli, a team or a template.
pub(super) fn well_named(what: &str, name: &Spanned<String>, problems: &mut Problems) -> bool {
    let fault = name_fault(what, name.get_ref());
    if let Some((message, hint)) = fault.as_ref().and_then(|fault| fault.split_once("\nhint: ")) {
        problems.error(&name.span(), message, Some(hint));
    }
    fault.is_none()
}

/// Says why the text cannot name a cli, a team, a template, a task or a capability.
///
/// Such a name becomes a command's argument, so it never begins with a dash.
pub(super) fn name_fault(what: &str, text: &str) -> Option<String> {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let fits = (1..=NAME_CHARS_MAX).contains(&text.len());
    let is_good = fits && text.chars().all(inside) && !text.starts_with('-');
    let hint = format!("Use letters, digits, `_` and `-`, at most {NAME_CHARS_MAX}");
    (!is_good).then(|| format!("`{text}` cannot name a {what}\nhint: {hint}"))
}
