//! What lies over the panes, by keys and by mouse.

use super::fixture::{NAMES, Stage, agent, cli_offers, offers, pane_view, stage, status, team};
use crate::api::{Fault, KeyInput, MouseWish, NewAgent, Request, Response};
use crate::model::{AgentState, MouseKind, Pattern, Role, WorkspaceChoice};
use crate::tui::options::{Ended, PlaybookOffer, RunWish};
use crate::tui::update::AppInput;

fn is_add(request: &Request) -> bool {
    matches!(request, Request::Add { .. })
}

/// Opens the form on a dashboard with two agents.
fn form() -> Stage {
    let mut stage = stage(120, 40, 2);
    stage.press("n");
    stage.answer(|request| matches!(request, Request::Clis { .. }), cli_offers());
    stage
}

fn asked_for(stage: &Stage) -> Vec<NewAgent> {
    let asked = stage.asked.iter().filter_map(|ask| {
        let Request::Add { agent, .. } = &ask.request else { return None };
        Some(agent.clone())
    });
    asked.collect()
}

#[test]
fn a_new_agent_is_named_after_its_cli_until_it_is_named() {
    let mut stage = form();
    assert!(stage.text().contains("Name  claude"));
    stage.press("down");
    assert!(stage.text().contains("Name  shell"));
    stage.press("backspace s y q ? down");
    assert!(stage.text().contains("Name  shelsyq?"), "letters are part of the name");
    stage.press("enter");
    assert!(stage.text().contains("`shelsyq?` is not a name"));
    assert!(stage.text().contains("Name  shelsyq?"), "and nothing that was typed is lost");
    stage.press("backspace up enter enter");
    let [new] = &asked_for(&stage)[..] else { panic!("an impatient second enter adds nothing") };
    assert_eq!((new.name.as_str(), new.cli.as_str()), ("shelsyq", "shell"));
    assert_eq!(new.team.as_deref(), Some("shop"));
}

#[test]
fn a_new_agent_has_a_name_that_is_free() {
    let mut agents = team(2);
    agents.extend([agent("claude", AgentState::Idle, 1), agent("claude-2", AgentState::Exited, 1)]);
    let mut stage = Stage::new(120, 40, agents);
    stage.press("n");
    stage.answer(|request| matches!(request, Request::Clis { .. }), cli_offers());
    assert!(stage.text().contains("Name  claude-3"));
}

#[test]
fn a_new_agent_is_given_a_role_files_a_place_and_bounds_by_keys() {
    let mut stage = form();
    stage.press("tab right down right right tab left tab space tab");
    stage.give(AppInput::Paste("cpu=1.5 memory=4".into()));
    stage.press("enter");
    assert!(asked_for(&stage).is_empty());
    assert!(stage.text().contains("✗ `memory=4` is no limit · Write it as"), "{}", stage.text());
    stage.press("G tab x enter");
    let [new] = &asked_for(&stage)[..] else { panic!("{}", stage.text()) };
    assert_eq!((new.name.as_str(), new.role), ("claudex", Role::Lead));
    let posting = &new.posting;
    assert_eq!(posting.workspace, Some(WorkspaceChoice::Worktree));
    assert_eq!((posting.runner.as_deref(), posting.sandbox), (Some("pod"), true));
    let limits = (posting.limits.memory_bytes, posting.limits.cpu_hundredths);
    assert_eq!(limits, (Some(4 << 30), Some(150)));
}

#[test]
fn a_new_agent_of_which_nothing_is_said_gets_what_the_settings_say() {
    let mut stage = form();
    stage.press("tab tab tab tab tab tab shift-tab shift-tab enter");
    let [new] = &asked_for(&stage)[..] else { panic!("{}", stage.text()) };
    assert!(new.posting.is_unsaid() && new.role == Role::Worker, "{new:?}");
}

#[test]
fn an_agent_that_was_added_is_selected_once_it_is_there() {
    let mut stage = form();
    stage.press("ctrl-u");
    stage.give(AppInput::Paste("he\u{1b}lper\n".into()));
    stage.press("enter");
    stage.answer(is_add, Response::Ok);
    assert!(stage.app.overlays.is_empty());
    assert_eq!(stage.selected(), NAMES[0]);
    let mut agents = team(2);
    agents.push(agent("helper", AgentState::Starting, 0));
    stage.give(AppInput::Hub(status(agents)));
    assert_eq!(stage.selected(), "helper");
}

#[test]
fn a_refused_agent_keeps_its_form_and_an_obstacle_asks_nobody() {
    let mut stage = form();
    stage.press("x enter");
    stage.refuse(
        is_add,
        Fault { message: "No\u{9b}2J".into(), ..Fault::new("") }.with_hint("Try another"),
    );
    let text = stage.text();
    assert!(text.contains("✗ No\u{fffd}2J · Try another") && text.contains("Name  claudex"));
    stage.press("up");
    assert!(stage.text().contains("▸! gemini"), "the last one comes before the first");
    stage.press("enter");
    assert!(stage.text().contains("✗ `gemini` is not on the PATH"));
    assert_eq!(asked_for(&stage).len(), 1);
    stage.press("esc");
    assert!(stage.app.overlays.is_empty());
}

#[test]
fn without_a_team_there_is_nothing_to_join() {
    let mut stage = Stage::new(120, 30, Vec::new());
    stage.press("esc n");
    assert!(stage.app.overlays.is_empty());
    assert!(stage.text().contains("No team is running. Press t to start one"));
}

#[test]
fn a_click_chooses_a_double_click_accepts_and_the_wheel_stops_at_the_ends() {
    let mut stage = form();
    stage.click_on("/bin/bash");
    assert!(stage.text().contains("Name  shell"));
    assert!(asked_for(&stage).is_empty());
    stage.click_on("/bin/bash");
    assert_eq!(asked_for(&stage).len(), 1);

    let mut stage = Stage::new(120, 30, Vec::new());
    stage.answer(|request| matches!(request, Request::Teams { .. }), offers());
    let is_up = |stage: &Stage| stage.asked.iter().any(|a| matches!(a.request, Request::Up { .. }));
    for _ in 0..9 {
        stage.point(MouseKind::ScrollDown, 60, 15);
    }
    assert!(stage.text().contains("`gemini` is not installed"), "the last team is chosen");
    for _ in 0..9 {
        stage.point(MouseKind::ScrollUp, 60, 15);
    }
    stage.click_on("enter start");
    assert!(is_up(&stage), "a button is as good as its key");
}

#[test]
fn a_question_is_answered_by_its_buttons_and_a_click_beside_it_is_a_no() {
    let mut stage = stage(120, 40, 2);
    stage.press("x");
    stage.click_on("Back");
    assert!(stage.app.overlays.is_empty());
    stage.press("x");
    stage.click(1, 1);
    assert!(stage.app.overlays.is_empty());
    assert_eq!(stage.selected(), NAMES[0], "and nothing else");
    stage.press("x");
    stage.click_on("Ends its process");
    assert_eq!(stage.app.overlays.len(), 1, "words are no buttons");
    assert!(!stage.requests().iter().any(|request| matches!(request, Request::Stop { .. })));
    stage.click_on("enter Stop");
    assert!(matches!(&stage.requests()[..], [Request::Stop { .. }]));
}

#[test]
fn help_turns_with_the_wheel_and_comes_back_at_once() {
    let mut stage = stage(80, 24, 2);
    stage.press("?");
    let first = stage.text();
    for _ in 0..99 {
        stage.point(MouseKind::ScrollDown, 40, 12);
    }
    stage.press("down down down");
    assert!(stage.text().contains("Signs"), "the end is reached");
    let end = stage.text();
    stage.press("up");
    assert_ne!(stage.text(), end, "there is nothing beyond the end to come back from");
    for _ in 0..99 {
        stage.point(MouseKind::ScrollUp, 40, 12);
    }
    assert_eq!(stage.text(), first);
    stage.click(0, 0);
    assert!(stage.app.overlays.is_empty());
}

#[test]
fn motion_is_wanted_only_while_a_pane_that_asked_for_it_is_typed_into() {
    let mut stage = stage(120, 40, 2);
    let mut view = pane_view(NAMES[0], &["x"]);
    view.mouse = MouseWish::Motion;
    stage.show(view);
    assert!(!stage.app.wants_motion(), "nobody types into it");
    stage.press("enter");
    assert!(stage.app.wants_motion());
    stage.requests();
    stage.point(MouseKind::Move, 5, 5);
    let keys = stage.typed(NAMES[0]);
    assert!(matches!(keys[..], [KeyInput::Mouse(mouse)] if mouse.kind == MouseKind::Move));
    stage.press("ctrl-b 2 enter");
    assert!(!stage.app.wants_motion(), "the other one did not ask");
}

#[test]
fn a_playbook_is_previewed_and_runs_once_all_that_it_needs_was_said() {
    let mut stage = stage(120, 40, 2);
    let offer = |name: &str| PlaybookOffer {
        name: name.to_owned(),
        purpose: "Build \u{1b}[31mit".to_owned(),
        pattern: Pattern::Hub,
        agents: vec!["ada".to_owned()],
        waves: vec![vec!["plan".to_owned()], vec!["build".to_owned(), "test".to_owned()]],
        vars: vec![
            ("goal".to_owned(), "what for".to_owned(), None),
            ("tests".to_owned(), "how".to_owned(), Some("make test".to_owned())),
        ],
    };
    stage.app.settings.playbooks = vec![offer("first"), offer("second")];
    stage.press("p down");
    let text = stage.text();
    assert!(text.contains("● plan") && text.contains("● build · test"), "{text}");
    assert!(text.contains("goal = asked for") && !text.contains('\u{1b}'), "{text}");
    stage.press("enter enter");
    assert!(stage.text().contains("Write something first"));
    stage.press("a space p enter");
    let Some(Ok(Ended::RunWanted(RunWish { playbook, vars, is_rehearsal }))) = &stage.app.end
    else {
        panic!("{:?}", stage.app.end)
    };
    assert_eq!((playbook.as_str(), vars["goal"].as_str()), ("second", "a p"));
    assert!(!is_rehearsal);
}
