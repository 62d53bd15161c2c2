//! Measures panes from outside: echo through the hub while others flood, memory, idle cost.
//!
//! Runs the real binary with real agents and reads `/proc`; prints a table and asserts nothing.
//! `cargo bench --bench panes`
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use wheelhouse::api::{FromHub, KeyInput, Notice, Request};
use wheelhouse::client::{Connection, connect};
use wheelhouse::config::Paths;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wheelhouse");
const PROBES: u32 = 300;

fn main() {
    let quiet = World::start("quiet", 16, "sleep 1000000");
    println!("| what | figure |\n| --- | --- |");
    println!("| 16 idle panes: all our processes, PSS | {:.1} MB |", quiet.memory_mb());
    println!(
        "| 16 idle panes: CPU | {:.4} s a minute |",
        quiet.cpu_per_minute(Duration::from_secs(20))
    );
    println!("| echo through the hub, idle | {} |", quiet.echo());
    drop(quiet);
    let flood = World::start("flood", 16, "yes");
    println!("| echo through the hub, 16 panes run `yes` | {} |", flood.echo());
    println!("| 16 panes run `yes`: hub, private | {:.1} MB |", flood.hub_private_mb());
    println!(
        "| 16 panes run `yes`: largest keeper, private | {:.2} MB |",
        flood.keeper_private_mb()
    );
    println!(
        "| 16 panes run `yes`: waits inside the hub (half / 95 of 100 / longest) | {} |",
        flood.waits()
    );
    drop(flood);
    let lines = "i=0; while [ $i -lt 12000 ]; do echo \"2026-01-01 12:00:00 INFO line $i of some coloured output that is about a hundred columns long, as logs are\"; i=$((i+1)); done; sleep 1000000";
    let full = World::start("full", 16, lines);
    full.wait_for_history();
    println!(
        "| 16 panes with 10,000 lines each: all our processes, PSS | {:.1} MB |",
        full.memory_mb()
    );
}

/// A project of its own with panes that all run one command, and one that echoes.
struct World {
    root: PathBuf,
    paths: Paths,
    agents: usize,
}

impl World {
    #[expect(unsafe_code, reason = "set before any thread is started")]
    fn start(name: &str, agents: usize, command: &str) -> Self {
        let root =
            std::env::temp_dir().join(format!("wheelhouse-bench-{}-{name}", std::process::id()));
        for (variable, part) in [
            ("HOME", "home"),
            ("XDG_RUNTIME_DIR", "run"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CONFIG_HOME", "config"),
        ] {
            fs::create_dir_all(root.join(part)).expect("a directory for the bench");
            // SAFETY: the bench has one thread.
            unsafe { std::env::set_var(variable, root.join(part)) };
        }
        let project = root.join("project");
        fs::create_dir_all(&project).expect("a project");
        // At this level the hub tells in the end how long things waited in it.
        fs::create_dir_all(root.join("config/wheelhouse")).expect("a directory for the bench");
        fs::write(root.join("config/wheelhouse/config.toml"), "[log]\nlevel = \"debug\"\n")
            .expect("a file of the user");
        let mut toml = format!("[cli.load]\ncommand = [\"sh\", \"-c\", {command:?}]\n");
        toml +=
            "[cli.echo]\ncommand = [\"sh\", \"-c\", \"stty raw -echo; exec cat\"]\n[team.bench]\n";
        toml += "[[team.bench.agents]]\nname = \"echo\"\ncli = \"echo\"\n";
        toml.extend((1..=agents).map(|number| {
            format!("[[team.bench.agents]]\nname = \"load{number}\"\ncli = \"load\"\n")
        }));
        fs::write(project.join("wheelhouse.toml"), toml).expect("a file in the project");
        let paths = Paths::find(&project).expect("paths");
        let world = Self { root, paths, agents };
        world.run(&["config", "trust", "--yes"]);
        world.run(&["up", "bench"]);
        world
    }

    fn run(&self, arguments: &[&str]) {
        let mut command = Command::new(PROGRAM);
        command.arg("--project").arg(&self.paths.project).args(arguments);
        let output = command.output().expect("the binary runs");
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn connect(&self) -> Connection {
        connect(&self.paths).expect("the hub answers")
    }

    /// Types one character at a time and waits until it is sent as a cell.
    fn echo(&self) -> String {
        let mut connection = self.connect();
        let agent: wheelhouse::model::AgentName = "echo".parse().expect("a name");
        let agents = vec![agent.clone()];
        let watch = Request::Watch { agents, focused: Some(agent), is_attended: false };
        connection.ask(watch).expect("watching works");
        let mut times: Vec<Duration> = Vec::new();
        for probe in 0..PROBES {
            let letter = char::from(b'a' + u8::try_from(probe % 26).expect("a letter"));
            std::thread::sleep(Duration::from_millis(25));
            let keys = vec![KeyInput::Text(format!("\r{letter}"))];
            let began = now();
            connection.send(Request::Keys { agent: "echo".into(), keys }).expect("it is typed");
            while !is_shown(&connection.receive().expect("the hub speaks"), letter) {}
            times.push(now() - began);
        }
        times.sort();
        let at = |percent: usize| times[times.len() * percent / 100].as_secs_f64() * 1000.0;
        format!("p50 {:.2} ms, p95 {:.2} ms, p99 {:.2} ms", at(50), at(95), at(99))
    }

    fn wait_for_history(&self) {
        for number in 1..=self.agents {
            let agent = format!("load{number}");
            loop {
                let ask = Request::History { agent: agent.clone(), before: None, count: 1 };
                let response = self.connect().ask(ask).expect("history is told");
                if matches!(response, wheelhouse::api::Response::History { committed, .. } if committed > 11_900)
                {
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }

    /// Returns the hub and the processes behind the agents, by the session's name in their argv.
    fn processes(&self) -> Vec<(PathBuf, String)> {
        let session = self.paths.session.to_string();
        let entries = fs::read_dir("/proc").expect("/proc is there").flatten();
        let with_argv = entries.filter_map(|entry| {
            let argv = fs::read_to_string(entry.path().join("cmdline")).ok()?.replace('\0', " ");
            Some((entry.path(), argv))
        });
        with_argv.filter(|(_, argv)| argv.contains(&session)).collect()
    }

    /// Ends the hub, and returns what it says about itself.
    fn waits(&self) -> String {
        self.run(&["down", "--force"]);
        let log = fs::read_to_string(self.paths.hub_log()).unwrap_or_default();
        let told = log.lines().rev().find_map(|line| line.split_once("waits="));
        told.map_or_else(|| "not told".to_owned(), |(_, waits)| waits.to_owned())
    }

    fn memory_mb(&self) -> f64 {
        self.processes().iter().map(|(path, _)| rollup(path, &["Pss"])).sum::<f64>() / 1024.0
    }

    fn hub_private_mb(&self) -> f64 {
        let hub = self.processes().into_iter().find(|(_, argv)| argv.contains(" hub "));
        hub.map_or(0.0, |(path, _)| rollup(&path, &["Private_Clean", "Private_Dirty"])) / 1024.0
    }

    fn keeper_private_mb(&self) -> f64 {
        let keepers = self.processes().into_iter().filter(|(_, argv)| argv.contains(" keeper "));
        let sizes = keepers.map(|(path, _)| rollup(&path, &["Private_Clean", "Private_Dirty"]));
        sizes.fold(0.0, f64::max) / 1024.0
    }

    fn cpu_per_minute(&self, span: Duration) -> f64 {
        let used = || self.processes().iter().map(|(path, _)| cpu_seconds(path)).sum::<f64>();
        let before = used();
        std::thread::sleep(span);
        (used() - before) * 60.0 / span.as_secs_f64()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.run(&["down", "--force"]);
        let _ = fs::remove_dir_all(&self.root);
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn now() -> Instant {
    Instant::now()
}

fn is_shown(frame: &FromHub, letter: char) -> bool {
    let FromHub::Notice(Notice::Pane(view)) = frame else { return false };
    view.rows.iter().any(|(_, row)| row.text().starts_with(letter))
}

fn rollup(process: &Path, fields: &[&str]) -> f64 {
    let text = fs::read_to_string(process.join("smaps_rollup")).unwrap_or_default();
    let value = |line: &str| line.split_whitespace().nth(1)?.parse::<f64>().ok();
    let is_wanted = |line: &&str| fields.iter().any(|field| line.starts_with(&format!("{field}:")));
    text.lines().filter(is_wanted).filter_map(value).sum()
}

fn cpu_seconds(process: &Path) -> f64 {
    let text = fs::read_to_string(process.join("schedstat")).unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
