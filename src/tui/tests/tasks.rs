//! Tasks in the dashboard: seen, added, tried again, given up and given away.

use super::fixture::{NAMES, NOW, Stage, stage, status_with, team};
use crate::api::{AgentStatus, Fault, Request, Response, TaskRequest, TaskStatus};
use crate::model::{
    Artifact, Attempt, Claim, ClaimProgress, Done, GateResult, Moment, MouseKind, Outcome,
    ReceiptId, RunId, Task, TaskId, TaskState, Terms, Told,
};
use crate::tui::app::LocalEffect;
use crate::tui::overlay::{TaskForm, TaskView};
use crate::tui::update::AppInput;

/// Returns a task that has been in its state for so many seconds.
fn task(id: u64, title: &str, state: TaskState, seconds: u64) -> Task {
    Task {
        id: TaskId(id),
        title: title.to_owned(),
        prompt: "Fix the login.\n\n  Keep the tests green.".to_owned(),
        needs: Vec::new(),
        terms: Terms::default(),
        state,
        since: Moment(NOW.0 - seconds * 1000),
        note: None,
        advice: None,
        verifies: None,
        attempts: Vec::new(),
        play: None,
        key: None,
        is_reduced: false,
        is_from_record: false,
        forgiven: 0,
        failed: Vec::new(),
    }
}

fn attempt(agent: &str, outcome: Option<Outcome>, summary: &str) -> Attempt {
    let ended = outcome.map(|_| NOW);
    Attempt {
        tag: "k7f2".to_owned(),
        agent: agent.parse().unwrap(),
        run: RunId(1),
        receipt: ReceiptId(1),
        last_receipt: ReceiptId(1),
        started: Moment(NOW.0 - 300_000),
        ended,
        outcome,
        summary: summary.to_owned(),
        steps: Vec::new(),
        artifacts: Vec::new(),
        build: None,
        turns: 1,
        told: Told::default(),
        refusals: 0,
        claim: None,
        claimed: None,
        hold: None,
        is_lost: false,
        is_compacted: false,
        next: None,
        tokens: 0,
    }
}

/// Returns tasks in all kinds of states, in the order in which they were added.
pub(super) fn tasks() -> Vec<Task> {
    let mut done = task(1, "Write the schema", TaskState::Done, 10);
    done.attempts = vec![attempt("backend", Some(Outcome::Done), "12 tests pass")];
    let mut running = task(2, "Fix the login", TaskState::Running, 300);
    running.needs = vec![TaskId(1)];
    running.terms.gates = vec!["cargo test".to_owned(), "file:out.txt".to_owned()];
    let mut first = attempt("frontend", Some(Outcome::Failed), "gate failed: cargo test");
    first.claim = Some(Claim {
        text: "the login works, 3 tests pass".to_owned(),
        is_concrete: true,
        at: NOW,
        progress: ClaimProgress::Idle,
        gates: vec![
            GateResult {
                gate: "cargo test".to_owned(),
                passed: false,
                output: "login::refuses \u{1b}[31mFAILED\nexit code 101".to_owned(),
            },
            GateResult { gate: "file:out.txt".to_owned(), passed: true, output: String::new() },
        ],
        tree: None,
        rechecks: 0,
        verifications: Vec::new(),
        seen_tree: None,
    });
    let mut second = attempt("backend", None, "");
    second.steps = vec!["Read the session store".to_owned()];
    second.artifacts =
        vec![Artifact { path: "out.txt".to_owned(), kind: "log".to_owned(), hash: None }];
    running.attempts = vec![first, second];
    let mut pending = task(3, "Describe the login", TaskState::Pending, 600);
    pending.needs = vec![TaskId(1), TaskId(2)];
    let mut blocked = task(4, "Deploy\u{9b}2J", TaskState::Blocked, 20);
    blocked.note = Some("it needs the key of the server".to_owned());
    let failed = task(5, "Draw the logo", TaskState::Failed, 5);
    vec![done, running, pending, blocked, failed]
}

pub(super) fn told(stage: &mut Stage, tasks: &[Task]) {
    let tasks = tasks.iter().map(TaskStatus::from).collect();
    stage.give(AppInput::Hub(status_with(crew(), tasks)));
}

fn crew() -> Vec<AgentStatus> {
    team(2)
}

/// Returns a dashboard with the list of tasks open.
pub(super) fn board(cols: u16, rows: u16) -> Stage {
    let mut stage = stage(cols, rows, 2);
    told(&mut stage, &tasks());
    stage.press("T");
    stage.requests();
    stage
}

pub(super) fn is_show(request: &Request) -> bool {
    matches!(request, Request::Task { ask: TaskRequest::Show { .. } })
}

fn is_task(request: &Request) -> bool {
    matches!(request, Request::Task { .. })
}

/// Returns what was asked about tasks since the last time.
fn asked(stage: &mut Stage) -> Vec<TaskRequest> {
    let asked = stage.requests().into_iter().filter_map(|request| {
        let Request::Task { ask } = request else { return None };
        Some(ask)
    });
    asked.collect()
}

fn write(stage: &mut Stage, text: &str) {
    stage.give(AppInput::Paste(text.to_owned()));
}

fn done(task: Task) -> Response {
    Response::Done(Done { tasks: vec![task], ..Done::default() })
}

/// Returns the task that the arrow points at.
fn chosen(stage: &mut Stage) -> String {
    let text = stage.text();
    let line = text.lines().find(|line| line.contains('▸')).unwrap_or_default();
    line.split_whitespace().find(|word| word.parse::<TaskId>().is_ok()).unwrap_or("").to_owned()
}

#[test]
fn open_tasks_come_first_and_what_happened_last_before_the_rest() {
    let mut stage = board(120, 40);
    let text = stage.text();
    let ids = text
        .lines()
        .filter_map(|line| line.split_whitespace().find(|word| word.parse::<TaskId>().is_ok()));
    assert_eq!(ids.collect::<Vec<_>>(), ["t4", "t2", "t3", "t5", "t1"]);
    assert!(text.contains("Describe the login · needs t2"), "t1 is done already:\n{text}");
    assert!(text.contains("Deploy\u{fffd}2J · it needs the key of the server"), "{text}");
}

#[test]
fn the_chosen_task_stays_chosen_wherever_it_moves() {
    let mut stage = board(120, 40);
    stage.press("down");
    assert_eq!(chosen(&mut stage), "t2");
    let mut moved = tasks();
    moved[1].since = NOW;
    moved.push(task(6, "New", TaskState::Ready, 0));
    told(&mut stage, &moved);
    assert_eq!(chosen(&mut stage), "t2");
    stage.press("down x");
    assert!(stage.text().contains("Cancel t6?"));
}

#[test]
fn the_mouse_chooses_shows_and_turns() {
    let mut stage = board(120, 40);
    stage.click_on("Fix the login");
    assert_eq!(chosen(&mut stage), "t2");
    stage.click_on("Fix the login");
    assert!(matches!(&asked(&mut stage)[..], [TaskRequest::Show { task }] if task == "t2"));
    stage.click(0, 1);
    assert_eq!(stage.app.overlays.len(), 1, "a click beside it closes the task alone");
    for _ in 0..9 {
        stage.point(MouseKind::ScrollDown, 60, 15);
    }
    assert_eq!(chosen(&mut stage), "t1");
    stage.click_on("n add");
    assert!(stage.app.overlays.last().unwrap().is::<TaskForm>());
}

#[test]
fn a_task_that_is_looked_at_follows_what_happens() {
    let mut stage = board(120, 40);
    stage.press("down enter");
    stage.answer(is_show, Response::Task(Box::new(tasks()[1].clone())));
    let text = stage.text();
    assert!(text.contains("✗ cargo test") && text.contains("✓ file:out.txt"), "{text}");
    assert!(text.contains("login::refuses \u{fffd}[31mFAILED"), "{text}");
    told(&mut stage, &tasks());
    asked(&mut stage);
    told(&mut stage, &tasks());
    assert!(asked(&mut stage).is_empty(), "nothing has changed");
    let mut claimed = tasks();
    claimed[1].state = TaskState::Claimed;
    told(&mut stage, &claimed);
    stage.answer(is_show, Response::Task(Box::new(claimed[1].clone())));
    assert!(stage.text().contains("◷ claimed"));
    stage.give(AppInput::Lost { reason: "gone".into() });
    stage.give(AppInput::Connected);
    assert!(asked(&mut stage).iter().any(|ask| matches!(ask, TaskRequest::Show { .. })));
    stage.press("esc esc");
    assert!(stage.app.overlays.is_empty());
}

#[test]
fn a_task_that_is_gone_says_so() {
    let mut stage = board(120, 40);
    stage.press("enter");
    stage.refuse(is_show, Fault::new("There is no task `t4`"));
    assert!(stage.text().contains("✗ There is no task `t4`"));
}

#[test]
fn a_new_task_is_described_sent_once_and_chosen() {
    let mut stage = board(120, 40);
    stage.press("n enter");
    assert!(stage.text().contains("✗ Give it a title"));
    write(&mut stage, "Ship\nit");
    stage.press("enter");
    assert!(stage.text().contains("✗ Write a prompt"), "and the prompt is next");
    write(&mut stage, "First");
    stage.press("alt-enter s e c o n d tab f tab tab t 1 , t 2 tab");
    write(&mut stage, "cargo test\nfile:out.txt\n");
    stage.press("enter enter");
    let asked = asked(&mut stage);
    let [TaskRequest::Add { specs }] = &asked[..] else { panic!("{asked:?}") };
    let [spec] = &specs[..] else { panic!("{specs:?}") };
    assert_eq!((spec.title.as_str(), spec.prompt.as_str()), ("Ship it", "First\nsecond"));
    assert_eq!(spec.terms.agent.as_ref().unwrap().as_str(), "frontend");
    assert_eq!(
        (&spec.needs[..], &spec.terms.gates[..]),
        (
            &["t1".to_owned(), "t2".to_owned()][..],
            &["cargo test".to_owned(), "file:out.txt".to_owned()][..],
        )
    );
}

#[test]
fn a_task_that_was_added_is_chosen_and_a_refused_one_keeps_its_form() {
    let mut stage = board(120, 40);
    stage.press("n S h i p tab G o enter");
    stage.refuse(
        is_task,
        Fault { message: "No\u{9b}2J".into(), ..Fault::new("") }.with_hint("Try another"),
    );
    let text = stage.text();
    assert!(text.contains("✗ No\u{fffd}2J · Try another") && text.contains("Ship"), "{text}");
    stage.press("enter");
    let new = task(6, "Ship", TaskState::Ready, 0);
    stage.answer(is_task, done(new.clone()));
    assert!(stage.text().contains("t6 added: Ship"));
    assert_eq!(stage.app.overlays.len(), 1);
    told(&mut stage, &[tasks(), vec![new]].concat());
    assert_eq!(chosen(&mut stage), "t6");
}

#[test]
fn what_was_written_survives_leaving_and_a_hub_that_goes_away() {
    let mut stage = board(120, 40);
    stage.press("n S h i p tab G o");
    stage.click(0, 1);
    assert_eq!(stage.app.overlays.len(), 1);
    stage.press("n");
    assert!(stage.text().contains("Ship"));
    stage.give(AppInput::Lost { reason: "gone".into() });
    stage.press("enter");
    assert!(stage.text().contains("No connection to the hub. Your text is kept here"));
    stage.give(AppInput::Connected);
    stage.press("enter");
    stage.give(AppInput::Lost { reason: "gone".into() });
    stage.give(AppInput::Connected);
    assert!(stage.text().contains("✗ The hub stopped before it answered. Send it again"));
    stage.press("enter");
    let is_task = |ask: &&crate::api::Ask| matches!(ask.request, Request::Task { .. });
    let keys: Vec<_> = stage.asked.iter().filter(is_task).map(|ask| ask.key.clone()).collect();
    assert!(keys.len() == 2 && keys[0].is_some(), "a lost answer is asked for again: {keys:?}");
    assert_eq!(keys[0], keys[1]);
    stage.press("esc n");
    assert!(!stage.text().contains("Ship"), "what was sent is no draft");
}

#[test]
fn a_form_names_agents_and_tasks_that_can_be() {
    let mut stage = board(120, 40);
    stage.press("n a tab b tab b a k e n d enter");
    assert!(stage.text().contains("There is no agent `bakend`; the nearest is `backend`"));
    stage.press("ctrl-u tab x enter");
    assert!(stage.text().contains("`x`: a task is named `t` and a number"));
    stage.press("backspace up up ctrl-e");
    assert_eq!(stage.app.wishes, [LocalEffect::Edit("b".to_owned())]);
    stage.give(AppInput::Edited(Ok("One\nTwo\n".to_owned())));
    stage.press("enter");
    let asked = asked(&mut stage);
    assert!(matches!(&asked[..], [TaskRequest::Add { specs }] if specs[0].prompt == "One\nTwo"));
}

#[test]
fn a_task_is_tried_again_with_advice() {
    let mut stage = board(120, 40);
    stage.press("r");
    assert!(stage.text().contains("Retry t4"));
    write(&mut stage, "Ask ops");
    stage.press("enter");
    stage.answer(is_task, done(tasks()[3].clone()));
    assert!(stage.text().contains("t4 retried"));
    let asked = asked(&mut stage);
    let [TaskRequest::Retry { task, advice, agent: None }] = &asked[..] else { panic!() };
    assert_eq!((task.as_str(), advice.as_deref()), ("t4", Some("Ask ops")));
}

#[test]
fn giving_up_asks_first_and_only_about_what_is_open() {
    let mut stage = board(120, 40);
    stage.press("down x");
    assert!(stage.text().contains("backend works on it now and will be interrupted"));
    stage.press("n x enter");
    let asked = asked(&mut stage);
    assert!(matches!(&asked[..], [TaskRequest::Cancel { task }] if task == "t2"), "{asked:?}");
    stage.press("up up up x");
    assert!(stage.text().contains("has ended"));
    assert_eq!(stage.app.overlays.len(), 1);
}

#[test]
fn a_task_is_given_to_the_selected_agent() {
    let mut stage = board(120, 40);
    stage.press("c");
    let asked = asked(&mut stage);
    let [TaskRequest::Claim { task, agent }] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((task.as_str(), agent.as_str()), ("t4", NAMES[0]));
}

#[test]
fn the_agent_of_a_task_is_written_to_from_the_task() {
    let mut stage = board(120, 40);
    stage.press("d");
    assert!(stage.text().contains("No agent in this team has t4"));
    stage.press("down enter d");
    write(&mut stage, "It is there");
    stage.press("enter");
    let sent = stage.requests().into_iter().find_map(|request| {
        let Request::Dispatch { agents, prompt, .. } = request else { return None };
        Some((agents, prompt))
    });
    assert_eq!(sent, Some((vec!["backend".to_owned()], "It is there".to_owned())));
    assert!(stage.app.overlays.last().unwrap().is::<TaskView>(), "and back to it");
}

#[test]
fn without_tasks_the_list_says_how_to_add_one() {
    let mut stage = stage(80, 24, 2);
    stage.press("T enter r x c");
    assert!(stage.text().contains("No tasks yet. Press n to add one"));
    assert!(asked(&mut stage).is_empty());
}
