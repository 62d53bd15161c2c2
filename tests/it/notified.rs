//! A person who does not look is told: once, not too often, and of nothing that they see.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use wheelhouse::api::{FromHub, Notice, Request};
use wheelhouse::model::AgentName;

use super::support::clock::wait_for;
use super::support::process::{self, environment};
use super::support::visitor::Visitor;
use super::support::world::World;
use crate::terminal::Terminal;

/// Does what is typed into it.
const SHELL: &[&str] =
    &["sh", "-c", "stty -echo; while read line; do eval \"$line\"; done", "ROOT"];

/// Returns a world with two agents, whose user has these settings.
fn world(notify: &str) -> World {
    let world = World::new();
    let config = world.path("config/wheelhouse");
    fs::create_dir_all(&config).unwrap();
    let notify = notify.replace("ROOT", world.mark());
    fs::write(config.join("config.toml"), format!("[notify]\n{notify}")).unwrap();
    world.write_config(&world.crew(&[("one", SHELL), ("two", SHELL)]));
    world.trust();
    world
}

impl World {
    /// Lets an agent come into a state, by what its reporters say.
    fn comes_to(&self, agent: &str, state: &str) {
        self.comes_to_saying(agent, state, "May I?\u{1b}]0;x\u{7}");
    }

    fn comes_to_saying(&self, agent: &str, state: &str, message: &str) {
        let pid = self.agent(agent).pid.unwrap();
        let mut pane = None;
        wait_for("its environment", || {
            let found = environment(pid);
            pane =
                found.iter().find_map(|one| one.strip_prefix("HERDR_PANE_ID=").map(str::to_owned));
            pane.is_some()
        });
        let params = json!({"pane_id": pane, "source": "s", "agent": "robo", "state": state,
            "message": message});
        let call = json!({"id": "7", "method": "pane.report_agent", "params": params});
        let socket = self.paths().hub_socket();
        let script = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(30)\n\
                      s.connect(sys.argv[1])\ns.sendall(sys.argv[2].encode() + b'\\n')\nprint(s.recv(999))";
        let mut command = Command::new("python3");
        command.args(["-c", script]).arg(socket).arg(call.to_string());
        let said = super::support::world::run(command).unwrap();
        assert!(said.out.contains("ok"), "{said:?}");
        let shown = if state == "blocked" { "waiting" } else { state };
        wait_for(shown, || self.agent(agent).state.to_string() == shown);
    }

    fn told(&self) -> String {
        fs::read_to_string(self.path("told")).unwrap_or_default()
    }
}

#[test]
fn a_command_of_the_users_is_run_with_the_dashboard_closed() {
    let line =
        r#"echo "$WHEELHOUSE_AGENT $WHEELHOUSE_STATE $PWD ${WHEELHOUSE_TOKEN:-none}" >> ROOT/told"#;
    let world = world(&format!("command = ['sh', '-c', '''{line}''']\n"));
    world.ok(&["up", "crew"]);
    world.comes_to("one", "working");
    world.comes_to("one", "blocked");
    let expected = format!("one waiting {} none\n", world.project.display());
    wait_for("the first word", || world.told() == expected);
    // Within the minute nothing more is said of it, and another agent has a minute of its own.
    world.comes_to("one", "working");
    world.comes_to("one", "blocked");
    world.comes_to("two", "working");
    world.comes_to("two", "blocked");
    let both = format!("{expected}two waiting {} none\n", world.project.display());
    wait_for("the second word", || world.told() == both);
    // A hub that comes back says nothing again.
    let hub = world.status().hub.pid;
    process::kill(hub, rustix::process::Signal::KILL);
    world.wait_for_status("another hub", |status| status.hub.pid != hub);
    world.comes_to("two", "working");
    world.comes_to("two", "idle");
    assert_eq!(world.told(), both);
}

#[test]
fn states_that_nobody_wants_to_hear_of_are_not_told() {
    let line = "echo $WHEELHOUSE_AGENT $WHEELHOUSE_STATE >> ROOT/told";
    let world = world(&format!("states = ['idle']\ncommand = ['sh', '-c', '''{line}''']\n"));
    world.ok(&["up", "crew"]);
    for agent in ["one", "two"] {
        world.comes_to(agent, "working");
        world.comes_to(agent, "blocked");
    }
    world.comes_to("two", "idle");
    wait_for("the only word", || world.told() == "two idle\n");
}

#[test]
fn what_an_untrusted_file_wants_to_run_is_not_run() {
    let world = world("command = ['sh', '-c', 'echo user >> ROOT/told']\n");
    world.ok(&["up", "crew"]);
    let hostile = format!("\n[notify]\ncommand = ['touch', '{}/hostile']\n", world.mark());
    let config = world.crew(&[("one", SHELL), ("two", SHELL)]) + &hostile;
    world.write_config(&config);
    wait_for("the file to be seen", || {
        let status = world.status();
        status.hub.settings_fault.is_some_and(|fault| fault.contains("not trusted"))
    });
    world.comes_to("one", "working");
    world.comes_to("one", "blocked");
    wait_for("the user's own", || world.told() == "user\n");
    assert!(!world.path("hostile").exists());
}

#[test]
fn the_desktop_is_told_where_no_dashboard_is_open() {
    let mut world = world("");
    let bin = world.path("bin");
    fs::create_dir(&bin).unwrap();
    let script = format!("#!/bin/sh\nprintf '%s|' \"$@\" >> {}/told\n", world.mark());
    fs::write(bin.join("notify-send"), script).unwrap();
    fs::set_permissions(bin.join("notify-send"), fs::Permissions::from_mode(0o755)).unwrap();
    world.set_variable("PATH", &format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
    world.ok(&["up", "crew"]);
    world.comes_to("one", "working");
    world.comes_to("one", "blocked");
    let title = "--app-name=wheelhouse|--|wheelhouse project: one|waiting";
    wait_for("a notification", || world.told().starts_with(title));
}

/// Runs a desktop's service on a bus of its own; nothing where the machine has no bus or no
/// `notify-send`.
fn desktop(world: &mut World) -> Option<Child> {
    let path = env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &str| env::split_paths(&path).any(|folder| folder.join(name).exists());
    if !["dbus-run-session", "notify-send"].into_iter().all(is_there) {
        println!("SKIPPED: no dbus-run-session or no notify-send on this machine");
        return None;
    }
    let (address, script) = (world.path("address"), world.path("notifications.py"));
    fs::write(&script, include_str!("support/notifications.py")).unwrap();
    let mut command = Command::new("dbus-run-session");
    command.args(["--", "python3"]).arg(script).arg(&address).arg(world.path("shown"));
    let service = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("a bus with a service", || address.exists());
    let address = fs::read_to_string(address).unwrap();
    world.set_variable("DBUS_SESSION_BUS_ADDRESS", &address);
    Some(service)
}

#[test]
fn a_real_desktop_shows_an_agents_words_and_heeds_none_of_them() {
    let mut world = world("");
    let Some(mut service) = desktop(&mut world) else { return };
    world.ok(&["up", "crew"]);
    let shown = || fs::read_to_string(world.path("shown")).unwrap_or_default();
    let lines = |count: usize| {
        wait_for("a notification", || shown().lines().count() == count);
        let shown: Value = serde_json::from_str(shown().lines().last().unwrap()).unwrap();
        assert_eq!(shown["app"], "wheelhouse");
        (shown["title"].as_str().unwrap().to_owned(), shown["body"].as_str().unwrap().to_owned())
    };
    world.comes_to("one", "working");
    world.comes_to_saying(
        "one",
        "blocked",
        "--help <b>x</b> &amp; \\074i\\076 \\377 \\n\u{1b}[2J\u{7}",
    );
    let escaped = "waiting - --help &lt;b&gt;x&lt;/b&gt; &amp;amp; \\074i\\076 \\377 \\n[2J";
    assert_eq!(lines(1), ("wheelhouse project: one".to_owned(), escaped.to_owned()));
    // The next hub finds the same desktop.
    let hub = world.status().hub.pid;
    process::kill(hub, rustix::process::Signal::KILL);
    world.wait_for_status("another hub", |status| status.hub.pid != hub);
    world.comes_to("two", "working");
    world.comes_to_saying("two", "blocked", "-u critical\n--icon=x");
    let expected = ("wheelhouse project: two".to_owned(), "waiting - --icon=x".to_owned());
    assert_eq!(lines(2), expected);
    drop(service.stdin.take());
    service.wait().unwrap();
}

#[test]
fn what_is_before_the_persons_eyes_is_not_told() {
    let world = world("");
    world.ok(&["up", "crew"]);
    let mut visitor = Visitor::greeted(&world);
    visitor.ask(Request::Subscribe);
    let agents: Vec<AgentName> = ["one", "two"].iter().map(|name| name.parse().unwrap()).collect();
    let focused = Some(agents[0].clone());
    visitor.ask(Request::Watch { agents, focused, is_attended: true });
    for agent in ["one", "two"] {
        world.comes_to(agent, "working");
        world.comes_to(agent, "blocked");
    }
    let alert = loop {
        if let Some(FromHub::Notice(Notice::Alert(alert))) = visitor.next() {
            break alert;
        }
    };
    assert_eq!((alert.agent.as_str(), alert.is_stuck), ("two", false));
    assert_eq!(alert.title, "wheelhouse project: two");
    assert!(!alert.body.chars().any(char::is_control), "{alert:?}");
}

#[test]
fn an_open_dashboard_tells_by_its_terminal_and_rings() {
    let world = world("bell = true\n");
    world.ok(&["up", "crew"]);
    let mut terminal = Terminal::attach(&world, 120, 40);
    terminal.wait_for("enter type");
    // The selected pane is seen as long as the terminal has the focus.
    world.comes_to("one", "working");
    world.comes_to("one", "blocked");
    terminal.press(b"\x1b[O");
    world.comes_to("two", "working");
    world.comes_to("two", "blocked");
    let shown = b"\x1b]9;wheelhouse project: two: waiting";
    let find = |seen: &[u8], wanted: &[u8]| seen.windows(wanted.len()).any(|part| part == wanted);
    wait_for("the terminal to be told", || {
        terminal.catch_up();
        find(&terminal.seen, shown) && find(&terminal.seen, b"\x1b\\\x07")
    });
    assert!(!find(&terminal.seen, b"project: one: waiting"), "it was before their eyes");
    assert!(!find(&terminal.seen, b"\x1b]0;x"), "nothing that an agent said is obeyed");
}

#[test]
fn a_dashboard_inside_of_tmux_has_its_words_handed_on() {
    let mut world = world("terminal = 'osc777'\n");
    world.set_variable("TMUX", "/tmp/tmux-0/default,1,0");
    world.ok(&["up", "crew"]);
    let mut terminal = Terminal::attach(&world, 120, 40);
    terminal.wait_for("enter type");
    world.comes_to("two", "working");
    world.comes_to("two", "blocked");
    let shown = b"\x1bPtmux;\x1b\x1b]777;notify;wheelhouse project: two;waiting";
    wait_for("tmux to be told", || {
        terminal.catch_up();
        terminal.seen.windows(shown.len()).any(|part| part == shown)
    });
}
