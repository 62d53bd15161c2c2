//! Finds the project that a command is about.

use std::path::{Path, PathBuf};

use super::PathsError;
use super::paths::{Bases, canonical_directory};

/// Returns the canonical directory of the project.
///
/// A directory that was asked for must exist. Else it is the nearest directory from `cwd` upwards
/// that has a `wheelhouse.toml`, else the nearest that has a `.git`, else `cwd` itself. The search
/// ends at the user's home: what lies above it is not the user's to decide.
pub fn find_project(asked: Option<&Path>, cwd: &Path) -> Result<PathBuf, PathsError> {
    if let Some(directory) = asked {
        return canonical_directory(&cwd.join(directory));
    }
    let home = Bases::of_this_process()?.home;
    let home = home.canonicalize().unwrap_or(home);
    Ok(nearest_project(canonical_directory(cwd)?, &home))
}

fn nearest_project(cwd: PathBuf, home: &Path) -> PathBuf {
    let is_above_home = |directory: &&Path| home.starts_with(directory) && *directory != home;
    let marked = |marker: &str| {
        let mut candidates = cwd.ancestors().take_while(|directory| !is_above_home(directory));
        candidates.find(|directory| directory.join(marker).exists()).map(Path::to_path_buf)
    };
    marked("wheelhouse.toml").or_else(|| marked(".git")).unwrap_or(cwd)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns a world with `home/repo/sub/deep`.
    fn world() -> (tempfile::TempDir, PathBuf) {
        let world = tempfile::tempdir().unwrap();
        let root = world.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("home/repo/sub/deep")).unwrap();
        (world, root)
    }

    #[test]
    fn the_config_file_wins_over_git_and_git_over_the_directory() {
        let (_world, root) = world();
        let home = root.join("home");
        let deep = home.join("repo/sub/deep");
        assert_eq!(nearest_project(deep.clone(), &home), deep);
        fs::create_dir(home.join("repo/sub/.git")).unwrap();
        assert_eq!(nearest_project(deep.clone(), &home), home.join("repo/sub"));
        fs::write(home.join("repo/wheelhouse.toml"), "").unwrap();
        assert_eq!(nearest_project(deep, &home), home.join("repo"));
    }

    #[test]
    fn nothing_above_home_is_looked_at() {
        let (_world, root) = world();
        fs::write(root.join("wheelhouse.toml"), "").unwrap();
        let repo = root.join("home/repo");
        assert_eq!(nearest_project(repo.clone(), &root.join("home")), repo);
        assert_eq!(nearest_project(repo.clone(), Path::new("/elsewhere")), root);
        fs::write(root.join("home/wheelhouse.toml"), "").unwrap();
        assert_eq!(nearest_project(repo, &root.join("home")), root.join("home"));
    }

    #[test]
    fn a_directory_that_was_asked_for_must_exist() {
        let (_world, root) = world();
        assert_eq!(find_project(Some(Path::new("home")), &root).unwrap(), root.join("home"));
        assert!(matches!(
            find_project(Some(Path::new("none")), &root),
            Err(PathsError::NoProject { .. })
        ));
        fs::write(root.join("file"), "").unwrap();
        let file = root.join("file");
        assert!(matches!(find_project(Some(&file), &root), Err(PathsError::NotADirectory(_))));
    }
}
