//! Reading back in a pane.

use crate::api::Request;
use crate::model::AgentName;
use crate::tui::app::{App, Mode, Purpose, Scroll};
use crate::tui::keys::ScrollAction;
use crate::tui::style::Tone;

/// Begins to read back, by that many lines or else by a page.
pub(super) fn begin(app: &mut App, agent: &AgentName, lines: Option<i64>) {
    let Some(pane) = app.panes.get(agent) else { return };
    let height = height(app, agent);
    let scroll = Scroll::new(agent.clone(), pane, height);
    if !scroll.has_past() {
        let why = if pane.is_alternate {
            format!("{agent} draws full-screen: there is no history to read")
        } else {
            format!("{agent} has no history yet")
        };
        app.say(Tone::Dim, why);
        return;
    }
    app.mode = Mode::Scrolling(scroll);
    app.damage.is_all = true;
    move_by(app, lines.unwrap_or(-page(height)));
}

/// Says whether there is anything of a pane above what is seen.
pub(super) fn has_past(app: &App, agent: &AgentName) -> bool {
    let pane = app.panes.get(agent);
    pane.is_some_and(|pane| Scroll::new(agent.clone(), pane, height(app, agent)).has_past())
}

/// Does what a key means while reading back.
pub(super) fn act(app: &mut App, reading: ScrollAction) {
    let Mode::Scrolling(scroll) = &app.mode else { return };
    let page = page(height(app, &scroll.agent));
    let lines = match reading {
        ScrollAction::LineUp => -1,
        ScrollAction::LineDown => 1,
        ScrollAction::PageUp => -page,
        ScrollAction::PageDown => page,
        ScrollAction::Oldest => i64::MIN,
        ScrollAction::Newest => i64::MAX,
        ScrollAction::Leave => return leave(app),
    };
    move_by(app, lines);
}

/// Moves by lines, up if negative; the wheel leaves at the newest line, as terminals do.
pub(super) fn wheel(app: &mut App, lines: i64) {
    if move_by(app, lines) && lines > 0 {
        leave(app);
    }
}

fn leave(app: &mut App) {
    app.mode = Mode::Overview { has_just_left: false };
    app.damage.is_all = true;
}

/// Moves and says whether that ended at the newest line.
fn move_by(app: &mut App, lines: i64) -> bool {
    let Mode::Scrolling(scroll) = &app.mode else { return false };
    let height = height(app, &scroll.agent);
    let (Mode::Scrolling(scroll), panes) = (&mut app.mode, &app.panes) else { return false };
    let Some(pane) = panes.get(&scroll.agent) else { return false };
    let is_newest = scroll.move_by(lines, pane, height);
    app.damage.is_all = true;
    fetch(app);
    is_newest
}

/// Asks for lines that should be seen and are not known.
pub(super) fn fetch(app: &mut App) {
    let Mode::Scrolling(scroll) = &app.mode else { return };
    let height = height(app, &scroll.agent);
    let (Mode::Scrolling(scroll), panes) = (&mut app.mode, &app.panes) else { return };
    let wanted = panes.get(&scroll.agent).and_then(|pane| scroll.wanted(pane, height));
    let Some((before, count)) = wanted else { return };
    scroll.is_asking = true;
    let agent = scroll.agent.clone();
    let request = Request::History { agent: agent.to_string(), before: Some(before), count };
    app.ask(Purpose::History { agent }, request);
}

fn height(app: &App, agent: &AgentName) -> u16 {
    app.slot_of(agent).map_or(0, |slot| slot.inner().height)
}

fn page(height: u16) -> i64 {
    // Two lines of the last page stay, to find the place again.
    i64::from(height.saturating_sub(2).max(1))
}
