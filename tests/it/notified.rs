//! A person who does not look is told: once, not too often, and of nothing that they see.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use wheelhouse::model::AgentName;
use wheelhouse::wire::{FromHub, Notice, Request};

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
        let pid = self.agent(agent).pid.unwrap();
        let mut pane = None;
        wait_for("its environment", || {
            let found = environment(pid);
            pane =
                found.iter().find_map(|one| one.strip_prefix("HERDR_PANE_ID=").map(str::to_owned));
            pane.is_some()
        });
        let params = json!({"pane_id": pane, "source": "s", "agent": "robo", "state": state,
            "message": "May I?\u{1b}]0;x\u{7}"});
        let call = json!({"id": "7", "method": "pane.report_agent", "params": params});
        let socket = self.paths().hub_socket();
        let script = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(30)\n\
                      s.connect(sys.argv[1])\ns.sendall(sys.argv[2].encode() + b'\\n')\nprint(s.recv(999))";
        let mut command = std::process::Command::new("python3");
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
