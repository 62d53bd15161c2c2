//! A keeper whose hub is gone calls for it, and nobody else.

use std::fs;
use std::io::Write;
use std::time::Duration;

use wheelhouse::keeper::{ToKeeper, is_held};

use super::support::clock::{now, wait_for};
use super::support::keeper::{Berth, kill};

#[test]
fn a_lost_hub_is_called_again_and_again_until_one_comes() {
    let mut berth = revivable("echo up; cat").start();
    let mut hub = berth.attach(0);
    hub.until_output("up");
    assert_eq!(calls(&berth), 0, "a hub is there");
    let start = now();
    drop(hub);
    wait_for("a first call", || calls(&berth) == 1);
    wait_for("a third call", || calls(&berth) == 3);
    // The first call comes after 20 ms, the next 500 ms later, the third after another 1000 ms.
    assert!(start.elapsed() >= Duration::from_millis(1500));

    let mut hub = berth.attach(0);
    hub.input(b"again\r");
    hub.until_output("again");
    let so_far = calls(&berth);
    assert!(so_far <= 4, "{so_far} calls");
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
    assert_eq!(calls(&berth), so_far);
}

#[test]
fn after_a_stop_nobody_is_called() {
    let mut berth = revivable("trap '' HUP TERM; echo up; while :; do sleep 0.05; done").start();
    let mut hub = berth.attach(0);
    hub.until_output("up");
    hub.send(&ToKeeper::Stop { grace_ms: Some(700) });
    drop(hub);
    berth.wait_until_nothing_is_left();
    assert_eq!(calls(&berth), 0);
}

#[test]
fn an_exit_that_nobody_has_taken_calls_the_hub() {
    let mut berth = revivable("echo up; read line; exit 4").start();
    let mut hub = berth.attach(0);
    hub.until_output("up");
    hub.input(b"go\r");
    drop(hub);
    wait_for("a call", || calls(&berth) >= 1);
    assert!(is_held(&berth.order.lock));
    let mut hub = berth.attach(0);
    hub.until_exited();
    hub.send(&ToKeeper::Release);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_hub_that_was_called_is_no_part_of_the_tree() {
    let mut berth = Berth::sh("echo up; cat");
    let called = "import os, sys, time\nopen(sys.argv[1], 'w').write(str(os.getpid()))\n\
                  time.sleep(1000)";
    let note = berth.path("called").to_str().unwrap().to_owned();
    berth.order.revive = ["python3", "-c", called, &note].map(str::to_owned).to_vec();
    let mut berth = berth.start();
    let mut hub = berth.attach(0);
    hub.until_output("up");
    drop(hub);
    let pid = || fs::read_to_string(berth.path("called")).unwrap_or_default().parse::<u32>();
    wait_for("a call", || pid().is_ok());
    let called = pid().unwrap();
    let mut hub = berth.attach(0);
    assert!(hub.tree(1).iter().all(|process| process.id.pid != called));
    assert_eq!(hub.stop(1000), []);
    assert_eq!(berth.exit_code(), Some(0));
    assert!(wheelhouse::keeper::process_id(called).is_some(), "the hub lives on");
    kill(called, rustix::process::Signal::KILL);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_socket_that_vanished_is_there_again_when_the_hub_comes_back() {
    let mut berth = revivable("echo up; cat").start();
    let mut hub = berth.attach(0);
    hub.until_output("up");
    fs::remove_dir_all(berth.order.socket.parent().unwrap()).unwrap();
    drop(hub);
    let mut hub = berth.attach(0);
    hub.input(b"found\r");
    hub.until_output("found");
    drop(hub);
    // Something else in its place is not a way to the keeper either.
    wait_for("a call", || calls(&berth) >= 1);
    let socket = berth.order.socket.clone();
    let before = calls(&berth);
    fs::remove_file(&socket).unwrap();
    fs::File::create(&socket).unwrap().write_all(b"not a socket").unwrap();
    wait_for("another call", || calls(&berth) > before);
    let mut hub = berth.attach(0);
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_keeper_without_a_caller_goes_on() {
    let mut berth = revivable("echo up; cat").start();
    let mut hub = berth.attach(0);
    hub.until_output("up");
    let mut caller = berth.child.take().unwrap();
    caller.kill().unwrap();
    caller.wait().unwrap();
    drop(hub);
    let mut hub = berth.attach(0);
    hub.input(b"on\r");
    hub.until_output("on");
    assert!(is_held(&berth.order.lock));
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

fn revivable(script: &str) -> Berth {
    let mut berth = Berth::sh(script);
    let count = format!("echo call >> {}", berth.path("calls").display());
    berth.order.revive = ["sh", "-c", &count].map(str::to_owned).to_vec();
    berth.order.revive_delay_ms = 20;
    berth
}

fn calls(berth: &Berth) -> usize {
    fs::read_to_string(berth.path("calls")).unwrap_or_default().lines().count()
}
