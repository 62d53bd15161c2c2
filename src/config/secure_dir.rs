//! Makes directories that only their owner can enter, and refuses all others.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

/// The bits that let others write.
const OTHERS_WRITE: u32 = 0o022;
/// The bits that let others do anything.
const OTHERS: u32 = 0o077;

/// Says why a directory cannot hold sockets and records.
#[derive(Debug, thiserror::Error)]
pub enum SecureDirError {
    #[error(
        "`{path}` is a symbolic link or not a directory\n\
         hint: Look at it with `ls -ld {path}`, and remove it if it is not yours",
        path = .0.display()
    )]
    NotADirectory(PathBuf),
    #[error(
        "`{}` belongs to user {owner}, not to you\n\
         hint: Set XDG_STATE_HOME and XDG_RUNTIME_DIR to directories of your own",
        .path.display()
    )]
    NotOurs { path: PathBuf, owner: u32 },
    #[error(
        "`{path}` can be written by other users\nhint: Look inside, then run `chmod 700 {path}`",
        path = .0.display()
    )]
    Writable(PathBuf),
    #[error("Failed to make the directory `{}`: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Makes a directory that is ours alone, or makes sure that it is.
///
/// Missing parents are made with mode 0700 too. A directory that others can read is tightened; one
/// that is a symbolic link, belongs to someone else or can be written by others is refused, because
/// what is inside may already be theirs.
pub fn secure_dir(path: &Path) -> Result<(), SecureDirError> {
    let failed = |source| SecureDirError::Io { path: path.to_path_buf(), source };
    let created = DirBuilder::new().recursive(true).mode(0o700).create(path);
    // Whatever stands in the way is told by the look at it below.
    created.or_else(
        |error| if path.symlink_metadata().is_ok() { Ok(()) } else { Err(failed(error)) },
    )?;

    let directory = open_directory(path)?;
    let metadata = directory.metadata().map_err(failed)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(SecureDirError::NotOurs { path: path.to_path_buf(), owner: metadata.uid() });
    }
    let mode = metadata.mode();
    if mode & OTHERS_WRITE != 0 {
        return Err(SecureDirError::Writable(path.to_path_buf()));
    }
    if mode & OTHERS != 0 {
        let mut tightened = metadata.permissions();
        tightened.set_mode(0o700);
        directory.set_permissions(tightened).map_err(failed)?;
    }
    Ok(())
}

/// Opens the directory itself, so that all checks see the same one.
fn open_directory(path: &Path) -> Result<File, SecureDirError> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let opened = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    opened.map_err(|source| match Errno::from_io_error(&source) {
        Some(Errno::NOTDIR | Errno::LOOP) => SecureDirError::NotADirectory(path.to_path_buf()),
        _ => SecureDirError::Io { path: path.to_path_buf(), source },
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    fn with_mode(path: &Path, mode: u32) {
        fs::create_dir(path).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_new_chain_is_closed_to_others() {
        let world = tempfile::tempdir().unwrap();
        let inner = world.path().join("a/b");
        secure_dir(&inner).unwrap();
        secure_dir(&inner).unwrap();
        assert_eq!((mode(&inner), mode(&world.path().join("a"))), (0o700, 0o700));
    }

    #[test]
    fn a_readable_directory_is_tightened() {
        let world = tempfile::tempdir().unwrap();
        let open = world.path().join("open");
        with_mode(&open, 0o755);
        secure_dir(&open).unwrap();
        assert_eq!(mode(&open), 0o700);
    }

    #[test]
    fn what_others_can_write_or_redirect_is_refused() {
        let world = tempfile::tempdir().unwrap();
        let writable = world.path().join("writable");
        with_mode(&writable, 0o770);
        let text = secure_dir(&writable).unwrap_err().to_string();
        assert!(text.contains(&format!("chmod 700 {}", writable.display())), "{text}");

        let link = world.path().join("link");
        symlink(world.path(), &link).unwrap();
        assert!(matches!(secure_dir(&link), Err(SecureDirError::NotADirectory(_))));
        let dangling = world.path().join("dangling");
        symlink("/nowhere/at/all", &dangling).unwrap();
        assert!(matches!(secure_dir(&dangling), Err(SecureDirError::NotADirectory(_))));
        let file = world.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(secure_dir(&file), Err(SecureDirError::NotADirectory(_))));
    }

    #[test]
    fn a_strangers_directory_is_refused() {
        let root_is_us = rustix::process::geteuid().is_root();
        let strangers = if root_is_us {
            let world = tempfile::tempdir().unwrap().keep();
            std::os::unix::fs::chown(&world, Some(12345), None).unwrap();
            world
        } else {
            PathBuf::from("/usr")
        };
        assert!(matches!(secure_dir(&strangers), Err(SecureDirError::NotOurs { .. })));
        if root_is_us {
            fs::remove_dir(strangers).unwrap();
        }
    }
}
