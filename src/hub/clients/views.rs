//! What each client sees of the panes, and what it must be told next.
//!
//! A client is never sent a backlog. Each pane that it shows is compared with what was last sent of
//! it, at most sixty times a second, and only when the client has taken what came before.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::connection::Outbox;
use super::response_size::{ANSWER_BYTES_MAX, row_bytes};
use crate::api::{Fault, FromHub, MouseWish, Notice, PaneView, Status, ViewCursor};
use crate::hub::inbox::ClientId;
use crate::hub::panes::pane::Pane;
use crate::model::{AgentName, Moment, Row, Size};
use crate::screen::MouseMode;

/// The pause between two frames of one pane.
const FRAME_PAUSE: Duration = Duration::from_millis(16);

/// The pause for a pane that scrolls while nobody looks at it closely: nobody can read it anyway, and
/// each frame of it redraws everything.
const SCROLL_PAUSE: Duration = Duration::from_millis(150);

/// What follows a key this closely is its echo, and does not wait.
const ECHO: Duration = Duration::from_millis(200);

/// The pause between two notices of the status.
const STATUS_PAUSE: Duration = Duration::from_millis(50);

/// All clients and what they see.
#[derive(Debug, Default)]
pub(in crate::hub) struct Views {
    clients: BTreeMap<ClientId, View>,
    /// The size that each pane was last asked to have, by whichever dashboard.
    sizes: BTreeMap<AgentName, Size>,
    status_sent_at: Moment,
    marks: RandomState,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a client")]
#[derive(Debug)]
struct View {
    outbox: Outbox,
    is_greeted: bool,
    /// What it said that it speaks.
    protocol: Option<u32>,
    /// Why its greeting was not taken.
    refusal: Option<Fault>,
    is_subscribed: bool,
    /// It has said what it shows, which only dashboards do.
    is_dashboard: bool,
    /// The person has the focused pane before their eyes.
    is_attended: bool,
    /// The status has changed since this client was last told.
    is_status_due: bool,
    focused: Option<AgentName>,
    shown: BTreeMap<AgentName, Shown>,
    /// Shown panes that have changed since they were last sent.
    due: BTreeSet<AgentName>,
}

/// What a client was last sent of a pane.
#[derive(Debug, Default)]
struct Shown {
    /// A mark of each row: the rows themselves would cost as much as the pane, for each client.
    rows: Vec<u64>,
    /// Nothing, if all of it must be sent.
    size: Option<Size>,
    sent_at: Moment,
    /// What the screen's count of changes was when all was last sent.
    seen: u64,
    /// Most of its rows were new when it was last sent.
    is_scrolling: bool,
}

impl Views {
    pub(in crate::hub) fn welcome(&mut self, client: ClientId, outbox: Outbox) {
        let view = View {
            outbox,
            is_greeted: false,
            protocol: None,
            refusal: None,
            is_subscribed: false,
            is_dashboard: false,
            is_attended: false,
            is_status_due: false,
            focused: None,
            shown: BTreeMap::new(),
            due: BTreeSet::new(),
        };
        self.clients.insert(client, view);
    }

    pub(in crate::hub) fn dismiss(&mut self, client: ClientId) {
        self.clients.remove(&client);
    }

    pub(in crate::hub) fn send(&self, client: ClientId, frame: &FromHub) {
        if let Some(view) = self.clients.get(&client) {
            view.outbox.send(frame);
        }
    }

    /// Sends a line to a reporter that speaks in lines.
    pub(in crate::hub) fn send_line(&self, client: ClientId, line: &serde_json::Value) {
        if let Some(view) = self.clients.get(&client) {
            view.outbox.send_line(line);
        }
    }

    pub(in crate::hub) fn note_heard(&self, client: ClientId) {
        if let Some(view) = self.clients.get(&client) {
            view.outbox.note_heard();
        }
    }

    pub(in crate::hub) fn greet(&mut self, client: ClientId) {
        if let Some(view) = self.clients.get_mut(&client) {
            view.is_greeted = true;
        }
    }

    pub(in crate::hub) fn note_protocol(&mut self, client: ClientId, protocol: u32) {
        if let Some(view) = self.clients.get_mut(&client) {
            view.protocol = Some(protocol);
        }
    }

    pub(in crate::hub) fn note_refusal(&mut self, client: ClientId, refusal: Option<Fault>) {
        if let Some(view) = self.clients.get_mut(&client) {
            view.refusal = refusal;
        }
    }

    /// Returns why a client was not greeted, if it tried.
    pub(in crate::hub) fn refusal_of(&self, client: ClientId) -> Option<&Fault> {
        self.clients.get(&client).and_then(|view| view.refusal.as_ref())
    }

    /// Returns what a client said that it speaks, if it said anything.
    pub(in crate::hub) fn protocol_of(&self, client: ClientId) -> Option<u32> {
        self.clients.get(&client).and_then(|view| view.protocol)
    }

    pub(in crate::hub) fn is_greeted(&self, client: ClientId) -> bool {
        self.clients.get(&client).is_some_and(|view| view.is_greeted)
    }

    pub(in crate::hub) fn subscribe(&mut self, client: ClientId) {
        if let Some(view) = self.clients.get_mut(&client) {
            view.is_subscribed = true;
            view.is_status_due = true;
        }
    }

    /// Notes which panes a client shows from now on; those that are new to it are sent in full.
    pub(in crate::hub) fn watch(
        &mut self,
        client: ClientId,
        agents: Vec<AgentName>,
        focused: Option<AgentName>,
        is_attended: bool,
    ) {
        let Some(view) = self.clients.get_mut(&client) else { return };
        view.shown.retain(|agent, _| agents.contains(agent));
        view.due.retain(|agent| agents.contains(agent));
        for agent in agents {
            if !view.shown.contains_key(&agent) {
                view.shown.insert(agent.clone(), Shown::default());
                view.due.insert(agent);
            }
        }
        view.focused = focused;
        (view.is_dashboard, view.is_attended) = (true, is_attended);
    }

    /// Notes the size of what shows a pane, whether or not its agent runs yet.
    pub(in crate::hub) fn note_size(&mut self, agent: &AgentName, size: Size) {
        self.sizes.insert(agent.clone(), size);
    }

    /// Returns the size of what shows a pane, if that was ever said.
    pub(in crate::hub) fn size_of(&self, agent: &AgentName) -> Option<Size> {
        self.sizes.get(agent).copied()
    }

    /// Says whether somebody has the agent's pane before their eyes.
    pub(in crate::hub) fn is_attended(&self, agent: &AgentName) -> bool {
        let sees = |view: &View| view.is_attended && view.focused.as_ref() == Some(agent);
        self.clients.values().any(sees)
    }

    pub(in crate::hub) fn has_dashboard(&self) -> bool {
        self.clients.values().any(|view| view.is_dashboard)
    }

    pub(in crate::hub) fn note_change(&mut self, agent: &AgentName) {
        for view in self.clients.values_mut().filter(|view| view.shown.contains_key(agent)) {
            if !view.due.contains(agent) {
                view.due.insert(agent.clone());
            }
        }
    }

    /// Notes that a pane begins anew: what a client knew of it is void.
    pub(in crate::hub) fn note_replacement(&mut self, agent: &AgentName) {
        for view in self.clients.values_mut() {
            if let Some(shown) = view.shown.get_mut(agent) {
                shown.size = None;
                view.due.insert(agent.clone());
            }
        }
    }

    pub(in crate::hub) fn note_status_change(&mut self) {
        for view in self.clients.values_mut() {
            view.is_status_due = view.is_subscribed;
        }
    }

    pub(in crate::hub) fn is_status_due(&self, now: Moment) -> bool {
        now.since(self.status_sent_at) >= STATUS_PAUSE
            && self.clients.values().any(View::takes_status)
    }

    pub(in crate::hub) fn send_status(&mut self, status: Status, now: Moment) {
        self.status_sent_at = now;
        let notice = FromHub::Notice(Notice::Status(status));
        for view in self.clients.values_mut().filter(|view| view.takes_status()) {
            view.is_status_due = false;
            view.outbox.send(&notice);
        }
    }

    /// Tells those who want to hear of everything, unless they lag behind.
    pub(in crate::hub) fn tell_subscribers(&self, frame: &FromHub) {
        for view in self.clients.values().filter(|view| view.is_subscribed) {
            if view.outbox.is_fluent() {
                view.outbox.send(frame);
            }
        }
    }

    pub(in crate::hub) fn say_goodbye(&self) {
        for view in self.clients.values() {
            view.outbox.send(&FromHub::Notice(Notice::Ending));
        }
    }

    /// Sends every pane whose time has come.
    pub(in crate::hub) fn flush(&mut self, panes: &BTreeMap<AgentName, Pane>, now: Moment) {
        for view in self.clients.values_mut().filter(|view| !view.due.is_empty()) {
            view.flush(panes, &self.marks, now);
        }
    }

    /// Returns when the next thing is due that cannot be sent yet.
    pub(in crate::hub) fn next_deadline(
        &self,
        panes: &BTreeMap<AgentName, Pane>,
    ) -> Option<Moment> {
        let fluent = || self.clients.values().filter(|view| view.outbox.is_fluent());
        let frames = fluent().flat_map(|view| {
            view.due.iter().filter_map(|agent| {
                let (pane, shown) = (panes.get(agent)?, view.shown.get(agent)?);
                let due = shown.sent_at + shown.pause(pane, view.focused.as_ref() == Some(agent));
                Some(due.max(pane.screen.held_until().unwrap_or_default()))
            })
        });
        let status = fluent().any(|view| view.is_status_due);
        frames.chain(status.then_some(self.status_sent_at + STATUS_PAUSE)).min()
    }
}

impl View {
    /// Says whether the client is to be told the status now; one that lags is told when it can.
    fn takes_status(&self) -> bool {
        self.is_status_due && self.outbox.is_fluent()
    }

    fn flush(&mut self, panes: &BTreeMap<AgentName, Pane>, marks: &RandomState, now: Moment) {
        let focused = self.focused.clone().into_iter().filter(|agent| self.due.contains(agent));
        let rest = self.due.iter().filter(|agent| self.focused.as_ref() != Some(*agent)).cloned();
        for agent in focused.chain(rest).collect::<Vec<_>>() {
            if !self.outbox.is_fluent() {
                return;
            }
            let (Some(pane), Some(shown)) = (panes.get(&agent), self.shown.get_mut(&agent)) else {
                self.due.remove(&agent);
                continue;
            };
            let pause = shown.pause(pane, self.focused.as_ref() == Some(&agent));
            if now.since(shown.sent_at) < pause || pane.screen.is_held(now) {
                continue;
            }
            let (view, is_all) = shown.update(&agent, pane, marks, now);
            if is_all {
                self.due.remove(&agent);
            }
            self.outbox.send(&FromHub::Notice(Notice::Pane(view)));
        }
    }
}

impl Shown {
    /// Returns how long to wait between the last frame and the next.
    fn pause(&self, pane: &Pane, is_focused: bool) -> Duration {
        let is_echo = pane.typed_at.is_some_and(|typed| self.sent_at.since(typed) < ECHO);
        match (is_focused, self.is_scrolling) {
            (true, _) if is_echo => Duration::ZERO,
            (true, _) | (false, false) => FRAME_PAUSE,
            (false, true) => SCROLL_PAUSE,
        }
    }

    /// Takes over what the screen shows now, and returns what is new in it, or as much of that as
    /// one frame holds, and whether that is all.
    fn update(
        &mut self,
        agent: &AgentName,
        pane: &Pane,
        marks: &RandomState,
        now: Moment,
    ) -> (PaneView, bool) {
        let screen = &pane.screen;
        let size = screen.size();
        let is_full = self.size != Some(size);
        if is_full {
            self.rows = vec![marks.hash_one(Row::default()); usize::from(size.rows)];
        }
        let mut rows = Vec::new();
        let mut bytes = 0;
        let is_new = |index: &u16| is_full || screen.row_changed_at(*index) > self.seen;
        for index in (0..size.rows).filter(is_new).collect::<Vec<_>>() {
            if bytes > ANSWER_BYTES_MAX / 2 {
                break;
            }
            let row = screen.row(index);
            let mark = marks.hash_one(&row);
            if std::mem::replace(&mut self.rows[usize::from(index)], mark) != mark {
                bytes += row_bytes(&row);
                rows.push((index, row));
            }
        }
        let is_all = bytes <= ANSWER_BYTES_MAX / 2;
        if is_all {
            self.seen = screen.changes();
        } else if is_full {
            self.seen = 0;
        }
        (self.size, self.sent_at) = (Some(size), now);
        self.is_scrolling = !is_full && rows.len() * 2 > usize::from(size.rows);
        let (cursor, modes) = (screen.cursor(), screen.modes());
        let mouse = match modes.mouse {
            // An application that died left its modes behind.
            _ if pane.link.is_none() => MouseWish::Nothing,
            MouseMode::None => MouseWish::Nothing,
            MouseMode::X10 | MouseMode::Normal | MouseMode::Button => MouseWish::Buttons,
            MouseMode::Any => MouseWish::Motion,
        };
        let view = PaneView {
            agent: agent.clone(),
            size,
            is_full,
            rows,
            cursor: ViewCursor {
                row: cursor.row,
                col: cursor.col,
                is_visible: cursor.visible,
                shape: cursor.shape.number(),
            },
            mouse,
            is_alternate: modes.alternate_screen,
            committed: screen.committed(),
        };
        (view, is_all)
    }
}
