//! One gate: what it means, and whether it passes.
//!
//! A gate is written as a command, which passes with exit code 0, or as one of
//! `file:PATH` (it is there and not empty), `regex:PATH:PATTERN` (its text matches),
//! `json:PATH` (it is valid JSON; likewise `toml:`, `yaml:` and `csv:`), `git:clean` (nothing is uncommitted) and `git:ahead:REF`
//! (there are commits that REF lacks). `cmd:COMMAND` is a command that looks like one of these.

use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::check_format::Kind;
use crate::config::{environment_of, plain_environment};
use crate::keeper;

/// The end of what a gate printed; the rest is thrown away as it comes.
const OUTPUT_BYTES_MAX: usize = 16 * 1024;

/// A file that is looked into; a larger one is not what a gate is for.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What is checked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Gate<'a> {
    Command(&'a str),
    File(&'a str),
    Regex { path: &'a str, pattern: &'a str },
    Json(&'a str),
    Format { kind: Kind, path: &'a str },
    GitClean,
    GitAhead(&'a str),
}

pub(super) type Verdict = Result<String, String>;

impl<'a> Gate<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let (kind, rest) = text.split_once(':').unwrap_or(("", text));
        match (kind, rest.split_once(':')) {
            ("cmd", _) => Self::Command(rest),
            ("file", _) => Self::File(rest),
            ("regex", Some((path, pattern))) => Self::Regex { path, pattern },
            ("json", _) => Self::Json(rest),
            ("toml", _) => Self::Format { kind: Kind::Toml, path: rest },
            ("yaml", _) => Self::Format { kind: Kind::Yaml, path: rest },
            ("csv", _) => Self::Format { kind: Kind::Csv, path: rest },
            ("schema", Some((path, _))) => Self::Json(path),
            ("git", None) if rest == "clean" => Self::GitClean,
            ("git", Some(("ahead", reference))) => Self::GitAhead(reference),
            _ => Self::Command(text),
        }
    }

    /// Says whether it passes, and what it printed.
    pub(super) async fn check(&self, cwd: &Path, mark: &str, limit: Duration) -> (bool, String) {
        let verdict = match self {
            Self::Command(command) => run("sh", &["-c", command], cwd, mark, limit).await,
            Self::File(path) => read(cwd, path).map(|_| String::new()),
            Self::Regex { path, pattern } => {
                read(cwd, path).and_then(|text| matches(&text, pattern))
            }
            Self::Json(path) => read(cwd, path).and_then(|text| is_json(&text)),
            Self::Format { kind, path } => read(cwd, path).and_then(|text| kind.check(&text)),
            Self::GitClean => {
                let status = ["status", "--porcelain", "--untracked-files=all"];
                let listed = git(&status, cwd, mark, limit).await;
                listed.and_then(|list| if list.trim().is_empty() { Ok(list) } else { Err(list) })
            }
            Self::GitAhead(reference) => {
                let range = format!("{reference}..HEAD");
                let counted = git(&["rev-list", "--count", &range, "--"], cwd, mark, limit).await;
                counted.and_then(|count| match count.trim() {
                    "0" => Err(format!("there is no commit that {reference} lacks")),
                    _ => Ok(count),
                })
            }
        };
        match verdict {
            Ok(output) => (true, output),
            Err(output) => (false, output),
        }
    }
}

async fn git(arguments: &[&str], cwd: &Path, mark: &str, limit: Duration) -> Verdict {
    let calm = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-pager"];
    run("git", &[&calm, arguments].concat(), cwd, mark, limit).await
}

/// Runs a command, and ends everything that it started.
async fn run(
    program: &str,
    arguments: &[&str],
    cwd: &Path,
    mark: &str,
    limit: Duration,
) -> Verdict {
    let spawned = spawn(program, arguments, cwd, mark);
    let (mut child, mut output) =
        spawned.map_err(|error| format!("`{program}` could not be started: {error}"))?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let reader = thread::spawn(move || keep_tail(&mut output));
    let marks = vec![mark.to_owned()];
    let swept = marks.clone();
    let mut ending = tokio::task::spawn_blocking(move || {
        let status = child.wait();
        // What it left behind would hold its output open, and has no business here.
        keeper::sweep(&swept);
        (status, reader.join().unwrap_or_default())
    });
    let in_time = tokio::time::timeout(limit, &mut ending).await;
    let is_late = in_time.is_err();
    let ended = if let Ok(ended) = in_time {
        ended
    } else {
        if let Some(group) = group
            && let Err(error) = kill_process_group(group, Signal::KILL)
        {
            tracing::warn!(%error, "a gate could not be killed by its group");
        }
        let _ = tokio::task::spawn_blocking(move || keeper::sweep(&marks)).await;
        ending.await
    };
    match ended {
        Ok((_, output)) if is_late => {
            Err(format!("{output}\nit was ended after {} seconds", limit.as_secs()))
        }
        Ok((Ok(status), output)) if status.success() => Ok(output),
        Ok((Ok(status), output)) => Err(format!("{output}\n{status}")),
        Ok((Err(error), output)) => Err(format!("{output}\n{error}")),
        Err(error) => Err(error.to_string()),
    }
}

fn spawn(
    program: &str,
    arguments: &[&str],
    cwd: &Path,
    mark: &str,
) -> io::Result<(Child, io::PipeReader)> {
    let (reader, writer) = io::pipe()?;
    let (name, value) = mark.split_once('=').unwrap_or((mark, ""));
    let environment = plain_environment(&environment_of(std::env::vars_os()));
    let child = Command::new(program)
        .args(arguments)
        .current_dir(cwd)
        .env_clear()
        .envs(environment.0)
        .env(name, value)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .spawn()?;
    Ok((child, reader))
}

/// Reads to the end, and returns the last of it as text.
fn keep_tail(output: &mut impl Read) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        match output.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => kept.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        let excess = kept.len().saturating_sub(OUTPUT_BYTES_MAX);
        kept.drain(..excess);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

fn read(cwd: &Path, path: &str) -> Result<Vec<u8>, String> {
    let file = cwd.join(path);
    let told = fs::metadata(&file).map_err(|error| format!("{path}: {error}"))?;
    if !told.is_file() {
        return Err(format!("{path} is not a file"));
    }
    if told.len() == 0 {
        return Err(format!("{path} is empty"));
    }
    let mut text = Vec::new();
    let opened = fs::File::open(&file);
    let read = opened.and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut text));
    read.map(|_| text).map_err(|error| format!("{path}: {error}"))
}

fn matches(text: &[u8], pattern: &str) -> Verdict {
    let built = regex::RegexBuilder::new(pattern).multi_line(true).build();
    let pattern = built.map_err(|error| error.to_string())?;
    if pattern.is_match(&String::from_utf8_lossy(text)) {
        Ok(String::new())
    } else {
        Err(format!("nothing in it matches {pattern}"))
    }
}

fn is_json(text: &[u8]) -> Verdict {
    let read: Result<serde::de::IgnoredAny, _> = serde_json::from_slice(text);
    read.map(|_| String::new()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    fn check(gate: &str, cwd: &Path, limit: Duration) -> (bool, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mark = format!("WHEELHOUSE_GATE=test:{}", cwd.display());
        runtime.block_on(Gate::parse(gate).check(cwd, &mark, limit))
    }

    #[test]
    fn a_gate_is_a_command_or_a_named_check() {
        assert_eq!(Gate::parse("cargo test"), Gate::Command("cargo test"));
        assert_eq!(Gate::parse("test a:b"), Gate::Command("test a:b"));
        assert_eq!(Gate::parse("cmd:file:x"), Gate::Command("file:x"));
        assert_eq!(Gate::parse("file:a b"), Gate::File("a b"));
        let regex = Gate::Regex { path: "a", pattern: "b:c" };
        assert_eq!(Gate::parse("regex:a:b:c"), regex);
        assert_eq!(Gate::parse("git:ahead:main"), Gate::GitAhead("main"));
    }

    #[test]
    fn a_command_passes_by_its_exit_code_and_what_it_prints_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(
            check("echo hi; echo ho >&2", directory.path(), LONG),
            (true, "hi\nho\n".into())
        );
        let (passed, output) = check("echo no; exit 3", directory.path(), LONG);
        assert!(!passed && output.contains("no") && output.contains('3'), "{output}");
    }

    #[test]
    fn files_are_looked_into() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a.json"), "{\"port\": 8080}\n").unwrap();
        fs::write(directory.path().join("empty"), "").unwrap();
        for (gate, passes) in [
            ("file:a.json", true),
            ("file:empty", false),
            ("file:none", false),
            ("file:.", false),
            ("regex:a.json:port.*80", true),
            ("regex:a.json:^port", false),
            ("regex:a.json:(", false),
            ("json:a.json", true),
            ("json:empty", false),
        ] {
            assert_eq!(check(gate, directory.path(), LONG).0, passes, "{gate}");
        }
    }

    #[test]
    fn a_gate_that_takes_too_long_is_ended_with_all_that_it_started() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pid");
        let gate = "setsid sh -c 'echo $$ > pid; sleep 600' & sleep 600";
        let (passed, output) = check(gate, directory.path(), Duration::from_secs(2));
        assert!(!passed && output.contains("ended after 2 seconds"), "{output}");
        let pid: u32 = fs::read_to_string(file).unwrap().trim().parse().unwrap();
        assert!(!Path::new(&format!("/proc/{pid}/cmdline")).exists() || is_zombie(pid));
    }

    #[test]
    fn what_a_gate_leaves_behind_does_not_hold_it_up() {
        let directory = tempfile::tempdir().unwrap();
        let (passed, output) = check("sleep 600 & echo ok", directory.path(), LONG);
        assert!(passed, "{output}");
    }

    fn is_zombie(pid: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_none_or(|rest| rest.starts_with('Z') || rest.is_empty())
    }
}
