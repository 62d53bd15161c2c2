//! Puts the command that sets an agent's limits in front of its own command.

use std::env;
use std::path::Path;

use super::groups::Groups;
use super::means::can_scope;
use super::sandbox::bubblewrap;
use crate::model::{Launch, Limits};

/// What was set up for an agent and has to be taken down after it.
#[derive(Debug, Default)]
pub(in super::super) struct Bounds {
    groups: Groups,
}

impl Bounds {
    /// Removes what was set up, once the agent's tree is gone.
    pub(in super::super) fn remove(&mut self) {
        self.groups.remove();
        self.groups = Groups::default();
    }
}

/// Returns the command that runs the agent within its bounds, and what was set up for that.
///
/// An error says why it cannot be kept within them: then it is not started.
pub(in super::super) fn bounded(
    launch: &Launch,
    name: &str,
) -> Result<(Vec<String>, Bounds), String> {
    let confinement = &launch.confinement;
    if confinement.is_none() {
        return Ok((launch.argv.clone(), Bounds::default()));
    }
    let mut argv = match &confinement.sandbox {
        Some(sandbox) => bubblewrap(sandbox, launch)?,
        None => launch.argv.clone(),
    };
    let (groups, left) = Groups::make(name, confinement.limits);
    let left = if !left.is_none() && can_scope() {
        argv = [scope(left), argv].concat();
        Limits::default()
    } else {
        left
    };
    let words = confine_words(&groups, left);
    if !words.is_empty() {
        let program = env::current_exe().map_err(|error| error.to_string())?;
        argv = [command(&program, words), argv].concat();
    }
    Ok((argv, Bounds { groups }))
}

/// Returns what the confined process is told about its groups and its own limits.
fn confine_words(groups: &Groups, left: Limits) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    for directory in &groups.directories {
        add("--join", directory.display().to_string());
    }
    if let Some(bytes) = left.memory_bytes {
        add("--data", bytes.to_string());
    }
    if let Some(count) = left.processes {
        add("--processes", count.to_string());
    }
    if let Some(hundredths) = left.cpu_hundredths {
        add("--processors", hundredths.div_ceil(100).to_string());
    }
    words
}

fn command(program: &Path, words: Vec<String>) -> Vec<String> {
    let begin = [program.display().to_string(), "confine".to_owned()];
    begin.into_iter().chain(words).chain(["--".to_owned()]).collect()
}

/// Returns the words that put a command into a scope with these limits.
fn scope(limits: Limits) -> Vec<String> {
    let words = ["systemd-run", "--user", "--scope", "--quiet", "--collect"];
    let mut words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let mut add = |property: String| words.extend(["--property".to_owned(), property]);
    if let Some(bytes) = limits.memory_bytes {
        add(format!("MemoryMax={bytes}"));
        // What is over the limit would else only move to the disk.
        add("MemorySwapMax=0".to_owned());
    }
    if let Some(hundredths) = limits.cpu_hundredths {
        add(format!("CPUQuota={hundredths}%"));
    }
    if let Some(count) = limits.processes {
        add(format!("TasksMax={count}"));
    }
    words.push("--".to_owned());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_group_holds_is_held_by_a_scope_or_by_each_process() {
        let limits =
            Limits { memory_bytes: Some(1 << 20), cpu_hundredths: Some(150), processes: Some(9) };
        assert_eq!(
            confine_words(&Groups::default(), limits).join(" "),
            "--data 1048576 --processes 9 --processors 2"
        );
        assert_eq!(
            scope(limits).join(" "),
            "systemd-run --user --scope --quiet --collect --property MemoryMax=1048576 --property \
             MemorySwapMax=0 --property CPUQuota=150% --property TasksMax=9 --"
        );
        let groups = Groups { directories: vec!["/sys/fs/cgroup/x".into()] };
        assert_eq!(confine_words(&groups, Limits::default()).join(" "), "--join /sys/fs/cgroup/x");
    }
}
