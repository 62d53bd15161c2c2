//! Answers to dialogs, and interrupts: only what was seen is answered, one key at a time.

use std::time::Duration;

use wheelhouse::deliver::{Choice, DeliveryStage, DialogAnswer, Interrupt};
use wheelhouse::model::Subject;

use super::played::{BOXES, Played, Shape};

const OPTIONS: [&str; 3] = ["Allow once", "Allow always", "Reject"];

fn asked(shape: Shape) -> Played {
    let mut played = Played::new(shape);
    played.ask("cargo build", &OPTIONS);
    played.pass(1000);
    assert_eq!(played.sight().dialog.unwrap().options, OPTIONS, "{shape:?}");
    played
}

fn answer(played: &Played, choice: Choice) -> DialogAnswer {
    let fingerprint = played.sight().dialog.map(|dialog| dialog.fingerprint()).unwrap_or_default();
    DialogAnswer::begin(&fingerprint, choice, &played.manifest.keys, &played.scene(), played.now)
}

#[test]
fn each_option_of_each_cli_can_be_chosen() {
    for shape in BOXES {
        for (number, option) in OPTIONS.iter().enumerate() {
            let mut played = asked(shape);
            let mut answer = answer(&played, Choice::Option(number));
            let stages = played.run(&mut answer);
            assert!(
                matches!(stages.last(), Some(DeliveryStage::Accepted { .. })),
                "{shape:?} {stages:?}"
            );
            assert_eq!(played.chosen, [*option], "{shape:?}");
            assert_eq!(played.writes.len(), number + 1, "one key per write");
            assert_eq!(played.writes.last().unwrap(), b"\r");
        }
    }
}

#[test]
fn half_of_a_frame_is_neither_answered_nor_taken_for_the_end() {
    for shape in BOXES {
        let mut played = asked(shape);
        played.manners.torn_ms = 400;
        // It is drawn anew right when someone answers, and after every key.
        played.redraw();
        let fingerprint = asked(shape).sight().dialog.unwrap().fingerprint();
        let keys = played.manifest.keys.clone();
        let choice = Choice::Option(2);
        let mut answer =
            DialogAnswer::begin(&fingerprint, choice, &keys, &played.scene(), played.now);
        let stages = played.run(&mut answer);
        assert!(
            matches!(stages.last(), Some(DeliveryStage::Accepted { .. })),
            "{shape:?} {stages:?}"
        );
        assert_eq!((&*played.chosen, played.writes.len()), (&["Reject".to_owned()][..], 3));

        let mut played = asked(shape);
        (played.manners.torn_ms, played.manners.enter_is_lost) = (400, true);
        let mut unheard = self::answer(&played, Choice::Option(0));
        let stages = played.run(&mut unheard);
        assert!(
            matches!(stages.last(), Some(DeliveryStage::Unknown { .. })),
            "{shape:?} {stages:?}"
        );
        assert_eq!(played.presses(), 1, "{shape:?}");
    }
}

#[test]
fn the_mark_is_moved_back_as_well() {
    let mut played = asked(Shape::Claude);
    played.asked.as_mut().unwrap().mark = 2;
    played.redraw();
    let mut answer = answer(&played, Choice::Option(0));
    played.run(&mut answer);
    assert_eq!(played.writes, [&b"\x1b[A"[..], b"\x1b[A", b"\r"]);
    assert_eq!(played.chosen, ["Allow once"]);
}

#[test]
fn a_dialog_that_was_swapped_is_not_answered() {
    for shape in BOXES {
        // Between the reading and the answer.
        let mut played = asked(shape);
        let mut late = answer(&played, Choice::Option(0));
        played.ask("rm -rf /", &OPTIONS);
        let stages = played.run(&mut late);
        let [DeliveryStage::Refused { reason }] = stages.as_slice() else { panic!("{stages:?}") };
        assert!(reason.starts_with("the dialog is another one now"), "{reason}");
        assert!(played.writes.is_empty());

        // While the mark is moved.
        let mut played = asked(shape);
        let mut answer = answer(&played, Choice::Option(2));
        played.later(300, |played| played.ask("rm -rf /", &OPTIONS));
        let stages = played.run(&mut answer);
        assert!(
            matches!(stages.as_slice(), [DeliveryStage::Stalled { .. }]),
            "{shape:?} {stages:?}"
        );
        assert!(played.chosen.is_empty() && played.presses() == 0, "{shape:?}");
    }
}

#[test]
fn a_dialog_that_is_gone_is_not_answered() {
    let mut played = asked(Shape::Claude);
    let mut answer = answer(&played, Choice::Option(0));
    played.asked = None;
    played.redraw();
    let stages = played.run(&mut answer);
    let reason = "the dialog is not there any more".into();
    assert_eq!(stages, [DeliveryStage::Refused { reason }]);
    assert!(played.writes.is_empty());
}

#[test]
fn enter_is_not_pressed_on_another_option() {
    let mut played = asked(Shape::Codex);
    played.manners.mark_is_stuck = true;
    let mut stuck = answer(&played, Choice::Option(1));
    let stages = played.run(&mut stuck);
    let [DeliveryStage::Stalled { reason }] = stages.as_slice() else { panic!("{stages:?}") };
    assert!(reason.contains("nothing was chosen: the mark did not move"), "{reason}");
    assert_eq!(played.presses(), 0);

    let mut played = asked(Shape::Codex);
    let mut far = answer(&played, Choice::Option(3));
    assert!(matches!(played.run(&mut far).as_slice(), [DeliveryStage::Refused { .. }]));
}

#[test]
fn digits_are_pressed_only_where_the_manifest_says_so() {
    let mut played = asked(Shape::Claude);
    played.manifest.keys.digits = true;
    let mut answer = answer(&played, Choice::Option(1));
    let stages = played.run(&mut answer);
    assert!(matches!(stages.last(), Some(DeliveryStage::Accepted { .. })), "{stages:?}");
    assert_eq!((played.writes, played.chosen), (vec![b"2".to_vec()], vec!["Allow always".into()]));
}

#[test]
fn a_question_without_options_takes_the_keys_of_the_cli() {
    let mut played = Played::new(Shape::Shell);
    played.write("\r\nOverwrite out.txt? [y/N] ");
    played.pass(1000);
    let mut yes = answer(&played, Choice::Approve);
    let stages = played.run(&mut yes);
    assert!(matches!(stages.last(), Some(DeliveryStage::Accepted { .. })), "{stages:?}");
    assert_eq!(played.writes, [&b"y"[..], b"\r"]);

    let mut played = asked(Shape::Claude);
    let mut yes = answer(&played, Choice::Approve);
    let stages = played.run(&mut yes);
    let [DeliveryStage::Refused { reason }] = stages.as_slice() else { panic!("{stages:?}") };
    assert!(reason.contains("name one of them"), "{reason}");
}

#[test]
fn what_a_rule_approved_is_not_given_to_a_dialog_that_took_its_place() {
    let options = ["Yes, proceed (y)", "Yes, and don't ask again", "No"];
    for is_swapped in [false, true] {
        let mut played = Played::new(Shape::Codex);
        played.ask("git status", &options);
        played.pass(1000);
        let question = played.sight().dialog.unwrap().question().unwrap();
        assert_eq!(question.subject, Subject::Command("git status".into()));
        let (choice, keys) = (Choice::Option(question.yes), &played.manifest.keys);
        let mut leave =
            DialogAnswer::begin(&question.fingerprint, choice, keys, &played.scene(), played.now);
        if is_swapped {
            played.ask("rm -rf /", &options);
        }
        let stages = played.run(&mut leave);
        if is_swapped {
            assert!(matches!(stages.as_slice(), [DeliveryStage::Refused { .. }]), "{stages:?}");
            assert!(played.writes.is_empty());
        } else {
            assert_eq!(played.chosen, ["Yes, proceed (y)"], "{stages:?}");
        }
    }
}

#[test]
fn the_same_dialog_has_one_fingerprint_at_any_width_and_mark() {
    let mut played = asked(Shape::Claude);
    let first = played.sight().dialog.unwrap();
    played.asked.as_mut().unwrap().mark = 1;
    played.redraw();
    let second = played.sight().dialog.unwrap();
    assert_ne!(first.selected, second.selected);
    assert_eq!(first.fingerprint(), second.fingerprint());
    played.ask("cargo test", &OPTIONS);
    assert_ne!(first.fingerprint(), played.sight().dialog.unwrap().fingerprint());
}

fn working(shape: Shape, stubbornness: usize) -> Played {
    let mut played = Played::new(shape);
    played.manners.stubbornness = stubbornness;
    played.conversation.push("Go.".into());
    played.works_until = Some(played.now + Duration::from_mins(10));
    played.redraw();
    played.pass(1000);
    played
}

fn interrupt(played: &mut Played) -> Vec<DeliveryStage> {
    let mut interrupt = Interrupt::begin(&played.manifest.keys, &played.scene(), played.now);
    played.run(&mut interrupt)
}

#[test]
fn an_interrupt_is_proven_by_the_agent_that_stops() {
    for shape in BOXES {
        let mut played = working(shape, 1);
        let stages = interrupt(&mut played);
        let [DeliveryStage::Submitted, DeliveryStage::Accepted { .. }] = stages.as_slice() else {
            panic!("{shape:?} {stages:?}")
        };
        assert_eq!(played.writes, [b"\x1b"], "{shape:?}: not one key more than needed");
    }
    // A key may be lost on a program that draws: then they are pressed once more from the first.
    for (shape, presses) in [(Shape::OpenCode, 2), (Shape::OpenCode, 3), (Shape::Gemini, 3)] {
        let mut played = working(shape, presses);
        let stages = interrupt(&mut played);
        assert!(matches!(stages.last(), Some(DeliveryStage::Accepted { .. })), "{stages:?}");
        assert_eq!(played.interrupts, presses, "{shape:?}");
    }
}

#[test]
fn a_prompt_that_is_put_back_is_taken_away_again() {
    let mut played = working(Shape::Claude, 1);
    played.manners.puts_back = true;
    let stages = interrupt(&mut played);
    let evidence = "the agent is idle".into();
    assert_eq!(stages, [DeliveryStage::Submitted, DeliveryStage::Accepted { evidence }]);
    assert_eq!(played.writes, [&b"\x1b"[..], b"\x03"], "never twice: that would end it");
    assert_eq!(played.composer, "");

    // The hook that tells of the prompt may be ahead of the screen.
    let mut played = working(Shape::Claude, 1);
    played.manners.puts_back = true;
    played.composer = "Go.".into();
    played.redraw();
    played.later(700, |played| {
        played.composer.clear();
        played.redraw();
    });
    assert_eq!(interrupt(&mut played).len(), 2);
    assert_eq!(played.writes, [&b"\x1b"[..], b"\x03"]);

    // What a person has typed stays, and so does what no key is known to take away.
    for shape in [Shape::Claude, Shape::Codex] {
        let mut played = working(shape, 1);
        played.manners.puts_back = true;
        if shape == Shape::Claude {
            played.composer = "mine".into();
            played.redraw();
        } else {
            played.manifest.keys.clear.clear();
        }
        let stages = interrupt(&mut played);
        let Some(DeliveryStage::Accepted { evidence }) = stages.last() else {
            panic!("{stages:?}")
        };
        assert!(evidence.ends_with("a text stands where prompts are typed"), "{evidence}");
        assert_eq!(played.writes, [b"\x1b"], "{shape:?}");
    }
}

#[test]
fn an_agent_that_does_not_react_is_told_of() {
    let mut played = working(Shape::Claude, 9);
    let stages = interrupt(&mut played);
    let reason = "the agent did not react to `esc`, 3 times".into();
    assert_eq!(stages, [DeliveryStage::Submitted, DeliveryStage::Stalled { reason }]);
}

#[test]
fn nothing_is_pressed_where_nothing_works() {
    let mut played = Played::new(Shape::Claude);
    let [DeliveryStage::Refused { reason }] = &interrupt(&mut played)[..] else { panic!() };
    assert_eq!(reason, "the agent is not at work: it is idle");
    let mut played = asked(Shape::Codex);
    let [DeliveryStage::Refused { reason }] = &interrupt(&mut played)[..] else { panic!() };
    assert!(reason.starts_with("a dialog is open"), "{reason}");
    assert!(played.writes.is_empty());
}

#[test]
fn an_interrupt_right_after_a_prompt_was_taken_waits_for_the_work_on_it() {
    for shape in BOXES {
        let mut played = Played::new(shape);
        played.pass(2000);
        played.detector.prompt_submitted("Go.", None, played.now);
        played.later(700, |played| {
            played.conversation.push("Go.".into());
            played.works_until = Some(played.now + Duration::from_mins(10));
            played.redraw();
        });
        let stages = interrupt(&mut played);
        let [DeliveryStage::Submitted, DeliveryStage::Accepted { .. }] = stages.as_slice() else {
            panic!("{shape:?} {stages:?}")
        };
        assert_eq!(played.writes, [b"\x1b"], "{shape:?}");
    }
    // Where the work never comes nothing is pressed, and that is told.
    let mut played = Played::new(Shape::Claude);
    played.pass(2000);
    played.detector.prompt_submitted("Go.", None, played.now);
    let [DeliveryStage::Refused { reason }] = &interrupt(&mut played)[..] else { panic!() };
    assert_eq!(reason, "the agent is not at work: it is idle");
    assert!(played.writes.is_empty());
}
