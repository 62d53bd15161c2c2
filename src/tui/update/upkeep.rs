//! Keeps the hub informed of what this window shows and how large.

use crate::model::{AgentName, Size};
use crate::tui::app::{App, Purpose, SentSize};
use crate::tui::grid::Slot;
use crate::wire::Request;

/// Tells the hub which panes are shown, if that has changed.
pub(super) fn watch(app: &mut App) {
    let slots = app.slots();
    let shown = slots.iter().map(|slot| app.agents[slot.index].name.clone());
    let shown: Vec<AgentName> = shown.collect();
    let sees = |agent: &AgentName| app.has_focus && shown.contains(agent);
    let is_attended = app.selected.as_ref().is_some_and(sees);
    let wanted = (shown, app.selected.clone(), is_attended);
    if app.watched.as_ref() != Some(&wanted) && (app.watched.is_some() || !wanted.0.is_empty()) {
        let (agents, focused, is_attended) = wanted.clone();
        app.ask(Purpose::Upkeep, Request::Watch { agents, focused, is_attended });
        app.watched = Some(wanted);
    }
}

/// Gives the panes the size of their tiles, if this dashboard was used last.
pub(super) fn resize(app: &mut App) {
    if !app.is_leading {
        return;
    }
    for (name, size) in wanted_sizes(app) {
        if app.sizes.get(&name).is_none_or(|sent| sent.size != size) {
            let is_confirmed = app.panes.get(&name).is_some_and(|pane| pane.size == size);
            if !is_confirmed {
                app.ask(Purpose::Upkeep, Request::Resize { agent: name.to_string(), size });
            }
            app.sizes.insert(name, SentSize { size, is_confirmed });
        }
    }
}

fn wanted_sizes(app: &App) -> Vec<(AgentName, Size)> {
    let least = app.settings.min_size;
    let live = |slot: &Slot| !slot.is_card && !app.agents[slot.index].has_ended();
    let wanted = app.slots().into_iter().filter(live).map(|slot| {
        let inner = slot.inner();
        let size = Size { rows: inner.height.max(least.rows), cols: inner.width.max(least.cols) };
        (app.agents[slot.index].name.clone(), size.clamped())
    });
    wanted.collect()
}
