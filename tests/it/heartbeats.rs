//! Ten thousand heartbeats a minute: each counts once, whichever way it comes, and nobody waits for it.
#![expect(clippy::disallowed_methods, reason = "what happens in a minute is measured in real time")]

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use wheelhouse::api::{Request, Response};
use wheelhouse::protocol::ReportKind;

use super::stalled::echo;
use super::support::clock::{wait_for, wait_within};
use super::support::process;
use super::support::rows::Player;
use super::support::visitor::Visitor;
use super::support::world::{PROGRAM, World};

/// No minute of heartbeats takes longer, even on a machine that does much else.
const LONG: Duration = Duration::from_mins(4);

/// An agent that says so often how far it is, with numbers or without; it writes word by word, which
/// takes a third of a second for a line at the speed of 1.
fn speaker(lines: usize, speed: u32, is_numbered: bool) -> String {
    let mut script = format!("speed {speed}\non prompt\n  think 1s\n");
    for number in 1..=lines {
        let step = if is_numbered { number } else { 1 };
        writeln!(script, "  progress {step}/{lines} \"a part of it is built\"\n  wait 100ms")
            .unwrap();
    }
    script.push_str("  status done \"all of them, 3 tests pass\"\n");
    script
}

/// Returns a world with a team of scripted agents, all at their places; settings stand before it.
fn crew(settings: &str, scripts: &[(String, String)]) -> World {
    let players: Vec<Player> =
        scripts.iter().map(|(name, script)| (name.as_str(), "", script.clone())).collect();
    let world = World::staged(settings, &players);
    world.ok(&["up", "crew"]);
    for (name, _) in scripts {
        world.wait_for_text(name, "? for shortcuts");
    }
    world
}

/// Has an agent report by calls of its own, and returns the longest that one took.
fn call(world: &World, agent: &str, lines: usize, pause: Duration) -> Duration {
    let mut visitor = Visitor::connect(world);
    visitor.greet(&world.token(agent)).unwrap();
    let mut longest = Duration::ZERO;
    for number in 1..=lines {
        let begun = Instant::now();
        let (step, steps) = (1, u32::try_from(lines).unwrap());
        let answer = visitor.ask(Request::Report {
            call: format!("{agent}{number}"),
            kind: ReportKind::Progress { step, steps },
            text: "a part of it is built".to_owned(),
            schema: None,
            tag: None,
        });
        assert!(matches!(answer, Response::Report(_)), "{answer:?}");
        longest = longest.max(begun.elapsed());
        thread::park_timeout(pause.saturating_sub(begun.elapsed()));
    }
    longest
}

fn count(world: &World, agent: &str) -> usize {
    world.times("report.progress", agent, "")
}

#[test]
fn every_heartbeat_counts_once_whichever_way_it_comes() {
    const LINES: usize = 120;
    let name = str::to_owned;
    let scripts = [
        (name("equal"), speaker(LINES, 50, false)),
        (name("numbered"), speaker(LINES, 50, true)),
        (name("untagged"), speaker(LINES, 50, false)),
        (name("caller"), name("on prompt\n  think 80000s\n")),
    ];
    let world = crew("", &scripts);
    world.add(&["--agent", "equal"]);
    world.add(&["--agent", "numbered"]);
    world.ok(&["dispatch", "untagged", "Go", "--wait"]);
    world.ok(&["dispatch", "caller", "Go", "--wait"]);
    call(&world, "caller", LINES, Duration::from_millis(5));
    let command = [
        PROGRAM,
        "--project",
        world.project.to_str().unwrap(),
        "report",
        "progress",
        "1/2",
        "by hand",
    ];
    let mut report = std::process::Command::new(command[0]);
    report.args(&command[1..]).env("WHEELHOUSE_TOKEN", world.token("caller").0);
    report.env("WHEELHOUSE_SOCKET", world.paths().hub_socket());
    assert!(report.output().unwrap().status.success());
    for agent in ["equal", "numbered", "untagged"] {
        let is_done = || world.agent(agent).state.to_string() == "done";
        wait_within(LONG, &format!("the last word of {agent}"), is_done);
    }
    process::kill(world.status().hub.pid, rustix::process::Signal::KILL);
    for (agent, lines) in
        [("equal", LINES), ("numbered", LINES), ("untagged", LINES), ("caller", LINES + 1)]
    {
        wait_for(&format!("{lines} of {agent}"), || count(&world, agent) >= lines);
        assert_eq!(count(&world, agent), lines, "{agent}");
    }
    world.ok(&["down", "--force"]);
}

/// The figure: sixteen agents, half of them by calls, and a seventeenth pane that somebody types into.
#[test]
#[ignore = "takes more than a minute"]
fn ten_thousand_heartbeats_a_minute_slow_no_pane() {
    const LINES: usize = 640;
    const ECHO: &str = "[cli.echo]\ncommand = [\"sh\", \"-c\", \"while read line; do echo \\\"<$line>\\\"; done\"]\n\
                        [[team.crew.agents]]\nname = \"echo\"\ncli = \"echo\"\n";
    let agents: Vec<String> = (0..16).map(|number| format!("agent{number}")).collect();
    let script = |number: usize| match number % 2 {
        0 => speaker(LINES, 4, number.is_multiple_of(4)),
        _ => "on prompt\n  think 80000s\n".to_owned(),
    };
    let scripts: Vec<_> =
        agents.iter().enumerate().map(|(at, name)| (name.clone(), script(at))).collect();
    let world = crew(ECHO, &scripts);
    let mut visitor = Visitor::greeted(&world);
    visitor.watch(&["echo"]);
    let mut number = 0;
    let mut echoes = |until: &dyn Fn(usize) -> bool| {
        let mut times = Vec::new();
        while until(times.len()) {
            times.push(echo(&mut visitor, "echo", number));
            number += 1;
            thread::park_timeout(Duration::from_millis(50));
        }
        times.sort();
        [times[times.len() / 2], times[times.len() * 95 / 100]]
    };
    let before = echoes(&|count| count < 100);
    for name in &agents {
        world.add(&["--agent", name]);
    }
    for name in &agents {
        world.ok(&["wait", "--agent", name, "--for", "working", "--timeout", "60"]);
    }
    let hub = world.status().hub.pid;
    let (begun, cpu) = (Instant::now(), process::cpu_seconds(hub));
    let (longest, during) = thread::scope(|scope| {
        let callers: Vec<_> = agents
            .iter()
            .skip(1)
            .step_by(2)
            .map(|name| scope.spawn(|| call(&world, name, LINES, Duration::from_millis(94))))
            .collect();
        let during = echoes(&|_| callers.iter().any(|caller| !caller.is_finished()));
        let longest = callers.into_iter().map(|caller| caller.join().unwrap()).max();
        (longest.unwrap(), during)
    });
    for name in agents.iter().step_by(2) {
        let is_done = || world.agent(name).state.to_string() == "done";
        wait_within(LONG, &format!("the last word of {name}"), is_done);
    }
    let (took, cpu) = (begun.elapsed(), process::cpu_seconds(hub) - cpu);
    for name in &agents {
        wait_for(&format!("{LINES} of {name}"), || count(&world, name) >= LINES);
        assert_eq!(count(&world, name), LINES, "{name}");
    }
    println!(
        "{} heartbeats of 16 agents in {took:.1?}; the hub took {cpu:.1} s of the processor; echo p50 \
         and p95 before {before:.1?}, meanwhile {during:.1?}; the longest call {longest:.1?}",
        LINES * 16
    );
    assert_eq!(world.status().hub.pid, hub);
    world.ok(&["down", "--force"]);
}
