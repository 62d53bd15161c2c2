//! Shows each client the panes that it wants to see, and tells it the status.
//!
//! A client is never sent a backlog. Each pane that it shows is compared with what was last sent of
//! it, at most sixty times a second, and only when the client has taken what came before.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::response_size::{ANSWER_BYTES_MAX, row_bytes};
use super::state::{Client, Clients};
use crate::api::{FromHub, MouseWish, Notice, PaneView, Status, ViewCursor};
use crate::hub::inbox::ClientId;
use crate::hub::outbox::Outbox;
use crate::model::{AgentName, Moment, Row, Size};
use crate::screen::{MouseMode, Screen};

/// The pause between two frames of one pane.
const FRAME_PAUSE: Duration = Duration::from_millis(16);

/// The pause for a pane that scrolls while nobody looks at it closely: nobody can read it anyway, and
/// each frame of it redraws everything.
const SCROLL_PAUSE: Duration = Duration::from_millis(150);

/// What follows a key this closely is its echo, and does not wait.
const ECHO: Duration = Duration::from_millis(200);

/// The pause between two notices of the status.
const STATUS_PAUSE: Duration = Duration::from_millis(50);

/// What clients are shown of a pane.
#[derive(Debug)]
pub(in crate::hub) struct PaneContent<'a> {
    pub(in crate::hub) screen: &'a Screen,
    /// Someone typed into it at this time.
    pub(in crate::hub) typed_at: Option<Moment>,
    /// Its agent runs.
    pub(in crate::hub) is_live: bool,
}

/// What one client sees.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a client")]
#[derive(Debug, Default)]
pub(super) struct ClientView {
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

impl Clients {
    pub(in crate::hub) fn subscribe(&mut self, client: ClientId) {
        if let Some(view) = self.view_mut(client) {
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
        let Some(view) = self.view_mut(client) else { return };
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

    fn view_mut(&mut self, client: ClientId) -> Option<&mut ClientView> {
        self.by_id.get_mut(&client).map(|one| &mut one.view)
    }

    fn views(&self) -> impl Iterator<Item = &ClientView> {
        self.by_id.values().map(|one| &one.view)
    }

    fn views_mut(&mut self) -> impl Iterator<Item = &mut ClientView> {
        self.by_id.values_mut().map(|one| &mut one.view)
    }

    /// Says whether somebody has the agent's pane before their eyes.
    pub(in crate::hub) fn is_attended(&self, agent: &AgentName) -> bool {
        self.views().any(|view| view.is_attended && view.focused.as_ref() == Some(agent))
    }

    pub(in crate::hub) fn has_dashboard(&self) -> bool {
        self.views().any(|view| view.is_dashboard)
    }

    pub(in crate::hub) fn note_change(&mut self, agent: &AgentName) {
        for view in self.views_mut().filter(|view| view.shown.contains_key(agent)) {
            if !view.due.contains(agent) {
                view.due.insert(agent.clone());
            }
        }
    }

    /// Notes that a pane begins anew: what a client knew of it is void.
    pub(in crate::hub) fn note_replacement(&mut self, agent: &AgentName) {
        for view in self.views_mut() {
            if let Some(shown) = view.shown.get_mut(agent) {
                shown.size = None;
                view.due.insert(agent.clone());
            }
        }
    }

    pub(in crate::hub) fn note_status_change(&mut self) {
        for view in self.views_mut() {
            view.is_status_due = view.is_subscribed;
        }
    }

    pub(in crate::hub) fn is_status_due(&self, now: Moment) -> bool {
        now.since(self.status_sent_at) >= STATUS_PAUSE
            && self.by_id.values().any(Client::takes_status)
    }

    pub(in crate::hub) fn send_status(&mut self, status: Status, now: Moment) {
        self.status_sent_at = now;
        let notice = FromHub::Notice(Notice::Status(status));
        for one in self.by_id.values_mut().filter(|one| one.takes_status()) {
            one.view.is_status_due = false;
            one.outbox.send(&notice);
        }
    }

    /// Tells those who want to hear of everything, unless they lag behind.
    pub(in crate::hub) fn tell_subscribers(&self, notice: Notice) {
        let frame = FromHub::Notice(notice);
        for one in self.by_id.values().filter(|one| one.view.is_subscribed) {
            if one.outbox.is_fluent() {
                one.outbox.send(&frame);
            }
        }
    }

    pub(in crate::hub) fn say_goodbye(&self) {
        for one in self.by_id.values() {
            one.outbox.send(&FromHub::Notice(Notice::Ending));
        }
    }

    /// Sends every pane whose time has come.
    pub(in crate::hub) fn flush<'a>(
        &mut self,
        content: impl Fn(&AgentName) -> Option<PaneContent<'a>>,
        now: Moment,
    ) {
        for one in self.by_id.values_mut().filter(|one| !one.view.due.is_empty()) {
            one.view.flush(&one.outbox, &content, &self.marks, now);
        }
    }

    /// Returns when the next thing is due that cannot be sent yet.
    pub(in crate::hub) fn next_deadline<'a>(
        &self,
        content: impl Fn(&AgentName) -> Option<PaneContent<'a>>,
    ) -> Option<Moment> {
        let mut next = None;
        for one in self.by_id.values().filter(|one| one.outbox.is_fluent()) {
            let view = &one.view;
            let frames = view.due.iter().filter_map(|agent| {
                let (pane, shown) = (content(agent)?, view.shown.get(agent)?);
                let due = shown.sent_at + shown.pause(&pane, view.focused.as_ref() == Some(agent));
                Some(due.max(pane.screen.held_until().unwrap_or_default()))
            });
            let status = view.is_status_due.then_some(self.status_sent_at + STATUS_PAUSE);
            next = frames.chain(status).chain(next).min();
        }
        next
    }
}

impl Client {
    /// Says whether the client is to be told the status now; one that lags is told when it can.
    fn takes_status(&self) -> bool {
        self.view.is_status_due && self.outbox.is_fluent()
    }
}

impl ClientView {
    fn flush<'a>(
        &mut self,
        outbox: &Outbox,
        content: &impl Fn(&AgentName) -> Option<PaneContent<'a>>,
        marks: &RandomState,
        now: Moment,
    ) {
        let focused = self.focused.clone().into_iter().filter(|agent| self.due.contains(agent));
        let rest = self.due.iter().filter(|agent| self.focused.as_ref() != Some(*agent)).cloned();
        for agent in focused.chain(rest).collect::<Vec<_>>() {
            if !outbox.is_fluent() {
                return;
            }
            let (Some(pane), Some(shown)) = (content(&agent), self.shown.get_mut(&agent)) else {
                self.due.remove(&agent);
                continue;
            };
            let pause = shown.pause(&pane, self.focused.as_ref() == Some(&agent));
            if now.since(shown.sent_at) < pause || pane.screen.is_held(now) {
                continue;
            }
            let (view, is_all) = shown.update(&agent, &pane, marks, now);
            if is_all {
                self.due.remove(&agent);
            }
            outbox.send(&FromHub::Notice(Notice::Pane(view)));
        }
    }
}

impl Shown {
    /// Returns how long to wait between the last frame and the next.
    fn pause(&self, pane: &PaneContent, is_focused: bool) -> Duration {
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
        pane: &PaneContent,
        marks: &RandomState,
        now: Moment,
    ) -> (PaneView, bool) {
        let screen = pane.screen;
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
            _ if !pane.is_live => MouseWish::Nothing,
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
