//! What a keeper costs: little memory under any flood, nothing while idle, nothing afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use wheelhouse::keeper::{RING_BYTES, ToKeeper};

use super::support::clock::{now, wait_for};
use super::support::keeper::Berth;
use super::support::process::private_memory;

const KEEPER_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Once the ring is full nothing grows: this is room for the allocator, far below what would leak.
const GROWTH_BYTES_MAX: u64 = 256 * 1024;

/// Everything that an agent could print without end, as Python expressions for one piece.
const FLOODS: &[(&str, &str)] = &[
    ("lines", "b'All work and no play makes a dull agent.\\n' * 100"),
    ("no newline", "b'x' * 4096"),
    ("an open OSC", "b'\\x1b]0;' + b'title' * 800"),
    ("an open DCS", "b'\\x1bPq' + b'#0' * 2000"),
    ("combining marks", "'a\\u0301\\u0302'.encode() * 800"),
    ("hyperlinks", "b'\\x1b]8;;http://x/y\\x1b\\\\link\\x1b]8;;\\x1b\\\\' * 100"),
    ("repeats", "b'x\\x1b[65535b' * 400"),
    ("random bytes", "os.urandom(4096)"),
];

#[test]
fn memory_is_bounded_under_any_flood() {
    for (what, piece) in FLOODS {
        flood(what, piece, Duration::from_millis(250));
    }
}

#[test]
#[ignore = "takes ten seconds for each kind of flood"]
fn memory_is_bounded_under_any_long_flood() {
    for (what, piece) in FLOODS {
        flood(what, piece, Duration::from_secs(10));
    }
}

fn flood(what: &str, piece: &str, time: Duration) {
    let script = format!("import os\npiece = {piece}\nwhile True: os.write(1, piece)");
    let mut berth = Berth::python(&script, &[]).start();
    let mut hub = berth.attach(0);
    let keeper = hub.welcome().keeper.pid;
    while hub.offset < 2 * RING_BYTES as u64 {
        hub.skip_output();
    }
    let before = private_memory(keeper);
    let until = now() + time;
    let mut most = before;
    while now() < until {
        hub.skip_output();
        most = most.max(private_memory(keeper));
    }
    // Without a hub the flood goes on into the ring alone.
    let offset = hub.offset;
    drop(hub);
    let mut hub = berth.attach(offset);
    hub.skip_output();
    most = most.max(private_memory(keeper));
    assert!(most <= KEEPER_BYTES_MAX, "{what}: {most} bytes");
    assert!(most <= before + GROWTH_BYTES_MAX, "{what}: from {before} to {most} bytes");
    assert_eq!(hub.stop(0), []);
    berth.wait_until_nothing_is_left();
}

#[test]
fn input_that_the_agent_never_reads_is_bounded_and_a_new_hub_can_still_stop_it() {
    let mut berth = Berth::python(
        "import tty, time\ntty.setraw(0)\nprint('deaf', flush=True)\ntime.sleep(1000)",
        &[],
    )
    .start();
    let mut hub = berth.attach(0);
    hub.until_output("deaf");
    let keeper = hub.welcome().keeper.pid;
    let writer = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        for _ in 0..100 {
            let text = vec![b'x'; 100_000];
            ToKeeper::Input { answers_to: None, bytes: text }.encode(&mut bytes);
        }
        hub.write_as_far_as_possible(&bytes)
    });
    wait_for("a full queue", || private_memory(keeper) > 200 * 1024);
    let mut other = berth.attach(0);
    let written = writer.join().unwrap();
    assert!(written < 2_000_000, "{written} bytes were taken");
    assert!(private_memory(keeper) <= KEEPER_BYTES_MAX);
    assert_eq!(other.stop(0), []);
    berth.wait_until_nothing_is_left();
}

#[test]
fn an_idle_keeper_never_wakes() {
    let mut idle = Berth::sh("echo up; exec sleep 1000").start();
    let mut hub = idle.attach(0);
    hub.until_output("up");
    hub.tree(1);
    let watched = idle.alive();
    assert!(watched.len() >= 3, "caller, guard and keeper at least");
    let settled = settle(&watched);
    // Another keeper's whole life passes meanwhile.
    for _ in 0..3 {
        let mut busy = Berth::sh("echo up; exec cat").start();
        let mut other = busy.attach(0);
        other.until_output("up");
        other.input(b"round\r");
        other.until_output("round");
        other.stop(1000);
        busy.wait_until_nothing_is_left();
    }
    assert_eq!(wake_ups(&watched), settled);
    hub.stop(1000);
    idle.wait_until_nothing_is_left();
}

#[test]
fn a_hundred_lives_leave_nothing_behind() {
    let mut berth = Berth::sh("sleep 1000 & echo up; exec cat");
    let before = open_files();
    for _ in 0..100 {
        berth = berth.start();
        let mut hub = berth.attach(0);
        hub.until_output("up");
        assert_eq!(hub.stop(1000), []);
        assert_eq!(berth.exit_code(), Some(0));
    }
    berth.wait_until_nothing_is_left();
    let left: Vec<_> = fs::read_dir(berth.directory.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 2, "the lock and the empty directory: {left:?}");
    assert_eq!(fs::read_dir(berth.path("run")).unwrap().count(), 0);
    // Other tests of this binary run at the same time, each with a few files of its own.
    assert!(open_files() < before + 50);
}

/// Waits until nothing wakes any more and returns the count of wake-ups.
fn settle(pids: &[u32]) -> BTreeMap<u32, String> {
    let mut last = wake_ups(pids);
    let mut since = now();
    wait_for("an idle keeper", || {
        let current = wake_ups(pids);
        if current != last {
            last = current;
            since = now();
        }
        since.elapsed() > Duration::from_millis(100)
    });
    last
}

fn wake_ups(pids: &[u32]) -> BTreeMap<u32, String> {
    let count = |pid: &u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = text.lines().find(|line| line.starts_with("voluntary_ctxt_switches"));
        (*pid, line.unwrap().to_owned())
    };
    pids.iter().map(count).collect()
}

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}
