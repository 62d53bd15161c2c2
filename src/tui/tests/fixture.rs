//! Things that tests of this room are made of.

use std::collections::BTreeMap;

use crate::api::{
    AgentOffer, AgentStatus, Ask, CliOffer, Fault, FromHub, HubStatus, KeyInput, MouseWish, Notice,
    PROTOCOL, PaneView, Request, Response, Status, TaskStatus, TeamOffer, ViewCursor,
};
use crate::model::{
    AgentState, Environment, Modifiers, Moment, Mouse, MouseButton, MouseKind, Role, Row, Run,
    Size, Source, Style,
};
use crate::tui::app::{App, AppSettings};
use crate::tui::draw::Picture;
use crate::tui::grid::Cards;
use crate::tui::keys::Keymap;
use crate::tui::options::StartView;
use crate::tui::style::{Depth, Theme, ThemeChoice};
use crate::tui::update::{AppInput, update};

/// The time in tests: some evening in 2023.
pub(crate) const NOW: Moment = Moment(1_700_000_000_000);

pub(crate) fn theme() -> Theme {
    Theme::load(&ThemeChoice::Auto, Depth::True).unwrap()
}

pub(crate) fn run(text: &str, columns: u16) -> Run {
    Run { text: text.to_owned(), columns, style: Style::default() }
}

pub(crate) fn row(text: &str) -> Row {
    let columns = u16::try_from(text.chars().count()).unwrap();
    let runs = if columns == 0 { Vec::new() } else { vec![run(text, columns)] };
    Row { runs, wrapped: false }
}

/// Returns a full view of a pane of 80 by 24 with lines at its top.
pub(crate) fn pane_view(agent: &str, lines: &[&str]) -> PaneView {
    PaneView {
        agent: agent.parse().unwrap(),
        size: Size::default(),
        is_full: true,
        rows: (0..24).map(|at| (at, row(lines.get(usize::from(at)).unwrap_or(&"")))).collect(),
        cursor: ViewCursor { row: 0, col: 0, is_visible: true },
        mouse: MouseWish::Nothing,
        is_alternate: false,
        committed: 0,
    }
}

/// Returns an agent that has been in its state for so many seconds.
pub(crate) fn agent(name: &str, state: AgentState, seconds: u64) -> AgentStatus {
    AgentStatus {
        name: name.to_owned(),
        cli: "claude".to_owned(),
        role: Role::Worker,
        team: "shop".to_owned(),
        state,
        source: Source::Screen,
        stuck: false,
        conflict: false,
        pid: Some(12),
        keeper_pid: Some(11),
        since: Moment(NOW.0 - seconds * 1000).to_rfc3339(),
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
        workspace: crate::model::WorkspaceKind::default(),
        cwd: std::path::PathBuf::new(),
        branch: None,
        changed: None,
        runner: None,
        unreachable: None,
        doubt: None,
    }
}

pub(crate) fn status(agents: Vec<AgentStatus>) -> FromHub {
    status_with(agents, Vec::new())
}

pub(crate) fn status_with(agents: Vec<AgentStatus>, tasks: Vec<TaskStatus>) -> FromHub {
    FromHub::Notice(Notice::Status(Status {
        hub: HubStatus {
            pid: 1,
            version: "0.1.0".to_owned(),
            session: "shop-3f9a2c1d".to_owned(),
            project: "/home/ada/shop".to_owned(),
            since: NOW.to_rfc3339(),
            settings_fault: None,
            trouble: None,
        },
        agents,
        tasks,
        attention: Vec::new(),
        interrupted: Box::default(),
        runs: Vec::new(),
    }))
}

const STATES: [AgentState; 10] = [
    AgentState::Working,
    AgentState::Waiting,
    AgentState::Idle,
    AgentState::Done,
    AgentState::Error,
    AgentState::Limited,
    AgentState::Blocked,
    AgentState::Unknown,
    AgentState::Exited,
    AgentState::Starting,
];

pub(crate) const NAMES: [&str; 16] = [
    "backend", "frontend", "tests", "docs", "database", "search", "payments", "mobile", "infra",
    "review", "verifier", "design", "release", "metrics", "triage", "lead",
];

/// Returns agents in all kinds of states.
pub(crate) fn team(count: usize) -> Vec<AgentStatus> {
    let member = |at: usize| {
        let mut member = agent(NAMES[at], STATES[at % 10], 7 + 95 * at as u64);
        member.cli = ["claude", "codex", "gemini", "opencode"][at % 4].to_owned();
        member.task =
            at.is_multiple_of(3).then(|| format!("Make the {} flow survive a restart", NAMES[at]));
        member.ending = (member.state == AgentState::Exited).then(|| "exit code 1".to_owned());
        member.stuck = at == 10;
        member
    };
    (0..count).map(member).collect()
}

pub(crate) const TALK: [&str; 9] = [
    "● I will look at how sessions are stored first.",
    "",
    "  Read(src/session/store.rs)",
    "  ⎿  214 lines",
    "",
    "✻ Thinking… (12s · ↑ 444 tokens · esc to interrupt)",
    "╭──────────────────────────────────────────────────────────────────────────╮",
    "│ >                                                                        │",
    "╰──────────────────────────────────────────────────────────────────────────╯",
];

/// Returns a dashboard with that many agents, all of them in the middle of something.
pub(crate) fn stage(cols: u16, rows: u16, count: usize) -> Stage {
    let mut stage = Stage::new(cols, rows, team(count));
    for name in &NAMES[..count] {
        let mut view = pane_view(name, &TALK);
        (view.cursor.row, view.cursor.col) = (7, 4);
        stage.show(view);
    }
    stage
}

/// Returns two teams, one of which cannot be started.
pub(crate) fn offers() -> Response {
    let member = |name: &str, cli: &str, command: &[&str]| AgentOffer {
        name: name.to_owned(),
        cli: cli.to_owned(),
        role: Role::Worker,
        command: command.iter().map(|word| (*word).to_owned()).collect(),
    };
    Response::Teams {
        teams: vec![
            TeamOffer {
                name: "shop".to_owned(),
                layout: "focus".to_owned(),
                origin: "wheelhouse.toml".to_owned(),
                agents: vec![
                    member("backend", "claude", &["claude", "--permission-mode", "acceptEdits"]),
                    member("frontend", "codex", &["codex"]),
                ],
                obstacle: None,
            },
            TeamOffer {
                name: "review".to_owned(),
                layout: "grid".to_owned(),
                origin: "built-in".to_owned(),
                agents: vec![member("reviewer", "gemini", &["gemini"])],
                obstacle: Some("`gemini` is not installed".to_owned()),
            },
        ],
    }
}

/// Returns three clis, one of which is not installed.
pub(crate) fn cli_offers() -> Response {
    let offer = |name: &str, command: &[&str], obstacle: Option<&str>| CliOffer {
        name: name.to_owned(),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        obstacle: obstacle.map(str::to_owned),
    };
    Response::Clis {
        clis: vec![
            offer("claude", &["claude", "--permission-mode", "acceptEdits"], None),
            offer("shell", &["/bin/bash"], None),
            offer("gemini", &["gemini"], Some("`gemini` is not on the PATH")),
        ],
        runners: vec!["box".to_owned(), "pod".to_owned()],
    }
}

/// Drives a dashboard as its loop does, without a terminal and without a hub.
pub(crate) struct Stage {
    pub app: App,
    pub asked: Vec<Ask>,
    /// The number of the last request that was taken.
    pub last_id: u64,
    pub picture: Picture,
}

impl Stage {
    /// Returns a dashboard of that size that is connected and has these agents.
    pub(crate) fn new(cols: u16, rows: u16, agents: Vec<AgentStatus>) -> Self {
        let window = Size { rows, cols };
        let settings = AppSettings {
            cards: Cards::Auto,
            min_size: Size::default(),
            environment: Environment::default(),
            start: StartView::Auto,
            demo: None,
            playbooks: Vec::new(),
        };
        let keymap = Keymap::new(&BTreeMap::new()).unwrap();
        let app = App::new(keymap, theme(), settings, window);
        let mut stage = Self { app, asked: Vec::new(), last_id: 0, picture: Picture::new(window) };
        stage.give(AppInput::Connected);
        let hello = Response::Welcome {
            protocol: PROTOCOL,
            version: "0.1.0".into(),
            session: "shop-3f9a2c1d".into(),
            pid: 1,
        };
        stage.give(AppInput::Hub(FromHub::Answer { id: 1, outcome: Ok(hello) }));
        stage.give(AppInput::Hub(status(agents)));
        stage
    }

    pub(crate) fn give(&mut self, input: AppInput) {
        self.asked.extend(update(&mut self.app, [input], NOW));
    }

    /// Presses keys, named and separated by blanks.
    pub(crate) fn press(&mut self, keys: &str) {
        for key in keys.split_whitespace() {
            self.give(AppInput::Key(key.parse().unwrap()));
        }
    }

    pub(crate) fn show(&mut self, view: PaneView) {
        self.give(AppInput::Hub(FromHub::Notice(Notice::Pane(view))));
    }

    /// Presses the left button.
    pub(crate) fn click(&mut self, col: u16, row: u16) {
        self.point(MouseKind::Press(MouseButton::Left), col, row);
    }

    pub(crate) fn point(&mut self, kind: MouseKind, col: u16, row: u16) {
        self.give(AppInput::Mouse(Mouse { kind, row, col, modifiers: Modifiers::default() }));
    }

    /// Presses the left button on the first place that shows the text.
    pub(crate) fn click_on(&mut self, text: &str) {
        let screen = self.text();
        let found = screen.lines().zip(0..).find_map(|(line, row)| {
            let at = line.find(text)?;
            Some((u16::try_from(line[..at].chars().count()).unwrap(), row))
        });
        let (col, row) = found.unwrap_or_else(|| panic!("`{text}` is not in\n{screen}"));
        self.click(col, row);
    }

    pub(crate) fn refuse(&mut self, is_it: fn(&Request) -> bool, fault: Fault) {
        let id = self.asked.iter().rev().find(|ask| is_it(&ask.request)).unwrap().id;
        self.give(AppInput::Hub(FromHub::Answer { id, outcome: Err(fault) }));
    }

    pub(crate) fn selected(&self) -> &str {
        self.app.selected.as_ref().unwrap().as_str()
    }

    /// Returns what was typed into an agent since the last time.
    pub(crate) fn typed(&mut self, wanted: &str) -> Vec<KeyInput> {
        let mut typed = Vec::new();
        for request in self.requests() {
            if let Request::Keys { agent, keys } = request
                && agent == wanted
            {
                typed.extend(keys);
            }
        }
        typed
    }

    /// Returns what was asked since the last time.
    pub(crate) fn requests(&mut self) -> Vec<Request> {
        self.last_id = self.asked.last().map_or(self.last_id, |ask| ask.id);
        self.asked.drain(..).map(|ask| ask.request).collect()
    }

    /// Answers the last request for which `is_it` holds.
    pub(crate) fn answer(&mut self, is_it: fn(&Request) -> bool, response: Response) {
        let ask = self.asked.iter().rev().find(|ask| is_it(&ask.request)).unwrap();
        let id = ask.id;
        self.give(AppInput::Hub(FromHub::Answer { id, outcome: Ok(response) }));
    }

    /// Draws what is damaged and returns the bytes for the terminal.
    pub(crate) fn draw(&mut self) -> Vec<u8> {
        let damage = std::mem::take(&mut self.app.damage);
        self.picture.draw(&self.app, &damage).to_vec()
    }

    /// Returns the screen as text.
    pub(crate) fn text(&mut self) -> String {
        self.draw();
        let buffer = self.picture.buffer();
        let width = usize::from(buffer.area.width);
        let line = |cells: &[ratatui::buffer::Cell]| {
            let line: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
            line.trim_end().to_owned()
        };
        buffer.content.chunks(width).map(line).collect::<Vec<_>>().join("\n")
    }
}
