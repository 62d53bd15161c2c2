//! A client that stops listening in a flood costs little, slows nobody and catches up.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use wheelhouse::api::{FromHub, KeyInput, Notice, Request};

use super::support::clock::{PATIENCE, now};
use super::support::process::private_memory;
use super::support::visitor::{Picture, Visitor};
use super::support::world::World;

/// Redraws its whole screen with noise until a file says that it is enough.
pub(crate) const PAINTER: &str = "
import os, random, sys
random.seed(int(sys.argv[2]))
while not os.path.exists(sys.argv[1] + '/calm'):
    frame = ''.join('\\x1b[%d;1H' % (row + 1) + ''.join(random.choices('abcdefgh ', k=79)) for row in range(24))
    os.write(1, frame.encode())
os.write(1, b'\\x1b[2J\\x1b[Hcalm\\r\\n')
for n in range(30):
    os.write(1, b'last words %d %d\\r\\n' % (n, random.randrange(10 ** 9)))
sys.stdin.readline()
";
/// Lays each stone of its picture once, at its own place, with much that shows nothing between: all of it
/// less than a keeper holds for a hub that is late.
const MOSAIC: &str = "
import os, sys
os.system('stty -echo')
for row in range(22):
    for col in range(80):
        os.write(1, b'\\x1b[%d;%dH#' % (row + 1, col + 1) + b'\\x1b[m' * 150)
os.write(1, b'\\x1b[24;1Hend')
sys.stdin.readline()
";
const ECHO: &[&str] = &["sh", "-c", "while read line; do echo \"<$line>\"; done", "ROOT"];
const PAINTERS: [&str; 4] = ["p1", "p2", "p3", "p4"];

const STALLED_BYTES: u64 = 2 * 1024 * 1024;

#[test]
fn a_stalled_client_costs_little_slows_nobody_and_catches_up() {
    let argv: Vec<_> =
        ["1", "2", "3", "4"].iter().map(|seed| ["python3", "-c", PAINTER, "ROOT", seed]).collect();
    let mut agents: Vec<(&str, &[&str])> =
        PAINTERS.iter().zip(&argv).map(|(name, argv)| (*name, &argv[..])).collect();
    agents.push(("echo", ECHO));
    let world = World::with_crew(&agents);
    world.ok(&["up", "crew"]);
    let hub = world.status().hub.pid;
    let before = most_memory(hub, Duration::from_millis(1500));

    let mut stalled = Visitor::greeted(&world);
    stalled.watch(&["p1", "p2", "p3", "p4", "echo"]);
    let mut visitor = Visitor::greeted(&world);
    visitor.watch(&["echo"]);
    let mut times: Vec<_> = (0..40).map(|number| echo(&mut visitor, "echo", number)).collect();
    times.sort();
    let grown = most_memory(hub, Duration::from_millis(1500)).saturating_sub(before);
    println!(
        "stalled client: {} KiB; echo beside it: {:?} to {:?}",
        grown / 1024,
        times[20],
        times[39]
    );
    assert!(grown <= STALLED_BYTES, "{grown} bytes");
    assert!(times[20] < Duration::from_millis(500), "{times:?}");

    fs::write(world.path("calm"), "").unwrap();
    for painter in PAINTERS {
        world.wait_for_text(painter, "last words 29");
    }
    let mut pictures: BTreeMap<String, Picture> = BTreeMap::new();
    while let Some(view) = stalled.next_view(Duration::from_secs(1)) {
        pictures.entry(view.agent.to_string()).or_default().take(&view);
    }
    for name in PAINTERS.into_iter().chain(["echo"]) {
        let shown = pictures[name].text();
        assert_eq!(shown, world.read(name).trim_end(), "{name}");
    }
}

#[test]
fn a_subscriber_that_never_listens_costs_little_and_hears_the_latest() {
    // A larger team makes a longer status.
    let team = ["echo", "e1", "e2", "e3", "e4", "e5", "e6", "e7"].map(|name| (name, ECHO));
    let world = World::with_crew(&team);
    world.ok(&["up", "crew"]);
    let hub = world.status().hub.pid;
    let mut stalled = Visitor::greeted(&world);
    stalled.send(Request::Subscribe);
    let mut other = Visitor::greeted(&world);
    let before = most_memory(hub, Duration::from_millis(100));
    // Each visitor that comes and goes changes the status.
    for _ in 0..6000 {
        drop(Visitor::connect(&world));
    }
    other.ask(Request::Status);
    let grown = most_memory(hub, Duration::from_millis(300)).saturating_sub(before);
    println!("stalled subscriber: {} KiB", grown / 1024);
    assert!(grown <= STALLED_BYTES, "{grown} bytes");
    world.ok(&["agent", "stop", "echo"]);
    let mut latest = None;
    while latest.as_deref() != Some("stopped") {
        if let FromHub::Notice(Notice::Status(status)) = stalled.next().unwrap() {
            latest = status.agents.into_iter().find(|a| a.name == "echo").unwrap().ending;
        }
    }
}

/// What is printed while someone begins to type must not overtake what was printed before.
#[test]
fn typing_into_a_pane_loses_nothing_of_its_output() {
    let painter: &[&str] = &["python3", "-c", PAINTER, "ROOT", "1"];
    let mosaic: &[&str] = &["python3", "-c", MOSAIC, "ROOT"];
    let names = ["m1", "m2", "m3", "m4"];
    let mut team = vec![("p1", painter), ("p2", painter)];
    team.extend(names.map(|name| (name, mosaic)));
    let world = World::with_crew(&team);
    world.ok(&["up", "crew"]);
    let mut visitor = Visitor::greeted(&world);
    for name in names {
        world.wait_for_text(name, "#");
        let keys = vec![KeyInput::Text("x".to_owned())];
        visitor.ask(Request::Keys { agent: name.to_owned(), keys });
    }
    for name in names {
        world.wait_for_text(name, "end");
        let screen = world.read(name);
        let stones = screen.matches('#').count();
        assert_eq!(stones, 22 * 80, "{name} has holes:\n{screen}");
    }
}

/// Returns how long a typed line takes to come back as a view.
pub(crate) fn echo(visitor: &mut Visitor, agent: &str, number: usize) -> Duration {
    let begun = now();
    let text = format!("n{number}\n");
    visitor.send(Request::Keys { agent: agent.to_owned(), keys: vec![KeyInput::Text(text)] });
    let wanted = format!("<n{number}>");
    loop {
        let Some(view) = visitor.next_view(PATIENCE) else {
            let read = Request::Read { agent: agent.to_owned(), lines: None, scrollback: false };
            panic!("{wanted} never came: {:?}", visitor.ask(read));
        };
        if view.rows.iter().any(|(_, row)| row.text().contains(&wanted)) {
            return begun.elapsed();
        }
    }
}

pub(crate) fn most_memory(pid: u32, duration: Duration) -> u64 {
    let until = now() + duration;
    let mut most = 0;
    while now() < until {
        most = most.max(private_memory(pid));
        thread::park_timeout(Duration::from_millis(10));
    }
    most
}
