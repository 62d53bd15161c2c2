//! The scripted agent as a program: through a real pseudo-terminal, and through a pipe.

use std::fs;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use tempfile::TempDir;

/// Longer than any of this takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// An agent in a pseudo-terminal.
struct Agent {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    terminal: vt100::Parser,
    raw: String,
    home: TempDir,
}

impl Agent {
    fn start(script: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("agent.sim");
        fs::write(&path, script).unwrap();
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_wheelhouse"));
        command.args(["sim", path.to_str().unwrap()]);
        command.cwd(home.path());
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        let length = |length| NonZeroU16::new(length).unwrap();
        let terminal = vt100::Parser::new(length(24), length(80), 0);
        Self { child, master: pair.master, writer, output, terminal, raw: String::new(), home }
    }

    fn send(&mut self, bytes: &str) {
        self.writer.write_all(bytes.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    fn prompt(&mut self, text: &str) {
        self.wait_for("? for shortcuts");
        self.send(&format!("\x1b[200~{text}\x1b[201~"));
        self.send("\r");
    }

    fn screen(&self) -> String {
        self.terminal.screen().contents()
    }

    /// Reads on until the screen shows the text.
    fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |agent| agent.screen().contains(text));
    }

    fn wait_until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let start = now();
        while !is_so(self) {
            assert!(start.elapsed() < PATIENCE, "no {what:?} in:\n{}", self.screen());
            self.take_output();
        }
    }

    fn take_output(&mut self) {
        if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(50)) {
            self.terminal.process(&bytes);
            self.raw.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    /// Waits for the end and returns the exit code, or none if a signal did it.
    fn wait(&mut self) -> Option<u32> {
        let start = now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.signal().is_none().then(|| status.exit_code());
            }
            assert!(start.elapsed() < PATIENCE, "still there:\n{}", self.screen());
            self.take_output();
        }
    }

    fn signal(&self, signal: &str) {
        let id = self.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Fails only for one that has ended, as most have.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn a_prompt_is_pasted_and_submitted() {
    let mut agent = Agent::start(
        "speed 0\ntitle Backend\non prompt\n  say \"On it.\"\n  status done \"$TOPIC + 3 tests pass\"\n",
    );
    agent.prompt("Add the endpoint.\nTag: k7f3");
    agent.wait_for("STATUS(k7f3): DONE — Add the endpoint + 3 tests pass");
    agent.wait_for("? for shortcuts");
    assert!(agent.screen().contains("❯ Add the endpoint.\n  Tag: k7f3"), "{}", agent.screen());
    assert!(agent.raw.contains("\x1b[?2004h") && agent.raw.contains("\x1b]0;✳ Backend\x07"));
}

#[test]
fn text_is_typed_edited_and_sent_by_keys() {
    let mut agent = Agent::start("speed 0\non prompt\n  say \"Got $PROMPT!\"\n");
    agent.wait_for("? for shortcuts");
    agent.send("wrong\x15helo\x7flo");
    agent.wait_for("❯ hello");
    agent.send("\r");
    agent.wait_for("● Got hello!");
}

#[test]
fn an_approval_is_given_by_a_key_and_the_command_really_runs() {
    let mut agent = Agent::start(
        "speed 0\nreport osc\non prompt\n  approve \"touch made\" else stop\n  run touch made && echo made it\n",
    );
    agent.prompt("Go");
    agent.wait_for("Do you want to proceed?");
    assert!(agent.screen().contains("❯ 1. Yes") && !agent.screen().contains("esc to interrupt"));
    agent.wait_until("report", |agent| agent.raw.contains("blocked:app=sim:kind=permission"));
    agent.send("\x1b[B");
    agent.wait_for("❯ 2. Yes, and don't ask again");
    agent.send("\r");
    agent.wait_for("⎿  made it");
    assert!(agent.home.path().join("made").exists());
}

#[test]
fn a_turn_is_interrupted_by_escape() {
    let mut agent = Agent::start("on prompt\n  think 600s \"Thinking hard\"\n");
    agent.prompt("Go");
    agent.wait_for("Thinking hard…");
    agent.wait_for("esc to interrupt");
    agent.send("\x1b");
    agent.wait_for("Interrupted · What should I do instead?");
    agent.wait_for("? for shortcuts");
}

#[test]
fn a_running_command_ends_with_the_turn() {
    let mut agent = Agent::start("on prompt\n  run echo $$ > shell; exec sleep 600\n");
    agent.prompt("Go");
    let path = agent.home.path().join("shell");
    let shell = || fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'));
    agent.wait_until("shell", |_| shell().is_some());
    agent.send("\x1b");
    agent.wait_for("Interrupted");
    let process = format!("/proc/{}/cmdline", shell().unwrap().trim());
    // A dead process has no command line, whether or not it has been collected.
    agent.wait_until("end", |_| fs::read(&process).map_or(true, |line| line.is_empty()));
}

#[test]
fn signals_are_ignored_on_order_and_only_then() {
    let mut agent = Agent::start("speed 0\non prompt\n  ignore hup term int\n  say Deaf.\n");
    agent.prompt("Go");
    agent.wait_for("● Deaf.");
    for signal in ["TERM", "HUP", "INT"] {
        agent.signal(signal);
    }
    agent.prompt("Still there?");
    agent.wait_for("❯ Still there?");
    agent.send("\x03\x03");
    assert_eq!(agent.wait(), Some(0));

    let mut polite = Agent::start("speed 0\n");
    polite.wait_for("? for shortcuts");
    polite.signal("TERM");
    assert_eq!(polite.wait(), None);
}

#[test]
fn a_resize_is_drawn_without_any_key() {
    let mut agent = Agent::start("speed 0\n");
    agent.wait_for(&"─".repeat(80));
    let size = PtySize { rows: 24, cols: 50, pixel_width: 0, pixel_height: 0 };
    let length = |length| NonZeroU16::new(length).unwrap();
    agent.terminal.screen_mut().set_size(length(24), length(50));
    agent.master.resize(size).unwrap();
    let rule = format!("\n{}\n❯", "─".repeat(50));
    agent.wait_for(&rule);
}

#[test]
fn an_agent_ends_with_the_code_of_its_script() {
    let mut agent = Agent::start("speed 0\nat start\n  say Bye.\n  exit 3\n");
    assert_eq!(agent.wait(), Some(3));
    agent.wait_until("end", |agent| agent.raw.contains("\x1b[?2004l"));
}

#[test]
fn an_agent_that_dies_says_no_last_word() {
    let mut agent = Agent::start("speed 0\nat start\n  say Bye.\n  die\n");
    assert_eq!(agent.wait(), None);
    assert!(!agent.raw.contains("\x1b[?2004l"));
}

#[test]
fn a_process_that_was_left_behind_has_a_session_of_its_own() {
    let mut agent = Agent::start("speed 0\nat start\n  detach 60s\n  say Gone.\n");
    agent.wait_for("● Gone.");
    let parent = agent.child.process_id().unwrap().to_string();
    let orphan = || {
        let listed = Command::new("ps").args(["-eo", "ppid=,pid=,sid=,args="]).output().unwrap();
        let text = String::from_utf8(listed.stdout).unwrap();
        let fields = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let own = |line: &Vec<&str>| line[0] == parent && line[3] == "wheelhouse-sim-detached";
        let found = fields.filter(|line| line.len() > 3).find(own)?;
        Some((found[1].to_owned(), found[2].to_owned()))
    };
    agent.wait_until("session", |_| orphan().is_some_and(|(id, session)| id == session));
    let (id, _) = orphan().unwrap();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
}

#[test]
fn a_flood_passes_and_the_agent_goes_on() {
    let mut agent = Agent::start(
        "speed 0\nat start\n  flood lines 1M\n  flood osc 100k\n  flood marks 10k\n  flood bytes 50k\n  say Dry.\non prompt\n  say Yes.\n",
    );
    agent.wait_for("● Dry.");
    agent.prompt("Go");
    agent.wait_for("● Yes.");
}

#[test]
fn without_a_terminal_prompts_are_lines_and_output_is_plain() {
    let script = "speed 0\ntitle T\non prompt\n  ask Port? 8080 3000\n  say \"Port $ANSWER.\"\n";
    let home = tempfile::tempdir().unwrap();
    let (text, code) = piped(&home, script, "Go\n2\nAgain\n");
    assert_eq!(code, Some(0));
    assert!(text.contains("❯ Go\n") && text.contains("● Port 3000.\n"), "{text}");
    assert!(text.contains("❯ Again\n\n") && text.contains("Interrupted"), "{text}");
    assert!(!text.contains('\x1b'));
}

#[test]
fn a_script_that_never_waits_leaves_nothing_out() {
    let home = tempfile::tempdir().unwrap();
    let script =
        "at start\n  repeat 999\n    tool Read(a) 1s \"1 line\"\n  run printf '\\033[2J'; exit 4\n";
    let (text, _) = piped(&home, script, "");
    assert_eq!(text.matches("● Read(a)").count(), 999);
    assert!(text.contains("⎿  Error: exit status: 4\n     [2J\n"), "{text}");
}

#[test]
fn without_a_script_a_plausible_job_is_done() {
    let home = tempfile::tempdir().unwrap();
    let (text, code) = piped(&home, "speed 0\n", "Fix the login bug. Your tag is k7f3.\n");
    assert_eq!(code, Some(0));
    for part in
        ["● Read(", "PROGRESS(k7f3): [1/2]", "BUILD(k7f3): PASS", "STATUS(k7f3): DONE — Fix"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn the_demo_scripts_do_real_work_together_in_one_repository() {
    let home = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(home.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    let story = |name: &str| fs::read_to_string(format!("assets/sim/{name}.sim")).unwrap();
    let play = |name: &str, input: &str| piped(&home, &story(name), input);
    thread::scope(|scope| {
        let parts = [("backend", "1\n"), ("frontend", ""), ("tests", ""), ("docs", "")];
        let plays: Vec<_> =
            parts.map(|(name, input)| (name, scope.spawn(move || play(name, input)))).into();
        for (name, played) in plays {
            let (text, _) = played.join().unwrap();
            assert!(text.contains("STATUS: DONE — "), "{name}: {text}");
            assert!(!text.contains("error:") && !text.contains("fatal:"), "{name}: {text}");
        }
    });
    assert_eq!(git(&["log", "--format=%s"]).lines().count(), 4);
    assert_eq!(git(&["status", "--porcelain", "--untracked-files=no"]), "");
}

#[expect(clippy::disallowed_methods, reason = "a test of a real program waits by the real clock")]
fn now() -> Instant {
    Instant::now()
}

/// Plays a script without waiting, and returns what it printed and its exit code.
fn piped(home: &TempDir, script: &str, input: &str) -> (String, Option<i32>) {
    let scripts = tempfile::tempdir().unwrap();
    let path = scripts.path().join("agent.sim");
    fs::write(&path, script).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_wheelhouse"))
        .args(["sim", path.to_str().unwrap()])
        .current_dir(home.path())
        .env("WHEELHOUSE_SIM_SPEED", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}
