//! The dashboard inside of a real tmux: its keys, its title, its colours, and what it copies.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use wheelhouse::api::Notice;
use wheelhouse::model::{Color, Style};

use crate::fake_hub::{FakeHub, view};
use crate::support::clock::wait_for;
use crate::terminal::SOCKET;

/// A tmux of the test's own, with the dashboard in its only pane.
struct Tmux {
    name: String,
}

impl Tmux {
    fn open(socket: &Path) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let tmux = Self { name: format!("wheelhouse-test-{}-{number}", std::process::id()) };
        let program = std::env::current_exe().unwrap();
        let (socket, program) = (socket.to_str().unwrap(), program.to_str().unwrap());
        let line = format!("'{program}' --exact tui::dashboard --ignored --nocapture");
        let socket = format!("{SOCKET}={socket}");
        tmux.ok(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "100",
            "-y",
            "30",
            "-e",
            &socket,
            "-e",
            "COLORTERM=truecolor",
            &line,
        ]);
        tmux
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").env("TERM", "xterm-256color");
        command.args(["-u", "-L", &self.name]).args(arguments).output().expect("tmux is installed")
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn press(&self, keys: &[&str]) {
        for key in keys {
            self.ok(&["send-keys", key]);
        }
    }

    fn wait_for(&self, text: &str) {
        wait_for(&format!("`{text}` in the pane"), || {
            self.ok(&["capture-pane", "-p"]).contains(text)
        });
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

#[test]
fn what_is_copied_can_be_pasted_with_tmux() {
    let hub = FakeHub::start(&["one"]);
    let tmux = Tmux::open(&hub.socket);
    tmux.wait_for("one is here");
    let lines = ["cargo build", "", "error[E0308]: mismatched types", "  --> src/a.rs:1:2", "$ "];
    hub.tell(Notice::Pane(view("one", &lines)));
    tmux.wait_for("E0308");
    tmux.press(&["[", "!", "y"]);
    tmux.wait_for("Copied 2 lines, 49 characters by tmux");
    let expected = "error[E0308]: mismatched types\n  --> src/a.rs:1:2";
    assert_eq!(tmux.ok(&["show-buffer"]), expected);
}

#[test]
fn one_drag_copies_into_tmux_too() {
    let hub = FakeHub::start(&["one"]);
    let tmux = Tmux::open(&hub.socket);
    tmux.wait_for("one is here");
    // Pressed on the first letter, moved to the eleventh, released there.
    for event in ["\x1b[<0;2;3M", "\x1b[<32;9;3M", "\x1b[<32;12;3M", "\x1b[<0;12;3m"] {
        let codes: Vec<String> = event.bytes().map(|byte| format!("{byte:x}")).collect();
        let mut arguments = vec!["send-keys", "-H"];
        arguments.extend(codes.iter().map(String::as_str));
        tmux.ok(&arguments);
    }
    tmux.wait_for("Copied 11 characters by tmux");
    assert_eq!(tmux.ok(&["show-buffer"]), "one is here");
}

#[test]
fn the_key_that_leaves_a_pane_is_not_the_one_that_tmux_takes() {
    let hub = FakeHub::start(&["one"]);
    let tmux = Tmux::open(&hub.socket);
    tmux.wait_for("one is here");
    tmux.press(&["Enter"]);
    tmux.wait_for("TYPING → one");
    tmux.wait_for("ctrl-] leave");
    tmux.press(&["C-]"]);
    tmux.wait_for("enter type");
}

#[test]
fn title_and_true_colours_arrive() {
    let hub = FakeHub::start(&["one"]);
    let tmux = Tmux::open(&hub.socket);
    tmux.wait_for("one is here");
    wait_for("the title", || {
        tmux.ok(&["display-message", "-p", "#{pane_title}"]).contains("· wheelhouse")
    });
    let mut colourful = view("one", &["in colours"]);
    let foreground = Color::Rgb(1, 2, 3);
    colourful.rows[0].1.runs[0].style = Style { foreground, ..Style::default() };
    hub.tell(Notice::Pane(colourful));
    tmux.wait_for("in colours");
    assert!(tmux.ok(&["capture-pane", "-e", "-p"]).contains("38;2;1;2;3m"));
}
