//! Runs one git command: no prompt, no helper, no hook, with a time limit.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// No question of ours takes this long, even of a large repository on a slow disk.
const LIMIT: Duration = Duration::from_mins(1);

/// The names of a million files; more is not looked at.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What is kept of git's own words when it fails.
const WORDS_BYTES_MAX: u64 = 4096;

/// Variables that git and the files it reads by itself need, and nothing else.
const KEPT: &[&str] = &["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR"];

/// What is fixed in the environment: no prompts, no locks, no network, no traces into files.
const FIXED: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_ASKPASS", "false"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_EDITOR", "false"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_TRACE2", "0"),
    ("GIT_TRACE2_EVENT", "0"),
    ("GIT_TRACE2_PERF", "0"),
    ("LC_ALL", "C"),
    ("SSH_ASKPASS", "false"),
];

/// Settings that name a program, or lead to one, and those that could let go of what was written. They are given by the environment, which is
/// stronger than any file and takes names of any form.
const OVERRIDES: &[(&str, &str)] = &[
    ("commit.gpgSign", "false"),
    ("core.alternateRefsCommand", "false"),
    ("core.askPass", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.editor", "false"),
    ("core.fsmonitor", "false"),
    // What is written is the only copy before long: it is on the disk before git says that it is there.
    ("core.fsync", "committed,reference"),
    ("core.fsyncMethod", "fsync"),
    ("core.gitProxy", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("fetch.recurseSubmodules", "false"),
    ("gc.auto", "0"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.ssh.defaultKeyCommand", "false"),
    ("gpg.x509.program", "false"),
    ("interactive.diffFilter", ""),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    ("sequence.editor", "false"),
    ("submodule.recurse", "false"),
    ("tag.gpgSign", "false"),
    ("uploadpack.packObjectsHook", ""),
];

/// Why git said nothing that can be used.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("`git` could not be run: {0}")]
    Unavailable(#[from] io::Error),
    #[error("this is not a git repository")]
    NoRepository,
    #[error("`git {verb}` was ended after {seconds} seconds")]
    Late { verb: String, seconds: u64 },
    #[error("`git {verb}` says more than can be read")]
    TooMuch { verb: String },
    #[error("`git {verb}` failed: {words}")]
    Failed { verb: String, words: String },
    #[error("`{name}` has moved meanwhile")]
    Moved { name: String },
}

/// One call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) directory: &'a Path,
    /// Which repository is meant, where git is not to look for it.
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// Settings of this call, which come after those of all calls.
    pub(super) settings: Vec<(String, String)>,
    /// The user's own settings count, too: for calls that only tell what is set.
    pub(super) is_about_settings: bool,
    /// What it reads; nothing, unless it is told to.
    pub(super) input: Option<File>,
    /// When it is ended.
    pub(super) limit: Duration,
}

/// What git left behind.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) output: Vec<u8>,
    words: Vec<u8>,
}

/// Calls git in a directory, and returns what it printed.
pub fn run(directory: &Path, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
    Call::new(directory).run(arguments)
}

impl<'a> Call<'a> {
    pub(super) fn new(directory: &'a Path) -> Self {
        let (variables, settings) = (Vec::new(), Vec::new());
        Self { directory, variables, settings, is_about_settings: false, input: None, limit: LIMIT }
    }

    pub(super) fn run<W: AsRef<OsStr>>(&self, arguments: &[W]) -> Result<Vec<u8>, GitError> {
        self.ask(arguments, None)?.expect_success(arguments)
    }

    /// Calls git with something to read.
    pub(super) fn feed(&self, arguments: &[&str], input: Vec<u8>) -> Result<Vec<u8>, GitError> {
        self.ask(arguments, Some(input))?.expect_success(arguments)
    }

    /// Calls git where its exit code is an answer, too.
    pub(super) fn ask<W: AsRef<OsStr>>(
        &self,
        arguments: &[W],
        input: Option<Vec<u8>>,
    ) -> Result<Ended, GitError> {
        let mut command = self.command(arguments);
        let stdin = match (&input, &self.input) {
            (Some(_), _) => Stdio::piped(),
            (None, Some(file)) => Stdio::from(file.try_clone()?),
            (None, None) => Stdio::null(),
        };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn()?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
            // Whoever does not read to the end says why by its exit code.
            thread::spawn(move || pipe.write_all(&input));
        }
        let (tell, ended) = mpsc::channel();
        thread::spawn(move || tell.send(listen(child)));
        let Ok(outcome) = ended.recv_timeout(self.limit) else {
            if let Some(group) = group
                && let Err(error) = kill_process_group(group, Signal::KILL)
            {
                tracing::warn!(%error, "git could not be killed");
            }
            return Err(GitError::Late { verb: verb(arguments), seconds: self.limit.as_secs() });
        };
        let ended = outcome?;
        if ended.output.len() as u64 > OUTPUT_BYTES_MAX {
            return Err(GitError::TooMuch { verb: verb(arguments) });
        }
        Ok(ended)
    }

    fn command<W: AsRef<OsStr>>(&self, arguments: &[W]) -> Command {
        let mut command = Command::new("git");
        command.arg("--no-pager").args(arguments).current_dir(self.directory).env_clear();
        let kept = KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        command.envs(kept).envs(FIXED.iter().copied());
        if !self.is_about_settings {
            command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        }
        let own = self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut count = 0;
        for (name, value) in OVERRIDES.iter().copied().chain(own) {
            command.env(format!("GIT_CONFIG_KEY_{count}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
        command
            .envs(self.variables.iter().map(|(name, value)| (name, AsRef::<OsStr>::as_ref(value))));
        command
    }
}

fn verb<W: AsRef<OsStr>>(arguments: &[W]) -> String {
    let first = arguments.first().map(|word| word.as_ref().to_string_lossy().into_owned());
    first.unwrap_or_default()
}

impl Ended {
    fn expect_success<W: AsRef<OsStr>>(self, arguments: &[W]) -> Result<Vec<u8>, GitError> {
        if self.status.success() { Ok(self.output) } else { Err(self.failure(arguments)) }
    }

    pub(super) fn failure<W: AsRef<OsStr>>(&self, arguments: &[W]) -> GitError {
        let words = String::from_utf8_lossy(&self.words).trim().to_owned();
        GitError::Failed { verb: verb(arguments), words }
    }
}

/// Reads what git says to its end, as much as may be.
fn listen(mut child: Child) -> io::Result<Ended> {
    let words = child.stderr.take();
    let words = thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut pipe) = words {
            let _ = pipe.by_ref().take(WORDS_BYTES_MAX).read_to_end(&mut kept);
            // A full pipe would hold it up.
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        kept
    });
    let mut output = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        // One byte more than may be tells that there was more; then it is cut off.
        pipe.take(OUTPUT_BYTES_MAX + 1).read_to_end(&mut output)?;
    }
    let status = child.wait()?;
    Ok(Ended { status, output, words: words.join().unwrap_or_default() })
}
