//! Whether the machine has what agents need: terminals, descriptors, room on the disk.

use std::fs;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

use super::finding::Finding;
use crate::config::Paths;
use crate::keeper::Means;

/// Each agent takes one terminal, and its tools may take more.
const TERMINALS_SPARE: u64 = 64;

/// The hub needs a few descriptors for each agent and client.
const DESCRIPTORS_LEAST: u64 = 1024;

/// Screens, logs and the record are small, but not nothing.
const DISK_BYTES_LEAST: u64 = 200 * 1024 * 1024;

pub(super) fn examine(paths: &Paths) -> Vec<Finding> {
    [
        terminals(),
        descriptors(),
        disk(&paths.state_dir),
        lingering(),
        Some(limits()),
        Some(sandbox()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn terminals() -> Option<Finding> {
    let number = |name: &str| -> Option<u64> {
        fs::read_to_string(Path::new("/proc/sys/kernel/pty").join(name)).ok()?.trim().parse().ok()
    };
    let (used, most) = (number("nr")?, number("max")?);
    if most.saturating_sub(used) >= TERMINALS_SPARE {
        return Some(Finding::ok("terminals", format!("{used} of {most} are in use")));
    }
    Some(Finding::warning(
        "terminals",
        format!("{used} of {most} are in use"),
        format!("Allow more with `sysctl kernel.pty.max={}`", most * 2),
    ))
}

fn descriptors() -> Option<Finding> {
    let limit = getrlimit(Resource::Nofile).current?;
    (limit < DESCRIPTORS_LEAST).then(|| {
        Finding::warning(
            "files",
            format!("a process may open only {limit} files"),
            format!("Allow more with `ulimit -n {DESCRIPTORS_LEAST}` before you start the hub"),
        )
    })
}

fn disk(directory: &Path) -> Option<Finding> {
    let existing = directory.ancestors().find(|place| place.exists())?;
    let room = rustix::fs::statvfs(existing).ok()?;
    let free = room.f_bavail * room.f_frsize;
    (free < DISK_BYTES_LEAST).then(|| {
        Finding::problem(
            "disk",
            format!("{} MiB are free at {}", free / (1024 * 1024), existing.display()),
            "Free some space: the record must be written before an agent starts",
        )
    })
}

/// Tells by what means agents are held to their limits.
fn limits() -> Finding {
    let means = Means::here();
    if means.is_exact() {
        return Finding::ok("limits", means.in_words());
    }
    let hint = "Limits for the whole tree need systemd for your user, or a control group that you may \
                change";
    Finding::warning("limits", means.in_words(), hint)
}

/// Tells whether agents can be put into a sandbox.
fn sandbox() -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|entry| entry.join("bwrap"));
    match found.into_iter().find(|program| program.is_file()) {
        Some(program) => Finding::ok("sandbox", format!("bubblewrap is {}", program.display())),
        None => {
            Finding::ok("sandbox", "bubblewrap is not installed; agents cannot run in a sandbox")
        }
    }
}

/// Processes of a user who does not linger end with the last login, whatever they do.
fn lingering() -> Option<Finding> {
    let user = std::env::var("USER").ok()?;
    let is_managed = Path::new("/run/systemd/users").exists();
    let lingers = Path::new("/var/lib/systemd/linger").join(&user).exists();
    (is_managed && !lingers).then(|| {
        Finding::warning(
            "login",
            "your processes may end when you log out",
            format!("Keep them running with `loginctl enable-linger {user}`"),
        )
    })
}
