//! Reads a config file once, so that what was checked is what is used.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::{Hash, Problem, plain};

/// A config file is written by hand; more than this is a mistake.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The content of a file, its hash, and the one place where it was found.
pub(super) struct SourceFile {
    pub(super) path: PathBuf,
    /// Where the file really is, once links are followed.
    pub(super) canonical: PathBuf,
    pub(super) hash: Hash,
    pub(super) text: String,
}

impl SourceFile {
    /// Returns the file's content, or `None` where there is no file.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, Problem> {
        let bytes = match read_bounded(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(whole_file(path, &format!("Failed to read it: {error}"))),
        };
        let canonical = path
            .canonicalize()
            .map_err(|error| whole_file(path, &format!("Failed to find its true path: {error}")))?;
        let hash = Hash::of(&bytes);
        let text =
            String::from_utf8(bytes).map_err(|_| whole_file(path, "It is not UTF-8 text"))?;
        Ok(Some(Self { path: path.to_path_buf(), canonical, hash, text }))
    }
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe in the file's place must not hold the program up until someone writes into it.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("it is larger than 1 MiB"));
    }
    Ok(bytes)
}

/// Returns a problem of the file as a whole, whose hint follows the message after `\nhint: `.
pub(super) fn whole_file(path: &Path, text: &str) -> Problem {
    let (message, hint) = match text.split_once("\nhint: ") {
        Some((message, hint)) => (message, Some(plain(hint))),
        None => (text, None),
    };
    Problem { file: path.to_path_buf(), line: None, column: None, message: plain(message), hint }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_missing_file_is_none_and_a_bad_one_is_told() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("wheelhouse.toml");
        let problem = |path: &Path| SourceFile::read(path).err().unwrap().message;
        assert!(SourceFile::read(&path).unwrap().is_none());
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert_eq!(problem(&path), "It is not UTF-8 text");
        fs::write(&path, vec![b'#'; 1024 * 1024 + 1]).unwrap();
        assert_eq!(problem(&path), "Failed to read it: it is larger than 1 MiB");
        assert_eq!(problem(world.path()), "Failed to read it: it is not a regular file");
    }

    #[test]
    fn a_pipe_does_not_hold_us_up() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("wheelhouse.toml");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
        assert!(SourceFile::read(&path).is_err());
    }
}
