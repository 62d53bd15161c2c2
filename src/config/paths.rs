//! Where a project's files, sockets and records live.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use directories::BaseDirs;

use crate::model::{AgentName, SessionName};

use super::{Hash, SecureDirError, secure_dir};

/// The longest path that the kernel accepts for a unix socket, without its final zero.
const SOCKET_PATH_BYTES_MAX: usize = if cfg!(target_os = "macos") { 103 } else { 107 };
/// The longest name of a socket: an agent's name of 32 characters and `.d/s`, after a slash.
const SOCKET_NAME_BYTES_MAX: usize = 1 + 32 + 4;
/// The longest readable part of a session's name.
const SESSION_CHARS_MAX: usize = 24;

/// Says why there is no place to work in.
#[derive(Debug, thiserror::Error)]
pub enum PathsError {
    #[error("HOME is not set to an absolute path\nhint: Set it with `export HOME={0}`")]
    NoHome(String),
    #[error("Failed to open the project directory `{}`: {source}", .path.display())]
    NoProject { path: PathBuf, source: io::Error },
    #[error("The project `{}` is not a directory", .0.display())]
    NotADirectory(PathBuf),
}

/// Every path of one project, derived from its directory and the user's base directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The canonical project directory.
    pub project: PathBuf,
    pub session: SessionName,
    /// What outlives a restart of the machine: `<state>/wheelhouse/<session>`.
    pub state_dir: PathBuf,
    /// Sockets: `<runtime>/wheelhouse/<session>`, or a short directory in `/tmp` where that is too
    /// long.
    pub runtime_dir: PathBuf,
    pub user_config: PathBuf,
    /// Holds which project files are trusted, for all projects.
    pub trust_file: PathBuf,
}

impl Paths {
    /// Returns the paths of the project in the directory, for the user of this process.
    pub fn find(project: &Path) -> Result<Self, PathsError> {
        Ok(Self::derive(canonical_directory(project)?, &Bases::of_this_process()?))
    }

    fn derive(project: PathBuf, bases: &Bases) -> Self {
        let hash = Hash::of(project.as_os_str().as_bytes());
        let session = SessionName(format!("{}-{}", readable_name(&project), hash.short()));
        let state_root = bases.state.join("wheelhouse");
        let state_dir = state_root.join(&session.0);
        let runtime_dir = match &bases.runtime {
            Some(runtime) => runtime.join("wheelhouse").join(&session.0),
            None => state_dir.join("run"),
        };
        Self {
            runtime_dir: short_enough(runtime_dir, &hash),
            user_config: bases.config.join("wheelhouse/config.toml"),
            trust_file: state_root.join("trust.json"),
            project,
            session,
            state_dir,
        }
    }

    /// Makes the directories of this session, each ours alone.
    pub fn make_directories(&self) -> Result<(), SecureDirError> {
        let inner = ["agents", "casts", "hooks", "panes"].map(|name| self.state_dir.join(name));
        let state = self.state_dir.parent().into_iter().chain([self.state_dir.as_path()]);
        let state = state.chain(inner.iter().map(PathBuf::as_path));
        let runtime = self.runtime_directories();
        state.chain(runtime.iter().map(PathBuf::as_path)).try_for_each(secure_dir)
    }

    /// Returns the directories that sockets lie in, outermost first: each is ours alone.
    pub fn runtime_directories(&self) -> Vec<PathBuf> {
        let all = self.runtime_dir.parent().into_iter().chain([self.runtime_dir.as_path()]);
        all.map(Path::to_path_buf).collect()
    }

    pub fn project_config(&self) -> PathBuf {
        self.project.join("wheelhouse.toml")
    }

    /// Returns where the user's own prompt templates lie, for all projects.
    pub fn user_templates(&self) -> PathBuf {
        self.user_config.with_file_name("templates")
    }

    /// Returns where the project's own prompt templates lie.
    pub fn project_templates(&self) -> PathBuf {
        self.project.join(".wheelhouse/templates")
    }

    pub fn hub_socket(&self) -> PathBuf {
        self.runtime_dir.join("hub.sock")
    }

    pub fn hub_lock(&self) -> PathBuf {
        self.state_dir.join("hub.lock")
    }

    pub fn hub_log(&self) -> PathBuf {
        self.state_dir.join("hub.log")
    }

    /// The record: the journal of all that happened, and what follows from it.
    pub fn record(&self) -> PathBuf {
        self.state_dir.join("record.db")
    }

    /// The record of older versions, which is taken over once.
    pub fn registry(&self) -> PathBuf {
        self.state_dir.join("registry.json")
    }

    /// Returns every agent that ever ran here, by the locks that are never removed.
    pub fn agents_ever(&self) -> Vec<AgentName> {
        let entries = fs::read_dir(self.state_dir.join("agents")).into_iter().flatten().flatten();
        let name = |entry: fs::DirEntry| entry.path().file_stem()?.to_str()?.parse().ok();
        entries.filter_map(name).collect()
    }

    pub fn agent_lock(&self, agent: &AgentName) -> PathBuf {
        self.state_dir.join("agents").join(format!("{agent}.lock"))
    }

    pub fn agent_socket(&self, agent: &AgentName) -> PathBuf {
        self.runtime_dir.join(format!("{agent}.k"))
    }

    pub fn agent_screen(&self, agent: &AgentName) -> PathBuf {
        self.state_dir.join("panes").join(format!("{agent}.screen"))
    }

    /// Holds what scripted agents play in runs of playbooks.
    pub fn scripts(&self) -> PathBuf {
        self.state_dir.join("scripts")
    }

    /// Holds which reports of an agent were told.
    pub fn agent_reports(&self, agent: &AgentName) -> PathBuf {
        self.state_dir.join("panes").join(format!("{agent}.reports"))
    }

    /// What was last seen of the files of a workspace.
    pub fn sight(&self, root: &Path) -> PathBuf {
        let name = Hash::of(root.as_os_str().as_encoded_bytes());
        self.state_dir.join("sights").join(format!("{}.json", name.short()))
    }

    /// The file that an agent's cli is given at its start, where it needs one.
    pub fn agent_hooks(&self, agent: &AgentName, kind: &str) -> PathBuf {
        self.state_dir.join("hooks").join(format!("{agent}.{kind}"))
    }

    /// What agents' clis are given so that they work with their kits, in files.
    pub fn kits(&self) -> PathBuf {
        self.state_dir.join("kits")
    }

    /// The files of one agent's kit.
    pub fn agent_kit(&self, agent: &AgentName) -> PathBuf {
        self.kits().join(agent.as_str())
    }

    /// Returns the recordings of an agent: the newest, and the one before it.
    pub fn agent_casts(&self, agent: &AgentName) -> [PathBuf; 2] {
        [format!("{agent}.cast"), format!("{agent}.1.cast")].map(|name| self.casts().join(name))
    }

    /// Tells this hub from others of the same name, where several machines share a place.
    pub fn home_id(&self) -> PathBuf {
        self.state_dir.join("home.id")
    }

    /// Where the programs of an agent that sees nothing else of the hub speak to it. It is in a
    /// directory of its own, which stays while sockets in it come and go.
    pub fn agent_door(&self, agent: &AgentName) -> PathBuf {
        self.runtime_dir.join(format!("{agent}.d")).join("s")
    }

    pub fn casts(&self) -> PathBuf {
        self.state_dir.join("casts")
    }
}

/// Returns where hubs of this user may listen, by the names of their sessions.
pub fn hub_sockets() -> Result<Vec<(String, PathBuf)>, PathsError> {
    let bases = Bases::of_this_process()?;
    let runtime = bases.runtime.map(|runtime| runtime.join("wheelhouse"));
    let mut sockets: Vec<(String, PathBuf)> = Vec::new();
    for root in runtime.into_iter().chain([bases.state.join("wheelhouse"), short_root()]) {
        for session in fs::read_dir(root).into_iter().flatten().flatten() {
            let name = session.file_name().to_string_lossy().into_owned();
            // Without a runtime directory the sockets lie within the state.
            let places = ["hub.sock", "run/hub.sock"].map(|place| session.path().join(place));
            sockets.extend(places.into_iter().filter(|p| p.exists()).map(|p| (name.clone(), p)));
        }
    }
    sockets.sort();
    sockets.dedup();
    Ok(sockets)
}

/// The user's base directories, as the XDG variables name them on every platform.
#[derive(Debug)]
pub(super) struct Bases {
    pub(super) home: PathBuf,
    config: PathBuf,
    pub(super) state: PathBuf,
    runtime: Option<PathBuf>,
}

impl Bases {
    pub(super) fn of_this_process() -> Result<Self, PathsError> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// Returns the directories that the variables name; one that is relative counts as unset.
    fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Result<Self, PathsError> {
        let absolute = |name| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME").ok_or_else(no_home)?;
        Ok(Self {
            config: absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            state: absolute("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state")),
            runtime: absolute("XDG_RUNTIME_DIR"),
            home,
        })
    }
}

/// Says what HOME should be, as the account's entry tells it.
///
/// Going on with that entry would work here, and then fail in every agent, which inherits HOME.
fn no_home() -> PathsError {
    let account = BaseDirs::new().map(|base| base.home_dir().to_path_buf());
    let absolute = account.filter(|home| home.is_absolute());
    PathsError::NoHome(absolute.map_or("DIRECTORY".into(), |home| home.display().to_string()))
}

pub(super) fn canonical_directory(path: &Path) -> Result<PathBuf, PathsError> {
    let canonical = path
        .canonicalize()
        .map_err(|source| PathsError::NoProject { path: path.to_path_buf(), source })?;
    if canonical.is_dir() { Ok(canonical) } else { Err(PathsError::NotADirectory(canonical)) }
}

/// Returns the directory's own name with all but letters and digits replaced.
fn readable_name(project: &Path) -> String {
    let name = project.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined: String =
        words.collect::<Vec<_>>().join("-").chars().take(SESSION_CHARS_MAX).collect();
    match joined.trim_end_matches('-') {
        "" => "project".to_owned(),
        readable => readable.to_owned(),
    }
}

/// Returns the directory, or one in `/tmp` where a socket inside it would have too long a path.
pub(super) fn short_enough(runtime_dir: PathBuf, hash: &Hash) -> PathBuf {
    let length = runtime_dir.as_os_str().len() + SOCKET_NAME_BYTES_MAX;
    if length <= SOCKET_PATH_BYTES_MAX {
        return runtime_dir;
    }
    short_root().join(hash.short())
}

/// Returns where sockets lie whose paths would be too long elsewhere.
fn short_root() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    PathBuf::from(format!("/tmp/wheelhouse-{user}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases(variables: &[(&str, &str)]) -> Result<Bases, PathsError> {
        Bases::from_variables(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    fn paths(project: &str, variables: &[(&str, &str)]) -> Paths {
        Paths::derive(PathBuf::from(project), &bases(variables).unwrap())
    }

    #[test]
    fn the_xdg_variables_are_honoured() {
        let found = paths(
            "/work/My Shop!",
            &[
                ("HOME", "/home/me"),
                ("XDG_CONFIG_HOME", "/c"),
                ("XDG_STATE_HOME", "/s"),
                ("XDG_RUNTIME_DIR", "/r"),
            ],
        );
        let session = &found.session.0;
        assert!(session.starts_with("my-shop-") && session.len() == 16, "{session}");
        assert_eq!(found.state_dir, Path::new("/s/wheelhouse").join(session));
        assert_eq!(found.hub_socket(), Path::new("/r/wheelhouse").join(session).join("hub.sock"));
        assert_eq!(found.user_config, Path::new("/c/wheelhouse/config.toml"));
        assert_eq!(found.trust_file, Path::new("/s/wheelhouse/trust.json"));
        let name = "one".parse().unwrap();
        assert!(found.agent_lock(&name).ends_with("agents/one.lock"));
        assert!(found.agent_screen(&name).ends_with("panes/one.screen"));
        assert!(found.agent_socket(&name).ends_with("one.k"));
    }

    #[test]
    fn unset_and_relative_variables_fall_back_to_home() {
        let found = paths("/work/a", &[("HOME", "/home/me"), ("XDG_STATE_HOME", "here")]);
        assert!(found.state_dir.starts_with("/home/me/.local/state/wheelhouse"));
        assert_eq!(found.runtime_dir, found.state_dir.join("run"));
        assert_eq!(found.user_config, Path::new("/home/me/.config/wheelhouse/config.toml"));
    }

    #[test]
    fn no_home_is_an_error_that_says_what_to_type() {
        for variables in [vec![], vec![("HOME", "me")], vec![("HOME", "")]] {
            let text = bases(&variables).unwrap_err().to_string();
            assert!(text.contains("hint: Set it with `export HOME="), "{text}");
        }
    }

    #[test]
    fn every_socket_fits_into_the_kernels_limit() {
        for length in 1..150 {
            let runtime = format!("/{}", "r".repeat(length));
            let found = paths("/w/a", &[("HOME", "/h"), ("XDG_RUNTIME_DIR", &runtime)]);
            let socket = found.agent_door(&"a".repeat(32).parse().unwrap());
            assert!(socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX, "{}", socket.display());
            let is_short = found.runtime_dir.starts_with("/tmp");
            let full = format!("{runtime}/wheelhouse/{}/{}.d/s", found.session, "a".repeat(32));
            assert_eq!(is_short, full.len() > SOCKET_PATH_BYTES_MAX);
        }
    }

    #[test]
    fn names_are_readable_short_and_never_shared() {
        assert_eq!(readable_name(Path::new("/")), "project");
        assert_eq!(readable_name(Path::new("/a/..Ünï code__X")), "n-code-x");
        assert_eq!(readable_name(Path::new("/abcdefghijklmnopqrstuvw--xyz")).len(), 23);
        let variables = [("HOME", "/h")];
        assert_ne!(paths("/a/x", &variables).session, paths("/b/x", &variables).session);
    }

    #[test]
    fn the_directories_of_a_session_are_made() {
        let world = tempfile::tempdir().unwrap();
        let root = world.path().to_str().unwrap();
        let found = paths("/w/a", &[("HOME", root), ("XDG_RUNTIME_DIR", root)]);
        found.make_directories().unwrap();
        assert!(found.runtime_dir.is_dir() && found.state_dir.join("agents").is_dir());
    }
}
