//! What the dashboard looks like while prompts are written, answered and on their way.

use super::fixture::{Stage, TALK, pane_view};
use super::prompt_stories::{crew, dialog, receipt};
use super::update::Input;
use crate::model::Stage as Step;
use crate::wire::Request;

const SMALL: (u16, u16) = (80, 24);
const MIDDLING: (u16, u16) = (120, 40);

fn stage((cols, rows): (u16, u16)) -> Stage {
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
    let mut stage = stage(size);
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
    let mut stage = stage(MIDDLING);
    stage.press("a a down enter");
    let is_answer = |request: &Request| matches!(request, Request::Answer { .. });
    let reason = Some("the dialog is another one now".to_owned());
    let refused = crate::wire::Response::Deed { state: Step::Refused, reason };
    stage.answer(is_answer, refused);
    let mut agents = crew();
    agents[1].dialog = Some(dialog("d2", "rm -rf target"));
    stage.give(Input::Hub(super::fixture::status(agents)));
    insta::assert_snapshot!("question_middling", stage.text());
}

#[test]
fn everything_that_waits() {
    insta::assert_snapshot!("attention_small", pressed(SMALL, "A"));
    insta::assert_snapshot!("attention_middling", pressed(MIDDLING, "A down"));
}
