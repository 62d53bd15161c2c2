//! Parses one line of `/proc/PID/stat`.

use std::fs;

use crate::model::{ProcessId, ProcessInfo};

/// What the kernel says of a process, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) id: ProcessId,
    pub(super) parent: u32,
    pub(super) group: i32,
    /// Ended, and only waiting for its parent to take note.
    pub(super) has_ended: bool,
    cpu_ticks: u64,
    memory_pages: u64,
}

/// Reads a process, with its short name.
pub(super) fn read(pid: u32) -> Option<(Stat, String)> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &String::from_utf8_lossy(&line))
}

fn parse(pid: u32, line: &str) -> Option<(Stat, String)> {
    // The name may hold blanks and brackets of its own, so the last bracket counts.
    let (before, after) = line.rsplit_once(')')?;
    let name = before.split_once('(')?.1;
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let stat = Stat {
        id: ProcessId { pid, started: number(19)? },
        parent: u32::try_from(number(1)?).ok()?,
        group: fields.get(2)?.parse().ok()?,
        has_ended: matches!(*fields.first()?, "Z" | "X" | "x"),
        cpu_ticks: number(11)?.saturating_add(number(12)?),
        memory_pages: number(21)?,
    };
    Some((stat, name.to_owned()))
}

impl Stat {
    pub(super) fn info(self, name: String) -> ProcessInfo {
        let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
        ProcessInfo {
            id: self.id,
            parent: self.parent,
            name,
            cpu_ms: self.cpu_ticks.saturating_mul(1000) / ticks_per_second,
            memory_bytes: self.memory_pages.saturating_mul(rustix::param::page_size() as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_hides_nothing() {
        let line = "42 (a) R 1 (b c)) Z 7 40 40 0 -1 4 1 2 3 4 150 50 0 0 20 0 1 0 777 9000 25 0";
        let (stat, name) = parse(42, line).unwrap();
        assert_eq!(name, "a) R 1 (b c)");
        assert_eq!(stat.id, ProcessId { pid: 42, started: 777 });
        assert_eq!((stat.parent, stat.group, stat.has_ended), (7, 40, true));
        assert_eq!((stat.cpu_ticks, stat.memory_pages), (200, 25));
        assert_eq!(parse(42, "42 (a) R 1"), None);
    }

    #[test]
    fn this_process_can_be_read() {
        let (stat, _) = read(std::process::id()).unwrap();
        assert!(!stat.has_ended && stat.info(String::new()).memory_bytes > 0);
    }
}
