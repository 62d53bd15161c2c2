//! Packs commits for another repository, without any references.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::call::{Call, GitError};
use super::refs::line;
use super::repository::Repository;

/// A large history on a slow disk.
const LIMIT: Duration = Duration::from_mins(10);

/// A pack with nothing in it has a head and a sum.
const EMPTY_BYTES_MAX: u64 = 44;

impl Repository {
    /// Makes a repository in a directory, or makes one whole that was begun.
    pub fn begin(directory: &Path) -> Result<Self, GitError> {
        Call::new(directory).run(&["init", "--quiet"])?;
        Self::find(directory)
    }

    /// Packs all that these commits need and the other side has not. Returns nothing if it has all.
    pub fn pack(&self, wanted: &[String], had: &[String]) -> Result<Option<File>, GitError> {
        // Git moves the pack to its place, which must be on the same disk.
        let mut folder = tempfile::Builder::new();
        let folder = folder.prefix("wheelhouse-pack-").tempdir_in(self.common_dir())?;
        let mut named = wanted.join("\n");
        for had in had {
            if self.commit(had)?.is_some() {
                named.extend(["\n^", had]);
            }
        }
        named.push('\n');
        let begin = folder.path().join("p").to_string_lossy().into_owned();
        let arguments = ["pack-objects", "--revs", "--quiet", &begin];
        let call = Call { limit: LIMIT, ..self.shared_call() };
        let number = line(&call.feed(&arguments, named.into_bytes())?);
        let file = File::open(format!("{begin}-{number}.pack"))?;
        let is_empty = file.metadata()?.len() <= EMPTY_BYTES_MAX;
        Ok((!is_empty).then_some(file))
    }

    /// Takes a pack in, if there is one, and makes sure that nothing of these commits is missing.
    pub fn take_in(&self, pack: Option<File>, wanted: &[String]) -> Result<(), GitError> {
        if pack.is_some() {
            let call = Call { limit: LIMIT, input: pack, ..self.shared_call() };
            call.run(&["index-pack", "--stdin"])?;
        }
        let arguments = ["rev-list", "--objects", "--quiet", "--stdin", "--not", "--glob=refs/*"];
        let call = Call { limit: LIMIT, ..self.shared_call() };
        let named = format!("{}\n", wanted.join("\n"));
        call.feed(&arguments, named.into_bytes()).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn commit(repository: &Repository, name: &str) -> String {
        let blob = repository.hash_text(name.as_bytes(), true).unwrap();
        let blob = super::super::Blob { mode: "100644".to_owned(), id: blob };
        let tree = repository.write_tree(&[(name.into(), blob)].into()).unwrap();
        repository.commit_tree(&tree, &[], name, None).unwrap()
    }

    #[test]
    fn commits_travel_without_names_and_half_a_history_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let place = directory.path().join(name);
            fs::create_dir(&place).unwrap();
            Repository::begin(&place).unwrap()
        };
        let (here, there) = (place("here"), place("there"));
        let one = vec![commit(&here, "one")];
        assert!(there.take_in(None, &one).is_err(), "it is not there");
        let pack = here.pack(&one, &["0".repeat(40)]).unwrap();
        there.take_in(pack, &one).unwrap();
        assert_eq!(there.commit(&one[0]).unwrap().as_ref(), Some(&one[0]));
        assert!(there.refs_below("refs").unwrap().is_empty());
        assert!(here.pack(&one, &one).unwrap().is_none(), "all of it is there");
        let left: Vec<_> = fs::read_dir(here.common_dir()).unwrap().flatten().collect();
        assert!(left.iter().all(|one| !one.file_name().to_string_lossy().contains("pack-")));
    }
}
