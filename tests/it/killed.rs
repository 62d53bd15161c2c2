//! SIGKILL of the hub at any instant: whatever it has answered is on record.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use wheelhouse::api::{Request, Response};
use wheelhouse::client::{ClientError, Connection};
use wheelhouse::model::{Done, Environment, ProcessId};
use wheelhouse::store::{Journal, Query};

use super::support::chance::Chance;
use super::support::clock::wait_for;
use super::support::process::{self, identify};
use super::support::world::World;

const SHELL: &[&str] = &["sh", "-c", "echo up; while read line; do :; done", "ROOT"];

/// Comes and goes; the anchor stays, so that its keeper calls for the next hub.
const MOVERS: [&str; 2] = ["red", "blue"];
const ANCHOR: &str = "anchor";

#[test]
fn a_hundred_kills_lose_nothing_that_was_answered() {
    kill_often(100, 17);
}

#[test]
#[ignore = "long; `.ci/long` runs it"]
fn a_thousand_kills_lose_nothing_that_was_answered() {
    kill_often(1000, 18);
}

/// A hub waits a while for what the one before it may have been starting, so kills in the middle of
/// a start are the exception here: one round in so many.
const ROUNDS_PER_START: u64 = 12;

/// What is known of an agent by what the hub has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Started,
    Stopped,
    /// It does not run, however it came to that.
    Absent,
    /// Something was asked for, and the answer did not come.
    Open,
}

fn kill_often(rounds: u32, seed: u64) {
    let world = World::with_crew(&[("red", SHELL), ("blue", SHELL), (ANCHOR, SHELL)]);
    world.ok(&["agent", "start", ANCHOR]);
    wait_for("a screen that no rule knows", || world.agent(ANCHOR).state.to_string() != "starting");
    let mut chance = Chance::new(seed);
    let mut known = MOVERS.map(|_| Known::Absent);
    let (mut receipts, mut answers) = (Vec::new(), 0);
    for round in 0..rounds {
        let mut connection = world.connect().unwrap();
        for (name, known) in MOVERS.iter().zip(&mut known) {
            if matches!(known, Known::Stopped | Known::Absent) {
                *known = move_on(&mut connection, name, *known);
                assert_eq!(*known, Known::Started, "round {round}: {name}");
                answers += 1;
            }
        }
        let hub = world.running_status().unwrap().hub.pid;
        let pause = Duration::from_micros(chance.below(40_000));
        let starts = chance.below(ROUNDS_PER_START) == 0;
        thread::scope(|scope| {
            // Each has its line to this hub before it is killed: one to the next hub would never break.
            let line = || world.connect().unwrap();
            let movers = [0, 1].map(|at| {
                let (line, known) = (line(), known[at]);
                scope.spawn(move || shuttle(line, MOVERS[at], known, starts))
            });
            let line = line();
            let sender = scope.spawn(move || send(line));
            thread::park_timeout(pause);
            process::kill(hub, Signal::KILL);
            for (at, mover) in movers.into_iter().enumerate() {
                let (state, count) = mover.join().unwrap();
                (known[at], answers) = (state, answers + count);
            }
            receipts.extend(sender.join().unwrap());
        });
        wait_for("the next hub", || identify(hub).is_none() && world.connect().is_some());
        check(&world, &known, &receipts).unwrap_or_else(|fault| panic!("round {round}: {fault}"));
        for (name, known) in MOVERS.iter().zip(&mut known) {
            if *known == Known::Open {
                *known = settle(&world, name);
            }
        }
    }
    println!("{rounds} kills, {answers} starts and stops, {} receipts", receipts.len());
    // On a busy machine less is done between two kills; with nothing done, nothing would be shown.
    assert!(answers > rounds / 4 && receipts.len() > 10, "{answers}, {}", receipts.len());
}

/// Stops an agent, and starts and stops it on where that is wanted, until the hub is gone; returns
/// what is known of it, and how often it was told.
fn shuttle(mut connection: Connection, name: &str, mut known: Known, starts: bool) -> (Known, u32) {
    let mut count = 0;
    while known == Known::Started || (starts && known == Known::Stopped) {
        known = move_on(&mut connection, name, known);
        count += u32::from(known != Known::Open);
    }
    (known, count)
}

/// Stops an agent that runs, or starts one that does not.
fn move_on(connection: &mut Connection, name: &str, known: Known) -> Known {
    let agents = vec![name.to_owned()];
    let (request, goal) = if known == Known::Started {
        (Request::Stop { agents, grace_ms: Some(500) }, Known::Stopped)
    } else {
        (Request::Start { agents, environment: environment() }, Known::Started)
    };
    let Some(done) = ask(connection, request) else { return Known::Open };
    assert_eq!(done.started.len() + done.stopped.len(), 1, "{name}, {known:?}: {done:?}");
    goal
}

/// Hands prompts over until the hub is gone; returns their receipts.
fn send(mut connection: Connection) -> Vec<String> {
    let mut receipts = Vec::new();
    loop {
        let request = Request::Dispatch {
            agents: vec![ANCHOR.to_owned()],
            prompt: "a line".to_owned(),
            idempotency_key: None,
            // The others are refused, which has its receipt too, and do not fill the queue.
            anyway: receipts.len() % 8 == 1,
            command: false,
            no_queue: false,
        };
        match connection.ask(request) {
            Ok(Response::Done(done)) => {
                receipts.extend(done.receipts.iter().map(|receipt| receipt.receipt.to_string()));
            }
            Ok(response) => panic!("{response:?}"),
            Err(ClientError::Fault(fault)) => assert!(fault.message.contains("wait"), "{fault}"),
            Err(_) => return receipts,
        }
        thread::park_timeout(Duration::from_millis(2));
    }
}

fn ask(connection: &mut Connection, request: Request) -> Option<Done> {
    match connection.ask(request) {
        Ok(Response::Done(done)) => Some(done),
        Ok(response) => panic!("{response:?}"),
        Err(_) => None,
    }
}

/// Compares what was answered with what is on record and what lives.
fn check(world: &World, known: &[Known], receipts: &[String]) -> Result<(), String> {
    let journal = Journal::open(&world.paths().record()).map_err(|error| error.to_string())?;
    journal.verify().map_err(|error| error.to_string())?;
    for (name, known) in MOVERS.iter().zip(known) {
        let seat = world.seat(name);
        let is_kept = match known {
            Known::Started => !seat.is_null() && seat["phase"].get("ended").is_none(),
            Known::Stopped => seat["phase"]["ended"] == "stopped",
            Known::Absent => seat.is_null() || seat["phase"].get("ended").is_some(),
            Known::Open => true,
        };
        if !is_kept {
            return Err(format!("{name} is {known:?}, and on record as {seat}"));
        }
    }
    let query = Query {
        kind: Some("dispatch.queued".into()),
        newest: true,
        limit: 10_000,
        ..Query::default()
    };
    let entries = journal.entries(&query).map_err(|error| error.to_string())?;
    let kept = |receipt: &&String| {
        let begin = format!("{receipt}: ");
        entries.iter().any(|entry| entry.entry.text.starts_with(&begin))
    };
    if let Some(lost) = receipts.iter().rev().take(100).find(|receipt| !kept(receipt)) {
        return Err(format!("{lost} is lost"));
    }
    assert_alive(world)
}

/// Makes sure that nothing is shown as running that does not live.
fn assert_alive(world: &World) -> Result<(), String> {
    let shown = world.running_status().ok_or("no hub")?.agents;
    for agent in shown {
        let Some(pid) = agent.pid else { continue };
        let on_record: Option<ProcessId> =
            serde_json::from_value(world.seat(&agent.name)["process"].clone()).unwrap_or_default();
        // One that has just ended may be shown for an instant longer.
        let is_ended = || world.agent(&agent.name).pid != Some(pid);
        let lives = identify(pid).is_some_and(|id| on_record.is_none_or(|known| known == id));
        if !lives && !is_ended() {
            return Err(format!("{} is shown as {pid}: {on_record:?}", agent.name));
        }
    }
    Ok(())
}

/// Waits until it is clear whether an agent runs.
fn settle(world: &World, name: &str) -> Known {
    let mut known = Known::Open;
    wait_for("an agent that runs or not", || {
        let phase = world.seat(name)["phase"].clone();
        let is_over = phase.is_null() || phase.get("ended").is_some();
        known = match phase.as_str() {
            Some("running") => Known::Started,
            _ if is_over => Known::Absent,
            _ => Known::Open,
        };
        known != Known::Open
    });
    known
}

fn environment() -> Environment {
    let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
    Environment([path].into_iter().collect())
}
