//! A real container engine with containers and images of the test's own.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use super::clock::wait_for;
use super::process;
use super::world::{PROGRAM, World};

/// What everything here is made from: nearly nothing, since the tools of this machine are mounted.
pub(crate) const IMAGE: &str = "localhost/wheelhouse-test";

/// Set to `1` where containers are known to run, so that a test that is left out is a failure.
const REQUIRE: &str = "WHEELHOUSE_REQUIRE_ENGINE";

/// Tried in turn; which of them works depends on the control groups of the machine.
const RUNTIMES: &[&str] = &["runc", "crun"];

/// Where the tools are, and what they need. `/usr/local` is the container's own, for our binary.
const TOOLS: &[&str] = &["/usr/bin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/share"];

/// No command of the engine takes longer, even on a machine that does much else.
const COMMAND_SECONDS_MAX: &str = "60";

const LIMITS: &[&str] = &["--memory", "64m", "--cpus", "1.5", "--pids-limit", "99"];

/// An engine that keeps everything below one directory.
#[derive(Clone)]
pub(crate) struct Podman {
    variables: BTreeMap<&'static str, PathBuf>,
}

impl Podman {
    /// Gives a world an engine of its own with one image; nothing, and a loud word, where none runs
    /// containers.
    pub(crate) fn start(world: &mut World) -> Option<Self> {
        static WORKS: OnceLock<Result<&str, String>> = OnceLock::new();
        let runtime = match WORKS.get_or_init(probe) {
            Ok(runtime) => runtime,
            Err(reason) => {
                let is_required = std::env::var_os(REQUIRE).is_some_and(|value| value == "1");
                assert!(!is_required, "{REQUIRE} is set, and no container runs: {reason}");
                // Not by the macro, whose words are kept from whoever reads of a test that passed.
                let words = format!("SKIPPED: podman runs no container here: {reason}\n");
                io::stderr().write_all(words.as_bytes()).unwrap();
                return None;
            }
        };
        let podman = Self::below(&world.path("engine"), runtime).unwrap();
        for (name, path) in &podman.variables {
            world.set_variable(name, path.to_str().unwrap());
        }
        // The engine's files go with the world, and without them nobody would know of a container.
        let engine = podman.clone();
        world.at_end(move || engine.clear());
        Some(podman)
    }

    /// Removes every container, whose mounts would keep a directory from being removed.
    fn clear(&self) {
        let removed = self.run(&["rm", "--force", "--all", "--time", "0"]);
        let left = self.run(&["ps", "--all", "--quiet"]);
        let is_clear = removed.is_ok() && left.as_ref().is_ok_and(String::is_empty);
        if thread::panicking() {
            println!("containers removed: {removed:?}, left: {left:?}");
        } else {
            assert!(is_clear, "removed: {removed:?}, left: {left:?}");
        }
    }

    /// Lays out an engine below a directory.
    fn below(directory: &Path, runtime: &str) -> io::Result<Self> {
        fs::create_dir(directory)?;
        let place = directory.display();
        // Where the right to raise limits is missing, the engine's own are refused.
        let containers = format!(
            "[containers]\ndefault_ulimits = [\"nofile=1024:4096\", \"nproc=4096:4096\"]\n\
             [engine]\nruntime = \"{runtime}\"\ncgroup_manager = \"cgroupfs\"\n\
             events_logger = \"none\"\nlock_type = \"file\"\ntmp_dir = \"{place}/tmp\"\n"
        );
        let storage = format!(
            "[storage]\ndriver = \"vfs\"\ngraphroot = \"{place}/graph\"\nrunroot = \"{place}/run\"\n"
        );
        let variables = BTreeMap::from([
            ("CONTAINERS_CONF", directory.join("containers.conf")),
            ("CONTAINERS_STORAGE_CONF", directory.join("storage.conf")),
        ]);
        fs::write(&variables["CONTAINERS_CONF"], containers)?;
        fs::write(&variables["CONTAINERS_STORAGE_CONF"], storage)?;
        let podman = Self { variables };
        podman.import(&directory.join("root"))?;
        Ok(podman)
    }

    /// Makes the image.
    fn import(&self, root: &Path) -> io::Result<()> {
        for name in ["tmp", "etc", "proc", "sys", "dev", "root", "usr/local/bin"] {
            fs::create_dir_all(root.join(name))?;
        }
        for name in ["bin", "sbin", "lib", "lib64"] {
            let target = if name == "sbin" { "usr/bin".to_owned() } else { format!("usr/{name}") };
            symlink(target, root.join(name))?;
        }
        fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/bash\n")?;
        // Someone who commits there has a name there.
        let someone = "[user]\n\tname = Someone\n\temail = someone@example.org\n";
        fs::write(root.join("root/.gitconfig"), someone)?;
        let packed = root.with_extension("tar");
        let mut tar = Command::new("tar");
        tar.arg("-C").arg(root).arg("-cf").arg(&packed).arg(".");
        if !tar.status()?.success() {
            return Err(io::Error::other("`tar` failed"));
        }
        let packed = packed.display().to_string();
        self.run(&["import", "--quiet", &packed, IMAGE]).map(drop).map_err(io::Error::other)
    }

    /// Returns what mounts the tools of this machine in a container without a network.
    pub(crate) fn arguments() -> Vec<String> {
        let mut arguments = vec!["--network=none".to_owned()];
        for tools in TOOLS.iter().filter(|tools| Path::new(tools).is_dir()) {
            let mount = format!("type=bind,source={tools},target={tools},readonly");
            arguments.extend(["--mount".to_owned(), mount]);
        }
        arguments
    }

    /// Returns the table of a runner with an image, with the tools or without them.
    pub(crate) fn runner(name: &str, image: &str, arguments: &[String]) -> String {
        let arguments = serde_json::to_string(arguments).unwrap();
        format!(
            "[runner.{name}]\nkind = \"podman\"\nimage = \"{image}\"\narguments = {arguments}\n"
        )
    }

    /// Makes a container that is not the hub's, in which these files of this machine are seen.
    pub(crate) fn keep_pet(&self, name: &str, seen: &[&Path]) {
        let mut words = vec!["run".to_owned(), "--detach".to_owned(), "--name".to_owned()];
        words.push(name.to_owned());
        words.extend(Self::arguments());
        let program = (Path::new(PROGRAM), Path::new("/usr/local/bin/wheelhouse"));
        let seen = seen.iter().map(|path| (*path, *path));
        for (source, target) in seen.chain([program]) {
            let (source, target) = (source.display(), target.display());
            words.push("--mount".to_owned());
            words.push(format!("type=bind,source={source},target={target},readonly"));
        }
        words.extend(["--entrypoint", "sleep", IMAGE, "infinity"].map(str::to_owned));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.ok(&words);
    }

    /// Runs the engine, and returns what it printed or why it failed.
    pub(crate) fn run(&self, words: &[impl AsRef<OsStr>]) -> Result<String, String> {
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", COMMAND_SECONDS_MAX, "podman"]).args(words);
        command.envs(&self.variables).stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("`timeout`: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let mut said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        write!(said, " ({})", output.status).unwrap();
        Err(said)
    }

    /// Does the same, and it must succeed.
    pub(crate) fn ok(&self, words: &[&str]) -> String {
        self.run(words).unwrap_or_else(|error| panic!("podman {words:?}: {error}"))
    }

    /// Returns every container, whether it runs or not.
    pub(crate) fn containers(&self) -> Vec<String> {
        let listed = self.ok(&["ps", "--all", "--quiet", "--no-trunc"]);
        listed.lines().map(str::to_owned).collect()
    }

    /// Ends what carries the hub's lines into containers.
    pub(crate) fn cut(world: &World) {
        let carriers = Self::carriers(world);
        assert!(!carriers.is_empty(), "nothing carries the stream");
        for pid in &carriers {
            process::kill(*pid, rustix::process::Signal::KILL);
        }
        wait_for("their end", || {
            let alive = Self::carriers(world);
            carriers.iter().all(|pid| !alive.contains(pid))
        });
    }

    fn carriers(world: &World) -> Vec<u32> {
        let carries = |pid: &u32| {
            let words = process::words(*pid);
            words.starts_with(&["podman".to_owned(), "exec".to_owned()])
        };
        world.alive().into_iter().map(|id| id.pid).filter(carries).collect()
    }
}

/// Returns the runtime with which containers run here, tools, limits and all.
fn probe() -> Result<&'static str, String> {
    let mut reasons = Vec::new();
    for runtime in RUNTIMES {
        match try_out(runtime) {
            Ok(()) => return Ok(runtime),
            Err(reason) => reasons.push(format!("{runtime}: {reason}")),
        }
    }
    Err(reasons.join("; "))
}

fn try_out(runtime: &str) -> Result<(), String> {
    let directory = tempfile::Builder::new().prefix("wh").tempdir().unwrap();
    let podman = Podman::below(&directory.path().join("engine"), runtime);
    let podman = podman.map_err(|error| error.to_string())?;
    let mut words = vec!["run".to_owned(), "--rm".to_owned()];
    words.extend(Podman::arguments());
    words.extend(LIMITS.iter().chain(&[IMAGE, "bash", "-c"]).map(|word| (*word).to_owned()));
    words.push("git --version && sleep 0".to_owned());
    let tried = podman.run(&words).map(drop);
    podman.clear();
    tried
}
