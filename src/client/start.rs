//! Starts the hub, and waits until it answers.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::{ClientError, Connection};
use crate::api::{BUSY, READY, Request, Response, hub_argv};
use crate::config::{Paths, Scope, Settings};

/// How long to wait for a hub that another process is starting.
const RACE_STEPS_MAX: u32 = 500;
const RACE_STEP: Duration = Duration::from_millis(10);
/// The one who held the lock may have been about to leave: then the next hub is ours to start.
const RACE_STEPS_PER_START: u32 = 20;

/// How long to wait for the socket of a hub that lives: it looks for that twice a second.
const SOCKET_STEPS_MAX: u32 = 300;

/// What a starting hub says of itself is short.
const WORD_BYTES_MAX: u64 = 16 * 1024;

/// A hub that takes longer is not waited for by someone who asks many.
const ASK_PATIENCE: Duration = Duration::from_secs(5);

/// Connects to the project's hub, and starts it if it is not there.
pub fn connect(paths: &Paths) -> Result<Connection, ClientError> {
    patiently(paths, || attempt(paths))
}

/// Opens a stream to the project's hub, and starts it if it is not there; who opens it greets.
pub fn open_stream(paths: &Paths) -> Result<UnixStream, ClientError> {
    patiently(paths, || match Connection::stream(&paths.hub_socket(), Some(&paths.session)) {
        Err(error) if error.is_absence() => Err(absent(paths)),
        result => result,
    })
}

/// Tries until a hub answers, after starting one where none did.
fn patiently<T>(
    paths: &Paths,
    mut attempt: impl FnMut() -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    match attempt() {
        // What an agent starts belongs to the agent's tree and ends with it. Its keeper has already
        // called for a new hub.
        Err(ClientError::NotRunning { .. }) if is_inside_agent() => {}
        Err(ClientError::NotRunning { .. }) => start(paths)?,
        result => return result,
    }
    for step in 1..=RACE_STEPS_MAX {
        match attempt() {
            Err(ClientError::NotRunning { .. }) => thread::sleep(RACE_STEP),
            result => return result,
        }
        if step % RACE_STEPS_PER_START == 0 && !is_inside_agent() {
            start(paths)?;
        }
    }
    Err(not_ready("nobody listens", paths))
}

fn is_inside_agent() -> bool {
    std::env::var_os("WHEELHOUSE_RUN").is_some()
}

/// Connects to the project's hub if it is there. One that lives and does not listen at the moment is
/// waited for a little: it is coming up, or binds a socket that someone removed.
pub fn connect_running(paths: &Paths) -> Result<Connection, ClientError> {
    for _ in 0..SOCKET_STEPS_MAX {
        let is_alive = is_held(&paths.hub_lock());
        match attempt(paths) {
            Err(ClientError::NotRunning { .. }) if is_alive => thread::sleep(RACE_STEP),
            result => return result,
        }
    }
    attempt(paths)
}

fn attempt(paths: &Paths) -> Result<Connection, ClientError> {
    match Connection::open(&paths.hub_socket(), Some(&paths.session), None, None) {
        Err(error) if error.is_absence() => Err(absent(paths)),
        result => result,
    }
}

/// Says whether a hub holds its lock.
fn is_held(lock: &Path) -> bool {
    File::open(lock).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_err())
}

/// Asks the hub at a socket one thing; nothing, if nobody listens there.
pub fn ask_at(socket: &Path, request: Request) -> Result<Option<Response>, ClientError> {
    let connected = Connection::open(socket, None, None, Some(ASK_PATIENCE));
    match connected.and_then(|mut connection| connection.ask(request)) {
        Err(error) if error.is_absence() => Ok(None),
        answer => answer.map(Some),
    }
}

fn absent(paths: &Paths) -> ClientError {
    ClientError::NotRunning { project: paths.project.clone() }
}

/// Starts a hub and waits until it listens or has given way to another.
fn start(paths: &Paths) -> Result<(), ClientError> {
    paths.make_directories()?;
    let program = std::env::current_exe().map_err(ClientError::Start)?;
    let hub = hub_argv(&program, &paths.project, &paths.session);
    let scoped = scope(paths).map(|scope| [scope, hub.clone()].concat());
    let mut word = scoped.map_or_else(String::new, |argv| run(&argv).unwrap_or_default());
    if word.is_empty() {
        word = run(&hub).map_err(ClientError::Start)?;
    }
    match word.as_str() {
        READY | BUSY => Ok(()),
        "" => Err(not_ready("it exited without a message", paths)),
        reason => Err(not_ready(reason.trim_end(), paths)),
    }
}

/// Returns the words that put a command into a scope of its own under the user's service manager,
/// where there is one: processes in the login's own scope die when the login ends.
fn scope(paths: &Paths) -> Option<Vec<OsString>> {
    let settings = Settings::load(paths).map(|loaded| loaded.settings).unwrap_or_default();
    let runtime =
        std::env::var_os("XDG_RUNTIME_DIR").filter(|_| settings.hub.scope == Scope::Auto)?;
    if !Path::new(&runtime).join("systemd/private").exists() {
        return None;
    }
    let unit = format!("--unit=wheelhouse-{}-{}", paths.session, std::process::id());
    let words = ["systemd-run", "--user", "--scope", "--quiet", "--collect", &unit, "--"];
    Some(words.iter().map(OsString::from).collect())
}

/// Runs a command that detaches itself, and returns what it says before it does.
fn run(argv: &[OsString]) -> io::Result<String> {
    let (program, arguments) = argv.split_first().expect("a command has a program");
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut word = String::new();
    let pipe = child.stdout.take().expect("its output is piped");
    pipe.take(WORD_BYTES_MAX).read_to_string(&mut word)?;
    Ok(word)
}

fn not_ready(reason: &str, paths: &Paths) -> ClientError {
    ClientError::NotReady { reason: reason.to_owned(), log: paths.hub_log() }
}
