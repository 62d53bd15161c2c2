//! Playbooks that really run, with scripted agents in the place of all: each to its end, whatever
//! dies on the way.

use std::thread;

use super::support::chance::Chance;
use super::support::stage::{PLAYBOOKS, Told, listen};
use super::support::world::World;

/// Fixes when the hub is killed in each run.
const SEED: u64 = 20_260_601;

fn words<'a>(name: &'a str, vars: &[&'a str]) -> Vec<&'a str> {
    let vars = vars.iter().flat_map(|var| ["--var", var]);
    [name, "--with", "sim"].into_iter().chain(vars).collect()
}

/// Every task was done once, its files are there, and nobody was left behind.
fn assert_done(world: &World, name: &str, told: &Told) {
    assert_eq!((told.code, told.state()), (Some(0), "done"), "{name}: {:?}", told.last());
    assert_eq!(told.last()["type"], "run", "{name}");
    let seqs: Vec<u64> = told.lines.iter().filter_map(|line| line["seq"].as_u64()).collect();
    assert!(seqs.is_sorted_by(|one, other| one < other), "{name}: {seqs:?}");
    let status = world.running_status().unwrap();
    let run = &status.runs[0];
    let plan = world.json(&[&["run", "--dry-run"], &words(name, vars(name))[..]].concat());
    for task in plan["tasks"].as_array().unwrap() {
        let id = &run.tasks[task["id"].as_str().unwrap()];
        let shown = world.json(&["task", "show", id]);
        assert_eq!(shown["state"], "done", "{name}: {shown}");
        assert_eq!(shown["run"].as_str().or(shown["play"].as_str()), Some("r1"));
        for path in task["artifacts"].as_array().unwrap() {
            let path = world.project.join(path.as_str().unwrap());
            assert!(path.metadata().is_ok_and(|told| told.len() > 0), "{name}: {}", path.display());
        }
    }
    let alive = status.agents.iter().filter(|agent| agent.pid.is_some()).count();
    assert_eq!(alive, 0, "{name}: whom the run started ends with it");
}

fn vars(name: &str) -> &'static [&'static str] {
    PLAYBOOKS.iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn every_playbook_runs_to_its_end() {
    thread::scope(|scope| {
        for (name, vars) in PLAYBOOKS {
            scope.spawn(move || {
                let world = World::new();
                assert_done(&world, name, &world.performed(&words(name, vars)));
            });
        }
    });
}

#[test]
fn every_playbook_runs_to_its_end_though_its_hub_is_killed() {
    let mut chance = Chance::new(SEED);
    thread::scope(|scope| {
        for (name, vars) in PLAYBOOKS {
            let moment = usize::try_from(2 + chance.below(60)).unwrap();
            println!("{name}: the hub dies at line {moment} (seed {SEED})");
            scope.spawn(move || {
                let world = World::new();
                let told = listen(world.perform(&words(name, vars)), |line| {
                    if line == moment {
                        world.end_hub_at_once();
                    }
                });
                assert_done(&world, name, &told);
            });
        }
    });
}

#[test]
fn a_run_goes_on_when_whoever_looks_on_is_interrupted() {
    let world = World::new();
    let child = world.perform(&words("feature-build", vars("feature-build")));
    let pid = child.id();
    let before = listen(child, |line| {
        if line == 3 {
            super::support::process::kill(pid, rustix::process::Signal::INT);
        }
    });
    assert_eq!((before.code, before.state()), (Some(130), "needs_person"), "{:?}", before.lines);
    let hint = before.last()["hint"].as_str().unwrap();
    assert!(hint.contains("wheelhouse run --resume r1 --headless"), "{hint}");
    assert_done(&world, "feature-build", &world.performed(&["--resume", "r1"]));
}

#[test]
fn a_run_whose_agents_are_all_gone_goes_on_where_it_was() {
    let world = World::new();
    let mut is_dead = false;
    let child = world.perform(&words("feature-build", vars("feature-build")));
    let pid = child.id();
    let before = listen(child, |_| {
        let status = world.running_status();
        let is_half = status.is_some_and(|status| {
            status.tasks.iter().any(|task| {
                task.key.as_deref() == Some("interface")
                    && task.state == wheelhouse::model::TaskState::Done
            })
        });
        if is_half && !std::mem::replace(&mut is_dead, true) {
            super::support::process::kill(pid, rustix::process::Signal::KILL);
            world.kill_everything();
        }
    });
    assert_eq!(before.code, None, "{:?}", before.lines);
    let told = world.performed(&["--resume", "r1"]);
    assert_done(&world, "feature-build", &told);
    let interface = world.json(&["task", "show", "t1"]);
    assert_eq!(interface["attempts"].as_array().unwrap().len(), 1, "what is done stays done");
    let again = world.performed(&["--resume", "r1"]);
    assert_eq!((again.code, again.lines.len()), (Some(0), 1), "{again:?}");
}
