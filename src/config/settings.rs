//! The settings that hold, and which file each one came from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::approval::Rules;
use crate::model::{Environment, Kit, Runner};
use crate::template::Templates;

use super::builtin::built_in;
use super::cli::installed_agent;
use super::layer::apply;
use super::problem::{distance, quoted};
use super::source_file::{SourceFile, whole_file};
use super::template::Folder;
use super::{
    CastSettings, Cli, ConfigError, DashboardSettings, EnvSettings, GridSettings, Hash,
    HubSettings, LimitSettings, LogSettings, NotifySettings, PaneSettings, Paths, Problem,
    ProjectTemplate, RecordSettings, ReporterSettings, Server, StopSettings, StuckSettings, Team,
    Trust, WorkspaceSettings, plain,
};

/// Everything that can be set, checked and complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub pane: PaneSettings,
    pub grid: GridSettings,
    pub dashboard: DashboardSettings,
    /// The keys of the dashboard's actions, as the person wants them: `stop = "x ctrl-k"`.
    pub keys: BTreeMap<String, String>,
    pub stop: StopSettings,
    pub stuck: StuckSettings,
    pub limit: LimitSettings,
    pub casts: CastSettings,
    pub record: RecordSettings,
    pub notify: NotifySettings,
    pub reporters: ReporterSettings,
    pub env: EnvSettings,
    pub hub: HubSettings,
    pub log: LogSettings,
    pub workspace: WorkspaceSettings,
    /// Which dialogs may be answered without a person: none, unless a file says so.
    pub approvals: Rules,
    pub(super) clis: BTreeMap<String, Cli>,
    pub(super) teams: BTreeMap<String, Team>,
    /// The programs that agents may be given tools by: `[mcp.NAME]`.
    pub(super) servers: BTreeMap<String, Server>,
    /// What agents of a role work with, where they do not say so themselves: `[role.NAME]`.
    pub(super) roles: BTreeMap<String, Kit>,
    pub(super) runners: BTreeMap<String, Runner>,
    pub templates: Templates,
    /// Where each value is from, by its key: `pane.scrollback`, `cli.claude`, `team.numbers`.
    pub provenance: BTreeMap<String, Origin>,
}

/// Which file a value came from; a later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    BuiltIn,
    User,
    Project,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Project => "project",
        })
    }
}

/// What the files say, as far as they may be believed.
#[derive(Debug)]
pub struct Loaded {
    /// What holds now: the project's file counts only if it is trusted.
    pub settings: Settings,
    /// Absent where the project has no file.
    pub project: Option<ProjectFile>,
    /// The project's own prompt templates, trusted or not.
    pub templates: Vec<ProjectTemplate>,
    pub warnings: Vec<Problem>,
}

/// The project's own file, as it was read.
#[derive(Debug)]
pub struct ProjectFile {
    /// With links followed: the path under which it is trusted.
    pub path: PathBuf,
    pub hash: Hash,
    pub is_trusted: bool,
    /// What would hold once the file is trusted.
    pub settings: Settings,
}

/// Says why a team cannot be started.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TeamError {
    #[error(
        "The team `{team}` is in `{}`, which is not trusted as it is now\n\
         hint: Read what it would run and trust it with `wheelhouse config trust`",
        .file.display()
    )]
    NotTrusted { team: String, file: PathBuf },
    #[error("Unknown team `{team}`\nhint: Use one of {known}")]
    Unknown { team: String, known: String },
}

/// Why a cli cannot be run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CliError {
    #[error("Unknown cli `{cli}`\nhint: See the known ones with `wheelhouse config show`")]
    Unknown { cli: String },
    #[error(
        "No agent is installed: none of claude, codex, gemini, opencode, aider, copilot, qwen, kilo, pi and continue is on the PATH\n\
         hint: Install one, name another with `[cli.agent] command = [\"…\"]`, or try `wheelhouse demo`"
    )]
    NoAgent,
}

impl Settings {
    /// Reads the user's and the project's file, each once, and checks both.
    ///
    /// The project's file is checked in any case, and used only if exactly these bytes are trusted.
    pub fn load(paths: &Paths) -> Result<Loaded, ConfigError> {
        let mut errors = Vec::new();
        let mut warnings = Vec::new();
        let mut settings = built_in();
        let read = |path: PathBuf, errors: &mut Vec<Problem>| {
            SourceFile::read(&path).unwrap_or_else(|problem| {
                errors.push(problem);
                None
            })
        };
        let folder = Folder::read(&paths.user_templates());
        errors.extend(folder.errors);
        settings.add_templates(&folder.templates, Origin::User);
        if let Some(file) = read(paths.user_config.clone(), &mut errors) {
            let found = apply(&mut settings, &file.path, &file.text, Origin::User);
            errors.extend(found.errors);
            warnings.extend(found.warnings);
        }
        let folder = Folder::read(&paths.project_templates());
        errors.extend(folder.errors);
        let file = read(paths.project_config(), &mut errors);
        let mut templates = folder.templates;
        let mut project = None;
        if file.is_some() || !templates.is_empty() {
            let trust = Trust::load(paths)
                .map_err(|error| warnings.push(whole_file(&paths.trust_file, &error.to_string())));
            let is_trusted = |path: &Path, hash: &Hash| {
                trust.as_ref().is_ok_and(|trust| trust.is_trusted(path, hash))
            };
            let mut with_project = settings.clone();
            with_project.add_templates(&templates, Origin::Project);
            for own in &mut templates {
                own.is_trusted = is_trusted(&own.path, &own.hash);
                if !own.is_trusted {
                    warnings.push(untrusted(&own.template.file));
                }
            }
            let trusted = templates.iter().filter(|own| own.is_trusted);
            settings.add_templates(trusted, Origin::Project);
            if let Some(file) = file {
                let found = apply(&mut with_project, &file.path, &file.text, Origin::Project);
                errors.extend(found.errors);
                warnings.extend(found.warnings);
                let is_trusted = is_trusted(&file.canonical, &file.hash);
                if is_trusted {
                    // Once more, without the templates that are not trusted; what is wrong is told.
                    apply(&mut settings, &file.path, &file.text, Origin::Project);
                } else {
                    warnings.push(untrusted(&file.path));
                }
                let (path, hash) = (file.canonical, file.hash);
                project = Some(ProjectFile { path, hash, is_trusted, settings: with_project });
            }
        }
        if errors.is_empty() {
            Ok(Loaded { settings, project, templates, warnings })
        } else {
            Err(ConfigError { problems: errors, warnings })
        }
    }

    /// Lays templates over those of the same name.
    fn add_templates<'t>(
        &mut self,
        templates: impl IntoIterator<Item = &'t ProjectTemplate>,
        origin: Origin,
    ) {
        for ProjectTemplate { template, .. } in templates {
            self.provenance.insert(format!("template.{}", template.name), origin);
            self.templates.insert(template.clone());
        }
    }

    /// Returns what holds where no file says otherwise.
    pub fn built_in() -> Self {
        built_in()
    }

    /// Returns the keys under which the other settings differ: `pane`, `cli.claude`, `team.numbers`.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let sections = self.sections().into_iter().zip(other.sections());
        let sections = sections.filter(|((_, one), (_, other))| one.values() != other.values());
        let sections = sections.map(|((name, _), _)| name);
        let lists = [
            ("keys", self.keys != other.keys),
            ("approve", self.approvals.approve != other.approvals.approve),
            ("deny", self.approvals.deny != other.approvals.deny),
        ];
        let lists = lists.into_iter().filter_map(|(key, differs)| differs.then_some(key));
        let values = sections.chain(lists).map(str::to_owned);
        let clis = differing(&self.clis, &other.clis).map(|name| format!("cli.{name}"));
        let teams = differing(&self.teams, &other.teams).map(|name| format!("team.{name}"));
        let servers = differing(&self.servers, &other.servers).map(|name| format!("mcp.{name}"));
        let roles = differing(&self.roles, &other.roles).map(|name| format!("role.{name}"));
        let runners = differing(&self.runners, &other.runners);
        let runners = runners.map(|name| format!("runner.{name}"));
        values.chain(clis).chain(servers).chain(roles).chain(runners).chain(teams).collect()
    }

    pub fn team(&self, name: &str) -> Option<&Team> {
        self.teams.get(name)
    }

    /// Returns the places other than this machine where agents can run, by name.
    pub fn runners(&self) -> impl Iterator<Item = &Runner> {
        self.runners.values()
    }

    /// Returns the teams by name.
    pub fn teams(&self) -> impl Iterator<Item = &Team> {
        self.teams.values()
    }

    /// Says whether a cli is given other hooks at its start than the ones that are built in.
    pub fn has_own_hooks(&self, cli: &str) -> bool {
        let built_in = built_in().clis.remove(cli).map(|cli| cli.hooks).unwrap_or_default();
        self.clis.get(cli).is_some_and(|cli| cli.hooks != built_in)
    }

    pub fn cli(&self, name: &str) -> Option<&Cli> {
        self.clis.get(name)
    }

    /// Returns the cli that a team means by a name, under its own name: `agent` is whichever agent is
    /// installed for someone with these variables.
    pub fn resolve<'a>(
        &'a self,
        name: &'a str,
        caller: &Environment,
    ) -> Result<(&'a str, &'a Cli), CliError> {
        let cli = self.cli(name).ok_or_else(|| CliError::Unknown { cli: name.to_owned() })?;
        if cli.is_any_agent() {
            return installed_agent(&self.clis, caller).ok_or(CliError::NoAgent);
        }
        Ok((name, cli))
    }

    /// Returns the clis with their names.
    pub fn clis(&self) -> impl Iterator<Item = (&str, &Cli)> {
        self.clis.iter().map(|(name, cli)| (name.as_str(), cli))
    }

    /// Says whether any value is the project's own.
    pub fn has_project(&self) -> bool {
        self.provenance.values().any(|origin| *origin == Origin::Project)
    }

    /// Returns where the value under the key is from.
    pub fn origin(&self, key: &str) -> Origin {
        self.provenance.get(key).copied().unwrap_or(Origin::BuiltIn)
    }
}

impl Loaded {
    /// Returns the hash of the project's file.
    pub fn project_hash(&self) -> Option<&Hash> {
        self.project.as_ref().map(|project| &project.hash)
    }

    /// Returns the team to start, or says why it cannot be.
    ///
    /// A name that the built-in settings or the user's file give a meaning keeps that meaning as
    /// long as the project's file is not trusted.
    pub fn team(&self, name: &str) -> Result<&Team, TeamError> {
        if let Some(team) = self.settings.team(name) {
            return Ok(team);
        }
        let holds_it = |project: &&ProjectFile| project.settings.team(name).is_some();
        if let Some(project) = self.project.as_ref().filter(holds_it) {
            let file = project.path.clone();
            return Err(TeamError::NotTrusted { team: name.to_owned(), file });
        }
        let mut known: Vec<&str> = self.settings.teams().map(|team| team.name.as_str()).collect();
        known.sort_by_key(|known| distance(name, known));
        Err(TeamError::Unknown { team: plain(name), known: quoted(&known) })
    }
}

/// Returns the names of what only one of them has, or both have differently.
fn differing<'m, T: PartialEq>(
    one: &'m BTreeMap<String, T>,
    other: &'m BTreeMap<String, T>,
) -> impl Iterator<Item = &'m String> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name))
}

fn untrusted(file: &Path) -> Problem {
    let text = "It is not trusted as it is now, so nothing in it is used\n\
                hint: Read what it would run and trust it with `wheelhouse config trust`";
    whole_file(file, text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const PROJECT: &str = "[pane]\nscrollback = 1\n[cli.shell]\ncommand = ['evil']\n\
        [team.shell]\n[[team.shell.agents]]\nname = 'x'\ncli = 'shell'\n\
        [team.own]\n[[team.own.agents]]\nname = 'x'\ncli = 'shell'\n";

    /// Returns a world with empty directories of its own.
    fn world() -> (tempfile::TempDir, Paths) {
        let world = tempfile::tempdir().unwrap();
        let root = world.path().canonicalize().unwrap();
        fs::create_dir(root.join("project")).unwrap();
        let mut paths = Paths::find(&root.join("project")).unwrap();
        paths.trust_file = root.join("state/wheelhouse/trust.json");
        paths.user_config = root.join("config.toml");
        (world, paths)
    }

    fn trust(paths: &Paths) {
        let project = Settings::load(paths).unwrap().project.unwrap();
        Trust::load(paths).unwrap().trust(&project.path, &project.hash).unwrap();
    }

    #[test]
    fn a_fresh_machine_has_a_team_to_start() {
        let (_world, paths) = world();
        let loaded = Settings::load(&paths).unwrap();
        assert!(loaded.project.is_none() && loaded.warnings.is_empty());
        assert_eq!(loaded.team("shell").unwrap().agents.len(), 2);
        insta::assert_snapshot!(loaded.team("shel").unwrap_err(), @r#"
        Unknown team `shel`
        hint: Use one of `shell`, `solo`, `fleet`, `pair`, `squad`, `swarm`, `review`, `feature`
        "#);
    }

    #[test]
    fn an_untrusted_project_changes_nothing_and_starts_nothing() {
        let (_world, paths) = world();
        fs::write(paths.project_config(), PROJECT).unwrap();
        let loaded = Settings::load(&paths).unwrap();
        assert_eq!(loaded.settings, built_in());
        assert_eq!(loaded.team("shell").unwrap().agents.len(), 2);
        assert!(matches!(loaded.team("own"), Err(TeamError::NotTrusted { .. })));
        assert!(loaded.warnings[0].message.contains("not trusted"));
    }

    #[test]
    fn a_trusted_project_wins_until_it_is_edited() {
        let (_world, paths) = world();
        fs::write(&paths.user_config, "[pane]\nscrollback = 2\nmin_cols = 99\n").unwrap();
        fs::write(paths.project_config(), PROJECT).unwrap();
        trust(&paths);
        let loaded = Settings::load(&paths).unwrap();
        assert!(loaded.warnings.is_empty());
        let pane = loaded.settings.pane;
        assert_eq!((pane.scrollback, pane.min_cols, pane.min_rows), (1, 99, 24));
        assert_eq!(loaded.settings.origin("pane.min_cols"), Origin::User);
        assert_eq!(loaded.settings.origin("team.shell"), Origin::Project);
        assert_eq!(loaded.team("shell").unwrap().agents.len(), 1);
        assert_eq!(loaded.settings.cli("shell").unwrap().command, ["evil"]);

        fs::write(paths.project_config(), format!("{PROJECT}\n")).unwrap();
        let loaded = Settings::load(&paths).unwrap();
        assert!(!loaded.project.as_ref().unwrap().is_trusted);
        assert_eq!(loaded.settings.pane.scrollback, 2);
    }

    #[test]
    fn a_project_that_holds_the_record_of_trust_is_untrusted_and_says_why() {
        let (_world, mut paths) = world();
        fs::write(paths.project_config(), PROJECT).unwrap();
        paths.trust_file = paths.project.join("trust.json");
        let loaded = Settings::load(&paths).unwrap();
        assert!(!loaded.project.unwrap().is_trusted);
        assert!(loaded.warnings[0].hint.as_ref().unwrap().contains("XDG_STATE_HOME"));
    }

    #[test]
    fn a_template_of_the_project_counts_only_as_it_was_trusted() {
        let (_world, paths) = world();
        let write = |directory: &Path, purpose: &str| {
            fs::create_dir_all(directory).unwrap();
            let text = format!("+++\npurpose = '{purpose}'\n+++\nDo it.\n");
            fs::write(directory.join("worker.md"), text).unwrap();
        };
        let purpose = |paths: &Paths| {
            let settings = Settings::load(paths).unwrap().settings;
            let template = settings.templates.get("worker").unwrap();
            (template.purpose.clone(), settings.origin("template.worker"))
        };
        write(&paths.user_templates(), "mine");
        assert_eq!(purpose(&paths), ("mine".into(), Origin::User));
        write(&paths.project_templates(), "theirs");
        fs::write(paths.project_config(), PROJECT).unwrap();
        trust(&paths);
        let loaded = Settings::load(&paths).unwrap();
        assert!(loaded.warnings[0].file.ends_with(".wheelhouse/templates/worker.md"));
        assert_eq!(purpose(&paths), ("mine".into(), Origin::User));
        let own = &loaded.templates[0];
        Trust::load(&paths).unwrap().trust(&own.path, &own.hash).unwrap();
        assert_eq!(purpose(&paths), ("theirs".into(), Origin::Project));
        write(&paths.project_templates(), "edited");
        assert_eq!(purpose(&paths), ("mine".into(), Origin::User));
    }

    #[test]
    fn the_problems_of_both_files_are_told() {
        let (_world, paths) = world();
        fs::write(&paths.user_config, "x = 1\n").unwrap();
        fs::write(paths.project_config(), "y = 1\nz = 1\n").unwrap();
        let text = Settings::load(&paths).unwrap_err().to_string();
        assert_eq!(text.matches("error: ").count(), 3, "{text}");
        assert!(text.contains("wheelhouse.toml:2:1: Unknown key `z`"), "{text}");
    }

    #[test]
    fn what_an_edit_changes_is_told_by_its_keys() {
        let (_world, paths) = world();
        let before = Settings::load(&paths).unwrap().settings;
        assert_eq!(before.differences(&before), Vec::<String>::new());
        let text = "[pane]\nscrollback = 7\n[[cli.claude.rules]]\nname = 'spinner'\nstate = 'idle'\n\
                    match = 'x'\n[cli.own]\ncommand = ['x']\n[team.shell]\n\
                    [[team.shell.agents]]\nname = 'a'\ncli = 'own'\n";
        fs::write(&paths.user_config, text).unwrap();
        let after = Settings::load(&paths).unwrap().settings;
        assert_eq!(before.differences(&after), ["pane", "cli.claude", "cli.own", "team.shell"]);
    }

    #[test]
    fn no_value_of_the_environment_reaches_debug_output() {
        let (_world, paths) = world();
        fs::write(&paths.user_config, "[cli.shell]\nenv = { KEY = 'hunter2' }\n").unwrap();
        assert!(!format!("{:?}", Settings::load(&paths).unwrap()).contains("hunter2"));
    }
}
