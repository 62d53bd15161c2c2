//! An agent on another machine outlives its line and its hub, and is never believed dead for that.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;
use wheelhouse::model::AttentionKind;

use super::crash::{COUNTER, assert_contiguous, latest, numbers};
use super::support::clock::wait_for;
use super::support::process::{self, identify, is_alive};
use super::support::sshd::Sshd;
use super::support::world::{HYDRA, World};

/// What must not be seen in any list of processes.
const SECRET: &str = "sentinel-7d1f4be2";

/// Returns a world with a team `crew` of these agents on a machine elsewhere.
fn elsewhere(agents: &[(&str, &[&str])]) -> Option<(World, Sshd)> {
    let world = World::new();
    let server = Sshd::start(&world)?;
    let crew = world.crew(agents).replace("\ncli = ", "\nrunner = \"box\"\ncli = ");
    let crew = crew.replace("name = ", &format!("env = {{ SECRET = \"{SECRET}\" }}\nname = "));
    world.write_config(&format!("{}{crew}", server.runner("box")));
    world.trust();
    Some((world, server))
}

const COUNTING: &[&str] = &["python3", "-c", COUNTER, "ROOT", "0.01"];

#[test]
fn an_agent_elsewhere_outlives_its_line_and_its_hub_without_a_gap() {
    let Some((world, _server)) = elsewhere(&[("one", COUNTING)]) else { return };
    world.ok(&["up", "crew"]);
    let agent = world.agent("one");
    let (pid, keeper) = (identify(agent.pid.unwrap()).unwrap(), agent.keeper_pid.unwrap());
    assert_eq!(agent.runner.as_deref(), Some("box"));
    for round in 0..6 {
        let mut connection = world.connect().unwrap();
        wait_for("output", || latest(&mut connection, "one") > 20);
        let before = latest(&mut connection, "one");
        if round % 2 == 0 {
            let lines = Sshd::connections(&world);
            assert!(!lines.is_empty(), "nothing carries the stream");
            Sshd::cut(&world);
        }
        if round % 3 != 0 {
            process::kill(world.running_status().unwrap().hub.pid, Signal::KILL);
        }
        drop(connection);
        wait_for("new output", || {
            world.connect().is_some_and(|mut line| latest(&mut line, "one") > before + 20)
        });
        let mut connection = world.connect().unwrap();
        let all = numbers(&mut connection, "one", true);
        assert_eq!(all.first(), Some(&0), "round {round}: its beginning is lost");
        assert_contiguous(&all, "one");
        assert!(is_alive(pid));
        let now = world.agent("one");
        assert_eq!((now.pid, now.keeper_pid), (Some(pid.pid), Some(keeper)), "round {round}");
    }
    world.ok(&["down", "--force"]);
    let left: Vec<_> = world.alive().into_iter().filter(|id| is_ours(id.pid)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Says whether a process is one of ours or of an agent, and not of the ssh server.
fn is_ours(pid: u32) -> bool {
    process::words(pid).first().is_some_and(|word| !word.contains("sshd"))
}

#[test]
fn out_of_reach_is_shown_and_is_not_dead() {
    let Some((world, mut server)) = elsewhere(&[("one", COUNTING), ("two", COUNTING)]) else {
        return;
    };
    world.ok(&["up", "crew"]);
    let pids: Vec<_> = ["one", "two"].map(|name| world.agent(name).pid.unwrap()).into();
    let ids: Vec<_> = pids.iter().map(|pid| identify(*pid).unwrap()).collect();
    server.cut_off(&world);
    let status = world.wait_for_status("that they are out of reach", |status| {
        status.agents.iter().all(|agent| agent.unreachable.is_some())
    });
    for agent in &status.agents {
        assert_eq!((agent.state.to_string().as_str(), agent.ending.as_deref()), ("unknown", None));
        assert!(agent.note.as_deref().unwrap().starts_with("unreachable since "), "{agent:?}");
    }
    assert_eq!(
        status.attention.iter().filter(|item| item.kind == AttentionKind::Unreachable).count(),
        2
    );
    assert!(ids.iter().all(|id| is_alive(*id)));

    // What is typed now would mean something else by the time it arrives.
    let typed = world.run(&["agent", "keys", "one", "--text", "x"]);
    assert!(typed.err.contains("has been unreachable since"), "{typed:?}");
    // Nobody waits for ever, and no second agent is started.
    let stopped = world.run(&["agent", "stop", "two"]);
    assert_eq!(stopped.code, Some(1));
    assert!(stopped.err.contains("may still run there"), "{stopped:?}");
    world.ok(&["agent", "start", "one"]);

    // A hub that comes back into this finds the same.
    process::kill(world.running_status().unwrap().hub.pid, Signal::KILL);
    world.status();
    world.wait_for_status("that they are out of reach for the next hub, too", |status| {
        status.agents.iter().all(|agent| agent.unreachable.is_some())
    });
    server.bring_back();
    let status = world.wait_for_status("one back and two stopped, as was asked", |status| {
        let agents = &status.agents;
        agents[0].unreachable.is_none() && agents[0].pid.is_some() && agents[1].ending.is_some()
    });
    assert_eq!(status.agents[0].pid, Some(pids[0]));
    assert_eq!(status.agents[1].ending.as_deref(), Some("stopped"));
    assert!(is_alive(ids[0]) && !is_alive(ids[1]));
    assert!(status.attention.iter().all(|item| item.kind != AttentionKind::Unreachable));
    let mut connection = world.connect().unwrap();
    let all = numbers(&mut connection, "one", true);
    assert_contiguous(&all, "one");
}

#[test]
fn a_stop_elsewhere_leaves_nothing_alive() {
    let hydra: &[&str] = &["python3", "-c", HYDRA, "ROOT"];
    let Some((world, _server)) = elsewhere(&[("hydra", hydra)]) else { return };
    world.ok(&["up", "crew"]);
    world.wait_for_text("hydra", "hydra");
    let tree = world.tree("hydra", 7);
    world.ok(&["agent", "stop", "hydra"]);
    let alive: Vec<_> = tree.iter().filter(|info| is_alive(info.id)).collect();
    assert!(alive.is_empty(), "stopped, and alive: {alive:?}");
    let played = ["reviver", "reaper", "keeper"].map(|part| world.players(part));
    assert!(played.iter().all(Vec::is_empty), "{played:?}");
    world.ok(&["agent", "start", "hydra"]);
    assert_eq!(world.agent("hydra").run, 2);
}

#[test]
fn an_agent_elsewhere_speaks_for_itself_and_for_nobody_else() {
    let Some((world, _server)) = elsewhere(&[("one", &["bash", "--norc"])]) else { return };
    world.ok(&["up", "crew"]);
    let enter = |text: &str| world.ok(&["agent", "keys", "one", "--text", text, "enter"]);
    enter("\"$WHEELHOUSE_BIN\" report progress 3/7 told");
    world.wait_for_text("one", "accepted: PROGRESS: [3/7]");
    assert_eq!(world.agent("one").progress.as_deref(), Some("3/7"));
    // Without its token it is still nobody but this agent.
    enter("WHEELHOUSE_TOKEN= \"$WHEELHOUSE_BIN\" report progress 4/7 x; echo code $?");
    world.wait_for_text("one", "code 1");
    let project = world.project.display();
    let script = format!(
        "import json,os,socket,struct\n\
         s=socket.socket(socket.AF_UNIX); s.connect(os.environ['WHEELHOUSE_SOCKET'])\n\
         def ask(i,r):\n\
         \u{20} b=json.dumps(dict(id=i,request=r)).encode(); s.sendall(struct.pack('<I',len(b))+b)\n\
         \u{20} n=struct.unpack('<I',s.recv(4))[0]; return s.recv(n)\n\
         print(ask(1,dict(hello=dict(protocol={},version='x'))))\n\
         print(b'may not' in ask(2,dict(down=dict(force=True))), '{project}')\n",
        wheelhouse::api::PROTOCOL
    );
    fs::write(world.path("intrude.py"), script).unwrap();
    enter(&format!("python3 {}", world.path("intrude.py").display()));
    world.wait_for_text("one", "True");
}

#[test]
fn no_secret_stands_in_a_list_of_processes_or_in_the_record() {
    let Some((world, _server)) = elsewhere(&[("one", &["bash", "--norc"])]) else { return };
    world.ok(&["up", "crew"]);
    world.ok(&["agent", "keys", "one", "--text", "echo got ${#SECRET} $HOME", "enter"]);
    world.wait_for_text(
        "one",
        &format!("got {} {}", SECRET.len(), world.path("elsewhere").display()),
    );
    for pid in process::numbers() {
        let words = process::words(pid);
        assert!(words.iter().all(|word| !word.contains(SECRET)), "{words:?}");
    }
    let seat = world.seat("one").to_string();
    assert!(!seat.contains(SECRET) && seat.contains("\"host\":\"127.0.0.1\""), "{seat}");
}

#[test]
fn what_cannot_run_there_is_told_and_a_check_says_what_is_missing() {
    let Some((world, mut server)) = elsewhere(&[("one", &["no-such-cli"])]) else { return };
    let failed = world.run(&["up", "crew"]);
    assert!(failed.err.contains("There is no program `no-such-cli`"), "{failed:?}");
    let checked = world.json(&["runner", "check", "box"]);
    let levels: Vec<(&str, &str)> = checked
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["check"].as_str().unwrap(), one["level"].as_str().unwrap()))
        .collect();
    for check in ["reach", "program", "directory"] {
        assert!(levels.contains(&(check, "ok")), "{checked}");
    }
    assert!(world.ok(&["runner", "list"]).contains("box"));

    let text = fs::read_to_string(world.project.join("wheelhouse.toml")).unwrap();
    let missing = text.replace("program = \"", "directory = \"none\"\nprogram = \"/no/such");
    world.write_config(&missing);
    world.trust();
    let said = world.run(&["runner", "check", "box"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.out.contains("PROBLEM") && said.out.contains("Copy this binary there"),
        "{said:?}"
    );
    world.write_config(&text.replace("program = \"", "directory = \"none\"\nprogram = \""));
    world.trust();
    let said = world.run(&["runner", "check", "box", "--json"]);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    let directory = found.as_array().unwrap().iter().find(|one| one["check"] == "directory");
    assert_eq!(directory.unwrap()["level"], "problem", "{found}");

    server.cut_off(&world);
    let said = world.run(&["runner", "check", "box"]);
    assert!(said.out.contains("Connection refused") && said.out.contains("Try `ssh"), "{said:?}");
    let failed = world.run(&["agent", "start", "one"]);
    assert!(failed.err.contains("Connection refused"), "a start that never left: {failed:?}");
    assert_eq!(world.agent("one").ending.as_deref(), Some("failed to start"));
    assert!(world.run(&["runner", "check", "bx"]).err.contains("Did you mean `box`?"));
}

#[test]
fn commits_go_there_and_come_back_and_no_files_are_overwritten() {
    let Some((world, _server)) = elsewhere(&[("one", &["bash", "--norc"])]) else { return };
    let text = fs::read_to_string(world.project.join("wheelhouse.toml")).unwrap();
    world.write_config(&text.replace("program = \"", "directory = \"clone\"\nprogram = \""));
    world.trust();
    let git = |place: &std::path::Path, words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(words);
        let output = command.current_dir(place).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let project = world.project.as_path();
    git(project, &["init", "-q"]);
    fs::write(project.join("a"), "1").unwrap();
    git(project, &["add", "a"]);
    git(project, &["commit", "-qm", "first"]);
    let first = git(project, &["rev-parse", "HEAD"]);
    let pushed = world.json(&["runner", "push", "box"]);
    assert_eq!((&pushed["commit"], &pushed["is_new"]), (&Value::from(first), &Value::from(true)));
    let clone = world.path("elsewhere/clone");
    assert_eq!(fs::read_to_string(clone.join("a")).unwrap(), "1");

    fs::write(clone.join("a"), "2").unwrap();
    git(&clone, &["commit", "-qam", "theirs"]);
    let theirs = git(&clone, &["rev-parse", "HEAD"]);
    fs::write(clone.join("a"), "3").unwrap();
    let fetched = world.json(&["runner", "fetch", "box"]);
    assert_eq!(fetched[0]["ref"], "refs/wheelhouse/remote/box/wheelhouse");
    assert_eq!(fetched[0]["commit"], theirs);
    assert_eq!(git(project, &["show", "refs/wheelhouse/remote/box/wheelhouse:a"]), "2");
    assert_eq!(fs::read_to_string(project.join("a")).unwrap(), "1", "the checkout is untouched");

    fs::write(project.join("b"), "1").unwrap();
    git(project, &["add", "b"]);
    git(project, &["commit", "-qm", "second"]);
    let second = git(project, &["rev-parse", "HEAD"]);
    assert!(world.ok(&["runner", "push", "box"]).contains("its files are unchanged"));
    assert_eq!(git(&clone, &["rev-parse", "refs/wheelhouse/base"]), second);
    assert_eq!(fs::read_to_string(clone.join("a")).unwrap(), "3");
    assert_eq!(git(project, &["for-each-ref", "refs/wheelhouse/push"]), "", "nothing is left");

    fs::create_dir(world.path("elsewhere/full")).unwrap();
    fs::write(world.path("elsewhere/full/x"), "").unwrap();
    let refused = world.run(&["runner", "push", "box", "--directory", "full"]);
    assert!(refused.err.contains("is neither empty nor a clone"), "{refused:?}");
}
