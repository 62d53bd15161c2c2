//! What tasks look like in the dashboard.

use super::task_stories::{board, is_show, tasks};
use crate::wire::Response;

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
