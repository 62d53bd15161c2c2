//! No endless output takes more than its share of memory, or the hub down.

use std::thread;
use std::time::Duration;

use super::support::clock::{PATIENCE, now};
use super::support::process::{identify, private_memory};
use super::support::world::World;

const HUB_BYTES_PER_PANE: u64 = 24 * 1024 * 1024;
const KEEPER_BYTES: u64 = 4 * 1024 * 1024;

/// Says that it begins, waits for Enter, then writes one kind of output for ever.
const FLOOD: &str = "
import os, random, sys
kind = sys.argv[2]
random.seed(8)
pieces = {
    'lines': lambda i: b''.join(b'line %d of a flood that does not end\\r\\n' % (i * 400 + n) for n in range(400)),
    'wide': lambda i: (chr(0x4e00 + i % 9000) * 2000 + '\\r\\n').encode(),
    'no-newline': lambda i: b'x' * 16384,
    'osc': lambda i: (b'\\x1b]0;' if i == 0 else b'') + b't' * 16384,
    'dcs': lambda i: (b'\\x1bPq' if i == 0 else b'') + b'#' * 16384,
    'combining': lambda i: ('e' + '\\u0301' * 4000).encode(),
    'links': lambda i: b''.join(b'\\x1b]8;id=%d;http://example.org/%d/%s\\x1b\\\\link\\x1b]8;;\\x1b\\\\ ' % (i * 99 + n, i * 99 + n, b'p' * 60) for n in range(99)),
    'repeat': lambda i: b'y\\x1b[2147483647b' * 200,
    'styles': lambda i: b''.join(b'\\x1b[38;2;%d;%d;%dmz' % (n % 256, i % 256, n * 7 % 256) for n in range(800)),
    'random': lambda i: os.urandom(16384),
    'titles': lambda i: b''.join(b'\\x1b]2;%d%s\\x07' % (n, b'T' * 900) for n in range(16)),
    'insert': lambda i: b'\\x1b[999999999L\\x1b[999999999@\\x1b[999999999X\\x1b[999999999S\\x1b[1;1H' * 100,
}
print('ready', flush=True)
sys.stdin.readline()
i = 0
while True:
    data = pieces[kind](i)
    while data:
        data = data[os.write(1, data):]
    i += 1
";

#[test]
fn lines_cost_a_bounded_amount() {
    flood(&["lines", "wide"], SHORT);
}

#[test]
fn output_without_newlines_costs_a_bounded_amount() {
    flood(&["no-newline", "repeat", "insert"], SHORT);
}

#[test]
fn sequences_that_never_end_cost_a_bounded_amount() {
    flood(&["osc", "dcs", "titles"], SHORT);
}

#[test]
fn cells_that_hold_much_cost_a_bounded_amount() {
    flood(&["combining", "links", "styles"], SHORT);
}

#[test]
fn random_bytes_cost_a_bounded_amount() {
    flood(&["random"], SHORT);
}

#[test]
#[ignore = "long; `.ci/long` runs it"]
fn ten_seconds_of_every_flood_cost_a_bounded_amount() {
    let all = [
        "lines",
        "wide",
        "no-newline",
        "osc",
        "dcs",
        "combining",
        "links",
        "repeat",
        "styles",
        "random",
        "titles",
        "insert",
    ];
    for kind in all {
        flood(&[kind], Duration::from_secs(10));
    }
}

const SHORT: Duration = Duration::from_millis(1500);

/// Floods some panes at once, and looks at the memory all the while.
fn flood(kinds: &[&'static str], duration: Duration) {
    let argv: Vec<_> = kinds.iter().map(|kind| ["python3", "-c", FLOOD, "ROOT", kind]).collect();
    let agents: Vec<(&str, &[&str])> = kinds.iter().zip(&argv).map(|(k, a)| (*k, &a[..])).collect();
    let world = World::with_crew(&agents);
    world.ok(&["up", "crew"]);
    for kind in kinds {
        world.wait_for_text(kind, "ready");
    }
    let hub = world.status().hub.pid;
    let hub_before = private_memory(hub);
    for kind in kinds {
        world.ok(&["agent", "keys", kind, "enter"]);
    }
    let keepers = world.players("keeper");
    let (mut hub_most, mut keeper_most) = (0, 0);
    let until = now() + duration;
    while now() < until {
        hub_most = hub_most.max(private_memory(hub));
        for keeper in &keepers {
            keeper_most = keeper_most.max(private_memory(*keeper));
        }
        thread::park_timeout(Duration::from_millis(10));
    }
    let grown = hub_most.saturating_sub(hub_before);
    let count = u64::try_from(kinds.len()).unwrap();
    println!("{kinds:?}: hub {} KiB more, keeper {} KiB", grown / 1024, keeper_most / 1024);
    assert!(grown <= count * HUB_BYTES_PER_PANE, "{kinds:?}: {grown} bytes");
    assert!(keeper_most <= KEEPER_BYTES, "{kinds:?}: {keeper_most} bytes");

    let asked = now();
    let status = world.status();
    assert_eq!(status.hub.pid, hub, "the hub has outlived it");
    assert!(status.agents.iter().all(|agent| agent.pid.and_then(identify).is_some()));
    for kind in kinds {
        world.read(kind);
    }
    assert!(asked.elapsed() < PATIENCE / 3, "{:?}", asked.elapsed());
    world.ok(&["down", "--force"]);
}
