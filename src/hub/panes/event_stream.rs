//! Listens to the events that `opencode` serves at a port of its own.
//!
//! A stream of server-sent events over HTTP/1.1, as plain as can be: one request, one answer that
//! never ends. Where it does not come, the screen decides.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::detect::EventReader;
use crate::hub::inbox::{HubInput, Senders};
use crate::model::{AgentName, RunId};

/// A program that is starting listens after some seconds, and is asked at a growing pace.
const RETRY_LEAST: Duration = Duration::from_millis(250);
const RETRY_MOST: Duration = Duration::from_secs(5);
/// A server that is asked while it starts may never answer: it is asked again. One that is up answers at
/// once, and lets its heart beat every ten seconds.
const ANSWER_MAX: Duration = Duration::from_secs(3);
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// A line of an answer's head, or an event. Longer ones carry whole files and mean nothing here.
const LINE_BYTES_MAX: usize = 1024 * 1024;
const READ_BYTES: usize = 16 * 1024;

/// Listens for as long as it is kept.
#[derive(Debug)]
pub(in crate::hub) struct EventStream(JoinHandle<()>);

impl EventStream {
    pub(in crate::hub) fn open(agent: AgentName, run: RunId, port: u16, senders: Senders) -> Self {
        Self(tokio::task::spawn_local(listen(agent, run, port, senders)))
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn listen(agent: AgentName, run: RunId, port: u16, senders: Senders) {
    let mut pause = RETRY_LEAST;
    loop {
        let mut has_heard = false;
        if let Err(error) = hear(&agent, run, port, &senders, &mut has_heard).await {
            tracing::debug!(%agent, port, %error, "no events");
            if error.kind() == io::ErrorKind::TimedOut {
                pause = RETRY_LEAST;
            }
        }
        if has_heard {
            pause = RETRY_LEAST;
            let lost = HubInput::Stream { agent: agent.clone(), run, news: None };
            if senders.requests.send(lost).await.is_err() {
                return;
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(RETRY_MOST);
    }
}

/// Reads events until they end.
async fn hear(
    agent: &AgentName,
    run: RunId,
    port: u16,
    senders: &Senders,
    has_heard: &mut bool,
) -> io::Result<()> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let request = format!(
        "GET /event HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let (mut answer, mut events) = (Answer::default(), EventReader::default());
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let patience = if *has_heard { SILENCE_MAX } else { ANSWER_MAX };
        let count = timeout(patience, stream.read(&mut buffer)).await??;
        if count == 0 {
            return Ok(());
        }
        for event in answer.push(&buffer[..count])? {
            *has_heard = true;
            if let Some(news) = events.read(&event) {
                let input = HubInput::Stream { agent: agent.clone(), run, news: Some(news) };
                if senders.requests.send(input).await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// An answer as it comes in: its head, then its events.
#[derive(Debug, Default)]
struct Answer {
    part: Part,
    is_chunked: bool,
    /// A line of the head or of the events.
    line: Line,
    /// A line between chunks.
    size: Line,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Status,
    Head,
    ChunkSize,
    /// So many bytes of the chunk are to come.
    Chunk(u64),
    /// All that follows.
    Body,
}

/// A line, as far as it has come.
#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl Answer {
    /// Takes what arrived, and returns the events that are whole.
    fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<Value>> {
        let mut events = Vec::new();
        for byte in bytes.iter().copied() {
            let is_between = self.part == Part::ChunkSize;
            let line = if is_between { self.size.push(byte) } else { self.line.push(byte) };
            if let Part::Chunk(left) = self.part {
                self.part = if left > 1 { Part::Chunk(left - 1) } else { Part::ChunkSize };
            }
            let Some(line) = line else { continue };
            match self.part {
                _ if is_between => self.part = next_chunk(&line)?,
                Part::Status => self.part = head(&line)?,
                Part::Head if line.is_empty() => {
                    self.part = if self.is_chunked { Part::ChunkSize } else { Part::Body };
                }
                Part::Head => {
                    let line = line.to_ascii_lowercase();
                    self.is_chunked |=
                        line.starts_with("transfer-encoding:") && line.contains("chunked");
                }
                Part::ChunkSize | Part::Chunk(_) | Part::Body => events.extend(event(&line)),
            }
        }
        Ok(events)
    }
}

impl Line {
    /// Takes a byte, and returns the line that it ends; one that is too long is empty.
    fn push(&mut self, byte: u8) -> Option<String> {
        if byte == b'\n' {
            let bytes = std::mem::take(&mut self.bytes);
            self.is_too_long = false;
            return Some(String::from_utf8_lossy(&bytes).trim_end_matches('\r').to_owned());
        }
        if self.bytes.len() >= LINE_BYTES_MAX {
            (self.bytes, self.is_too_long) = (Vec::new(), true);
        }
        if !self.is_too_long {
            self.bytes.push(byte);
        }
        None
    }
}

fn head(line: &str) -> io::Result<Part> {
    let is_fine = line.starts_with("HTTP/1.") && line.split(' ').nth(1) == Some("200");
    if is_fine { Ok(Part::Head) } else { Err(io::Error::other("it serves something else")) }
}

/// Reads the line before a chunk; a chunk also ends with an empty one.
fn next_chunk(line: &str) -> io::Result<Part> {
    let digits = line.split(';').next().unwrap_or_default().trim();
    if digits.is_empty() {
        return Ok(Part::ChunkSize);
    }
    match u64::from_str_radix(digits, 16) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(size) => Ok(Part::Chunk(size)),
        Err(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Reads an event; each of them is one line of JSON.
fn event(line: &str) -> Option<Value> {
    serde_json::from_str(line.strip_prefix("data:")?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";

    /// Returns the events, however the answer is cut.
    fn read(answer: &[u8]) -> Vec<Value> {
        let whole = Answer::default().push(answer).unwrap();
        for step in 1..answer.len() {
            let mut reader = Answer::default();
            let pieces = answer.chunks(step).flat_map(|piece| reader.push(piece).unwrap());
            assert_eq!(pieces.collect::<Vec<_>>(), whole, "cut every {step} bytes");
        }
        whole
    }

    #[test]
    fn events_are_found_wherever_the_answer_is_cut() {
        let events = "data: {\"type\":\"a\"}\n\n: comment\nevent: x\ndata: {\"type\":\"b\"}\n\n";
        let expected = [json!({"type": "a"}), json!({"type": "b"})];
        assert_eq!(read(format!("{HEAD}\r\n{events}").as_bytes()), expected);
        for size in [1, 7, 20, 500] {
            let mut answer = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
            for chunk in events.as_bytes().chunks(size) {
                answer.extend(format!("{:x}\r\n", chunk.len()).as_bytes());
                answer.extend([chunk, b"\r\n"].concat());
            }
            assert_eq!(read(&answer), expected, "chunks of {size}");
        }
    }

    #[test]
    fn what_is_no_stream_of_events_is_an_error_and_a_huge_line_is_passed_over() {
        for wrong in ["HTTP/1.1 404 Not Found\r\n", "SSH-2.0-x\r\n", "\n"] {
            assert!(Answer::default().push(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let mut answer = Answer::default();
        answer.push(format!("{HEAD}\r\ndata: \"").as_bytes()).unwrap();
        for _ in 0..40 {
            answer.push(&vec![b'x'; LINE_BYTES_MAX / 10]).unwrap();
            assert!(answer.line.bytes.len() <= LINE_BYTES_MAX);
        }
        assert_eq!(answer.push(b"\"\ndata: 1\n").unwrap(), [json!(1)]);
    }
}
