//! Which parts of the picture are out of date.

use std::collections::BTreeMap;

use crate::model::AgentName;

/// What has to be drawn anew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Damage {
    pub is_all: bool,
    /// The labels that tell how long something has been so.
    pub has_labels: bool,
    pub panes: BTreeMap<AgentName, PaneDamage>,
}

/// What has to be drawn anew of one pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PaneDamage {
    pub is_whole: bool,
    /// Rows of the pane; may name one twice.
    pub rows: Vec<u16>,
}

impl Damage {
    /// Says whether there is nothing to draw.
    pub(crate) fn is_none(&self) -> bool {
        !self.is_all && !self.has_labels && self.panes.is_empty()
    }

    /// Takes note of rows of a pane that changed.
    pub(crate) fn add_rows(&mut self, agent: &AgentName, rows: impl Iterator<Item = u16>) {
        if let Some(pane) = self.panes.get_mut(agent) {
            pane.rows.extend(rows);
        } else {
            let pane = PaneDamage { is_whole: false, rows: rows.collect() };
            self.panes.insert(agent.clone(), pane);
        }
    }

    /// Takes note of a pane of which nothing stays.
    pub(crate) fn add_pane(&mut self, agent: &AgentName) {
        self.panes.entry(agent.clone()).or_default().is_whole = true;
    }

    /// Takes the damage of one pane out, so that it can be drawn before the rest.
    #[must_use]
    pub(crate) fn take_pane(&mut self, agent: &AgentName) -> Option<Self> {
        let pane = self.panes.remove(agent)?;
        let panes = BTreeMap::from([(agent.clone(), pane)]);
        Some(Self { panes, ..Self::default() })
    }
}
