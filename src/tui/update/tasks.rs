//! Tasks: their list as it changes, one of them in full, and what became of a form.

use std::cmp::Reverse;

use super::news::words;
use crate::model::TaskId;
use crate::tui::app::{App, RunLine};
use crate::tui::look::Tone;
use crate::tui::overlay::Overlay;
use crate::tui::text::clean;
use crate::wire::{Fault, Response, Status};

/// Takes the tasks as they are now, and asks anew for one that is shown in full and has changed.
pub(super) fn follow(app: &mut App, news: &Status) {
    let mut tasks = news.tasks.clone();
    tasks.sort_by_key(|task| (task.state.is_final(), Reverse(task.since.clone())));
    if app.tasks != tasks {
        app.tasks = tasks;
        app.damage.is_all = true;
    }
    let run = RunLine::of(news);
    if app.run != run {
        app.run = run;
        app.damage.is_all = true;
    }
    let views = app.overlays.iter_mut().filter_map(|overlay| {
        let Overlay::TaskView(view) = overlay else { return None };
        view.follow(news)
    });
    for (purpose, request) in views.collect::<Vec<_>>() {
        app.ask(purpose, request);
    }
}

/// Takes all about one task, for whoever looks at it.
pub(super) fn shown(app: &mut App, task: TaskId, outcome: &Result<Response, Fault>) {
    app.damage.is_all = true;
    for overlay in &mut app.overlays {
        if let Overlay::TaskView(view) = overlay
            && view.id == task
        {
            match outcome {
                Ok(Response::Task(task)) => view.show(task.clone()),
                Ok(_) => {}
                Err(fault) => view.fail(words(fault)),
            }
        }
    }
}

/// Takes what became of a form: it closes, or says why not.
pub(super) fn heard(app: &mut App, outcome: Result<Response, Fault>) {
    let is_it = |overlay: &Overlay| matches!(overlay, Overlay::TaskForm(form) if form.is_sent);
    let at = app.overlays.iter().position(is_it);
    match outcome {
        Ok(Response::Done(done)) => {
            let form = at.map(|at| app.overlays.remove(at));
            let is_retry = matches!(&form, Some(Overlay::TaskForm(form)) if form.is_retry());
            let what = if is_retry { "is tried again" } else { "is on record" };
            for task in &done.tasks {
                let text = format!("{} {what}: {}", task.id, task.title);
                app.say(Tone::Accent, clean(&text));
                choose(app, task.id);
            }
        }
        Ok(_) => {}
        Err(fault) => match at.and_then(|at| app.overlays.get_mut(at)) {
            Some(Overlay::TaskForm(form)) => {
                form.fail(words(&fault));
                app.damage.is_all = true;
            }
            _ => app.say(Tone::Danger, words(&fault)),
        },
    }
}

/// Chooses a task in the list, which may hear of it later.
fn choose(app: &mut App, task: TaskId) {
    for overlay in &mut app.overlays {
        if let Overlay::Tasks(list) = overlay {
            list.choose_task(task);
        }
    }
}
