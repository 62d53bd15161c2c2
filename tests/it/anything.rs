//! What a program does of which nobody knows how its screen is to be read.

use std::sync::Arc;
use std::time::Duration;

use wheelhouse::detect::{Detector, Options, Rules};
use wheelhouse::model::{AgentState, Moment, Region, Rule, Size};
use wheelhouse::screen::{HistoryLimit, Screen};

use super::acted::{manifest, rules};

#[test]
fn a_generic_program_works_while_it_prints_and_then_nothing_is_known() {
    let mut pane = Anything::new();
    assert_eq!(pane.say("compiling\r\n", 300), AgentState::Working);
    assert_eq!(pane.say("still compiling\r\n", 10_000), AgentState::Unknown);
    assert_eq!(pane.say("Overwrite? [y/N] ", 300), AgentState::Waiting);
    assert_eq!(pane.say("y\r\nuser@host:~$ ", 3000), AgentState::Idle);
}

#[test]
fn a_program_starts_until_it_is_known_or_has_stood_still_for_long() {
    for cli in ["claude", "codex", "gemini", "opencode"] {
        let mut pane = Anything::of(cli);
        assert_eq!(pane.say("", 60_000), AgentState::Starting, "{cli}");
        assert_eq!(pane.say("Loading the plugins\r\n", 9000), AgentState::Starting, "{cli}");
        assert_eq!(pane.say("Loading the settings\r\n", 9000), AgentState::Starting, "{cli}");
        assert_eq!(pane.say("", 5000), AgentState::Unknown, "{cli}");
    }
}

#[test]
fn a_program_that_never_writes_a_word_is_not_starting_for_ever() {
    let mut silent = Anything::new();
    assert_eq!(silent.say("", 15_000), AgentState::Starting);
    assert_eq!(silent.say("", 10_000), AgentState::Unknown);
    assert_eq!(silent.say("user@host:~$ ", 3000), AgentState::Idle, "it was only slow");
}

#[test]
fn an_empty_line_is_a_prompt_where_a_setting_says_so() {
    let mut manifest = manifest("shell");
    let prompt = Rule {
        name: "silent".into(),
        state: AgentState::Idle,
        kind: None,
        region: Region::Cursor,
        pattern: r"\A\z".into(),
        unless: None,
    };
    manifest.rules.push(prompt);
    let mut pane = Anything::with(Arc::new(Rules::new("cat", &manifest).unwrap()));
    assert_eq!(pane.say("", 25_000), AgentState::Idle);
    assert_eq!(pane.say("hello\r\nhel", 300), AgentState::Working);
    assert_eq!(pane.say("", 10_000), AgentState::Unknown, "half of a line");
    assert_eq!(pane.say("lo\r\n", 10_000), AgentState::Idle);
}

/// A pane of a program that nobody knows.
struct Anything {
    screen: Screen,
    detector: Detector,
    now: Moment,
}

impl Anything {
    fn new() -> Self {
        Self::of("shell")
    }

    fn of(cli: &str) -> Self {
        Self::with(rules(cli))
    }

    fn with(rules: Arc<Rules>) -> Self {
        let screen = Screen::new(Size { rows: 24, cols: 80 }, HistoryLimit::default());
        let detector = Detector::new(rules, Options::default(), Moment(0));
        Self { screen, detector, now: Moment(100) }
    }

    /// Writes, lets time pass, and returns what the program is then said to do.
    fn say(&mut self, text: &str, milliseconds: u64) -> AgentState {
        self.screen.feed(text.as_bytes(), self.now);
        self.detector.observe(&self.screen, &[], self.now);
        let until = self.now + Duration::from_millis(milliseconds);
        while let Some(at) = self.detector.next_deadline().filter(|at| *at <= until) {
            self.detector.observe(&self.screen, &[], at);
        }
        self.now = until;
        self.detector.shown().state
    }
}

#[test]
fn a_prompt_with_the_cursor_behind_it_is_idle() {
    let prompts = [
        "bash-5.2# ",
        "sh-5.2$ ",
        "$ ",
        "# ",
        "user@host:~$ ",
        "\x1b]0;user@host: ~\x07\x1b[01;32muser@host\x1b[00m:\x1b[01;34m~/src\x1b[00m$ ",
        "[user@host src]$ ",
        "user@host ~/src $ ",
        "(venv) user@host:~$ ",
        "host% ",
        "user@host ~ % ",
        "user@host ~/src> ",
        "root@host ~# ",
        "❯ ",
        "~/src ❯ ",
        "➜  src git:(main) ",
        ">>> ",
        "In [3]: ",
        "> ",
        "\x1b[?2004h\x1b[J~/a/世界$ ",
    ];
    for prompt in prompts {
        let mut pane = Anything::new();
        assert_eq!(pane.say("make: done\r\n", 300), AgentState::Working);
        assert_eq!(pane.say(prompt, 3000), AgentState::Idle, "{prompt:?}");
        let mut fresh = Anything::new();
        assert_eq!(fresh.say(prompt, 3000), AgentState::Idle, "first of all: {prompt:?}");
    }
    let mut long = Anything::new();
    let wrapped = format!("user@host:~/{}$ ", "deep/".repeat(20));
    assert_eq!(long.say(&wrapped, 3000), AgentState::Idle, "broken by the terminal");
}

#[test]
fn what_only_looks_like_a_prompt_is_not_idle() {
    let lines = [
        "user@host:~$ make\r\n",
        "the docs say: type this at user@host:~$ \r\n",
        "bash-5.2# \r\n",
        ">>> \r\ntests passed\r\n",
        "Downloading 45%",
        "Downloading 45 %",
        "\x1b[3;1Huser@host:~$ \x1b[10;1Hcompiling",
        "user@host:~$ \x1b[1;1H",
        "user@host:~$ \x1b[1;40H",
        "Downloading 3/10, 45 %",
        "building ####",
        "a < b > ",
    ];
    for line in lines {
        let mut pane = Anything::new();
        pane.say("compiling\r\n", 300);
        let state = pane.say(line, 10_000);
        assert_eq!(state, AgentState::Unknown, "{line:?}");
    }
}

#[test]
fn a_prompt_in_the_middle_of_work_is_believed_only_once_it_lasts() {
    let mut pane = Anything::new();
    pane.say("compiling\r\n", 300);
    for _ in 0..20 {
        assert_eq!(pane.say("user@host:~$ ", 400), AgentState::Working);
        assert_eq!(pane.say("make all\r\n", 400), AgentState::Working);
    }
    pane.say("", 5000);
    assert_eq!(pane.detector.shown().state, AgentState::Unknown);
    assert_ne!(pane.say("user@host:~$ ", 400), AgentState::Idle);
    assert_eq!(pane.say("make all\r\n", 400), AgentState::Working);
}
