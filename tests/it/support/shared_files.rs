//! Files that simulated agents change, each other's too, and what a look at them tells.

use std::collections::BTreeMap;

use wheelhouse::model::FileChange;

use super::chance::Chance;
use super::team::OWNERS;

/// One file of each owner: as it is, and as it was when it was last looked at.
#[derive(Clone)]
pub(crate) struct SharedFiles {
    now: BTreeMap<String, u64>,
    seen: BTreeMap<String, u64>,
}

impl SharedFiles {
    pub(crate) fn new() -> Self {
        let now: BTreeMap<_, _> = OWNERS.iter().map(|owner| (format!("{owner}/a.rs"), 0)).collect();
        Self { seen: now.clone(), now }
    }

    /// An agent changes files, its own or not; one that is told to puts them back.
    pub(crate) fn write(&mut self, prompt: &str, random: &mut Chance, is_calm: bool) {
        let is_told = prompt.contains("Undo what");
        for content in self.now.values_mut() {
            if is_told && (is_calm || random.percent(50)) {
                *content = 0;
            } else if !is_calm && random.percent(15) {
                *content = random.below(3);
            }
        }
    }

    pub(crate) fn look(&mut self) -> Vec<FileChange> {
        let before = std::mem::replace(&mut self.seen, self.now.clone());
        let number = |files: &BTreeMap<String, u64>, path: &String| {
            files.get(path).filter(|content| **content > 0).map(ToString::to_string)
        };
        let changes = self.now.keys().map(|path| FileChange {
            path: path.clone(),
            before: number(&before, path),
            after: number(&self.now, path),
        });
        changes.filter(|change| change.before != change.after).collect()
    }
}
