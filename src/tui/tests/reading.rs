//! Reading in a pane, key by key: moving, searching, selecting, copying, and going back.

use ratatui::style::Modifier;

use crate::api::{FromHub, KeyInput, Request, Response};
use crate::model::{
    AgentState, Key, KeyCode, Modifiers, Moment, Mouse, MouseButton, MouseKind, Row, ScreenLink,
    Size,
};
use crate::tui::app::{LocalEffect, Mode};
use crate::tui::reading::{LinkTarget, PaneReading};
use crate::tui::style::{Depth, Theme, ThemeChoice};
use crate::tui::tests::fixture::{NOW, Stage, agent, pane_view, row};
use crate::tui::update::{AppInput, update};

const LOG: [&str; 8] = [
    "cargo build",
    "   Compiling shop v0.1.0",
    "",
    "error[E0308]: mismatched types",
    "  --> src/pay/refund.rs:12:5",
    "",
    "see https://doc.rust-lang.org/error_codes/E0308.html",
    "$ ",
];

/// Returns a dashboard with one agent that fills it, off whose pane so many lines have scrolled.
fn reader(committed: u64) -> Stage {
    let mut stage = Stage::new(100, 30, vec![agent("backend", AgentState::Idle, 9)]);
    stage.show(shown(committed, &LOG));
    stage.requests();
    stage
}

fn shown(committed: u64, lines: &[&str]) -> crate::api::PaneView {
    let mut view = pane_view("backend", lines);
    view.size = Size { rows: 26, cols: 98 };
    view.committed = committed;
    (view.cursor.row, view.cursor.col) = (7, 2);
    view
}

fn reading(stage: &Stage) -> &PaneReading {
    let Mode::Reading(reading) = &stage.app.mode else { panic!("{:?}", stage.app.mode) };
    reading
}

/// Returns what was copied since the last time.
fn copied(stage: &mut Stage) -> Vec<String> {
    let wishes = std::mem::take(&mut stage.app.wishes).into_iter();
    let text = wishes.filter_map(|wish| {
        let LocalEffect::Copy(text) = wish else { return None };
        Some(text)
    });
    text.collect()
}

/// Answers requests for history until there are none, with numbered lines.
fn load(stage: &mut Stage) {
    while let Some(at) =
        stage.asked.iter().position(|ask| matches!(ask.request, Request::History { .. }))
    {
        let ask = stage.asked.remove(at);
        let Request::History { before: Some(before), count, .. } = ask.request else { return };
        let first = before.saturating_sub(u64::from(count));
        let rows = (first..before).map(|number| row(&format!("old line {number}"))).collect();
        let outcome = Ok(Response::History { first, kept_from: 0, committed: before, rows });
        stage.give(AppInput::Hub(FromHub::Answer { id: ask.id, outcome }));
    }
}

fn keys(stage: &mut Stage) -> Vec<KeyInput> {
    let typed = stage.typed("backend").into_iter();
    typed.filter(|key| !matches!(key, KeyInput::Focus(_))).collect()
}

fn key(c: char) -> KeyInput {
    KeyInput::Key(Key::plain(KeyCode::Char(c)))
}

#[test]
fn typing_after_the_wheel_goes_back_to_live_and_nothing_of_it_is_lost() {
    let mut stage = reader(300);
    stage.press("enter");
    keys(&mut stage);
    stage.point(MouseKind::ScrollUp, 40, 10);
    load(&mut stage);
    assert!(stage.text().contains("old line 299"), "{}", stage.text());
    assert!(stage.text().contains("LOOKING BACK backend"), "{}", stage.text());
    stage.press("y q j");
    assert_eq!(keys(&mut stage), [key('y'), key('q'), key('j')], "not even the first is lost");
    assert!(stage.app.is_typing());
    stage.point(MouseKind::ScrollUp, 40, 10);
    stage.give(AppInput::Paste("cargo test".to_owned()));
    assert_eq!(keys(&mut stage), [KeyInput::Paste("cargo test".to_owned())]);
    assert!(stage.app.is_typing());
    stage.point(MouseKind::ScrollUp, 40, 10);
    stage.point(MouseKind::ScrollDown, 40, 10);
    assert!(stage.app.is_typing(), "the wheel leads back, too");
}

#[test]
fn after_the_wheel_pages_turn_and_the_leave_key_gives_all_keys_to_reading() {
    let mut stage = reader(300);
    stage.press("enter");
    stage.point(MouseKind::ScrollUp, 40, 10);
    load(&mut stage);
    keys(&mut stage);
    stage.press("pageup");
    assert_eq!(keys(&mut stage), []);
    assert!(stage.text().contains("old line 280"), "{}", stage.text());
    stage.press("ctrl-b k k");
    assert_eq!(keys(&mut stage), []);
    assert!(!reading(&stage).was_typing);
    stage.press("esc");
    assert!(matches!(stage.app.mode, Mode::Overview { .. }));
}

#[test]
fn a_key_that_means_nothing_to_reading_does_what_it_does_over_the_panes() {
    let mut stage = reader(0);
    stage.press("[ f1");
    assert_eq!(stage.app.overlays.len(), 1, "help is there, too");
    stage.press("esc");
    assert!(matches!(stage.app.mode, Mode::Reading(_)));
    stage.press("T");
    assert!(matches!(stage.app.mode, Mode::Overview { .. }));
    assert_eq!(stage.app.overlays.len(), 1);
}

#[test]
fn the_last_error_is_copied_with_three_keys() {
    let mut stage = reader(0);
    stage.press("[ ! y");
    let expected = "error[E0308]: mismatched types\n  --> src/pay/refund.rs:12:5";
    assert_eq!(copied(&mut stage), [expected]);
    assert!(matches!(stage.app.mode, Mode::Overview { .. }), "and reading is over");
}

#[test]
fn it_is_copied_with_one_drag_too_and_stays_marked() {
    let mut stage = reader(0);
    stage.click(1, 5);
    stage.point(MouseKind::Drag(MouseButton::Left), 20, 6);
    stage.point(MouseKind::Drag(MouseButton::Left), 40, 6);
    stage.point(MouseKind::Release(MouseButton::Left), 40, 6);
    let expected = "error[E0308]: mismatched types\n  --> src/pay/refund.rs:12:5";
    assert_eq!(copied(&mut stage), [expected]);
    assert!(reading(&stage).selection.is_some());
}

#[test]
fn a_selection_stands_still_while_output_goes_on() {
    let mut stage = reader(0);
    stage.click(1, 5);
    stage.point(MouseKind::Drag(MouseButton::Left), 5, 5);
    stage.show(shown(50, &["everything", "is", "new"]));
    assert!(stage.text().contains("error[E0308]"), "{}", stage.text());
    assert!(stage.text().contains("50 new since"), "{}", stage.text());
    stage.point(MouseKind::Release(MouseButton::Left), 5, 5);
    assert_eq!(copied(&mut stage), ["error"]);
    stage.press("q");
    assert!(stage.text().contains("everything"));
}

#[test]
fn a_drag_stays_in_its_tile_and_goes_on_beyond_its_edge() {
    let mut stage = reader(300);
    stage.click(1, 5);
    stage.point(MouseKind::Drag(MouseButton::Left), 1, 0);
    load(&mut stage);
    let top = reading(&stage).top;
    for tick in 1..=10 {
        let now = Moment(NOW.0 + 50 * tick);
        stage.asked.extend(update(&mut stage.app, [AppInput::TimePassed], now));
        load(&mut stage);
    }
    assert_eq!(reading(&stage).top, top - 10, "a line at a time while the button is held");
    stage.point(MouseKind::Release(MouseButton::Left), 1, 0);
    let text = copied(&mut stage).concat();
    assert!(text.starts_with("old line 29") && text.ends_with("\ne"), "{text}");
}

#[test]
fn a_double_click_takes_the_word_and_a_third_the_line_and_typing_goes_on() {
    let mut stage = reader(0);
    stage.click(12, 6);
    stage.point(MouseKind::Release(MouseButton::Left), 12, 6);
    stage.click(12, 6);
    stage.point(MouseKind::Release(MouseButton::Left), 12, 6);
    assert_eq!(copied(&mut stage), ["src/pay/refund.rs:12:5"]);
    stage.click(12, 6);
    stage.point(MouseKind::Release(MouseButton::Left), 12, 6);
    assert_eq!(copied(&mut stage), ["  --> src/pay/refund.rs:12:5"]);
    keys(&mut stage);
    stage.press("x");
    assert_eq!(keys(&mut stage), [key('x')], "a double click types, as before");
}

#[test]
fn an_application_that_wants_the_mouse_gets_it_but_for_alt() {
    let mut stage = reader(0);
    let mut view = shown(0, &LOG);
    view.mouse = crate::api::MouseWish::Buttons;
    stage.show(view);
    stage.press("enter");
    keys(&mut stage);
    stage.click(1, 5);
    assert!(matches!(keys(&mut stage)[..], [KeyInput::Mouse(_)]));
    let modifiers = Modifiers { alt: true, ..Modifiers::default() };
    for (kind, col) in [
        (MouseKind::Press(MouseButton::Left), 1),
        (MouseKind::Drag(MouseButton::Left), 5),
        (MouseKind::Release(MouseButton::Left), 5),
    ] {
        stage.give(AppInput::Mouse(Mouse { kind, row: 5, col, modifiers }));
    }
    assert_eq!(copied(&mut stage), ["error"]);
    assert_eq!(keys(&mut stage), []);
}

#[test]
fn a_search_marks_and_counts_every_hit_in_the_whole_history() {
    let mut stage = reader(2500);
    stage.press("[ ?");
    load(&mut stage);
    stage.press("o l d space l i n e space 1 2");
    assert!(stage.text().contains("?old line 12"), "{}", stage.text());
    load(&mut stage);
    stage.press("enter");
    // 12, 120 to 129, 1200 to 1299.
    assert_eq!(reading(&stage).search.as_ref().unwrap().hits.len(), 111);
    assert!(stage.text().contains("111/111 hits"), "{}", stage.text());
    assert!(stage.text().contains("old line 1299"), "{}", stage.text());
    stage.press("3 n");
    assert!(stage.text().contains("108/111 hits"), "{}", stage.text());
    stage.press("N");
    assert!(stage.text().contains("109/111 hits"), "{}", stage.text());
    stage.press("/ n o t h e r e enter");
    assert!(stage.text().contains("Not found: nothere"), "{}", stage.text());
}

#[test]
fn lines_blocks_and_counts_are_those_of_vi() {
    let mut stage = reader(0);
    stage.press("[ g 3 j V j y");
    assert_eq!(
        copied(&mut stage),
        ["error[E0308]: mismatched types\n  --> src/pay/refund.rs:12:5"]
    );
    stage.press("[ g w v e y");
    assert_eq!(copied(&mut stage), ["build"]);
    stage.press("[ g ctrl-v j 4 l y");
    assert_eq!(copied(&mut stage), ["cargo\n   Co"]);
    stage.press("[ G Y");
    assert_eq!(copied(&mut stage), ["$"]);
    stage.press("[ y");
    assert!(stage.text().contains("Nothing is selected"), "never silently nothing");
    assert_eq!(copied(&mut stage), Vec::<String>::new());
}

#[test]
fn all_that_a_pane_has_shown_opens_in_an_editor() {
    let mut stage = reader(1200);
    stage.press("e");
    load(&mut stage);
    let Some(LocalEffect::View { agent, text }) = stage.app.wishes.pop() else { panic!() };
    assert_eq!(agent, "backend");
    assert!(text.starts_with("old line 0\nold line 1\n") && text.ends_with("E0308.html\n$"));
    assert!(matches!(stage.app.mode, Mode::Overview { .. }));
}

/// Answers the request for a screen.
fn answer_screen(stage: &mut Stage, rows: Vec<Row>, links: Vec<ScreenLink>) {
    let is_it = |request: &Request| matches!(request, Request::Screen { .. });
    stage.answer(is_it, Response::Screen { first: 0, rows, links });
}

fn log_rows() -> Vec<Row> {
    (0..26).map(|at| row(LOG.get(at).unwrap_or(&""))).collect()
}

#[test]
fn links_are_shown_with_where_they_lead_before_anything_is_opened() {
    let mut stage = reader(0);
    stage.press("o");
    let target = "https://other.example/".to_owned();
    let set = vec![ScreenLink { row: 0, col: 0, columns: 5, target }];
    answer_screen(&mut stage, log_rows(), set);
    let text = stage.text();
    for line in
        ["error_codes/E0308.html", "src/pay/refund.rs:12:5", "cargo  →  https://other.example/"]
    {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(stage.app.wishes.is_empty(), "nothing opens by itself");
    stage.press("down enter");
    let opened = std::mem::take(&mut stage.app.wishes);
    let path = "src/pay/refund.rs".to_owned();
    let target = LinkTarget::File { path, line: Some(12) };
    assert!(matches!(&opened[..], [LocalEffect::Open { target: it, .. }] if *it == target));
    stage.press("o");
    answer_screen(&mut stage, log_rows(), Vec::new());
    stage.press("c");
    assert_eq!(copied(&mut stage), ["https://doc.rust-lang.org/error_codes/E0308.html"]);
}

#[test]
fn a_click_on_a_link_shows_it_and_an_unsafe_one_is_never_opened() {
    let mut stage = reader(0);
    let modifiers = Modifiers { control: true, ..Modifiers::default() };
    let kind = MouseKind::Press(MouseButton::Left);
    stage.give(AppInput::Mouse(Mouse { kind, row: 2, col: 3, modifiers }));
    let target = "javascript:alert(1)".to_owned();
    let set = vec![ScreenLink { row: 0, col: 0, columns: 5, target }];
    answer_screen(&mut stage, log_rows(), set);
    assert!(stage.text().contains("javascript:alert(1)"));
    stage.press("enter");
    assert!(stage.app.wishes.is_empty());
    assert!(stage.text().contains("Not opened: only http, https, mailto and files are"));
}

#[test]
fn a_search_in_all_panes_lists_hits_with_their_lines_and_leads_there() {
    let agents = ["one", "two"].map(|name| agent(name, AgentState::Idle, 9));
    let mut stage = Stage::new(160, 40, agents.to_vec());
    for name in ["one", "two"] {
        let mut view = pane_view(name, &["live"]);
        view.committed = 1500;
        stage.show(view);
    }
    stage.requests();
    stage.press("ctrl-f");
    let screens: Vec<u64> = stage.asked.iter().map(|ask| ask.id).collect();
    stage.asked.clear();
    for id in screens {
        let rows = vec![row("live")];
        let outcome = Ok(Response::Screen { first: 1500, rows, links: Vec::new() });
        stage.give(AppInput::Hub(FromHub::Answer { id, outcome }));
    }
    load(&mut stage);
    stage.press("o l d space l i n e space 1 4 0 7");
    let text = stage.text();
    let is_hit = |line: &str| line.contains("two") && line.contains("old line 1407");
    assert!(text.contains("2 lines") && text.lines().any(is_hit), "{text}");
    assert!(text.contains("old line 1406"), "the lines around it\n{text}");
    stage.press("down enter");
    load(&mut stage);
    assert_eq!(stage.selected(), "two");
    assert_eq!(reading(&stage).cursor.line, 1407);
    assert!(stage.text().contains("1/1 hits"), "{}", stage.text());
}

#[test]
fn the_title_of_the_window_tells_how_many_wait() {
    let mut stage = Stage::new(100, 30, vec![agent("backend", AgentState::Working, 9)]);
    assert_eq!(stage.app.title(), "shop · wheelhouse");
    stage.give(AppInput::Hub(crate::tui::tests::fixture::status(vec![agent(
        "backend",
        AgentState::Waiting,
        9,
    )])));
    assert_eq!(stage.app.title(), "▲ 1 · shop · wheelhouse");
}

#[test]
fn what_is_read_is_the_same_whatever_the_colours() {
    let depths = [Depth::True, Depth::Indexed, Depth::Sixteen, Depth::None];
    let shown = depths.map(|depth| {
        let mut stage = reader(0);
        stage.app.theme = Theme::load(&ThemeChoice::Auto, depth).unwrap();
        stage.press("[ g V");
        let text = stage.text();
        let cells = stage.picture.buffer().content.iter();
        let marked = cells.filter(|cell| cell.modifier.contains(Modifier::REVERSED)).count();
        (text, marked)
    });
    assert!(shown[0].0.contains("error[E0308]") && shown[0].1 > 98, "a line is marked");
    assert!(shown.iter().all(|other| *other == shown[0]), "{shown:?}");
}
