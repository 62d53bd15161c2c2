//! Compares the files of a working directory with a commit: changed, staged and new files.
//!
//! Git compares from a directory of our own (`aside`), with a copy of the index in which new files
//! are entered without content. So one comparison has all of it, renames included, and neither the
//! repository nor its index is written to.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::aside::Aside;
use super::call::{Call, GitError};
use super::patch::{Listed, read_list, read_patch};
use super::repository::Repository;
use crate::model::{DiffChange, DiffFile, FileHunks};

/// A larger file is not compared line by line: git calls it binary.
const COMPARED_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// New files that are listed; who has more has forgotten to ignore a directory.
const UNTRACKED_MAX: usize = 5000;

/// Files that are told of.
const FILES_MAX: usize = 10_000;

/// What git says of a file that is not there.
const NO_MODE: &str = "000000";

/// What all comparisons have in common. Nothing runs: no converter, no other program, and no git
/// inside of a submodule.
const HOW: &[&str] = &[
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--find-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// The files that differ from a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub files: Vec<DiffFile>,
    /// How many more there are.
    pub left_out: usize,
}

/// The hunks of some files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunks {
    pub files: Vec<FileHunks>,
    /// Those that would have been too much at once.
    pub rest: Vec<String>,
}

impl Repository {
    /// Returns the files that differ from a commit, or all of them, if there is none yet.
    pub fn difference(&self, base: Option<&str>) -> Result<Difference, GitError> {
        let sheet = Sheet::lay_out(self, base)?;
        let listed = sheet.list()?;
        let files = listed.iter().take(FILES_MAX).map(|file| sheet.tell(file));
        let mut files: Vec<DiffFile> = files.chain(sheet.strangers()).collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let left_out = listed.len().saturating_sub(FILES_MAX) + sheet.left_out;
        Ok(Difference { files, left_out })
    }

    /// Returns the hunks of some of these files, by the names that the list tells; those that no
    /// longer differ are left out.
    pub fn hunks(&self, base: Option<&str>, paths: &[String]) -> Result<Hunks, GitError> {
        let sheet = Sheet::lay_out(self, base)?;
        let is_wanted = |file: &&Listed| paths.contains(&shown(&file.path));
        let listed = sheet.list()?;
        let mut wanted: Vec<&Listed> = listed.iter().filter(is_wanted).collect();
        let mut rest = Vec::new();
        loop {
            match sheet.compare(&wanted) {
                Err(GitError::TooMuch { .. }) if wanted.len() > 1 => {
                    let cut = wanted.split_off(wanted.len() / 2);
                    rest.extend(cut.into_iter().map(|file| shown(&file.path)));
                }
                read => return Ok(Hunks { files: read?, rest }),
            }
        }
    }

    /// Returns the commit that somebody names, if there is one.
    pub fn commit(&self, name: &str) -> Result<Option<String>, GitError> {
        // A name that begins with a dash would be an option, and one with a zero in it ends there.
        if name.is_empty() || name.starts_with('-') || name.contains(char::is_control) {
            return Ok(None);
        }
        let commit =
            self.one_commit(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])?;
        // `^name` is understood as well: all that is not in it.
        Ok(commit.filter(|commit| commit.chars().all(|c| c.is_ascii_hexdigit())))
    }

    /// Returns the commit that was checked out at this second since 1970, as far as is known.
    pub fn head_at(&self, second: u64) -> Result<Option<String>, GitError> {
        self.commit(&format!("HEAD@{{{second} +0000}}"))
    }

    /// Returns where HEAD and another commit parted.
    pub fn parting(&self, other: &str) -> Result<Option<String>, GitError> {
        self.one_commit(&["merge-base", "--end-of-options", "HEAD", other])
    }

    /// Returns the branch that is checked out, unless that is a commit.
    pub fn branch(&self) -> Result<Option<String>, GitError> {
        self.one_commit(&["symbolic-ref", "--quiet", "--short", "HEAD"])
    }

    /// Returns the one line that git prints; nothing, if it fails without a word.
    fn one_commit(&self, words: &[&str]) -> Result<Option<String>, GitError> {
        match self.call().run(words) {
            Ok(line) => Ok(Some(String::from_utf8_lossy(&line).trim().to_owned())),
            Err(GitError::Failed { words, .. }) if words.is_empty() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// One comparison.
struct Sheet<'a> {
    repository: &'a Repository,
    aside: Aside,
    base: String,
    /// Files that git does not know yet.
    untracked: Vec<Vec<u8>>,
    /// Those of them that are too large: git would read all of such a file to give it a number.
    huge: Vec<Vec<u8>>,
    /// Repositories that lie in this one without being part of it.
    strangers: Vec<Vec<u8>>,
    left_out: usize,
}

impl<'a> Sheet<'a> {
    fn lay_out(repository: &'a Repository, base: Option<&str>) -> Result<Self, GitError> {
        let (found, settings) = (&repository.found, repository.settings()?);
        let head = repository.head()?;
        let mut aside = Aside::lay_out(found, &settings, head.as_deref())?;
        aside.copy_index(found)?;
        let base = base.map_or_else(|| aside.empty_tree().to_owned(), ToOwned::to_owned);
        let mut sheet = Self {
            repository,
            aside,
            base,
            untracked: Vec::new(),
            huge: Vec::new(),
            strangers: Vec::new(),
            left_out: 0,
        };
        sheet.enter_untracked()?;
        Ok(sheet)
    }

    fn call(&self) -> Call<'_> {
        let mut call = self.aside.call(&self.repository.found);
        let settings = [
            ("core.bigFileThreshold", COMPARED_BYTES_MAX.to_string()),
            ("core.quotePath", "true".to_owned()),
        ];
        call.settings.extend(settings.map(|(name, value)| (name.to_owned(), value)));
        // A name is a name, whatever signs are in it.
        call.variables.push(("GIT_LITERAL_PATHSPECS", "1".into()));
        call
    }

    /// Enters the files that git does not know into our index, so that they are compared, too.
    fn enter_untracked(&mut self) -> Result<(), GitError> {
        let others = ["ls-files", "-z", "--others", "--exclude-standard"];
        let listed = self.call().run(&others)?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let (strangers, mut files): (Vec<_>, Vec<_>) =
            names.map(<[u8]>::to_vec).partition(|name| name.ends_with(b"/"));
        self.left_out = files.len().saturating_sub(UNTRACKED_MAX);
        files.truncate(UNTRACKED_MAX);
        (self.strangers, self.untracked) = (strangers, files.clone());
        let (huge, files) = files.into_iter().partition(|name| self.is_huge(name));
        self.huge = huge;
        self.enter(&files)
    }

    fn enter(&self, files: &[Vec<u8>]) -> Result<(), GitError> {
        if files.is_empty() {
            return Ok(());
        }
        let mut entries = Vec::new();
        for name in files {
            entries.extend(format!("100644 {}\t", self.aside.empty_file()).into_bytes());
            entries.extend(name);
            entries.push(0);
        }
        let list = self.aside.write("entries", &entries)?;
        let call = Call { input: Some(list), ..self.call() };
        call.run(&["update-index", "-z", "--index-info"]).map(drop)
    }

    fn list(&self) -> Result<Vec<Listed>, GitError> {
        let how = ["--raw", "--numstat", "-z", "--abbrev=64", self.base.as_str(), "--"];
        let mut listed = read_list(&self.call().run(&[HOW, &how].concat())?);
        listed.extend(self.huge.iter().map(|path| Listed {
            path: path.clone(),
            old_path: None,
            change: DiffChange::Added,
            old_mode: NO_MODE.to_owned(),
            new_mode: "100644".to_owned(),
            objects: String::new(),
            added: None,
            removed: None,
        }));
        Ok(listed)
    }

    fn is_huge(&self, path: &[u8]) -> bool {
        let told = fs::symlink_metadata(self.place(path));
        told.is_ok_and(|told| told.is_file() && told.len() > COMPARED_BYTES_MAX)
    }

    fn place(&self, path: &[u8]) -> PathBuf {
        self.repository.found.top.join(OsStr::from_bytes(path))
    }

    fn compare(&self, files: &[&Listed]) -> Result<Vec<FileHunks>, GitError> {
        let (huge, files): (Vec<&Listed>, Vec<&Listed>) =
            files.iter().partition(|file| self.is_huge(&file.path));
        let uncompared = |file: &Listed| {
            let path = shown(&file.path);
            FileHunks { path, is_binary: true, ..FileHunks::default() }
        };
        let huge = huge.into_iter().map(uncompared);
        if files.is_empty() {
            return Ok(huge.collect());
        }
        let how = ["--patch", "--unified=3", self.base.as_str(), "--"];
        let names = files.iter().flat_map(|file| file.old_path.iter().chain([&file.path]));
        let words: Vec<&OsStr> = HOW.iter().chain(&how).map(OsStr::new).collect();
        let names: Vec<&OsStr> = names.map(|name| OsStr::from_bytes(name)).collect();
        let mut read = read_patch(&self.call().run(&[words, names].concat())?);
        let is_one = |path: &Vec<u8>| files.iter().any(|file| file.path == *path);
        read.retain(|(path, _)| is_one(path));
        Ok(read.into_iter().map(|(_, file)| file).chain(huge).collect())
    }

    fn tell(&self, file: &Listed) -> DiffFile {
        let told = fs::symlink_metadata(self.place(&file.path));
        let mut hasher = DefaultHasher::new();
        (&file.objects, &file.old_mode, &file.new_mode, &file.old_path).hash(&mut hasher);
        let mut note = None;
        if let Ok(told) = &told {
            let times = (told.mtime(), told.mtime_nsec(), told.ctime(), told.ctime_nsec());
            (told.len(), times).hash(&mut hasher);
            if told.is_file() && told.len() > COMPARED_BYTES_MAX {
                note = Some(format!("{} MiB: too large to compare", told.len() / (1024 * 1024)));
            }
        }
        let is_module = [&file.old_mode, &file.new_mode].iter().any(|mode| *mode == "160000");
        let note = note.or_else(|| is_module.then(|| "a submodule".to_owned()));
        let binary = || file.added.is_none().then(|| "binary".to_owned());
        let mode = |mode: &str| (mode != NO_MODE).then(|| mode.to_owned());
        DiffFile {
            path: shown(&file.path),
            old_path: file.old_path.as_ref().map(|path| shown(path)),
            change: file.change,
            old_mode: mode(&file.old_mode),
            new_mode: mode(&file.new_mode),
            added: file.added,
            removed: file.removed,
            is_untracked: self.untracked.contains(&file.path),
            note: note.or_else(binary),
            stamp: format!("{:016x}", hasher.finish()),
        }
    }

    /// Returns the repositories that lie in this one: what is in them is not compared.
    fn strangers(&self) -> impl Iterator<Item = DiffFile> {
        self.strangers.iter().map(|path| DiffFile {
            path: shown(path),
            old_path: None,
            change: DiffChange::Added,
            old_mode: None,
            new_mode: None,
            added: None,
            removed: None,
            is_untracked: true,
            note: Some("a repository of its own".to_owned()),
            stamp: String::new(),
        })
    }
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}
