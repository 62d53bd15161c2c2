//! What the dashboard looks like, at the sizes and in the moments that matter.

use super::fixture::{Stage, cli_offers, offers, stage};
use super::grid::Layout;
use super::update::Input;
use crate::wire::{Fault, Request};

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
    stage.give(Input::Lost { reason: "it closed the connection".into() });
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
