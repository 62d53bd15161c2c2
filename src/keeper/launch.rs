//! Finds out why a program cannot be started, before it is tried.
//!
//! `portable_pty` starts a program in the home directory when the directory is missing, and closes
//! the pipe on which a failed `exec` would be told. So what can be known is checked beforehand, and
//! the rest is recognised by its end.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::model::{Exit, Launch};

/// The kernel reads no more of a script's first line.
const FIRST_LINE_BYTES_MAX: u64 = 256;

/// What the runtime prints from the child when `exec` failed and nobody can be told.
const EXEC_FAILED: &[u8] = b"fatal runtime error: assertion failed: output.write(";
/// An agent that came to life has printed more than this, or died of something else.
const EXEC_FAILED_BYTES_MAX: usize = 400;
const SIGABRT: i32 = 6;

/// Returns why this launch cannot succeed, if that can be seen.
pub(super) fn obstacle(launch: &Launch) -> Option<String> {
    let Some(name) = launch.argv.first().filter(|name| !name.is_empty()) else {
        return Some("The command is empty".to_owned());
    };
    if !launch.cwd.is_dir() {
        return Some(format!("There is no directory {}", launch.cwd.display()));
    }
    if launch.argv.iter().any(|argument| argument.contains('\0')) {
        return Some(format!("An argument of `{name}` contains a NUL byte"));
    }
    let Some(program) = candidates(name, launch).into_iter().find(|path| is_program(path)) else {
        return Some(format!("There is no program `{name}`"));
    };
    let interpreter = interpreter(&program)?;
    (!is_program(&interpreter))
        .then(|| format!("`{name}` needs {}, which is not a program", interpreter.display()))
}

/// Says why the agent never came to life, if its end looks like that of a failed `exec`.
pub(super) fn post_mortem(launch: &Launch, exit: Exit, output: &[u8]) -> Option<String> {
    let has_words = output.windows(EXEC_FAILED.len()).any(|window| window == EXEC_FAILED);
    let is_failed =
        exit == Exit::Signal(SIGABRT) && output.len() <= EXEC_FAILED_BYTES_MAX && has_words;
    let name = launch.argv.first().map(String::as_str).unwrap_or_default();
    is_failed.then(|| format!("The system cannot execute `{name}`"))
}

fn candidates(name: &str, launch: &Launch) -> Vec<PathBuf> {
    if name.contains('/') {
        return vec![launch.cwd.join(name)];
    }
    let path = launch.environment.0.get("PATH").map(String::as_str).unwrap_or_default();
    std::env::split_paths(path).map(|entry| launch.cwd.join(entry).join(name)).collect()
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Returns the program that a script names in its first line.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let file = fs::File::open(program).ok()?;
    let mut line = Vec::new();
    BufReader::new(file.take(FIRST_LINE_BYTES_MAX)).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8_lossy(line.strip_prefix(b"#!")?).into_owned();
    line.split_ascii_whitespace().next().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Environment, Size};

    #[test]
    fn what_cannot_start_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script");
        fs::write(&script, "#!/no/such/python -u\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();

        assert_eq!(obstacle(&launch("sh", "/")), None);
        assert_eq!(obstacle(&launch("/bin/sh", "/")), None);
        let told = |name: &str, cwd: &str| obstacle(&launch(name, cwd)).unwrap();
        assert_eq!(told("no-such-cli", "/"), "There is no program `no-such-cli`");
        assert_eq!(told("/etc/passwd", "/"), "There is no program `/etc/passwd`");
        assert_eq!(told("sh", "/no/where"), "There is no directory /no/where");
        assert_eq!(told("", "/"), "The command is empty");
        assert!(told(script.to_str().unwrap(), "/").contains("needs /no/such/python"));
    }

    fn launch(name: &str, cwd: &str) -> Launch {
        let environment =
            Environment([("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into_iter().collect());
        let (argv, cwd) = (vec![name.to_owned()], cwd.into());
        let confinement = crate::model::Confinement::default();
        Launch { argv, cwd, environment, size: Size::default(), confinement }
    }
}
