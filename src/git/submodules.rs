//! Finds the commits that submodules name, and who has them.

use std::fs;
use std::path::{Path, PathBuf};

use super::call::{Call, GitError};
use super::found::find;
use super::objects::Blob;
use super::repository::{Repository, path};

/// Submodules in submodules; deeper ones are nobody's.
const DEPTH_MAX: u32 = 8;

/// Who has a commit of a submodule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    Nobody,
    /// Only a repository on this machine.
    Here,
    /// Also the place that it is fetched from, as far as is known here.
    Remote,
}

impl Repository {
    /// Returns the submodules that differ between two commits, with what the second names.
    pub fn changed_links(&self, from: &str, to: &str) -> Result<Vec<(PathBuf, String)>, GitError> {
        let compared =
            ["diff-tree", "-r", "-z", "--no-renames", "--ignore-submodules=none", from, to];
        let listed = self.shared_call().run(&compared)?;
        let mut fields = listed.split(|byte| *byte == 0);
        let mut links = Vec::new();
        while let (Some(about), Some(name)) = (fields.next(), fields.next()) {
            let about = String::from_utf8_lossy(about).into_owned();
            if let [_, mode, _, id, _] = about.split(' ').collect::<Vec<_>>()[..]
                && mode == Blob::LINK
            {
                links.push((path(name), id.to_owned()));
            }
        }
        Ok(links)
    }

    /// Says who has a commit of a submodule, by the repositories that this working tree keeps of its
    /// submodules; with `shared`, also by those of the first.
    pub fn holder_of_link(&self, link: &Path, id: &str, shared: bool) -> Result<Holder, GitError> {
        let mut folders = vec![self.found.git_dir.join("modules")];
        folders.extend(shared.then(|| self.found.common_dir.join("modules")));
        let mut modules: Vec<PathBuf> = Vec::new();
        for folder in folders {
            collect(&folder, DEPTH_MAX, &mut modules);
        }
        // One that was cloned by hand keeps all of it where its files are.
        let place = self.found.top.join(link);
        let by_hand = find(&place).filter(|found| found.top == place);
        modules.extend(by_hand.map(|found| found.git_dir));
        let mut holder = Holder::Nobody;
        for module in modules {
            let call =
                Call { variables: vec![("GIT_DIR", module.clone().into())], ..Call::new(&module) };
            let commit = format!("{id}^{{commit}}");
            if !call.ask(&["cat-file", "-e", &commit], None)?.status.success() {
                continue;
            }
            holder = Holder::Here;
            let unpublished = ["rev-list", "--max-count=1", id, "--not", "--remotes"];
            let ended = call.ask(&unpublished, None)?;
            if ended.status.success() && ended.output.is_empty() {
                return Ok(Holder::Remote);
            }
        }
        Ok(holder)
    }
}

/// Finds the git directories below one that holds those of submodules; their names may have slashes.
fn collect(folder: &Path, depth: u32, modules: &mut Vec<PathBuf>) {
    if depth == 0 {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let place = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if place.join("HEAD").is_file() && place.join("objects").is_dir() {
            collect(&place.join("modules"), depth - 1, modules);
            modules.push(place);
        } else {
            collect(&place, depth - 1, modules);
        }
    }
}
