//! The dashboard on a real terminal: a person's keys in, what the terminal shows out.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use wheelhouse::api::{KeyInput, MouseWish, Notice, Request};
use wheelhouse::model::{Environment, Key, KeyCode, MouseKind, Size};
use wheelhouse::tui::{Cards, Ended, Options, run};

use crate::fake_hub::{FakeHub, view};
use crate::terminal::{PANICS, SOCKET, Terminal};

/// The program that the tests below run on a terminal of its own.
#[test]
#[ignore = "the other tests run it on a terminal"]
fn dashboard() {
    let Some(socket) = std::env::var_os(SOCKET).map(PathBuf::from) else { return };
    let panics = std::env::var_os(PANICS).is_some();
    let mut connections = 0;
    let hub = move || {
        connections += 1;
        assert!(!panics || connections == 1, "this panic is part of the test");
        UnixStream::connect(&socket)
    };
    let options = Options {
        environment: Environment(std::env::vars().collect()),
        cards: Cards::Never,
        min_size: Size { rows: 5, cols: 20 },
        ..Options::default()
    };
    let ended = run(hub, options).unwrap();
    assert!(matches!(ended, Ended::Detached | Ended::HubEnded | Ended::Signalled));
    print!("ended: {ended:?}");
}

#[test]
fn a_person_types_into_a_pane_and_leaves() {
    let hub = FakeHub::start(&["one", "two"]);
    let mut terminal = Terminal::open(&hub.socket, 100, 30, &[]);
    terminal.wait_for("one is here");
    terminal.wait_for("two is here");
    terminal.press(b"2\r");
    terminal.wait_for("TYPING → two");
    terminal.press(b"l\x1b[200~s -a\nx\x1b[201~");
    let keys = hub.wait_for(|request| {
        let Request::Keys { agent, keys } = request else { return None };
        let is_pasted = keys.iter().any(|key| matches!(key, KeyInput::Paste(_)));
        is_pasted.then(|| (agent.clone(), keys.clone()))
    });
    assert_eq!(keys.0, "two");
    let typed = KeyInput::Key(Key::plain(KeyCode::Char('l')));
    assert_eq!(keys.1, [typed, KeyInput::Paste("s -a\nx".to_owned())]);
    hub.tell(Notice::Pane(view("two", &["$ ls -a"])));
    terminal.wait_for("$ ls -a");
    assert!(!terminal.screen().hide_cursor(), "the cursor is where the person types");
    terminal.press(b"\x02");
    terminal.wait_for("enter type");
    terminal.press(b"q");
    terminal.wait_for("ended: Detached");
    terminal.assert_restored();
}

#[test]
fn a_tile_gives_its_size_to_its_pane_and_follows_the_window() {
    let hub = FakeHub::start(&["one", "two"]);
    let mut terminal = Terminal::open(&hub.socket, 200, 50, &[]);
    let size = |request: &Request| {
        let Request::Resize { agent, size } = request else { return None };
        (agent == "two").then_some(*size)
    };
    assert_eq!(hub.wait_for(size), Size { rows: 46, cols: 98 });
    terminal.resize(120, 40);
    assert_eq!(hub.wait_for(size), Size { rows: 17, cols: 118 });
    terminal.press(b"2z");
    assert_eq!(hub.wait_for(size), Size { rows: 38, cols: 120 });
}

#[test]
fn a_hub_that_comes_back_is_found_again() {
    let hub = FakeHub::start(&["one"]);
    let mut terminal = Terminal::open(&hub.socket, 80, 24, &[]);
    terminal.wait_for("one is here");
    terminal.press(b"\r");
    terminal.wait_for("TYPING → one");
    hub.vanish();
    terminal.wait_for("Hub disconnected");
    terminal.press(b"x");
    terminal.wait_for("Not sent to one: no connection to the hub");
    let again = FakeHub::come_back(&hub.socket, &["one", "two"]);
    terminal.wait_for("two is here");
    assert!(!terminal.text().contains("Hub disconnected"));
    again.tell(Notice::Ending);
    terminal.wait_for("ended: HubEnded");
    terminal.assert_restored();
}

#[test]
fn a_signal_and_a_panic_leave_the_terminal_as_it_was() {
    let hub = FakeHub::start(&["one"]);
    let mut terminal = Terminal::open(&hub.socket, 80, 24, &[]);
    terminal.wait_for("one is here");
    let pid = i32::try_from(terminal.child.process_id().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    terminal.wait_for("ended: Signalled");
    terminal.assert_restored();

    let mut terminal = Terminal::open(&hub.socket, 80, 24, &[(PANICS, "1")]);
    terminal.wait_for("one is here");
    hub.hang_up();
    // A backtrace may have pushed it off the screen.
    terminal.wait_for_bytes(0, b"this panic is part of the test");
    terminal.assert_restored();
}

#[test]
fn nothing_that_an_agent_shows_can_act_on_the_terminal() {
    let hub = FakeHub::start(&["one"]);
    let mut terminal = Terminal::open(&hub.socket, 80, 24, &[]);
    terminal.wait_for("one is here");
    let lies = ["\x1b]0;owned\x07", "\x1b[2J\x1b[H", "\u{9b}31mred", "safe and sound"];
    let mut hostile = view("one", &lies);
    hostile.rows[1].1.runs[0].columns = 1;
    hub.tell(Notice::Pane(hostile));
    terminal.wait_for("safe and sound");
    assert!(terminal.text().contains("1 ● one"), "{}", terminal.text());
    assert!(!terminal.seen.windows(4).any(|window| window == b"\x1b]0;"));
}

#[test]
fn motion_is_asked_of_the_terminal_only_while_an_application_wants_it() {
    let hub = FakeHub::start(&["one", "two"]);
    let mut terminal = Terminal::open(&hub.socket, 100, 30, &[]);
    terminal.wait_for("two is here");
    let mut wanting = view("one", &["where is the mouse"]);
    wanting.mouse = MouseWish::Motion;
    hub.tell(Notice::Pane(wanting));
    terminal.wait_for("where is the mouse");
    assert_eq!(terminal.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::ButtonMotion);
    terminal.press(b"\r");
    terminal.wait_for("TYPING → one");
    assert_eq!(terminal.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::AnyMotion);
    terminal.press(b"\x1b[<35;5;5M");
    hub.wait_for(|request| {
        let Request::Keys { keys, .. } = request else { return None };
        let moved = |key: &KeyInput| matches!(key, KeyInput::Mouse(m) if m.kind == MouseKind::Move);
        keys.iter().any(moved).then_some(())
    });
    terminal.press(b"\x02");
    terminal.wait_for("enter type");
    assert_eq!(terminal.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::ButtonMotion);
    terminal.press(b"q");
    terminal.wait_for("ended: Detached");
    terminal.assert_restored();
}
