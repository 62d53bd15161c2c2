//! What the actions of the overview do.

use super::{attention, diffs, keys, links, prompts, reading};
use crate::api::{Interrupted, KeyInput, Request};
use crate::model::AgentName;
use crate::tui::app::{App, AttentionGoal, Mode, Purpose};
use crate::tui::grid::{Layout, neighbour};
use crate::tui::keys::Action;
use crate::tui::options::Ended;
use crate::tui::overlay::{
    AgentAction, AgentForm, AttentionList, Confirm, Help, Launcher, PlaybookList, SearchBox,
    TaskList,
};
use crate::tui::style::Tone;

/// Does what a key means.
pub(super) fn act(app: &mut App, action: Action) {
    app.damage.is_all = true;
    match action {
        Action::Select(number) => select_index(app, usize::from(number) - 1),
        Action::SelectLeft => select_beside(app, -1, 0),
        Action::SelectRight => select_beside(app, 1, 0),
        Action::SelectUp => select_beside(app, 0, -1),
        Action::SelectDown => select_beside(app, 0, 1),
        Action::SelectNext => select_in_turn(app, 1),
        Action::SelectPrevious => select_in_turn(app, app.agents.len().saturating_sub(1)),
        Action::Type => begin_typing(app),
        Action::Zoom => zoom(app),
        Action::NextLayout => app.set_layout(app.layout.next()),
        Action::Read => {
            if let Some(agent) = app.selected.clone() {
                reading::begin(app, &agent);
            }
        }
        Action::Scroll => {
            if let Some(agent) = app.selected.clone() {
                reading::begin_above(app, &agent);
            }
        }
        Action::History => {
            if let Some(agent) = app.selected.clone()
                && reading::begin(app, &agent)
            {
                reading::open_editor(app, true);
            }
        }
        Action::Search => search(app),
        Action::Links => links::open(app, None),
        Action::Dispatch => prompts::write(app),
        Action::Broadcast => prompts::write_to_all(app),
        Action::Attend => attention::follow(app, AttentionGoal::Next),
        Action::Attention => app.overlays.push(AttentionList::new(app)),
        Action::Interrupt => prompts::interrupt(app),
        Action::Withdraw => prompts::withdraw(app),
        Action::Dismiss => dismiss(app),
        Action::Start => start(app),
        Action::Stop => confirm(app, AgentAction::Stop),
        Action::Restart => confirm(app, AgentAction::Restart),
        Action::Resume => resume(app),
        Action::Remove => confirm(app, AgentAction::Remove),
        Action::Merge => confirm(app, AgentAction::Merge),
        Action::Clean => confirm(app, AgentAction::Clean),
        Action::Add => open_form(app),
        Action::Teams => open_launcher(app, false),
        Action::Playbooks if app.settings.playbooks.is_empty() => {
            app.say(Tone::Warning, "There are no playbooks here");
        }
        Action::Playbooks => {
            app.overlays.push(PlaybookList::default());
            app.damage.is_all = true;
        }
        Action::Tasks => app.overlays.push(TaskList::default()),
        Action::Diff => diffs::open(app),
        Action::Help => app.overlays.push(Help::default()),
        Action::Redraw => app.needs_whole_frame = true,
        Action::Detach => app.end = Some(Ok(Ended::Detached)),
        // These belong to other scopes.
        Action::LeaveTyping
        | Action::Reading(_)
        | Action::CopyLink
        | Action::Choose(_)
        | Action::Task(_)
        | Action::Review(_)
        | Action::Write(_) => {}
    }
}

/// Takes a failed prompt of the selected agent off its tile.
fn dismiss(app: &mut App) {
    if let Some(agent) = app.selected.clone() {
        app.dismiss(&agent);
    }
}

/// Selects an agent and leaves whatever was done with another one.
pub(super) fn select(app: &mut App, agent: AgentName) {
    if app.selected.as_ref() != Some(&agent) {
        leave_typing(app);
        app.mode = Mode::Overview { has_just_left: false };
        app.selected = Some(agent);
    }
    app.damage.is_all = true;
}

fn select_index(app: &mut App, index: usize) {
    match app.agents.get(index) {
        Some(agent) => select(app, agent.name.clone()),
        None => app.say(Tone::Dim, format!("There is no pane {}", index + 1)),
    }
}

fn select_beside(app: &mut App, dx: i32, dy: i32) {
    if app.layout == Layout::Single {
        let step = if dx + dy > 0 { 1 } else { app.agents.len().saturating_sub(1) };
        select_in_turn(app, step);
        return;
    }
    let from = app.selected_index().unwrap_or(0);
    if let Some(index) = neighbour(&app.slots(), from, dx, dy) {
        select_index(app, index);
    }
}

fn select_in_turn(app: &mut App, step: usize) {
    if !app.agents.is_empty() {
        let from = app.selected_index().unwrap_or(0);
        select_index(app, (from + step) % app.agents.len());
    }
}

/// Begins to type into the selected pane, if that makes sense.
pub(super) fn begin_typing(app: &mut App) {
    let Some(agent) = app.selected_agent() else { return };
    let name = agent.name.clone();
    if agent.has_ended() {
        let hint = app.keymap.hint(Action::Start).unwrap_or_default();
        app.say(Tone::Warning, format!("{name} has ended. Press {hint} to start it"));
    } else if !app.is_connected() {
        app.say(Tone::Danger, "Cannot type: no connection to the hub");
    } else {
        app.mode = Mode::Typing;
        keys::send(app, vec![KeyInput::Focus(true)]);
    }
    app.damage.is_all = true;
}

/// Opens the search in all panes.
fn search(app: &mut App) {
    if app.is_connected() {
        let search = SearchBox::open(app);
        app.overlays.push(search);
    } else {
        app.say(Tone::Danger, "The search has to wait: the hub is away");
    }
}

/// Goes back to the overview, if keys went to a pane or would go there again.
pub(super) fn leave_typing(app: &mut App) {
    let was_typing = matches!(&app.mode, Mode::Reading(reading) if reading.was_typing);
    if !app.is_typing() && !was_typing {
        return;
    }
    if app.is_connected() {
        keys::send(app, vec![KeyInput::Focus(false)]);
    }
    app.mode = Mode::Overview { has_just_left: false };
    app.damage.is_all = true;
}

fn zoom(app: &mut App) {
    let layout = if app.layout == Layout::Single { app.unzoomed } else { Layout::Single };
    app.set_layout(layout);
}

fn start(app: &mut App) {
    let Some(agent) = app.selected_agent() else { return };
    let name = agent.name.clone();
    if !agent.has_ended() {
        app.say(Tone::Dim, format!("{name} is already running"));
    } else if app.is_connected() {
        let environment = app.settings.environment.clone();
        let agents = vec![name.to_string()];
        app.ask(Purpose::Order, Request::Start { agents, environment });
        app.say(Tone::Dim, format!("Starting {name}…"));
    } else {
        app.say(Tone::Danger, "Not started: no connection to the hub");
    }
}

/// Takes up again all that was lost: conversations where there are any, else a fresh start. If nothing
/// was, asks about the selected agent.
fn resume(app: &mut App) {
    let Interrupted { resume, start, .. } = *app.interrupted.clone();
    let count = resume.len() + start.len();
    if count == 0 {
        return confirm(app, AgentAction::Resume);
    }
    if !app.is_connected() {
        return app.say(Tone::Danger, "Not resumed: no connection to the hub");
    }
    let environment = app.settings.environment.clone();
    if !start.is_empty() {
        let environment = environment.clone();
        app.ask(Purpose::Order, Request::Start { agents: start, environment });
    }
    if !resume.is_empty() {
        let request = Request::Resume { agents: resume, environment, grace_ms: None, brief: true };
        app.ask(Purpose::Order, request);
    }
    app.say(Tone::Dim, format!("Resuming {count} lost agents…"));
}

fn confirm(app: &mut App, action: AgentAction) {
    let Some(agent) = app.selected_agent() else { return };
    let (name, has_ended) = (agent.name.clone(), agent.has_ended());
    let has_space = agent.workspace.is_some();
    match action {
        AgentAction::Stop if has_ended => app.say(Tone::Dim, format!("{name} has already ended")),
        AgentAction::Remove if !has_ended => {
            let hint = app.keymap.hint(Action::Stop).unwrap_or_default();
            app.say(Tone::Warning, format!("{name} is running. Press {hint} to stop it first"));
        }
        AgentAction::Merge | AgentAction::Squash | AgentAction::Clean | AgentAction::Rescue
            if !has_space =>
        {
            app.say(Tone::Dim, format!("{name} works in the project and has no workspace"));
        }
        AgentAction::Clean | AgentAction::Rescue if !has_ended => {
            let hint = app.keymap.hint(Action::Stop).unwrap_or_default();
            app.say(
                Tone::Warning,
                format!("{name} is running in its workspace. Press {hint} to stop it first"),
            );
        }
        AgentAction::Stop
        | AgentAction::Restart
        | AgentAction::Resume
        | AgentAction::Remove
        | AgentAction::Merge
        | AgentAction::Squash
        | AgentAction::Clean
        | AgentAction::Rescue => {
            app.overlays.push(Confirm::Agent { agent: name, action });
        }
    }
}

/// Shows the teams, and asks the hub which there are now.
pub(super) fn open_launcher(app: &mut App, is_first_screen: bool) {
    app.overlays.push(Launcher::new(is_first_screen));
    app.damage.is_all = true;
    if app.is_connected() {
        let environment = app.settings.environment.clone();
        app.ask(Purpose::Teams, Request::Teams { environment });
    }
}

/// Shows the form for a new agent, and asks the hub what it could run.
fn open_form(app: &mut App) {
    if app.agents.is_empty() {
        let hint = app.keymap.hint(Action::Teams).unwrap_or_default();
        app.say(Tone::Warning, format!("No team is running. Press {hint} to start one"));
        return;
    }
    app.overlays.push(AgentForm::new());
    if app.is_connected() {
        let environment = app.settings.environment.clone();
        app.ask(Purpose::Clis, Request::Clis { environment });
    }
}
