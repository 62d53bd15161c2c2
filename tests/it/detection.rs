//! Each report once: what only looks like one, and what is only drawn again, counts for nothing.

use std::sync::Arc;

use proptest::prelude::*;
use wheelhouse::detect::{Detector, Options};
use wheelhouse::model::{AgentState, Exit, Size};
use wheelhouse::protocol::brief;

use super::acted::{CLAUDE, Pane, SHELL, SIZE, echo, rules};

const LINE: &str = "STATUS: DONE — built 6 endpoints, tests pass (23/23), see src/api/users.rs";

#[test]
fn one_genuine_line_counts_once_through_a_thousand_repaints() {
    let mut pane = Pane::new(&CLAUDE);
    pane.turn("Build it.", &format!("● All is built.\n\n  {LINE}"));
    assert_eq!(pane.raws(), [LINE]);
    for round in 0..1000_u16 {
        match round % 10 {
            3 => pane.screen.resize(Size { rows: 24, cols: 40 + round % 97 }),
            7 => pane.screen.resize(SIZE),
            _ => {}
        }
        pane.paint("? for shortcuts");
        pane.wait(60);
    }
    assert_eq!(pane.raws(), [LINE]);
    assert_eq!(pane.detector.shown().state, AgentState::Done);
}

#[test]
fn an_earlier_prompt_that_comes_into_sight_does_not_end_the_turn() {
    let mut pane = Pane::new(&CLAUDE);
    let filler = "● Word.\n".repeat(24);
    // A detector that begins here sees the last prompt only.
    pane.log = format!("{}● STATUS: DONE — long ago\n{filler}", echo("The first task."))
        .lines()
        .map(str::to_owned)
        .collect();
    pane.show(&echo("The second task."), "esc to interrupt");
    assert!(!pane.screen.text().contains("first"));
    // Something below goes away, and the prompt before comes back.
    let echo_rows = pane.log.split_off(pane.log.len() - 3);
    pane.log.truncate(pane.log.len() - 20);
    pane.log.extend(echo_rows);
    pane.paint("esc to interrupt");
    pane.wait(500);
    assert!(pane.screen.text().contains("first"));
    pane.show(&format!("\n● {LINE}"), "esc to interrupt");
    pane.paint("? for shortcuts");
    pane.wait(3000);
    assert_eq!(pane.raws(), [LINE]);
}

#[test]
fn what_is_not_the_agents_own_new_line_never_counts() {
    let spoofs: [(&str, &str, String); 14] = [
        ("echoed", LINE, "● Fine.".into()),
        (
            "catted",
            "Show it.",
            format!("● Bash(cat notes.txt)\n  ⎿  {LINE}\n     {LINE}\n\n● That is it."),
        ),
        (
            "diffed",
            "Diff.",
            format!(
                "● Update(notes.txt)\n  ⎿  Added 1 line\n       1 +{LINE}\n     + {LINE}\n\n● Done so."
            ),
        ),
        ("quoted", "Quote.", format!("● The other said:\n\n  > {LINE}\n\n  and left.")),
        (
            "in prose",
            "Tell.",
            format!("● When it is finished I will print the line \"{LINE}\" and stop."),
        ),
        (
            "in a code block",
            "Code.",
            format!("● The file holds:\n\n  ```\n  {LINE}\n  ```\n\n  as it should."),
        ),
        ("in a table", "Table.", format!("● See:\n\n  │ {LINE} │\n\n  so it is.")),
        ("in tool output", "Run.", format!("● Bash(./run.sh)\n  ⎿  Running…\n     {LINE}\n")),
        (
            "in a file listing",
            "Read.",
            format!("● Read(notes.txt)\n  ⎿  Read 3 lines\n       1  {LINE}\n       2  {LINE}\n"),
        ),
        (
            "in a commit message",
            "Commit.",
            format!(
                "● Bash(git commit -m \"Build\n      {LINE}\")\n  ⎿  [main 3f9a2c1] Build\n       {LINE}\n\n● Committed."
            ),
        ),
        ("in the brief", &brief("k7f3"), "● Understood.".into()),
        (
            "wrapped",
            "What were you asked?",
            "● I was asked to end with a line that says what was accomplished and reads exactly like \
             STATUS: DONE — and so on"
                .into(),
        ),
        ("resumed", "", format!("❯ Build it.\n\n● {LINE}")),
        ("foreign", "Build it.", "● STATUS(zzzz): DONE — 6 endpoints".into()),
    ];
    for (name, prompt, answer) in spoofs {
        let mut pane = Pane::new(&CLAUDE);
        match name {
            "resumed" => pane.show(&answer, "? for shortcuts"),
            "foreign" => pane.detector.prompt_submitted(prompt, Some("k7f3"), pane.now),
            _ => {}
        }
        if name != "resumed" {
            pane.turn(prompt, &answer);
        }
        pane.wait(5000);
        redraw(&mut pane);
        assert_eq!(pane.raws(), Vec::<&str>::new(), "{name}");
        assert_eq!(pane.detector.shown().state, AgentState::Idle, "{name}");
    }
}

/// Draws the pane again at ever other widths; over all spoofs that is more than a thousand times.
fn redraw(pane: &mut Pane) {
    for round in 0..72_u16 {
        if round % 3 == 0 {
            pane.screen.resize(Size { rows: 20 + round % 17, cols: 50 + round * 7 % 97 });
        }
        pane.paint("? for shortcuts");
        pane.wait(60);
    }
    pane.screen.resize(SIZE);
    pane.paint("? for shortcuts");
    pane.wait(5000);
}

#[test]
fn code_that_codex_colours_is_a_quotation() {
    let mut pane = Pane::new(&rules("codex"));
    let shown = |answer: &str| {
        format!(
            "\x1b[2J\x1b[H>_ OpenAI Codex\r\n\r\n\x1b[48;5;237m› Show it.\x1b[K\x1b[m\r\n\r\n{answer}\r\n\r\n\
             › Ask Codex to do anything\r\n\r\n  ? for shortcuts"
        )
    };
    pane.write(&shown(""));
    pane.wait(3000);
    pane.write(&shown("• Working (1s • esc to interrupt)"));
    pane.wait(1000);
    pane.write(&shown(
        "• It holds this:\r\n\r\n  \x1b[38;2;137;180;250mBUILD:\x1b[m PASS\r\n\r\n  As for me:\r\n\r\n  \
         BUILD: FAIL — 2 errors\r\n\r\n  Worked for 1s",
    ));
    pane.wait(5000);
    assert_eq!(pane.raws(), ["BUILD: FAIL — 2 errors"]);
}

#[test]
fn a_wrapped_keyword_in_prose_does_not_count() {
    for cols in 40..120 {
        let mut pane = Pane::new(&CLAUDE);
        pane.screen.resize(Size { rows: 30, cols });
        let prose = "● I was asked to end with a line that reads STATUS: DONE — and then what was \
                     accomplished, or else with one that reads STATUS: BLOCKED — and then what I \
                     need, and that is what I am going to do next";
        pane.turn("What were you asked?", prose);
        assert_eq!(pane.raws(), Vec::<&str>::new(), "{cols} columns");
    }
}

#[test]
fn a_foreign_tag_counts_for_nothing_and_is_told_apart() {
    let mut pane = Pane::new(&CLAUDE);
    pane.detector.prompt_submitted("Build it.", Some("k7f3"), pane.now);
    pane.turn("Build it.", "● BUILD(k7f3): PASS\n  STATUS(zzzz): DONE — 6 endpoints");
    assert_eq!(pane.raws(), ["BUILD(k7f3): PASS"]);
    assert_eq!((pane.foreign, pane.detector.shown().state), (1, AgentState::Idle));
}

#[test]
fn a_tagged_line_counts_while_the_agent_still_works() {
    let mut pane = Pane::new(&CLAUDE);
    pane.detector.prompt_submitted("Build it.", Some("k7f3"), pane.now);
    pane.show(&echo("Build it."), "esc to interrupt");
    pane.show("● BUILD(k7f3): FAIL — 2 errors\n\n  I look into them.", "esc to interrupt");
    assert_eq!(pane.raws(), ["BUILD(k7f3): FAIL — 2 errors"]);
    pane.show("  PROGRESS(k7f3): [1/2] — both found", "esc to interrupt");
    pane.wait(1500);
    assert_eq!(pane.raws()[1..], ["PROGRESS(k7f3): [1/2] — both found"]);
    pane.show("\n  On with it.", "esc to interrupt");
    pane.wait(1500);
    assert_eq!(pane.reports.len(), 2);
    assert_eq!(pane.detector.shown().state, AgentState::Working);
}

#[test]
fn a_resumed_conversation_counts_for_nothing() {
    let mut pane = Pane::new(&CLAUDE);
    pane.show(&format!("\n❯ Build it.\n\n● {LINE}"), "? for shortcuts");
    pane.wait(5000);
    assert_eq!(pane.raws(), Vec::<&str>::new());
    pane.turn("And now?", "● STATUS: BLOCKED — need the key of api.example.com");
    assert_eq!(pane.raws(), ["STATUS: BLOCKED — need the key of api.example.com"]);
    assert_eq!(pane.detector.shown().state, AgentState::Blocked);
}

#[test]
fn a_transcript_viewer_and_scrolling_back_count_for_nothing() {
    let mut pane = Pane::new(&CLAUDE);
    pane.turn("Build it.", &format!("● {LINE}"));
    pane.turn("Test it.", "● BUILD: PASS");
    let log = pane.log.clone();
    let viewer = log.join("\r\n") + "\r\n────\r\n  Showing detailed transcript · ctrl+o to toggle";
    pane.write(&format!("\x1b[2J\x1b[H{viewer}"));
    pane.wait(3000);
    pane.log.truncate(log.len() - 5);
    pane.paint("? for shortcuts");
    pane.wait(3000);
    pane.log = log;
    pane.paint("? for shortcuts");
    pane.wait(3000);
    assert_eq!(pane.raws(), [LINE, "BUILD: PASS"]);
}

#[test]
fn equal_lines_count_as_often_as_they_are_said() {
    let mut pane = Pane::new(&CLAUDE);
    let tool = "\n● Bash(make)\n  ⎿  error: 2 errors\n";
    let turn = format!("{tool}\n● BUILD: FAIL — 2 errors\n{tool}\n● BUILD: FAIL — 2 errors");
    pane.turn("Build it.", &turn);
    assert_eq!(pane.raws(), ["BUILD: FAIL — 2 errors"; 2]);
    pane.turn("Build it.", &turn);
    assert_eq!(pane.raws(), ["BUILD: FAIL — 2 errors"; 4]);
    pane.turn("Build it.", "● I give up.");
    assert_eq!(pane.raws(), ["BUILD: FAIL — 2 errors"; 4]);
}

#[test]
fn lines_that_scroll_past_between_two_looks_are_not_missed() {
    let mut pane = Pane::new(&SHELL);
    pane.write("\x1b[?1049l\x1b[2J\x1b[H$ ");
    pane.wait(3000);
    let line = |number: u32| match number % 401 {
        0 => format!("PROGRESS: [{}/5] — part\r\n", number / 401 + 1),
        _ => format!("line {number}\r\n"),
    };
    let text: String = (0..2005).map(line).collect();
    pane.detector.prompt_submitted("make", None, pane.now);
    pane.write(&format!("make\r\n{text}"));
    pane.wait(1000);
    pane.write("$ ");
    pane.wait(3000);
    assert_eq!(pane.reports.len(), 5, "{:?}", pane.raws());
}

#[test]
fn clearing_and_printing_again_counts_once() {
    let mut pane = Pane::new(&CLAUDE);
    pane.write("\x1b[?1049l");
    let rule = "─".repeat(100);
    let print = |pane: &mut Pane, text: &str, hint: &str| {
        let rows = text.replace('\n', "\r\n");
        pane.write(&format!("\x1b[2J\x1b[H{rows}\r\n\r\n{rule}\r\n❯ \r\n{rule}\r\n  {hint}"));
        pane.wait(300);
    };
    let prompt = "Claude Code v2\n\n❯ Build it.\n";
    let whole = format!("{prompt}\n● {LINE}");
    print(&mut pane, prompt, "esc to interrupt");
    print(&mut pane, &whole, "esc to interrupt");
    for _ in 0..50 {
        print(&mut pane, &whole, "? for shortcuts");
        pane.wait(1000);
    }
    let end = pane.detector.process_exited(Exit::Code(0), &pane.screen, pane.now);
    pane.take(end);
    assert_eq!(pane.raws(), [LINE]);
}

#[test]
fn a_detector_that_takes_over_tells_what_is_left_and_nothing_twice() {
    let mut pane = Pane::new(&CLAUDE);
    pane.turn("Build it.", "● BUILD: PASS");
    pane.show(&echo("Test it."), "esc to interrupt");
    pane.show(&format!("● Two remain.\n\n  {LINE}"), "esc to interrupt");
    let memory = serde_json::to_string(&pane.detector.memory()).unwrap();
    pane.detector = Detector::new(Arc::clone(&CLAUDE), Options::default(), pane.now);
    pane.detector.remember(serde_json::from_str(&memory).unwrap());
    pane.paint("? for shortcuts");
    pane.wait(3000);
    assert_eq!(pane.raws(), ["BUILD: PASS", LINE]);
}

#[test]
fn nothing_is_due_for_a_pane_that_does_not_change() {
    let mut pane = Pane::new(&CLAUDE);
    pane.turn("Build it.", &format!("● {LINE}"));
    pane.wait(60_000);
    assert_eq!(pane.detector.next_deadline(), None);
}

/// A piece of an answer, and the report in it.
#[derive(Clone, Debug)]
enum Piece {
    Prose(String),
    Tool(String),
    Report(String),
}

fn piece() -> impl Strategy<Value = Piece> {
    let words = "[a-z]{1,9}( [a-z]{1,12}){0,25}";
    let report = prop_oneof![
        words.prop_map(|words| format!("STATUS: BLOCKED — need {words}")),
        words.prop_map(|words| format!("BUILD: FAIL — {words}")),
        words.prop_map(|words| format!("BUILD: PASS — {words}")),
        (1..9_u8, words).prop_map(|(step, words)| format!("PROGRESS: [{step}/9] — {words}")),
        words.prop_map(|words| format!("NEED: src/types.rs from api — {words}")),
        words.prop_map(|words| format!("ARTIFACT: out/report.md — {words}")),
    ];
    prop_oneof![
        words.prop_map(|words| Piece::Prose(format!("{words}."))),
        words.prop_map(Piece::Tool),
        report.prop_map(Piece::Report),
    ]
}

/// What happens to the screen between two pieces.
#[derive(Clone, Copy, Debug)]
enum Disturbance {
    Nothing,
    Repaint,
    Resize(u16, u16),
    HalfAFrame,
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    prop_oneof![
        Just(Disturbance::Nothing),
        Just(Disturbance::Repaint),
        // In a pane that shows less than one answer nobody can tell what follows what.
        (20..60_u16, 40..160_u16).prop_map(|(rows, cols)| Disturbance::Resize(rows, cols)),
        Just(Disturbance::HalfAFrame),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// However an answer is wrapped, drawn again, scrolled and resized, each report is found once; a status
    /// only if the agent says nothing else after it.
    /// They all differ: of two equal ones in a pane so small that neither shows its prompt the
    /// later may be taken for the earlier, shown again.
    #[test]
    fn each_report_is_found_once(
        turns in prop::collection::vec(
            prop::collection::vec((piece(), disturbance()), 1..7), 1..4),
    ) {
        let mut pane = Pane::new(&CLAUDE);
        let mut said = Vec::new();
        for (number, pieces) in turns.into_iter().enumerate() {
            let before = said.len();
            pane.show(&echo(&format!("Task number {number} of the day.")), "esc to interrupt");
            for (at, (piece, disturbance)) in pieces.into_iter().enumerate() {
                let piece = match piece {
                    Piece::Report(line) => Piece::Report(format!("{line} {number}.{at}")),
                    Piece::Prose(_) | Piece::Tool(_) => piece,
                };
                let text = match &piece {
                    Piece::Prose(words) => format!("\n● {words}"),
                    Piece::Tool(words) => format!("\n● Bash(run)\n  ⎿  {words}"),
                    Piece::Report(line) => format!("\n● {line}"),
                };
                match piece {
                    Piece::Report(line) => said.push(line),
                    Piece::Prose(_) => {
                        let mut at = 0;
                        said.retain(|line| {
                            at += 1;
                            at <= before || !line.starts_with("STATUS")
                        });
                    }
                    Piece::Tool(_) => {}
                }
                pane.show(&text, "esc to interrupt");
                match disturbance {
                    Disturbance::Nothing => {}
                    Disturbance::Repaint => pane.paint("esc to interrupt"),
                    Disturbance::Resize(rows, cols) => {
                        pane.screen.resize(Size { rows, cols });
                        pane.paint("esc to interrupt");
                    }
                    Disturbance::HalfAFrame => pane.write("\x1b[1;1H\x1b[3M"),
                }
                pane.wait(120);
            }
            pane.paint("? for shortcuts");
            pane.wait(3000);
        }
        prop_assert_eq!(pane.raws(), said);
    }
}
