//! Where the files of agents lie that a hub on another machine runs here.

use std::path::{Path, PathBuf};

use crate::model::AgentName;

use super::paths::{Bases, short_enough};
use super::{Hash, PathsError, SecureDirError, secure_dir};

/// The paths of one hub's agents here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarPaths {
    home: PathBuf,
    state_dir: PathBuf,
    /// Sockets. They lie beside the rest: the runtime directory of a user goes with the last login,
    /// and an agent outlives the connection that began it.
    runtime_dir: PathBuf,
}

impl FarPaths {
    /// Returns the paths for the hub with this name, for the user of this process.
    pub fn find(hub: &str) -> Result<Self, PathsError> {
        let bases = Bases::of_this_process()?;
        let state_dir = bases.state.join("wheelhouse/far").join(hub);
        let hash = Hash::of(hub.as_bytes());
        let runtime_dir = short_enough(state_dir.join("run"), &hash);
        Ok(Self { home: bases.home, state_dir, runtime_dir })
    }

    /// Makes the directories, each ours alone.
    pub fn make_directories(&self) -> Result<(), SecureDirError> {
        let chain = [self.state_dir.parent(), Some(&self.state_dir)];
        let run = [self.runtime_dir.parent(), Some(&self.runtime_dir)];
        chain.into_iter().chain(run).flatten().try_for_each(secure_dir)
    }

    pub fn lock(&self, agent: &AgentName) -> PathBuf {
        self.state_dir.join(format!("{agent}.lock"))
    }

    /// Holds the tickets of starts that are not good any more.
    pub fn tickets(&self, agent: &AgentName) -> PathBuf {
        self.state_dir.join(format!("{agent}.tickets"))
    }

    /// What a keeper said that could not work.
    pub fn log(&self, agent: &AgentName) -> PathBuf {
        self.state_dir.join(format!("{agent}.log"))
    }

    /// The file that the agent's cli is given at its start, where it needs one.
    pub fn hooks(&self, agent: &AgentName) -> PathBuf {
        self.state_dir.join(format!("{agent}.hooks"))
    }

    pub fn socket(&self, agent: &AgentName) -> PathBuf {
        self.runtime_dir.join(format!("{agent}.k"))
    }

    /// Where the agent's own programs speak to the hub; in a directory of its own, which stays.
    pub fn door(&self, agent: &AgentName) -> PathBuf {
        self.runtime_dir.join(format!("{agent}.d")).join("s")
    }

    /// Returns where what belongs to workspaces lies: for all hubs, those of this machine too, and for
    /// this one.
    pub fn site(&self) -> (PathBuf, PathBuf) {
        let shared = self.state_dir.ancestors().nth(2).unwrap_or(&self.state_dir);
        (shared.to_owned(), self.state_dir.clone())
    }

    /// Returns what an agent has no business with.
    pub fn private(&self) -> impl Iterator<Item = &Path> {
        let all_hubs = self.state_dir.parent().unwrap_or(&self.state_dir);
        [all_hubs, &self.runtime_dir].into_iter()
    }

    /// Returns the directory that a text means: `~` and what does not begin with a slash are below
    /// the home directory.
    pub fn expand(&self, text: &Path) -> PathBuf {
        let below = text.strip_prefix("~").unwrap_or(text);
        self.home.join(below).components().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_below_the_home_unless_it_says_otherwise() {
        let paths =
            FarPaths { home: "/home/me".into(), state_dir: "/s".into(), runtime_dir: "/r".into() };
        let expanded = |text: &str| paths.expand(Path::new(text));
        assert_eq!(expanded("~"), Path::new("/home/me"));
        assert_eq!(expanded("~/a/./b"), Path::new("/home/me/a/b"));
        assert_eq!(expanded("work"), Path::new("/home/me/work"));
        assert_eq!(expanded("/srv"), Path::new("/srv"));
        assert_eq!(expanded("~me"), Path::new("/home/me/~me"));
    }
}
