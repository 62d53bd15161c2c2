//! Each report once: drawn anew in another width, told by two, or never drawn at all.

use wheelhouse::detect::{HookNews, StreamNews};
use wheelhouse::model::{AgentState, HookMeaning, Size};

use super::acted::{CLAUDE, Pane, echo, rules};

impl Pane {
    fn ends_with(&mut self, message: &str) {
        let news = HookNews {
            meaning: HookMeaning::Ended,
            rule: "claude.Stop".into(),
            session: None,
            prompt: None,
            message: Some(message.to_owned()),
        };
        let found = self.detector.hook(&news, self.now);
        self.take(found);
    }

    fn event(&mut self, state: AgentState, message: Option<&str>) {
        let message = message.map(str::to_owned);
        let news = StreamNews {
            state,
            kind: None,
            line: "status".into(),
            session: None,
            message,
            command: None,
        };
        let found = self.detector.stream(Some(&news), self.now);
        self.take(found);
    }

    fn set_cols(&mut self, cols: u16) {
        let size = self.screen.size();
        self.screen.resize(Size { cols, ..size });
    }
}

const STEP: &str = "PROGRESS(k7f3): [1/2] — the routes are there and the first of the tests pass";
const DONE: &str =
    "STATUS(k7f3): DONE — built 6 endpoints, tests pass (23/23), see src/api/users.rs";

/// Wraps at blanks.
fn rows(text: &str, cols: usize, before: &str) -> String {
    let mut rows = vec![String::new()];
    for word in text.split(' ') {
        let row = rows.last_mut().unwrap();
        if row.chars().count() + word.chars().count() + 5 > cols {
            rows.push(word.to_owned());
        } else {
            row.push_str(if row.is_empty() { "" } else { " " });
            row.push_str(word);
        }
    }
    rows.into_iter().flat_map(|row| [before.to_owned(), row, "\r\n".to_owned()]).collect()
}

/// What aider prints of a turn, up to its prompt.
fn aider(lines: &[&str], cols: usize) -> String {
    let answer: String = lines.iter().map(|line| rows(line, cols, "") + "\r\n").collect();
    let rule = "─".repeat(cols);
    format!("> Go.\r\n\r\n{answer}\r\nTokens: 636 sent, 78 received.\r\n{rule}\r\n> ")
}

/// What Gemini prints of a turn, up to its composer.
fn gemini(lines: &[&str], cols: usize) -> String {
    let answer: String = lines.iter().map(|line| rows(line, cols, "  ") + "\r\n").collect();
    let (upper, lower) = ("▄".repeat(cols), "▀".repeat(cols));
    format!(
        "{upper}\r\n\x1b[48;5;237m > Go.\x1b[K\x1b[m\r\n{lower}\r\n✦ So:\r\n\r\n{answer}\r\n{upper}\r\n >   Type your message or @path/to/file\r\n{lower}\r\n ~/proj"
    )
}

/// The conversation is printed once more below what stands there, at once or long after.
#[test]
fn what_is_printed_anew_because_the_terminal_got_another_width_is_told_once() {
    type Print = fn(&[&str], usize) -> String;
    let untagged: Vec<String> =
        [STEP, DONE].iter().map(|line| line.replace("(k7f3)", "")).collect();
    let untagged: Vec<&str> = untagged.iter().map(String::as_str).collect();
    for (cli, print) in [("aider", aider as Print), ("gemini", gemini as Print)] {
        for lines in [&[STEP, DONE][..], &untagged] {
            for (pause, has_prompt) in [(100, true), (2500, true), (100, false), (20_000, false)] {
                let mut pane = Pane::new(&rules(cli));
                pane.set_cols(100);
                pane.write("\x1b[?1049l\x1b[2J\x1b[H");
                pane.write(&print(&[], 100).replace("Go.", "Hello there."));
                pane.wait(12_000);
                pane.detector.prompt_submitted("Go.", Some("k7f3"), pane.now);
                pane.write(&format!("\x1b[2J\x1b[H{}", print(lines, 100)));
                pane.wait(5000);
                assert_eq!(pane.raws(), lines, "{cli} {pause}");
                for cols in [60, 120, 80] {
                    pane.set_cols(cols);
                    pane.wait(pause);
                    let printed = print(lines, cols.into());
                    // Of a long conversation only the end fits.
                    let from = if has_prompt { 0 } else { printed.find("PROGRESS").unwrap() };
                    pane.write(&format!("\r\n\r\n{}", &printed[from..]));
                    pane.wait(5000);
                    assert_eq!(pane.raws(), lines, "{cli} {pause} {has_prompt} {cols}");
                }
            }
        }
    }
}

/// A gate's answer begins the next turn before a busy machine has drawn the report.
#[test]
fn a_report_that_a_hook_told_and_the_screen_draws_after_the_next_prompt_is_told_once() {
    for pause in [20, 300, 1500] {
        let mut pane = Pane::new(&CLAUDE);
        pane.detector.prompt_submitted("Build it.", Some("k7f3"), pane.now);
        pane.show(&echo("Build it."), "esc to interrupt");
        pane.ends_with(&format!("Built.\n\n{DONE}"));
        assert_eq!(pane.raws(), [DONE]);
        pane.detector.prompt_submitted("The check failed.", Some("k7f3"), pane.now);
        pane.wait(pause);
        pane.show(&format!("● Built.\n\n  {DONE}"), "esc to interrupt");
        pane.show(&echo("The check failed."), "esc to interrupt");
        pane.wait(3000);
        assert_eq!(pane.raws(), [DONE], "after {pause} ms");
        // What is said anew is told anew.
        pane.show(&format!("● Now.\n\n  {DONE}"), "esc to interrupt");
        pane.ends_with(&format!("Now.\n\n{DONE}"));
        pane.paint("? for shortcuts");
        pane.wait(5000);
        assert_eq!(pane.raws(), [DONE; 2], "after {pause} ms");
    }
}

#[test]
fn a_turn_that_begins_and_ends_between_two_looks_is_read() {
    for tag in ["", "(k7f3)"] {
        let line = format!("STATUS{tag}: DONE — two files");
        let mut pane = Pane::new(&rules("aider"));
        pane.write(&format!("\x1b[?1049l\x1b[2J\x1b[H{}\r\n> ", "─".repeat(100)));
        pane.wait(12_000);
        let mut wanted = Vec::new();
        for _ in 0..3 {
            pane.detector.prompt_submitted("Go.", Some("k7f3"), pane.now);
            pane.write("Go.\r\n\r\n");
            pane.now = pane.now + std::time::Duration::from_millis(30);
            let answer = aider(&["Well.", &line], 100);
            pane.write(answer.trim_start_matches("> Go.\r\n\r\n"));
            pane.wait(5000);
            wanted.push(line.as_str());
            assert_eq!(pane.raws(), wanted);
        }
    }
}

/// A long session fills the screen with tools: what was said may never be in sight when somebody looks.
#[test]
fn what_events_hand_over_is_told_though_the_screen_never_shows_it() {
    let lower = "▀".repeat(96);
    let screen = |footer: &str| {
        let tools = "     $ cargo test\r\n\r\n".repeat(9);
        format!(
            "\x1b[?1049h\x1b[2J\x1b[H{tools}  ┃\r\n  ┃\r\n  ┃  Build · Fake 1\r\n  ╹{lower}\r\n{footer}"
        )
    };
    let mut pane = Pane::new(&rules("opencode"));
    pane.write(&screen("   /project   ctrl+p commands"));
    pane.wait(3000);
    let mut wanted = Vec::new();
    for number in 1..=3 {
        let done = format!("STATUS: DONE — part {number}");
        pane.detector.prompt_submitted(&format!("Part {number}."), Some("k7f3"), pane.now);
        pane.event(AgentState::Working, None);
        pane.write(&screen("   ⬝⬝■■■■■■  esc interrupt"));
        pane.wait(1000);
        pane.event(AgentState::Idle, Some(&format!("I begin.\n\n{STEP}\n\nI test.\n\n{done}")));
        pane.write(&screen("   /project   ctrl+p commands"));
        pane.wait(3000);
        wanted.extend([STEP.to_owned(), done]);
        assert_eq!(pane.raws(), wanted);
        assert_eq!(pane.detector.shown().state, AgentState::Done);
    }
}
