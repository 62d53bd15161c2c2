//! A dashboard that is stopped, or whose terminal stops reading, costs little, slows nobody, stays
//! in its person's hands and shows the truth in the end.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use wheelhouse::api::{Notice, Request};

use super::fake_hub::{FakeHub, view};
use super::stalled::{PAINTER, echo, most_memory};
use super::support::clock::wait_for;
use super::support::process::{self, is_alive};
use super::support::visitor::Visitor;
use super::support::world::World;
use super::terminal::Terminal;

const ECHO: &[&str] = &["sh", "-c", "while read line; do echo \"<$line>\"; done", "ROOT"];

const STALLED_BYTES: u64 = 2 * 1024 * 1024;
/// What the panes themselves may come to differ by between two looks.
const NOISE_BYTES: u64 = 1024 * 1024;

/// A team whose painters flood until they are told to be calm.
fn flooding_world() -> World {
    let painters: Vec<_> =
        ["1", "2", "3"].iter().map(|seed| ["python3", "-c", PAINTER, "ROOT", seed]).collect();
    let mut agents: Vec<(&str, &[&str])> =
        ["p1", "p2", "p3"].into_iter().zip(painters.iter().map(|argv| &argv[..])).collect();
    agents.push(("echo", ECHO));
    let world = World::with_crew(&agents);
    world.ok(&["up", "crew"]);
    world
}

fn calm(world: &World) {
    fs::write(world.path("calm"), "").unwrap();
    for painter in ["p1", "p2", "p3"] {
        world.wait_for_text(painter, "last words 29");
    }
}

#[test]
fn a_dashboard_that_was_stopped_in_a_flood_shows_the_truth_again() {
    let world = flooding_world();
    let mut terminal = Terminal::attach(&world, 180, 50);
    terminal.wait_for("echo");
    terminal.wait_for("abc");
    let hub = world.status().hub.pid;
    let before = most_memory(hub, Duration::from_millis(1500));
    process::kill(terminal.pid(), Signal::STOP);

    let mut visitor = Visitor::greeted(&world);
    visitor.watch(&["echo"]);
    let mut times: Vec<_> = (0..40).map(|number| echo(&mut visitor, "echo", number)).collect();
    times.sort();
    let grown = most_memory(hub, Duration::from_millis(1500)).saturating_sub(before);
    println!("stopped dashboard: {} KiB; echo beside it: {:?}", grown / 1024, times[20]);
    assert!(grown <= STALLED_BYTES + NOISE_BYTES, "{grown} bytes");
    // As beside a client that listens; the machine may be busy.
    assert!(times[20] < Duration::from_millis(500), "{times:?}");
    calm(&world);
    process::kill(terminal.pid(), Signal::CONT);

    let mut fresh = Terminal::attach(&world, 180, 50);
    let mut texts = (String::new(), String::new());
    wait_for("both dashboards show the same", || {
        terminal.catch_up();
        fresh.catch_up();
        texts = (terminal.text(), fresh.text());
        texts.0 == texts.1 && texts.0.contains("last words 29") && texts.0.contains("<n39>")
    });
}

#[test]
fn a_terminal_that_stops_reading_leaves_the_dashboard_in_its_persons_hands() {
    let hub = FakeHub::start(&["one", "two"]);
    let mut terminal = Terminal::open(&hub.socket, 100, 30, &[]);
    terminal.wait_for("two is here");
    terminal.stop_reading();
    for round in 0..400 {
        let lines: Vec<String> = (0..24).map(|row| format!("{round}-{row} ").repeat(10)).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        hub.tell(Notice::Pane(view("one", &lines)));
        // One frame at a time, or all of them would be drawn as one.
        thread::park_timeout(Duration::from_millis(2));
    }
    terminal.press(b"2\r");
    hub.wait_for(|request| {
        matches!(request, Request::Keys { agent, .. } if agent == "two").then_some(())
    });
    hub.tell(Notice::Pane(view("one", &["the last word"])));
    terminal.read_on();
    terminal.wait_for("TYPING → two");
    terminal.wait_for("the last word");
    assert!(!terminal.text().contains("-23 "), "nothing of the old is left:\n{}", terminal.text());
}

#[test]
fn a_dashboard_ends_when_it_is_told_to_though_its_terminal_hangs() {
    let world = flooding_world();
    let mut terminal = Terminal::attach(&world, 180, 50);
    terminal.wait_for("echo");
    terminal.wait_for("abc");
    terminal.stop_reading();
    let dashboard = process::identify(terminal.pid()).unwrap();
    // It hangs as soon as it has more to write than a terminal holds.
    wait_for("the terminal is full", || has_unsent(&mut terminal));
    process::kill(dashboard.pid, Signal::TERM);
    wait_for("the dashboard has ended", || !is_alive(dashboard));
    calm(&world);
}

/// Says whether the dashboard waits for room to write.
fn has_unsent(terminal: &mut Terminal) -> bool {
    // Nothing tells from outside what a program waits for; but one that draws three floods and whose
    // output is not taken writes nothing any more.
    let written = |pid: u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
        text.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse::<u64>().ok())
    };
    let before = written(terminal.pid());
    thread::park_timeout(Duration::from_millis(200));
    before.is_some() && before == written(terminal.pid())
}
