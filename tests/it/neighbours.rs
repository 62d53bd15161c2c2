//! An agent that takes all it can get takes nothing from its siblings or the hub.

use std::time::Duration;

use wheelhouse::model::AgentState;

use super::stalled::echo;
use super::support::clock::wait_for;
use super::support::process::{identify, oom_score_adj};
use super::support::visitor::Visitor;
use super::support::world::World;

/// Takes 300 MB, then forks in waves that are bounded, for ever.
const GLUTTON: &str = "
import os, sys
hoard = bytearray(300_000_000)
for at in range(0, len(hoard), 4096):
    hoard[at] = 1
print('fed', flush=True)
while True:
    wave = []
    for _ in range(40):
        child = os.fork()
        if child == 0:
            os._exit(sum(range(2000)) % 2)
        wave.append(child)
    for child in wave:
        os.waitpid(child, 0)
";
const ECHO: &[&str] = &["sh", "-c", "while read line; do echo \"<$line>\"; done", "ROOT"];

const ECHOES: usize = 200;

/// What a glutton may add to the time of its sibling's echo. The promise is for the slowest of a hundred
/// on a machine of its own; here the slowest of ten is held to it, beside what the same machine needed
/// a moment before, and the slowest of a hundred to five times that: others use the machine too.
const ADDED: Duration = Duration::from_millis(100);
const STRAGGLERS_ADDED: Duration = Duration::from_millis(500);

#[test]
fn a_glutton_is_the_first_to_go_and_its_sibling_stays_quick() {
    let glutton: &[&str] = &["python3", "-c", GLUTTON, "ROOT"];
    let world = World::with_crew(&[("glutton", glutton), ("echo", ECHO)]);
    world.ok(&["agent", "start", "echo"]);
    let mut visitor = Visitor::greeted(&world);
    visitor.watch(&["echo", "glutton"]);
    let undisturbed = echoes(&mut visitor, 0);
    world.ok(&["agent", "start", "glutton"]);
    world.wait_for_text("glutton", "fed");

    let status = world.status();
    let named = |name: &str| status.agents.iter().find(|agent| agent.name == name).unwrap();
    let (glutton, echoer) = (named("glutton"), named("echo"));
    let exposed = oom_score_adj(glutton.pid.unwrap());
    for pid in [status.hub.pid, glutton.keeper_pid.unwrap(), echoer.keeper_pid.unwrap()] {
        assert!(oom_score_adj(pid) < exposed, "{exposed}");
    }

    let beside = echoes(&mut visitor, ECHOES);
    let [alone, glutted] =
        [&undisturbed, &beside].map(|times| [times[100], times[180], times[198]]);
    println!("echo alone {alone:?}, beside a glutton {glutted:?}");
    assert!(glutted[1] < alone[1] + ADDED, "{undisturbed:?} {beside:?}");
    assert!(glutted[2] < alone[2] + STRAGGLERS_ADDED, "{undisturbed:?} {beside:?}");

    let pid = glutton.pid.unwrap();
    world.ok(&["agent", "stop", "glutton"]);
    wait_for("its end", || identify(pid).is_none());
    assert_eq!(world.status().hub.pid, status.hub.pid);
    assert_eq!(world.agent("echo").pid, echoer.pid);
}

#[test]
fn what_an_agent_does_is_seen_while_its_siblings_flood() {
    let flood: &[&str] = &["sh", "-c", "while :; do cat /etc/passwd; done", "ROOT"];
    let prompt: &[&str] = &["sh", "-c", "printf 'user@host:~$ '; read x", "ROOT"];
    let world =
        World::with_crew(&[("one", flood), ("two", flood), ("three", flood), ("quiet", prompt)]);
    world.ok(&["up", "crew"]);
    wait_for("the prompt", || world.agent("quiet").state == AgentState::Idle);
    wait_for("the flood", || world.agent("one").state == AgentState::Working);
}

/// Returns how long each of many echoes takes, the quickest first.
fn echoes(visitor: &mut Visitor, first: usize) -> Vec<Duration> {
    let mut times: Vec<_> =
        (first..first + ECHOES).map(|number| echo(visitor, "echo", number)).collect();
    times.sort();
    times
}
