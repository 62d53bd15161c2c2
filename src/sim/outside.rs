//! Carries out what a script orders: commands, files, commits and bad manners.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal as Kill, kill_process, kill_process_group};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal as Listener, SignalKind, signal};

use super::run::DETACHED;
use super::script::{Act, Signal};

/// Output of a command that is kept; the rest is read and dropped.
const OUTPUT_BYTES_MAX: u64 = 64 << 10;

/// How often a file that is awaited is looked for; `AWAIT` sleeps as long.
const AWAIT_PAUSE: Duration = Duration::from_millis(100);
const AWAIT: &str = r#"
left=$2
until test -s "$1"; do
  [ "$left" -gt 0 ] || { echo "File does not exist."; exit 1; }
  left=$((left - 1)); sleep 0.1
done
cat -- "$1"
"#;

/// Commits the paths, and tries again while another agent commits in the same repository.
const COMMIT: &str = r#"
name=$1; message=$2; shift 2; tries=0
while :; do
  said=$(git add -- "$@" 2>&1 && git -c user.name="$name" -c user.email="$name@sim.invalid" \
    -c commit.gpgsign=false commit -q -m "$message" -- "$@" 2>&1) && break
  tries=$((tries + 1))
  case $said in *lock*) [ $tries -lt 50 ] ;; *) false ;; esac || { printf '%s\n' "$said"; exit 1; }
  sleep 0.1
done
git log -1 --format='[%h] %s' --shortstat | sed '/^$/d'
"#;

/// What came of an act.
#[derive(Debug)]
pub(super) struct Acted {
    pub number: u64,
    pub passed: bool,
    pub output: Vec<String>,
}

/// The world outside of the script.
pub(super) struct Outside {
    name: String,
    /// The command that runs, by the number of its act.
    child: Option<(u64, Pid)>,
    sender: Sender<Acted>,
    finished: Receiver<Acted>,
    /// Readable as soon as an act has ended.
    pub(super) woken: UnixStream,
    waker: UnixStream,
    ballast: Vec<u8>,
    /// Handlers that do nothing but be there; the runtime is what they need to exist.
    handlers: Option<(Runtime, Vec<Listener>)>,
    ignores_hangup: bool,
}

impl Outside {
    pub(super) fn new(name: &str) -> io::Result<Self> {
        let (woken, waker) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        let (sender, finished) = channel();
        let (child, handlers, ballast) = (None, None, Vec::new());
        let (name, ignores_hangup) = (name.to_owned(), false);
        Ok(Self { name, child, sender, finished, woken, waker, ballast, handlers, ignores_hangup })
    }

    /// Begins an act; its outcome comes from `finished`.
    pub(super) fn begin(&mut self, number: u64, act: Act) {
        let outcome = match act {
            Act::Run(command) => {
                let script = format!("exec 2>&1\n{command}");
                self.spawn(number, Command::new("sh").args(["-c", &script]))
            }
            Act::Await { path, time } => {
                let tries = time.as_millis() / AWAIT_PAUSE.as_millis();
                let mut shell = Command::new("sh");
                shell.args(["-c", AWAIT, "sh", &path, &tries.to_string()]);
                self.spawn(number, &mut shell)
            }
            Act::Commit { message, paths } => {
                let mut shell = Command::new("sh");
                shell.args(["-c", COMMIT, "sh", &self.name, &message]).args(paths);
                self.spawn(number, &mut shell)
            }
            Act::Write { path, text } => write(&path, &text).map(Some),
            Act::Append { path, text } => append(&path, &text).map(Some),
            Act::Replace { path, old, new } => replace(&path, &old, &new).map(Some),
        };
        match outcome {
            Ok(None) => {}
            Ok(Some(line)) => self.finish(number, true, line),
            Err(error) => self.finish(number, false, error.to_string()),
        }
    }

    /// Returns an act that has ended.
    pub(super) fn ended(&mut self) -> Option<Acted> {
        let mut drained = [0; 64];
        while (&self.woken).read(&mut drained).is_ok_and(|count| count > 0) {}
        let acted = self.finished.try_recv().ok()?;
        self.child = self.child.filter(|(number, _)| *number != acted.number);
        Some(acted)
    }

    /// Ends the command that runs, with all that it started in its group.
    pub(super) fn abandon(&mut self) {
        if let Some((_, child)) = self.child.take()
            && let Err(error) = kill_process_group(child, Kill::KILL)
        {
            tracing::debug!(%error, "the command had ended by itself");
        }
    }

    /// From now on, the signals have no effect on this process.
    pub(super) fn ignore(&mut self, signals: &[Signal]) -> io::Result<()> {
        self.ignores_hangup |= signals.contains(&Signal::Hangup);
        let kind = |signal: &Signal| match signal {
            Signal::Hangup => SignalKind::hangup(),
            Signal::Interrupt => SignalKind::interrupt(),
            Signal::Terminate => SignalKind::terminate(),
        };
        signals.iter().map(kind).try_for_each(|kind| self.listen(kind))
    }

    /// Makes a change of the terminal's size end a poll.
    pub(super) fn notice_resizes(&mut self) -> io::Result<()> {
        self.listen(SignalKind::window_change())
    }

    pub(super) fn survives_hangup(&self) -> bool {
        self.ignores_hangup
    }

    /// Holds so much memory, really used, instead of what was held before.
    pub(super) fn hold(&mut self, bytes: u64) {
        self.ballast = Vec::new();
        self.ballast = vec![1; usize::try_from(bytes).unwrap_or(0)];
        std::hint::black_box(&self.ballast);
    }

    fn listen(&mut self, kind: SignalKind) -> io::Result<()> {
        if self.handlers.is_none() {
            let runtime = Builder::new_current_thread().enable_io().build()?;
            self.handlers = Some((runtime, Vec::new()));
        }
        let Some((runtime, listeners)) = &mut self.handlers else { return Ok(()) };
        let _inside = runtime.enter();
        listeners.push(signal(kind)?);
        Ok(())
    }

    fn spawn(&mut self, number: u64, command: &mut Command) -> io::Result<Option<String>> {
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn()?;
        let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        self.child = id.map(|id| (number, id));
        let (sender, mut waker) = (self.sender.clone(), self.waker.try_clone()?);
        thread::spawn(move || {
            let acted = attend(child, number);
            // Both fail only when the agent has ended, and then nobody waits.
            sender.send(acted).ok();
            waker.write_all(b"!").ok();
        });
        Ok(None)
    }

    fn finish(&mut self, number: u64, passed: bool, line: String) {
        // Both ends live in this struct.
        self.sender.send(Acted { number, passed, output: vec![line] }).ok();
        self.waker.write_all(b"!").ok();
    }
}

/// Leaves a process behind that no signal to this one's group or session reaches.
pub(super) fn detach(time: Duration, keeps_terminal: bool) -> io::Result<()> {
    let mut copy = Command::new(env::current_exe()?);
    copy.arg0("wheelhouse-sim-detached").arg("sim");
    copy.env(DETACHED, time.as_secs().max(1).to_string());
    if !keeps_terminal {
        copy.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    }
    copy.spawn().map(drop)
}

/// Ends this process as if from outside, without any last word.
pub(super) fn die() -> io::Result<()> {
    Ok(kill_process(rustix::process::getpid(), Kill::KILL)?)
}

/// Reads what a command says until it ends.
fn attend(mut child: Child, number: u64) -> Acted {
    let mut said = Vec::new();
    if let Some(mut output) = child.stdout.take() {
        let kept = output.by_ref().take(OUTPUT_BYTES_MAX).read_to_end(&mut said);
        let rest = io::copy(&mut output, &mut io::sink());
        if let Err(error) = kept.and(rest.map(|_| 0)) {
            said.extend_from_slice(error.to_string().as_bytes());
        }
    }
    let status = child.wait();
    let passed = status.as_ref().is_ok_and(ExitStatus::success);
    let failure = match status {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("Error: {status}")),
        Err(error) => Some(format!("Error: {error}")),
    };
    let text = String::from_utf8_lossy(&said);
    let lines = text.trim_end().lines().map(str::to_owned);
    Acted { number, passed, output: failure.into_iter().chain(lines).collect() }
}

fn write(path: &str, text: &str) -> io::Result<String> {
    make_room(path)?;
    fs::write(path, text)?;
    Ok(format!("Wrote {} to {path}", count(text.lines().count(), "line")))
}

fn append(path: &str, text: &str) -> io::Result<String> {
    make_room(path)?;
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(format!("Updated {path} with {}", count(text.lines().count(), "addition")))
}

fn replace(path: &str, old: &str, new: &str) -> io::Result<String> {
    let text = fs::read_to_string(path)?;
    if !text.contains(old) {
        return Err(io::Error::other("String to replace not found in file"));
    }
    fs::write(path, text.replacen(old, new, 1))?;
    Ok(format!("Updated {path} with 1 addition and 1 removal"))
}

fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

fn make_room(path: &str) -> io::Result<()> {
    match Path::new(path).parent() {
        Some(parent) => fs::create_dir_all(parent),
        None => Ok(()),
    }
}
