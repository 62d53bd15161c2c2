//! What an agent only shows counts for nothing, however its cli draws it; what it says counts.
//!
//! Answers are made from a seed: prose, and lines of the protocol in fences, quotations, lists, tables, diffs,
//! indented blocks and sentences. Each is drawn as the clis were seen to draw their Markdown.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use wheelhouse::detect::{HookNews, Rules, StreamNews};
use wheelhouse::model::{AgentState, HookMeaning, Size};
use wheelhouse::protocol::read;

use super::acted::{Pane, echo, rules};
use super::markdown::{Block, drawn, screen, written};
use super::support::chance::Chance;

const CLIS: [&str; 5] = ["claude", "codex", "gemini", "opencode", "aider"];
const CASES: u64 = 40;

/// Makes answers.
struct Maker(Chance);

impl Maker {
    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.0.below(of.len() as u64)).unwrap()].clone()
    }

    fn words(&mut self, count: u64) -> String {
        let words = ["users", "orders", "tests", "the", "schema", "of", "routes", "and", "build"];
        (0..count).map(|_| self.pick(&words)).collect::<Vec<_>>().join(" ")
    }

    fn prose(&mut self) -> Block {
        let count = 3 + self.0.below(30);
        Block::Prose(format!("It is {}.", self.words(count)))
    }

    fn status(&mut self) -> String {
        let value = self.pick(&["DONE", "BLOCKED", "ERROR"]);
        let count = 2 + self.0.below(6);
        format!("STATUS: {value} — {} {}", self.words(count), self.0.below(1000))
    }

    fn other(&mut self) -> String {
        let count = 2 + self.0.below(5);
        let words = format!("{} {}", self.words(count), self.0.below(1000));
        let (step, head) = (1 + self.0.below(8), self.pick(&["BUILD: FAIL", "ARTIFACT: out/a.md"]));
        if self.0.percent(50) {
            format!("PROGRESS: [{step}/9] — {words}")
        } else {
            format!("{head} — {words}")
        }
    }

    fn lines(&mut self) -> Vec<String> {
        let mut lines: Vec<String> = (0..self.0.below(2)).map(|_| self.other()).collect();
        lines.extend((0..=self.0.below(2)).map(|_| self.status()));
        lines
    }

    /// Returns something that shows lines and does not say them. `is_plain` keeps to what a screen alone tells
    /// apart from prose, whatever its program does to fences.
    fn shown(&mut self, is_plain: bool) -> Vec<Block> {
        let lines = self.lines();
        match self.0.below(if is_plain { 7 } else { 11 }) {
            0 => vec![Block::Quotation(lines)],
            1 => {
                let mark = self.pick(&[Some('-'), Some('*'), None]);
                vec![Block::List(mark, lines)]
            }
            2 => vec![Block::Nested(lines)],
            3 => vec![Block::Table(lines)],
            4 => vec![Block::Diff(lines)],
            5 => {
                let line = self.status();
                vec![Block::Said(vec![line]), self.prose()]
            }
            6 => {
                let (words, line) = (self.words(4), self.status());
                vec![Block::Prose(format!("When {words} are there I am going to print {line}"))]
            }
            7 => vec![Block::Fence("```", "", lines)],
            8 => vec![Block::Fence("~~~", "text", lines)],
            9 => vec![Block::Indented(lines)],
            _ => vec![Block::Code(lines.last().unwrap().clone())],
        }
    }

    /// Returns an answer in which nothing is said, or all of the last block.
    fn answer(&mut self, is_plain: bool, says: bool) -> Vec<Block> {
        let mut blocks = vec![self.prose()];
        for _ in 0..=self.0.below(2) {
            blocks.extend(self.shown(is_plain));
        }
        if says {
            let mut lines: Vec<String> = (0..self.0.below(3)).map(|_| self.other()).collect();
            let at = usize::try_from(self.0.below(lines.len() as u64 + 1)).unwrap();
            lines.insert(at, self.status());
            blocks.extend([self.prose(), Block::Said(lines)]);
        } else if self.0.percent(30) {
            blocks.push(self.prose());
        }
        blocks
    }
}

/// Who tells the message of the turn, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telling {
    Nobody,
    BeforeTheEnd,
    AfterTheEnd,
}

/// Lets a cli answer, and returns the lines that were told.
fn told(
    cli: &str,
    rules: &Arc<Rules>,
    blocks: &[Block],
    cols: u16,
    telling: Telling,
) -> Vec<String> {
    let mut pane = Pane::new(rules);
    pane.screen.resize(Size { rows: 80, cols });
    let width = usize::from(cols);
    let has_events = cli == "opencode";
    pane.detector.expect_messages(telling != Telling::Nobody && !has_events);
    pane.write(&screen(cli, None, false, width));
    pane.wait(12_000);
    pane.detector.prompt_submitted("Go.", None, pane.now);
    let state = |pane: &mut Pane, working: bool, message: Option<&str>| {
        let word = if working { "working" } else { "idle" };
        if cli == "codex" {
            pane.write(&format!("\x1b]7501;state={word}:app=codex\x1b\\"));
        } else if has_events {
            let state = if working { AgentState::Working } else { AgentState::Idle };
            let message = message.map(str::to_owned);
            let news = StreamNews {
                state,
                kind: None,
                line: word.into(),
                session: None,
                message,
                command: None,
            };
            let found = pane.detector.stream(Some(&news), pane.now);
            pane.take(found);
        }
    };
    let message = written(blocks);
    let hook = |pane: &mut Pane| {
        if has_events {
            return;
        }
        let news = HookNews {
            meaning: HookMeaning::Message,
            rule: "own.end".into(),
            session: None,
            prompt: None,
            message: Some(message.clone()),
        };
        let found = pane.detector.hook(&news, pane.now);
        pane.take(found);
    };
    state(&mut pane, true, None);
    let rows = drawn(cli, blocks, width);
    pane.write(&screen(cli, Some(&[]), true, width));
    pane.wait(600);
    pane.write(&screen(cli, Some(&rows), true, width));
    pane.wait(600);
    if telling == Telling::BeforeTheEnd {
        hook(&mut pane);
    }
    state(&mut pane, false, Some(message.as_str()).filter(|_| telling != Telling::Nobody));
    pane.write(&screen(cli, Some(&rows), false, width));
    pane.wait(1500);
    if telling == Telling::AfterTheEnd {
        hook(&mut pane);
    }
    pane.wait(8000);
    pane.raws().into_iter().map(str::to_owned).collect()
}

/// Goes through many answers in each cli; in some of them the last block is said.
fn go_through(seed: u64, says: bool) {
    for cli in CLIS {
        let rules = rules(cli);
        let mut maker = Maker(Chance::new(seed));
        for case in 0..CASES {
            // Gemini and aider hand nothing over.
            let has_message = !matches!(cli, "gemini" | "aider") && maker.0.percent(60);
            let is_shown_as_it_is = has_message || cli == "aider";
            let blocks = maker.answer(!is_shown_as_it_is, says);
            let telling = match (has_message, maker.0.percent(50)) {
                (false, _) => Telling::Nobody,
                (true, true) => Telling::BeforeTheEnd,
                (true, false) => Telling::AfterTheEnd,
            };
            let cols = 70 + u16::try_from(maker.0.below(70)).unwrap();
            let wanted = match blocks.last() {
                Some(Block::Said(lines)) if says => lines.clone(),
                _ => Vec::new(),
            };
            let message = written(&blocks);
            let said: Vec<String> = read(&message).into_iter().map(|report| report.raw).collect();
            assert_eq!(said, wanted, "{cli} {case}, in the message:\n{message}");
            let found = told(cli, &rules, &blocks, cols, telling);
            let picture = drawn(cli, &blocks, usize::from(cols)).join("\n");
            assert_eq!(found, wanted, "{cli} {case} {telling:?} {cols}:\n{message}\n{picture}");
        }
    }
}

#[test]
fn lines_that_an_answer_only_shows_count_for_nothing_in_any_cli() {
    go_through(17, false);
}

#[test]
fn lines_that_an_answer_says_count_once_in_any_cli_whatever_it_shows_besides() {
    go_through(71, true);
}

/// The screen rests, and the message of the turn does not come: the hook is broken, or was switched off.
#[test]
fn a_status_whose_message_never_comes_counts_after_a_while() {
    let mut pane = Pane::new(&rules("claude"));
    pane.detector.expect_messages(true);
    for number in 1..=3 {
        let line = format!("STATUS: DONE — part {number}");
        pane.show(&echo(&format!("Part {number}.")), "esc to interrupt");
        pane.show(&format!("● {line}"), "esc to interrupt");
        pane.paint("? for shortcuts");
        pane.wait(1500);
        let is_awaited = number < 3;
        assert_eq!(pane.reports.len() < number, is_awaited, "{number}: {:?}", pane.raws());
        pane.wait(2000);
        assert_eq!(pane.raws().last(), Some(&line.as_str()));
        assert_eq!(pane.detector.shown().state, AgentState::Done);
    }
}

/// The real clis draw such answers; `tests/quotations/README.md` tells of the recordings.
#[test]
fn recorded_answers_count_for_what_they_say() {
    let home = tempfile::tempdir().unwrap();
    for cli in ["claude", "codex", "opencode"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wheelhouse"));
        command.args(["rules", "test", "--json", "--agent", cli]);
        command.arg(format!("tests/quotations/{cli}.cast"));
        for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME"] {
            command.env(variable, home.path());
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found = String::from_utf8(output.stdout).unwrap();
        let found = found.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let reports = found.filter(|found| found["type"] == "report").map(|found| {
            let value = found["value"].as_str().unwrap_or_default().to_uppercase();
            format!("STATUS: {value} — {}", found["text"].as_str().unwrap())
        });
        let said = fs::read_to_string(format!("tests/quotations/{cli}.said")).unwrap();
        assert_eq!(reports.collect::<Vec<_>>(), said.lines().collect::<Vec<_>>(), "{cli}");
    }
}
