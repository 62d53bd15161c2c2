//! Parses what git prints about differences: lists of files, and patches.

use std::collections::BTreeMap;

use crate::model::{DiffChange, DiffLine, FileHunks, Hunk};

/// A longer line is not written by hand, and nobody reads it to its end.
const LINE_BYTES_MAX: usize = 4096;

/// Lines told of one file; what follows is cut.
pub(super) const FILE_LINES_MAX: usize = 20_000;

/// One file of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) path: Vec<u8>,
    pub(super) old_path: Option<Vec<u8>>,
    pub(super) change: DiffChange,
    pub(super) old_mode: String,
    pub(super) new_mode: String,
    /// What git calls the contents; zeros for those that it has not read.
    pub(super) objects: String,
    pub(super) added: Option<u64>,
    pub(super) removed: Option<u64>,
}

/// Reads what `git diff --raw --numstat -z` prints.
pub(super) fn read_list(printed: &[u8]) -> Vec<Listed> {
    let mut words = printed.split(|byte| *byte == 0).filter(|word| !word.is_empty()).peekable();
    let mut files = Vec::new();
    while let Some(word) = words.next_if(|word| word.starts_with(b":")) {
        let told = String::from_utf8_lossy(&word[1..]).into_owned();
        let parts: Vec<&str> = told.split(' ').collect();
        let [old_mode, new_mode, old, new, letter] = parts[..] else { break };
        let change = match letter.bytes().next() {
            Some(b'A') => DiffChange::Added,
            Some(b'D') => DiffChange::Deleted,
            Some(b'R') => DiffChange::Renamed,
            Some(b'T') => DiffChange::Retyped,
            Some(b'U') => DiffChange::Unmerged,
            Some(_) | None => DiffChange::Modified,
        };
        let Some(first) = words.next().map(<[u8]>::to_vec) else { break };
        let second = if change == DiffChange::Renamed { words.next() } else { None };
        let (path, old_path) = match second {
            Some(second) => (second.to_vec(), Some(first)),
            None => (first, None),
        };
        let objects = format!("{old} {new}");
        let (old_mode, new_mode) = (old_mode.to_owned(), new_mode.to_owned());
        let (added, removed) = (None, None);
        files.push(Listed { path, old_path, change, old_mode, new_mode, objects, added, removed });
    }
    let counts = read_counts(words);
    for file in &mut files {
        if let Some((added, removed)) = counts.get(&file.path) {
            (file.added, file.removed) = (*added, *removed);
        }
    }
    // A file in conflict is listed as such, and once more with what is there now.
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files.dedup_by(|next, kept| {
        let is_same = next.path == kept.path;
        if is_same && kept.change == DiffChange::Unmerged {
            std::mem::swap(next, kept);
            kept.change = DiffChange::Unmerged;
        }
        is_same
    });
    files
}

type Counts = BTreeMap<Vec<u8>, (Option<u64>, Option<u64>)>;

fn read_counts<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Counts {
    let mut counts = Counts::new();
    while let Some(word) = words.next() {
        let mut parts = word.splitn(3, |byte| *byte == b'\t');
        let mut number = || String::from_utf8_lossy(parts.next()?).parse().ok();
        let counted = (number(), number());
        let path = match parts.next() {
            Some(path) if !path.is_empty() => path,
            // A file that was renamed: both names follow.
            Some(_) => match (words.next(), words.next()) {
                (Some(_), Some(new)) => new,
                (Some(_) | None, Some(_) | None) => break,
            },
            None => break,
        };
        counts.insert(path.to_vec(), counted);
    }
    counts
}

/// Reads a patch that git prints with the prefixes `a/` and `b/`. A file of which it holds two
/// parts, because it was a file and is a link now, comes as one.
pub(super) fn read_patch(printed: &[u8]) -> Vec<(Vec<u8>, FileHunks)> {
    let mut reader = Reader::default();
    for line in printed.split_inclusive(|byte| *byte == b'\n') {
        reader.take(line.strip_suffix(b"\n").unwrap_or(line));
    }
    let mut files: Vec<(Vec<u8>, FileHunks)> = Vec::new();
    for (path, part) in reader.files {
        match files.last_mut().filter(|(last, _)| *last == path) {
            Some((_, file)) => {
                file.is_binary |= part.is_binary;
                file.is_cut |= part.is_cut;
                file.hunks.extend(part.hunks);
            }
            None => files.push((path, part)),
        }
    }
    files
}

#[derive(Debug, Default)]
struct Reader {
    files: Vec<(Vec<u8>, FileHunks)>,
    /// Lines of this hunk that are still to come, before and after.
    left: (u64, u64),
    /// The numbers of the next ones.
    next: (u64, u64),
    lines: usize,
}

impl Reader {
    fn take(&mut self, line: &[u8]) {
        if self.left != (0, 0) {
            return self.take_line(line);
        }
        if line.starts_with(b"\\") {
            return self.end_in_the_middle();
        }
        if let Some(names) = line.strip_prefix(b"diff --git ") {
            let path = second_name(names).unwrap_or_default();
            let shown = String::from_utf8_lossy(&path).into_owned();
            self.files.push((path, FileHunks { path: shown, ..FileHunks::default() }));
            self.lines = 0;
            return;
        }
        let Some((path, file)) = self.files.last_mut() else { return };
        let renamed = line.strip_prefix(b"rename to ").map(unquoted);
        let named = line.strip_prefix(b"+++ ").map(|name| unquoted(trimmed(name)));
        let named = named.and_then(|name| name.strip_prefix(b"b/").map(<[u8]>::to_vec));
        if let Some(name) = renamed.or(named) {
            file.path = String::from_utf8_lossy(&name).into_owned();
            *path = name;
        } else if line.starts_with(b"Binary files ") {
            file.is_binary = true;
        } else if let Some(hunk) = line.strip_prefix(b"@@ ").and_then(head_of_hunk) {
            self.left = (hunk.old_count, hunk.new_count);
            self.next = (hunk.old_start, hunk.new_start);
            if self.lines < FILE_LINES_MAX {
                file.hunks.push(hunk);
            } else {
                file.is_cut = true;
            }
        }
    }

    fn take_line(&mut self, line: &[u8]) {
        let (sign, text) = match line.split_first() {
            Some((b'\\', _)) => return self.end_in_the_middle(),
            Some((sign, text)) => (*sign, text),
            None => (b' ', line),
        };
        let is_old = sign != b'+';
        let is_new = sign != b'-';
        let mut read = DiffLine::default();
        if is_old {
            read.old = Some(self.next.0);
            self.next.0 += 1;
            self.left.0 = self.left.0.saturating_sub(1);
        }
        if is_new {
            read.new = Some(self.next.1);
            self.next.1 += 1;
            self.left.1 = self.left.1.saturating_sub(1);
        }
        let Some((_, file)) = self.files.last_mut() else { return };
        self.lines += 1;
        if self.lines > FILE_LINES_MAX {
            file.is_cut = true;
            return;
        }
        let kept = text.get(..LINE_BYTES_MAX);
        read.is_cut = kept.is_some_and(|kept| kept.len() < text.len());
        read.text = String::from_utf8_lossy(kept.unwrap_or(text)).into_owned();
        if let Some(hunk) = file.hunks.last_mut() {
            hunk.lines.push(read);
        }
    }

    /// Takes note that the file of the last line ends without a new line.
    fn end_in_the_middle(&mut self) {
        let hunk = self.files.last_mut().and_then(|(_, file)| file.hunks.last_mut());
        let is_told = self.lines <= FILE_LINES_MAX;
        if let Some(line) = hunk.and_then(|hunk| hunk.lines.last_mut()).filter(|_| is_told) {
            line.lacks_newline = true;
        }
    }
}

/// Reads `-1,2 +3,4 @@ heading`.
fn head_of_hunk(line: &[u8]) -> Option<Hunk> {
    let line = String::from_utf8_lossy(line);
    let (ranges, heading) = line.split_once(" @@")?;
    let (old, new) = ranges.split_once(' ')?;
    let range = |text: &str| -> Option<(u64, u64)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let (old_start, old_count) = range(old.strip_prefix('-')?)?;
    let (new_start, new_count) = range(new.strip_prefix('+')?)?;
    let heading = heading.trim().to_owned();
    Some(Hunk { old_start, old_count, new_start, new_count, heading, lines: Vec::new() })
}

/// Returns the second of the names `a/… b/…`. Where neither is quoted, both are the same, or the
/// lines that follow tell the second one.
fn second_name(names: &[u8]) -> Option<Vec<u8>> {
    let second = if names.ends_with(b"\"") {
        let inner = names.len().checked_sub(1)?;
        let begins = |at: &usize| names[*at] == b'"' && (*at == 0 || names[at - 1] == b' ');
        unquoted(&names[(0..inner).rev().find(begins)?..])
    } else {
        names.get(names.len().div_ceil(2)..)?.to_vec()
    };
    second.strip_prefix(b"b/").map(<[u8]>::to_vec)
}

/// A name that holds a space is followed by a tab, so that older programs find its end.
fn trimmed(name: &[u8]) -> &[u8] {
    name.strip_suffix(b"\t").unwrap_or(name)
}

/// Returns a name as it is, where git wrote it in quotes.
fn unquoted(name: &[u8]) -> Vec<u8> {
    let inner = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\""));
    let Some(inner) = inner else { return name.to_vec() };
    let mut read = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let Some((escaped, after)) = after.split_first().filter(|_| *first == b'\\') else {
            read.push(*first);
            continue;
        };
        let digits = rest.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            read.push(byte);
            rest = &rest[3..];
            continue;
        }
        read.push(match escaped {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            other => *other,
        });
        rest = after;
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(hunk: &Hunk) -> Vec<String> {
        let number = |one: Option<u64>| one.map(|one| one.to_string()).unwrap_or_default();
        let told = |line: &DiffLine| {
            format!("{}:{} {}{}", number(line.old), number(line.new), line.sign(), line.text)
        };
        hunk.lines.iter().map(told).collect()
    }

    #[test]
    fn a_list_gives_names_of_any_form_with_their_counts() {
        let printed = b":100644 100755 aa 00 M\0a\nb\0:100644 100644 bb bb R100\0old\0n ew\0\
            :000000 100644 00 cc A\0:x\0:100644 100644 dd 00 M\0bin\0\
            1\t2\ta\nb\x000\t0\t\0old\0n ew\x003\t0\t:x\0-\t-\tbin\0";
        let files = read_list(printed);
        let told: Vec<_> = files
            .iter()
            .map(|file| {
                let path = String::from_utf8_lossy(&file.path).into_owned();
                (path, file.change.letter(), file.added, file.removed)
            })
            .collect();
        let one = |path: &str, letter, added, removed| (path.to_owned(), letter, added, removed);
        assert_eq!(
            told,
            [
                one(":x", 'A', Some(3), Some(0)),
                one("a\nb", 'M', Some(1), Some(2)),
                one("bin", 'M', None, None),
                one("n ew", 'R', Some(0), Some(0)),
            ]
        );
        assert_eq!(files[3].old_path.as_deref(), Some(&b"old"[..]));
        assert_eq!((files[1].old_mode.as_str(), files[1].new_mode.as_str()), ("100644", "100755"));
        assert_eq!(read_list(b""), []);
        assert_eq!(read_list(b":nonsense\0x\0"), []);
    }

    #[test]
    fn a_file_in_conflict_is_listed_once() {
        let printed = b":100644 000000 aa 00 U\0f\0:100644 100644 aa 00 M\0f\x004\t0\tf\0";
        let files = read_list(printed);
        assert_eq!(files.len(), 1);
        assert_eq!((files[0].change, files[0].added), (DiffChange::Unmerged, Some(4)));
        assert_eq!(files[0].new_mode, "100644");
    }

    #[test]
    fn a_patch_gives_each_line_its_numbers() {
        let printed = b"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n\
            @@ -1,3 +1,3 @@ fn main() {\n one\n-two\n-- three\n+2\n+++ 3\n\
            @@ -9 +9,0 @@\n-last\n\\ No newline at end of file\n";
        let files = read_patch(printed);
        let hunks = &files[0].1.hunks;
        assert_eq!(lines(&hunks[0]), ["1:1  one", "2: -two", "3: -- three", ":2 +2", ":3 +++ 3"]);
        assert_eq!(lines(&hunks[1]), ["9: -last"]);
        assert_eq!(
            (hunks[0].heading.as_str(), hunks[1].lines[0].lacks_newline),
            ("fn main() {", true)
        );
        assert_eq!(hunks[1].to_string(), "@@ -9,1 +9,0 @@");
    }

    #[test]
    fn names_are_read_back_however_git_writes_them() {
        let printed = b"diff --git \"a/q\\\"\\303\\274\\n\" \"b/q\\\"\\303\\274\\n\"\n\
            old mode 100644\nnew mode 100755\n\
            diff --git a/a b/x b/a b/x\nold mode 100644\nnew mode 100755\n\
            diff --git a/from b/to more\nsimilarity index 100%\nrename from from\nrename to to more\n\
            diff --git a/sp ace b/sp ace\n--- a/sp ace\t\n+++ b/sp ace\t\n@@ -0,0 +1 @@\n+x\r\n\
            diff --git a/bin b/bin\nBinary files a/bin and b/bin differ\n";
        let files = read_patch(printed);
        let names: Vec<_> = files.iter().map(|(_, file)| file.path.as_str()).collect();
        assert_eq!(names, ["q\"ü\n", "a b/x", "to more", "sp ace", "bin"]);
        assert_eq!(files[3].1.hunks[0].lines[0].text, "x\r");
        assert!(files[4].1.is_binary && !files[3].1.is_binary);
    }

    #[test]
    fn what_is_endless_is_cut_and_says_so() {
        let long = "y".repeat(LINE_BYTES_MAX + 1);
        let many = FILE_LINES_MAX + 5;
        let head = format!("diff --git a/x b/x\n+++ b/x\n@@ -0,0 +1,{many} @@\n+{long}\n");
        let mut printed = head;
        printed.push_str(&"+z\n".repeat(many - 1));
        printed.push_str("\\ No newline at end of file\ndiff --git a/y b/y\n@@ -1 +1 @@\n-1\n+2\n");
        let files = read_patch(printed.as_bytes());
        let first = &files[0].1;
        assert!(first.is_cut && first.hunks[0].lines[0].is_cut);
        assert_eq!(first.hunks[0].lines.len(), FILE_LINES_MAX);
        assert_eq!(first.hunks[0].lines[0].text.len(), LINE_BYTES_MAX);
        assert!(!first.hunks[0].lines.iter().any(|line| line.lacks_newline));
        assert_eq!((files[1].1.is_cut, files[1].1.hunks[0].lines.len()), (false, 2));
    }

    #[test]
    fn nonsense_is_read_as_nothing_and_not_as_a_panic() {
        for nonsense in [
            "",
            "\n\n",
            "@@ -1 +1 @@\n",
            "diff --git \n@@ -x +1 @@\n+a",
            "\\ No\n+++ b/",
            "diff --git \"\n",
        ] {
            let read = read_patch(nonsense.as_bytes());
            assert!(read.iter().all(|(_, file)| file.hunks.is_empty()), "{nonsense}: {read:?}");
        }
    }
}
