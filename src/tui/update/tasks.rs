//! Tasks: their list as it changes, one of them in full, and what became of a form.

use std::cmp::Reverse;

use super::from_hub::words;
use crate::api::{Fault, Response, Status};
use crate::model::TaskId;
use crate::tui::app::{App, PlaybookRunLine};
use crate::tui::overlay::{TaskForm, TaskList, TaskView};
use crate::tui::style::Tone;
use crate::tui::text::clean;

/// Takes the tasks as they are now, and asks anew for one that is shown in full and has changed.
pub(super) fn follow(app: &mut App, news: &Status) {
    let mut tasks = news.tasks.clone();
    tasks.sort_by_key(|task| (task.state.is_final(), Reverse(task.since.clone())));
    if app.tasks != tasks {
        app.tasks = tasks;
        app.damage.is_all = true;
    }
    let run = PlaybookRunLine::of(news);
    if app.run != run {
        app.run = run;
        app.damage.is_all = true;
    }
}

/// Takes all about one task, for whoever looks at it.
pub(super) fn take_task(app: &mut App, task: TaskId, outcome: &Result<Response, Fault>) {
    app.damage.is_all = true;
    for view in app.overlays.all_mut::<TaskView>().filter(|view| view.id == task) {
        match outcome {
            Ok(Response::Task(task)) => view.show(task.clone()),
            Ok(_) => {}
            Err(fault) => view.fail(words(fault)),
        }
    }
}

/// Takes what became of a form: it closes, or says why not.
pub(super) fn take_form_answer(app: &mut App, outcome: Result<Response, Fault>) {
    match outcome {
        Ok(Response::Done(done)) => {
            let form = app.overlays.take(|form: &TaskForm| form.is_sent);
            let is_retry = form.is_some_and(|form| form.is_retry());
            let what = if is_retry { "retried" } else { "added" };
            for task in &done.tasks {
                let text = format!("{} {what}: {}", task.id, task.title);
                app.say(Tone::Accent, clean(&text));
                // The list may hear of it later.
                app.overlays.all_mut::<TaskList>().for_each(|list| list.choose_task(task.id));
            }
        }
        Ok(_) => {}
        Err(fault) => {
            let form = app.overlays.all_mut::<TaskForm>().find(|form| form.is_sent);
            match form {
                Some(form) => {
                    form.fail(words(&fault));
                    app.damage.is_all = true;
                }
                None => app.say(Tone::Danger, words(&fault)),
            }
        }
    }
}
