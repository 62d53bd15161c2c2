//! Real keepers for tests, and a hub's side of their socket.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use wheelhouse::keeper::{
    Decoder, FromKeeper, KeeperArgs, Order, PROTOCOL_VERSION, ToKeeper, Welcome, start,
};
use wheelhouse::model::{Environment, Exit, Launch, ProcessInfo, RunId, SessionName, Size};

use super::clock::{PATIENCE, now, wait_for};

pub(crate) const HYDRA: &str = include_str!("hydra.py");
pub(crate) const HOPPER: &str = include_str!("hopper.py");

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A place for one agent's keepers, with a token that all of its processes carry in their argv.
pub(crate) struct Berth {
    pub(crate) directory: TempDir,
    pub(crate) token: String,
    pub(crate) order: Order,
    pub(crate) child: Option<Child>,
}

impl Berth {
    /// Prepares a berth for `argv`; the argument `TOKEN` is replaced by the berth's own.
    pub(crate) fn new(argv: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let token = format!("berth-{}-{count}", std::process::id());
        let word = |word: &&str| word.replace("TOKEN", &token);
        let variables = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("SHELL", "/bin/sh"),
            ("TERM", "xterm-256color"),
            ("WHEELHOUSE_SESSION", &token),
            ("WHEELHOUSE_AGENT", "backend"),
            ("WHEELHOUSE_RUN", "3"),
        ];
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let launch = Launch {
            argv: argv.iter().map(word).collect(),
            cwd: directory.path().to_owned(),
            environment: Environment(BTreeMap::from(variables.map(own))),
            size: Size { rows: 24, cols: 80 },
            confinement: wheelhouse::model::Confinement::default(),
        };
        let order = Order {
            launch,
            socket: directory.path().join("run/backend.sock"),
            lock: directory.path().join("backend.lock"),
            revive: Vec::new(),
            revive_delay_ms: 0,
            grace_ms: 100,
            fence: None,
        };
        Self { directory, token, order, child: None }
    }

    pub(crate) fn python(script: &str, arguments: &[&str]) -> Self {
        Self::new(&[&["python3", "-c", script, "TOKEN"], arguments].concat())
    }

    pub(crate) fn sh(script: &str) -> Self {
        Self::new(&["sh", "-c", script, "TOKEN"])
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn spawn(&self) -> Child {
        let args = KeeperArgs {
            session: SessionName(self.token.clone()),
            agent: "backend".parse().unwrap(),
            run: RunId(3),
        };
        start(Path::new(PROGRAM), &args, &self.order, Stdio::inherit()).unwrap()
    }

    pub(crate) fn start(mut self) -> Self {
        self.child = Some(self.spawn());
        self
    }

    /// Connects as soon as the keeper listens, without a word.
    pub(crate) fn connect(&self) -> UnixStream {
        let mut connected = None;
        wait_for("a listening keeper", || {
            connected = UnixStream::connect(&self.order.socket).ok();
            connected.is_some()
        });
        connected.unwrap()
    }

    /// Attaches as a hub that has read everything before the offset.
    pub(crate) fn attach(&self, from: u64) -> Hub {
        let mut hub = Hub::new(self.connect());
        hub.send(&ToKeeper::Attach { version: PROTOCOL_VERSION, from });
        let welcome = hub.until("a welcome", |frame| {
            if let FromKeeper::Welcome(welcome) = frame { Some(*welcome) } else { None }
        });
        hub.offset = from.clamp(welcome.kept.start, welcome.kept.end);
        hub.welcome = Some(welcome);
        hub
    }

    /// Waits for the end of the outermost process and returns its exit code.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        let mut child = self.child.take().unwrap();
        let mut code = None;
        wait_for("the end of the caller", || {
            code = child.try_wait().unwrap();
            code.is_some()
        });
        code.unwrap().code()
    }

    /// Returns the living processes that carry the token.
    pub(crate) fn alive(&self) -> Vec<u32> {
        let numbers = fs::read_dir("/proc").unwrap().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter(|pid| self.is_of_ours(*pid)).collect()
    }

    fn is_of_ours(&self, pid: u32) -> bool {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(&self.token)
    }

    pub(crate) fn wait_until_nothing_is_left(&mut self) {
        if self.child.is_some() {
            self.exit_code();
        }
        wait_for("that nothing is left alive", || self.alive().is_empty());
        assert!(!self.order.socket.exists(), "the socket is left behind");
    }
}

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_wheelhouse");

impl Drop for Berth {
    fn drop(&mut self) {
        for _ in 0..100 {
            for pid in self.alive() {
                kill(pid, Signal::KILL);
            }
            if self.alive().is_empty() {
                break;
            }
        }
        if let Some(child) = &mut self.child {
            drop(child.wait());
        }
    }
}

/// A hub's side of a connection.
pub(crate) struct Hub {
    stream: UnixStream,
    decoder: Decoder<FromKeeper>,
    welcome: Option<Welcome>,
    /// Everything read so far, which ends at `offset`.
    pub(crate) output: Vec<u8>,
    pub(crate) offset: u64,
}

impl Hub {
    fn new(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let decoder = Decoder::default();
        Self { stream, decoder, welcome: None, output: Vec::new(), offset: 0 }
    }

    pub(crate) fn welcome(&self) -> &Welcome {
        self.welcome.as_ref().unwrap()
    }

    pub(crate) fn send(&mut self, frame: &ToKeeper) {
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        self.stream.write_all(&bytes).unwrap();
    }

    pub(crate) fn input(&mut self, bytes: &[u8]) {
        self.send(&ToKeeper::Input { answers_to: None, bytes: bytes.to_vec() });
    }

    /// Writes until the other side closes, and returns how much it took.
    pub(crate) fn write_as_far_as_possible(&mut self, bytes: &[u8]) -> usize {
        let mut written = 0;
        while let Ok(count) = self.stream.write(&bytes[written..]) {
            written += count;
            if count == 0 {
                break;
            }
        }
        written
    }

    /// Returns the next frame, or `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<FromKeeper> {
        let mut bytes = [0; 16 * 1024];
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                return Some(frame);
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => self.decoder.feed(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Reads on, checking that no output is lost or doubled, until a frame is what is wanted.
    pub(crate) fn until<T>(
        &mut self,
        what: &str,
        mut wanted: impl FnMut(FromKeeper) -> Option<T>,
    ) -> T {
        let until = now() + PATIENCE;
        loop {
            assert!(now() < until, "never got {what}");
            let Some(frame) = self.next() else { panic!("the keeper left before {what}") };
            if let FromKeeper::Output { offset, bytes } = &frame {
                assert_eq!(*offset, self.offset, "a gap or an overlap");
                self.offset += bytes.len() as u64;
                self.output.extend_from_slice(bytes);
            }
            if let Some(found) = wanted(frame) {
                return found;
            }
        }
    }

    /// Reads on until the output so far contains these words.
    pub(crate) fn until_output(&mut self, words: &str) {
        let mut so_far = String::from_utf8_lossy(&self.output).into_owned();
        if so_far.contains(words) {
            return;
        }
        self.until(&format!("the output {words:?}"), |frame| {
            if let FromKeeper::Output { bytes, .. } = frame {
                so_far.push_str(&String::from_utf8_lossy(&bytes));
            }
            so_far.contains(words).then_some(())
        });
    }

    /// Asks for the process tree until it has at least so many members.
    pub(crate) fn tree(&mut self, count_min: usize) -> Vec<ProcessInfo> {
        let until = now() + PATIENCE;
        loop {
            assert!(now() < until, "never got a tree of {count_min}");
            self.send(&ToKeeper::Tree);
            let tree = self.until("a tree", |frame| {
                if let FromKeeper::Tree(tree) = frame { Some(tree) } else { None }
            });
            if tree.len() >= count_min {
                return tree;
            }
        }
    }

    /// Stops the agent and returns what survived.
    pub(crate) fn stop(&mut self, grace_ms: u64) -> Vec<ProcessInfo> {
        self.send(&ToKeeper::Stop { grace_ms: Some(grace_ms) });
        self.until_stopped().1
    }

    pub(crate) fn until_stopped(&mut self) -> (Option<Exit>, Vec<ProcessInfo>) {
        self.until("that it stopped", |frame| {
            let FromKeeper::Stopped { exit, survivors } = frame else { return None };
            Some((exit, survivors))
        })
    }

    pub(crate) fn until_exited(&mut self) -> (Exit, u64) {
        self.until("the exit", |frame| {
            if let FromKeeper::Exited { exit, offset } = frame {
                Some((exit, offset))
            } else {
                None
            }
        })
    }

    pub(crate) fn until_failed(&mut self) -> String {
        self.until("a failure", |frame| {
            if let FromKeeper::Failed { reason } = frame { Some(reason) } else { None }
        })
    }

    /// Reads some output, whatever it is, and forgets it.
    pub(crate) fn skip_output(&mut self) {
        self.output.clear();
        self.more_output();
    }

    /// Reads some output, whatever it is.
    pub(crate) fn more_output(&mut self) {
        self.until("output", |frame| matches!(frame, FromKeeper::Output { .. }).then_some(()));
    }
}

pub(crate) fn kill(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // It may be gone already.
    let _ = kill_process(pid, signal);
}
