//! Diffs in the dashboard: read, followed while they change, commented on, and sent.

use super::diff_fixture::{
    arrived, comment, files, hunk, hunks, is_dispatch, is_hunks, is_list, is_wait, list, posts,
    review, store, under_cursor,
};
use super::fixture::{NOW, Stage, agent, stage, status, team};
use crate::api::{Fault, Request};
use crate::model::{Against, AgentState, Moment, MouseKind, ReceiptId, Stage as Step};
use crate::tui::review::CommentState;
use crate::tui::update::{AppInput, update};

#[test]
fn the_files_are_asked_for_first_and_then_the_lines_of_the_one_that_is_shown() {
    let mut stage = stage(120, 40, 2);
    stage.press("D");
    assert!(stage.text().contains("Comparing…"));
    stage.answer(is_list, list(Against::Base, files()));
    let text = stage.text();
    assert!(text.contains("backend · 4 files +5 −2 · against base 01234567"), "{text}");
    assert!(text.contains("Reading the file…") || text.contains("binary"), "{text}");
    stage.requests();
    stage.press("J");
    let [Request::Diff { paths, .. }] = &stage.requests()[..] else { panic!("one file") };
    assert_eq!(paths, &["src/session/keep.rs"]);
    assert!(!stage.text().contains('\u{1b}'), "no name reaches the terminal");
}

#[test]
fn the_cursor_goes_by_lines_hunks_pages_and_files() {
    let mut stage = review(120, 40);
    assert!(under_cursor(&mut stage).starts_with("▾ @@ -12,"));
    stage.press("down down");
    assert!(under_cursor(&mut stage).contains("pub fn get"));
    stage.press("]");
    assert!(under_cursor(&mut stage).starts_with("▾ @@ -80,"));
    stage.press("G");
    assert!(under_cursor(&mut stage).ends_with('}'));
    stage.press("g [");
    assert!(stage.text().contains("renamed from src/session/hold.rs"), "before the first hunk");
    stage.press("} f");
    assert!(under_cursor(&mut stage).contains("▸ @@ -12,"), "folded");
    assert!(!stage.text().contains("pub fn get"));
    stage.press("F");
    assert!(stage.text().contains("pub fn get") && stage.text().contains("run();"));
}

#[test]
fn a_file_that_changes_meanwhile_does_not_move_the_cursor_off_its_line() {
    let mut stage = review(120, 40);
    stage.press("down down down");
    assert!(under_cursor(&mut stage).contains("pub fn find"));
    let later = NOW + std::time::Duration::from_secs(5);
    stage.requests();
    stage.asked.extend(update(&mut stage.app, [AppInput::TimePassed], later));
    let mut changed = files();
    changed[2].stamp = "2".to_owned();
    stage.answer(is_list, list(Against::Base, changed));
    let mut grown = store();
    grown.hunks.insert(0, hunk(1, &["+one", "+two", "+three"]));
    stage.answer(is_hunks, hunks(grown));
    assert!(under_cursor(&mut stage).contains("pub fn find"));
    assert!(stage.text().contains("three"));
}

#[test]
fn nobody_is_asked_again_before_the_answer_has_come_and_some_time_has_passed() {
    let mut stage = review(120, 40);
    stage.requests();
    stage.give(AppInput::TimePassed);
    assert!(stage.requests().is_empty());
    let later = NOW + std::time::Duration::from_secs(5);
    for _ in 0..3 {
        stage.asked.extend(update(&mut stage.app, [AppInput::TimePassed], later));
    }
    assert_eq!(stage.requests().len(), 1);
}

#[test]
fn the_end_of_a_turn_is_a_reason_to_look() {
    let mut stage = review(120, 40);
    stage.requests();
    let mut crew = team(2);
    crew[0] = agent("backend", AgentState::Idle, 1);
    stage.give(AppInput::Hub(status(crew)));
    assert!(stage.requests().iter().any(is_list));
}

#[test]
fn it_is_compared_with_what_there_is() {
    let mut stage = review(120, 40);
    stage.press("tab");
    let last = stage.requests().pop();
    assert!(matches!(last, Some(Request::Diff { against: Against::Head, .. })), "{last:?}");
    assert!(stage.text().contains("against HEAD"));
}

#[test]
fn comments_stand_below_their_lines_are_edited_and_removed() {
    let mut stage = review(120, 40);
    stage.press("down down down");
    comment(&mut stage, "Why another name?\nSay so.");
    let text = stage.text();
    let lines: Vec<_> = text.lines().skip_while(|line| !line.contains("pub fn find")).collect();
    assert!(lines[1].contains("┃ Why another name?") && lines[2].contains("┃ Say so."), "{text}");
    assert!(text.contains("✎1") && text.contains("s send comments"));
    stage.press("c ctrl-u ctrl-k backspace !");
    stage.press("enter");
    assert!(stage.text().contains("┃ Why another name?!"), "{}", stage.text());
    stage.press("esc D");
    stage.answer(is_list, list(Against::Base, files()));
    stage.press("J J");
    stage.answer(is_hunks, hunks(store()));
    assert!(stage.text().contains("┃ Why another name?!"), "it survives its view");
    stage.press("down down down x");
    assert!(!stage.text().contains("┃ Why"));
    assert!(posts(&stage).is_empty());
}

#[test]
fn a_comment_between_lines_is_about_the_next_one() {
    let mut stage = review(120, 40);
    stage.press("c");
    assert!(stage.text().contains("Comment on src/session/store.rs:12"));
    stage.press("esc K c");
    assert!(stage.text().contains("You cannot comment on this line"));
}

#[test]
fn a_comment_whose_line_or_file_is_gone_is_kept_and_says_so() {
    let mut stage = review(120, 40);
    stage.press("down down down");
    comment(&mut stage, "Why?");
    stage.press("r");
    let mut changed = files();
    changed[2].stamp = "2".to_owned();
    stage.answer(is_list, list(Against::Base, changed));
    let mut other = store();
    other.hunks.remove(0);
    stage.answer(is_hunks, hunks(other));
    let text = stage.text();
    assert!(
        text.contains("on a line that is gone (13: pub fn find(&self, id: SessionId)"),
        "{text}"
    );
    stage.press("r");
    let mut fewer = files();
    fewer.remove(2);
    stage.answer(is_list, list(Against::Base, fewer));
    let text = stage.text();
    assert!(text.contains("This file no longer differs") && text.contains("Why?"), "{text}");
}

#[test]
fn what_was_begun_and_left_is_there_again() {
    let mut stage = review(120, 40);
    stage.press("down down c h a l f esc");
    assert!(posts(&stage).is_empty());
    stage.press("down c");
    assert!(!stage.text().contains("half"), "it was about another line");
    stage.press("esc up c");
    assert!(stage.text().contains("half"));
    stage.press("enter");
    assert_eq!(posts(&stage), [CommentState::Kept]);
}

#[test]
fn all_comments_go_as_one_prompt_and_stay_until_the_agent_has_it() {
    let mut stage = review(120, 40);
    stage.press("s");
    assert!(stage.text().contains("No comments to send. Press c to comment on a line"));
    stage.press("down down");
    comment(&mut stage, "Keep the name");
    stage.press("G up");
    comment(&mut stage, "Test it");
    stage.requests();
    stage.press("s s");
    let sent: Vec<_> = stage.asked.iter().filter(|ask| is_dispatch(&ask.request)).collect();
    let [ask] = &sent[..] else { panic!("a second key sends nothing twice: {sent:?}") };
    let Request::Dispatch { agents, prompt, .. } = &ask.request else { unreachable!() };
    assert_eq!(agents, &["backend"]);
    assert!(prompt.starts_with("2 comments on your changes."), "{prompt}");
    assert!(prompt.contains("src/session/store.rs:13 (a line that you removed)\n> "), "{prompt}");
    assert!(prompt.contains("src/session/store.rs:81\n>     run();\nTest it"), "{prompt}");
    stage.answer(is_dispatch, arrived(Step::Queued, None));
    assert_eq!(posts(&stage), [CommentState::Sent(ReceiptId(7)); 2]);
    assert!(stage.text().contains("sent, r7"));
    stage.answer(is_wait, arrived(Step::Accepted, None));
    assert!(posts(&stage).is_empty(), "it has taken them");
    assert!(!stage.text().contains("Keep the name"));
}

#[test]
fn a_hub_that_comes_back_is_asked_what_became_of_them() {
    let mut stage = review(120, 40);
    stage.press("down down");
    comment(&mut stage, "Keep the name");
    stage.press("s");
    stage.answer(is_dispatch, arrived(Step::Queued, None));
    stage.give(AppInput::Lost { reason: "gone".to_owned() });
    assert_eq!(posts(&stage), [CommentState::Sent(ReceiptId(7))]);
    stage.requests();
    stage.give(AppInput::Connected);
    stage.answer(is_wait, arrived(Step::Unknown, Some("the hub died")));
    assert_eq!(posts(&stage), [CommentState::Kept]);
    assert!(stage.text().contains("did not take the comments (r7 unknown: the hub died)"));
}

#[test]
fn nothing_is_lost_when_nobody_takes_it() {
    let refusals: [fn(&mut Stage); 5] = [
        |stage| stage.refuse(is_dispatch, Fault::new("The record cannot be written")),
        |stage| stage.give(AppInput::Lost { reason: "gone".to_owned() }),
        |stage| {
            stage.answer(is_dispatch, arrived(Step::Refused, Some("a dialog is open")));
            assert!(stage.text().contains("backend refused: a dialog is open"));
        },
        |stage| {
            stage.answer(is_dispatch, arrived(Step::Queued, None));
            stage.answer(is_wait, arrived(Step::Stalled, Some("it was never seen")));
            assert!(stage.text().contains("(r7 stalled: it was never seen): they are kept"));
        },
        |stage| {
            stage.answer(is_dispatch, arrived(Step::Queued, None));
            stage.refuse(is_wait, Fault::new("There is no prompt `r7`"));
        },
    ];
    for refuse in refusals {
        let mut stage = review(120, 40);
        stage.press("down down");
        comment(&mut stage, "Keep the name");
        stage.press("s");
        assert_eq!(posts(&stage), [CommentState::Asked]);
        refuse(&mut stage);
        assert_eq!(posts(&stage), [CommentState::Kept]);
        assert!(stage.text().contains("┃ Keep the name"));
    }
    let mut away = review(120, 40);
    away.press("down down");
    comment(&mut away, "Keep the name");
    away.give(AppInput::Lost { reason: "gone".to_owned() });
    away.requests();
    away.press("s");
    assert!(away.requests().is_empty() && away.text().contains("Your comments are kept here"));
}

#[test]
fn the_mouse_chooses_files_and_lines_and_turns() {
    let mut stage = review(120, 40);
    stage.click_on("src/session/keep.rs");
    assert!(stage.text().contains("renamed from src/session/hold.rs"));
    stage.click_on("session/store.rs");
    stage.click_on("self.all.get");
    assert!(under_cursor(&mut stage).contains("self.all.get"));
    stage.click_on("self.all.get");
    assert!(stage.text().contains("Comment on src/session/store.rs:14"), "{}", stage.text());
    stage.click_on("leave");
    stage.click_on("esc close");
    assert!(stage.app.overlays.is_empty());
    let mut small = review(80, 24);
    for _ in 0..9 {
        small.point(MouseKind::ScrollDown, 40, 15);
    }
    assert!(small.text().contains("run();"));
}

#[test]
fn long_lines_are_read_sideways_or_broken() {
    let mut stage = review(120, 40);
    let long = format!("+begin {} end", "x".repeat(300));
    let mut file = store();
    file.hunks = vec![hunk(1, &[&long, "+世\t界"])];
    stage.press("r");
    let mut changed = files();
    changed[2].stamp = "2".to_owned();
    stage.answer(is_list, list(Against::Base, changed));
    stage.answer(is_hunks, hunks(file));
    assert!(stage.text().contains("begin x") && stage.text().contains("x›"));
    for _ in 0..40 {
        stage.press("right");
    }
    assert!(!stage.text().contains("begin"));
    stage.press("w");
    let text = stage.text();
    assert!(text.contains("begin x") && text.contains("x end") && text.contains("↪"), "{text}");
    assert!(text.contains("世   界"), "the second column of the first, and a tab: {text}");
}

#[test]
fn no_size_of_the_window_is_too_small() {
    for (cols, rows) in [(1, 1), (2, 5), (20, 4), (30, 6), (99, 7), (100, 5), (300, 100)] {
        let mut stage = review(cols, rows);
        stage.press("down down c x");
        stage.draw();
        stage.press("enter w G g ] F F J K tab");
        stage.draw();
    }
}

#[test]
fn a_fault_is_told_in_its_place_and_the_next_look_heals_it() {
    let mut stage = stage(120, 40, 2);
    stage.press("D");
    stage.refuse(
        is_list,
        Fault { message: "this is no\u{9b} repository".into(), ..Fault::new("") }
            .with_hint("git init"),
    );
    assert!(stage.text().contains("✗ this is no\u{fffd} repository · git init"));
    let later = Moment(NOW.0 + 10_000);
    stage.asked.extend(update(&mut stage.app, [AppInput::TimePassed], later));
    stage.answer(is_list, list(Against::Base, Vec::new()));
    assert!(stage.text().contains("Nothing differs"));
}
