//! What a process did to its files, as `strace` tells it, and what a power cut would leave of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::chance::Chance;

/// A disk writes a sector whole or not at all.
const SECTOR: usize = 512;

/// The calls by which files change; they are all that is traced.
pub(super) const CALLS: &str =
    "trace=openat,pwrite64,write,ftruncate,fsync,fdatasync,rename,unlink";

/// One thing that happened.
#[derive(Debug)]
pub(super) enum Step {
    Created {
        name: String,
    },
    Wrote {
        name: String,
        at: usize,
        bytes: Vec<u8>,
    },
    Cut {
        name: String,
        length: usize,
    },
    /// A file, or the directory where there is no name.
    Synced {
        name: Option<String>,
    },
    Renamed {
        from: String,
        to: String,
    },
    Removed {
        name: String,
    },
    /// The process has told that a batch is durable.
    Acknowledged(u64),
}

/// Reads a trace of what happened to the files of a directory.
pub(super) fn steps(trace: &str, directory: &Path) -> Vec<Step> {
    let directory = directory.to_str().unwrap();
    let mut unfinished = BTreeMap::new();
    let mut steps = Vec::new();
    for line in trace.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if let Some(begin) = call.strip_suffix(" <unfinished ...>") {
            unfinished.insert(process, begin);
        } else if let Some((_, end)) = call.split_once(" resumed>") {
            let begin = unfinished.remove(process).unwrap();
            steps.extend(step(&format!("{begin}{end}"), directory));
        } else {
            steps.extend(step(call, directory));
        }
    }
    steps
}

fn step(call: &str, directory: &str) -> Option<Step> {
    let (name, rest) = call.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    if result.starts_with('-') {
        return None;
    }
    let arguments = arguments.trim_end().strip_suffix(')')?;
    let strings: Vec<Vec<u8>> = arguments.split('"').skip(1).step_by(2).map(unescape).collect();
    let string = |index: usize| String::from_utf8_lossy(&strings[index]).into_owned();
    // `/directory/record.db` is `record.db`; the directory itself is nothing; all else is not ours.
    let inside = |path: &str| {
        let rest = path.strip_prefix(directory)?;
        Some(rest.strip_prefix('/').map(str::to_owned))
    };
    let number = |index: usize| arguments.rsplit(", ").nth(index)?.parse::<usize>().ok();
    let descriptor = || {
        let (path, _) = arguments.split_once('<')?.1.split_once('>')?;
        inside(&String::from_utf8_lossy(&unescape(path)))
    };
    match name {
        "openat" if arguments.contains("O_CREAT") => {
            Some(Step::Created { name: inside(&string(0))?? })
        }
        "pwrite64" => {
            let (name, at) = (descriptor()??, number(0)?);
            Some(Step::Wrote { name, at, bytes: strings.into_iter().next()? })
        }
        "write" => {
            let text = string(0);
            let number = text.strip_prefix("acknowledged ")?.trim_end().parse().ok()?;
            Some(Step::Acknowledged(number))
        }
        "ftruncate" => Some(Step::Cut { name: descriptor()??, length: number(0)? }),
        "fsync" | "fdatasync" => Some(Step::Synced { name: descriptor()? }),
        "rename" => Some(Step::Renamed { from: inside(&string(0))??, to: inside(&string(1))?? }),
        "unlink" => Some(Step::Removed { name: inside(&string(0))?? }),
        _ => None,
    }
}

/// Reads `\x41\x42`, the form in which all strings are traced.
fn unescape(text: &str) -> Vec<u8> {
    let codes = text.split("\\x").skip(1);
    codes.map(|code| u8::from_str_radix(code, 16).unwrap()).collect()
}

/// What a disk holds, and what is only on the way to it.
#[derive(Default)]
pub(super) struct Disk {
    files: Vec<Content>,
    /// The directory as processes see it, and as it was last synced.
    names: BTreeMap<String, usize>,
    synced_names: BTreeMap<String, usize>,
}

#[derive(Default)]
struct Content {
    synced: Vec<u8>,
    /// Since then, in order.
    changes: Vec<Change>,
}

enum Change {
    Wrote { at: usize, bytes: Vec<u8> },
    Cut { length: usize },
}

/// What happens to all that was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsynced {
    /// It was a process that died, not the machine.
    Kept,
    Lost,
    /// Each sector is kept or lost by chance, and so is the directory.
    Torn,
}

impl Disk {
    pub(super) fn take(&mut self, step: &Step) {
        match step {
            Step::Created { name } if !self.names.contains_key(name) => {
                self.names.insert(name.clone(), self.files.len());
                self.files.push(Content::default());
            }
            Step::Created { .. } | Step::Acknowledged(_) => {}
            Step::Wrote { name, at, bytes } => {
                self.change(name, Change::Wrote { at: *at, bytes: bytes.clone() });
            }
            Step::Cut { name, length } => self.change(name, Change::Cut { length: *length }),
            Step::Synced { name: Some(name) } => {
                let content = &mut self.files[self.names[name]];
                for change in content.changes.drain(..) {
                    change.apply(&mut content.synced, || true);
                }
            }
            Step::Synced { name: None } => self.synced_names.clone_from(&self.names),
            Step::Renamed { from, to } => {
                let file = self.names.remove(from).unwrap();
                self.names.insert(to.clone(), file);
            }
            Step::Removed { name } => drop(self.names.remove(name)),
        }
    }

    fn change(&mut self, name: &str, change: Change) {
        // The index of the log is of no use after a crash, and is made anew.
        if !name.ends_with("-shm") {
            self.files[self.names[name]].changes.push(change);
        }
    }

    /// Writes what is left after a crash into a directory.
    pub(super) fn leave(&self, directory: &Path, unsynced: Unsynced, chance: &mut Chance) {
        let names = match unsynced {
            Unsynced::Torn if chance.below(2) == 0 => &self.names,
            Unsynced::Kept => &self.names,
            Unsynced::Torn | Unsynced::Lost => &self.synced_names,
        };
        for (name, file) in names.iter().filter(|(name, _)| !name.ends_with("-shm")) {
            let content = &self.files[*file];
            let mut bytes = content.synced.clone();
            for change in &content.changes {
                change.apply(&mut bytes, || match unsynced {
                    Unsynced::Kept => true,
                    Unsynced::Lost => false,
                    Unsynced::Torn => chance.below(2) == 0,
                });
            }
            fs::write(directory.join(name), bytes).unwrap();
        }
    }
}

impl Change {
    /// Applies those sectors of it that were kept.
    fn apply(&self, content: &mut Vec<u8>, mut is_kept: impl FnMut() -> bool) {
        match self {
            Self::Cut { length } if is_kept() => content.resize(*length, 0),
            Self::Cut { .. } => {}
            Self::Wrote { at, bytes } => {
                let (mut from, end) = (*at, at + bytes.len());
                while from < end {
                    let until = end.min((from / SECTOR + 1) * SECTOR);
                    if is_kept() {
                        content.resize(content.len().max(until), 0);
                        content[from..until].copy_from_slice(&bytes[from - at..until - at]);
                    }
                    from = until;
                }
            }
        }
    }
}
