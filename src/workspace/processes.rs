//! Finds the processes that run in a directory.

use std::fs;
use std::path::Path;

/// Returns the processes whose working directory lies in this one, as far as they can be seen. The git
/// of our own that looks into it meanwhile is none of them: nothing of it stays.
pub(super) fn inhabitants(root: &Path) -> Vec<String> {
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    // Elsewhere than on Linux there is no such list, and the run that ended was proven to be empty.
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.file_name();
        let Some(pid) = name.to_str().filter(|name| name.chars().all(|c| c.is_ascii_digit()))
        else {
            continue;
        };
        let is_inside =
            fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&root));
        let comm = || fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        if is_inside && !(comm().trim() == "git" && is_ours(&entry.path())) {
            found.push(format!("{pid} ({})", comm().trim().escape_default()));
        }
    }
    found
}

/// Says whether we have started a process ourselves.
fn is_ours(process: &Path) -> bool {
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    parent.is_some_and(|parent| parent.trim() == std::process::id().to_string())
}
