//! Gives out ports, so that no two workspaces of this user share one.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::WorkspaceError;
use super::places::Turn;

#[derive(Debug, Serialize, Deserialize)]
struct Claim {
    /// Whose ports these are. Where it is gone, they are free again.
    root: PathBuf,
    first: u16,
    count: u16,
}

impl Claim {
    fn overlaps(&self, first: u16, count: u16) -> bool {
        let end = |first: u16, count: u16| u32::from(first) + u32::from(count);
        u32::from(first) < end(self.first, self.count) && u32::from(self.first) < end(first, count)
    }
}

/// Returns the first of so many ports that are a workspace's own from now on, from a number on.
pub(super) fn claim(
    folder: &Path,
    root: &Path,
    base: u16,
    count: u16,
) -> Result<Option<u16>, WorkspaceError> {
    if count == 0 {
        return Ok(None);
    }
    let _turn = Turn::take(&folder.join("lock"))?;
    let claims = read(folder)?;
    if let Some(own) = claims.iter().find(|claim| claim.root == root && claim.count == count) {
        return Ok(Some(own.first));
    }
    let starts = (base..=u16::MAX - count).step_by(usize::from(count));
    let free = |first: &u16| claims.iter().all(|claim| !claim.overlaps(*first, count));
    let first = starts.into_iter().find(free).ok_or_else(|| {
        let words = format!("there are no {count} free ports from {base} on");
        WorkspaceError::Refused(format!("{words}: set `workspace.port_base` lower"))
    })?;
    let claim = Claim { root: root.to_owned(), first, count };
    let (file, draft) = (folder.join(first.to_string()), folder.join("draft"));
    let text = serde_json::to_vec(&claim).map_err(std::io::Error::from);
    let kept =
        text.and_then(|text| fs::write(&draft, text)).and_then(|()| fs::rename(&draft, &file));
    kept.map_err(WorkspaceError::at(&file))?;
    Ok(Some(first))
}

/// Gives the ports of a workspace back.
pub(super) fn release(folder: &Path, root: &Path) -> Result<(), WorkspaceError> {
    let _turn = Turn::take(&folder.join("lock"))?;
    for claim in read(folder)?.into_iter().filter(|claim| claim.root == root) {
        let file = folder.join(claim.first.to_string());
        fs::remove_file(&file).map_err(WorkspaceError::at(&file))?;
    }
    Ok(())
}

/// Returns the claims of workspaces that are there, and takes the others away.
fn read(folder: &Path) -> Result<Vec<Claim>, WorkspaceError> {
    let mut claims = Vec::new();
    for entry in fs::read_dir(folder).map_err(WorkspaceError::at(folder))?.flatten() {
        let is_claim = entry.file_name().to_str().is_some_and(|name| name.parse::<u16>().is_ok());
        let text = fs::read(entry.path()).ok().filter(|_| is_claim);
        let Some(claim) = text.and_then(|text| serde_json::from_slice::<Claim>(&text).ok()) else {
            continue;
        };
        if claim.root.symlink_metadata().is_ok() {
            claims.push(claim);
        } else {
            fs::remove_file(entry.path()).map_err(WorkspaceError::at(&entry.path()))?;
        }
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_workspaces_share_a_port_and_those_of_one_that_is_gone_are_free_again() {
        let world = tempfile::tempdir().unwrap();
        let folder = world.path().join("ports");
        let root = |name: &str| {
            let root = world.path().join(name);
            fs::create_dir_all(&root).unwrap();
            root
        };
        let claim = |name: &str, count| claim(&folder, &root(name), 42_000, count).unwrap();
        assert_eq!(claim("a", 10), Some(42_000));
        assert_eq!(claim("b", 20), Some(42_020), "of another size, and still apart");
        assert_eq!(claim("c", 10), Some(42_010));
        assert_eq!(claim("a", 10), Some(42_000), "it keeps its own");
        assert_eq!(claim("d", 0), None);
        fs::remove_dir(root("a")).unwrap();
        assert_eq!(claim("e", 10), Some(42_000));
        release(&folder, &root("c")).unwrap();
        assert_eq!(claim("f", 10), Some(42_010));
        let full = super::claim(&folder, &root("g"), u16::MAX - 5, 10).unwrap_err();
        assert!(full.to_string().contains("port_base"), "{full}");
    }
}
