//! A prompt on its way into a terminal: it is submitted at most once, and what is said of it is
//! true, whatever the program does.

use std::time::Duration;

use wheelhouse::deliver::{Delivery, DeliveryStage, OutgoingPrompt, recover};
use wheelhouse::model::{AgentState, Moment, Source};
use wheelhouse::screen::Signal;

use super::played::{BOXES, Played, Shape};

const PROMPT: &str = "Build the login page, and say when it is done.";

fn letter(text: &str) -> OutgoingPrompt {
    OutgoingPrompt { text: text.to_owned(), tag: None, is_command: false }
}

pub(crate) fn delivery(played: &Played, text: &str) -> Delivery {
    Delivery::begin(&letter(text), &played.manifest.submit, &played.scene(), played.now)
}

pub(crate) fn deliver(played: &mut Played, text: &str) -> Vec<DeliveryStage> {
    let mut delivery = delivery(played, text);
    played.run(&mut delivery)
}

/// Returns the names of the stages, and the words of the last one.
fn told(stages: &[DeliveryStage]) -> (Vec<&'static str>, String) {
    let name = |stage: &DeliveryStage| match stage {
        DeliveryStage::Typed { .. } => "typed",
        DeliveryStage::Seen => "seen",
        DeliveryStage::Submitted => "submitted",
        DeliveryStage::Accepted { .. } => "accepted",
        DeliveryStage::Refused { .. } => "refused",
        DeliveryStage::Stalled { .. } => "stalled",
        DeliveryStage::Unknown { .. } => "unknown",
    };
    let words = match stages.last() {
        Some(
            DeliveryStage::Accepted { evidence: words }
            | DeliveryStage::Refused { reason: words }
            | DeliveryStage::Stalled { reason: words }
            | DeliveryStage::Unknown { reason: words },
        ) => words.clone(),
        Some(DeliveryStage::Typed { .. } | DeliveryStage::Seen | DeliveryStage::Submitted)
        | None => String::new(),
    };
    (stages.iter().map(name).collect(), words)
}

#[track_caller]
pub(crate) fn ends(stages: &[DeliveryStage], names: &[&str], part: &str) {
    let (found, words) = told(stages);
    assert_eq!(found, names, "{stages:?}");
    assert!(words.contains(part), "`{part}` in `{words}`");
}

pub(crate) const WHOLE: [&str; 4] = ["typed", "seen", "submitted", "accepted"];

#[test]
fn a_prompt_is_typed_seen_submitted_once_and_accepted() {
    let long: Vec<String> = (1..30).map(|line| format!("- rule {line}: keep it short")).collect();
    let long = long.join("\n");
    let wide = "Read every word of this. ".repeat(40);
    for shape in BOXES {
        for text in [PROMPT, "go", "?!", "Two lines:\n\tone\n\ntwo", &long, &wide] {
            let mut played = Played::new(shape);
            let stages = deliver(&mut played, text);
            ends(&stages, &WHOLE, "");
            let text = text.trim_end();
            // A sign of its own at the beginning gets a blank before it.
            let taken: Vec<&str> = played.taken.iter().map(|taken| taken.trim_start()).collect();
            assert_eq!(taken, [text], "{shape:?}");
            assert_eq!(played.presses(), 1);
            let typed = String::from_utf8(played.typed()).unwrap();
            let inner = typed.strip_prefix("\x1b[200~").unwrap().strip_suffix("\x1b[201~").unwrap();
            assert_eq!(inner.trim_start(), text);
        }
    }
}

#[test]
fn enter_is_pressed_once_more_and_never_a_third_time() {
    for shape in BOXES {
        let mut played = Played::new(shape);
        played.manners.newlines = 1;
        ends(&deliver(&mut played, PROMPT), &WHOLE, "");
        assert_eq!((played.presses(), played.taken.len()), (2, 1), "{shape:?}");

        let mut played = Played::new(shape);
        played.manners.newlines = usize::MAX;
        let stages = deliver(&mut played, PROMPT);
        ends(&stages, &["typed", "seen", "submitted", "stalled"], "still stands there");
        assert!(told(&stages).1.contains("Build the login page"), "{stages:?}");
        assert_eq!(played.presses(), 2);
        assert_eq!(played.typed().len(), PROMPT.len() + 12);
    }
}

#[test]
fn nothing_is_typed_into_a_dialog_or_a_screen_that_nobody_knows() {
    for shape in BOXES {
        let mut played = Played::new(shape);
        played.ask("rm -rf out", &["Yes", "Allow always", "No"]);
        // The detector has not even looked yet.
        ends(&deliver(&mut played, PROMPT), &["refused"], "a dialog is open");
        played.pass(1000);
        ends(&deliver(&mut played, PROMPT), &["refused"], "a dialog is open");

        let mut played = Played::new(shape);
        played.write("\x1b[2J\x1b[HSegmentation fault\r\n# ");
        ends(&deliver(&mut played, PROMPT), &["refused"], "");
        assert!(played.writes.is_empty(), "{shape:?}");
    }
}

#[test]
fn an_agent_that_is_not_free_gets_nothing() {
    for shape in BOXES {
        let mut played = Played::new(shape);
        played.works_until = Some(played.now + Duration::from_mins(1));
        played.conversation.push("Before.".into());
        played.redraw();
        ends(&deliver(&mut played, PROMPT), &["refused"], "is working");
        assert!(played.writes.is_empty());
    }
    let mut played = Played::new(Shape::Claude);
    let found = played.detector.claim(Source::Process, AgentState::Exited, "x", "", played.now);
    assert_eq!(found.len(), 1);
    ends(&deliver(&mut played, PROMPT), &["refused"], "has ended");
}

#[test]
fn what_someone_left_in_the_box_is_not_sent_along() {
    for shape in BOXES {
        let mut played = Played::new(shape);
        played.composer = "half a thou".into();
        played.redraw();
        played.pass(1000);
        ends(&deliver(&mut played, PROMPT), &["refused"], "typed there already: `half a thou`");
        assert!(played.writes.is_empty(), "{shape:?}");
    }
}

#[test]
fn a_dialog_that_comes_in_between_stops_everything() {
    let options = ["Yes", "Allow always", "No"];
    for shape in BOXES {
        // Between the text and Enter.
        let mut played = Played::new(shape);
        played.later(60, move |played| played.ask("update itself", &options));
        let stages = deliver(&mut played, PROMPT);
        ends(&stages, &["typed", "seen", "stalled"], "not submitted: a dialog is open");
        assert_eq!((played.presses(), played.chosen.len()), (0, 0), "{shape:?}");

        // Right after Enter, with no sign that the prompt was taken.
        let mut played = Played::new(shape);
        played.manners.newlines = usize::MAX;
        played.later(1500, move |played| played.ask("update itself", &options));
        let stages = deliver(&mut played, PROMPT);
        ends(&stages, &["typed", "seen", "submitted", "unknown"], "a dialog is open");
        assert_eq!((played.presses(), played.chosen.len()), (1, 0), "{shape:?}");

        // In answer to the prompt: its echo stands above.
        let mut played = Played::new(shape);
        played.manners.work_ms = 10;
        played.later(1, |played| played.manners.echo_ms = 400);
        played.later(1500, move |played| played.ask("cargo build", &options));
        ends(&deliver(&mut played, PROMPT), &WHOLE, "");
        assert_eq!(played.chosen.len(), 0);
    }
}

#[test]
fn a_paste_that_is_cut_off_is_closed() {
    let mut played = Played::new(Shape::Claude);
    let mut delivery = delivery(&played, &"x".repeat(100_000));
    let mut acts = delivery.observe(&played.scene(), played.now);
    delivery.note_recorded(played.now);
    acts.extend(delivery.observe(&played.scene(), played.now));
    acts.extend(delivery.observe(&played.scene(), played.now));
    assert_eq!(acts.len(), 3);
    played.ask("update itself", &["Yes", "No"]);
    let acts = delivery.observe(&played.scene(), played.now);
    let [
        wheelhouse::deliver::PaneAction::Write(end),
        wheelhouse::deliver::PaneAction::Stage(stage),
    ] = acts.as_slice()
    else {
        panic!("{acts:?}")
    };
    assert_eq!(end, b"\x1b[201~");
    let DeliveryStage::Stalled { reason } = stage else { panic!("{stage:?}") };
    assert!(reason.starts_with("16384 of 100012 bytes were typed, then a dialog"), "{reason}");
}

#[test]
fn a_long_prompt_arrives_whole_in_pieces_and_only_as_there_is_room() {
    fn toggle(played: &mut Played) {
        played.has_room = !played.has_room;
        played.later(35, toggle);
    }
    let lines: Vec<String> = (0..20_000).map(|n| format!("{n} äöü €")).collect();
    let text = lines.join("\n");
    let text = text.as_str();
    assert!(text.len() > 200_000);
    let mut played = Played::new(Shape::Gemini);
    played.later(5, toggle);
    ends(&deliver(&mut played, text), &WHOLE, "");
    assert!(played.writes.iter().all(|write| write.len() <= 8 * 1024));
    assert_eq!(played.taken, [text]);

    let mut played = Played::new(Shape::Gemini);
    played.has_room = false;
    ends(&deliver(&mut played, text), &["refused"], "does not read");
    assert!(played.writes.is_empty());
}

#[test]
fn a_text_that_never_shows_is_never_submitted() {
    for shape in BOXES {
        let mut played = Played::new(shape);
        played.manners.is_blind = true;
        let stages = deliver(&mut played, PROMPT);
        ends(&stages, &["typed", "stalled"], "the screen does not show it");
        assert_eq!(played.presses(), 0);
    }
}

#[test]
fn a_text_that_is_gone_without_a_trace_is_not_called_accepted() {
    for shape in BOXES {
        let mut played = Played::new(shape);
        // The same words stood there before: they prove nothing.
        played.conversation.push(PROMPT.into());
        played.redraw();
        played.pass(2000);
        played.manners.forgets = true;
        let stages = deliver(&mut played, PROMPT);
        ends(&stages, &["typed", "seen", "submitted", "unknown"], "nothing shows");
        assert_eq!(played.presses(), 1, "{shape:?}");
    }
}

#[test]
fn a_program_that_works_while_the_text_stands_there_has_not_taken_it() {
    let mut played = Played::new(Shape::Claude);
    played.manners.newlines = usize::MAX;
    played.later(800, |played| {
        let signal = Signal::ProgramStatus("state=working:app=x".into());
        played.detector.observe(&played.screen, &[signal], played.now);
    });
    let stages = deliver(&mut played, PROMPT);
    ends(&stages, &["typed", "seen", "submitted", "stalled"], "still stands there");
    assert_eq!(played.presses(), 1, "no second Enter while it works");
}

#[test]
fn a_hook_or_a_tag_is_proof() {
    let mut played = Played::new(Shape::Claude);
    played.manners.forgets = true;
    played.later(700, |played| played.heard_at = Some(played.now));
    ends(&deliver(&mut played, PROMPT), &WHOLE, "the cli told");

    let mut played = Played::new(Shape::OpenCode);
    played.manners.forgets = true;
    played.later(700, |played| {
        played.conversation.push("STATUS(k7f3): DONE".into());
        played.redraw();
    });
    let tagged = OutgoingPrompt { tag: Some("k7f3".into()), ..letter("Your tag is k7f3. Go.") };
    let how = played.manifest.submit.clone();
    let mut delivery = Delivery::begin(&tagged, &how, &played.scene(), played.now);
    ends(&played.run(&mut delivery), &WHOLE, "");
}

#[test]
fn a_hook_from_before_proves_nothing() {
    let mut played = Played::new(Shape::Claude);
    played.manners.forgets = true;
    played.heard_at = Some(played.now);
    let stages = deliver(&mut played, PROMPT);
    ends(&stages, &["typed", "seen", "submitted", "unknown"], "");
}

#[test]
fn someone_who_types_meanwhile_stops_it() {
    let mut played = Played::new(Shape::Codex);
    played.later(60, |played| played.typed_at = Some(played.now));
    ends(&deliver(&mut played, PROMPT), &["typed", "seen", "stalled"], "someone else typed");
    assert_eq!(played.presses(), 0);
}

#[test]
fn a_screen_that_never_rests_gets_enter_after_a_while() {
    fn tick(played: &mut Played) {
        if played.manners.is_restless {
            played.redraw();
            played.later(100, tick);
        }
    }
    let mut played = Played::new(Shape::Gemini);
    played.manners.is_restless = true;
    played.later(10, tick);
    let start = played.now;
    ends(&deliver(&mut played, PROMPT), &WHOLE, "");
    assert!(played.now.since(start) > Duration::from_secs(8));
    assert_eq!(played.presses(), 1);
}

#[test]
fn half_a_frame_is_not_read() {
    let mut played = Played::new(Shape::Claude);
    played.write("\x1b[?2026h\x1b[2J");
    let mut delivery = delivery(&played, PROMPT);
    assert_eq!(delivery.observe(&played.scene(), played.now), []);
    assert!(delivery.next_deadline().is_some_and(|at| at > Moment(0)));
    played.redraw();
    played.write("\x1b[?2026l");
    ends(&played.run(&mut delivery), &WHOLE, "");
}

#[test]
fn a_shell_gets_one_line_at_a_time_at_its_prompt() {
    let mut played = Played::new(Shape::Shell);
    ends(&deliver(&mut played, "make all"), &WHOLE, "the line was taken");
    played.pass(5000);
    let writes = [&b"make all"[..], b"\r"];
    assert_eq!(played.writes, writes);
    played.writes.clear();
    ends(&deliver(&mut played, "cd src\n\nls -l\ntrue"), &WHOLE, "");
    let writes = [&b"cd src"[..], b"\r", b"ls -l", b"\r", b"true", b"\r"];
    assert_eq!(played.writes, writes);
    assert_eq!(played.taken, ["make all", "cd src", "ls -l", "true"]);
}

#[test]
fn a_shell_that_does_not_come_back_gets_no_more_lines() {
    let mut played = Played::new(Shape::Shell);
    played.manners.work_ms = 600_000;
    let stages = deliver(&mut played, "sleep 600\nrm -rf out");
    ends(&stages, &["typed", "seen", "submitted", "stalled"], "1 of 2 lines were taken");
    assert_eq!(played.taken, ["sleep 600"]);
}

#[test]
fn a_shell_is_not_asked_too_much() {
    let mut played = Played::new(Shape::Shell);
    ends(&deliver(&mut played, &"x".repeat(4096)), &["refused"], "drop all but 4095");
    ends(&deliver(&mut played, "a\tb"), &["refused"], "tab");
    played.write("\r\ncompiling…\r\n");
    // It is at work, or nobody knows what it does.
    ends(&deliver(&mut played, "ls"), &["refused"], "");
    played.write("Password: ");
    ends(&deliver(&mut played, "ls"), &["refused"], "a dialog is open: `Password:`");
    assert!(played.writes.is_empty());
}

#[test]
fn a_shell_that_does_not_echo_gets_no_enter() {
    let mut played = Played::new(Shape::Shell);
    played.manners.is_blind = true;
    ends(&deliver(&mut played, "ls"), &["typed", "stalled"], "does not show it");
    assert_eq!(played.presses(), 0);
}

#[test]
fn after_a_crash_the_screen_tells_or_nobody_knows() {
    let stands = |shape| {
        let mut played = Played::new(shape);
        played.composer = PROMPT.into();
        played.redraw();
        played
    };
    let typed = DeliveryStage::Typed { left_out: 0 };
    let (seen, sent) = (&DeliveryStage::Seen, &DeliveryStage::Submitted);
    for shape in BOXES {
        for (record, stage) in [(&typed, "stalled"), (seen, "stalled"), (sent, "unknown")] {
            let found = recover(record, &letter(PROMPT), &stands(shape).scene());
            ends(&[found], &[stage], "the hub ended");
            let found = recover(record, &letter(PROMPT), &Played::new(shape).scene());
            ends(&[found], &["unknown"], "does not show it");
        }
        let mut played = Played::new(shape);
        played.conversation.push(PROMPT.into());
        played.redraw();
        let found = recover(&DeliveryStage::Submitted, &letter(PROMPT), &played.scene());
        ends(&[found], &["unknown"], "perhaps from before");
        let tagged =
            OutgoingPrompt { tag: Some("k7f3".into()), ..letter(&format!("{PROMPT} Tag: k7f3")) };
        played.conversation.push(tagged.text.clone());
        played.redraw();
        ends(&[recover(&DeliveryStage::Submitted, &tagged, &played.scene())], &["accepted"], "tag");
        // Enter was surely not pressed by us: someone else may have.
        ends(
            &[recover(&DeliveryStage::Seen, &tagged, &played.scene())],
            &["unknown"],
            "being typed",
        );
    }
    let ended = DeliveryStage::Refused { reason: "x".into() };
    assert_eq!(recover(&ended, &letter(PROMPT), &Played::new(Shape::Claude).scene()), ended);
}
