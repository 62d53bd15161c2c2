//! The hub's queue in the dashboard: listed, gone to, answered in place, and marked as seen.

use super::fixture::{NOW, Stage, agent, stage, status, status_with, team};
use crate::api::{AttentionStatus, FromHub, Notice, Request, Status, TaskRequest, TaskStatus};
use crate::model::{AgentState, AttentionKind, Moment, Ruling, TaskState};
use crate::tui::update::AppInput;

fn item(id: &str, kind: AttentionKind, agent: &str, text: &str) -> AttentionStatus {
    AttentionStatus {
        id: id.to_owned(),
        kind,
        agent: (!agent.is_empty()).then(|| agent.to_owned()),
        task: None,
        text: text.to_owned(),
        hint: None,
        dialog: None,
        ruling: None,
        since: Moment(NOW.0 - 60_000).to_rfc3339(),
        read: false,
    }
}

/// Shows two agents, a task, and what waits for a person.
fn told(stage: &mut Stage, queue: Vec<AttentionStatus>) {
    let task = TaskStatus {
        id: "t1".to_owned(),
        title: "Fix the login".to_owned(),
        state: TaskState::Done,
        agent: Some("backend".to_owned()),
        attempt: 1,
        needs: Vec::new(),
        note: None,
        since: NOW.to_rfc3339(),
        run: None,
        key: None,
    };
    let FromHub::Notice(Notice::Status(status)) = status_with(team(2), vec![task]) else {
        panic!("a status is a notice");
    };
    let status = Status { attention: queue, ..status };
    stage.give(AppInput::Hub(FromHub::Notice(Notice::Status(status))));
    stage.requests();
}

fn asked(stage: &mut Stage) -> Vec<TaskRequest> {
    let ask = |request| if let Request::Task { ask } = request { Some(ask) } else { None };
    stage.requests().into_iter().filter_map(ask).collect()
}

#[test]
fn what_waits_is_listed_with_what_was_not_seen_yet_marked() {
    let mut stage = stage(140, 40, 2);
    let unfit = item("a2", AttentionKind::Unfit, "", "no running agent fits it\u{1b}[31m");
    let seen =
        AttentionStatus { read: true, ..item("a3", AttentionKind::Loop, "backend", "E0308") };
    let over =
        AttentionStatus { read: true, ..item("a4", AttentionKind::Finished, "backend", "x") };
    told(&mut stage, vec![unfit, seen, over]);
    stage.press("A");
    let text = stage.text();
    assert!(text.contains("● unfit: no running agent fits it"), "{text}");
    assert!(text.contains(" loop: E0308") && !text.contains("● loop"), "{text}");
    assert!(!text.contains("finished: "), "a person has seen that it is over");
}

#[test]
fn consent_is_given_with_one_key_and_what_was_shown_is_marked() {
    let mut stage = stage(140, 40, 2);
    let (from, to) = ("backend".parse().unwrap(), "frontend".parse().unwrap());
    let text = "wants to message frontend: the list of users";
    let mut waits = item("a7", AttentionKind::Consent, "backend", text);
    waits.ruling = Some(Ruling::Consent { from, to });
    told(&mut stage, vec![waits.clone()]);
    // The second agent of the team has waited for longer.
    stage.press("a a");
    assert!(stage.text().contains("Let backend message frontend?"), "{}", stage.text());
    assert!(
        matches!(&asked(&mut stage)[..], [TaskRequest::MarkRead { items }] if items == &["a7"])
    );
    stage.press("enter");
    let asked = asked(&mut stage);
    assert!(
        matches!(&asked[..], [TaskRequest::Consent { from, to }] if from == "backend" && to == "frontend"),
        "{asked:?}"
    );
    stage.press("a a d");
    stage.give(AppInput::Paste("Ask me instead".to_owned()));
    stage.press("enter");
    let sent = stage.requests().into_iter().find_map(|request| {
        let Request::Dispatch { agents, .. } = request else { return None };
        Some(agents)
    });
    assert_eq!(sent, Some(vec!["backend".to_owned()]), "another answer is a prompt");
    stage.press("esc");
    // Somebody else answered it meanwhile.
    stage.press("a a");
    assert_eq!(stage.app.overlays.len(), 1);
    told(&mut stage, Vec::new());
    assert_eq!(stage.app.overlays.len(), 0);
}

#[test]
fn a_finished_task_is_shown_in_full_and_a_dialog_is_told_once() {
    let mut stage = stage(140, 40, 2);
    let mut over = item("a1", AttentionKind::Finished, "backend", "Fix the login: 3 tests pass");
    over.task = Some("t1".to_owned());
    // The second agent of the team waits with a dialog, which its tile shows too.
    let dialog = item("a2", AttentionKind::Dialog, "frontend", "a dialog waits for an answer");
    told(&mut stage, vec![over, dialog]);
    let waiting: Vec<_> =
        stage.app.attention().iter().map(|one| one.agent.clone().unwrap().to_string()).collect();
    assert_eq!(waiting.iter().filter(|agent| *agent == "frontend").count(), 1, "{waiting:?}");
    stage.press("A");
    let place = waiting.iter().position(|agent| agent == "backend").unwrap();
    stage.press(&"down ".repeat(place));
    stage.press("enter");
    let asked = asked(&mut stage);
    let shows = |ask: &TaskRequest| matches!(ask, TaskRequest::Show { task } if task == "t1");
    assert!(asked.iter().any(shows), "{asked:?}");
}

#[test]
fn who_has_a_task_calls_nobody_until_the_queue_does() {
    let states = [AgentState::Blocked, AgentState::Error, AgentState::Working];
    let mut stage = stage(140, 40, 2);
    for (state, has_task) in states.iter().flat_map(|state| [(*state, true), (*state, false)]) {
        let mut one = agent("backend", state, 60);
        one.stuck = state == AgentState::Working;
        one.task = has_task.then(|| "t1".to_owned());
        stage.give(AppInput::Hub(status(vec![one])));
        let waits = usize::from(!has_task);
        assert_eq!(stage.app.attention().len(), waits, "{state} with a task: {has_task}");
    }
}

#[test]
fn the_chosen_thing_stays_chosen_whatever_comes_and_goes() {
    let mut stage = stage(140, 40, 2);
    let first = item("a1", AttentionKind::Unfit, "", "no running agent fits it");
    let second = item("a2", AttentionKind::Loop, "backend", "E0308");
    let third = item("a3", AttentionKind::Failed, "backend", "no disk");
    told(&mut stage, vec![first, second.clone(), third.clone()]);
    stage.press("A");
    let chosen = |stage: &mut Stage| {
        let text = stage.text();
        text.lines().find(|line| line.contains('▸')).unwrap_or_default().to_owned()
    };
    while !chosen(&mut stage).contains("E0308") {
        stage.press("down");
    }
    told(&mut stage, vec![second, third.clone()]);
    assert!(chosen(&mut stage).contains("E0308"), "what came before it has gone");
    told(&mut stage, vec![third]);
    assert!(stage.text().contains('▸'), "it is gone itself");
}
