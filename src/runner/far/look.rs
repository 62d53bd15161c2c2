//! Reports what this machine offers to agents.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::config::FarPaths;
use crate::keeper::Means;
use crate::runner::handshake::FAR_PROTOCOL;

/// How things stand in a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sight {
    pub protocol: u32,
    pub version: String,
    pub program: PathBuf,
    pub home: Option<PathBuf>,
    /// Why nothing can be kept there.
    pub state_fault: Option<String>,
    pub directory: PathBuf,
    /// Why agents cannot work in that directory.
    pub directory_fault: Option<String>,
    /// What git calls itself.
    pub git: Option<String>,
    pub path: String,
    /// Processes of a user end with the last login.
    pub kills_on_logout: bool,
    pub limits: Means,
}

impl Sight {
    pub(super) fn take(directory: &str) -> Self {
        let paths = FarPaths::find("check");
        let state_fault = match &paths {
            Ok(paths) => paths.make_directories().err().map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        let directory = match &paths {
            Ok(paths) => paths.expand(Path::new(directory)),
            Err(_) => PathBuf::from(directory),
        };
        Self {
            protocol: FAR_PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: env::current_exe().unwrap_or_default(),
            home: env::var_os("HOME").map(PathBuf::from),
            state_fault,
            directory_fault: probe(&directory).err().map(|error| error.to_string()),
            directory,
            git: version_of("git"),
            path: env::var("PATH").unwrap_or_default(),
            kills_on_logout: kills_on_logout(),
            limits: Means::here(),
        }
    }
}

/// Tries to write where agents are to work.
fn probe(directory: &Path) -> io::Result<()> {
    let file = directory.join(format!(".wheelhouse-check-{}", std::process::id()));
    fs::write(&file, b"")?;
    fs::remove_file(&file)
}

fn version_of(program: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(|line| line.trim().to_owned())
}

/// Reads what systemd was told about processes that outlive their login.
fn kills_on_logout() -> bool {
    let main = PathBuf::from("/etc/systemd/logind.conf");
    let parts = fs::read_dir("/etc/systemd/logind.conf.d").into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = parts.map(|entry| entry.path()).collect();
    files.sort();
    files.insert(0, main);
    let mut kills = false;
    for text in files.iter().filter_map(|file| fs::read_to_string(file).ok()) {
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("KillUserProcesses=")) {
            kills = matches!(line.trim(), "yes" | "true" | "on" | "1");
        }
    }
    kills
}
