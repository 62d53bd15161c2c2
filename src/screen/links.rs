//! Keeps the targets of hyperlinks, each under a number.

use std::collections::{BTreeMap, BTreeSet};

/// What terminals agreed on as the longest target.
const LINK_BYTES_MAX: usize = 2083;
/// More than a large screen shows; unused ones give way.
const LINKS_MAX: usize = 16_384;
/// What all targets may take together.
const TARGET_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The table of link targets; number zero is none.
#[derive(Debug, Default)]
pub(super) struct Links {
    targets: Vec<Box<str>>,
    numbers: BTreeMap<Box<str>, u16>,
    free: Vec<u16>,
    target_bytes: usize,
    /// How often a target was looked for that was not there.
    missed: u64,
}

impl Links {
    pub(super) fn get(&self, number: u16) -> Option<&str> {
        self.targets.get(usize::from(number).checked_sub(1)?).map(|target| &**target)
    }

    /// Returns the number of a target, zero if it is too long, or nothing if the table is full.
    pub(super) fn intern(&mut self, target: &str) -> Option<u16> {
        if target.is_empty() || target.len() > LINK_BYTES_MAX {
            return Some(0);
        }
        if let Some(number) = self.numbers.get(target) {
            return Some(*number);
        }
        self.missed += 1;
        if self.target_bytes + target.len() > TARGET_BYTES_MAX {
            return None;
        }
        let number = if let Some(number) = self.free.pop() {
            self.targets[usize::from(number) - 1] = target.into();
            number
        } else if self.targets.len() < LINKS_MAX {
            self.targets.push(target.into());
            u16::try_from(self.targets.len()).ok()?
        } else {
            return None;
        };
        self.target_bytes += target.len();
        self.numbers.insert(target.into(), number);
        Some(number)
    }

    pub(super) fn sweep(&mut self, used: &BTreeSet<u16>) {
        let mut freed = Vec::new();
        self.numbers.retain(|_, number| {
            let keep = used.contains(number);
            if !keep {
                freed.push(*number);
            }
            keep
        });
        for number in &freed {
            let target = std::mem::take(&mut self.targets[usize::from(*number) - 1]);
            self.target_bytes -= target.len();
        }
        self.free.append(&mut freed);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        2 * self.target_bytes + 64 * self.targets.len()
    }

    pub(super) fn missed(&self) -> u64 {
        self.missed
    }
}
