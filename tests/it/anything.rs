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
        let signals = self.screen.feed(text.as_bytes(), self.now).signals;
        self.detector.observe(&self.screen, &signals, self.now);
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

/// Lets a program that nobody knows be at work on a screen that tells nothing.
fn at_work() -> Anything {
    let mut pane = Anything::of("any");
    pane.say("> ", 3000);
    for line in 0..6 {
        pane.say(&format!("\r\nline {line} of an answer"), 300);
    }
    assert_eq!(pane.detector.shown().state, AgentState::Working);
    pane
}

#[test]
fn marks_of_commands_tell_what_a_bare_screen_does_not() {
    let mut pane = Anything::of("any");
    pane.say("\x1b]133;D;0\x07\x1b]133;A\x07work here \x1b]133;B\x07", 3000);
    assert_eq!(pane.detector.shown().state, AgentState::Idle, "a prompt that looks like none");
    // What a person types grows, and is no work.
    for letter in "make everything".chars() {
        assert_eq!(pane.say(&letter.to_string(), 280), AgentState::Idle, "{letter}");
    }
    assert_eq!(pane.say("\r\n\x1b]133;C\x07", 30_000), AgentState::Working, "it is silent");
    assert_eq!(pane.say("\x1b]133;D;0\x07\x1b]133;A\x07work here ", 3000), AgentState::Idle);
}

#[test]
fn marks_around_messages_are_no_commands() {
    let mut pane = Anything::of("any");
    let rule = "─".repeat(60);
    let message = "\x1b]133;A\x07hello\x1b]133;B\x07\x1b]133;C\x07\r\n";
    let state = pane.say(&format!("{message}{rule}\r\n\r\n{rule}\r\n"), 5000);
    assert_eq!(state, AgentState::Idle);
}

#[test]
fn a_bell_on_a_screen_that_tells_nothing_wants_a_person() {
    let mut silent = at_work();
    assert_eq!(silent.say("\r\nthat is all", 20_000), AgentState::Working, "no prompt again");
    let mut pane = at_work();
    assert_eq!(pane.say("\r\nShall it be green or blue\x07", 5000), AgentState::Waiting);
    assert_eq!(pane.detector.shown().rule, "any.bell");
    assert_eq!(pane.say("\r\n> ", 3000), AgentState::Idle, "the next prompt is offered");
}

#[test]
fn a_bell_tells_nothing_where_the_screen_does() {
    let mut fresh = Anything::of("any");
    assert_ne!(fresh.say("loading\x07", 3000), AgentState::Waiting, "it has had no turn");
    let mut prompt = Anything::of("any");
    assert_eq!(prompt.say("> \x07", 3000), AgentState::Idle);
    let mut spinner = at_work();
    for sign in ["⠋", "⠙", "⠹", "⠸"] {
        let state = spinner.say(&format!("\r{sign} thinking\x07\x1b[K"), 300);
        assert_eq!(state, AgentState::Working);
    }
}

#[test]
fn titles_progress_and_its_own_status_tell_what_a_bare_screen_does_not() {
    for (begin, end) in [
        ("\x1b]0;⠋ thinking\x07", None),
        ("\x1b]9;4;3\x07", Some("\x1b]9;4;0\x07")),
        ("\x1b]7501;state=working:app=x\x07", Some("\x1b]7501;state=done:app=x\x07")),
    ] {
        let mut pane = Anything::of("any");
        pane.say("something that nobody knows", 15_000);
        assert_eq!(pane.detector.shown().state, AgentState::Unknown, "{begin:?}");
        assert_eq!(pane.say(begin, 20_000), AgentState::Working, "{begin:?}");
        if let Some(end) = end {
            assert_eq!(pane.say(end, 3000), AgentState::Idle, "{end:?}");
        }
    }
}

#[test]
fn an_error_is_told_where_it_ends_a_turn() {
    let rule = "─".repeat(60);
    let composer = format!("{rule}\r\n> \r\n{rule}\r\n");
    let failed = "\x1b[31mError: 503 overloaded\x1b[m\r\n";
    let mut fresh = Anything::of("any");
    assert_eq!(fresh.say(&format!("{failed}{composer}"), 3000), AgentState::Idle, "no turn yet");
    let mut pane = Anything::of("any");
    pane.say(&composer, 3000);
    for sign in ["⠋", "⠙", "⠹"] {
        pane.say(&format!("\x1b[2J\x1b[Hgo\r\n{sign} thinking\r\n{composer}"), 300);
    }
    let retry = format!("\x1b[2J\x1b[Hgo\r\n{failed}Retrying in 60s\r\n{composer}");
    assert_eq!(pane.say(&retry, 40_000), AgentState::Working, "it has not given up");
    let end = format!("\x1b[2J\x1b[Hgo\r\n{failed}\r\n{composer}");
    assert_eq!(pane.say(&end, 3000), AgentState::Error);
    assert_eq!(pane.detector.shown().rule, "any.error");
    let next = format!(
        "\x1b[2J\x1b[Hgo\r\n{failed}\r\n> again\r\nFine.\r\nAll of it\r\nis done\r\nnow.\r\n{composer}"
    );
    assert_eq!(pane.say(&next, 5000), AgentState::Idle);
}
