//! One gate: whether it passes.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::format_check;
use super::schema_check;
use crate::config::{environment_of, plain_environment};
use crate::git::{GitError, Repository};
use crate::keeper;
use crate::model::{BadGate, Check, Gate, Moment, bare};
use crate::workspace::inside::{self, Root};

/// How long one gate may take, unless it says so itself.
const LIMIT: Duration = Duration::from_mins(10);

/// The end of what a gate printed; the rest is thrown away as it comes.
const OUTPUT_BYTES_MAX: usize = 16 * 1024;

/// A file that is looked into; a larger one is not what a gate is for.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Where a gate runs, and about what.
#[derive(Clone, Debug)]
pub(in crate::hub) struct GateContext {
    pub(in crate::hub) cwd: PathBuf,
    /// What its processes carry in their environment, so that none is left.
    pub(in crate::hub) mark: String,
    /// When the attempt began that is checked.
    pub(in crate::hub) began: Moment,
}

/// The files that a contract names, or why it does not hold.
pub(in crate::hub) type ContractFiles = Result<Vec<String>, String>;

pub(in crate::hub) type CheckOutcome = Result<String, String>;

/// Says why a gate can never be checked, before anyone relies on it.
pub(in crate::hub) fn refuse(text: &str) -> Result<(), String> {
    let told = |error: BadGate| error.to_string();
    match Gate::parse(text).map_err(told)?.check {
        Check::Regex { pattern, .. } => compile(&pattern).map(drop),
        Check::Schema { schema, .. } if schema.trim_start().starts_with('{') => {
            schema_check::compile(schema.as_bytes()).map(drop)
        }
        Check::Command { .. }
        | Check::File { .. }
        | Check::Json { .. }
        | Check::Format { .. }
        | Check::Schema { .. }
        | Check::GitClean
        | Check::GitAhead { .. }
        | Check::GitCommits
        | Check::Contract { .. } => Ok(()),
    }
}

/// Says whether a gate passes, and what it printed. The promise is that of the contract it names.
pub(in crate::hub) async fn check(
    text: &str,
    bench: &GateContext,
    promise: Option<ContractFiles>,
) -> (bool, String) {
    let verdict = match Gate::parse(text) {
        Err(error) => Err(error.to_string()),
        Ok(Gate { check: Check::Command { command, code }, limit_seconds }) => {
            let limit = limit_seconds.map_or(LIMIT, Duration::from_secs);
            run(&command, code, bench, limit).await
        }
        Ok(Gate { check, limit_seconds }) => {
            let limit = limit_seconds.map_or(LIMIT, Duration::from_secs);
            let bench = bench.clone();
            let looking = tokio::task::spawn_blocking(move || look(&check, &bench, promise));
            match tokio::time::timeout(limit, looking).await {
                Ok(verdict) => verdict.unwrap_or_else(|error| Err(error.to_string())),
                Err(_) => Err(format!("it was not done after {} seconds", limit.as_secs())),
            }
        }
    };
    match verdict {
        Ok(output) => (true, output),
        Err(output) => (false, output),
    }
}

/// Checks what runs no command.
fn look(check: &Check, bench: &GateContext, promise: Option<ContractFiles>) -> CheckOutcome {
    let cwd = bench.cwd.as_path();
    let read = |path: &str| inside::read(cwd, path, FILE_BYTES_MAX);
    let nothing = |()| String::new();
    match check {
        Check::Command { .. } => Err("a command is run, not looked at".to_owned()),
        Check::File { path } => is_filled(cwd, path).map(nothing),
        Check::Regex { path, pattern } => read(path).and_then(|text| matches(&text, pattern)),
        Check::Json { path } => read(path).and_then(|text| is_json(&text)),
        Check::Format { format, path } => {
            read(path).and_then(|text| format_check::check(*format, &text))
        }
        Check::Schema { path, schema } => schema_check::check(cwd, path, schema).map(nothing),
        Check::GitClean => match ask(cwd, Repository::changed)? {
            files if files.is_empty() => Ok(String::new()),
            files => {
                let names: Vec<String> =
                    files.iter().map(|file| file.display().to_string()).collect();
                Err(format!("not committed:\n{}", names.join("\n")))
            }
        },
        Check::GitAhead { reference } => {
            match ask(cwd, |repository| repository.commits_beyond(reference))? {
                0 => Err(format!("there is no commit that {reference} lacks")),
                count => Ok(count.to_string()),
            }
        }
        Check::GitCommits => {
            match ask(cwd, |repository| repository.commits_since(bench.began.0 / 1000))? {
                0 => Err("there is no commit since the attempt began".to_owned()),
                count => Ok(count.to_string()),
            }
        }
        Check::Contract { .. } => {
            let files =
                promise.unwrap_or_else(|| Err("nobody knows of the contract".to_owned()))?;
            files.iter().try_for_each(|file| is_filled(cwd, file)).map(nothing)
        }
    }
}

fn ask<T>(cwd: &Path, what: impl FnOnce(&Repository) -> Result<T, GitError>) -> Result<T, String> {
    Root::hold(cwd)?;
    Repository::find(cwd).and_then(|found| what(&found)).map_err(|error| error.to_string())
}

fn is_filled(cwd: &Path, path: &str) -> Result<(), String> {
    let told = inside::open(cwd, path)?.metadata().map_err(|error| format!("{path}: {error}"))?;
    if told.len() == 0 { Err(format!("{path} is empty")) } else { Ok(()) }
}

/// Runs a command, and ends everything that it started.
async fn run(command: &str, code: i32, bench: &GateContext, limit: Duration) -> CheckOutcome {
    let (mut child, mut output) =
        spawn(command, bench).map_err(|error| format!("it could not be started: {error}"))?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let reader = thread::spawn(move || keep_tail(&mut output));
    let marks = vec![bench.mark.clone()];
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
        Ok((Ok(status), output)) if status.code() == Some(code) => Ok(output),
        Ok((Ok(status), output)) => Err(format!("{output}\n{status}")),
        Ok((Err(error), output)) => Err(format!("{output}\n{error}")),
        Err(error) => Err(error.to_string()),
    }
}

fn spawn(command: &str, bench: &GateContext) -> io::Result<(Child, io::PipeReader)> {
    let (reader, writer) = io::pipe()?;
    let mark = &bench.mark;
    let (name, value) = mark.split_once('=').unwrap_or((mark, ""));
    let environment = plain_environment(&environment_of(std::env::vars_os()));
    // Held until the child runs: a link that takes its place meanwhile leads nobody elsewhere.
    let root = Root::hold(&bench.cwd).map_err(io::Error::other)?;
    let child = Command::new("sh")
        .args(["-c", command])
        .current_dir(root.to_enter())
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

/// Reads to the end, and returns the last of it as text, from the beginning of a line on.
///
/// It goes to an agent as a prompt, and into the record: colours would only be noise there.
fn keep_tail(output: &mut impl Read) -> String {
    let mut kept = Vec::new();
    let mut is_cut = false;
    let mut buffer = [0; 8192];
    loop {
        match output.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => kept.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        let excess = kept.len().saturating_sub(OUTPUT_BYTES_MAX);
        is_cut |= excess > 0;
        kept.drain(..excess);
    }
    let line = kept.iter().position(|byte| *byte == b'\n').filter(|_| is_cut);
    bare(&String::from_utf8_lossy(&kept[line.map_or(0, |end| end + 1)..]))
}

fn compile(pattern: &str) -> Result<regex::Regex, String> {
    let built = regex::RegexBuilder::new(pattern).multi_line(true).build();
    built.map_err(|error| error.to_string())
}

fn matches(text: &[u8], pattern: &str) -> CheckOutcome {
    let pattern = compile(pattern)?;
    if pattern.is_match(&String::from_utf8_lossy(text)) {
        Ok(String::new())
    } else {
        Err(format!("nothing in it matches {pattern}"))
    }
}

fn is_json(text: &[u8]) -> CheckOutcome {
    let read: Result<serde::de::IgnoredAny, _> = serde_json::from_slice(text);
    read.map(|_| String::new()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn check(gate: &str, cwd: &Path) -> (bool, String) {
        promised(gate, cwd, None)
    }

    fn promised(gate: &str, cwd: &Path, promise: Option<ContractFiles>) -> (bool, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mark = format!("WHEELHOUSE_GATE=test:{}", cwd.display());
        let bench = GateContext { cwd: cwd.to_owned(), mark, began: Moment(1_000_000_000_000) };
        runtime.block_on(super::check(gate, &bench, promise))
    }

    #[test]
    fn a_command_passes_by_its_exit_code_and_what_it_prints_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(check("echo hi; echo ho >&2", directory.path()), (true, "hi\nho\n".into()));
        let (passed, output) = check("printf '\\033[31mno\\033[0m\\n'; exit 3", directory.path());
        assert!(!passed && output.starts_with("no\n") && output.contains('3'), "{output}");
        let (_, output) = check("seq 100000 199999", directory.path());
        assert!(output.len() <= OUTPUT_BYTES_MAX && output.ends_with("\n199999\n"), "{output}");
        assert!(output.lines().all(|line| line.len() == 6), "no line is cut: {output}");
        assert!(check("exit:3:exit 3", directory.path()).0);
        assert!(!check("exit:3:true", directory.path()).0);
    }

    #[test]
    fn files_are_looked_into() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a.json"), "{\"port\": 8080}\n").unwrap();
        fs::write(directory.path().join("empty"), "").unwrap();
        fs::write(directory.path().join("s.json"), "{\"required\": [\"port\"]}").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", directory.path().join("link")).unwrap();
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
            ("schema:a.json:s.json", true),
            ("schema:a.json:{\"required\": [\"port\"]}", true),
            ("schema:a.json:{\"required\": [\"host\"]}", false),
            ("schema:a.json:none.json", false),
            ("file:link", false),
            ("regex:link:root", false),
            ("git:clean", false),
            ("contract:users", false),
        ] {
            assert_eq!(check(gate, directory.path()).0, passes, "{gate}");
        }
    }

    #[test]
    fn what_can_never_pass_is_refused_beforehand() {
        for gate in ["regex:a:(", "schema:a:{", "schema:a:{\"type\":7}", "file:../a"] {
            assert!(refuse(gate).is_err(), "{gate}");
        }
        for gate in ["true", "regex:a:b", "schema:a:{}", "schema:a:b.json", "git:commits"] {
            assert_eq!(refuse(gate), Ok(()), "{gate}");
        }
    }

    #[test]
    fn commits_and_what_is_uncommitted_are_seen() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let git = |words: &[&str]| drop(crate::git::run(root, words).unwrap());
        git(&["init", "-q"]);
        for (name, value) in [("user.name", "n"), ("user.email", "e@x")] {
            git(&["config", name, value]);
        }
        assert!(!check("git:commits", root).0);
        fs::write(root.join("a"), "1").unwrap();
        let (passed, output) = check("git:clean", root);
        assert!(!passed && output.contains("\na"), "{output}");
        git(&["add", "a"]);
        git(&["commit", "-q", "-m", "old", "--date=1", "--no-verify"]);
        for gate in ["git:clean", "git:commits"] {
            assert!(check(gate, root).0, "{gate}");
        }
        assert!(!check("git:ahead:HEAD", root).0);
    }

    #[test]
    fn a_contract_holds_if_it_was_published_and_its_files_are_there() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("api.rs"), "1").unwrap();
        let with = |files: &[&str]| {
            let files = files.iter().map(|file| (*file).to_owned()).collect();
            promised("contract:users", directory.path(), Some(Ok(files)))
        };
        assert!(with(&[]).0 && with(&["api.rs"]).0);
        assert!(!with(&["api.rs", "web.rs"]).0 && !with(&["../x"]).0);
        let (passed, output) =
            promised("contract:users", directory.path(), Some(Err("not published".to_owned())));
        assert!(!passed && output == "not published");
    }

    #[test]
    fn a_gate_that_takes_too_long_is_ended_with_all_that_it_started() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pid");
        let gate = "limit:2:setsid sh -c 'echo $$ > pid; sleep 600' & sleep 600";
        let (passed, output) = check(gate, directory.path());
        assert!(!passed && output.contains("ended after 2 seconds"), "{output}");
        let pid: u32 = fs::read_to_string(file).unwrap().trim().parse().unwrap();
        assert!(!Path::new(&format!("/proc/{pid}/cmdline")).exists() || is_zombie(pid));
    }

    #[test]
    fn what_a_gate_leaves_behind_does_not_hold_it_up() {
        let directory = tempfile::tempdir().unwrap();
        let (passed, output) = check("sleep 600 & echo ok", directory.path());
        assert!(passed, "{output}");
    }

    fn is_zombie(pid: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_none_or(|rest| rest.starts_with('Z') || rest.is_empty())
    }
}
