//! Keepers that are killed, and keepers that meet another of their name.

use std::time::Duration;

use rustix::process::Signal;
use wheelhouse::keeper::{EXIT_BROKEN, EXIT_HELD, is_alive, is_held, sweep};

use super::support::clock::wait_for;
use super::support::keeper::{Berth, HOPPER, HYDRA, kill};

#[test]
fn a_killed_keeper_takes_its_whole_tree_with_it() {
    for script in [HYDRA, HYDRA, HYDRA, HOPPER] {
        let mut berth = Berth::python(script, &[]).start();
        let mut hub = berth.attach(0);
        let tree = hub.tree(if script == HYDRA { 7 } else { 1 });
        let lock = berth.order.lock.clone();
        kill(hub.welcome().keeper.pid, Signal::KILL);
        wait_for("a free lock", || !is_held(&lock));
        for process in tree {
            assert!(!is_alive(process.id), "{process:?} lives, and the lock is free");
        }
        assert_eq!(berth.exit_code(), Some(i32::from(EXIT_BROKEN)));
        berth.wait_until_nothing_is_left();
    }
}

#[test]
fn an_agent_lives_on_without_its_guard_and_can_still_be_stopped() {
    let mut berth = Berth::python(HYDRA, &[]).start();
    let mut hub = berth.attach(0);
    let tree = hub.tree(7);
    let guard = hub.welcome().guard;
    kill(guard.pid, Signal::KILL);
    wait_for("the end of the guard", || !is_alive(guard));
    hub.tree(7);
    assert!(is_held(&berth.order.lock));
    assert_eq!(hub.stop(50), []);
    assert!(tree.iter().all(|process| !is_alive(process.id)));
    berth.wait_until_nothing_is_left();
}

#[test]
fn when_guard_and_keeper_are_killed_at_once_the_marked_processes_are_swept() {
    let mut berth = Berth::python(HYDRA, &[]).start();
    let mut hub = berth.attach(0);
    let tree = hub.tree(7);
    let (guard, keeper) = (hub.welcome().guard, hub.welcome().keeper);
    kill(guard.pid, Signal::STOP);
    kill(keeper.pid, Signal::KILL);
    kill(guard.pid, Signal::KILL);
    assert_eq!(berth.exit_code(), Some(i32::from(EXIT_BROKEN)));
    assert!(!berth.order.socket.exists());
    // The head that scrubbed its environment is beyond the reach of this last resort.
    // The others have their signal, and need a moment to go.
    let left = || tree.iter().filter(|process| is_alive(process.id)).count();
    wait_for("the end of all but one", || left() <= 1);
}

#[test]
fn a_sweep_needs_all_of_its_marks() {
    let mut berth = Berth::python(HYDRA, &[]).start();
    let mut hub = berth.attach(0);
    hub.tree(7);
    let mark = |name: &str, value: &str| format!("WHEELHOUSE_{name}={value}");
    let session = mark("SESSION", &berth.token);
    assert_eq!(sweep(&[session.clone(), mark("RUN", "33")]), []);
    assert_eq!(sweep(&[]), []);
    hub.tree(7);
    assert_eq!(sweep(&[session, mark("RUN", "3")]), []);
    wait_for("that only keepers and the scrubbed head are left", || berth.alive().len() <= 4);
    hub.stop(0);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_second_keeper_of_one_name_leaves_and_disturbs_nothing() {
    let mut berth = Berth::sh("echo up; while read line; do echo $line; done").start();
    let mut hub = berth.attach(0);
    hub.until_output("up");
    let before = berth.alive();
    for _ in 0..3 {
        let second = berth.spawn().wait().unwrap();
        assert_eq!(second.code(), Some(i32::from(EXIT_HELD)));
    }
    assert_eq!(berth.alive(), before);
    hub.input(b"still here\r");
    hub.until_output("still here");
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn of_many_keepers_started_at_once_one_stays() {
    let mut berth = Berth::sh("echo up; exec cat");
    let mut children: Vec<_> = (0..8).map(|_| berth.spawn()).collect();
    let mut left = 0;
    wait_for("seven that leave", || {
        children.retain_mut(|child| match child.try_wait().unwrap() {
            Some(status) => {
                assert_eq!(status.code(), Some(i32::from(EXIT_HELD)));
                left += 1;
                false
            }
            None => true,
        });
        left == 7
    });
    berth.child = children.pop();
    let mut hub = berth.attach(0);
    hub.until_output("up");
    assert_eq!(hub.tree(1).len(), 1);
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_keeper_can_be_followed_by_another_at_once() {
    let mut berth = Berth::sh("echo up; exec cat");
    for _ in 0..20 {
        berth = berth.start();
        let mut hub = berth.attach(0);
        hub.until_output("up");
        let former = berth.child.take();
        assert_eq!(hub.stop(5000), []);
        let next = berth.start();
        assert!(former.unwrap().wait().unwrap().success());
        let mut hub = next.attach(0);
        hub.until_output("up");
        berth = next;
        assert_eq!(hub.stop(5000), []);
        assert_eq!(berth.exit_code(), Some(0));
    }
    berth.wait_until_nothing_is_left();
}

#[test]
fn an_order_that_makes_no_sense_starts_nothing() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let words = ["reviver", "--session", "x", "--agent", "backend", "--run", "1"];
    let mut command = Command::new(super::support::keeper::PROGRAM);
    command.args(words).stdin(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{\"launch\":").unwrap();
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(i32::from(wheelhouse::keeper::EXIT_BAD_ORDER)));
}

#[test]
fn a_fork_flood_is_ended_by_a_stop() {
    let script = "import os, sys, signal, time\n\
                  signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
                  signal.signal(signal.SIGHUP, signal.SIG_IGN)\n\
                  for _ in range(6): os.fork()\n\
                  if os.getpid() % 3 == 0 and os.getsid(0) != os.getpid(): os.setsid()\n\
                  print('flood', flush=True)\n\
                  while True: time.sleep(1000)";
    let mut berth = Berth::python(script, &[]).start();
    let mut hub = berth.attach(0);
    hub.tree(64);
    let start = super::support::clock::now();
    assert_eq!(hub.stop(50), []);
    assert!(start.elapsed() < Duration::from_secs(5));
    berth.wait_until_nothing_is_left();
}
