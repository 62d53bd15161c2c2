//! Which processes are at home in a directory.

use std::fs;
use std::path::Path;

/// Returns the processes whose working directory lies in this one, as far as they can be seen.
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
        if is_inside {
            let comm = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push(format!("{pid} ({})", comm.trim().escape_default()));
        }
    }
    found
}
