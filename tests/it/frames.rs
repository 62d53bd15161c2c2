//! Nothing that comes through the hub's door takes the hub down.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use wheelhouse::api::{Ask, FRAME_BYTES_MAX, KeyInput, Request};
use wheelhouse::model::{AgentName, Size};

use super::support::chance::Chance;
use super::support::clock::{PATIENCE, now};
use super::support::process::private_memory;
use super::support::visitor::Visitor;
use super::support::world::World;

/// What a client that does not listen may cost.
const STALLED_BYTES: u64 = 2 * 1024 * 1024;

/// More than a hub lets in at once.
const CROWD: usize = 300;

#[test]
fn broken_frames_end_their_connection_and_nothing_else() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let hub = world.status().hub.pid;
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    let bodies: [&[u8]; 9] = [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"null",
        b"{\"id\":1}",
        b"{\"id\":-1,\"request\":\"status\"}",
        b"{\"id\":1,\"request\":\"no such thing\"}",
        b"{\"id\":1,\"request\":\"read\",\"agent\":7}",
        deep.as_bytes(),
    ];
    for greet in [false, true] {
        for body in bodies {
            let mut bytes = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
            bytes.extend_from_slice(body);
            let told = assert_ends(&world, greet, &bytes);
            // What is still on its way when the hub hangs up may take its last words with it.
            let may_miss = !greet && body.len() > 64 * 1024;
            assert!(may_miss || told.contains("That is not a request: "), "{body:?}: {told}");
            let names = |word: &str| String::from_utf8_lossy(body).contains(word);
            for (word, reason) in
                [("no such thing", "unknown variant"), ("\"read\"", "expected a string")]
            {
                assert!(!names(word) || told.contains(reason), "{body:?}: {told}");
            }
        }
        let too_large = u32::try_from(FRAME_BYTES_MAX + 1).unwrap();
        let told = assert_ends(&world, greet, &too_large.to_be_bytes());
        assert!(told.contains("4194305 bytes is larger"), "{told}");
        assert_ends(&world, greet, &u32::MAX.to_be_bytes());
    }
    let mut chance = Chance::new(10);
    for _ in 0..100 {
        let length = chance.below(5000);
        let noise: Vec<u8> = (0..length).map(|_| chance.next().to_be_bytes()[3]).collect();
        let mut visitor = Visitor::connect(&world);
        // The hub may hang up before all of it is written.
        let _ = visitor.stream.write_all(&noise);
    }
    assert_eq!(world.status().hub.pid, hub);
}

#[test]
fn nothing_is_done_for_those_who_do_not_greet() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let mut visitor = Visitor::connect(&world);
    visitor.send(Request::Down { force: true });
    let answer = format!("{:?}", visitor.next());
    assert!(answer.contains("The first request of a connection is `hello`"), "{answer}");
    assert_eq!(world.status().agents.len(), 2);
}

#[test]
fn slow_and_many_connections_hold_up_nobody() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let hub = world.status().hub.pid;
    // Each holds a frame of which the end never comes.
    let mut slow = Vec::new();
    for _ in 0..8 {
        let mut visitor = Visitor::greeted(&world);
        let length = u32::try_from(FRAME_BYTES_MAX).unwrap();
        visitor.stream.write_all(&length.to_be_bytes()).unwrap();
        visitor.stream.write_all(&[b' '; 4096]).unwrap();
        slow.push(visitor);
    }
    assert_eq!(world.status().hub.pid, hub);
    let crowd: Vec<_> = (0..CROWD).map(|_| Visitor::connect(&world)).collect();
    drop(crowd);
    assert_eq!(world.wait_for_status("room for us", |_| true).hub.pid, hub);
    drop(slow);
}

#[test]
fn hostile_requests_of_a_friend_are_answered_or_refused() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let hub = world.status().hub.pid;
    let mut visitor = Visitor::greeted(&world);
    let one = || "one".to_owned();
    let stranger: AgentName = "stranger".parse().unwrap();
    let sizes = [(0, 0), (1, 1), (u16::MAX, u16::MAX), (1000, 2), (2, 1000), (24, 80)];
    for (rows, cols) in sizes {
        visitor.send(Request::Resize { agent: one(), size: Size { rows, cols } });
        visitor
            .send(Request::Keys { agent: one(), keys: vec![KeyInput::Text("é漢\x1b\n".into())] });
        visitor.send(Request::Read { agent: one(), lines: Some(usize::MAX), scrollback: true });
    }
    for agent in ["", "..", "../../etc/passwd", "\x1b[2J", "one\n", &"x".repeat(100_000)] {
        visitor.send(Request::Stop { agents: vec![agent.to_owned()], grace_ms: Some(u64::MAX) });
        visitor.send(Request::Tree { agent: agent.to_owned() });
    }
    visitor.send(Request::Watch {
        agents: vec![stranger.clone(); 1000],
        focused: Some(stranger),
        is_attended: true,
    });
    visitor.send(Request::History { agent: one(), before: Some(u64::MAX), count: u16::MAX });
    visitor.send(Request::History { agent: one(), before: Some(0), count: 0 });
    let text = "y".repeat(2 * 1024 * 1024);
    visitor.send(Request::Keys { agent: one(), keys: vec![KeyInput::Text(text)] });
    visitor.ask(Request::Status);
    assert_eq!(world.status().hub.pid, hub);
    assert!(world.agent("one").pid.is_some());
}

/// Each asks for far more than it takes, and takes nothing.
#[test]
fn clients_that_ask_and_never_listen_cost_little() {
    let script = "read x; head -c 1000000 /dev/zero | tr '\\0' x; echo end; read x";
    let world = World::with_crew(&[("one", &["sh", "-c", script, "ROOT"])]);
    world.ok(&["up", "crew"]);
    let mut visitor = Visitor::greeted(&world);
    visitor.ask(Request::Resize { agent: "one".to_owned(), size: Size { rows: 500, cols: 500 } });
    visitor.ask(Request::Keys { agent: "one".to_owned(), keys: vec![KeyInput::Text("\n".into())] });
    world.wait_for_text("one", "end");
    let hub = world.status().hub.pid;
    let before = private_memory(hub);
    let mut stalled = Vec::new();
    for count in 1..=4 {
        stalled.push(ask_without_end(&world));
        let mut grown = 0;
        let until = now() + Duration::from_millis(500);
        while now() < until {
            grown = grown.max(private_memory(hub).saturating_sub(before));
        }
        println!("{count} clients that never listen: {} KiB", grown / 1024);
        assert!(grown <= count * STALLED_BYTES, "{grown} bytes for {count}");
    }
    assert_eq!(world.status().hub.pid, hub);
}

fn ask_without_end(world: &World) -> Visitor {
    let mut visitor = Visitor::greeted(world);
    visitor.stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let mut burst = Vec::new();
    for id in 0..20_000 {
        let request = match id % 3 {
            0 => Request::Read { agent: "one".to_owned(), lines: None, scrollback: true },
            1 => Request::History { agent: "one".to_owned(), before: None, count: u16::MAX },
            _ => Request::Tree { agent: "one".to_owned() },
        };
        burst.extend(wheelhouse::api::encode_frame(&Ask { id, key: None, request }).unwrap());
    }
    // Sooner or later the hub stops reading, and so this stops writing.
    let _ = visitor.stream.write_all(&burst);
    visitor
}

/// Sends bytes, makes sure that the hub then ends the connection, and returns its last words.
fn assert_ends(world: &World, greet: bool, bytes: &[u8]) -> String {
    let mut visitor = if greet { Visitor::greeted(world) } else { Visitor::connect(world) };
    visitor.stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = visitor.stream.write_all(bytes);
    let _ = visitor.stream.shutdown(Shutdown::Write);
    let mut rest = Vec::new();
    match visitor.stream.read_to_end(&mut rest) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{bytes:?}"),
    }
    String::from_utf8_lossy(&rest).into_owned()
}
