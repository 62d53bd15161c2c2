//! How a person hands out prompts and answers what waits, key by key.

use super::fixture::NOW;
use super::fixture::{NAMES, Stage, agent, stage, status, team};
use crate::api::{AgentStatus, DialogChoice, DialogStatus, Fault, Request, Response};
use crate::model::{
    AgentName, AgentState, DialogKind, Done, Moment, MouseKind, Receipt, ReceiptId, Stage as Step,
};
use crate::tui::app::AttentionItem;
use crate::tui::update::AppInput;

pub(super) fn dialog(id: &str, command: &str) -> DialogStatus {
    DialogStatus {
        id: id.to_owned(),
        kind: DialogKind::Approval,
        text: format!("Bash command\n{command}\nDo you want to proceed?"),
        options: ["Yes", "Yes, and don't ask again", "No"].map(str::to_owned).to_vec(),
        selected: Some(1),
    }
}

pub(super) fn receipt(number: u64, name: &str, state: Step, reason: Option<&str>) -> Receipt {
    Receipt {
        receipt: ReceiptId(number),
        agent: name.parse().unwrap(),
        state,
        reason: reason.map(str::to_owned),
        prompt: "Add a test".to_owned(),
        since: Moment(NOW.0 - 1000),
    }
}

/// Returns four agents: one works, one asks, one is idle, one is blocked for longest.
pub(super) fn crew() -> Vec<AgentStatus> {
    let mut asking = agent("frontend", AgentState::Waiting, 30);
    asking.dialog = Some(dialog("d1", "cargo build"));
    let mut blocked = agent("docs", AgentState::Blocked, 60);
    blocked.note = Some("the contract of GET /users".to_owned());
    vec![
        agent("backend", AgentState::Working, 5),
        asking,
        agent("tests", AgentState::Idle, 9),
        blocked,
    ]
}

fn crew_stage() -> Stage {
    let mut stage = Stage::new(120, 40, crew());
    stage.requests();
    stage
}

fn write(stage: &mut Stage, text: &str) {
    for c in text.chars() {
        let name = if c == ' ' { "space".to_owned() } else { c.to_string() };
        stage.press(&name);
    }
}

/// Returns what was dispatched since the last time: to whom, what, and whether come what may.
fn dispatched(stage: &mut Stage) -> Vec<(Vec<String>, String, bool)> {
    let mut found = Vec::new();
    for request in stage.requests() {
        if let Request::Dispatch { agents, prompt, anyway, .. } = request {
            found.push((agents, prompt, anyway));
        }
    }
    found
}

fn one(agents: &[&str], prompt: &str) -> Vec<(Vec<String>, String, bool)> {
    vec![(agents.iter().map(|name| (*name).to_owned()).collect(), prompt.to_owned(), false)]
}

fn is_dispatch(request: &Request) -> bool {
    matches!(request, Request::Dispatch { .. })
}

fn done(receipts: Vec<Receipt>) -> Response {
    Response::Done(Done { receipts, ..Done::default() })
}

#[test]
fn a_prompt_goes_to_the_selected_pane() {
    let mut stage = crew_stage();
    stage.press("3 d");
    write(&mut stage, "fix the bgu");
    stage.press("backspace backspace u g home ctrl-right alt-f ctrl-left ctrl-k");
    write(&mut stage, "test: q?");
    stage.press("alt-enter");
    stage.give(AppInput::Paste("line two\r\nline three".to_owned()));
    assert!(stage.text().contains("line three"));
    stage.press("enter");
    assert_eq!(dispatched(&mut stage), one(&["tests"], "fix test: q?\nline two\nline three"));
    assert!(stage.app.overlays.is_empty());
}

#[test]
fn what_is_left_is_there_the_next_time_and_what_was_sent_is_in_the_past() {
    let mut stage = crew_stage();
    stage.press("d");
    write(&mut stage, "first");
    stage.press("esc");
    assert!(stage.app.overlays.is_empty() && dispatched(&mut stage).is_empty());
    stage.press("3 d enter");
    assert_eq!(dispatched(&mut stage), one(&["tests"], "first"));
    stage.press("d");
    write(&mut stage, "second");
    stage.press("enter d");
    write(&mut stage, "own");
    stage.press("up up up down");
    assert!(stage.text().contains("second"));
    stage.press("down");
    assert!(stage.text().contains("own"), "what was being written is not lost");
    stage.press("up up enter");
    assert_eq!(dispatched(&mut stage).pop(), one(&["tests"], "first").pop());
    let kept: Vec<_> = std::mem::take(&mut stage.app.wishes);
    assert_eq!(kept.len(), 3, "{kept:?}");
}

#[test]
fn nothing_is_not_sent() {
    let mut stage = crew_stage();
    stage.press("d space enter");
    assert!(stage.text().contains("The prompt is empty"));
    stage.press("esc");
    assert!(dispatched(&mut stage).is_empty() && stage.app.wishes.is_empty());
    stage.press("d x");
    stage.give(AppInput::Lost { reason: "gone".into() });
    stage.press("enter");
    assert!(stage.text().contains("Your text is kept here"));
}

#[test]
fn names_at_the_beginning_address_others() {
    let mut stage = crew_stage();
    stage.press("d @ t tab");
    assert!(stage.text().contains("→  ○ tests  idle"), "{}", stage.text());
    write(&mut stage, "@bac");
    stage.press("tab");
    write(&mut stage, "go on");
    stage.press("enter");
    assert_eq!(dispatched(&mut stage), one(&["tests", "backend"], "go on"));
    stage.press("d");
    write(&mut stage, "@bakend x");
    stage.press("enter");
    assert!(stage.text().contains("There is no agent `bakend`; the nearest is `backend`"));
    stage.press("home space enter");
    assert_eq!(dispatched(&mut stage), one(&["backend"], "@bakend x"));
}

#[test]
fn a_refused_prompt_says_why_and_is_there_for_the_next_try() {
    let mut stage = crew_stage();
    stage.press("2 d");
    assert!(stage.text().contains("! is sent when its dialog is closed"));
    write(&mut stage, "hello");
    stage.press("enter");
    let refused = receipt(7, "frontend", Step::Refused, Some("a dialog is open: answer it first"));
    stage.answer(is_dispatch, done(vec![refused]));
    assert!(stage.text().contains("frontend refused: a dialog is open: answer it first"));
    stage.requests();
    stage.press("d enter");
    assert_eq!(dispatched(&mut stage), one(&["frontend"], "hello"));
    stage.press("d");
    write(&mut stage, "more");
    stage.press("enter");
    stage.refuse(is_dispatch, Fault::new("64 prompts are already queued for agent `frontend`"));
    assert!(stage.text().contains("64 prompts are already queued"));
    stage.requests();
    stage.press("d ctrl-g");
    assert!(matches!(&dispatched(&mut stage)[..], [(_, text, true)] if text == "more"));
}

#[test]
fn an_editor_of_ones_own_gives_back_what_was_written() {
    let mut stage = crew_stage();
    stage.press("d a b ctrl-e");
    let wishes = std::mem::take(&mut stage.app.wishes);
    assert_eq!(wishes, [crate::tui::app::LocalEffect::Edit("ab".to_owned())]);
    stage.give(AppInput::Edited(Ok("ab\ncd".to_owned())));
    stage.give(AppInput::Edited(Ok(String::new())));
    stage.give(AppInput::Edited(Err("`vi` cannot be run".to_owned())));
    assert!(stage.text().contains("✗ `vi` cannot be run"));
    stage.press("enter");
    assert_eq!(dispatched(&mut stage), one(&["backend"], "ab\ncd"));
}

#[test]
fn a_broadcast_goes_to_everyone_who_can_take_it_or_to_those_chosen() {
    let mut stage = crew_stage();
    stage.press("b h i enter");
    assert_eq!(dispatched(&mut stage), one(&["backend", "tests", "docs"], "hi"));
    stage.press("b alt-1 h i tab down down space 2 tab ! enter");
    assert_eq!(dispatched(&mut stage), one(&["frontend", "docs"], "hi!"));
    stage.press("b x");
    stage.click_on("[x]  1");
    stage.click_on("enter send");
    assert_eq!(dispatched(&mut stage), one(&["tests", "docs"], "x"));
    stage.press("b x tab 1 3 4 enter");
    assert!(stage.text().contains("No agent is selected"));
    stage.click(1, 1);
    assert!(stage.app.overlays.is_empty() && dispatched(&mut stage).is_empty());
}

#[test]
fn a_receipt_stands_on_its_tile_until_it_is_seen() {
    let mut agents = crew();
    agents[0].receipt = Some(receipt(12, "backend", Step::Queued, None));
    agents[0].queued = 1;
    let mut stage = Stage::new(120, 40, agents.clone());
    assert!(stage.text().contains("r12 queued"));
    stage.press("esc");
    assert!(stage.text().contains("r12 queued"), "it is not over");
    stage.requests();
    stage.press("w");
    let withdrawn = stage.requests();
    assert!(matches!(&withdrawn[..], [Request::Withdraw { receipt: ReceiptId(12) }]));

    agents[0].receipt = Some(receipt(12, "backend", Step::Stalled, Some("it stands in the box")));
    agents[0].queued = 0;
    stage.give(AppInput::Hub(status(agents.clone())));
    assert!(stage.text().contains("! r12 stalled: it stands in the box"));
    stage.press("w");
    assert!(stage.text().contains("No prompt is queued for backend"));
    stage.press("2 esc");
    assert!(stage.text().contains("r12 stalled"), "another one was selected");
    stage.press("1 esc");
    assert!(!stage.text().contains("r12 stalled"));
    agents[0].receipt = Some(receipt(13, "backend", Step::Unknown, None));
    stage.give(AppInput::Hub(status(agents)));
    assert!(stage.text().contains("! r13 unknown"), "the next one is news again");
}

#[test]
fn an_approval_is_answered_with_two_keys() {
    let mut agents = crew();
    agents.truncate(3);
    let mut stage = Stage::new(120, 40, agents);
    stage.requests();
    stage.press("a 1");
    assert_eq!(stage.selected(), "frontend");
    let answers = answers(&mut stage);
    assert_eq!(answers, [("d1".to_owned(), DialogChoice::Option(1))]);
}

/// Returns the answers to dialogs since the last time.
fn answers(stage: &mut Stage) -> Vec<(String, DialogChoice)> {
    let answer = |request| {
        let Request::Answer { dialog, choice, .. } = request else { return None };
        Some((dialog, choice))
    };
    stage.requests().into_iter().filter_map(answer).collect()
}

fn is_answer(request: &Request) -> bool {
    matches!(request, Request::Answer { .. })
}

#[test]
fn what_waits_longest_comes_first_and_the_rest_follows() {
    let mut agents = crew();
    agents[2].receipt = Some(receipt(3, "tests", Step::Unknown, Some("nobody can tell")));
    let mut stage = Stage::new(120, 40, agents);
    stage.press("a");
    assert_eq!(stage.selected(), "docs");
    assert!(
        stage.text().contains("docs: blocked: the contract of GET /users · d sends it a prompt")
    );
    stage.press("a");
    assert_eq!((stage.selected(), stage.app.overlays.len()), ("frontend", 1));
    stage.press("tab");
    assert_eq!((stage.selected(), stage.app.overlays.len()), ("tests", 0));
    assert!(stage.text().contains("tests: r3 unknown: nobody can tell"));
    stage.press("esc a");
    assert_eq!(stage.selected(), "docs", "and around");
    stage.give(AppInput::Hub(status(crew())));
    let mut agents = crew();
    agents[0].stuck = true;
    stage.give(AppInput::Hub(status(agents)));
    let last = stage.app.attention().pop().unwrap();
    assert_eq!(
        last.agent.unwrap().as_str(),
        "backend",
        "stuck only now, though at work for longer"
    );
    let mut agents = crew();
    agents[1].by_rule = true;
    stage.give(AppInput::Hub(status(agents)));
    let is_frontend =
        |one: &AttentionItem| one.agent.as_ref().is_some_and(|agent| agent.as_str() == "frontend");
    assert!(!stage.app.attention().iter().any(is_frontend), "rules are about to answer it");
    let mut quiet = Stage::new(120, 40, team(1));
    quiet.press("a");
    assert!(quiet.text().contains("Nothing needs you"));
}

#[test]
fn a_dialog_that_has_changed_is_not_answered_with_what_was_meant_for_another() {
    let mut stage = crew_stage();
    stage.press("a a");
    let mut agents = crew();
    agents[1].dialog = Some(dialog("d2", "rm -rf /"));
    stage.give(AppInput::Hub(status(agents)));
    let text = stage.text();
    assert!(
        text.contains("cargo build") && text.contains("The pane no longer shows this"),
        "{text}"
    );
    stage.press("down enter 1");
    let refused = Response::Deed {
        state: Step::Refused,
        reason: Some("the dialog is another one now".to_owned()),
    };
    stage.answer(is_answer, refused);
    assert_eq!(answers(&mut stage), [("d1".to_owned(), DialogChoice::Option(2))], "only once");
    let text = stage.text();
    assert!(text.contains("rm -rf /") && text.contains("refused: the dialog is another one now"));
    stage.press("3");
    let accepted = Response::Deed { state: Step::Accepted, reason: None };
    stage.answer(is_answer, accepted);
    assert_eq!(answers(&mut stage), [("d2".to_owned(), DialogChoice::Option(3))]);
    assert!(stage.app.overlays.is_empty());
    assert!(stage.text().contains("Answered frontend: No"));
}

#[test]
fn a_question_without_options_takes_yes_and_no() {
    let mut agents = crew();
    let bare = DialogStatus { options: Vec::new(), selected: None, ..dialog("d9", "make") };
    agents[1].dialog = Some(bare);
    let mut stage = Stage::new(120, 40, agents);
    stage.press("a a enter");
    assert!(stage.text().contains("Choose y or n first"));
    assert!(answers(&mut stage).is_empty());
    stage.press("n");
    assert_eq!(answers(&mut stage), [("d9".to_owned(), DialogChoice::Deny)]);
    stage.press("esc");
    assert!(stage.app.overlays.is_empty());
}

#[test]
fn the_list_of_what_waits_leads_to_each_of_it() {
    let mut stage = crew_stage();
    stage.press("A down enter");
    assert_eq!(stage.selected(), "frontend");
    stage.press("1");
    assert_eq!(answers(&mut stage).len(), 1);
    let mut stage = crew_stage();
    stage.press("A");
    stage.point(MouseKind::ScrollDown, 60, 20);
    stage.click_on("docs ");
    stage.click_on("go there");
    assert_eq!(stage.selected(), "docs");
    assert!(stage.app.overlays.is_empty());
    stage.press("A esc");
    assert!(stage.app.overlays.is_empty());
}

#[test]
fn an_option_can_be_clicked() {
    let mut stage = crew_stage();
    stage.press("a a");
    stage.click_on("3  No");
    assert!(answers(&mut stage).is_empty(), "one click only marks it");
    stage.click_on("enter the selected option");
    assert_eq!(answers(&mut stage), [("d1".to_owned(), DialogChoice::Option(3))]);
}

#[test]
fn an_interrupt_tells_what_became_of_it() {
    let mut stage = stage(120, 40, 2);
    stage.requests();
    stage.press("i");
    let is_interrupt = |request: &Request| matches!(request, Request::Interrupt { .. });
    let outcome = Response::Deed { state: Step::Refused, reason: Some("it is idle".to_owned()) };
    stage.answer(is_interrupt, outcome);
    assert!(stage.text().contains("backend not interrupted, refused: it is idle"));
    stage.press("i");
    stage.answer(is_interrupt, Response::Deed { state: Step::Accepted, reason: None });
    assert!(stage.text().contains("backend interrupted"));
    let name: AgentName = NAMES[0].parse().unwrap();
    assert_eq!(stage.app.selected, Some(name));
}
