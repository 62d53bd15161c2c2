//! A hub that runs nothing: it speaks the protocol on a real socket and does as a test says.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use wheelhouse::api::{
    AgentStatus, Ask, FrameReader, FromHub, HubStatus, MouseWish, Notice, PROTOCOL, PaneView,
    Request, Response, Status, ViewCursor, encode_frame,
};
use wheelhouse::model::{AgentName, AgentState, Moment, Role, Row, Run, Size, Source, Style};

/// A test waits no longer than this for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The hub and what it was asked.
pub(crate) struct FakeHub {
    pub socket: PathBuf,
    pub asked: Receiver<Request>,
    state: Arc<Mutex<State>>,
    _directory: tempfile::TempDir,
}

struct State {
    status: Status,
    clients: Vec<UnixStream>,
    /// What each pane shows, as a client that begins to watch it is told.
    panes: BTreeMap<AgentName, PaneView>,
}

impl FakeHub {
    pub(crate) fn start(agents: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("hub");
        let listener = UnixListener::bind(&socket).unwrap();
        let panes = agents.iter().map(|agent| view(agent, &[&format!("{agent} is here")]));
        let panes = panes.map(|view| (view.agent.clone(), view)).collect();
        let state = State { status: status(agents), clients: Vec::new(), panes };
        let state = Arc::new(Mutex::new(state));
        let (sender, asked) = channel();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (shared, sender) = (Arc::clone(&shared), sender.clone());
                thread::spawn(move || serve(stream, &shared, &sender));
            }
        });
        Self { socket, asked, state, _directory: directory }
    }

    /// Sends news to whoever is connected.
    pub(crate) fn tell(&self, notice: Notice) {
        let mut state = self.state.lock().unwrap();
        if let Notice::Pane(view) = &notice
            && view.is_full
        {
            state.panes.insert(view.agent.clone(), view.clone());
        }
        let frame = encode_frame(&FromHub::Notice(notice)).unwrap();
        for client in &mut state.clients {
            // A client that has just left is no fault of the test.
            drop(client.write_all(&frame));
        }
    }

    /// Waits until the dashboard asks for something for which `wanted` gives an answer.
    pub(crate) fn wait_for<T>(&self, wanted: impl Fn(&Request) -> Option<T>) -> T {
        loop {
            let request = self.asked.recv_timeout(PATIENCE).expect("the dashboard asks in time");
            if let Some(found) = wanted(&request) {
                return found;
            }
        }
    }

    /// Cuts every connection, as a hub that dies does.
    pub(crate) fn hang_up(&self) {
        for client in self.state.lock().unwrap().clients.drain(..) {
            client.shutdown(std::net::Shutdown::Both).unwrap();
        }
    }

    /// Lets nobody in any more.
    pub(crate) fn vanish(&self) {
        std::fs::remove_file(&self.socket).unwrap();
        self.hang_up();
    }

    /// Listens again at the same place.
    pub(crate) fn come_back(path: &Path, agents: &[&str]) -> Self {
        let other = Self::start(agents);
        std::fs::rename(&other.socket, path).unwrap();
        other
    }
}

fn serve(mut stream: UnixStream, state: &Mutex<State>, asked: &Sender<Request>) {
    state.lock().unwrap().clients.push(stream.try_clone().unwrap());
    let (mut reader, mut bytes) = (FrameReader::default(), vec![0; 65536]);
    while let Ok(count) = stream.read(&mut bytes) {
        if count == 0 {
            return;
        }
        reader.push(&bytes[..count]);
        while let Some(ask) = reader.next_frame::<Ask>().unwrap() {
            let mut state = state.lock().unwrap();
            #[expect(clippy::wildcard_enum_match_arm, reason = "most requests get the same answer")]
            let response = match &ask.request {
                Request::Hello { .. } => Response::Welcome {
                    protocol: PROTOCOL,
                    version: "0".to_owned(),
                    session: "shop-1".to_owned(),
                    pid: 1,
                },
                Request::Status => Response::Status(state.status.clone()),
                Request::Teams { .. } => Response::Teams { teams: Vec::new() },
                _ => Response::Ok,
            };
            let answer = FromHub::Answer { id: ask.id, outcome: Ok(response) };
            drop(stream.write_all(&encode_frame(&answer).unwrap()));
            // What a pane shows comes after the answer, as from the real one.
            if let Request::Watch { agents, .. } = &ask.request {
                for view in agents.iter().filter_map(|agent| state.panes.get(agent)) {
                    let notice = FromHub::Notice(Notice::Pane(view.clone()));
                    drop(stream.write_all(&encode_frame(&notice).unwrap()));
                }
            }
            state.clients.retain(|client| client.peer_addr().is_ok());
            drop(state);
            drop(asked.send(ask.request));
        }
    }
}

/// Returns a full view of a pane with lines at its top and the cursor after the last of them.
pub(crate) fn view(agent: &str, lines: &[&str]) -> PaneView {
    let last = lines.len().saturating_sub(1);
    PaneView {
        agent: agent.parse().unwrap(),
        size: Size::default(),
        is_full: true,
        rows: lines.iter().enumerate().map(|(at, line)| (short(at), row(line))).collect(),
        cursor: ViewCursor {
            row: short(last),
            col: short(lines[last].chars().count()),
            is_visible: true,
        },
        mouse: MouseWish::Nothing,
        is_alternate: false,
        committed: 0,
    }
}

/// Returns a row of plain text.
pub(crate) fn row(text: &str) -> Row {
    let columns = short(text.chars().count());
    Row {
        runs: vec![Run { text: text.to_owned(), columns, style: Style::default() }],
        wrapped: false,
    }
}

fn short(length: usize) -> u16 {
    u16::try_from(length).unwrap()
}

pub(crate) fn status(agents: &[&str]) -> Status {
    let now = Moment(1_700_000_000_000).to_rfc3339();
    let agent = |name: &&str| AgentStatus {
        name: (*name).to_owned(),
        cli: "sim".to_owned(),
        role: Role::Worker,
        team: "shop".to_owned(),
        state: AgentState::Working,
        source: Source::Screen,
        stuck: false,
        conflict: false,
        pid: Some(2),
        keeper_pid: Some(3),
        since: now.clone(),
        task: None,
        run: 1,
        title: String::new(),
        ending: None,
        note: None,
        started_by: None,
        progress: None,
        rule: String::new(),
        reports: 0,
        dialog: None,
        by_rule: false,
        receipt: None,
        queued: 0,
        tokens: None,
        workspace: wheelhouse::model::WorkspaceKind::default(),
        cwd: PathBuf::new(),
        branch: None,
        changed: None,
        runner: None,
        unreachable: None,
        doubt: None,
    };
    Status {
        hub: HubStatus {
            pid: 1,
            version: "0".to_owned(),
            session: "shop-1".to_owned(),
            project: "/home/ada/shop".to_owned(),
            since: now.clone(),
            settings_fault: None,
            trouble: None,
        },
        agents: agents.iter().map(agent).collect(),
        tasks: Vec::new(),
        attention: Vec::new(),
        interrupted: Box::default(),
        runs: Vec::new(),
    }
}
