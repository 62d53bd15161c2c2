//! A client of the hub that minds the protocol only as far as a test wants it to.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use wheelhouse::api::{
    Ask, Fault, FrameReader, FromHub, Notice, PROTOCOL, PaneView, Request, Response, encode_frame,
};
use wheelhouse::model::{AgentName, Row};

use super::clock::PATIENCE;
use super::world::World;

/// One end of a connection to the hub.
pub(crate) struct Visitor {
    pub(crate) stream: UnixStream,
    frames: FrameReader,
    next_id: u64,
}

impl Visitor {
    /// Connects to the hub that runs, without a word.
    pub(crate) fn connect(world: &World) -> Self {
        Self::connect_to(&world.paths().hub_socket())
    }

    pub(crate) fn connect_to(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream, frames: FrameReader::default(), next_id: 1 }
    }

    pub(crate) fn greeted(world: &World) -> Self {
        let mut visitor = Self::connect(world);
        let hello = Request::Hello { protocol: PROTOCOL, version: "test".to_owned(), token: None };
        assert!(matches!(visitor.ask(hello), Response::Welcome { .. }));
        visitor
    }

    /// Connects to the hub that runs, and speaks for an agent.
    pub(crate) fn speaking(world: &World, agent: &str) -> Self {
        let mut visitor = Self::connect(world);
        visitor.stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let (version, token) = ("test".to_owned(), Some(world.token_of(agent)));
        visitor.answer(Request::Hello { protocol: PROTOCOL, version, token }).unwrap();
        visitor
    }

    /// Asks, and returns the answer, a refusal too.
    pub(crate) fn answer(&mut self, request: Request) -> Result<Response, Fault> {
        self.answer_under(None, request)
    }

    /// Asks under a key, and returns the answer, a refusal too.
    pub(crate) fn answer_under(
        &mut self,
        key: Option<&str>,
        request: Request,
    ) -> Result<Response, Fault> {
        let id = self.send_under(key, request);
        loop {
            if let FromHub::Answer { id: answered, outcome } = self.next().unwrap()
                && answered == id
            {
                return outcome;
            }
        }
    }

    pub(crate) fn send(&mut self, request: Request) -> u64 {
        self.send_under(None, request)
    }

    /// Sends a request under a key, without waiting for its answer.
    pub(crate) fn send_under(&mut self, key: Option<&str>, request: Request) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let ask = Ask { id, key: key.map(str::to_owned), request };
        self.stream.write_all(&encode_frame(&ask).unwrap()).unwrap();
        id
    }

    /// Asks, and passes over what else comes before the answer.
    pub(crate) fn ask(&mut self, request: Request) -> Response {
        self.answer(request).unwrap()
    }

    pub(crate) fn watch(&mut self, agents: &[&str]) {
        let agents: Vec<AgentName> = agents.iter().map(|name| name.parse().unwrap()).collect();
        self.send(Request::Watch { focused: agents.first().cloned(), agents, is_attended: false });
    }

    /// Returns the next frame, or nothing at the end of the connection.
    pub(crate) fn next(&mut self) -> Option<FromHub> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            if let Some(frame) = self.frames.next_frame().unwrap() {
                return Some(frame);
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => self.frames.push(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return None,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Returns the next view of a pane, or nothing if none comes for so long.
    pub(crate) fn next_view(&mut self, patience: Duration) -> Option<PaneView> {
        self.stream.set_read_timeout(Some(patience)).unwrap();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match self.frames.next_frame().unwrap() {
                Some(FromHub::Notice(Notice::Pane(view))) => return Some(view),
                Some(_) => continue,
                None => {}
            }
            match self.stream.read(&mut buffer) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.frames.push(&buffer[..count]),
            }
        }
    }
}

/// What a client knows of a pane from the views it was sent.
#[derive(Default)]
pub(crate) struct Picture {
    rows: Vec<Row>,
}

impl Picture {
    pub(crate) fn take(&mut self, view: &PaneView) {
        if view.is_full {
            self.rows = vec![Row::default(); usize::from(view.size.rows)];
        }
        for (index, row) in &view.rows {
            self.rows[usize::from(*index)] = row.clone();
        }
    }

    /// Returns the text as `agent read` prints it.
    pub(crate) fn text(&self) -> String {
        let lines: Vec<String> =
            self.rows.iter().map(|row| row.text().trim_end().to_owned()).collect();
        lines.join("\n").trim_end().to_owned()
    }
}
