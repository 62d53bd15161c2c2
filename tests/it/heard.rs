//! What hooks and calls say beside the screen: believed for as long as it holds, and told once.

use std::sync::Arc;

use proptest::prelude::*;
use wheelhouse::detect::{Detector, HookNews, Options};
use wheelhouse::model::{AgentState, Exit, HookMeaning, Source};
use wheelhouse::protocol::{Report, ReportKind, Status, parse};

use super::acted::{CLAUDE, Pane, SHELL, echo};

const DONE: &str = "STATUS: DONE — built 6 endpoints, tests pass (23/23)";

impl Pane {
    fn hook(&mut self, meaning: HookMeaning, prompt: &str, message: &str) {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (rule, session) = (format!("claude.{meaning}"), None);
        let (prompt, message) = (some(prompt), some(message));
        let news = HookNews { meaning, rule, session, prompt, message };
        let found = self.detector.hook(&news, self.now);
        self.take(found);
    }

    fn call(&mut self, line: &str) {
        let report = parse(line).unwrap();
        let report = Report::declare(report.kind, &report.text).unwrap();
        let found = self.detector.declare(report, self.now);
        self.take(found);
    }

    fn shows(&self) -> (AgentState, Source) {
        (self.detector.shown().state, self.detector.shown().source)
    }

    /// Lets another detector go on, as after a restart of the hub.
    fn restart(&mut self) {
        let memory = serde_json::to_string(&self.detector.memory()).unwrap();
        self.detector = Detector::new(Arc::clone(&CLAUDE), Options::default(), self.now);
        self.detector.remember(serde_json::from_str(&memory).unwrap());
        self.write("");
    }
}

#[test]
fn a_turn_is_told_by_hooks_from_prompt_to_end() {
    let mut pane = Pane::new(&CLAUDE);
    pane.hook(HookMeaning::Prompt, "Go.", "");
    assert_eq!(pane.shows(), (AgentState::Working, Source::Hook), "before anything is drawn");
    pane.show(&echo("Go."), "esc to interrupt");
    assert_eq!(pane.shows(), (AgentState::Working, Source::Hook));
    pane.hook(HookMeaning::Ended, "", "Fine.");
    assert_eq!(pane.shows(), (AgentState::Idle, Source::Hook), "without waiting for the screen");
    pane.paint("? for shortcuts");
    pane.wait(60_000);
    assert_eq!(pane.shows(), (AgentState::Idle, Source::Hook));
    assert_eq!(pane.detector.next_deadline(), None, "nothing is left to wait for");
}

#[test]
fn an_interruption_that_no_hook_tells_of_is_seen_on_the_screen() {
    let mut pane = Pane::new(&CLAUDE);
    pane.hook(HookMeaning::Prompt, "Go.", "");
    pane.show(&echo("Go."), "esc to interrupt");
    pane.show("  ⎿  Interrupted · What should Claude do instead?", "? for shortcuts");
    pane.wait(2000);
    assert_eq!(pane.shows(), (AgentState::Idle, Source::Screen));

    pane.hook(HookMeaning::Prompt, "Go on.", "");
    pane.write("\x1b]7501;state=working:app=claude-code\x1b\\");
    pane.wait(500);
    pane.write("\x1b]7501;state=idle:app=claude-code\x1b\\");
    pane.wait(1000);
    assert_eq!(pane.shows(), (AgentState::Idle, Source::Signal));
}

#[test]
fn a_prompt_that_is_taken_back_before_anything_is_drawn_freezes_nothing() {
    let mut pane = Pane::new(&CLAUDE);
    pane.hook(HookMeaning::Prompt, "Go.", "");
    pane.wait(30_000);
    assert_eq!(pane.shows(), (AgentState::Idle, Source::Screen));
}

#[test]
fn an_agent_that_is_sent_on_at_its_end_is_shown_at_work() {
    let mut pane = Pane::new(&CLAUDE);
    pane.show(&echo("Go."), "esc to interrupt");
    pane.hook(HookMeaning::Ended, "", "Fine.");
    assert_eq!(pane.shows().0, AgentState::Idle);
    for _ in 0..20 {
        pane.show("● More.", "esc to interrupt");
    }
    assert_eq!(pane.shows(), (AgentState::Working, Source::Screen));
}

#[test]
fn text_that_streams_contradicts_a_hook_only_if_it_goes_on() {
    let mut pane = Pane::new(&CLAUDE);
    pane.hook(HookMeaning::Prompt, "Go.", "");
    pane.write("\x1b[2J\x1b[H");
    pane.wait(500);
    pane.hook(HookMeaning::Asks, "", "");
    for word in 0..8 {
        pane.write(&format!("word {word}\r\n"));
        pane.wait(250);
        assert_eq!(pane.shows(), (AgentState::Waiting, Source::Hook), "{word}");
    }
    for word in 0..20 {
        pane.write(&format!("more {word}\r\n"));
        pane.wait(250);
    }
    assert_eq!(pane.shows(), (AgentState::Working, Source::Screen));
}

#[test]
fn a_question_is_on_loan_until_the_dialog_goes() {
    let dialog = "\n● Bash(mkdir x)\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n";
    let mut pane = Pane::new(&CLAUDE);
    pane.show(&echo("Go."), "esc to interrupt");
    pane.hook(HookMeaning::Asks, "", "");
    assert_eq!(pane.shows(), (AgentState::Waiting, Source::Hook));
    pane.write(&format!("\x1b[2J\x1b[H{}\r\n Esc to cancel", dialog.replace('\n', "\r\n")));
    pane.wait(20_000);
    assert_eq!(pane.shows(), (AgentState::Waiting, Source::Screen));
    pane.paint("esc to interrupt");
    pane.wait(500);
    assert_eq!(pane.shows(), (AgentState::Working, Source::Screen));

    // A rule of the cli has answered it before anyone could see it.
    pane.hook(HookMeaning::Asks, "", "");
    pane.wait(10_000);
    assert_eq!(pane.shows(), (AgentState::Working, Source::Screen));
}

#[test]
fn a_failure_is_shown_until_the_next_turn() {
    let mut pane = Pane::new(&CLAUDE);
    pane.hook(HookMeaning::Prompt, "Go.", "");
    pane.show(&echo("Go."), "esc to interrupt");
    pane.hook(HookMeaning::Failed, "", "API Error: 529");
    pane.paint("? for shortcuts");
    pane.wait(30_000);
    assert_eq!(pane.shows(), (AgentState::Error, Source::Hook));
    pane.show(&echo("Again."), "esc to interrupt");
    pane.paint("? for shortcuts");
    pane.wait(3000);
    assert_eq!(pane.shows(), (AgentState::Idle, Source::Screen));
}

#[test]
fn a_report_counts_once_whether_the_hook_or_the_screen_is_first() {
    for is_hook_first in [true, false] {
        let mut pane = Pane::new(&CLAUDE);
        for prompt in ["One.", "Two.", "Two."] {
            let answer = format!("● All is built.\n\n  {DONE}");
            pane.hook(HookMeaning::Prompt, prompt, "");
            pane.show(&echo(prompt), "esc to interrupt");
            pane.show(&answer, "esc to interrupt");
            let message = format!("All is **built**.\n\n{DONE}");
            if is_hook_first {
                pane.hook(HookMeaning::Ended, "", &message);
                pane.hook(HookMeaning::Ended, "", &message);
            }
            pane.paint("? for shortcuts");
            pane.wait(3000);
            if !is_hook_first {
                pane.hook(HookMeaning::Ended, "", &message);
            }
            pane.wait(3000);
            assert_eq!(pane.shows().0, AgentState::Done);
        }
        assert_eq!(pane.raws(), [DONE; 3], "hook first: {is_hook_first}");
    }
}

#[test]
fn a_call_and_the_line_of_the_same_words_are_one_report() {
    let mut pane = Pane::new(&CLAUDE);
    pane.show(&echo("Go."), "esc to interrupt");
    pane.call("STATUS: DONE — six endpoints + 12 tests pass");
    assert_eq!(pane.shows().0, AgentState::Working, "its turn goes on");
    pane.show("● STATUS: DONE — six endpoints", "esc to interrupt");
    pane.paint("? for shortcuts");
    pane.wait(3000);
    assert_eq!(pane.raws(), ["STATUS: DONE — six endpoints + 12 tests pass"]);
    assert_eq!(pane.shows(), (AgentState::Done, Source::Report));
    // What is said in the next turn is said anew.
    pane.turn("Again.", "● STATUS: DONE — six endpoints");
    assert_eq!(pane.reports.len(), 2);
    assert_eq!(pane.shows(), (AgentState::Done, Source::Line));
}

#[test]
fn a_call_decides_where_nothing_else_is_known() {
    let mut pane = Pane::new(&SHELL);
    pane.call("STATUS: BLOCKED — a key");
    pane.write("accepted: STATUS: BLOCKED — a key\r\n");
    pane.wait(10_000);
    assert_eq!(pane.shows(), (AgentState::Blocked, Source::Report));
}

#[test]
fn last_words_count() {
    let mut pane = Pane::new(&CLAUDE);
    pane.show(&echo("Go."), "esc to interrupt");
    pane.show(&format!("● {DONE}"), "esc to interrupt");
    assert_eq!(pane.raws(), [""; 0]);
    let found = pane.detector.process_exited(Exit::Code(0), &pane.screen, pane.now);
    pane.take(found);
    assert_eq!(pane.raws(), [DONE]);
    assert_eq!(pane.shows().0, AgentState::Exited);
}

#[test]
fn a_detector_that_goes_on_shows_what_the_last_one_showed() {
    let mut pane = Pane::new(&CLAUDE);
    pane.turn("Go.", &format!("● {DONE}"));
    pane.restart();
    pane.wait(3000);
    assert_eq!(pane.shows(), (AgentState::Done, Source::Line));
    assert_eq!(pane.raws(), [DONE]);
}

#[test]
fn what_a_hook_last_said_outlives_the_detector_until_the_screen_contradicts_it() {
    let mut pane = Pane::new(&CLAUDE);
    pane.show(&echo("Go."), "esc to interrupt");
    pane.hook(HookMeaning::Prompt, "Go.", "");
    let written = pane.detector.changes();
    pane.hook(HookMeaning::Prompt, "Go.", "");
    assert_eq!(pane.detector.changes(), written, "what is repeated is not written again");
    pane.restart();
    pane.wait(60_000);
    assert_eq!(pane.shows(), (AgentState::Working, Source::Hook));

    let before = pane.detector.changes();
    pane.paint("? for shortcuts");
    pane.wait(2000);
    assert_eq!(pane.shows(), (AgentState::Idle, Source::Screen));
    assert_ne!(pane.detector.changes(), before, "that it holds no longer is written down");
    pane.restart();
    pane.wait(2000);
    assert_eq!(pane.shows(), (AgentState::Idle, Source::Screen), "it does not come back");
}

#[test]
fn what_a_hook_said_is_dropped_where_a_later_word_may_have_been_missed() {
    let mut pane = Pane::new(&CLAUDE);
    pane.show(&echo("Go."), "esc to interrupt");
    pane.hook(HookMeaning::Asks, "", "");
    assert_eq!(pane.shows(), (AgentState::Waiting, Source::Hook));
    pane.restart();
    let before = pane.detector.changes();
    pane.detector.forget_claim();
    assert_ne!(pane.detector.changes(), before, "the next hub must not find it again");
    pane.paint("esc to interrupt");
    pane.wait(2000);
    assert_eq!(pane.shows(), (AgentState::Working, Source::Screen));
}

#[test]
fn the_hook_of_a_prompt_that_the_hub_submitted_is_no_second_prompt() {
    let mut pane = Pane::new(&CLAUDE);
    pane.detector.prompt_submitted("Build it.\nReport.", Some("k7f3"), pane.now);
    pane.hook(HookMeaning::Prompt, "Build it. Report. ", "");
    pane.show(&echo("Build it."), "esc to interrupt");
    pane.show("● STATUS(zzzz): DONE — another's", "esc to interrupt");
    pane.hook(HookMeaning::Ended, "", "STATUS(zzzz): DONE — another's");
    pane.paint("? for shortcuts");
    pane.wait(3000);
    assert_eq!((pane.reports.len(), pane.foreign), (0, 2), "its tag is known");

    // The same words again, typed by a person, are another prompt.
    pane.hook(HookMeaning::Prompt, "Build it.\nReport.", "");
    pane.show(&echo("Build it."), "esc to interrupt");
    pane.show(&format!("● {DONE}"), "esc to interrupt");
    pane.hook(HookMeaning::Ended, "", DONE);
    pane.paint("? for shortcuts");
    pane.wait(3000);
    assert_eq!(pane.raws(), [DONE]);
}

#[test]
fn a_prompt_whose_echo_is_late_or_never_comes_repeats_nothing() {
    let mut pane = Pane::new(&CLAUDE);
    pane.turn("Go.", &format!("● {DONE}"));
    pane.hook(HookMeaning::Prompt, "Go on.", "");
    for _ in 0..5 {
        pane.paint("esc to interrupt");
        pane.wait(300);
    }
    // It is interrupted, and its prompt goes back into the box.
    pane.paint("? for shortcuts");
    pane.wait(3000);
    assert_eq!(pane.raws(), [DONE]);
    assert_eq!(pane.shows().0, AgentState::Idle);
}

/// What happens in a turn, in some order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A line appears in the agent's message.
    Line,
    /// The agent calls us with the next of its lines that it has not called with.
    Call,
    Restart,
    Pause,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Line), 2 => Just(Step::Call), 1 => Just(Step::Restart), 1 => Just(Step::Pause)
    ]
}

fn lines() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..4_usize, 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Screen, calls, the hook's message and restarts in any order: each report is told once.
    #[test]
    fn each_report_once_whatever_sees_it_and_whenever(
        turns in prop::collection::vec((lines(), prop::collection::vec(step(), 0..10), any::<bool>(), any::<bool>()), 1..4),
    ) {
        const SAID: [&str; 4] = ["BUILD: PASS", "BUILD: FAIL — 2 errors in api", "PROGRESS: [1/2] — the first", DONE];
        let mut pane = Pane::new(&CLAUDE);
        let mut expected: Vec<&str> = Vec::new();
        for (number, (said, steps, has_hooks, hook_is_first)) in turns.into_iter().enumerate() {
            let prompt = format!("Task {number}.");
            let said: Vec<&str> = said.into_iter().map(|at| SAID[at]).collect();
            if has_hooks && hook_is_first {
                pane.hook(HookMeaning::Prompt, &prompt, "");
            }
            pane.show(&echo(&prompt), "esc to interrupt");
            if has_hooks && !hook_is_first {
                pane.hook(HookMeaning::Prompt, &prompt, "");
            }
            pane.show("● I report.", "esc to interrupt");
            let (mut drawn, mut called) = (0, 0);
            for step in steps {
                match step {
                    Step::Line if drawn < said.len() => {
                        pane.show(&format!("\n  {}", said[drawn]), "esc to interrupt");
                        drawn += 1;
                    }
                    Step::Call if called < said.len() => {
                        pane.call(said[called]);
                        called += 1;
                    }
                    Step::Restart => pane.restart(),
                    Step::Line | Step::Call | Step::Pause => pane.wait(700),
                }
            }
            for line in &said[drawn..] {
                pane.show(&format!("\n  {line}"), "esc to interrupt");
            }
            let message = format!("I report.\n\n{}", said.join("\n\n"));
            if has_hooks && hook_is_first {
                pane.hook(HookMeaning::Ended, "", &message);
            }
            pane.paint("? for shortcuts");
            pane.wait(3000);
            if has_hooks && !hook_is_first {
                pane.hook(HookMeaning::Ended, "", &message);
                pane.wait(3000);
            }
            expected.extend(said);
            let mut told = pane.raws();
            let mut wanted = expected.clone();
            told.sort_unstable();
            wanted.sort_unstable();
            prop_assert_eq!(told, wanted, "turn {}", number);
        }
    }
}

#[test]
fn a_status_from_a_call_has_the_form_of_a_line() {
    let report = Report::declare(ReportKind::Status(Status::Done), "x").unwrap();
    assert_eq!(parse(&report.raw), Some(report));
}
