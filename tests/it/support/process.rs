//! Processes as the kernel tells of them; one that has ended but was not taken in counts as gone.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use wheelhouse::model::ProcessId;

/// Returns the numbers of all processes.
pub(crate) fn numbers() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the living process that has this number now.
pub(crate) fn identify(pid: u32) -> Option<ProcessId> {
    let fields = stat(pid)?;
    let is_gone = matches!(fields.first()?.as_str(), "Z" | "X");
    let started = fields.get(19)?.parse().ok()?;
    (!is_gone).then_some(ProcessId { pid, started })
}

/// Says whether this very process still lives.
pub(crate) fn is_alive(id: ProcessId) -> bool {
    identify(id.pid) == Some(id)
}

/// Says whether a process is about to be our program: for an instant on the way there it has no words yet by
/// which one could tell whose it is.
pub(crate) fn is_becoming_ours(pid: u32) -> bool {
    let program = fs::read_link(format!("/proc/{pid}/exe"));
    let is_ours =
        program.is_ok_and(|path| path.file_name().is_some_and(|name| name == "wheelhouse"));
    is_ours && words(pid).is_empty() && identify(pid).is_some()
}

/// Says whether a process waits for something to happen.
pub(crate) fn is_asleep(pid: u32) -> bool {
    is_in_state(pid, "S")
}

/// Says whether a signal has stopped a process.
pub(crate) fn is_stopped(pid: u32) -> bool {
    is_in_state(pid, "T")
}

fn is_in_state(pid: u32, state: &str) -> bool {
    stat(pid).is_some_and(|fields| fields.first().is_some_and(|letter| letter == state))
}

/// Returns the parent's number.
pub(crate) fn parent(pid: u32) -> Option<u32> {
    stat(pid)?.get(1)?.parse().ok()
}

/// Returns the children that have ended and were not taken in.
pub(crate) fn zombies_of(parent_pid: u32) -> Vec<u32> {
    let is_zombie = |pid: &u32| {
        let fields = stat(*pid).unwrap_or_default();
        fields.first().is_some_and(|state| state == "Z")
    };
    numbers().filter(|pid| parent(*pid) == Some(parent_pid) && is_zombie(pid)).collect()
}

/// Returns the words of the command line.
pub(crate) fn words(pid: u32) -> Vec<String> {
    entries(pid, "cmdline")
}

/// Returns the environment as `NAME=value`.
pub(crate) fn environment(pid: u32) -> Vec<String> {
    entries(pid, "environ")
}

pub(crate) fn kill(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).unwrap();
    // It may have ended by itself a moment ago.
    let _ = kill_process(pid, signal);
}

/// Returns the memory that is this process's own, in bytes.
///
/// The kernel's count of dirty pages will not do: a program that was built a moment ago is itself not
/// on disk yet, and its text then counts as dirty, for whoever happens to be alone in using it.
pub(crate) fn private_memory(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")).unwrap_or_default();
    kilobytes.trim().parse::<u64>().unwrap_or_default() * 1024
}

/// Returns what the process's descriptors lead to; sockets and pipes without their numbers.
pub(crate) fn descriptors(pid: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let target =
        |entry: fs::DirEntry| Some(fs::read_link(entry.path()).ok()?.display().to_string());
    let plain = |target: String| target.split(":[").next().unwrap_or_default().to_owned();
    let mut found: Vec<String> = entries.filter_map(target).map(plain).collect();
    found.sort();
    found
}

pub(crate) fn thread_count(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

pub(crate) fn oom_score_adj(pid: u32) -> i32 {
    let text = fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).unwrap();
    text.trim().parse().unwrap()
}

/// Returns the fields after the program's name, which may itself hold blanks: the state is first.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_ascii_whitespace().map(str::to_owned).collect())
}

fn entries(pid: u32, file: &str) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let entries = bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    entries.map(|entry| String::from_utf8_lossy(entry).into_owned()).collect()
}

/// Returns the time of the processor that a process has used.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    // A thread may end while it is looked for.
    let nanoseconds = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    tasks.flatten().filter_map(nanoseconds).sum::<f64>() / 1e9
}
