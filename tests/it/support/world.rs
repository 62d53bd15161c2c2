//! A world of one test's own: a home, a project, a hub, and nothing left of them afterwards.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use wheelhouse::api::{AgentStatus, Request, Response, Status};
use wheelhouse::client::{Connection, connect_running};
use wheelhouse::config::Paths;
use wheelhouse::model::{ProcessId, ProcessInfo};
use wheelhouse::store::{Journal, Rows};

use super::clock::wait_for;
use super::process;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_wheelhouse");
pub(crate) const HYDRA: &str = include_str!("hydra.py");

/// No command takes longer, even on a machine that does much else.
const COMMAND_MAX: Duration = Duration::from_secs(40);

/// Directories, an environment and a project that no other test shares.
pub(crate) struct World {
    directory: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) project: PathBuf,
    /// The program that commands run.
    program: PathBuf,
    variables: Vec<(String, String)>,
    /// What is to be done once the hub is gone, while the files are still there.
    last_deeds: Vec<Box<dyn Fn() + Send + Sync>>,
}

/// What a command said, and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// Returns a world in a directory: programs that trust no file below one that everyone writes to
    /// want another than the usual.
    pub(crate) fn below(directory: &Path) -> Self {
        let directory = tempfile::Builder::new().prefix("wh").tempdir_in(directory).unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["home", "config", "state", "run", "project"] {
            fs::create_dir(root.join(name)).unwrap();
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
        let place = |name: &str| root.join(name).to_str().unwrap().to_owned();
        let variables = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("SHELL", "/bin/sh".to_owned()),
            ("HOME", place("home")),
            ("XDG_CONFIG_HOME", place("config")),
            ("XDG_STATE_HOME", place("state")),
            ("XDG_RUNTIME_DIR", place("run")),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value)).to_vec();
        let last_deeds = Vec::new();
        let (project, program) = (root.join("project"), PathBuf::from(PROGRAM));
        Self { directory, root, project, program, variables, last_deeds }
    }

    /// Returns a world whose project has a trusted team `crew` of these agents.
    pub(crate) fn with_crew(agents: &[(&str, &[&str])]) -> Self {
        let world = Self::new();
        world.write_config(&world.crew(agents));
        world.trust();
        world
    }

    /// Returns a config with a team `crew`; the word `ROOT` in a command becomes this world's root.
    pub(crate) fn crew(&self, agents: &[(&str, &[&str])]) -> String {
        let mut config = "[stop]\ngrace_seconds = 1\n".to_owned();
        for (name, argv) in agents {
            let argv: Vec<_> = argv.iter().map(|word| word.replace("ROOT", self.mark())).collect();
            let argv = serde_json::to_string(&argv).unwrap();
            writeln!(config, "[cli.{name}]\ncommand = {argv}").unwrap();
        }
        for (name, _) in agents {
            writeln!(config, "[[team.crew.agents]]\nname = \"{name}\"\ncli = \"{name}\"").unwrap();
        }
        config
    }

    pub(crate) fn write_config(&self, text: &str) {
        fs::write(self.project.join("wheelhouse.toml"), text).unwrap();
    }

    pub(crate) fn trust(&self) {
        self.ok(&["config", "trust", "--yes"]);
    }

    /// Has something done at the end of this world, by whoever put more into it than files and
    /// processes.
    pub(crate) fn at_end(&mut self, deed: impl Fn() + Send + Sync + 'static) {
        self.last_deeds.push(Box::new(deed));
    }

    /// Puts our program into a directory of this world, where commands run it from now on.
    pub(crate) fn install(&mut self, directory: &str) {
        let program = self.path(directory).join("wheelhouse");
        fs::create_dir_all(self.path(directory)).unwrap();
        // By a process of its own: one that another test forks meanwhile would inherit a file that is open
        // for writing, and what is being written cannot be run.
        let copied = Command::new("cp").arg(PROGRAM).arg(&program).status().unwrap();
        assert!(copied.success());
        self.program = program;
    }

    pub(crate) fn set_variable(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Returns a command of ours in this world.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--project").arg(&self.project).args(arguments);
        command.env_clear().envs(self.variables.iter().cloned());
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        let said = run(self.command(arguments));
        said.unwrap_or_else(|| panic!("`{}` never ended", arguments.join(" ")))
    }

    /// Runs lines of a shell in the project, as a reader would who pastes them.
    pub(crate) fn shell(&self, script: &str) -> Said {
        let mut command = Command::new("sh");
        command.args(["-eu", "-c", script]).env_clear().envs(self.variables.iter().cloned());
        command.current_dir(&self.project).stdin(Stdio::null());
        run(command).unwrap_or_else(|| panic!("never ended:\n{script}"))
    }

    /// Runs a command that must succeed, and returns what it printed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(said.code, Some(0), "`{}`: {said:?}", arguments.join(" "));
        said.out
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Starts the hub if none runs, and nothing else.
    pub(crate) fn start_hub(&self) {
        self.ok(&["attention", "--read"]);
    }

    /// Returns what the hub says; it is started if none runs. Where one is there it is asked without a
    /// command: tests ask often, and each command is a process.
    pub(crate) fn status(&self) -> Status {
        self.running_status().unwrap_or_else(|| {
            self.start_hub();
            serde_json::from_value(self.json(&["status"])).unwrap()
        })
    }

    pub(crate) fn agent(&self, name: &str) -> AgentStatus {
        let agents = self.status().agents;
        agents.into_iter().find(|agent| agent.name == name).unwrap()
    }

    pub(crate) fn paths(&self) -> Paths {
        let mut paths = Paths::find(&self.project).unwrap();
        let session = paths.session.to_string();
        paths.state_dir = self.root.join("state/wheelhouse").join(&session);
        paths.runtime_dir = self.root.join("run/wheelhouse").join(&session);
        paths.user_config = self.root.join("config/wheelhouse/config.toml");
        paths.trust_file = self.root.join("state/wheelhouse/trust.json");
        paths
    }

    /// Connects to the hub that runs; does not start one.
    pub(crate) fn connect(&self) -> Option<Connection> {
        connect_running(&self.paths()).ok()
    }

    /// Returns the status of the hub that runs; does not start one.
    pub(crate) fn running_status(&self) -> Option<Status> {
        let response = self.connect()?.ask(Request::Status).ok()?;
        let Response::Status(status) = response else { panic!("{response:?}") };
        Some(status)
    }

    /// Waits until a hub runs and its status is as wanted; nobody starts it.
    pub(crate) fn wait_for_status(&self, what: &str, wanted: impl Fn(&Status) -> bool) -> Status {
        let mut last = None;
        wait_for(what, || {
            last = self.running_status().or(last.take());
            last.as_ref().is_some_and(&wanted)
        });
        last.unwrap()
    }

    pub(crate) fn read(&self, agent: &str) -> String {
        self.ok(&["agent", "read", agent])
    }

    pub(crate) fn wait_for_text(&self, agent: &str, text: &str) {
        let request = Request::Read { agent: agent.to_owned(), lines: None, scrollback: false };
        let without_command = || match self.connect()?.ask(request.clone()) {
            Ok(Response::Text { lines }) => Some(lines.join("\n") + "\n"),
            _ => None,
        };
        wait_for(&format!("`{text}` on the screen of {agent}"), || {
            without_command().unwrap_or_else(|| self.read(agent)).contains(text)
        });
    }

    /// Waits until the tree of an agent has so many processes. A single look can miss one that a fork has just
    /// given to another parent.
    pub(crate) fn tree(&self, agent: &str, count_min: usize) -> Vec<ProcessInfo> {
        let mut tree = Vec::new();
        wait_for(&format!("{count_min} processes of {agent}"), || {
            tree = serde_json::from_value(self.json(&["agent", "tree", agent])).unwrap();
            tree.len() >= count_min
        });
        tree
    }

    /// Returns what every process of this world carries somewhere: the path of its root.
    pub(crate) fn mark(&self) -> &str {
        self.directory.path().to_str().unwrap()
    }

    /// Returns the living processes of this world, agents and our own.
    pub(crate) fn alive(&self) -> Vec<ProcessId> {
        let carries = |pid: u32| {
            let in_words = |words: Vec<String>| words.iter().any(|word| word.contains(self.mark()));
            in_words(process::words(pid))
                || in_words(process::environment(pid))
                || fs::read_link(format!("/proc/{pid}/cwd"))
                    .is_ok_and(|cwd| cwd.starts_with(&self.root))
        };
        let own = std::process::id();
        let ours = process::numbers().filter(|pid| *pid != own && carries(*pid));
        ours.filter_map(process::identify).collect()
    }

    /// Returns the living processes of ours that play this part: `hub`, `caller`, `guard`, `keeper`.
    pub(crate) fn players(&self, part: &str) -> Vec<u32> {
        let plays = |pid: u32| {
            let words = process::words(pid);
            let verb = if part == "hub" { words.get(3) } else { words.get(1) };
            verb.is_some_and(|verb| verb == part)
        };
        self.alive().into_iter().map(|id| id.pid).filter(|pid| plays(*pid)).collect()
    }

    /// Returns what the record says now.
    pub(crate) fn rows(&self) -> Rows {
        let journal = Journal::open(&self.paths().record()).unwrap();
        journal.rows_at(journal.last().unwrap()).unwrap()
    }

    /// Returns what the record says of an agent; nothing, if it does not know it.
    pub(crate) fn seat(&self, agent: &str) -> Value {
        self.rows().remove(&("seat".to_owned(), agent.to_owned())).unwrap_or_default()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns a text of ours without what differs from world to world.
    pub(crate) fn plain(&self, text: &str) -> String {
        let paths = self.paths();
        text.replace(self.root.to_str().unwrap(), "").replace(&paths.session.0, "SESSION")
    }

    pub(crate) fn kill_everything(&self) {
        for _ in 0..1000 {
            let alive = self.alive();
            // It may be the next hub, which whoever was killed had begun to start.
            if alive.is_empty() && !process::numbers().any(process::is_becoming_ours) {
                return;
            }
            for id in alive {
                process::kill(id.pid, Signal::KILL);
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if thread::panicking() {
            let log = fs::read_to_string(self.paths().hub_log()).unwrap_or_default();
            let lines: Vec<_> = log.lines().rev().take(40).collect();
            println!("the hub's log, latest first:\n{}", lines.join("\n"));
            // Without a hub there is nobody to ask for it.
            let said = self.running_status().and_then(|_| run(self.command(&["events"])));
            let journal = said.map_or(String::new(), |said| said.out);
            let lines: Vec<_> = journal.lines().rev().take(40).collect();
            println!("the journal, latest first:\n{}", lines.join("\n"));
        }
        if !self.last_deeds.is_empty() {
            // It would make anew what is removed.
            self.players("hub").into_iter().for_each(|pid| process::kill(pid, Signal::KILL));
            self.last_deeds.drain(..).for_each(|deed| deed());
        }
        self.kill_everything();
    }
}

impl Said {
    /// Returns all of it as one text, for a snapshot.
    pub(crate) fn text(&self) -> String {
        let code = self.code.map_or("a signal".to_owned(), |code| code.to_string());
        format!("{}{}exit: {code}", self.out, self.err)
    }
}

/// Runs a command to its end, or returns nothing if it does not come to one.
pub(crate) fn run(mut command: Command) -> Option<Said> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(COMMAND_MAX) else {
        process::kill(pid, Signal::KILL);
        return None;
    };
    let output = output.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Some(Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) })
}

/// Returns the files below a directory.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}
