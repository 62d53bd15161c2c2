//! Stopping an agent leaves nothing alive.

use std::time::Duration;

use rustix::process::Signal;
use wheelhouse::keeper::{ToKeeper, is_alive, is_held};
use wheelhouse::model::Exit;

use super::support::clock::{now, wait_for};
use super::support::keeper::{Berth, HOPPER, HYDRA, kill};

const GRACE: Duration = Duration::from_millis(100);
const ROUNDS: usize = 20;

#[test]
fn no_head_of_a_hydra_outlives_a_stop() {
    for _ in 0..ROUNDS {
        let mut berth = Berth::python(HYDRA, &[]).start();
        let mut hub = berth.attach(0);
        hub.until_output("hydra");
        // The seventh is the hydra itself.
        let tree = hub.tree(7);
        let start = now();
        assert_eq!(hub.stop(100), []);
        assert!(start.elapsed() < GRACE + Duration::from_secs(1), "{:?}", start.elapsed());
        for process in tree {
            assert!(!is_alive(process.id), "{process:?}");
        }
        assert!(!is_held(&berth.order.lock), "the lock is free once the stop is told");
        berth.wait_until_nothing_is_left();
    }
}

#[test]
fn a_process_that_hops_from_fork_to_fork_is_caught() {
    for round in 0..ROUNDS {
        let sessions: &[&str] = if round % 2 == 0 { &[] } else { &["in new sessions"] };
        let mut berth = Berth::python(HOPPER, sessions).start();
        let mut hub = berth.attach(0);
        hub.until_output("hopping");
        let start = now();
        assert_eq!(hub.stop(100), []);
        assert!(start.elapsed() < GRACE + Duration::from_secs(1), "{:?}", start.elapsed());
        berth.wait_until_nothing_is_left();
    }
}

#[test]
fn an_agent_that_ends_when_asked_is_not_waited_for() {
    let mut berth = Berth::sh("echo up; exec sleep 1000").start();
    let mut hub = berth.attach(0);
    hub.until_output("up");
    let start = now();
    assert_eq!(hub.stop(60_000), []);
    assert!(start.elapsed() < Duration::from_secs(20));
    berth.wait_until_nothing_is_left();
}

#[test]
fn output_of_the_last_moment_comes_before_the_stop_is_told() {
    let script = "trap 'echo good; echo bye; exit 7' TERM; trap '' HUP; echo up; \
                  while :; do sleep 0.01; done";
    let mut berth = Berth::sh(script).start();
    let mut hub = berth.attach(0);
    hub.until_output("up");
    hub.send(&ToKeeper::Stop { grace_ms: Some(20_000) });
    let (exit, _) = hub.until_stopped();
    assert_eq!(exit, Some(Exit::Code(7)));
    assert!(String::from_utf8_lossy(&hub.output).ends_with("good\r\nbye\r\n"));
    assert_eq!(hub.next(), None, "the keeper is gone");
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_keeper_that_is_asked_to_end_takes_its_tree_with_it() {
    let mut berth = Berth::python(HYDRA, &[]).start();
    let mut hub = berth.attach(0);
    hub.tree(7);
    let keeper = hub.welcome().keeper;
    kill(keeper.pid, Signal::HUP);
    hub.tree(7);
    kill(keeper.pid, Signal::TERM);
    wait_for("the end of the keeper", || !is_alive(keeper));
    assert_eq!(berth.exit_code(), Some(0));
    berth.wait_until_nothing_is_left();
}

#[test]
fn what_an_agent_leaves_behind_ends_with_it() {
    let script = HYDRA.replace("print(\"hydra\", flush=True)", "sys.stdin.readline(); sys.exit(3)");
    let mut berth = Berth::python(&script, &[]).start();
    let mut hub = berth.attach(0);
    let tree = hub.tree(7);
    hub.input(b"go\r");
    let (exit, _) = hub.until_exited();
    assert_eq!(exit, Exit::Code(3));
    assert!(tree.iter().all(|process| !is_alive(process.id)));
    hub.send(&ToKeeper::Release);
    berth.wait_until_nothing_is_left();
}
