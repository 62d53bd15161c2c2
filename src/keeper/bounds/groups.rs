//! Makes and joins control groups, of version 1 or 2, where the kernel lets us.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::model::Limits;

/// What a group can hold to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Controller {
    Memory,
    Cpu,
    Processes,
}

/// A directory below which a group with some controller can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parent {
    directory: PathBuf,
    version: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The time over which the use of processors is counted, in microseconds: the kernel's own default.
const PERIOD: u64 = 100_000;

impl Controller {
    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Processes => "pids",
        }
    }
}

/// Returns where a group with this controller can be made.
pub(super) fn parent_of(controller: Controller) -> Option<Parent> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    find(controller, &mounts, &own, &|directory| access(directory, Access::WRITE_OK).is_ok())
}

fn find(
    controller: Controller,
    mounts: &str,
    own: &str,
    may_write: &dyn Fn(&Path) -> bool,
) -> Option<Parent> {
    let own_path = |names: &dyn Fn(&str) -> bool| {
        own.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            names(controllers).then(|| path.trim_start_matches('/').to_owned())
        })
    };
    for line in mounts.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [_, mount, kind, options, ..] = fields[..] else { continue };
        let has = |list: &str| list.split(',').any(|name| name == controller.name());
        if kind == "cgroup" && has(options) {
            let below = own_path(&has).unwrap_or_default();
            let inner = Path::new(mount).join(below);
            // Within a container the path may be one that only its host knows.
            let directory = if inner.is_dir() { inner } else { PathBuf::from(mount) };
            return may_write(&directory).then_some(Parent { directory, version: Version::One });
        }
        if kind == "cgroup2" {
            let below = own_path(&str::is_empty).unwrap_or_default();
            let inner = Path::new(mount).join(below);
            let enabled = |directory: &Path| {
                let text = fs::read_to_string(directory.join("cgroup.subtree_control"));
                text.is_ok_and(|text| text.split_whitespace().any(|name| name == controller.name()))
            };
            // We may move a process only below a directory that is ours.
            let candidates = inner.ancestors().take(2).filter(|one| one.starts_with(mount));
            let found = candidates.into_iter().find(|one| enabled(one) && may_write(one));
            if let Some(directory) = found {
                let (directory, version) = (directory.to_owned(), Version::Two);
                return Some(Parent { directory, version });
            }
        }
    }
    None
}

/// The groups of one agent.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Each once, whoever joins it.
    pub(super) directories: Vec<PathBuf>,
}

impl Groups {
    /// Makes the groups that hold these limits, and returns the limits that none could be made for.
    pub(super) fn make(name: &str, limits: Limits) -> (Self, Limits) {
        let mut groups = Self::default();
        let mut left = limits;
        if let Some(bytes) = limits.memory_bytes {
            let set = |parent: &Parent| match parent.version {
                Version::One => vec![("memory.limit_in_bytes", bytes.to_string())],
                Version::Two => vec![("memory.max", bytes.to_string())],
            };
            if groups.add(name, Controller::Memory, &set) {
                left.memory_bytes = None;
            }
        }
        if let Some(hundredths) = limits.cpu_hundredths {
            let quota = u64::from(hundredths) * PERIOD / 100;
            let set = |parent: &Parent| match parent.version {
                Version::One => vec![
                    ("cpu.cfs_period_us", PERIOD.to_string()),
                    ("cpu.cfs_quota_us", quota.to_string()),
                ],
                Version::Two => vec![("cpu.max", format!("{quota} {PERIOD}"))],
            };
            if groups.add(name, Controller::Cpu, &set) {
                left.cpu_hundredths = None;
            }
        }
        if let Some(count) = limits.processes {
            let set = |_: &Parent| vec![("pids.max", count.to_string())];
            if groups.add(name, Controller::Processes, &set) {
                left.processes = None;
            }
        }
        (groups, left)
    }

    fn add(
        &mut self,
        name: &str,
        controller: Controller,
        set: &dyn Fn(&Parent) -> Vec<(&'static str, String)>,
    ) -> bool {
        let Some(parent) = parent_of(controller) else { return false };
        let directory = parent.directory.join(name);
        let made = make(&directory, &set(&parent));
        if let Err(error) = &made {
            tracing::warn!(%error, directory = %directory.display(), "no group for a limit");
            return false;
        }
        if !self.directories.contains(&directory) {
            self.directories.push(directory);
        }
        true
    }

    /// Removes the groups; one in which something lives stays.
    pub(super) fn remove(&self) {
        for directory in &self.directories {
            if let Err(error) = fs::remove_dir(directory) {
                tracing::debug!(%error, directory = %directory.display(), "a group stays");
            }
        }
    }
}

fn make(directory: &Path, values: &[(&str, String)]) -> io::Result<()> {
    match fs::create_dir(directory) {
        // One that an earlier keeper could not remove.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    values.iter().try_for_each(|(file, value)| fs::write(directory.join(file), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_made_where_we_may_and_the_controller_is_on() {
        let root = tempfile::tempdir().unwrap();
        let one = root.path().join("memory");
        let two = root.path().join("unified");
        fs::create_dir_all(one.join("job")).unwrap();
        fs::create_dir_all(two.join("app.slice/run.scope")).unwrap();
        fs::write(two.join("app.slice/cgroup.subtree_control"), "cpu pids\n").unwrap();
        fs::write(two.join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        let mounts = format!(
            "cgroup {} cgroup rw,memory 0 0\ncgroup2 {} cgroup2 rw 0 0\n",
            one.display(),
            two.display()
        );
        let own = "4:memory:/job\n0::/app.slice/run.scope\n";
        let all = |_: &Path| true;
        let found = |controller, may: &dyn Fn(&Path) -> bool| {
            find(controller, &mounts, own, may).map(|parent| parent.directory)
        };
        assert_eq!(found(Controller::Memory, &all), Some(one.join("job")));
        assert_eq!(found(Controller::Processes, &all), Some(two.join("app.slice")));
        assert_eq!(found(Controller::Cpu, &|_| false), None);
        let alone = format!("cgroup2 {} cgroup2 rw 0 0\n", two.display());
        let memory = find(Controller::Memory, &alone, own, &all);
        assert_eq!(memory, None, "two steps up it is not ours");
    }
}
