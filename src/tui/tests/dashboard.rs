//! How the dashboard answers a person and the hub, from what they do to what is asked and seen.

use super::fixture::{NAMES, Stage, TALK, offers, pane_view, row, stage, status, team};
use crate::api::{Alert, Fault, FromHub, KeyInput, MouseWish, Notice, Request, Response};
use crate::model::{AgentState, Done, Mouse, Size};
use crate::tui::app::LocalEffect;
use crate::tui::grid::{Cards, Layout};
use crate::tui::update::AppInput;

#[test]
fn digits_arrows_and_tab_select_and_enter_types() {
    let mut stage = stage(200, 50, 4);
    stage.press("3");
    assert_eq!(stage.selected(), "tests");
    stage.press("up right");
    assert_eq!(stage.selected(), "frontend");
    stage.press("tab tab tab");
    assert_eq!(stage.selected(), "backend");
    stage.press("shift-tab j k 9");
    assert_eq!(stage.selected(), "frontend");
    assert!(stage.text().contains("There is no pane 9"));
    stage.requests();
    stage.press("enter a shift-enter ctrl-c");
    let keys = stage.typed("frontend");
    assert_eq!(keys[0], KeyInput::Focus(true));
    assert_eq!(
        keys[1..],
        ["a", "shift-enter", "ctrl-c"].map(|key| KeyInput::Key(key.parse().unwrap()))
    );
}

#[test]
fn leaving_twice_sends_the_key_on() {
    let mut stage = stage(200, 50, 2);
    stage.press("enter ctrl-b");
    assert!(!stage.app.is_typing());
    stage.requests();
    stage.press("ctrl-b");
    assert!(stage.app.is_typing());
    let keys = stage.typed("backend");
    assert_eq!(keys[1], KeyInput::Key("ctrl-b".parse().unwrap()));
    stage.press("ctrl-b 2 ctrl-b");
    assert!(!stage.app.is_typing(), "only at once after leaving");
}

#[test]
fn typing_into_an_agent_that_ended_is_refused_with_a_way_out() {
    let mut stage = stage(200, 50, 9);
    stage.press("9 enter");
    assert!(stage.text().contains("infra has ended. Press s to start it"));
    stage.requests();
    stage.press("s");
    let started = stage.requests();
    assert!(matches!(&started[..], [Request::Start { agents, .. }] if agents == &["infra"]));
    stage.press("delete enter");
    let removed = stage.requests();
    assert!(matches!(&removed[..], [Request::Forget { agents, .. }] if agents == &["infra"]));
}

#[test]
fn an_agent_that_ends_takes_no_more_keys() {
    let mut stage = stage(200, 50, 2);
    stage.press("enter");
    let mut agents = team(2);
    agents[0].state = AgentState::Exited;
    stage.give(AppInput::Hub(status(agents)));
    assert!(!stage.app.is_typing());
    assert!(stage.text().contains("backend has ended: nothing you type reaches it"));
}

#[test]
fn what_ends_something_is_asked_twice_and_a_no_is_a_no() {
    let mut stage = stage(200, 50, 2);
    stage.requests();
    stage.press("x esc r n");
    assert!(stage.requests().is_empty() && stage.app.overlays.is_empty());
    stage.press("x enter r y");
    let requests = stage.requests();
    assert!(matches!(&requests[0], Request::Stop { agents, .. } if agents == &["backend"]));
    assert!(matches!(&requests[1], Request::Restart { agents, .. } if agents == &["backend"]));
}

#[test]
fn an_agent_that_was_not_lost_comes_back_with_its_conversation_or_a_brief() {
    let mut stage = stage(120, 40, 2);
    stage.requests();
    stage.press("R");
    let text = stage.text();
    assert!(text.contains("Resume backend?") && text.contains("summary of its work"), "{text}");
    stage.press("esc r");
    assert!(stage.text().contains("Restart backend?"));
    stage.press("space");
    assert!(stage.text().contains("Resume backend?"));
    stage.press("enter R space y");
    let requests = stage.requests();
    let [Request::Resume { agents, brief: true, .. }, Request::Restart { .. }] = &requests[..]
    else {
        panic!("{requests:?}")
    };
    assert_eq!(agents, &["backend"]);
}

#[test]
fn a_refusal_is_shown_with_its_hint_until_the_next_key() {
    let mut stage = stage(120, 30, 2);
    stage.press("x enter");
    let id = stage.asked.last().unwrap().id;
    let fault = Fault { message: "No\u{1b}[2J".into(), ..Fault::new("") }
        .with_hint("Try `wheelhouse doctor`");
    stage.give(AppInput::Hub(FromHub::Answer { id, outcome: Err(fault) }));
    assert!(stage.text().contains("No\u{fffd}[2J · Try `wheelhouse doctor`"));
    stage.press("2");
    assert!(!stage.text().contains("doctor"));
}

#[test]
fn a_team_is_started_from_the_list_and_brings_its_layout() {
    let mut stage = Stage::new(120, 30, Vec::new());
    stage.answer(|request| matches!(request, Request::Teams { .. }), offers());
    stage.press("down enter");
    assert!(stage.text().contains("`gemini` is not installed"));
    assert!(!stage.asked.iter().any(|ask| matches!(ask.request, Request::Up { .. })));
    stage.press("up enter enter");
    let ups = stage.asked.iter().filter(|ask| matches!(ask.request, Request::Up { .. }));
    assert_eq!(ups.count(), 1, "an impatient second enter starts nothing twice");
    assert!(stage.text().contains("Starting shop…"));
    stage.answer(|request| matches!(request, Request::Up { .. }), Response::Ok);
    stage.give(AppInput::Hub(status(team(2))));
    assert!(stage.app.overlays.is_empty());
    assert_eq!(stage.app.layout, Layout::Focus);
}

#[test]
fn reading_back_fetches_lines_and_says_where_it_is() {
    let mut stage = stage(200, 50, 1);
    let mut view = pane_view("backend", &["now"]);
    view.committed = 500;
    view.size = Size { rows: 46, cols: 198 };
    stage.show(view);
    stage.requests();
    stage.press("pageup");
    let requests = stage.requests();
    assert!(matches!(requests[..], [Request::History { before: Some(500), .. }]), "{requests:?}");
    stage.press("pageup");
    assert!(stage.requests().is_empty(), "one question at a time");
    let rows: Vec<_> = (300..500).map(|number| row(&format!("line {number}"))).collect();
    let answer = Response::History { first: 300, kept_from: 0, committed: 500, rows };
    let id = stage.last_id;
    stage.give(AppInput::Hub(FromHub::Answer { id, outcome: Ok(answer) }));
    let text = stage.text();
    assert!(text.contains("line 412") && text.contains("458 of 546 lines · 88 below"), "{text}");
    stage.press("esc");
    assert!(stage.text().contains("now"));
}

#[test]
fn the_mouse_selects_and_only_a_program_that_asked_for_it_gets_it() {
    let mut stage = stage(200, 50, 4);
    stage.click(150, 10);
    assert_eq!(stage.selected(), "frontend");
    assert!(!stage.app.is_typing());
    stage.click(150, 10);
    assert!(stage.app.is_typing(), "a double click types");
    stage.requests();
    stage.click(150, 10);
    assert!(stage.requests().is_empty());
    stage.press("esc");
    assert!(stage.app.is_typing(), "the third took the line");
    let mut view = pane_view("frontend", &TALK);
    view.mouse = MouseWish::Buttons;
    stage.show(view);
    stage.click(150, 10);
    let keys = stage.typed("frontend");
    assert!(matches!(keys[..], [KeyInput::Mouse(Mouse { row: 8, col: 49, .. })]), "{keys:?}");
}

#[test]
fn the_dashboard_that_is_used_last_decides_the_sizes() {
    let mut stage = stage(200, 50, 2);
    let sizes = |stage: &mut Stage| {
        let requests = stage.requests().into_iter();
        requests.filter(|request| matches!(request, Request::Resize { .. })).count()
    };
    assert_eq!(sizes(&mut stage), 2);
    let with_columns = |cols| {
        let mut view = pane_view("backend", &TALK);
        view.size = Size { rows: 46, cols };
        view
    };
    stage.show(with_columns(98));
    stage.show(with_columns(60));
    stage.give(AppInput::Hub(status(team(3))));
    assert_eq!(sizes(&mut stage), 0, "another dashboard is in use");
    stage.press("2");
    assert!(sizes(&mut stage) >= 1, "now this one is");
}

#[test]
fn a_prompt_that_the_hub_did_not_answer_is_handed_to_the_next_one_under_the_same_key() {
    let mut stage = stage(200, 50, 2);
    stage.press("d x enter");
    let key = |stage: &Stage| {
        let keys = stage.asked.iter().filter_map(|ask| {
            let Request::Dispatch { idempotency_key, .. } = &ask.request else { return None };
            idempotency_key.clone()
        });
        keys.collect::<Vec<String>>()
    };
    let first = key(&stage);
    assert_eq!(first.len(), 1);
    stage.give(AppInput::Lost { reason: "gone".into() });
    assert!(stage.text().contains("your prompt is sent when it is back"));
    stage.give(AppInput::Lost { reason: "still gone".into() });
    stage.requests();
    stage.give(AppInput::Connected);
    assert_eq!(key(&stage), first);
    let is_dispatch = |request: &Request| matches!(request, Request::Dispatch { .. });
    stage.answer(is_dispatch, Response::Done(Done::default()));
    stage.requests();
    stage.give(AppInput::Lost { reason: "gone".into() });
    stage.give(AppInput::Connected);
    assert_eq!(key(&stage), Vec::<String>::new(), "it was answered");
    stage.press("d y enter");
    assert_ne!(key(&stage), first, "another prompt has another name");
}

#[test]
fn after_the_hub_returns_everything_is_asked_for_again() {
    let mut stage = stage(200, 50, 2);
    stage.give(AppInput::Lost { reason: "gone".into() });
    stage.press("enter");
    assert!(stage.text().contains("Cannot type: no connection to the hub"));
    stage.requests();
    stage.give(AppInput::Connected);
    let requests = stage.requests();
    assert!(matches!(requests[0], Request::Hello { .. }));
    assert!(requests.iter().any(|request| matches!(request, Request::Subscribe)));
    assert!(
        requests.iter().any(|r| matches!(r, Request::Watch { agents, .. } if agents.len() == 2))
    );
}

#[test]
fn a_spinner_costs_a_few_bytes_and_touches_one_tile() {
    let mut stage = stage(200, 50, 16);
    stage.app.settings.cards = Cards::Never;
    stage.press("ctrl-l");
    stage.draw();
    let mut bytes = 0;
    for tick in 0..160 {
        let sign = ["⠋", "⠙", "⠹", "⠸"][tick / 16 % 4];
        let mut view = pane_view(NAMES[tick % 16], &[]);
        view.is_full = false;
        view.cursor.row = 7;
        view.rows =
            vec![(5, row(&format!("{sign} Thinking… (12s · ↑ 444 tokens · esc to interrupt)")))];
        stage.show(view);
        bytes += stage.draw().len();
    }
    assert!(bytes / 160 <= 20, "{} bytes for each update", bytes / 160);
}

#[test]
fn nothing_is_drawn_when_nothing_has_changed() {
    let mut stage = stage(200, 50, 16);
    stage.draw();
    stage.give(AppInput::Hub(status(team(16))));
    assert!(stage.app.damage.is_none());
    stage.give(AppInput::TimePassed);
    assert_eq!(stage.draw(), b"", "no label has changed");
}

#[test]
fn states_can_be_told_without_colours() {
    let mut stage = stage(250, 70, 10);
    let text = stage.text();
    for sign in ["●", "◆", "○", "✓", "✗", "◷", "■", "?", "∅", "◌"] {
        assert!(text.contains(&format!(" {sign} ")), "{sign}");
    }
    assert!(text.contains('┏') && text.contains('╭'), "the selected frame differs by its lines");
}

#[test]
fn a_pane_that_is_cut_can_be_read_back_within_its_screen() {
    let mut stage = stage(120, 40, 8);
    let lines: Vec<String> = (0..24).map(|at| format!("screen line {at}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut view = pane_view("backend", &lines);
    view.is_alternate = true;
    view.committed = 70;
    view.cursor.row = 23;
    stage.show(view);
    stage.requests();
    stage.press("pageup pageup pageup pageup");
    assert!(stage.text().contains("screen line 0"));
    assert!(stage.requests().is_empty(), "a full screen has no history to ask for");
}

#[test]
fn the_hub_knows_which_pane_has_the_persons_attention() {
    let mut stage = stage(200, 50, 2);
    let attended = |stage: &mut Stage| {
        let requests = stage.requests();
        let told = requests.iter().rev().find_map(|request| {
            let Request::Watch { focused, is_attended, .. } = request else { return None };
            Some((focused.clone(), *is_attended))
        });
        told.map(|(focused, is_attended)| (focused.unwrap().to_string(), is_attended))
    };
    stage.press("2");
    assert_eq!(attended(&mut stage), Some((NAMES[1].to_owned(), true)));
    stage.give(AppInput::Focus(false));
    assert_eq!(attended(&mut stage), Some((NAMES[1].to_owned(), false)));
    stage.give(AppInput::Focus(false));
    assert_eq!(attended(&mut stage), None, "that is known");
    stage.give(AppInput::Focus(true));
    assert_eq!(attended(&mut stage), Some((NAMES[1].to_owned(), true)));
}

#[test]
fn an_alert_of_the_hub_is_handed_to_the_terminal() {
    let mut stage = stage(200, 50, 2);
    let alert = Alert {
        agent: NAMES[0].parse().unwrap(),
        state: AgentState::Waiting,
        is_stuck: false,
        title: "wheelhouse shop: one".to_owned(),
        body: "waiting".to_owned(),
    };
    let (title, body) = (alert.title.clone(), alert.body.clone());
    stage.give(AppInput::Hub(FromHub::Notice(Notice::Alert(alert))));
    assert_eq!(stage.app.wishes, [LocalEffect::Alert { title, body }]);
}
