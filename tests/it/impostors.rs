//! Programs inside an agent that pass themselves off as a person, as another agent, as a hub or as a
//! keeper: the kernel's word for where they stand is what counts.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
use rustix::process::Signal;
use wheelhouse::api::{Ask, FrameReader, FromHub, PROTOCOL, Request, encode_frame};
use wheelhouse::keeper::{PROTOCOL_VERSION, ToKeeper, Tracer};
use wheelhouse::model::Token;

use super::confined::has_sandbox;
use super::support::clock::{PATIENCE, wait_for};
use super::support::process::{environment, is_stopped, kill};
use super::support::sshd::Sshd;
use super::support::world::{PROGRAM, World};

/// Does what is typed into it.
const SHELL: &[&str] =
    &["sh", "-c", "stty -echo; while read line; do eval \"$line\"; done", "ROOT"];
/// Says what is typed into it.
const ECHO: &[&str] =
    &["sh", "-c", "stty -echo; while read line; do echo \"<$line>\"; done", "ROOT"];

/// Names the part that this binary plays once more inside an agent, and its arguments.
const PART: &str = "IMPOSTOR_PART";

/// More processes than lie between a person and what they type.
const DEPTH: u32 = 70;

/// The part of a program inside an agent; for `cargo test` itself there is nothing in it.
#[test]
#[ignore = "the tests beside it have an agent run it"]
fn plays_its_part() {
    let Ok(part) = env::var(PART) else { return };
    let words: Vec<&str> = part.split(' ').collect();
    let said = match words[..] {
        ["asks", way, hub] => greeted(reach(way, Path::new(hub)), None),
        ["speaks", way, hub, token] => {
            greeted(reach(way, Path::new(hub)), Some(Token(token.to_owned())))
        }
        ["types", way, keeper] => typed(reach(way, Path::new(keeper))),
        ["reports", way, hub, pane] => reported(reach(way, Path::new(hub)), pane),
        ["listens", path, ref hub @ ..] => {
            if let [hub] = hub {
                // A hub that runs would soon take its place back.
                let hub = hub.parse().unwrap();
                wait_for("the hub to be stopped", || is_stopped(hub));
            }
            let _ = fs::remove_file(path);
            let _listener = UnixListener::bind(path).unwrap();
            say("listens");
            std::thread::park();
            return;
        }
        ["connects"] => {
            // The socket is ours and our parent's, and we are gone before it is used.
            let path = env::var("IMPOSTOR_SOCKET").unwrap();
            connect(std::io::stdin().as_fd(), &SocketAddrUnix::new(path).unwrap()).unwrap();
            return;
        }
        ["deeper", left, ref rest @ ..] => {
            let left: u32 = left.parse().unwrap();
            let next = format!("deeper {} {}", left.saturating_sub(1), rest.join(" "));
            let part = if left == 0 { rest.join(" ") } else { next };
            assert!(myself(&part).status().unwrap().success());
            return;
        }
        _ => panic!("{part}"),
    };
    say(&said);
}

/// Tells the test what came of it.
fn say(said: &str) {
    let file = PathBuf::from(env::var("IMPOSTOR_SAID").unwrap());
    fs::write(file.with_extension("new"), said).unwrap();
    fs::rename(file.with_extension("new"), file).unwrap();
}

/// Returns this binary in a part.
fn myself(part: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "impostors::plays_its_part", "--ignored", "--nocapture"]);
    command.env(PART, part);
    command
}

/// Connects by itself, or has a child do so. Whoever listens, by the number of its process, is stopped
/// until the child has ended.
fn reach(way: &str, path: &Path) -> UnixStream {
    let stream = if way == "alive" {
        UnixStream::connect(path).unwrap()
    } else {
        let listener = way.strip_prefix("dead:").unwrap().parse().unwrap();
        let ours: OwnedFd = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        let mut child = myself("connects");
        child.env("IMPOSTOR_SOCKET", path).stdin(Stdio::from(ours.try_clone().unwrap()));
        kill(listener, Signal::STOP);
        let ended = child.status();
        kill(listener, Signal::CONT);
        assert!(ended.unwrap().success());
        ours.into()
    };
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Says hello, and returns what the hub said to that.
fn greeted(mut stream: UnixStream, token: Option<Token>) -> String {
    let request = Request::Hello { protocol: PROTOCOL, version: "test".to_owned(), token };
    if stream.write_all(&encode_frame(&Ask { id: 1, key: None, request }).unwrap()).is_err() {
        return "turned away".to_owned();
    }
    let mut frames = FrameReader::default();
    let mut buffer = [0; 4096];
    loop {
        match frames.next_frame::<FromHub>().unwrap() {
            Some(FromHub::Answer { outcome: Ok(_), .. }) => return "let in".to_owned(),
            Some(FromHub::Answer { outcome: Err(fault), .. }) => return fault.message,
            Some(FromHub::Notice(_)) => continue,
            None => {}
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return "turned away".to_owned(),
            Ok(count) => frames.push(&buffer[..count]),
        }
    }
}

/// Attaches and types in one write, as whoever means no good would; returns what came of it.
fn typed(mut stream: UnixStream) -> String {
    let mut bytes = Vec::new();
    ToKeeper::Attach { version: PROTOCOL_VERSION, from: 0 }.encode(&mut bytes);
    ToKeeper::Input { answers_to: None, bytes: b"evil\r".to_vec() }.encode(&mut bytes);
    if stream.write_all(&bytes).is_err() {
        return "turned away".to_owned();
    }
    match stream.read(&mut [0; 64]) {
        Ok(0) | Err(_) => "turned away".to_owned(),
        Ok(_) => "let in".to_owned(),
    }
}

/// Reports what an agent does, by the name of its pane.
fn reported(mut stream: UnixStream, pane: &str) -> String {
    let line = format!(
        "{{\"id\":\"7\",\"method\":\"pane.report_agent\",\"params\":{{\"pane_id\":\"{pane}\",\
         \"source\":\"s\",\"agent\":\"robo\",\"state\":\"working\"}}}}\n"
    );
    if stream.write_all(line.as_bytes()).is_err() {
        return "turned away".to_owned();
    }
    let mut answer = [0; 4096];
    let count = stream.read(&mut answer).unwrap_or_default();
    String::from_utf8_lossy(&answer[..count]).into_owned()
}

impl World {
    /// Has this binary play a part inside an agent, and returns what came of it.
    fn played(&self, agent: &str, part: &str) -> String {
        self.begins(agent, part);
        self.outcome(part)
    }

    /// Has this binary begin a part inside an agent.
    fn begins(&self, agent: &str, part: &str) {
        let said = self.path("said");
        let _ = fs::remove_file(&said);
        let line = format!(
            "IMPOSTOR_SAID={} {PART}='{part}' '{}' --exact impostors::plays_its_part --ignored --nocapture",
            said.display(),
            env::current_exe().unwrap().display()
        );
        self.ok(&["agent", "keys", agent, "--text", &line, "enter"]);
    }

    fn outcome(&self, part: &str) -> String {
        let said = self.path("said");
        wait_for(part, || said.exists());
        fs::read_to_string(said).unwrap()
    }

    fn variable_of(&self, agent: &str, name: &str) -> String {
        let pid = self.agent(agent).pid.unwrap();
        let prefix = format!("{name}=");
        let mut found = None;
        wait_for(name, || {
            let entries = environment(pid);
            found = entries.iter().find_map(|entry| entry.strip_prefix(&prefix).map(str::to_owned));
            found.is_some()
        });
        found.unwrap()
    }

    fn hub_path(&self) -> String {
        self.paths().hub_socket().display().to_string()
    }

    fn keeper_path(&self, agent: &str) -> String {
        self.paths().agent_socket(&agent.parse().unwrap()).display().to_string()
    }
}

fn crew() -> World {
    let world = World::with_crew(&[("work", SHELL), ("mate", ECHO)]);
    world.ok(&["up", "crew"]);
    world
}

#[test]
fn whoever_had_a_child_connect_that_is_gone_is_nobody() {
    let world = crew();
    let (hub, pid) = (world.hub_path(), world.status().hub.pid);
    let said = world.played("work", &format!("asks dead:{pid} {hub}"));
    assert_eq!(said, "Cannot tell who asks: the process that connected has ended");
    let token = world.variable_of("work", "WHEELHOUSE_TOKEN");
    let said = world.played("work", &format!("speaks dead:{pid} {hub} {token}"));
    assert_eq!(said, "Cannot tell who asks: the process that connected has ended");
    assert_eq!(world.played("work", &format!("speaks alive {hub} {token}")), "let in");
}

#[test]
fn no_number_of_processes_in_between_makes_an_agent_a_person() {
    let world = crew();
    let hub = world.hub_path();
    let said = world.played("work", &format!("deeper {DEPTH} asks alive {hub}"));
    assert_eq!(said, "This runs inside agent `work`, and does not say so");
}

#[test]
fn a_keeper_obeys_nobody_inside_an_agent() {
    let world = crew();
    let keeper = world.keeper_path("mate");
    let dead = format!("dead:{}", world.agent("mate").keeper_pid.unwrap());
    for way in ["alive", &dead] {
        let said = world.played("work", &format!("types {way} {keeper}"));
        assert_eq!(said, "turned away", "{way}");
    }
    let own = world.keeper_path("work");
    assert_eq!(world.played("work", &format!("types alive {own}")), "turned away");
    world.ok(&["agent", "keys", "mate", "--text", "fine", "enter"]);
    world.wait_for_text("mate", "<fine>");
    assert!(!world.read("mate").contains("evil"), "{}", world.read("mate"));
}

#[test]
fn a_stolen_token_is_worth_nothing_inside_another_agent() {
    let world = crew();
    let hub = world.hub_path();
    let token = world.variable_of("mate", "WHEELHOUSE_TOKEN");
    let said = world.played("work", &format!("speaks alive {hub} {token}"));
    assert_eq!(said, "This runs inside agent `work`, and speaks for agent `mate`");
    let pane = world.variable_of("mate", "HERDR_PANE_ID");
    let said = world.played("work", &format!("reports alive {hub} {pane}"));
    assert!(said.contains("pane_not_found"), "{said}");
    let own = world.variable_of("work", "HERDR_PANE_ID");
    let said = world.played("work", &format!("reports alive {hub} {own}"));
    assert!(said.contains("\"ok\""), "{said}");
}

#[test]
fn a_keeper_is_known_by_the_process_that_listens_and_not_by_the_socket() {
    let world = crew();
    let (tracer, session) = (Tracer::new(), world.paths().session);
    let is_keeper = |path: &str, agent: &str| {
        let stream = UnixStream::connect(path).unwrap();
        tracer.is_keeper(&stream, &session, &agent.parse().unwrap())
    };
    let mate = world.keeper_path("mate");
    assert!(is_keeper(&mate, "mate") && !is_keeper(&mate, "work"));
    // In the place of another agent's keeper, and in that of its own.
    let other = format!("{mate}.other");
    assert_eq!(world.played("work", &format!("listens {other}")), "listens");
    assert!(!is_keeper(&other, "mate") && !is_keeper(&other, "work"));
    assert!(is_keeper(&mate, "mate"), "looking harms nobody");
}

#[test]
fn an_agent_cannot_run_the_hub_that_it_works_for() {
    let world = crew();
    let (file, session) = (world.path("out"), world.paths().session);
    let (out, project) = (file.display(), world.project.display());
    let line = format!(
        "env -u WHEELHOUSE_RUN -u WHEELHOUSE_TOKEN '{PROGRAM}' --project {project} hub --session \
         {session} > {out}.new 2>&1; mv {out}.new {out}"
    );
    world.ok(&["agent", "keys", "work", "--text", &line, "enter"]);
    wait_for("its words", || file.exists());
    let said = fs::read_to_string(file).unwrap();
    assert!(said.contains("An agent cannot run the hub that it works for"), "{said}");
}

#[test]
fn a_person_speaks_to_no_hub_that_is_an_agent_of_theirs() {
    let world = crew();
    let (hub, pid) = (world.hub_path(), world.status().hub.pid);
    let part = format!("listens {hub} {pid}");
    world.begins("work", &part);
    kill(pid, Signal::STOP);
    assert_eq!(world.outcome(&part), "listens");
    for words in [&["status"][..], &["agent", "read", "mate"], &["up", "crew"]] {
        let said = world.run(words);
        assert_eq!(said.code, Some(1), "{words:?}: {said:?}");
        let message = format!("error: Agent `work` listens at {hub} instead of the hub\nhint: ");
        assert!(said.err.starts_with(&message), "{words:?}: {}", said.err);
    }
    kill(pid, Signal::CONT);
}

#[test]
fn the_door_of_one_agent_is_shut_to_the_others() {
    if !has_sandbox() {
        return;
    }
    let world = World::new();
    let crew = world.crew(&[("work", SHELL), ("mate", SHELL)]).replace(
        "name = \"mate\"\n",
        "name = \"mate\"\nsandbox = \"bubblewrap\"\nworkspace = \"shared\"\n",
    );
    world.write_config(&crew);
    world.trust();
    world.ok(&["up", "crew"]);
    let door = world.paths().agent_door(&"mate".parse().unwrap());
    let said = world.played("work", &format!("asks alive {}", door.display()));
    assert_eq!(said, "This runs inside agent `work`, and speaks for agent `mate`");
    let who = format!("'{PROGRAM}' whoami");
    world.ok(&["agent", "keys", "mate", "--text", &who, "enter"]);
    world.wait_for_text("mate", "agent mate, worker of team crew");
}

#[test]
fn what_is_elsewhere_is_shut_to_the_agents_there_too() {
    let world = World::new();
    let Some(server) = Sshd::start(&world) else { return };
    let crew = world
        .crew(&[("work", SHELL), ("mate", SHELL)])
        .replace("name = \"mate\"\n", "name = \"mate\"\nrunner = \"box\"\n");
    world.write_config(&format!("{}{crew}", server.runner("box")));
    world.trust();
    world.ok(&["up", "crew"]);
    let door = PathBuf::from(world.variable_of("mate", "WHEELHOUSE_SOCKET"));
    let said = world.played("work", &format!("asks alive {}", door.display()));
    assert_eq!(said, "turned away");
    let keeper = door.parent().unwrap().with_extension("k");
    let said = world.played("work", &format!("types alive {}", keeper.display()));
    assert_eq!(said, "turned away");
    let who = format!("'{PROGRAM}' whoami");
    world.ok(&["agent", "keys", "mate", "--text", &who, "enter"]);
    world.wait_for_text("mate", "agent mate, worker of team crew");
    assert!(!world.read("mate").contains("evil"), "{}", world.read("mate"));
}
