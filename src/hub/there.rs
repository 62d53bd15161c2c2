//! A place elsewhere, seen from the hub: a program that carries the stream of a keeper there.

use std::cell::RefCell;
use std::io;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::time::{sleep, timeout};

use super::link::Stream;
use crate::model::RunId;
use crate::runner::{Answer, Call, FAR_PROTOCOL, Greeting, OrderThere, Way, read_line};

/// A place that has not greeted by then does not answer.
const GREETING_MAX: Duration = Duration::from_secs(30);
/// One that has greeted says within this time what there is.
const ANSWER_MAX: Duration = Duration::from_mins(1);
/// What a login may print before our own words.
const JUNK_BYTES_MAX: usize = 64 * 1024;
/// Of what the program says about its troubles.
const WORDS_BYTES_MAX: usize = 2 * 1024;

/// How long a program may take to end by itself once its input has ended.
const FAREWELL: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The way to a keeper, and what is wanted of it.
#[derive(Debug)]
pub(super) struct There {
    pub(super) way: Way,
    /// Names the start of this run among all others.
    pub(super) ticket: String,
    /// How to begin the run, until it is seen to have begun.
    pub(super) order: Option<Box<OrderThere>>,
    /// What makes the container in which it runs, where it has one of its own.
    pub(super) make: Option<Vec<String>>,
    pub(super) is_away: bool,
}

/// What came of a call.
pub(super) enum Called {
    Up(Stream),
    /// Nothing of the run is alive there, and nothing will be.
    Absent,
    /// It could not be begun, for this reason, and nothing of it is alive.
    Failed(String),
    /// Nobody knows.
    Unreached(String),
}

/// The program that carries a stream.
pub(super) struct Carrier {
    /// Gone once it is waited for.
    child: Option<Child>,
    words: Rc<RefCell<Vec<u8>>>,
}

impl There {
    /// Says whether the order to begin may have arrived.
    pub(super) fn is_order_away(&self) -> bool {
        self.is_away
    }

    /// Notes that the run was seen: it is not begun again.
    pub(super) fn note_begun(&mut self) {
        self.order = None;
        self.make = None;
    }

    /// Calls the place; where it is certain that nothing is left, what was made for the run goes too.
    pub(super) async fn call(&mut self, run: RunId) -> Called {
        let called = self.try_call(run).await;
        let is_over = match &called {
            Called::Absent | Called::Failed(_) => true,
            Called::Unreached(_) => self.make.is_some() && !self.is_away,
            Called::Up(_) => false,
        };
        if let Some(remove) = self.way.remove().filter(|_| is_over)
            && let Err(reason) = run_to_end(remove).await
        {
            tracing::warn!(reason, "a container is left behind");
        }
        called
    }

    async fn try_call(&mut self, run: RunId) -> Called {
        if let Some(make) = self.make.clone()
            && let Err(reason) = self.make_container(make).await
        {
            return if self.is_away { Called::Unreached(reason) } else { Called::Failed(reason) };
        }
        let (mut carrier, mut stream) = match Carrier::start(&self.way.line()) {
            Ok(started) => started,
            Err(error) => return Called::Unreached(error.to_string()),
        };
        let greeting = timeout(GREETING_MAX, stream.next::<Greeting>()).await;
        let Some(greeting) = greeting.ok().flatten() else {
            let reason = carrier.complaint("it does not answer").await;
            return self.unanswered(reason).await;
        };
        if greeting.protocol != FAR_PROTOCOL {
            let (theirs, ours) = (greeting.version, env!("CARGO_PKG_VERSION"));
            let reason = format!("wheelhouse there is {theirs}, and {ours} here: install the same");
            let is_begun = self.is_away || self.order.is_none();
            return if is_begun { Called::Unreached(reason) } else { Called::Failed(reason) };
        }
        let order = self.order.as_deref().cloned();
        let has_order = order.is_some();
        let call = Call { run, ticket: self.ticket.clone(), order };
        let mut text = serde_json::to_vec(&call).expect("plain data always has a JSON form");
        text.push(b'\n');
        let was_away = self.is_away;
        self.is_away |= has_order;
        let asked = async {
            stream.writer.write_all(&text).await.ok()?;
            stream.next::<Answer>().await
        };
        match timeout(ANSWER_MAX, asked).await {
            Ok(Some(Answer::Attached)) => Called::Up(stream.carried_by(carrier)),
            Ok(Some(Answer::Absent { survivors })) => {
                if !survivors.is_empty() {
                    tracing::warn!(?survivors, "left alive there");
                }
                Called::Absent
            }
            Ok(Some(Answer::Failed { reason })) => Called::Failed(reason),
            // The first order has then begun nothing, and what a later one finds proves nothing.
            Ok(Some(Answer::Unable { reason })) if has_order && !was_away => Called::Failed(reason),
            Ok(Some(Answer::Unable { reason })) => Called::Unreached(reason),
            Ok(None) | Err(_) => Called::Unreached(carrier.complaint("it broke off").await),
        }
    }

    /// Makes the container of the run, unless a call that broke off has made it.
    async fn make_container(&self, make: Vec<String>) -> Result<(), String> {
        let Err(reason) = run_to_end(make.clone()).await else { return Ok(()) };
        match (self.container().await, self.way.remove()) {
            (Some(Container::Up), _) if self.is_away => Ok(()),
            // Nothing of this run has left, so a hub that was killed, or an engine that did not
            // answer, has left this one of an earlier run.
            (Some(Container::Up | Container::Down), Some(remove)) if !self.is_away => {
                run_to_end(remove).await?;
                run_to_end(make).await.map(drop)
            }
            (_, _) => Err(reason),
        }
    }

    /// Returns what it means that nobody greeted, for this reason.
    async fn unanswered(&self, reason: String) -> Called {
        let is_over = match self.container().await {
            Some(Container::Down) => true,
            // One that was not made by us may have got another name.
            Some(Container::Missing) => self.way.remove().is_some(),
            Some(Container::Up) | None => false,
        };
        if !is_over {
            return Called::Unreached(reason);
        }
        if self.order.is_none() || self.is_away {
            return Called::Absent;
        }
        // It ended by itself before anything was begun in it, and has said why.
        let said = match self.way.last_words() {
            Some(words) => output(words).await.ok(),
            None => None,
        };
        let said = said.and_then(|said| last_words(&format!("{}{}", said.out, said.err)));
        Called::Failed(said.unwrap_or(reason))
    }

    /// Returns how the container stands in which the run is, where the engine knows that for certain.
    async fn container(&self) -> Option<Container> {
        match run_to_end(self.way.standing()?).await {
            Ok(said) => match said.trim() {
                "running" => Some(Container::Up),
                "exited" | "stopped" | "dead" | "created" => Some(Container::Down),
                // What is paused, or on its way from one to the other, may go on.
                _ => None,
            },
            Err(_) => {
                let listed = run_to_end(self.way.list()?).await.ok()?;
                listed.trim().is_empty().then_some(Container::Missing)
            }
        }
    }
}

/// How a container stands.
enum Container {
    Up,
    /// It is there, and nothing runs in it.
    Down,
    /// The engine works, and knows of none with its name.
    Missing,
}

/// The two ends of a program's standard streams, and what has come so far.
struct Pipes {
    reader: pipe::Receiver,
    writer: pipe::Sender,
    came: Vec<u8>,
}

impl Pipes {
    /// Returns the next line that is one of the far end's; nothing once there can be none.
    async fn next<T: DeserializeOwned>(&mut self) -> Option<T> {
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

    fn carried_by(self, carrier: Carrier) -> Stream {
        let (reader, writer) = (Box::new(self.reader), Box::new(self.writer));
        Stream { reader, writer, early: self.came, carrier: Some(carrier) }
    }
}

impl Carrier {
    fn start(argv: &[String]) -> io::Result<(Self, Pipes)> {
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
    async fn complaint(&mut self, otherwise: &str) -> String {
        // Its last words may be a moment behind its end.
        sleep(LOOK_EVERY * 4).await;
        let last = last_words(&String::from_utf8_lossy(&self.words.borrow()));
        let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
        last.unwrap_or_else(|| match ended {
            Some(status) => format!("{otherwise} ({status})"),
            None => otherwise.to_owned(),
        })
    }

    /// Lets the program end; one that hangs, or whose line is dead, is ended.
    pub(super) async fn finish(mut self, may_end: bool) {
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
fn last_words(said: &str) -> Option<String> {
    // Docker ends with where help is to be had.
    let is_advice = |line: &str| line.starts_with("hint:") || line.contains("--help");
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty() && !is_advice(line))?;
    let last = last.strip_prefix("Error: ").unwrap_or(last);
    Some(last.chars().filter(|c| !c.is_control()).collect())
}

/// Runs a command and returns what it printed, or why it failed.
async fn run_to_end(argv: Vec<String>) -> Result<String, String> {
    output(argv).await.map(|said| said.out)
}

/// What a command printed.
struct Printed {
    out: String,
    err: String,
}

async fn output(argv: Vec<String>) -> Result<Printed, String> {
    let run = move || {
        let (program, arguments) = argv.split_first().expect("a command has a program");
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir("/").stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("`{program}` cannot be run: {error}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = Printed { out: text(&output.stdout), err: text(&output.stderr) };
        if output.status.success() {
            return Ok(said);
        }
        Err(last_words(&said.err).unwrap_or_else(|| format!("`{program}` failed")))
    };
    match tokio::task::spawn_blocking(run).await {
        Ok(result) => result,
        Err(error) => Err(error.to_string()),
    }
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
