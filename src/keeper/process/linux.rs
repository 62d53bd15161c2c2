//! Finds and signals process trees on Linux: a subreaper loses no descendant, a pidfd hits no other
//! process.

use std::fs;
use std::io;
use std::process;

use rustix::process::{
    Pid, PidfdFlags, Signal, getpgrp, getpid, getuid, kill_process_group, pidfd_open,
    pidfd_send_signal, set_child_subreaper,
};

use super::stat::{self, Stat};
use crate::model::{ProcessId, ProcessInfo};

/// A report lists at most so many processes and then fits a frame; a signal reaches all.
const PROCESSES_MAX: usize = 256;

/// The first victim when memory runs out is the agent, not what keeps it. The range ends at 1000.
const AGENT_OOM_SCORE: &str = "500";

/// Returns the process that has this number now.
pub fn process_id(pid: u32) -> Option<ProcessId> {
    stat::read(pid).map(|(stat, _)| stat.id)
}

/// Says whether this very process still runs.
pub fn is_alive(id: ProcessId) -> bool {
    stat::read(id.pid).is_some_and(|(stat, _)| stat.id == id && !stat.has_ended)
}

/// Makes orphans below this process its own children.
pub(in super::super) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Runs `spawn` so that what it starts is ended before anything of ours when memory runs out.
pub(in super::super) fn exposed<T>(spawn: impl FnOnce() -> T) -> T {
    const FILE: &str = "/proc/self/oom_score_adj";
    let before = fs::read_to_string(FILE);
    let raised = fs::write(FILE, AGENT_OOM_SCORE);
    let result = spawn();
    if let (Ok(before), Ok(())) = (before, raised)
        && let Err(error) = fs::write(FILE, before.trim())
    {
        tracing::warn!(%error, "this keeper stays as exposed as its agent");
    }
    result
}

/// Returns the processes below this one, at most [`PROCESSES_MAX`] of them.
pub(in super::super) fn descendants() -> Vec<ProcessInfo> {
    let mut tree = Vec::new();
    walk(&mut |stat, name| {
        if tree.len() < PROCESSES_MAX && !stat.has_ended {
            tree.push(stat.info(name));
        }
    });
    tree
}

/// Sends a signal to every process below this one.
pub(in super::super) fn signal_tree(signal: Signal) {
    walk(&mut |stat, _| send(stat.id, signal));
}

/// Kills what is below this process, once; what was born meanwhile is left to the next round.
///
/// A group dies in one step, forking or not, so a process that hops from fork to fork is caught
/// even if no look at it is fast enough. The group of a child of ours cannot change hands: only we
/// can take in the child, and until then its number and its group stay its own.
pub(in super::super) fn kill_tree() {
    let own_group = getpgrp().as_raw_pid();
    for child in children(process::id()) {
        let Some((stat, _)) = stat::read(child) else { continue };
        if stat.group > 1
            && stat.group != own_group
            && let Some(group) = Pid::from_raw(stat.group)
        {
            ignore(kill_process_group(group, Signal::KILL));
        }
        send(stat.id, Signal::KILL);
    }
    walk(&mut |stat, _| {
        if !stat.has_ended {
            send(stat.id, Signal::KILL);
        }
    });
}

/// Signals this very process, and never one that got its number afterwards.
pub(in super::super) fn send(id: ProcessId, signal: Signal) {
    let pid = i32::try_from(id.pid).ok().and_then(Pid::from_raw);
    let Some(descriptor) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return;
    };
    // The descriptor now stands for one process; is it the one that was meant?
    if process_id(id.pid) == Some(id) {
        ignore(pidfd_send_signal(&descriptor, signal));
    }
}

/// Returns the living processes of our user whose environment holds all of these entries.
pub(in super::super) fn marked(marks: &[String]) -> Vec<ProcessInfo> {
    let own = getuid().as_raw();
    let is_ours = |pid: u32| {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(format!("/proc/{pid}")).is_ok_and(|data| data.uid() == own)
    };
    let has_marks = |pid: u32| {
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|text| {
            let has = |mark: &String| text.split(|byte| *byte == 0).any(|e| e == mark.as_bytes());
            marks.iter().all(has)
        })
    };
    numbers()
        .filter(|pid| *pid != process::id() && is_ours(*pid) && has_marks(*pid))
        .filter_map(stat::read)
        .filter(|(stat, _)| !stat.has_ended)
        .map(|(stat, name)| stat.info(name))
        .collect()
}

/// Visits the processes below this one, parents first.
fn walk(visit: &mut dyn FnMut(Stat, String)) {
    let mut open = children(process::id());
    while let Some(pid) = open.pop() {
        open.extend(children(pid));
        if let Some((stat, name)) = stat::read(pid) {
            visit(stat, name);
        }
    }
}

/// Returns the children of all threads of a process.
fn children(parent: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => found.extend(list.split_ascii_whitespace().flat_map(str::parse::<u32>)),
            // Few kernels are built without these lists; a thread that has just ended has none.
            Err(_) if thread.path().exists() => return children_by_scan(parent),
            Err(_) => {}
        }
    }
    found
}

fn children_by_scan(parent: u32) -> Vec<u32> {
    let is_child = |pid: &u32| stat::read(*pid).is_some_and(|(stat, _)| stat.parent == parent);
    numbers().filter(is_child).collect()
}

fn numbers() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A process that is gone, or not ours to signal, shows in the next look at the tree.
fn ignore(result: rustix::io::Result<()>) {
    if let Err(error) = result {
        tracing::trace!(%error, "a signal found no process");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_start_and_not_by_its_number() {
        let me = process_id(process::id()).unwrap();
        assert!(is_alive(me));
        assert!(!is_alive(ProcessId { started: me.started + 1, ..me }));
        // Would end this test if the number alone were trusted.
        send(ProcessId { started: me.started + 1, ..me }, Signal::KILL);
    }

    #[test]
    fn the_scan_finds_the_same_children_as_the_lists() {
        let mut child =
            process::Command::new("cat").stdin(process::Stdio::piped()).spawn().unwrap();
        assert!(children(process::id()).contains(&child.id()));
        assert!(children_by_scan(process::id()).contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
