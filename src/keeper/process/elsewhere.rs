//! Finds and signals process trees on systems other than Linux, best effort, through `ps`.
//!
//! A descendant that left its session and lost its parent is not found here, and a number could in
//! theory change hands between a look and a signal. What is found is reported as it is.

use std::io;
use std::process::{self, Command};

use rustix::process::{Pid, Signal, kill_process};

use crate::model::{ProcessId, ProcessInfo};

/// A report lists at most so many processes and then fits a frame; a signal reaches all.
const PROCESSES_MAX: usize = 256;

/// Returns the process that has this number now.
pub fn process_id(pid: u32) -> Option<ProcessId> {
    let found = list(&["-o", "pid=,ppid=,time=,rss=,lstart=,comm=", "-p", &pid.to_string()]);
    found.into_iter().find(|process| process.id.pid == pid).map(|process| process.id)
}

/// Says whether this very process still runs.
pub fn is_alive(id: ProcessId) -> bool {
    process_id(id.pid) == Some(id)
}

pub(in super::super) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

pub(in super::super) fn exposed<T>(spawn: impl FnOnce() -> T) -> T {
    spawn()
}

/// Returns the processes below this one, at most [`PROCESSES_MAX`] of them.
pub(in super::super) fn descendants() -> Vec<ProcessInfo> {
    let all = list(&["-ax", "-o", "pid=,ppid=,time=,rss=,lstart=,comm="]);
    let mut parents = vec![process::id()];
    let mut tree = Vec::new();
    while let Some(parent) = parents.pop() {
        for child in all.iter().filter(|child| child.parent == parent && child.name != "ps") {
            parents.push(child.id.pid);
            tree.push(child.clone());
        }
    }
    tree.truncate(PROCESSES_MAX);
    tree
}

pub(in super::super) fn signal_tree(signal: Signal) {
    for process in descendants() {
        send(process.id, signal);
    }
}

pub(in super::super) fn kill_tree() {
    signal_tree(Signal::KILL);
}

pub(in super::super) fn send(id: ProcessId, signal: Signal) {
    let pid = i32::try_from(id.pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid.filter(|_| is_alive(id))
        && let Err(error) = kill_process(pid, signal)
    {
        tracing::trace!(%error, "a signal found no process");
    }
}

/// Returns the processes whose environment, as far as `ps` shows it, holds all of these entries.
pub(in super::super) fn marked(marks: &[String]) -> Vec<ProcessInfo> {
    let all = list(&["-axE", "-o", "pid=,ppid=,time=,rss=,lstart=,command="]);
    let has_marks = |process: &ProcessInfo| {
        let has = |mark: &String| process.name.split(' ').any(|entry| entry == mark);
        process.id.pid != process::id() && marks.iter().all(has)
    };
    all.into_iter().filter(has_marks).collect()
}

fn list(arguments: &[&str]) -> Vec<ProcessInfo> {
    let output = Command::new("ps").env("LC_ALL", "C").args(arguments).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(parse).collect()
}

/// Reads `pid ppid time rss Mon Jan 2 15:04:05 2006 name`.
fn parse(line: &str) -> Option<ProcessInfo> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let seconds = words
        .get(2)?
        .split(':')
        .try_fold(0.0, |sum, part| part.parse::<f64>().ok().map(|part| sum * 60.0 + part))?;
    // The start is told as a date: folded into a number, it tells processes apart just as well.
    let started = words
        .get(4..9)?
        .join(" ")
        .bytes()
        .fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    Some(ProcessInfo {
        id: ProcessId { pid: words.first()?.parse().ok()?, started },
        parent: words.get(1)?.parse().ok()?,
        name: words.get(9..)?.join(" "),
        cpu_ms: std::time::Duration::from_secs_f64(seconds).as_millis().try_into().ok()?,
        memory_bytes: words.get(3)?.parse::<u64>().ok()? * 1024,
    })
}
