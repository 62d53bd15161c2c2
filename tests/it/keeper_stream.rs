//! A hub that comes, goes, lags and comes back: no byte is lost or doubled.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use wheelhouse::keeper::{FromKeeper, RING_BYTES, ToKeeper};
use wheelhouse::model::Size;

use super::support::clock::{now, wait_for};
use super::support::keeper::{Berth, Hub, kill};

/// A hub is given up after 30 s, and awaited for 5 s more; the rest is for a busy machine.
const STALL: Duration = Duration::from_secs(50);

/// Prints numbered lines as fast as the terminal takes them.
const COUNT: &str = "import sys\ni = 0\nwhile True:\n\
                     \x20   sys.stdout.write(''.join(f'{n}\\n' for n in range(i, i + 1000)))\n\
                     \x20   i += 1000";

#[test]
fn a_hub_that_dies_in_the_middle_of_a_flood_loses_and_doubles_nothing() {
    let mut berth = Berth::python(COUNT, &[]).start();
    let mut text = Vec::new();
    let mut offset = 0;
    for round in 0..20_u64 {
        let mut hub = berth.attach(offset);
        assert_eq!(hub.offset, offset, "the keeper still has what this hub has not read");
        let wanted = offset + 50_000 + round * 13_337;
        while hub.offset < wanted {
            hub.more_output();
        }
        offset = hub.offset;
        text.append(&mut hub.output);
        // Its socket is full of what it never read.
    }
    check_count(&text);
    let mut hub = berth.attach(offset);
    assert_eq!(hub.stop(0), []);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_slow_hub_holds_the_agent_up_and_loses_nothing() {
    let mut berth = Berth::python(COUNT, &[]).start();
    let mut hub = berth.attach(0);
    let agent = hub.welcome().process.unwrap().pid;
    wait_for("an agent that has to wait", || is_asleep(agent));
    let wanted = 4 * RING_BYTES as u64;
    while hub.offset < wanted {
        hub.more_output();
    }
    check_count(&hub.output);
    assert_eq!(hub.stop(0), []);
    berth.wait_until_nothing_is_left();
}

#[test]
fn without_a_hub_the_agent_is_never_held_up_and_the_last_stretch_is_kept() {
    let script = "import sys\nfor i in range(500_000): sys.stdout.write(f'{i}\\n')\n\
                  sys.stdout.flush()\nopen('done', 'w').close()\nsys.stdin.read()";
    let mut berth = Berth::python(script, &[]).start();
    wait_for("an agent that has printed all", || berth.path("done").exists());
    let mut hub = berth.attach(0);
    let kept = hub.welcome().kept.clone();
    assert_eq!(kept.end - kept.start, RING_BYTES as u64);
    hub.until_output("499999\r\n");
    let text = String::from_utf8(hub.output.clone()).unwrap();
    check_count(text.split_once('\n').unwrap().1.as_bytes());
    assert_eq!(hub.offset, kept.end);
    hub.stop(0);
    berth.wait_until_nothing_is_left();
}

#[test]
fn replies_to_the_terminal_are_remembered_across_hubs() {
    let mut berth = Berth::sh("echo up; cat").start();
    let mut hub = berth.attach(0);
    assert_eq!(hub.welcome().answered, 0);
    for answers_to in [Some(7), Some(31), None, Some(12)] {
        hub.send(&ToKeeper::Input { answers_to, bytes: b"x\r".to_vec() });
    }
    hub.until_output("x\r\nx\r\nx\r\nx\r\n");
    drop(hub);
    let mut hub = berth.attach(0);
    assert_eq!(hub.welcome().answered, 31);
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_rebuilt_screen_gets_each_byte_at_the_width_it_was_printed_for() {
    let script = "import os, time\nlast = os.get_terminal_size()\nos.write(1, b'up\\n')\n\
                  while True:\n\
                  \x20   size = os.get_terminal_size()\n\
                  \x20   if size != last: os.write(1, b'%d %d\\n' % (size.lines, size.columns))\n\
                  \x20   last = size; time.sleep(0.002)";
    let mut berth = Berth::python(script, &[]).start();
    let mut hub = berth.attach(0);
    hub.until_output("up");
    for cols in [100, 90, 120] {
        hub.send(&ToKeeper::Resize(Size { rows: 30, cols }));
        hub.until_output(&format!("30 {cols}"));
    }
    let live = transcript(&mut berth.attach(0));
    assert_eq!(live, "<80>up\r\n<100>30 100\r\n<90>30 90\r\n<120>30 120\r\n");
    let middle = transcript(&mut berth.attach(6));
    assert_eq!(middle, "<100> 100\r\n<90>30 90\r\n<120>30 120\r\n");
    berth.attach(0).stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn the_newest_hub_is_the_hub_but_a_mere_look_is_not() {
    let mut berth = Berth::sh("echo up; cat").start();
    let mut first = berth.attach(0);
    first.until_output("up");
    let mut look = berth.connect();
    drop(berth.connect());
    berth.connect().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    first.input(b"one\r");
    first.until_output("one");
    let mut second = berth.attach(0);
    while first.next().is_some() {}
    assert_eq!(look.read(&mut [0; 16]).unwrap_or_default(), 0);
    second.input(b"two\r");
    second.until_output("two");
    second.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn nonsense_costs_a_hub_its_connection_and_the_agent_nothing() {
    let mut berth = Berth::sh("echo up; cat").start();
    berth.attach(0).until_output("up");
    let mut attach = Vec::new();
    ToKeeper::Attach { version: 99, from: u64::MAX }.encode(&mut attach);
    for nonsense in [&[1, 255, 255, 255, 255][..], &[3, 2, 0, 0, 0, b'{', b'{'], &[2, 0, 0, 0, 0]] {
        let mut stream = berth.connect();
        stream.write_all(&attach).unwrap();
        stream.write_all(nonsense).unwrap();
        let mut rest = Vec::new();
        // A reset is an end, too.
        let _ = stream.read_to_end(&mut rest);
    }
    let mut hub = berth.attach(0);
    hub.input(b"alive\r");
    hub.until_output("alive");
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_hub_may_die_in_the_middle_of_a_frame() {
    let mut berth = Berth::sh("stty -echo; echo up; cat").start();
    berth.attach(0).until_output("up");
    let mut bytes = Vec::new();
    ToKeeper::Attach { version: 1, from: 0 }.encode(&mut bytes);
    let attach = bytes.len();
    ToKeeper::Input { answers_to: Some(5), bytes: b"never typed\r".to_vec() }.encode(&mut bytes);
    for length in (0..bytes.len()).filter(|length| *length <= 3 || *length >= attach - 2) {
        berth.connect().write_all(&bytes[..length]).unwrap();
    }
    let mut hub = berth.attach(0);
    hub.input(b"typed\r");
    hub.until_output("typed\r\n");
    assert_eq!(hub.output, b"up\r\ntyped\r\n");
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn the_last_words_of_a_hub_are_heard() {
    for _ in 0..10 {
        let mut berth = Berth::python(COUNT, &[]).start();
        let mut hub = berth.attach(0);
        hub.more_output();
        hub.send(&ToKeeper::Stop { grace_ms: Some(0) });
        drop(hub);
        assert_eq!(berth.exit_code(), Some(0));
        berth.wait_until_nothing_is_left();
    }
}

#[test]
fn only_our_own_user_is_let_in_whatever_the_mode_of_the_socket() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let mut berth = Berth::sh("echo secret; cat").start();
    let mut hub = berth.attach(0);
    hub.until_output("secret");
    let open = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = fs::metadata(&berth.order.socket).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    open(berth.directory.path(), 0o755);
    open(berth.order.socket.parent().unwrap(), 0o755);
    open(&berth.order.socket, 0o777);
    let script = "import os, socket, sys\nos.setgid(65534); os.setuid(65534)\n\
                  s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n\
                  try:\n    s.sendall(bytes([1, 5, 0, 0, 0]) + b'[1,0]'); got = s.recv(100)\n\
                  except OSError: got = b''\n\
                  sys.exit(0 if got == b'' else 1)";
    let stranger = Command::new("python3").args(["-c", script]).arg(&berth.order.socket).output();
    let stranger = stranger.unwrap();
    assert!(stranger.status.success(), "{}", String::from_utf8_lossy(&stranger.stderr));
    hub.input(b"undisturbed\r");
    hub.until_output("undisturbed");
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_stopped_hub_makes_the_agent_wait_and_another_can_take_over() {
    let mut berth = Berth::python(COUNT, &[]).start();
    let hub = berth.attach(0);
    let agent = hub.welcome().process.unwrap().pid;
    wait_for("an agent that has to wait", || is_asleep(agent));
    // The old connection is neither read nor closed, as if its hub were stopped.
    let mut other = berth.attach(u64::MAX);
    let start = now();
    let from = other.offset;
    while other.offset < from + 2 * RING_BYTES as u64 {
        other.more_output();
    }
    assert!(start.elapsed().as_secs() < 20);
    let keeper = other.welcome().keeper.pid;
    // Whoever is there and takes nothing is waited for, for a while.
    drop((hub, other));
    kill(keeper, Signal::TERM);
    berth.wait_until_nothing_is_left();
}

#[test]
#[ignore = "takes more than half a minute"]
fn a_hub_that_takes_nothing_for_long_does_not_hold_up_the_agent_for_ever() {
    let mut berth = Berth::python(COUNT, &[]).start();
    let hub = berth.attach(0);
    let agent = hub.welcome().process.unwrap().pid;
    let keeper = hub.welcome().keeper.pid;
    wait_for("an agent that has to wait", || is_asleep(agent));
    let start = now();
    while start.elapsed() < STALL && is_asleep(agent) {
        std::thread::park_timeout(Duration::from_millis(100));
    }
    assert!(start.elapsed() > STALL / 2 && start.elapsed() < STALL, "{:?}", start.elapsed());
    kill(keeper, Signal::TERM);
    berth.wait_until_nothing_is_left();
}

/// Returns what a hub sees, with the width wherever it is told.
fn transcript(hub: &mut Hub) -> String {
    let mut text = String::new();
    let end = hub.welcome().kept.end;
    let mut offset = hub.offset;
    while offset < end {
        hub.until("more", |frame| {
            if let FromKeeper::Output { bytes, .. } = &frame {
                offset += bytes.len() as u64;
                text.push_str(std::str::from_utf8(bytes).unwrap());
            }
            if let FromKeeper::Resized { size, .. } = &frame {
                text = format!("{text}<{}>", size.cols);
            }
            Some(())
        });
    }
    text
}

fn check_count(text: &[u8]) {
    let text = std::str::from_utf8(text).unwrap();
    let whole = &text[..text.rfind("\r\n").unwrap()];
    let mut numbers = whole.split("\r\n").map(|line| line.parse::<u64>().unwrap());
    let mut last = numbers.next().unwrap();
    for number in numbers {
        assert_eq!(number, last + 1);
        last = number;
    }
}

fn is_asleep(pid: u32) -> bool {
    let wait = fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let state = stat.rsplit_once(") ").unwrap().1.chars().next();
    state == Some('S') && (wait.is_empty() || wait == "0" || wait.contains("wait_woken"))
}
