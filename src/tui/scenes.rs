//! What the dashboard looks like and how it answers a person, from keys to the picture.

use super::fixture::{NOW, Stage, agent, pane_view, row, status};
use super::grid::Layout;
use super::update::Input;
use crate::model::{AgentState, Role, Size};
use crate::wire::{AgentOffer, AgentStatus, KeyInput, Request, Response, TeamOffer};

const STATES: [AgentState; 10] = [
    AgentState::Working,
    AgentState::Waiting,
    AgentState::Idle,
    AgentState::Done,
    AgentState::Error,
    AgentState::Limited,
    AgentState::Blocked,
    AgentState::Unknown,
    AgentState::Exited,
    AgentState::Starting,
];

const NAMES: [&str; 16] = [
    "backend", "frontend", "tests", "docs", "database", "search", "payments", "mobile", "infra",
    "review", "verifier", "design", "release", "metrics", "triage", "lead",
];

fn team(count: usize) -> Vec<AgentStatus> {
    let member = |at: usize| {
        let mut member = agent(NAMES[at], STATES[at % 10], 7 + 95 * at as u64);
        member.cli = ["claude", "codex", "gemini", "opencode"][at % 4].to_owned();
        member.task =
            (at % 3 == 0).then(|| format!("Make the {} flow survive a restart", NAMES[at]));
        member.ending = (member.state == AgentState::Exited).then(|| "exit code 1".to_owned());
        member.stuck = at == 10;
        member
    };
    (0..count).map(member).collect()
}

const TALK: [&str; 9] = [
    "● I will look at how sessions are stored first.",
    "",
    "  Read(src/session/store.rs)",
    "  ⎿  214 lines",
    "",
    "✻ Thinking… (12s · ↑ 444 tokens · esc to interrupt)",
    "╭──────────────────────────────────────────────────────────────────────────╮",
    "│ >                                                                        │",
    "╰──────────────────────────────────────────────────────────────────────────╯",
];

fn stage(cols: u16, rows: u16, count: usize) -> Stage {
    let mut stage = Stage::new(cols, rows, team(count));
    for name in &NAMES[..count] {
        let mut view = pane_view(name, &TALK);
        (view.cursor.row, view.cursor.col) = (7, 4);
        stage.show(view);
    }
    stage
}

fn offers() -> Response {
    let member = |name: &str, cli: &str, command: &[&str]| AgentOffer {
        name: name.to_owned(),
        cli: cli.to_owned(),
        role: Role::Worker,
        command: command.iter().map(|word| (*word).to_owned()).collect(),
    };
    Response::Teams {
        teams: vec![
            TeamOffer {
                name: "shop".to_owned(),
                layout: "focus".to_owned(),
                origin: "wheelhouse.toml".to_owned(),
                agents: vec![
                    member("backend", "claude", &["claude", "--permission-mode", "acceptEdits"]),
                    member("frontend", "codex", &["codex"]),
                ],
                obstacle: None,
            },
            TeamOffer {
                name: "review".to_owned(),
                layout: "grid".to_owned(),
                origin: "built-in".to_owned(),
                agents: vec![member("reviewer", "gemini", &["gemini"])],
                obstacle: Some("`gemini` is not installed".to_owned()),
            },
        ],
    }
}

#[test]
fn four_agents_on_a_small_window() {
    insta::assert_snapshot!(stage(80, 24, 4).text());
}

#[test]
fn four_agents_on_a_middling_window() {
    insta::assert_snapshot!(stage(120, 40, 4).text());
}

#[test]
fn four_agents_on_a_large_window() {
    insta::assert_snapshot!(stage(250, 70, 4).text());
}

#[test]
fn sixteen_agents_on_a_small_window() {
    insta::assert_snapshot!(stage(80, 24, 16).text());
}

#[test]
fn sixteen_agents_on_a_middling_window() {
    insta::assert_snapshot!(stage(120, 40, 16).text());
}

#[test]
fn sixteen_agents_on_a_large_window() {
    insta::assert_snapshot!(stage(250, 70, 16).text());
}

#[test]
fn a_zoomed_pane_has_the_window_to_itself() {
    let mut stage = stage(80, 24, 4);
    stage.press("2 z");
    insta::assert_snapshot!(stage.text());
}

#[test]
fn one_large_pane_with_a_strip_of_cards() {
    let mut stage = stage(160, 40, 8);
    stage.press("space");
    assert_eq!(stage.app.layout, Layout::Focus);
    insta::assert_snapshot!(stage.text());
}

#[test]
fn the_frame_and_the_footer_say_that_keys_go_to_a_pane() {
    let mut stage = stage(80, 24, 2);
    stage.press("enter");
    insta::assert_snapshot!(stage.text());
}

#[test]
fn help_lists_every_key() {
    let mut stage = stage(150, 50, 4);
    stage.press("?");
    insta::assert_snapshot!(stage.text());
}

#[test]
fn without_agents_the_teams_come_first() {
    let mut stage = Stage::new(120, 30, Vec::new());
    stage.answer(|request| matches!(request, Request::Teams), offers());
    insta::assert_snapshot!(stage.text());
}

#[test]
fn a_hub_that_went_away_is_announced() {
    let mut stage = stage(80, 24, 2);
    stage.give(Input::Lost { reason: "it closed the connection".into() });
    insta::assert_snapshot!(stage.text());
}

#[test]
fn stopping_asks_first_and_says_what_it_does() {
    let mut stage = stage(80, 24, 2);
    stage.press("x");
    insta::assert_snapshot!(stage.text());
}
