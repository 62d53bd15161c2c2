//! Whatever is asked of a hub, it stays up, answers, and says what is wrong.

use std::io::{Read, Write};
use std::net::Shutdown;

use serde_json::Value;
use wheelhouse::api::{FRAME_BYTES_MAX, FrameReader, FromHub, Request, SCHEMA, encode_frame};

use super::support::chance::Chance;
use super::support::clock::{PATIENCE, wait_for};
use super::support::mangle::{Choices, mangle};
use super::support::process::private_memory;
use super::support::samples::samples;
use super::support::visitor::Visitor;
use super::support::world::World;

/// More than a hub lets in at once.
const CLIENTS: usize = 256;

/// What odd requests may leave behind in a hub.
const LEFT_BYTES: u64 = 64 * 1024 * 1024;

impl Choices for Chance {
    fn pick(&mut self, limit: usize) -> usize {
        usize::try_from(self.below(limit as u64)).unwrap()
    }
}

/// What came back for one request: answers, and then the end if there was one.
struct Heard {
    frames: Vec<FromHub>,
    has_ended: bool,
}

/// Sends a request and a question after it, and returns all that comes up to the answer to that.
fn ask(visitor: &mut Visitor, request: &[u8]) -> Heard {
    let after = encode_frame(&serde_json::json!({"id": 999, "request": "status"})).unwrap();
    let _ = visitor.stream.write_all(request);
    let _ = visitor.stream.write_all(&after);
    let mut heard = Heard { frames: Vec::new(), has_ended: false };
    loop {
        match visitor.next() {
            None => heard.has_ended = true,
            Some(frame) => heard.frames.push(frame),
        }
        let is_last = matches!(heard.frames.last(), Some(FromHub::Answer { id: 999, .. }));
        if heard.has_ended || is_last {
            return heard;
        }
    }
}

/// Says whether a request would end the hub, as it is there to do.
fn ends_all(value: &Value) -> bool {
    value["request"] == "down"
}

#[test]
fn odd_requests_are_answered_or_ended_with_the_reason() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let hub = world.status().hub.pid;
    let before = private_memory(hub);
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let good: Vec<Value> = samples(&schema["ask"]).into_iter().filter(|s| !ends_all(s)).collect();
    let seed = 20_261_117;
    let mut chance = Chance::new(seed);
    let (mut refused, mut ended) = (0, 0);
    for round in 0..4 {
        for sample in &good {
            let odd = if round == 0 { sample.clone() } else { mangle(sample, &mut chance) };
            let Some(frame) = encode_frame(&odd).ok().filter(|_| !ends_all(&odd)) else {
                continue;
            };
            let mut visitor = Visitor::greeted(&world);
            let heard = ask(&mut visitor, &frame);
            let text = odd.to_string();
            let text: String = text.chars().take(300).collect();
            for frame in &heard.frames {
                if let FromHub::Answer { id, outcome: Err(fault) } = frame {
                    assert!(!fault.message.is_empty(), "seed {seed}, round {round}: {text}");
                    assert!(fault.message.len() < 8192, "{text}: {}", fault.message.len());
                    refused += usize::from(*id != 0);
                }
            }
            if heard.has_ended {
                ended += 1;
                let reason = heard.frames.last();
                let is_told = matches!(reason, Some(FromHub::Answer { id: 0, outcome: Err(_) }));
                assert!(is_told, "seed {seed}: ended without a reason: {text}\n{reason:?}");
            }
        }
    }
    println!("{refused} refused, {ended} ended");
    assert!(refused > 50 && ended > 50, "{refused} refused, {ended} ended");
    assert_eq!(world.status().hub.pid, hub, "seed {seed}");
    wait_for("what it took to be given back", || {
        private_memory(hub).saturating_sub(before) < LEFT_BYTES
    });
}

#[test]
fn one_client_too_many_hears_why() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let mut crowd = Vec::new();
    wait_for("a full house", || {
        let mut visitor = Visitor::connect(&world);
        visitor.send(Request::Status);
        let is_turned_away = match visitor.next() {
            Some(FromHub::Answer { id: 0, outcome: Err(fault) }) => {
                assert_eq!(fault.message, "256 clients are connected already");
                assert!(fault.hint.is_some());
                assert!(visitor.next().is_none(), "and the door is shut");
                true
            }
            Some(FromHub::Answer { .. }) => false,
            other => panic!("{other:?}"),
        };
        crowd.push(visitor);
        is_turned_away
    });
    assert_eq!(crowd.len(), CLIENTS + 1);
    let said = world.run(&["status"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("error: 256 clients are connected already\nhint: "), "{said:?}");
    drop(crowd);
    wait_for("room for us", || world.run(&["status"]).code == Some(0));
}

#[test]
fn who_never_finishes_a_frame_is_sent_away_in_time() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let mut slow: Vec<Visitor> = (0..4).map(|_| Visitor::connect(&world)).collect();
    for (at, visitor) in slow.iter_mut().enumerate() {
        visitor.stream.write_all(&vec![0; at]).unwrap();
    }
    for visitor in &mut slow {
        let Some(FromHub::Answer { id: 0, outcome: Err(fault) }) = visitor.next() else {
            panic!("no reason");
        };
        assert!(fault.message.contains("No whole frame came in time"), "{fault:?}");
        assert!(visitor.next().is_none());
    }
}

#[test]
fn frames_that_never_end_share_a_bound() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let hub = world.status().hub.pid;
    let before = private_memory(hub);
    let mut most = 0;
    let mut slow = Vec::new();
    let mut turned_away = 0;
    for _ in 0..20 {
        let mut visitor = Visitor::greeted(&world);
        let length = u32::try_from(FRAME_BYTES_MAX).unwrap();
        let _ = visitor.stream.write_all(&length.to_be_bytes());
        let _ = visitor.stream.write_all(&vec![b' '; FRAME_BYTES_MAX - 1]);
        // The hub has taken all of it once it answers somebody else.
        assert_eq!(world.running_status().unwrap().hub.pid, hub);
        most = most.max(private_memory(hub).saturating_sub(before));
        slow.push(visitor);
    }
    for visitor in &mut slow {
        visitor.stream.shutdown(Shutdown::Write).unwrap_or_default();
        visitor.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut bytes = Vec::new();
        let _ = visitor.stream.read_to_end(&mut bytes);
        let mut frames = FrameReader::default();
        frames.push(&bytes);
        if let Ok(Some(FromHub::Answer { id: 0, outcome: Err(fault) })) = frames.next_frame() {
            assert!(fault.message.contains("Too many frames"), "{fault:?}");
            turned_away += 1;
        }
    }
    println!("{turned_away} turned away, {} KiB at most", most / 1024);
    assert!(turned_away >= 10, "{turned_away}");
    assert!(most < 96 * 1024 * 1024, "{most}");
    assert_eq!(world.status().hub.pid, hub);
}

#[test]
fn a_greeting_is_short() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let mut visitor = Visitor::connect(&world);
    let length = u32::try_from(FRAME_BYTES_MAX).unwrap();
    let _ = visitor.stream.write_all(&length.to_be_bytes());
    let _ = visitor.stream.write_all(&vec![b' '; 200_000]);
    let heard = visitor.next();
    let Some(FromHub::Answer { id: 0, outcome: Err(fault) }) = heard else { panic!("{heard:?}") };
    assert!(fault.message.contains("A greeting has at most"), "{fault:?}");
}
