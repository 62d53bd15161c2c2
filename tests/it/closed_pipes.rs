//! Readers that have had enough: every command that prints ends quietly when nobody reads on, and what is to
//! stay does not die of it.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::support::plots;
use super::support::process;
use super::support::world::{Said, World};
use super::terminal::Terminal;

/// What the rules are tried on.
const RECORDING: &str = "tests/recordings/claude/done.cast";

/// Every command, in words with which it prints where it can, and with what code it ends. The world has an
/// agent `one` that runs, and a task `t1`.
const COMMANDS: &[(&str, i32)] = &[
    ("", 0),
    ("up crew", 0),
    ("attach", 1),
    ("status", 0),
    ("dispatch one hello", 0),
    ("broadcast hello", 0),
    ("withdraw r999", 1),
    ("wait --agent one --for exited --timeout 1", 5),
    ("task add --title x --prompt x --agent one", 0),
    ("task list", 0),
    ("task board", 0),
    ("task show t1", 0),
    ("task retry t1", 0),
    ("task claim t9 --agent one", 1),
    ("task consent one two", 1),
    ("task allow one", 1),
    ("task meet 9", 1),
    ("task cancel t1", 0),
    ("attention", 0),
    ("contract list", 0),
    ("contract show users", 1),
    ("whoami", 0),
    ("skill", 0),
    ("mcp", 1),
    ("events", 0),
    ("events --follow", 0),
    ("history", 0),
    ("replay all", 0),
    ("agent list", 0),
    ("agent add two --cli one", 0),
    ("agent start two", 0),
    ("agent read one", 0),
    ("search o", 0),
    ("agent keys one enter", 0),
    ("agent answer one", 1),
    ("agent interrupt one", 3),
    ("agent explain one", 0),
    ("agent record one", 0),
    ("agent diff one", 0),
    ("agent tree one", 0),
    ("agent restart two", 0),
    ("agent resume two", 1),
    ("agent stop two", 0),
    ("agent remove two", 0),
    ("doctor", 0),
    ("config init", 1),
    ("config check", 0),
    ("config show", 0),
    ("config approval cargo", 3),
    ("config reload", 0),
    ("config trust --yes", 0),
    ("sim SCRIPT", 0),
    ("rules test RECORDING --agent claude", 0),
    ("rules show claude", 0),
    ("report done x", 1),
    ("report blocked x", 1),
    ("report error x", 1),
    ("report progress 1/2 x", 1),
    ("report build pass", 1),
    ("report need x", 1),
    ("report contract x", 1),
    ("report artifact x y", 1),
    ("template list", 0),
    ("template show tester", 0),
    ("template render tester --var task=x", 0),
    ("run feature-build --dry-run --var feature=x", 0),
    ("runner check nowhere", 1),
    ("runner push nowhere", 1),
    ("runner fetch nowhere", 1),
    ("runner list", 0),
    ("lock take door --for 60", 0),
    ("lock list", 0),
    ("lock release door", 0),
    ("workspace list", 0),
    ("workspace diff one", 0),
    ("workspace merge one", 1),
    ("workspace rescue one", 1),
    ("workspace clean", 0),
    ("all", 0),
    ("api schema", 0),
    ("completions bash", 0),
    ("completions zsh", 0),
    ("completions fish", 0),
    ("man", 0),
    ("man --to MANUAL", 0),
    ("demo --headless", 0),
    ("down --force", 0),
];

/// Runs a command with nobody at the other end of its standard output.
fn unread(mut command: Command) -> Said {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let (told, teller) = std::io::pipe().unwrap();
    let mut child = command.stdout(writer).stderr(teller).spawn().unwrap();
    drop(command);
    let err = std::io::read_to_string(told).unwrap();
    let code = child.wait().unwrap().code();
    Said { code, out: String::new(), err }
}

/// Runs a command that finds nobody at the other end of whatever it says.
fn unheard(mut command: Command) -> Option<i32> {
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        writer
    };
    command.stdout(closed()).stderr(closed()).status().unwrap().code()
}

/// Returns all commands that the help names, those of a group as two words.
fn commands(world: &World) -> BTreeSet<String> {
    let named = |words: &[&str]| -> Vec<String> {
        let help = world.ok(&[words, &["--help"]].concat());
        let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let lines = lines.take_while(|line| !line.is_empty());
        let lines = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = lines.filter_map(|line| line.split_whitespace().next());
        names.filter(|name| *name != "help").map(str::to_owned).collect()
    };
    let mut found = BTreeSet::new();
    for name in named(&[]) {
        let below = named(&[&name]);
        if below.is_empty() {
            found.insert(name.clone());
        }
        found.extend(below.iter().map(|verb| format!("{name} {verb}")));
    }
    found
}

fn world() -> World {
    let world = World::new();
    plots::git(&world.project, &["init", "-q", "-b", "main"]);
    plots::git(&world.project, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let crew = world.crew(&[("one", &["sh", "-c", "echo up; exec cat", "ROOT"])]);
    world.write_config(&format!("[workspace]\ndefault = 'shared'\n{crew}"));
    world.trust();
    fs::write(world.path("script.sim"), "at start\n  say \"Hello\"\n").unwrap();
    world
}

#[test]
fn every_command_ends_quietly_when_nobody_reads_on() {
    let world = world();
    let words = |line: &str| -> Vec<String> {
        let manual = world.path("manual").display().to_string();
        let script = world.path("script.sim").display().to_string();
        let recording = fs::canonicalize(RECORDING).unwrap().display().to_string();
        let fill = |word: &str| match word {
            "MANUAL" => manual.clone(),
            "SCRIPT" => script.clone(),
            "RECORDING" => recording.clone(),
            _ => word.to_owned(),
        };
        line.split_whitespace().map(fill).collect()
    };
    let command = |line: &str| {
        let words = words(line);
        world.command(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let mut wrong = Vec::new();
    for (line, code) in COMMANDS {
        let said = unread(command(line));
        // What went wrong is said, in our own words; that nobody reads on is nothing that goes wrong.
        let is_quiet = said.err.is_empty() || (*code != 0 && said.err.starts_with("error: "));
        if said.code != Some(*code) || !is_quiet {
            wrong.push(format!("`{line}`: {:?}, expected {code}: {}", said.code, said.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let tried = |name: &String| {
        let mut lines = COMMANDS.iter().map(|(line, _)| format!("{line} "));
        lines.any(|line| line.starts_with(&format!("{name} ")))
    };
    let all = commands(&world);
    let left: Vec<_> = all.iter().filter(|name| !tried(name)).collect();
    assert!(all.len() > 60 && left.is_empty(), "{} commands, not tried: {left:?}", all.len());
    for name in &all {
        let line = format!("{name} --help");
        let said = unread(command(&line));
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "`{line}`");
    }
}

#[test]
fn a_failure_that_nobody_hears_of_is_told_by_the_exit_code() {
    let world = world();
    for (line, code) in [
        ("--help", 0),
        ("--version", 0),
        ("help task", 0),
        ("no-such-command", 2),
        ("task", 2),
        ("agent read one", 1),
        ("config approval cargo", 3),
        ("wait --agent one --for exited --timeout 1", 3),
        ("completions no-such-shell", 2),
    ] {
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(unheard(world.command(&words)), Some(code), "`{line}`");
    }
}

#[test]
fn what_cannot_be_written_for_another_reason_is_a_failure() {
    if !fs::exists("/dev/full").unwrap() {
        println!("SKIPPED: this system has no /dev/full");
        return;
    }
    let world = world();
    for line in ["completions bash", "man", "api schema", "config show", "template show tester"] {
        let words: Vec<_> = line.split_whitespace().collect();
        let mut command = world.command(&words);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "`{line}`: {err}");
        assert!(err.starts_with("error: ") && err.contains("No space left"), "`{line}`: {err}");
    }
}

/// Says whether a process ignores the signal of a pipe that nobody reads.
fn ignores_broken_pipes(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    ignored & (1 << (Signal::PIPE.as_raw() - 1)) != 0
}

#[test]
fn hubs_keepers_and_dashboards_outlive_broken_pipes_and_agents_have_the_usual_way() {
    let world = world();
    world.ok(&["up", "crew"]);
    let mut dashboard = Terminal::attach(&world, 100, 30);
    dashboard.wait_for("one");
    let agent = world.agent("one").pid.unwrap();
    let hub = world.players("hub");
    let keepers = [world.players("reviver"), world.players("reaper"), world.players("keeper")];
    let lasting = [hub, keepers.concat(), vec![dashboard.pid()]].concat();
    assert!(lasting.len() >= 4, "{lasting:?}");
    for pid in &lasting {
        assert!(ignores_broken_pipes(*pid), "{:?}", process::words(*pid));
        process::kill(*pid, Signal::PIPE);
    }
    assert!(!ignores_broken_pipes(agent), "`yes | head` would never end in it");
    world.ok(&["agent", "keys", "one", "--text", "still there", "enter"]);
    dashboard.wait_for("still there");
    let alive = |pid: &u32| process::identify(*pid).is_some();
    assert!(lasting.iter().all(alive));
}
