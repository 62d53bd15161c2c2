//! Teams: which agents run together, and what each one is for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::model::{
    AgentName, Environment, InvalidName, Kit, Posting, Role, Runner, SpawnTerms, WorkspaceChoice,
    overlap,
};
use crate::template::{Prompt, TemplateError, Templates};

use super::bounds::read_bounds;
use super::cli::no_zero;
use super::environment::read_environment;
use super::kit::{check_kit, read_kit};
use super::problem::{Problems, distance, quoted, suggest};
use super::reader::{Located, Reader};
use super::runner::LOCAL;
use super::spawn::read_spawn;
use super::workspace::CHOICES;
use super::{Cli, Server, Settings};

/// Each agent is a terminal and a process tree; more than this is a mistake.
const AGENTS_MAX: usize = 64;
const NAME_CHARS_MAX: usize = 64;
/// A hint that names more is not read.
const CLIS_OFFERED_MAX: usize = 12;

pub(super) const ROLES: &[Role] = &[Role::Worker, Role::Lead, Role::Orchestrator, Role::Verifier];
const LAYOUTS: &[Layout] = &[Layout::Grid, Layout::Focus, Layout::Columns, Layout::Single];

/// How the dashboard arranges the panes of a team.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    #[default]
    Grid,
    Focus,
    Columns,
    Single,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Grid => "grid",
            Self::Focus => "focus",
            Self::Columns => "columns",
            Self::Single => "single",
        })
    }
}

/// Whose words may reach whom in a team without a person's consent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speaks {
    /// To and from whoever leads, and along dependencies between tasks.
    #[default]
    Leads,
    /// Everyone to everyone.
    Team,
}

impl fmt::Display for Speaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Leads => "leads",
            Self::Team => "team",
        })
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
    let layout = table.choice("layout", LAYOUTS, problems).unwrap_or_default();
    let speaks = table.choice("speaks", &[Speaks::Leads, Speaks::Team], problems);
    let spawn = read_spawn(&mut table, known.clis, problems);
    let errors_before = problems.errors.len();
    let agents = read_agents(&format!("team `{name}`"), &mut table, known, problems);
    if agents.is_empty() && problems.errors.len() == errors_before {
        let hint = format!("Add one: `[[team.{name}.agents]]` with `name` and `cli`");
        problems.error(table.span(), &format!("The team `{name}` has no agents"), Some(&hint));
    }
    table.finish(problems);
    let speaks = speaks.unwrap_or_default();
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
        Some(format!("`{path}` of {first} and `{same}` of {second} mean the same files"))
    })
}

fn read_agent(mut table: Reader, known: Known, problems: &mut Problems) -> Option<Agent> {
    let name = table.required_text("name", problems).and_then(|name| agent_name(&name, problems));
    let cli = table.required_text("cli", problems);
    if let Some(cli) = &cli {
        known_cli(cli, known.clis, problems);
    }
    let role = table.choice("role", ROLES, problems).unwrap_or_default();
    let prompt = read_prompt(&mut table, problems);
    let cwd = table.text("cwd", problems).map_or(PathBuf::from("."), |cwd| {
        no_zero(&cwd, problems);
        PathBuf::from(cwd.value)
    });
    let env = read_environment(&mut table, problems).unwrap_or_default();
    let owns = inside(&mut table, "owns", problems);
    let prompt = prompt.map(|prompt| with_owns(prompt, &owns, known.templates));
    if let Some(prompt) = &prompt {
        check_prompt(prompt, &table, known.templates, problems);
    }
    let capabilities = read_capabilities(&mut table, problems);
    let speaks = table.texts("speaks", problems).map(|names| names.value).unwrap_or_default();
    let speaks = speaks.iter().filter_map(|name| agent_name(name, problems)).collect();
    let kit = read_kit(&mut table, known.servers, problems);
    let whole = known.roles.get(&role.to_string()).map(|below| kit.clone().over(below));
    if let Some(found) = cli.as_ref().and_then(|cli| known.clis.get_key_value(&cli.value)) {
        check_kit((found.0, found.1), whole.as_ref().unwrap_or(&kit), &table, problems);
    }
    let skill = table.switch("skill", problems).unwrap_or_default();
    let workspace = table.choice("workspace", CHOICES, problems);
    let runner = read_where(&mut table, known.runners, problems).map(Box::new);
    let confinement = read_bounds(&mut table, problems);
    let [setup, teardown] = ["setup", "teardown"].map(|key| {
        let text = table.text(key, problems)?;
        if workspace == Some(WorkspaceChoice::Shared) {
            let message = format!("`{key}`{} is about a workspace of its own", table.within());
            problems.warning(&text.span, &message, Some("Add `workspace = \"worktree\"`"));
        }
        Some(text.value)
    });
    table.finish(problems);
    let (name, cli) = (name?, cli?.value);
    Some(Agent {
        name,
        cli,
        role,
        prompt,
        cwd,
        env,
        owns,
        capabilities,
        speaks,
        skill,
        kit,
        posting: Posting { workspace, runner, confinement, setup, teardown },
    })
}

fn agent_name(text: &Located<String>, problems: &mut Problems) -> Option<AgentName> {
    let name: Result<AgentName, InvalidName> = text.value.parse();
    name.map_err(|error| problems.error(&text.span, &error.to_string(), None)).ok()
}

fn known_cli(cli: &Located<String>, clis: &BTreeMap<String, Cli>, problems: &mut Problems) {
    if clis.contains_key(&cli.value) || problems.is_full() {
        return;
    }
    let mut known: Vec<&str> = clis.keys().map(String::as_str).collect();
    known.sort_by_key(|name| distance(&cli.value, name));
    known.truncate(CLIS_OFFERED_MAX);
    let hint = format!("Use one of {}, or add `[cli.{}]`", quoted(&known), cli.value);
    problems.error(&cli.span, &format!("Unknown cli `{}`", cli.value), Some(&hint));
}

/// Reads `prompt`, or `template` with `vars`.
pub(super) fn read_prompt(table: &mut Reader, problems: &mut Problems) -> Option<Prompt> {
    let text = table.text("prompt", problems);
    let template = table.text("template", problems);
    let vars = table.named_texts("vars", problems);
    if vars.is_some() && template.is_none() {
        let message = format!("`vars`{} fill a template, and there is none", table.within());
        problems.error(&table.span_of("vars"), &message, Some("Add `template = \"…\"`"));
    }
    match (text, template) {
        (Some(_), Some(template)) => {
            let message = format!("Both `prompt` and `template`{}", table.within());
            problems.error(&template.span, &message, Some("Keep one of them"));
            None
        }
        (Some(text), None) => Some(Prompt::Text(text.value)),
        (None, Some(template)) => {
            let vars = vars.unwrap_or_default().into_iter();
            let vars = vars.map(|(name, value)| (name, value.value)).collect();
            Some(Prompt::Template { name: template.value, vars })
        }
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

/// Returns the paths or patterns under the key, which all lie in the project.
pub(super) fn inside(
    table: &mut Reader,
    key: &'static str,
    problems: &mut Problems,
) -> Vec<String> {
    let Some(globs) = table.texts(key, problems) else { return Vec::new() };
    for glob in &globs.value {
        let path = Path::new(&glob.value);
        let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
        if glob.value.is_empty() || path.is_absolute() || climbs {
            let message = format!("`{}` does not lie in the project", glob.value);
            let hint = "Write a path or pattern relative to the project, such as `src/api/**`";
            problems.error(&glob.span, &message, Some(hint));
        }
    }
    globs.value.into_iter().map(|glob| glob.value).collect()
}

fn read_capabilities(table: &mut Reader, problems: &mut Problems) -> Vec<String> {
    let Some(words) = table.texts("capabilities", problems) else { return Vec::new() };
    for word in &words.value {
        well_named("capability", word, problems);
    }
    words.value.into_iter().map(|word| word.value).collect()
}

/// Returns the runner that the table names, unless that is this machine.
fn read_where(
    table: &mut Reader,
    runners: &BTreeMap<String, Runner>,
    problems: &mut Problems,
) -> Option<Runner> {
    let name = table.text("runner", problems).filter(|name| name.value != LOCAL)?;
    let found = runners.get(&name.value);
    if found.is_none() {
        let known: Vec<&str> = runners.keys().map(String::as_str).chain([LOCAL]).collect();
        let hint = format!("Use one of {}, or add `[runner.{}]`", quoted(&known), name.value);
        problems.error(&name.span, &format!("Unknown runner `{}`", name.value), Some(&hint));
    }
    found.cloned()
}

/// Notes an error where the text cannot name a cli, a team, a template or a capability.
///
/// Such a name becomes a command's argument, so it never begins with a dash.
pub(super) fn well_named(what: &str, name: &Located<String>, problems: &mut Problems) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let text = &name.value;
    let fits = (1..=NAME_CHARS_MAX).contains(&text.len());
    let is_good = fits && text.chars().all(inside) && !text.starts_with('-');
    if !is_good {
        let hint = format!("Use letters, digits, `_` and `-`, at most {NAME_CHARS_MAX}");
        problems.error(&name.span, &format!("`{text}` cannot name a {what}"), Some(&hint));
    }
    is_good
}
