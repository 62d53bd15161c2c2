//! What the hub says.

use super::{actions, attention, diffs, links, prompts, reading, tasks};
use crate::api::{Fault, FromHub, Notice, PROTOCOL, PaneView, Request, Response, Status};
use crate::model::{AgentName, Done, Merge, MergeState};
use crate::tui::app::{AgentView, App, HubState, LocalEffect, Mode, Pane, Purpose};
use crate::tui::grid::Layout;
use crate::tui::keys::Action;
use crate::tui::options::{Ended, StartView, TuiError};
use crate::tui::overlay::{self, AgentForm, Launcher, SearchBox, each_of};
use crate::tui::style::Tone;
use crate::tui::text::clean;

/// Greets the hub and asks for all that the window shows.
pub(super) fn connected(app: &mut App) {
    app.connection = HubState::Up;
    app.watched = None;
    app.sizes.clear();
    app.damage.is_all = true;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    app.ask(Purpose::Hello, Request::Hello { protocol: PROTOCOL, version, token: None });
    app.ask(Purpose::Upkeep, Request::Subscribe);
    app.ask(Purpose::Status, Request::Status);
    for mail in std::mem::take(&mut app.unanswered) {
        app.post(mail);
    }
    for (purpose, request) in app.overlays.iter().filter_map(|o| o.request(app)).collect::<Vec<_>>()
    {
        app.ask(purpose, request);
    }
    diffs::await_receipts(app);
}

/// Takes note that the hub is away; what was asked for may or may not have happened.
pub(super) fn lost(app: &mut App, reason: &str) {
    let is_order = |purpose: &Purpose| match purpose {
        Purpose::Order
        | Purpose::Add { .. }
        | Purpose::Withdraw
        | Purpose::Answer { .. }
        | Purpose::Interrupt { .. }
        | Purpose::Review { receipt: None, .. }
        | Purpose::TaskForm => true,
        Purpose::Hello
        | Purpose::Dispatch(_)
        | Purpose::Upkeep
        | Purpose::Status
        | Purpose::Teams
        | Purpose::Up { .. }
        | Purpose::History { .. }
        | Purpose::Links { .. }
        | Purpose::Search { .. }
        | Purpose::Task { .. }
        | Purpose::Diff { .. }
        | Purpose::Review { receipt: Some(_), .. }
        | Purpose::Clis => false,
    };
    let unanswered = app.pending.values().any(is_order);
    if unanswered && app.is_connected() {
        app.say(Tone::Warning, "The hub went away before it answered: check what was done");
    }
    app.connection = HubState::Away { reason: clean(reason) };
    app.repeats.lose_hub();
    // A prompt is known by its key: the next hub is asked again, and sends it at most once.
    let mail = std::mem::take(&mut app.pending).into_values().filter_map(|purpose| {
        let Purpose::Dispatch(mail) = purpose else { return None };
        Some(mail)
    });
    app.unanswered.extend(mail);
    if !app.unanswered.is_empty() {
        app.say(Tone::Warning, "The hub is away: your prompt is handed over when it is back");
    }
    app.damage.is_all = true;
    if let Mode::Reading(reading) = &mut app.mode {
        reading.is_asking = false;
    }
    app.overlays.iter_mut().for_each(|overlay| overlay.lose_hub());
    diffs::lose_hub(app);
}

/// Takes a frame from the hub.
pub(super) fn take(app: &mut App, frame: FromHub) {
    match frame {
        FromHub::Notice(Notice::Pane(view)) => pane(app, view),
        FromHub::Notice(Notice::Status(news)) => status(app, &news),
        // What a report changes comes with the status.
        FromHub::Notice(Notice::Report { .. }) => {}
        FromHub::Notice(Notice::Alert(alert)) => {
            app.wishes.push(LocalEffect::Alert { title: alert.title, body: alert.body });
        }
        FromHub::Answer { id: 0, outcome: Err(fault) } => app.say(Tone::Danger, words(&fault)),
        FromHub::Notice(Notice::Ending) => app.end = Some(Ok(Ended::HubEnded)),
        FromHub::Answer { id, outcome } => {
            app.repeats.note_answer(id);
            if let Some(purpose) = app.pending.remove(&id) {
                answer(app, purpose, outcome);
            }
        }
    }
}

fn pane(app: &mut App, view: PaneView) {
    let name = view.agent.clone();
    if !app.agents.iter().any(|agent| agent.name == name) {
        return;
    }
    if let Some(sent) = app.sizes.get_mut(&name) {
        if view.size == sent.size {
            sent.is_confirmed = true;
        } else if sent.is_confirmed {
            // Somebody uses another dashboard; ours waits until it is used again.
            app.sizes.remove(&name);
            app.is_leading = false;
        }
    }
    let is_whole =
        view.is_full || app.panes.get(&name).is_none_or(|pane| pane.size != view.size.clamped());
    if is_whole {
        app.damage.add_pane(&name);
    }
    app.damage.add_rows(&name, view.rows.iter().map(|(at, _)| *at));
    if let Some(pane) = app.panes.get_mut(&name) {
        pane.apply(view);
    } else {
        app.panes.insert(name, Pane::new(view));
    }
    reading::fetch(app);
}

fn status(app: &mut App, news: &Status) {
    let project = news.hub.project.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let project = clean(project);
    let mut agents: Vec<AgentView> = news.agents.iter().filter_map(AgentView::new).collect();
    for agent in &mut agents {
        agent.name_task(&news.tasks);
        agent.follow(app.agent(&agent.name), app.now);
    }
    let is_first = app.project.is_none();
    if app.project.as_ref() != Some(&project) || app.agents != agents {
        app.damage.is_all = true;
    }
    app.project = Some(project);
    app.session = clean(&news.hub.session);
    if let Some(trouble) = &news.hub.trouble {
        app.say(Tone::Danger, clean(trouble));
    }
    note_interrupted(app, news);
    tasks::follow(app, news);
    if app.queue != news.attention {
        app.queue.clone_from(&news.attention);
        app.damage.is_all = true;
    }
    take_agents(app, agents);
    overlay::follow(app, news);
    let wants_teams = match app.settings.start {
        StartView::Auto => app.agents.is_empty(),
        StartView::Teams => true,
        StartView::Panes => false,
    };
    if is_first && wants_teams {
        actions::open_launcher(app, app.agents.is_empty());
    }
}

/// Says once that something was cut off, and which key takes it up again.
fn note_interrupted(app: &mut App, news: &Status) {
    let is_news = app.interrupted.is_empty() && !news.interrupted.is_empty();
    app.interrupted.clone_from(&news.interrupted);
    if is_news {
        let agents = [&news.interrupted.resume[..], &news.interrupted.start].concat().join(", ");
        let tasks = news.interrupted.tasks.join(", ");
        let tasks = if tasks.is_empty() { tasks } else { format!(" ({tasks})") };
        let hint = app.keymap.hint(Action::Resume).unwrap_or_default();
        app.say(Tone::Warning, clean(&format!("Lost: {agents}{tasks}. {hint} goes on with it")));
    }
}

fn take_agents(app: &mut App, agents: Vec<AgentView>) {
    let place = app.selected_index().unwrap_or(0);
    app.agents = agents;
    app.panes.retain(|name, _| app.agents.iter().any(|agent| agent.name == *name));
    app.sizes.retain(|name, _| app.agents.iter().any(|agent| agent.name == *name));
    select_awaited(app);
    if app.selected_index().is_none() {
        app.mode = Mode::Overview { has_just_left: false };
        let near = place.min(app.agents.len().saturating_sub(1));
        app.selected = app.agents.get(near).map(|agent| agent.name.clone());
    }
    let ended = app.selected_agent().filter(|agent| agent.has_ended());
    if let Some(name) = ended.filter(|_| app.is_typing()).map(|agent| agent.name.clone()) {
        app.mode = Mode::Overview { has_just_left: false };
        app.say(Tone::Warning, format!("{name} has ended: your keys go nowhere now"));
    }
}

fn answer(app: &mut App, purpose: Purpose, outcome: Result<Response, Fault>) {
    match (purpose, outcome) {
        (Purpose::Hello, Ok(Response::Welcome { protocol, version, pid, .. }))
            if protocol != PROTOCOL =>
        {
            let is_older = protocol < PROTOCOL;
            app.end = Some(Err(TuiError::Version { hub: version, is_older, pid }));
        }
        (Purpose::Hello, Err(fault)) => app.end = Some(Err(TuiError::Refused(words(&fault)))),
        (Purpose::Up { .. }, Err(fault)) => launch_failed(app, &fault),
        (Purpose::Up { layout }, Ok(_)) => launched(app, layout),
        (Purpose::Teams, Ok(Response::Teams { mut teams })) => {
            teams.extend(app.settings.demo.clone());
            app.teams = Some(teams);
            app.damage.is_all = true;
        }
        (Purpose::Clis, Ok(Response::Clis { clis, runners })) => {
            (app.clis, app.runners) = (Some(clis), runners);
            app.damage.is_all = true;
        }
        (Purpose::Dispatch(mail), outcome) => {
            prompts::take_receipts(app, mail.kind, &mail.draft, outcome);
        }
        (Purpose::Withdraw, Ok(Response::Done(done))) => prompts::say_withdrawn(app, &done),
        (Purpose::Answer { agent }, outcome) => attention::take_answer(app, &agent, outcome),
        (Purpose::Interrupt { agent }, Ok(Response::Deed { state, reason })) => {
            prompts::say_interrupted(app, &agent, state, reason);
        }
        (Purpose::Add { agent }, Err(fault)) => add_failed(app, &agent, &fault),
        (Purpose::Add { agent }, Ok(_)) => added(app, agent),
        (Purpose::Status, Ok(Response::Status(news))) => status(app, &news),
        (Purpose::Task { task }, outcome) => tasks::take_task(app, task, &outcome),
        (Purpose::TaskForm, outcome) => tasks::take_form_answer(app, outcome),
        (Purpose::Diff { agent, against, path }, outcome) => {
            diffs::take_diff(app, &agent, &against, path, outcome);
        }
        (Purpose::Review { agent, receipt: None }, outcome) => {
            diffs::take_sent(app, &agent, outcome);
        }
        (Purpose::Review { agent, receipt: Some(id) }, outcome) => {
            diffs::take_receipt(app, &agent, id, outcome);
        }
        (Purpose::History { agent }, Ok(Response::History { first, kept_from, rows, .. })) => {
            reading::take_lines(app, &agent, first, kept_from, rows);
        }
        (Purpose::Links { agent, at }, outcome) => links::take(app, agent, at, outcome),
        (Purpose::Search { agent }, outcome) => take_text(app, &agent, outcome),
        (
            Purpose::Order
            | Purpose::Withdraw
            | Purpose::Interrupt { .. }
            | Purpose::Teams
            | Purpose::Clis
            | Purpose::History { .. }
            | Purpose::Status,
            Err(fault),
        ) => {
            app.say(Tone::Danger, words(&fault));
        }
        (Purpose::Upkeep, Err(fault)) => tracing::debug!(%fault, "the hub refused"),
        (Purpose::Order, Ok(Response::Done(done))) => ordered(app, &done),
        (_, Ok(_)) => {}
    }
}

/// Takes a part of a pane's text for the search in all panes.
fn take_text(app: &mut App, agent: &AgentName, outcome: Result<Response, Fault>) {
    app.damage.is_all = true;
    let mut outcome = Some(outcome);
    each_of(app, |app, search: &mut SearchBox| {
        if let Some(outcome) = outcome.take() {
            search.take(app, agent, outcome);
        }
    });
}

/// Says what came of an order, where the status does not show it.
fn ordered(app: &mut App, done: &Done) {
    for merge in &done.merges {
        let (tone, text) = merged(merge);
        app.say(tone, text);
    }
    if !done.rescues.is_empty() {
        let names: Vec<String> = done.rescues.iter().map(|(_, name)| clean(name)).collect();
        app.say(Tone::Accent, format!("Its work is in {}", names.join(", ")));
    }
    // That it is under way is no longer true.
    let is_told = done.merges.is_empty() && done.rescues.is_empty();
    if is_told && app.message.take_if(|message| message.tone == Tone::Dim).is_some() {
        app.damage.is_all = true;
    }
}

/// Says what came of bringing work back.
fn merged(merge: &Merge) -> (Tone, String) {
    let (agent, into) = (&merge.agent, clean(&merge.terms.into));
    let note = merge.note.as_deref().and_then(|note| note.lines().next()).map(clean);
    let note = note.unwrap_or_default();
    let files: Vec<String> = merge.files.iter().map(|file| clean(&file.path)).collect();
    match merge.state {
        MergeState::Done if note.is_empty() => {
            (Tone::Accent, format!("The work of {agent} is on {into}: {} files", files.len()))
        }
        MergeState::Done => (Tone::Dim, format!("{agent}: {note}")),
        MergeState::Conflict => {
            (Tone::Warning, format!("{agent} conflicts with {into}: {}", files.join(", ")))
        }
        MergeState::Broken | MergeState::Failed | MergeState::Queued | MergeState::Merging => {
            (Tone::Danger, format!("Not brought back: {note}"))
        }
    }
}

fn launched(app: &mut App, layout: Option<Layout>) {
    drop(app.overlays.take(|_: &Launcher| true));
    app.damage.is_all = true;
    if let Some(layout) = layout {
        app.set_layout(layout);
    }
}

fn launch_failed(app: &mut App, fault: &Fault) {
    let text = words(fault);
    let launcher = app.overlays.all_mut::<Launcher>().next();
    match launcher {
        Some(launcher) => {
            launcher.fail(text);
            app.damage.is_all = true;
        }
        None => app.say(Tone::Danger, text),
    }
}

/// Closes the form of an agent that has come, and selects it as soon as it is among the others.
fn added(app: &mut App, agent: AgentName) {
    drop(app.overlays.take(|form: &AgentForm| form.starting.as_ref() == Some(&agent)));
    app.damage.is_all = true;
    app.awaited = Some(agent);
    select_awaited(app);
}

fn select_awaited(app: &mut App) {
    let has_come = |name: &AgentName| app.agents.iter().any(|agent| agent.name == *name);
    if let Some(name) = app.awaited.take_if(|name| has_come(name)) {
        actions::select(app, name);
    }
}

fn add_failed(app: &mut App, agent: &AgentName, fault: &Fault) {
    let text = words(fault);
    let is_asking = |form: &&mut AgentForm| form.starting.as_ref() == Some(agent);
    let form = app.overlays.all_mut().find(is_asking);
    match form {
        Some(form) => {
            form.fail(text);
            app.damage.is_all = true;
        }
        None => app.say(Tone::Danger, text),
    }
}

/// Returns what a fault says, and what to do about it.
pub(super) fn words(fault: &Fault) -> String {
    match &fault.hint {
        Some(hint) => clean(&format!("{} · {hint}", fault.message)),
        None => clean(&fault.message),
    }
}
