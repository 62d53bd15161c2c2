//! Delivers the prompts of recorded sessions again: the machine types in place of the driver, and
//! the program's recorded output answers.

use std::collections::VecDeque;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use wheelhouse::deliver::{Delivery, DeliveryStage, OutgoingPrompt, PaneAction, PaneSnapshot};
use wheelhouse::detect::{Detector, Options, Rules};
use wheelhouse::model::{Moment, Size};
use wheelhouse::screen::{HistoryLimit, Screen};

use super::acted::{manifest, rules};

const PASTE_START: &str = "\x1b[200~";
const PASTE_END: &str = "\x1b[201~";
const CLIS: &[&str] =
    &["claude", "claude-2.1.197", "claude-nopsp", "codex", "gemini", "opencode", "aider"];

/// A recording that waits for the machine where it once waited for its driver.
struct Replay {
    cli: String,
    rules: Arc<Rules>,
    screen: Screen,
    detector: Detector,
    now: Moment,
    /// When, what kind, and its text.
    events: VecDeque<(Moment, String, String)>,
    /// How much later it is than it was.
    lag: Duration,
    pastes: usize,
    presses: usize,
}

impl Replay {
    fn new(recording: &str, uses_signals: bool) -> Self {
        let cli = recording.split(['-', '/']).next().unwrap();
        let text = fs::read_to_string(format!("tests/recordings/{recording}.cast")).unwrap();
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let head = lines.next().unwrap();
        let length = |key: &str| u16::try_from(head[key].as_u64().unwrap()).unwrap();
        let size = Size { rows: length("height"), cols: length("width") };
        let event = |event: Value| {
            let at = Moment(1) + Duration::from_secs_f64(event[0].as_f64().unwrap());
            (at, event[1].as_str().unwrap().to_owned(), event[2].as_str().unwrap().to_owned())
        };
        let rules = rules(cli);
        Self {
            cli: cli.to_owned(),
            screen: Screen::new(size, HistoryLimit::default()),
            detector: Detector::new(Arc::clone(&rules), Options { uses_signals }, Moment(0)),
            rules,
            now: Moment(0),
            events: lines.map(event).collect(),
            lag: Duration::ZERO,
            pastes: 0,
            presses: 0,
        }
    }

    /// Plays up to the nth paste, and returns its text.
    fn play_to_paste(&mut self, nth: usize) -> Option<String> {
        let mut pastes = 0;
        while let Some((at, kind, text)) = self.events.pop_front() {
            self.settle(at);
            match kind.as_str() {
                "o" => self.feed(&text),
                "i" if text.starts_with(PASTE_START) && pastes == nth => {
                    self.settle(at);
                    return Some(text.replace(PASTE_START, "").replace(PASTE_END, ""));
                }
                "i" => pastes += usize::from(text.starts_with(PASTE_START)),
                _ => {}
            }
        }
        None
    }

    /// Says whether the driver pressed Enter before the program had shown anything: what it would
    /// have shown is not on record.
    fn driver_was_blind(&self) -> bool {
        let next = self.events.iter().find(|event| event.1 == "o" || event.2 == "\r");
        next.is_some_and(|event| event.1 == "i")
    }

    /// Hands the text over, and returns what was said of it.
    fn deliver(&mut self, text: &str) -> Vec<DeliveryStage> {
        let letter = OutgoingPrompt { text: text.to_owned(), tag: None, is_command: false };
        let how = manifest(&self.cli).submit;
        let mut delivery = Delivery::begin(&letter, &how, &self.scene(), self.now);
        let mut awaited = Some(PASTE_END);
        let mut stages = Vec::new();
        while !stages.last().is_some_and(DeliveryStage::is_final) {
            let acts = delivery.observe(&self.scene(), self.now);
            for act in acts {
                match act {
                    PaneAction::Stage(stage) => {
                        delivery.note_recorded(self.now);
                        stages.push(stage);
                    }
                    PaneAction::Write(bytes) => self.note(&String::from_utf8(bytes).unwrap()),
                }
            }
            let is_given = match awaited {
                Some("\r") => self.presses > 0,
                Some(_) => self.pastes > 0,
                None => true,
            };
            if is_given && awaited.take().is_some() {
                let next = self.events.front().map_or(self.now, |event| event.0);
                self.lag = self.lag.max(self.now.since(next));
            }
            let event = self.events.front().filter(|_| awaited.is_none());
            let event_at = event.map(|event| event.0 + self.lag);
            let times = [event_at, delivery.next_deadline(), self.detector.next_deadline()];
            let Some(next) = times.into_iter().flatten().min() else { break };
            self.settle(next.max(self.now));
            if event_at.is_some_and(|at| at <= self.now) {
                let (_, kind, text) = self.events.pop_front().unwrap();
                match kind.as_str() {
                    "o" => self.feed(&text),
                    "i" if text == "\r" && self.presses == 0 => awaited = Some("\r"),
                    _ => {}
                }
            }
        }
        stages
    }

    fn note(&mut self, typed: &str) {
        self.pastes += usize::from(typed.ends_with(PASTE_END));
        self.presses += usize::from(typed == "\r");
    }

    fn feed(&mut self, text: &str) {
        let signals = self.screen.feed(text.as_bytes(), self.now).signals;
        self.detector.observe(&self.screen, &signals, self.now);
    }

    fn settle(&mut self, until: Moment) {
        while let Some(at) = self.detector.next_deadline().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.detector.observe(&self.screen, &[], self.now);
        }
        self.now = self.now.max(until);
    }

    fn scene(&self) -> PaneSnapshot<'_> {
        PaneSnapshot {
            screen: &self.screen,
            rules: &self.rules,
            shown: self.detector.shown(),
            prompt_heard_at: None,
            prompt_heard: None,
            awaits_turn: false,
            typed_at: None,
            has_room: true,
        }
    }
}

/// Returns the recordings of a cli in which something was pasted.
fn recordings(cli: &str) -> Vec<String> {
    let directory = fs::read_dir(format!("tests/recordings/{cli}")).unwrap();
    let names = directory.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter_map(|name| Some(format!("{cli}/{}", name.strip_suffix(".cast")?)))
        .filter(|name| {
            let text = fs::read_to_string(format!("tests/recordings/{name}.cast")).unwrap();
            text.contains("u001b[200~")
        })
        .collect();
    names.sort();
    names
}

#[test]
fn every_recorded_prompt_is_seen_submitted_once_and_accepted() {
    let mut count = 0;
    let mut faults = Vec::new();
    for recording in CLIS.iter().flat_map(|cli| recordings(cli)) {
        let has_signals = recording.starts_with("claude/") || recording.starts_with("codex/");
        for uses_signals in if has_signals { vec![true, false] } else { vec![true] } {
            let mut replay = Replay::new(&recording, uses_signals);
            let prompt = replay.play_to_paste(0).unwrap();
            if replay.driver_was_blind() {
                continue;
            }
            let stages = replay.deliver(&prompt);
            let is_right = matches!(
                stages.as_slice(),
                [
                    DeliveryStage::Typed { left_out: 0 },
                    DeliveryStage::Seen,
                    DeliveryStage::Submitted,
                    DeliveryStage::Accepted { .. }
                ]
            );
            count += 1;
            if !is_right || replay.presses != 1 || replay.pastes != 1 {
                faults.push(format!("{recording} {uses_signals} {stages:?}"));
            }
        }
    }
    println!("{count} recorded prompts");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 100, "{count}");
}

#[test]
fn a_prompt_is_refused_while_the_recorded_agent_works() {
    for cli in ["claude", "claude-2.1.197", "codex", "gemini", "opencode"] {
        let mut replay = Replay::new(&format!("{cli}/queue"), true);
        let prompt = replay.play_to_paste(1).unwrap();
        let stages = replay.deliver(&prompt);
        let [DeliveryStage::Refused { reason }] = stages.as_slice() else {
            panic!("{cli} {stages:?}")
        };
        assert_eq!(reason, "the agent is working", "{cli}");
        assert_eq!((replay.pastes, replay.presses), (0, 0));
    }
}
