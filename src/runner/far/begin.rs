//! Starts an agent run here for a hub on another machine.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use super::site::Site;
use crate::config::{environment_of, plain_environment};
use crate::git::Repository;
use crate::keeper::{self, EXIT_HELD, EXIT_TICKET_USED, KeeperArgs, Order};
use crate::model::{Launch, RunId};
use crate::runner::handshake::{HOOKS_PLACE, OrderThere};

/// The first word of a command that stands for the user's own shell.
const USER_SHELL: &str = "$SHELL";
const SHELL_OF_LAST_RESORT: &str = "/bin/sh";

/// Where people's own programs are, which a login without a terminal often does not know.
const OWN_PROGRAMS: &[&str] = &[".local/bin", "bin", ".cargo/bin"];

/// How far a start has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// It may still come up.
    Coming,
    /// It was carried out before or given up, or another run is in the way.
    Passed,
    Failed,
}

/// A start that is under way.
pub(super) struct Starting(Child);

impl Starting {
    pub(super) fn state(&mut self) -> Begun {
        match self.0.try_wait() {
            Ok(None) => Begun::Coming,
            Ok(Some(status)) => {
                let code = status.code().and_then(|code| u8::try_from(code).ok());
                let is_passed = code == Some(EXIT_TICKET_USED) || code == Some(EXIT_HELD);
                // One that came up and is over already has left its place, and nothing failed.
                if is_passed || status.success() { Begun::Passed } else { Begun::Failed }
            }
            Err(_) => Begun::Failed,
        }
    }
}

/// Starts the keeper, detached from the connection that asks for it.
pub(super) fn begin(site: &Site, run: RunId, order: OrderThere) -> io::Result<Starting> {
    let OrderThere { launch, grace_ms, hooks } = order;
    let hooks_path = site.paths.hooks(&site.agent);
    if let Some(content) = hooks {
        write_private(&hooks_path, content.as_bytes())?;
    }
    let program = env::current_exe()?;
    let launch = settle(launch, site, &program, &hooks_path);
    let order = Order {
        launch,
        socket: site.socket.clone(),
        lock: site.lock.clone(),
        // The hub is on another machine, and comes back by itself.
        revive: Vec::new(),
        revive_delay_ms: 0,
        grace_ms,
        fence: Some(site.fence.clone()),
    };
    let log = site.paths.log(&site.agent);
    write_private(&log, b"")?;
    // A copy of our own standard error would hold the connection open.
    let log = Stdio::from(File::options().append(true).open(&log)?);
    let args = KeeperArgs { session: site.session.clone(), agent: site.agent.clone(), run };
    keeper::start(&program, &args, &order, log).map(Starting)
}

/// Fills in what only this machine knows.
fn settle(launch: Launch, site: &Site, program: &Path, hooks: &Path) -> Launch {
    let Launch { mut argv, cwd, environment, size, mut confinement } = launch;
    let mut here = plain_environment(&environment_of(env::vars_os())).0;
    let shell = here.get("SHELL").cloned();
    extend_path(&mut here, &site.paths.expand(Path::new("~")));
    let door = site.paths.door(&site.agent);
    here.extend(environment.0);
    here.extend([
        ("WHEELHOUSE_SOCKET".to_owned(), door.display().to_string()),
        ("WHEELHOUSE_BIN".to_owned(), program.display().to_string()),
    ]);
    here.extend(site.marks.iter().filter_map(|mark| {
        mark.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
    }));
    if let Some(word) = argv.first_mut().filter(|word| *word == USER_SHELL) {
        *word = shell.unwrap_or_else(|| SHELL_OF_LAST_RESORT.to_owned());
    }
    let hooks = hooks.display().to_string();
    for word in argv.iter_mut().chain(here.values_mut()) {
        *word = word.replace(HOOKS_PLACE, &hooks);
    }
    let cwd = site.paths.expand(&cwd);
    // What is not there is told by the keeper.
    let cwd = cwd.canonicalize().unwrap_or(cwd);
    if let Some(sandbox) = &mut confinement.sandbox {
        let (writable, shown) = workspace(&cwd);
        sandbox.writable.extend(writable.iter().map(|path| path.display().to_string()));
        sandbox.shown.extend(shown.map(|path| path.display().to_string()));
        sandbox.hidden.extend(site.paths.private().map(|path| path.display().to_string()));
        sandbox.seen.extend(door.parent().map(|directory| directory.display().to_string()));
    }
    Launch { argv, cwd, environment: crate::model::Environment(here), size, confinement }
}

/// Returns what an agent that runs here may write, and what it must see: of a repository that others
/// share, it writes where a commit on its own branch does.
fn workspace(cwd: &Path) -> (Vec<PathBuf>, Option<PathBuf>) {
    let tree = Repository::find(cwd).ok().filter(Repository::is_linked);
    let Some(tree) = tree else { return (vec![cwd.to_owned()], None) };
    let branch = tree.branch().ok().flatten();
    let mut places = vec![tree.top().to_owned()];
    places.extend(branch.and_then(|branch| tree.own_places(&branch).ok()).into_iter().flatten());
    (places, Some(tree.common_dir().to_owned()))
}

fn extend_path(variables: &mut BTreeMap<String, String>, home: &Path) {
    let path = variables.get("PATH").cloned().unwrap_or_else(|| "/usr/bin:/bin".to_owned());
    let mut entries: Vec<PathBuf> = env::split_paths(&path).collect();
    let own = OWN_PROGRAMS.iter().map(|name| home.join(name)).filter(|entry| entry.is_dir());
    let missing: Vec<PathBuf> = own.filter(|entry| !entries.contains(entry)).collect();
    entries.extend(missing);
    let joined = env::join_paths(entries).ok().and_then(|path| path.into_string().ok());
    variables.insert("PATH".to_owned(), joined.unwrap_or(path));
}

fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("draft");
    let mut file =
        File::options().create(true).truncate(true).write(true).mode(0o600).open(&draft)?;
    file.write_all(content)?;
    fs::rename(&draft, path)
}
