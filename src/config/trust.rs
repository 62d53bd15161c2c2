//! Remembers which project files a person has agreed to, by their exact content.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::{Hash, Paths, SecureDirError, secure_dir};

/// Thousands of projects fit; more was not written by us.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
const VERSION: u32 = 1;

/// Which content of which project file may run commands.
#[derive(Debug)]
pub struct Trust {
    file: PathBuf,
    record: Record,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    version: u32,
    /// The hash of the content that was last agreed to, by the file's canonical path.
    trusted: BTreeMap<PathBuf, Hash>,
}

/// Says why nothing can be trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error(
        "The record of trust would lie inside the project, which could then trust itself\n\
         hint: Set XDG_STATE_HOME to a directory outside of `{}`",
        .project.display()
    )]
    InsideProject { project: PathBuf },
    #[error(
        "The record of trust `{path}` can be changed by other users\n\
         hint: Look at it, then run `chown $USER {path}` and `chmod 600 {path}`",
        path = .0.display()
    )]
    NotOurs(PathBuf),
    #[error(
        "The record of trust `{path}` cannot be understood: {reason}\n\
         hint: Move it away with `mv {path} {path}.old`, then trust your projects again",
        path = .path.display()
    )]
    Broken { path: PathBuf, reason: String },
    #[error("The path `{}` is not UTF-8 text and cannot be recorded", .0.display())]
    NotText(PathBuf),
    #[error("Failed to open the record of trust `{}`: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Directory(#[from] SecureDirError),
}

impl Trust {
    /// Reads the record; one that is not there is empty.
    ///
    /// A record inside the project is refused: whoever wrote the project could have written it.
    pub fn load(paths: &Paths) -> Result<Self, TrustError> {
        let file = paths.trust_file.clone();
        if resolved(&file).starts_with(&paths.project) {
            return Err(TrustError::InsideProject { project: paths.project.clone() });
        }
        let broken = |reason: String| TrustError::Broken { path: file.clone(), reason };
        let record = match read_own(&file)? {
            None => Record { version: VERSION, trusted: BTreeMap::new() },
            Some(text) => {
                serde_json::from_slice(&text).map_err(|error| broken(error.to_string()))?
            }
        };
        if record.version != VERSION {
            return Err(broken(format!("its version is {}, not {VERSION}", record.version)));
        }
        Ok(Self { file, record })
    }

    /// Says whether a person has agreed to exactly this content of the file.
    pub fn is_trusted(&self, canonical: &Path, hash: &Hash) -> bool {
        self.record.trusted.get(canonical) == Some(hash)
    }

    /// Records that a person has agreed to this content, in place of any other content of the file.
    pub fn trust(&mut self, canonical: &Path, hash: &Hash) -> Result<(), TrustError> {
        if canonical.to_str().is_none() {
            return Err(TrustError::NotText(canonical.to_path_buf()));
        }
        self.record.trusted.insert(canonical.to_path_buf(), hash.clone());
        if let Some(directory) = self.file.parent() {
            secure_dir(directory)?;
        }
        let text = serde_json::to_vec_pretty(&self.record)
            .map_err(|error| TrustError::Io { path: self.file.clone(), source: error.into() })?;
        write_whole(&self.file, &text)
            .map_err(|source| TrustError::Io { path: self.file.clone(), source })
    }
}

/// Returns the content of a file that only we can write.
fn read_own(path: &Path) -> Result<Option<Vec<u8>>, TrustError> {
    let failed = |source| TrustError::Io { path: path.to_path_buf(), source };
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    let is_ours = metadata.uid() == rustix::process::geteuid().as_raw();
    if !is_ours || metadata.mode() & 0o022 != 0 || !metadata.is_file() {
        return Err(TrustError::NotOurs(path.to_path_buf()));
    }
    let mut content = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut content).map_err(failed)?;
    Ok(Some(content))
}

/// Writes the file so that a crash leaves either the old content or the new.
fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&draft)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}

/// Returns the path with the links in its existing part followed.
fn resolved(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return real.join(rest);
        }
    }
    path.to_path_buf()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Returns a world with a project beside the state directory, both of which tests may bend.
    fn world() -> (tempfile::TempDir, Paths, PathBuf) {
        let world = tempfile::tempdir().unwrap();
        let root = world.path().canonicalize().unwrap();
        fs::create_dir(root.join("project")).unwrap();
        let mut paths = Paths::find(&root.join("project")).unwrap();
        paths.trust_file = root.join("state/wheelhouse/trust.json");
        let file = paths.project_config();
        (world, paths, file)
    }

    #[test]
    fn exactly_the_content_that_was_agreed_to_is_trusted() {
        let (_world, paths, file) = world();
        let (one, two) = (Hash::of(b"one"), Hash::of(b"two"));
        let mut trust = Trust::load(&paths).unwrap();
        assert!(!trust.is_trusted(&file, &one));
        trust.trust(&file, &one).unwrap();
        let mut again = Trust::load(&paths).unwrap();
        assert!(again.is_trusted(&file, &one));
        assert!(!again.is_trusted(&file, &two), "an edit asks again");
        assert!(!again.is_trusted(Path::new("/other/wheelhouse.toml"), &one));
        again.trust(&file, &two).unwrap();
        assert!(!Trust::load(&paths).unwrap().is_trusted(&file, &one), "the old content is over");
        let directory = paths.trust_file.parent().unwrap();
        assert_eq!(paths.trust_file.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(directory).unwrap().count(), 1, "no draft is left behind");
    }

    #[test]
    fn a_project_cannot_trust_itself() {
        let (_world, mut paths, file) = world();
        Trust::load(&paths).unwrap().trust(&file, &Hash::of(b"one")).unwrap();
        let outside = paths.trust_file.clone();
        let inside = paths.project.join("state/wheelhouse");
        fs::create_dir_all(&inside).unwrap();
        fs::copy(&outside, inside.join("trust.json")).unwrap();
        paths.trust_file = inside.join("trust.json");
        assert!(matches!(Trust::load(&paths), Err(TrustError::InsideProject { .. })));

        let link = paths.project.parent().unwrap().join("link");
        symlink(&inside, &link).unwrap();
        paths.trust_file = link.join("trust.json");
        assert!(matches!(Trust::load(&paths), Err(TrustError::InsideProject { .. })));
        paths.trust_file = paths.project.join("not/yet/there/trust.json");
        assert!(matches!(Trust::load(&paths), Err(TrustError::InsideProject { .. })));
    }

    #[test]
    fn a_record_that_others_can_change_or_redirect_is_refused() {
        let (_world, mut paths, file) = world();
        Trust::load(&paths).unwrap().trust(&file, &Hash::of(b"one")).unwrap();
        fs::set_permissions(&paths.trust_file, fs::Permissions::from_mode(0o620)).unwrap();
        assert!(matches!(Trust::load(&paths), Err(TrustError::NotOurs(_))));
        let link = paths.trust_file.with_file_name("link.json");
        symlink(&paths.trust_file, &link).unwrap();
        paths.trust_file = link;
        assert!(matches!(Trust::load(&paths), Err(TrustError::Io { .. } | TrustError::NotOurs(_))));
    }

    #[test]
    fn a_broken_or_newer_record_is_never_overwritten() {
        let (_world, paths, _) = world();
        fs::create_dir_all(paths.trust_file.parent().unwrap()).unwrap();
        for text in ["{", "{\"version\":2,\"trusted\":{}}"] {
            fs::write(&paths.trust_file, text).unwrap();
            assert!(matches!(Trust::load(&paths), Err(TrustError::Broken { .. })));
        }
    }
}
