//! A dialog that opens between a look at the screen and the key that relies on it gets no key.

use std::time::Duration;

use wheelhouse::deliver::{Choice, DeliveryStage, DialogAnswer, Interrupt, PaneAction};
use wheelhouse::model::{self, AgentState};

use super::delivery::delivery;
use super::played::{BOXES, Played, Shape};
use super::support::chance::Chance;
use super::support::clock::wait_for;
use super::support::composer::Composers;

const SEEDS: u64 = 30;
const OPTIONS: [&str; 3] = ["Yes", "Allow always", "No"];
/// What a program does that takes its time: longer than any wait of a delivery, from its first look to
/// its last.
const SPAN_MS: u64 = 4000;
/// Closes a paste that was cut off, so that no later key becomes part of it. It presses nothing.
const PASTE_END: &[u8] = b"\x1b[201~";

/// Opens a dialog at a moment that the seed names, and takes it away again some time later.
fn plan_dialog(played: &mut Played, chance: &mut Chance) {
    let opens = chance.below(SPAN_MS);
    played.later(opens, |played| played.ask("rm -rf out", &OPTIONS));
    if chance.percent(50) {
        played.later(opens + chance.below(SPAN_MS), |played| {
            played.asked = None;
            played.redraw();
        });
    }
}

/// Returns what was typed at the dialog that came in between.
fn wrong_keys(played: &Played) -> Vec<&Vec<u8>> {
    let at_dialog = played.typed_at_dialogs.iter().filter(|(about, _)| about == "rm -rf out");
    at_dialog.map(|(_, bytes)| bytes).filter(|bytes| *bytes != PASTE_END).collect()
}

fn number(chance: &mut Chance, limit: u64) -> usize {
    usize::try_from(chance.below(limit)).unwrap()
}

fn each_case(mut check: impl FnMut(Shape, u64, &mut Played, &mut Chance)) {
    for shape in BOXES {
        for seed in 1..=SEEDS {
            let mut chance = Chance::new(seed);
            let mut played = Played::new(shape);
            played.record_ms = [0, 20, 500, 1500, 3000][number(&mut chance, 5)];
            played.manners.echo_ms = 1 + chance.below(300);
            check(shape, seed, &mut played, &mut chance);
        }
    }
}

#[test]
fn no_gap_of_a_delivery_lets_a_key_reach_a_dialog() {
    let mut ends = Vec::new();
    each_case(|shape, seed, played, chance| {
        let text = if chance.percent(30) { "x".repeat(60_000) } else { "Build it.".to_owned() };
        plan_dialog(played, chance);
        let mut delivery = delivery(played, &text);
        let stages = played.run(&mut delivery);
        assert_eq!(
            wrong_keys(played),
            Vec::<&Vec<u8>>::new(),
            "{shape:?}, seed {seed}: {stages:?}"
        );
        let end = stages.last().expect("every delivery ends").clone();
        assert!(end.is_final(), "{shape:?}, seed {seed}: {stages:?}");
        ends.push(end);
    });
    // The seeds come upon every gap: before the first key, before Enter, and after it.
    for wanted in ["Refused", "Stalled", "Accepted"] {
        assert!(ends.iter().any(|end| format!("{end:?}").starts_with(wanted)), "no {wanted}");
    }
}

#[test]
fn no_gap_of_an_answer_lets_a_key_reach_another_dialog() {
    each_case(|shape, seed, played, chance| {
        played.ask("cargo build", &OPTIONS);
        played.pass(1000);
        let fingerprint = played.sight().dialog.expect("it was just asked").fingerprint();
        plan_dialog(played, chance);
        let (choice, keys) = (Choice::Option(number(chance, 3)), &played.manifest.keys);
        let mut answer =
            DialogAnswer::begin(&fingerprint, choice, keys, &played.scene(), played.now);
        let stages = played.run(&mut answer);
        assert_eq!(
            wrong_keys(played),
            Vec::<&Vec<u8>>::new(),
            "{shape:?}, seed {seed}: {stages:?}"
        );
    });
}

#[test]
fn no_gap_of_an_interrupt_lets_a_key_reach_a_dialog() {
    each_case(|shape, seed, played, chance| {
        played.manners.stubbornness = 1 + number(chance, 4);
        played.conversation.push("Go.".into());
        played.works_until = Some(played.now + Duration::from_mins(10));
        played.redraw();
        played.pass(1000);
        plan_dialog(played, chance);
        let keys = &played.manifest.keys;
        let mut interrupt = Interrupt::begin(keys, &played.scene(), played.now);
        let stages = played.run(&mut interrupt);
        assert_eq!(
            wrong_keys(played),
            Vec::<&Vec<u8>>::new(),
            "{shape:?}, seed {seed}: {stages:?}"
        );
        assert!(
            stages.last().is_some_and(DeliveryStage::is_final),
            "{shape:?}, seed {seed}: {stages:?}"
        );
    });
}

#[test]
fn the_stage_is_told_before_the_bytes_that_it_announces() {
    let mut played = Played::new(Shape::Claude);
    let mut delivery = delivery(&played, "Build it.");
    let acts = delivery.observe(&played.scene(), played.now);
    assert!(
        matches!(acts.as_slice(), [PaneAction::Stage(DeliveryStage::Typed { .. })]),
        "{acts:?}"
    );
    assert_eq!(delivery.observe(&played.scene(), played.now), [], "it is not on record yet");
    delivery.note_recorded(played.now);
    let acts = delivery.observe(&played.scene(), played.now);
    assert!(matches!(acts.as_slice(), [PaneAction::Write(_)]), "{acts:?}");
    played.composer = "Build it.".into();
    played.redraw();
    let mut acts = delivery.observe(&played.scene(), played.now);
    assert_eq!(acts, [PaneAction::Stage(DeliveryStage::Seen)]);
    while acts != [PaneAction::Stage(DeliveryStage::Submitted)] {
        let deadline = delivery.next_deadline().unwrap();
        played.pass(deadline.0 - played.now.0);
        acts = delivery.observe(&played.scene(), played.now);
    }
    assert_eq!(delivery.next_deadline(), None, "only the record can be waited for");
    played.pass(60_000);
    assert_eq!(delivery.observe(&played.scene(), played.now), []);
    delivery.note_recorded(played.now);
    assert_eq!(delivery.observe(&played.scene(), played.now), [PaneAction::Write(b"\r".to_vec())]);
}

/// Enter is decided on, and has to wait for a slow disk; meanwhile the program asks for permission.
#[test]
fn a_key_that_waited_for_the_disk_is_not_pressed_on_the_dialog_that_came_meanwhile() {
    let composers = Composers::start(&["one"], &["restless"]);
    let receipt = composers.dispatch("Build it.");
    composers.wait_for_stage(model::Stage::Seen);
    let record = rusqlite::Connection::open(composers.world.paths().record()).unwrap();
    record.busy_timeout(Duration::from_secs(30)).unwrap();
    record.execute_batch("BEGIN IMMEDIATE").unwrap();
    composers.let_go("restless");
    composers.wait_for_stage(model::Stage::Submitted);
    composers.hold("asks");
    composers.world.wait_for_text("one", "Do you want to proceed?");
    wait_for("the dialog is seen", || composers.world.agent("one").state == AgentState::Waiting);
    record.execute_batch("COMMIT").unwrap();
    let said = composers.wait(&receipt);
    assert_eq!(said.code, Some(4), "{}", said.text());
    let answered = std::fs::read_to_string(composers.world.path("one").join("answered"));
    assert!(answered.is_err(), "it was answered with {answered:?}");
    let latest = composers.latest().unwrap();
    assert_eq!(latest.state, model::Stage::Stalled, "{latest:?}");
    assert_eq!(composers.submitted(), Vec::<String>::new());
}
