//! Tests comparisons of real repositories with real git.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::planted::git;
use super::{Difference, Repository};
use crate::model::{DiffChange, DiffFile, FileHunks};

/// A repository with one commit.
struct Work {
    home: TempDir,
}

impl Work {
    fn new(files: &[(&str, &str)]) -> Self {
        let work = Self { home: tempfile::tempdir().unwrap() };
        fs::create_dir(work.root()).unwrap();
        work.git(&["init", "-q", "-b", "main"]);
        for (name, text) in files {
            work.write(name, text);
        }
        work.commit();
        work
    }

    fn root(&self) -> PathBuf {
        self.home.path().join("work")
    }

    fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, words: &[&str]) {
        assert!(git(&self.root(), words), "{words:?}");
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    }

    fn repository(&self) -> Repository {
        Repository::find(&self.root()).unwrap()
    }

    fn difference(&self) -> Difference {
        let repository = self.repository();
        let head = repository.head().unwrap();
        repository.difference(head.as_deref()).unwrap()
    }

    fn hunks(&self, path: &str) -> FileHunks {
        let repository = self.repository();
        let head = repository.head().unwrap();
        let mut read = repository.hunks(head.as_deref(), &[path.to_owned()]).unwrap().files;
        assert_eq!(read.len(), 1, "{path}");
        read.remove(0)
    }
}

fn told(file: &DiffFile) -> String {
    let count = |one: Option<u64>| one.map_or_else(|| "-".to_owned(), |one| one.to_string());
    let old = file.old_path.as_ref().map(|old| format!(" from {old}")).unwrap_or_default();
    let (letter, path) = (file.change.letter(), &file.path);
    let new = if file.is_untracked { "?" } else { "" };
    format!("{letter}{new} +{} -{} {path}{old}", count(file.added), count(file.removed))
}

fn all(difference: &Difference) -> Vec<String> {
    difference.files.iter().map(told).collect()
}

fn lines(hunks: &FileHunks) -> Vec<String> {
    let all = hunks.hunks.iter().flat_map(|hunk| &hunk.lines);
    let told = all.map(|line| {
        let end = if line.lacks_newline { "$" } else { "" };
        format!("{}{}{end}", line.sign(), line.text)
    });
    told.collect()
}

#[test]
fn what_is_staged_unstaged_and_new_is_one_difference() {
    let work = Work::new(&[("staged", "1\n"), ("both", "1\n"), ("gone", "1\n"), ("same", "1\n")]);
    work.write("staged", "2\n");
    work.write("both", "2\n");
    work.git(&["add", "staged", "both"]);
    work.write("both", "2\n3\n");
    work.git(&["rm", "-q", "gone"]);
    work.write("dir/new", "a\nb\n");
    let index = fs::read(work.root().join(".git/index")).unwrap();
    assert_eq!(
        all(&work.difference()),
        ["M +2 -1 both", "A? +2 -0 dir/new", "D +0 -1 gone", "M +1 -1 staged"]
    );
    assert_eq!(lines(&work.hunks("both")), ["-1", "+2", "+3"]);
    assert_eq!(lines(&work.hunks("dir/new")), ["+a", "+b"]);
    assert_eq!(fs::read(work.root().join(".git/index")).unwrap(), index, "its index is as it was");
}

#[test]
fn a_file_that_was_moved_is_found_again_though_git_was_not_told() {
    let text = "one\ntwo\nthree\nfour\nfive\nsix\n";
    let work = Work::new(&[("old name", text)]);
    fs::rename(work.root().join("old name"), work.root().join("new name")).unwrap();
    assert_eq!(all(&work.difference()), ["R? +0 -0 new name from old name"]);
    work.write("new name", text.replace("six", "seven"));
    assert_eq!(all(&work.difference()), ["R? +1 -1 new name from old name"]);
    let changed: Vec<_> = lines(&work.hunks("new name"));
    assert_eq!(changed[3..], ["-six", "+seven"]);
}

#[test]
fn every_kind_of_file_and_name_is_told() {
    let names = ["q\"uo\\te", "new\nline", "ünï", " space ", "-dash", ":(top)x", "*"];
    let files: Vec<_> = names.iter().map(|name| (*name, "1\n")).collect();
    let work = Work::new(&files);
    for name in names {
        work.write(name, "2\n");
    }
    let difference = work.difference();
    assert_eq!(difference.files.len(), names.len());
    for name in names {
        assert_eq!(lines(&work.hunks(name)), ["-1", "+2"], "{name}");
    }
    work.write(std::ffi::OsStr::from_bytes(b"bad\xff"), b"x\xff\n");
    assert_eq!(lines(&work.hunks("bad\u{fffd}")), ["+x\u{fffd}"]);
}

#[test]
fn links_modes_binaries_and_ends_of_lines_are_told() {
    let work = Work::new(&[
        ("mode", "1\n"),
        ("crlf", "a\r\nb\r\n"),
        ("end", "no end"),
        ("bin", "\0\u{1}"),
        ("link", "x"),
        ("empty", ""),
    ]);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(work.root().join("mode"), executable).unwrap();
    work.write("crlf", "a\nb\r\n");
    work.write("end", "an end\n");
    work.write("bin", "\0\u{2}");
    work.write("new empty", "");
    fs::remove_file(work.root().join("link")).unwrap();
    symlink("elsewhere", work.root().join("link")).unwrap();
    symlink("mode", work.root().join("new link")).unwrap();
    let difference = work.difference();
    assert_eq!(
        all(&difference),
        [
            "M +- -- bin",
            "M +1 -1 crlf",
            "M +1 -1 end",
            "T +1 -1 link",
            "M +0 -0 mode",
            "A? +0 -0 new empty",
            "A? +1 -0 new link",
        ]
    );
    let file = |path: &str| difference.files.iter().find(|file| file.path == path).unwrap();
    assert_eq!(file("bin").note.as_deref(), Some("binary"));
    let modes = (file("mode").old_mode.as_deref(), file("mode").new_mode.as_deref());
    assert_eq!(modes, (Some("100644"), Some("100755")));
    assert_eq!(file("new link").new_mode.as_deref(), Some("120000"));
    assert!(work.hunks("bin").is_binary && work.hunks("mode").hunks.is_empty());
    assert_eq!(lines(&work.hunks("crlf")), ["-a\r", "+a", " b\r"]);
    assert_eq!(lines(&work.hunks("end")), ["-no end$", "+an end"]);
    assert_eq!(lines(&work.hunks("link")), ["-x$", "+elsewhere$"]);
    assert_eq!(lines(&work.hunks("new link")), ["+mode$"]);
}

#[test]
fn a_directory_in_the_place_of_a_file_and_the_reverse() {
    let work = Work::new(&[("x", "1\n"), ("y/a", "1\n")]);
    fs::remove_file(work.root().join("x")).unwrap();
    work.write("x/inner", "other\n");
    fs::remove_dir_all(work.root().join("y")).unwrap();
    work.write("y", "plain\n");
    let told = all(&work.difference());
    assert_eq!(told, ["D +0 -1 x", "A? +1 -0 x/inner", "A? +1 -0 y", "D +0 -1 y/a"]);
}

#[test]
fn a_submodule_tells_its_commit_and_a_repository_inside_is_named() {
    let work = Work::new(&[("a", "1\n")]);
    for name in ["module", "stranger"] {
        fs::create_dir(work.root().join(name)).unwrap();
        assert!(git(&work.root().join(name), &["init", "-q"]));
        work.write(format!("{name}/inner"), "1\n");
    }
    let inside = work.root().join("module");
    assert!(git(&inside, &["add", "--all"]) && git(&inside, &["commit", "-qm", "one"]));
    work.git(&["add", "module"]);
    work.git(&["commit", "-qm", "two"]);
    work.write("module/inner", "2\n");
    assert_eq!(all(&work.difference()), ["A? +- -- stranger/"], "what is in it is its own");
    assert!(git(&inside, &["commit", "-qam", "two"]));
    let difference = work.difference();
    assert_eq!(all(&difference), ["M +1 -1 module", "A? +- -- stranger/"]);
    assert_eq!(difference.files[0].note.as_deref(), Some("a submodule"));
    assert!(lines(&work.hunks("module"))[1].starts_with("+Subproject commit "));
}

#[test]
fn a_huge_file_is_named_and_not_read() {
    let work = Work::new(&[("a", "1\n")]);
    let file = fs::File::create(work.root().join("huge")).unwrap();
    file.set_len(3 * 1024 * 1024 * 1024).unwrap();
    let difference = work.difference();
    assert_eq!(all(&difference), ["A? +- -- huge"]);
    assert_eq!(difference.files[0].note.as_deref(), Some("3072 MiB: too large to compare"));
    assert!(work.hunks("huge").is_binary);
}

#[test]
fn a_difference_to_an_older_commit_holds_what_was_committed_since() {
    let work = Work::new(&[("a", "1\n")]);
    let repository = work.repository();
    let base = repository.head().unwrap().unwrap();
    work.write("a", "2\n");
    work.commit();
    work.write("b", "1\n");
    assert_eq!(all(&work.difference()), ["A? +1 -0 b"]);
    let since = repository.difference(Some(&base)).unwrap();
    assert_eq!(all(&since), ["M +1 -1 a", "A? +1 -0 b"]);
    assert_eq!(repository.commit("HEAD~1").unwrap(), Some(base.clone()));
    assert_eq!(repository.commit("nowhere").unwrap(), None);
    assert_eq!(repository.commit("--all").unwrap(), None);
    assert_eq!(repository.branch().unwrap().as_deref(), Some("main"));
    work.git(&["checkout", "-q", "-b", "own", &base]);
    assert_eq!(repository.parting("main").unwrap(), Some(base));
    let second = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    assert_eq!(repository.head_at(second + 1).unwrap(), repository.head().unwrap());
}

#[test]
fn a_repository_without_a_commit_differs_by_all_that_is_there() {
    for format in ["sha1", "sha256"] {
        let work = Work { home: tempfile::tempdir().unwrap() };
        fs::create_dir(work.root()).unwrap();
        work.git(&["init", "-q", &format!("--object-format={format}")]);
        work.write("staged", "1\n");
        work.git(&["add", "staged"]);
        work.write("new", "1\n");
        assert_eq!(all(&work.difference()), ["A? +1 -0 new", "A +1 -0 staged"], "{format}");
        assert_eq!(lines(&work.hunks("new")), ["+1"]);
    }
}

#[test]
fn a_stamp_is_another_once_the_file_is() {
    let work = Work::new(&[("a", "1\n"), ("b", "1\n")]);
    work.write("a", "22\n");
    work.write("b", "2\n");
    let before = work.difference();
    assert_eq!(work.difference(), before);
    work.write("a", "333\n");
    let after = work.difference();
    assert_ne!(after.files[0].stamp, before.files[0].stamp);
    assert_eq!(after.files[1], before.files[1]);
    assert_eq!(after.files[0].change, DiffChange::Modified);
}

#[test]
fn a_conflict_and_a_split_index_are_read_as_well() {
    let work = Work::new(&[("f", "1\n")]);
    work.git(&["checkout", "-q", "-b", "other"]);
    work.write("f", "2\n");
    work.commit();
    work.git(&["checkout", "-q", "main"]);
    work.write("f", "3\n");
    work.commit();
    assert!(!git(&work.root(), &["merge", "-q", "other"]));
    let difference = work.difference();
    assert_eq!(difference.files.len(), 1);
    assert_eq!((difference.files[0].path.as_str(), difference.files[0].added), ("f", Some(4)));
    work.git(&["merge", "--abort"]);
    work.git(&["update-index", "--split-index"]);
    work.write("f", "4\n");
    work.write("new", "1\n");
    assert_eq!(all(&work.difference()), ["M +1 -1 f", "A? +1 -0 new"]);
}
