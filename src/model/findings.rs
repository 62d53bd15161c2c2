//! What was found in a workspace, and whether it may be removed.

use std::fmt::Display;

use super::Clearing;

/// Begins the reason for which a workspace is kept whose directory is missing: it may lie on a disk
/// that is away, or somebody has moved it.
pub const DIRECTORY_MISSING: &str = "its directory is not there, or is empty";

/// Names that a reason gives; more would not be read.
const NAMED_MAX: usize = 3;

/// What was found in a workspace at the moment of its removal. Empty: there is no work in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Tracked files that differ from the last commit, in the index or on disk.
    pub changed: Vec<String>,
    /// Tracked files that are missing.
    pub missing: Vec<String>,
    pub untracked: Vec<String>,
    /// Files that git was told to ignore, and that nobody called disposable.
    pub ignored: Vec<String>,
    /// Commits that no reference holds beside its own branch.
    pub commits: usize,
    /// Commits that only the log of its HEAD knows.
    pub stranded: usize,
    /// What no rescue ref can hold.
    pub obstacles: Vec<String>,
    /// Where its directory should be, if it is not there: what was in it is not known.
    pub absent_from: Option<String>,
}

impl Findings {
    /// Returns why the workspace stays; nothing, if all that is in it may go.
    pub fn reason_to_keep(&self, clearing: Clearing) -> Option<String> {
        if !self.obstacles.is_empty() {
            return Some(self.obstacles.join("; "));
        }
        if let Some(place) = &self.absent_from {
            let may_go = clearing.accepts_missing || clearing.is_unfinished;
            return (!may_go).then(|| format!("{DIRECTORY_MISSING}: {place}"));
        }
        let work = self.work(clearing);
        (!clearing.rescues && !work.is_empty()).then(|| work.join("; "))
    }

    /// Returns what would have to be rescued, in words.
    pub fn work(&self, clearing: Clearing) -> Vec<String> {
        let missing = if clearing.is_unfinished { &[][..] } else { &self.missing };
        let ignored = if clearing.drops_ignored { &[][..] } else { &self.ignored };
        let files = [
            (&self.changed[..], "changed"),
            (missing, "deleted"),
            (&self.untracked, "new"),
            (ignored, "ignored"),
        ];
        let named = files.into_iter().filter(|(files, _)| !files.is_empty());
        let mut work: Vec<String> = named.map(|(files, word)| told(files, word)).collect();
        let commits =
            [(self.commits, "that are not merged"), (self.stranded, "that are on no branch")];
        for (count, which) in commits.into_iter().filter(|(count, _)| *count > 0) {
            let noun = if count == 1 { "commit" } else { "commits" };
            work.push(format!("{count} {noun} {which}"));
        }
        work
    }
}

fn told(files: &[impl Display], word: &str) -> String {
    let noun = if files.len() == 1 { "file" } else { "files" };
    let named: Vec<String> = files.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    let more = if files.len() > NAMED_MAX { ", …" } else { "" };
    format!("{} {word} {noun}: {}{more}", files.len(), named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_work_stays_unless_it_is_rescued_and_what_cannot_be_rescued_stays_always() {
        let names = |count: usize| (0..count).map(|n| format!("f{n}")).collect::<Vec<_>>();
        let plain = Clearing::default();
        let rescues = Clearing { rescues: true, ..plain };
        assert_eq!(Findings::default().reason_to_keep(plain), None);
        let work =
            Findings { changed: names(1), untracked: names(4), commits: 2, ..Findings::default() };
        assert_eq!(
            work.reason_to_keep(plain).unwrap(),
            "1 changed file: f0; 4 new files: f0, f1, f2, …; 2 commits that are not merged"
        );
        assert_eq!(work.reason_to_keep(rescues), None);
        let stuck = Findings { obstacles: vec!["a merge is not finished".to_owned()], ..work };
        assert!(stuck.reason_to_keep(rescues).is_some());
    }

    #[test]
    fn only_what_was_never_finished_may_lack_files_and_only_a_person_drops_what_is_ignored() {
        let found = Findings { missing: vec!["a".to_owned()], ..Findings::default() };
        assert!(found.reason_to_keep(Clearing::default()).is_some());
        let unfinished = Clearing { is_unfinished: true, ..Clearing::default() };
        assert_eq!(found.reason_to_keep(unfinished), None);
        let found = Findings { ignored: vec![".env".to_owned()], ..Findings::default() };
        assert!(found.reason_to_keep(unfinished).is_some());
        let dropped = Clearing { drops_ignored: true, ..Clearing::default() };
        assert_eq!(found.reason_to_keep(dropped), None);
    }

    #[test]
    fn a_directory_that_is_missing_is_not_an_empty_one() {
        let found = Findings { absent_from: Some("/w".to_owned()), ..Findings::default() };
        let rescues = Clearing { rescues: true, is_repeated: true, ..Clearing::default() };
        for clearing in [Clearing::default(), rescues] {
            let reason = found.reason_to_keep(clearing).unwrap();
            assert_eq!(reason, "its directory is not there, or is empty: /w");
        }
        let accepted = Clearing { accepts_missing: true, ..Clearing::default() };
        let unmade = Clearing { is_unfinished: true, ..Clearing::default() };
        for clearing in [accepted, unmade] {
            assert_eq!(found.reason_to_keep(clearing), None);
        }
    }
}
