//! A program that is run here to reach a place elsewhere: its streams, its troubles and its end.

use std::cell::RefCell;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::unix::pipe;
use tokio::time::{sleep, timeout};

use crate::runner::read_line;

/// What a login may print before our own words.
const JUNK_BYTES_MAX: usize = 64 * 1024;
/// Of what the program says about its troubles.
const WORDS_BYTES_MAX: usize = 2 * 1024;
/// Of what a program prints that is run to its end; the rest is passed over.
const PRINTED_BYTES_MAX: usize = 64 * 1024;

/// How long a program may take to end by itself once its input has ended.
const FAREWELL: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A connection to a keeper.
pub(in crate::hub) struct KeeperStream {
    pub(in crate::hub) reader: Box<dyn AsyncRead + Unpin>,
    pub(in crate::hub) writer: Box<dyn AsyncWrite + Unpin>,
    /// What came before anyone listened.
    pub(in crate::hub) early: Vec<u8>,
    /// What carries it, if it is not on this machine.
    pub(in crate::hub) carrier: Option<Carrier>,
}

/// The program that carries a stream.
pub(in crate::hub) struct Carrier {
    /// Gone once it is waited for.
    child: Option<Child>,
    words: Rc<RefCell<Vec<u8>>>,
}

/// What a command printed.
pub(in crate::hub) struct Printed {
    pub(in crate::hub) out: String,
    pub(in crate::hub) err: String,
}

/// The two ends of a program's standard streams, and what has come so far.
pub(in crate::hub) struct Pipes {
    reader: pipe::Receiver,
    pub(in crate::hub) writer: pipe::Sender,
    came: Vec<u8>,
}

impl Pipes {
    /// Returns the next line that is one of the far end's; nothing once there can be none.
    pub(in crate::hub) async fn next<T: DeserializeOwned>(&mut self) -> Option<T> {
        let mut passed = 0;
        loop {
            while let Some(end) = self.came.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.came.drain(..=end).collect();
                if let Some(value) = read_line(&line) {
                    return Some(value);
                }
                passed += line.len();
            }
            if passed + self.came.len() > JUNK_BYTES_MAX {
                return None;
            }
            let mut buffer = vec![0; 16 * 1024];
            match self.reader.read(&mut buffer).await {
                Ok(count @ 1..) => self.came.extend_from_slice(&buffer[..count]),
                Ok(0) | Err(_) => return None,
            }
        }
    }

    pub(in crate::hub) fn carried_by(self, carrier: Carrier) -> KeeperStream {
        let (reader, writer) = (Box::new(self.reader), Box::new(self.writer));
        KeeperStream { reader, writer, early: self.came, carrier: Some(carrier) }
    }
}

impl Carrier {
    pub(in crate::hub) fn start(argv: &[String]) -> io::Result<(Self, Pipes)> {
        let (program, arguments) = argv.split_first().expect("a command has a program");
        let mut command = Command::new(program);
        command.args(arguments).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let told = |error| io::Error::other(format!("`{program}` cannot be run: {error}"));
        let mut child = command.spawn().map_err(told)?;
        let input = child.stdin.take().expect("it was asked for");
        let output = child.stdout.take().expect("it was asked for");
        let troubles = child.stderr.take().expect("it was asked for");
        let words = Rc::new(RefCell::new(Vec::new()));
        let carrier = Self { child: Some(child), words: Rc::clone(&words) };
        let troubles = pipe::Receiver::from_owned_fd(troubles.into())?;
        tokio::task::spawn_local(note_words(troubles, words));
        let pipes = Pipes {
            reader: pipe::Receiver::from_owned_fd(output.into())?,
            writer: pipe::Sender::from_owned_fd(input.into())?,
            came: Vec::new(),
        };
        Ok((carrier, pipes))
    }

    /// Returns what the program said of its troubles, or how it ended.
    pub(in crate::hub) async fn complaint(&mut self, otherwise: &str) -> String {
        // Its last words may be a moment behind its end.
        sleep(LOOK_EVERY * 4).await;
        let last = last_words(&String::from_utf8_lossy(&self.words.borrow()));
        let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
        last.unwrap_or_else(|| match ended {
            Some(status) => format!("{otherwise} ({status})"),
            None => otherwise.to_owned(),
        })
    }

    /// Waits until the program has ended, and returns how.
    async fn end(&mut self) -> Option<ExitStatus> {
        loop {
            match self.child.as_mut()?.try_wait() {
                Ok(None) => sleep(LOOK_EVERY).await,
                Ok(Some(status)) => return Some(status),
                Err(_) => return None,
            }
        }
    }

    /// Lets the program end; one that hangs, or whose line is dead, is ended.
    pub(in crate::hub) async fn finish(mut self, may_end: bool) {
        let mut waited = Duration::ZERO;
        while may_end && waited < FAREWELL {
            let is_running = |child: &mut Child| matches!(child.try_wait(), Ok(None));
            if !self.child.as_mut().is_some_and(is_running) {
                break;
            }
            sleep(LOOK_EVERY).await;
            waited += LOOK_EVERY;
        }
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // One that has ended cannot be killed any more.
        let _ = child.kill();
        tokio::task::spawn_blocking(move || child.wait());
    }
}

/// Keeps the last of what a program says about its troubles.
async fn note_words(mut troubles: pipe::Receiver, words: Rc<RefCell<Vec<u8>>>) {
    let mut buffer = vec![0; 1024];
    while let Ok(count @ 1..) = troubles.read(&mut buffer).await {
        let mut words = words.borrow_mut();
        words.extend_from_slice(&buffer[..count]);
        let surplus = words.len().saturating_sub(WORDS_BYTES_MAX);
        words.drain(..surplus);
    }
}

/// Returns the last line that says what went wrong.
pub(in crate::hub) fn last_words(said: &str) -> Option<String> {
    // Docker ends with where help is to be had.
    let is_advice = |line: &str| line.starts_with("hint:") || line.contains("--help");
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty() && !is_advice(line))?;
    let last = last.strip_prefix("Error: ").unwrap_or(last);
    Some(last.chars().filter(|c| !c.is_control()).collect())
}

/// Runs a command and returns what it printed, or why it failed; it is ended when nobody waits for it
/// any more.
pub(in crate::hub) async fn run_to_end(
    argv: &[String],
    limit: Duration,
) -> Result<Printed, String> {
    let program = argv.first().map_or("", String::as_str);
    let (mut carrier, pipes) = Carrier::start(argv).map_err(|error| error.to_string())?;
    let Pipes { mut reader, writer, came: mut out } = pipes;
    drop(writer);
    let ended = async {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(count @ 1..) = reader.read(&mut buffer).await {
            let room = PRINTED_BYTES_MAX.saturating_sub(out.len());
            out.extend_from_slice(&buffer[..count.min(room)]);
        }
        carrier.end().await
    };
    let Ok(status) = timeout(limit, ended).await else {
        return Err(format!("`{program}` has not ended within {} seconds", limit.as_secs()));
    };
    if !status.is_some_and(|status| status.success()) {
        return Err(carrier.complaint(&format!("`{program}` failed")).await);
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Printed { out: text(&out), err: text(&carrier.words.borrow()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_told_and_not_the_advice_after_it() {
        let docker = "docker: Cannot connect to the Docker daemon at unix:///x. Is it running?\n\n\
                      Run 'docker run --help' for more information\n";
        let told = last_words(docker).unwrap();
        assert!(told.starts_with("docker: Cannot connect"), "{told}");
        let podman = "Trying to pull x...\nError: initializing source: \u{1b}no such host\n";
        assert_eq!(last_words(podman).unwrap(), "initializing source: no such host");
        assert_eq!(last_words(" \n"), None);
    }
}
