//! What the dashboard draws, at the sizes and in the moments that matter.

use ratatui::style::Color;

use super::diff_fixture::review;
use super::fixture::{Stage, TALK, cli_offers, offers, pane_view, stage, status};
use super::prompts::{crew, dialog, receipt};
use super::tasks::{board, is_show, tasks};
use crate::api::{Fault, Request, Response};
use crate::model::Stage as Step;
use crate::tui::grid::Layout;
use crate::tui::style::{Depth, Theme, ThemeChoice};
use crate::tui::update::AppInput;

const SMALL: (u16, u16) = (80, 24);
const MIDDLING: (u16, u16) = (120, 40);

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
    stage.answer(|request| matches!(request, Request::Teams { .. }), offers());
    insta::assert_snapshot!(stage.text());
}

#[test]
fn a_hub_that_went_away_is_announced() {
    let mut stage = stage(80, 24, 2);
    stage.give(AppInput::Lost { reason: "it closed the connection".into() });
    insta::assert_snapshot!(stage.text());
}

#[test]
fn stopping_asks_first_and_says_what_it_does() {
    let mut stage = stage(80, 24, 2);
    stage.press("x");
    insta::assert_snapshot!(stage.text());
}

#[test]
fn a_new_agent_is_described_in_a_form() {
    let mut stage = stage(80, 24, 2);
    stage.press("n");
    stage.answer(|request| matches!(request, Request::Clis { .. }), cli_offers());
    insta::assert_snapshot!(stage.text());
}

#[test]
fn a_new_agent_is_given_its_settings_in_the_same_form() {
    let mut stage = stage(80, 24, 2);
    stage.press("n");
    stage.answer(|request| matches!(request, Request::Clis { .. }), cli_offers());
    stage.press("tab tab right right");
    insta::assert_snapshot!(stage.text());
}

#[test]
fn a_new_agent_that_is_refused_says_why_in_its_form() {
    let mut stage = stage(120, 40, 2);
    stage.press("n");
    stage.answer(|request| matches!(request, Request::Clis { .. }), cli_offers());
    stage.press("down ctrl-u d o c s enter");
    let fault = Fault::new("There is an agent `docs` already")
        .with_hint("Choose another name, or start that one with `wheelhouse agent start docs`");
    stage.refuse(|request| matches!(request, Request::Add { .. }), fault);
    insta::assert_snapshot!(stage.text());
}

fn stage_with_receipts((cols, rows): (u16, u16)) -> Stage {
    let mut agents = crew();
    agents[0].receipt = Some(receipt(12, "backend", Step::Submitted, None));
    let reason = "it was typed, and the agent did not take it up";
    agents[2].receipt = Some(receipt(11, "tests", Step::Stalled, Some(reason)));
    let mut stage = Stage::new(cols, rows, agents);
    for agent in crew() {
        stage.show(pane_view(&agent.name, &TALK));
    }
    stage
}

fn pressed(size: (u16, u16), keys: &str) -> String {
    let mut stage = stage_with_receipts(size);
    stage.press(keys);
    stage.text()
}

#[test]
fn receipts_on_tiles() {
    insta::assert_snapshot!("receipts_small", pressed(SMALL, "1"));
    insta::assert_snapshot!("receipts_middling", pressed(MIDDLING, "3"));
}

#[test]
fn a_line_for_a_prompt() {
    let keys = "d @ d tab F i x space i t";
    insta::assert_snapshot!("dispatch_small", pressed(SMALL, keys));
    insta::assert_snapshot!("dispatch_middling", pressed(MIDDLING, "3 d O n e ctrl-j T w o"));
}

#[test]
fn a_line_with_those_who_get_it() {
    insta::assert_snapshot!("broadcast_small", pressed(SMALL, "b H i"));
    insta::assert_snapshot!("broadcast_middling", pressed(MIDDLING, "b H i tab down space"));
}

#[test]
fn a_dialog_with_its_options() {
    insta::assert_snapshot!("question_small", pressed(SMALL, "a a"));
    let mut stage = stage_with_receipts(MIDDLING);
    stage.press("a a down enter");
    let is_answer = |request: &Request| matches!(request, Request::Answer { .. });
    let reason = Some("the dialog is another one now".to_owned());
    let refused = Response::Deed { state: Step::Refused, reason };
    stage.answer(is_answer, refused);
    let mut agents = crew();
    agents[1].dialog = Some(dialog("d2", "rm -rf target"));
    stage.give(AppInput::Hub(status(agents)));
    insta::assert_snapshot!("question_middling", stage.text());
}

#[test]
fn everything_that_waits() {
    insta::assert_snapshot!("attention_small", pressed(SMALL, "A"));
    insta::assert_snapshot!("attention_middling", pressed(MIDDLING, "A down"));
}

#[test]
fn the_tasks() {
    insta::assert_snapshot!("tasks_small", board(80, 24).text());
    insta::assert_snapshot!("tasks_middling", board(120, 40).text());
    insta::assert_snapshot!("tasks_narrow", board(60, 20).text());
}

#[test]
fn one_task_in_full() {
    for (name, cols, rows) in [("task_small", 80, 24), ("task_middling", 120, 40)] {
        let mut stage = board(cols, rows);
        stage.press("down enter");
        stage.answer(is_show, Response::Task(Box::new(tasks()[1].clone())));
        insta::assert_snapshot!(name, stage.text());
    }
}

#[test]
fn a_new_task_in_its_form() {
    let keys = "n S h i p tab G o ctrl-j o n tab b a";
    for (name, cols, rows) in
        [("task_form_small", 80, 24), ("task_form_low", 80, 14), ("task_form_lowest", 40, 8)]
    {
        let mut stage = board(cols, rows);
        stage.press(keys);
        insta::assert_snapshot!(name, stage.text());
    }
    let mut stage = board(80, 24);
    stage.press("r");
    insta::assert_snapshot!("task_retry", stage.text());
}

#[test]
fn a_diff() {
    for (name, cols, rows) in [("small", 80, 24), ("middling", 120, 40), ("large", 200, 50)] {
        let mut stage = review(cols, rows);
        stage.press("down down down c");
        stage.give(AppInput::Paste("Why another name?\nSay so in the comment.".to_owned()));
        insta::assert_snapshot!(format!("diff_{name}_writing"), stage.text());
        stage.press("enter");
        insta::assert_snapshot!(format!("diff_{name}"), stage.text());
    }
}

/// Returns the colours that are under some text: of its letters, and below them.
fn colours(theme: &str, depth: Depth, text: &str) -> (Color, Color) {
    let mut stage = review(120, 40);
    stage.app.theme = Theme::load(&ThemeChoice::Named(theme.to_owned()), depth).unwrap();
    let screen = stage.text();
    let found = screen.lines().zip(0_u16..).find_map(|(line, row)| {
        let at = line.find(text)?;
        Some((u16::try_from(line[..at].chars().count()).unwrap(), row))
    });
    let cell = &stage.picture.buffer()[found.unwrap()];
    (cell.fg, cell.bg)
}

#[test]
fn what_changed_stands_out_in_every_theme() {
    for theme in ["dark", "light"] {
        let plain = colours(theme, Depth::True, "self.all.get");
        let added = colours(theme, Depth::True, "(&self, id: SessionId");
        let word = colours(theme, Depth::True, "find(");
        let removed = colours(theme, Depth::True, "(&self, id: u32");
        let keyword = colours(theme, Depth::True, "pub fn find");
        assert_eq!(plain.1, Color::Reset, "{theme}");
        assert!(added.1 != removed.1 && added.1 != plain.1 && word.1 != added.1, "{theme}");
        assert_ne!(keyword.0, added.0, "{theme}");
    }
    let added = colours("contrast", Depth::Sixteen, "find(");
    let removed = colours("contrast", Depth::Sixteen, "get(&self");
    assert_eq!((added.1, removed.1), (Color::Reset, Color::Reset));
    assert_ne!(added.0, removed.0);
    assert_eq!(colours("dark", Depth::None, "find("), (Color::Reset, Color::Reset));
}
