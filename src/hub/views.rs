//! What each client sees of the panes, and what it must be told next.
//!
//! A client is never sent a backlog. Each pane that it shows is compared with what was last sent of
//! it, at most sixty times a second, and only when the client has taken what came before.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::inbox::ClientId;
use super::pane::Pane;
use super::session::Outbox;
use crate::model::{AgentName, Moment, Row, Size};
use crate::screen::Screen;
use crate::wire::{FromHub, Notice, PaneView, Status, ViewCursor};

/// The pause between two frames of one pane.
const FRAME_PAUSE: Duration = Duration::from_millis(16);

/// All clients and what they see.
#[derive(Debug, Default)]
pub(super) struct Views {
    clients: BTreeMap<ClientId, View>,
}

#[derive(Debug)]
struct View {
    outbox: Outbox,
    is_greeted: bool,
    is_subscribed: bool,
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
    rows: Vec<Row>,
    /// Nothing, if all of it must be sent.
    size: Option<Size>,
    sent_at: Moment,
}

impl Views {
    pub(super) fn welcome(&mut self, client: ClientId, outbox: Outbox) {
        let view = View {
            outbox,
            is_greeted: false,
            is_subscribed: false,
            is_status_due: false,
            focused: None,
            shown: BTreeMap::new(),
            due: BTreeSet::new(),
        };
        self.clients.insert(client, view);
    }

    pub(super) fn dismiss(&mut self, client: ClientId) {
        self.clients.remove(&client);
    }

    pub(super) fn send(&self, client: ClientId, frame: &FromHub) {
        if let Some(view) = self.clients.get(&client) {
            view.outbox.send(frame);
        }
    }

    pub(super) fn note_heard(&self, client: ClientId) {
        if let Some(view) = self.clients.get(&client) {
            view.outbox.note_heard();
        }
    }

    pub(super) fn greet(&mut self, client: ClientId) {
        if let Some(view) = self.clients.get_mut(&client) {
            view.is_greeted = true;
        }
    }

    pub(super) fn is_greeted(&self, client: ClientId) -> bool {
        self.clients.get(&client).is_some_and(|view| view.is_greeted)
    }

    pub(super) fn subscribe(&mut self, client: ClientId) {
        if let Some(view) = self.clients.get_mut(&client) {
            view.is_subscribed = true;
            view.is_status_due = true;
        }
    }

    /// Notes which panes a client shows from now on; those that are new to it are sent in full.
    pub(super) fn watch(
        &mut self,
        client: ClientId,
        agents: Vec<AgentName>,
        focused: Option<AgentName>,
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
    }

    pub(super) fn note_change(&mut self, agent: &AgentName) {
        for view in self.clients.values_mut().filter(|view| view.shown.contains_key(agent)) {
            if !view.due.contains(agent) {
                view.due.insert(agent.clone());
            }
        }
    }

    /// Notes that a pane begins anew: what a client knew of it is void.
    pub(super) fn note_replacement(&mut self, agent: &AgentName) {
        for view in self.clients.values_mut() {
            if let Some(shown) = view.shown.get_mut(agent) {
                shown.size = None;
                view.due.insert(agent.clone());
            }
        }
    }

    pub(super) fn note_status_change(&mut self) {
        for view in self.clients.values_mut() {
            view.is_status_due = view.is_subscribed;
        }
    }

    pub(super) fn has_status_due(&self) -> bool {
        self.clients.values().any(View::takes_status)
    }

    pub(super) fn send_status(&mut self, status: &Status) {
        let notice = FromHub::Notice(Notice::Status(status.clone()));
        for view in self.clients.values_mut().filter(|view| view.takes_status()) {
            view.is_status_due = false;
            view.outbox.send(&notice);
        }
    }

    pub(super) fn say_goodbye(&self) {
        for view in self.clients.values() {
            view.outbox.send(&FromHub::Notice(Notice::Ending));
        }
    }

    /// Sends every pane whose time has come.
    pub(super) fn flush(&mut self, panes: &BTreeMap<AgentName, Pane>, now: Moment) {
        for view in self.clients.values_mut().filter(|view| !view.due.is_empty()) {
            view.flush(panes, now);
        }
    }

    /// Returns when the next pane is due that cannot be sent yet.
    pub(super) fn next_deadline(&self, panes: &BTreeMap<AgentName, Pane>) -> Option<Moment> {
        let fluent = self.clients.values().filter(|view| view.outbox.is_fluent());
        let moments = fluent.flat_map(|view| {
            view.due.iter().filter_map(|agent| {
                let held = panes.get(agent).and_then(|pane| pane.screen.held_until());
                let shown = view.shown.get(agent)?;
                Some((shown.sent_at + FRAME_PAUSE).max(held.unwrap_or_default()))
            })
        });
        moments.min()
    }
}

impl View {
    /// Says whether the client is to be told the status now; one that lags is told when it can.
    fn takes_status(&self) -> bool {
        self.is_status_due && self.outbox.is_fluent()
    }

    fn flush(&mut self, panes: &BTreeMap<AgentName, Pane>, now: Moment) {
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
            if now.since(shown.sent_at) < FRAME_PAUSE || pane.screen.is_held(now) {
                continue;
            }
            self.due.remove(&agent);
            let view = shown.update(&agent, &pane.screen, now);
            self.outbox.send(&FromHub::Notice(Notice::Pane(view)));
        }
    }
}

impl Shown {
    /// Takes over what the screen shows now, and returns what is new in it.
    fn update(&mut self, agent: &AgentName, screen: &Screen, now: Moment) -> PaneView {
        let size = screen.size();
        let is_full = self.size != Some(size);
        if is_full {
            self.rows = vec![Row::default(); usize::from(size.rows)];
        }
        let mut rows = Vec::new();
        for (index, row) in (0..).zip(screen.rows()) {
            let before = &mut self.rows[usize::from(index)];
            if is_full || *before != row {
                before.clone_from(&row);
                rows.push((index, row));
            }
        }
        (self.size, self.sent_at) = (Some(size), now);
        let (cursor, modes) = (screen.cursor(), screen.modes());
        PaneView {
            agent: agent.clone(),
            size,
            is_full,
            rows,
            cursor: ViewCursor { row: cursor.row, col: cursor.col, is_visible: cursor.visible },
            wants_mouse: modes.wants_mouse(),
            is_alternate: modes.alternate_screen,
            committed: screen.committed(),
        }
    }
}
