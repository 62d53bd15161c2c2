//! Plans the workspace that an agent gets, and what a run finds in it.

use std::path::{Component, Path, PathBuf};

use super::planner::Planner;
use crate::api::Fault;
use crate::config::{Agent, Origin, Settings, WorkspaceSettings};
use crate::git::Repository;
use crate::hub::workspaces::terms::{plain_plot, workspace_folder};
use crate::model::{
    AgentName, Launch, Place, Plot, Runner, Sandbox, Workspace, WorkspaceChoice, WorkspaceKind,
};
use crate::runner::Mount;
use crate::workspace::Rescue;
use crate::workspace::inside::resolved;

/// Runs the set-up command once, in the pane and before the agent, which takes the shell's place.
const SETUP: &str = r#"mark=$1 setup=$2; shift 2
if ! [ -e "$mark" ]; then
  printf '%s\n' "wheelhouse: setting up this workspace: $setup"
  if sh -c "$setup"; then : > "$mark"; else
    code=$?
    printf '%s\n' "wheelhouse: the set-up command failed with exit code $code; the agent was not started"
    exit 97
  fi
fi
exec "$@""#;

impl Planner {
    /// Returns how the workspace of an agent is made; nothing, if it works in the project itself.
    pub(in crate::hub) fn plot(
        &self,
        agent: &Agent,
        settings: &Settings,
    ) -> Result<Option<Plot>, Fault> {
        let name = &agent.name;
        let of_play = || self.unsaid_in_play_of(name, settings);
        let choice = agent.posting.workspace.or_else(of_play);
        let settings = &settings.workspace;
        let choice = choice.unwrap_or(settings.default);
        if let Some(runner) = &agent.posting.runner
            && !fits_elsewhere(agent, runner, choice)?
        {
            return Ok(None);
        }
        let repository = Repository::find(&self.paths.project).ok();
        let cwd = self.relative_cwd(agent);
        let root = self.workspace_folder(settings).join(name.as_str());
        let known = self.known.workspace(name).map(|one| one.plot.kind);
        let is_tracked =
            |cwd: &PathBuf| known.is_some() || self.is_tracked(repository.as_ref(), cwd);
        let is_apart = !root.starts_with(&self.paths.project);
        let has_room = is_apart || settings.directory.is_some();
        let kind = choice.kind(agent.role, || {
            has_room && !self.is_at_home(name) && cwd.as_ref().is_some_and(is_tracked)
        });
        if kind == WorkspaceKind::Shared {
            return Ok(None);
        }
        if let Some(known) = known.filter(|known| *known != kind) {
            let message = format!("Agent `{name}` has a `{known}` workspace with work in it");
            let hint = format!(
                "Merge the work with `wheelhouse workspace merge {name}`, then remove it with `wheelhouse workspace clean {name}`"
            );
            return Err(Fault::new(message).with_hint(hint));
        }
        let Some(cwd) = cwd else {
            let message = format!("`{}` is not in the project", agent.cwd.display());
            let hint = "An agent with its own workspace runs inside it: set a `cwd` in the project";
            return Err(Fault::new(message).with_hint(hint));
        };
        let (base, place) = match kind {
            WorkspaceKind::Worktree => self.base(name, repository.as_ref())?,
            WorkspaceKind::Copy | WorkspaceKind::Shared => (String::new(), PathBuf::new()),
        };
        if !is_apart {
            let message = format!("Workspaces cannot be made in the project: {}", root.display());
            let hint =
                "Set `workspace.directory` to a directory outside the project, or leave it out";
            return Err(Fault::new(message).with_hint(hint));
        }
        let is_tree = kind == WorkspaceKind::Worktree;
        // A directory of its own among the names of branches, so that it can change no other.
        let is_mounted = agent.posting.runner.as_deref().is_some_and(Runner::mounts_files);
        let is_held = is_mounted || agent.posting.confinement.sandbox.is_some();
        let own = if is_held { "/own" } else { "" };
        let branch = format!("wheelhouse/{}/{name}{own}", self.paths.session);
        Ok(Some(Plot {
            kind,
            root,
            place,
            cwd,
            branch: if is_tree { branch } else { String::new() },
            base,
            copy: settings.copy.clone(),
            setup: own_or(agent.posting.setup.as_ref(), settings.setup.as_ref()),
            teardown: own_or(agent.posting.teardown.as_ref(), settings.teardown.as_ref()),
            // One that is mounted there is made here.
            runner: agent.posting.runner.clone().filter(|_| !is_mounted),
            ..plain_plot(&self.paths, settings)
        }))
    }

    /// Returns where an agent works of which nothing is said, if it takes part in a run.
    pub(in crate::hub) fn unsaid_in_play_of(
        &self,
        agent: &AgentName,
        settings: &Settings,
    ) -> Option<WorkspaceChoice> {
        unsaid_in_plays(settings).filter(|_| self.known.is_in_play(agent))
    }

    /// Says whether an agent is at work in the project itself: what it is about lies there, also
    /// where the first commit has come meanwhile.
    fn is_at_home(&self, name: &AgentName) -> bool {
        self.known.seat(name).is_some_and(|seat| {
            let member = &seat.member;
            seat.is_live() && member.runner.is_none() && member.root() == self.paths.project
        })
    }

    /// Says whether the commit that is checked out has the directory in which an agent runs: not one
    /// that git ignores, nor a repository of its own, nor a project that only lies in another's tree.
    fn is_tracked(&self, repository: Option<&Repository>, cwd: &Path) -> bool {
        let Some(repository) = repository else { return false };
        let project = self.paths.project.strip_prefix(repository.top()).unwrap_or(Path::new(""));
        let place: PathBuf = project.join(cwd).components().collect();
        match repository.head() {
            Ok(Some(_)) if place.as_os_str().is_empty() => true,
            Ok(Some(head)) => repository.has_directory(&head, &place).unwrap_or_default(),
            Ok(None) | Err(_) => false,
        }
    }

    /// Returns how a workspace is made again from a rescue; on this machine, wherever it was.
    pub(in crate::hub) fn restored_plot(
        &self,
        found: Rescue,
        settings: &WorkspaceSettings,
    ) -> Result<Plot, Fault> {
        let repository = Repository::find(&self.paths.project).ok();
        let (_, place) = self.base(&found.agent, repository.as_ref())?;
        Ok(Plot {
            root: self.workspace_folder(settings).join(found.agent.as_str()),
            place,
            branch: found.branch,
            base: found.base,
            restores: Some(found.commit),
            ..plain_plot(&self.paths, settings)
        })
    }

    fn workspace_folder(&self, settings: &WorkspaceSettings) -> PathBuf {
        // What is written down has no links in it, so that one that is put there later is seen.
        resolved(&workspace_folder(&self.paths, settings))
    }

    /// Returns the commit that a working tree begins at, and where the project lies in it.
    fn base(
        &self,
        agent: &AgentName,
        repository: Option<&Repository>,
    ) -> Result<(String, PathBuf), Fault> {
        let no_tree = |reason: &str, hint: &str| {
            let message = format!("Agent `{agent}` cannot get a worktree: {reason}");
            Fault::new(message).with_hint(hint)
        };
        let Some(repository) = repository else {
            let hint = "Make one with `git init` and a first commit, or use `workspace = \"copy\"`";
            return Err(no_tree("the project is not a git repository", hint));
        };
        let head = repository.head().map_err(|error| {
            no_tree(&error.to_string(), "See what git says to `git log` in the project")
        })?;
        let hint = "Make one: `git add . && git commit`";
        let head = head.ok_or_else(|| no_tree("its repository has no commit yet", hint))?;
        let place = self.paths.project.strip_prefix(repository.top()).unwrap_or(Path::new(""));
        Ok((head, place.to_owned()))
    }

    /// Returns where in the project an agent runs; nothing, if that is elsewhere.
    fn relative_cwd(&self, agent: &Agent) -> Option<PathBuf> {
        let own = self.known.workspace(&agent.name).map(|one| one.plot.project_root());
        let roots = std::iter::once(self.paths.project.clone()).chain(own);
        let below = |root: PathBuf| agent.cwd.strip_prefix(root).ok().map(Path::to_owned);
        let cwd = if agent.cwd.is_absolute() {
            roots.into_iter().find_map(below)?
        } else {
            agent.cwd.clone()
        };
        let cwd: PathBuf = cwd.components().filter(|part| *part != Component::CurDir).collect();
        let climbs = cwd.components().any(|part| part == Component::ParentDir);
        let real = resolved(&self.paths.project.join(&cwd));
        let cwd = real.strip_prefix(&self.paths.project).ok()?;
        (!climbs).then(|| cwd.to_owned())
    }
}

/// Gives a run what belongs to its workspace: ports, its place, and the set-up before it, of which the mark
/// says that it is done.
pub(in crate::hub) fn furnish(
    workspace: &Workspace,
    mark: PathBuf,
    launch: &mut Launch,
    access: Option<&WorkspaceAccess>,
) {
    let (root, mark) = match &workspace.outpost {
        Some(outpost) => {
            let root = outpost.root.join(&workspace.plot.place);
            (root.components().collect(), outpost.setup_mark.clone())
        }
        None => (workspace.plot.project_root(), mark),
    };
    if !launch.cwd.starts_with(&root) {
        return;
    }
    let mut variables = vec![("WHEELHOUSE_WORKSPACE", root.display().to_string())];
    if let Some(port) = workspace.port {
        variables.push(("WHEELHOUSE_PORT_BASE", port.to_string()));
        variables.push(("WHEELHOUSE_PORT_COUNT", workspace.plot.port_count.to_string()));
    }
    for (name, value) in variables {
        launch.environment.0.insert(name.to_owned(), value);
    }
    if let Some(sandbox) = &mut launch.confinement.sandbox {
        open_workspace(workspace, access, &mark, sandbox);
    }
    if let Some(setup) = &workspace.plot.setup {
        let mark = mark.display().to_string();
        let shell = ["sh".to_owned(), "-c".to_owned(), SETUP.to_owned(), "sh".to_owned()];
        let words = shell.into_iter().chain([mark, setup.clone()]);
        launch.argv = words.chain(launch.argv.drain(..)).collect();
    }
}

/// Returns where those who take part in a run work of whom nothing is said, if no file says it of
/// all: stages hand their files on where they lie.
pub(in crate::hub) fn unsaid_in_plays(settings: &Settings) -> Option<WorkspaceChoice> {
    let is_said = settings.origin("workspace.default") != Origin::BuiltIn;
    (!is_said).then_some(WorkspaceChoice::Shared)
}

/// Returns the command of an agent's own, which may be none, or else that of all of them.
fn own_or(own: Option<&String>, all: Option<&String>) -> Option<String> {
    own.or(all).filter(|command| !command.trim().is_empty()).cloned()
}

/// Says whether an agent that runs elsewhere gets a workspace of its own there; else it works where
/// its runner says.
fn fits_elsewhere(agent: &Agent, runner: &Runner, choice: WorkspaceChoice) -> Result<bool, Fault> {
    if runner.mounts_files() {
        return Ok(true);
    }
    let is_image = matches!(runner.place, Place::Image { .. });
    let refuse = |hint: &str| {
        let (name, runner) = (&agent.name, &runner.name);
        let message = format!(
            "Agent `{name}` runs on `{runner}`, where it cannot have a workspace of kind `{choice}`"
        );
        Err(Fault::new(message).with_hint(hint))
    };
    match choice {
        WorkspaceChoice::Shared => Ok(false),
        WorkspaceChoice::Copy if agent.posting.workspace.is_none() => Ok(false),
        WorkspaceChoice::Copy => refuse("Use `worktree`: git carries commits there and back"),
        WorkspaceChoice::Worktree if is_image && agent.posting.workspace.is_some() => {
            refuse("Leave `directory` out of the runner: then it is mounted in the container")
        }
        // A runner that names a directory says where agents work there.
        WorkspaceChoice::Auto if agent.posting.workspace.is_none() => {
            Ok(!is_image && runner.directory.is_none())
        }
        WorkspaceChoice::Worktree | WorkspaceChoice::Auto => Ok(!is_image),
    }
}

/// What of this machine an agent needs to work in a workspace that lies here.
#[derive(Debug)]
pub(in crate::hub) struct WorkspaceAccess {
    /// To be read: what all working trees of a repository share.
    shared: Option<PathBuf>,
    writable: Vec<PathBuf>,
}

impl WorkspaceAccess {
    /// Returns what is mounted of it in a container that is made for an agent, and the place of the mark that
    /// its set-up leaves, if it has one.
    pub(in crate::hub) fn mounts(&self, mark: Option<&Path>) -> Vec<Mount> {
        let mount = |path: &Path, is_readonly| Mount { path: path.to_owned(), is_readonly };
        let shared = self.shared.iter().map(|path| mount(path, true));
        let writable = self.writable.iter().map(PathBuf::as_path).chain(mark);
        shared.chain(writable.map(|path| mount(path, false))).collect()
    }
}

/// Returns it for a workspace. Of a repository that is shared, its agent may write where a commit on
/// its own branch does, and read the rest.
pub(in crate::hub) fn access_of(plot: &Plot) -> WorkspaceAccess {
    let mut access = WorkspaceAccess { shared: None, writable: vec![plot.root.clone()] };
    let tree = Repository::find(&plot.project).ok().and_then(|found| found.worktree(&plot.root));
    if let Some(tree) = tree.filter(|_| plot.kind == WorkspaceKind::Worktree) {
        access.shared = Some(tree.common_dir().to_owned());
        match tree.own_places(&plot.branch) {
            Ok(places) => access.writable.extend(places),
            Err(error) => tracing::warn!(%error, "an agent that is held cannot commit"),
        }
    }
    access
}

/// Opens a sandbox to what its agent works in.
fn open_workspace(
    workspace: &Workspace,
    access: Option<&WorkspaceAccess>,
    mark: &Path,
    sandbox: &mut Sandbox,
) {
    let text = |path: &Path| path.display().to_string();
    // In a place elsewhere only the far end knows where git keeps what.
    if let Some(WorkspaceAccess { shared, writable }) = access {
        sandbox.shown.extend(shared.iter().map(|path| text(path)));
        sandbox.writable.splice(0..0, writable.iter().map(|path| text(path)));
    }
    if workspace.plot.setup.is_some() {
        sandbox.writable.extend(mark.parent().map(text));
    }
}
