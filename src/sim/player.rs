//! Plays a script: input and time in, a changed `Ui` and orders for the outside world out.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use crate::model::{Key, KeyCode, Moment};

use super::block::{Block, Outcome};
use super::dialog::{Dialog, DialogKind, Pressed};
use super::input::Typed;
use super::names::Names;
use super::order::{Facts, Order};
use super::random::Random;
use super::script::{Approval, Script, Steps};
use super::ui::{TurnState, Ui};

/// How long a first Ctrl-C is remembered.
const EXIT_WAIT: Duration = Duration::from_secs(2);
/// For so long after a paste, a shy prompt box takes Enter for a new line.
const PASTE_FEAR: Duration = Duration::from_millis(40);
/// The spinner moves ten times a second.
const BEAT: Duration = Duration::from_millis(100);
/// Prompts that wait for the turn to end; more are dropped.
const QUEUE_MAX: usize = 16;

/// A script at play.
#[derive(Debug)]
pub(super) struct Player {
    pub(super) script: Script,
    pub(super) ui: Ui,
    pub(super) frames: Vec<Frame>,
    pub(super) activity: Activity,
    pub(super) turn: Option<Turn>,
    pub(super) names: Names,
    pub(super) random: Random,
    pub(super) prompt: String,
    pub(super) answer: Option<(usize, String)>,
    pub(super) has_passed: bool,
    /// Commands that need no permission any more.
    pub(super) allowed: BTreeSet<String>,
    pub(super) orders: Vec<Order>,
    /// The number of the last act that was ordered; an outcome with another number is late.
    pub(super) act: u64,
    pasted_at: Option<Moment>,
    exit_until: Option<Moment>,
}

/// Steps that are being played.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) steps: Steps,
    pub(super) at: usize,
    pub(super) kind: FrameKind,
    pub(super) began: Moment,
}

/// What happens at the end of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The turn ends.
    Turn,
    /// The steps around go on.
    Branch,
    /// They begin again: so many times, or for ever.
    Repeat(Option<u32>),
}

/// What the agent is at.
#[derive(Debug)]
pub(super) enum Activity {
    /// Ready for the next step.
    Ready,
    Until(Moment),
    Tool {
        until: Moment,
        output: Vec<String>,
    },
    Stream {
        words: VecDeque<String>,
        next: Moment,
    },
    Approval(Approval),
    Question,
    /// The outside world is at it.
    Act,
    Repaint(Moment),
    /// Nothing moves; without a moment, for good.
    Hang(Option<Moment>),
    /// Nothing more will happen.
    Over,
}

/// The work between a prompt and its end.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) began: Moment,
    pub(super) verb: String,
    pub(super) past: &'static str,
    pub(super) words: u64,
    pub(super) has_failed: bool,
    /// The end of the open message is a report, so another report may follow directly.
    pub(super) ends_in_report: bool,
}

impl Player {
    pub(super) fn new(script: Script, facts: &Facts, now: Moment) -> Self {
        let title = script.settings.title.clone().unwrap_or_else(|| facts.name.clone());
        let mut names = Names::default();
        names.set("NAME", &facts.name);
        for (at, (path, lines)) in facts.files.iter().enumerate() {
            names.set(&format!("FILE{}", at + 1), path);
            names.set(&format!("LINES{}", at + 1), lines.to_string());
        }
        let mut ui = Ui { title: title.clone(), ..Ui::default() };
        ui.push(Block::Banner { title, directory: facts.directory.clone() });
        let start = Frame { steps: script.start.clone(), at: 0, kind: FrameKind::Turn, began: now };
        Self {
            random: Random::new(script.settings.seed),
            script,
            ui,
            frames: vec![start],
            activity: Activity::Ready,
            turn: None,
            names,
            prompt: String::new(),
            answer: None,
            has_passed: true,
            allowed: BTreeSet::new(),
            orders: Vec::new(),
            act: 0,
            pasted_at: None,
            exit_until: None,
        }
    }

    /// Takes what a person typed.
    pub(super) fn typed(&mut self, typed: Typed, now: Moment) {
        match typed {
            Typed::Paste(text) if self.ui.dialog.is_none() => {
                self.ui.editor.paste(text);
                self.pasted_at = Some(now);
            }
            Typed::Paste(_) => {}
            Typed::Key(key) if self.ui.dialog.is_some() => self.press_dialog(key, now),
            Typed::Key(key) => self.press(key, now),
        }
        self.advance(now);
    }

    /// Takes a whole line: an answer if a dialog is open, and a prompt otherwise.
    pub(super) fn line(&mut self, text: &str, now: Moment) {
        match self.ui.dialog.as_ref().map(|dialog| dialog.answer(text)) {
            Some(answer) => self.settle_dialog(answer, now),
            None => self.submit(text.to_owned(), now),
        }
        self.advance(now);
    }

    /// Takes the outcome of an act that was ordered.
    pub(super) fn acted(&mut self, act: u64, passed: bool, output: Vec<String>, now: Moment) {
        if act != self.act || !matches!(self.activity, Activity::Act) {
            return;
        }
        self.has_passed = passed;
        let outcome = if passed { Outcome::Passed(output) } else { Outcome::Failed(output) };
        self.ui.close_tool(outcome);
        self.activity = Activity::Ready;
        self.advance(now);
    }

    /// Returns when `advance` must be called, whatever else happens.
    pub(super) fn deadline(&self, now: Moment) -> Option<Moment> {
        let activity = match &self.activity {
            Activity::Ready => (!self.frames.is_empty()).then_some(now),
            Activity::Until(until) | Activity::Tool { until, .. } | Activity::Repaint(until) => {
                Some(*until)
            }
            Activity::Stream { next, .. } => Some(*next),
            Activity::Hang(until) => return *until,
            Activity::Over => return None,
            Activity::Approval(_) | Activity::Question | Activity::Act => None,
        };
        let beat = self.ui.spinner.is_some().then(|| now + BEAT);
        [activity, beat, self.exit_until].into_iter().flatten().min()
    }

    /// Returns what the outside world has to do, once.
    pub(super) fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Says that nothing happens until somebody types.
    pub(super) fn is_resting(&self) -> bool {
        self.frames.is_empty() && self.turn.is_none() && self.ui.queue.is_empty()
    }

    /// Says that the agent neither draws nor listens.
    pub(super) fn is_hanging(&self) -> bool {
        matches!(self.activity, Activity::Hang(_))
    }

    pub(super) fn is_repainting(&self) -> bool {
        matches!(self.activity, Activity::Repaint(_))
    }

    fn press(&mut self, key: Key, now: Moment) {
        let held = key.modifiers;
        let is_end = key.code == KeyCode::Char('d') && self.ui.editor.is_empty();
        if held.control && (key.code == KeyCode::Char('c') || is_end) {
            return self.cancel(now);
        }
        self.exit_until = None;
        self.ui.notice = None;
        let is_bare = !held.shift && !held.alt && !held.control;
        if key.code == KeyCode::Escape && self.turn.is_some() {
            self.interrupt(now);
        } else if key.code == KeyCode::Enter && is_bare && !self.is_shy(now) {
            let text = self.ui.editor.take();
            self.submit(text, now);
        } else {
            self.ui.editor.press(key);
        }
    }

    /// Says whether an Enter comes too soon after a paste to be trusted.
    fn is_shy(&self, now: Moment) -> bool {
        self.script.settings.fears_pastes
            && self.pasted_at.is_some_and(|at| now.since(at) < PASTE_FEAR)
    }

    /// Stops what goes on at the first Ctrl-C, and the program at the second.
    fn cancel(&mut self, now: Moment) {
        if self.exit_until.is_some_and(|until| now < until) {
            self.exit(0);
            return;
        }
        if self.turn.is_some() {
            self.interrupt(now);
        }
        self.ui.editor.take();
        self.exit_until = Some(now + EXIT_WAIT);
        self.ui.notice = Some("Press Ctrl-C again to exit".into());
    }

    /// Forgets a Ctrl-C that was not repeated.
    pub(super) fn expire_notice(&mut self, now: Moment) {
        if self.exit_until.is_some_and(|until| now >= until) {
            self.exit_until = None;
            self.ui.notice = None;
        }
    }

    fn press_dialog(&mut self, key: Key, now: Moment) {
        let Some(dialog) = &mut self.ui.dialog else { return };
        let pressed = dialog.press(key);
        if pressed != Pressed::Open {
            self.settle_dialog(pressed, now);
        }
    }

    fn submit(&mut self, text: String, now: Moment) {
        if text.trim().is_empty() {
            return;
        }
        if self.turn.is_some() {
            if self.ui.queue.len() < QUEUE_MAX {
                self.ui.queue.push_back(text);
            }
            return;
        }
        self.begin_prompt(text, now);
    }

    pub(super) fn exit(&mut self, code: u8) {
        self.activity = Activity::Over;
        self.orders.push(Order::Exit(code));
    }

    /// Opens a dialog; the turn waits for its answer.
    pub(super) fn open_dialog(&mut self, dialog: Dialog, activity: Activity) {
        self.ui.turn = match dialog.kind {
            DialogKind::Permission => TurnState::Permission,
            DialogKind::Question => TurnState::Question,
        };
        self.ui.is_last_open = false;
        self.ui.dialog = Some(dialog);
        self.activity = activity;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::line::Line;
    use crate::sim::script::Act;
    use crate::sim::ui::Place;
    use crate::sim::wrap::ENDLESS;

    /// A player with a clock of its own.
    struct Stage {
        player: Player,
        now: Moment,
    }

    impl Stage {
        fn new(text: &str) -> Self {
            let script = Script::parse(text).unwrap();
            let facts = Facts { name: "sim".into(), ..Facts::default() };
            let mut player = Player::new(script, &facts, Moment(0));
            player.advance(Moment(0));
            Self { player, now: Moment(0) }
        }

        /// Lets time pass as a shell would, from deadline to deadline.
        fn pass(&mut self, milliseconds: u64) {
            let end = Moment(self.now.0 + milliseconds);
            while let Some(next) = self.player.deadline(self.now).filter(|next| *next <= end) {
                self.now = Moment(next.0.max(self.now.0 + 1));
                self.player.advance(self.now);
            }
            self.now = end;
            self.player.advance(end);
        }

        fn prompt(&mut self, text: &str) {
            self.player.typed(Typed::Paste(text.into()), self.now);
            self.press("enter");
        }

        fn press(&mut self, key: &str) {
            self.player.typed(Typed::Key(key.parse().unwrap()), self.now);
        }

        fn text(&self) -> String {
            let (lines, _) = self.player.ui.settled(Place::default(), ENDLESS);
            let lines: Vec<String> = lines.iter().map(Line::plain).collect();
            lines.join("\n")
        }
    }

    #[test]
    fn a_turn_takes_the_time_that_the_script_gives_it() {
        let mut stage = Stage::new("on prompt\n  think 2s \"Reading\"\n  say \"one two three\"\n");
        stage.prompt("Go");
        stage.pass(1500);
        let spinner = stage.player.ui.spinner.clone().unwrap();
        assert_eq!((spinner.verb.as_str(), spinner.seconds, spinner.beat), ("Reading", 1, 15));
        assert_eq!(stage.player.ui.turn, TurnState::Working);
        stage.pass(540);
        assert_eq!(stage.player.ui.blocks.back(), Some(&Block::Message("one two ".into())));
        assert_eq!(stage.player.ui.spinner, None, "hides while text streams");
        stage.pass(1000);
        assert!(stage.text().contains("● one two three\n\n✻ "), "{}", stage.text());
        assert!(stage.text().ends_with(" for 2s"));
        assert_eq!(stage.player.ui.turn, TurnState::Done);
        assert!(stage.player.is_resting());
        assert_eq!(stage.player.deadline(stage.now), None);
    }

    #[test]
    fn twice_the_speed_takes_half_the_time() {
        let mut stage = Stage::new("speed 2\non prompt\n  think 4s\n  build pass\n");
        stage.prompt("Go");
        stage.pass(1990);
        assert!(!stage.player.is_resting());
        stage.pass(100);
        assert!(stage.player.is_resting());
    }

    #[test]
    fn reports_carry_the_tag_and_stand_apart_from_prose() {
        let text =
            "speed 0\non prompt\n  say Fine.\n  build pass\n  status done \"all of $TOPIC\"\n";
        let mut stage = Stage::new(text);
        stage.prompt("Build it.\nTag: k7f3");
        let expected = "● Fine.\n\n  BUILD(k7f3): PASS\n  STATUS(k7f3): DONE — all of Build it\n";
        assert!(stage.text().contains(expected), "{}", stage.text());
    }

    #[test]
    fn a_permission_is_asked_for_once_if_it_is_given_for_good() {
        let text = "speed 0\non prompt\n  repeat 2\n    approve \"cargo add axum\"\n    run true\n";
        let mut stage = Stage::new(text);
        stage.prompt("Go");
        assert_eq!(stage.player.ui.turn, TurnState::Permission);
        stage.press("2");
        let act = Act::Run("true".into());
        assert_eq!(stage.player.take_orders(), [Order::Act { number: 1, act: act.clone() }]);
        stage.player.acted(1, true, vec!["ok".into()], stage.now);
        stage.pass(20);
        assert_eq!(stage.player.take_orders(), [Order::Act { number: 2, act }]);
    }

    #[test]
    fn a_no_ends_the_turn_where_the_script_says_so() {
        let text = "speed 0\non prompt\n  approve rm else stop\n  say never\n";
        let mut stage = Stage::new(text);
        stage.prompt("Go");
        stage.press("3");
        let text = stage.text();
        assert!(
            text.ends_with("declined by the user\n  ⎿  Interrupted · What should I do instead?")
        );
        assert!(!text.contains("never") && stage.player.is_resting());
    }

    #[test]
    fn an_answer_chooses_the_branch() {
        let text = "speed 0\non prompt\n  ask Port? 8080 3000\n  if answer 3000\n    say low\n  else\n    say high\n";
        let mut stage = Stage::new(text);
        stage.prompt("Go");
        assert_eq!(stage.player.ui.turn, TurnState::Question);
        stage.press("down");
        stage.press("enter");
        assert!(stage.text().contains("● low"), "{}", stage.text());
    }

    #[test]
    fn escape_interrupts_and_a_late_outcome_counts_for_nothing() {
        let mut stage = Stage::new("on prompt\n  run sleep 60\n  say never\n");
        stage.prompt("Go");
        assert_eq!(stage.player.take_orders().len(), 1);
        stage.press("esc");
        assert_eq!(stage.player.take_orders(), [Order::Abandon]);
        stage.player.acted(1, true, Vec::new(), stage.now);
        stage.pass(5000);
        assert!(stage.text().ends_with("Interrupted · What should I do instead?"));
        assert_eq!(stage.player.ui.turn, TurnState::Idle);
    }

    #[test]
    fn a_prompt_that_comes_during_a_turn_waits_for_its_end() {
        let mut stage = Stage::new("on prompt\n  think 1s\n  say \"$PROMPT!\"\n");
        stage.prompt("First");
        stage.prompt("Second");
        assert_eq!(stage.player.ui.queue, ["Second"]);
        stage.pass(3000);
        let text = stage.text();
        assert!(text.find("First!") < text.find("Second!") && text.contains("Second!"));
    }

    #[test]
    fn control_c_twice_ends_the_program_but_not_once() {
        let mut stage = Stage::new("");
        stage.press("x");
        stage.press("ctrl-c");
        assert!(stage.player.ui.editor.is_empty());
        assert_eq!(stage.player.ui.notice.as_deref(), Some("Press Ctrl-C again to exit"));
        stage.pass(2000);
        assert_eq!(stage.player.ui.notice, None);
        stage.press("ctrl-c");
        assert_eq!(stage.player.take_orders(), []);
        stage.press("ctrl-c");
        assert_eq!(stage.player.take_orders(), [Order::Exit(0)]);
    }

    #[test]
    fn a_shy_box_takes_enter_for_a_new_line_right_after_a_paste() {
        let mut stage = Stage::new("quirk paste-enter\non prompt\n  stop\n");
        stage.prompt("Go");
        assert_eq!(stage.player.ui.editor.shown().0, "Go\n");
        stage.pass(40);
        stage.press("enter");
        assert!(stage.player.ui.editor.is_empty() && stage.text().contains("❯ Go"));
    }

    #[test]
    fn an_agent_of_its_own_accord_rests_between_turns_and_takes_prompts_there() {
        let text = "at start\n  loop\n    think 1s\n    say Round.\n    idle 5s\non prompt\n  say \"Yes.\"\n";
        let mut stage = Stage::new(text);
        stage.pass(1500);
        assert_eq!(stage.player.ui.turn, TurnState::Done);
        stage.prompt("Hello");
        stage.pass(1500);
        let text = stage.text();
        assert!(text.contains("● Yes.") && text.matches("● Round.").count() == 2, "{text}");
    }

    #[test]
    fn a_first_prompt_is_answered_in_its_own_way_once() {
        let text = "speed 0\nat start\n  status done \"the story\"\non prompt\n  say Again.\n";
        let script = Script::parse(text).unwrap().started_by_prompt();
        let mut player = Player::new(script, &Facts::default(), Moment(0));
        player.advance(Moment(0));
        let mut stage = Stage { player, now: Moment(0) };
        assert!(!stage.text().contains("STATUS"));
        stage.prompt("Go. Tag: k7f3");
        stage.prompt("And now?");
        let text = stage.text();
        assert_eq!(text.matches("STATUS(k7f3): DONE — the story").count(), 1);
        assert!(text.contains("● Again."), "{text}");
    }

    #[test]
    fn an_endless_loop_without_waiting_leaves_time_for_others() {
        let mut stage = Stage::new("speed 0\nat start\n  loop\n    pick X a b\n");
        let now = stage.now;
        assert!(stage.player.deadline(now).unwrap() > now);
        stage.pass(100);
        assert!(stage.player.deadline(stage.now).is_some());
    }

    #[test]
    fn one_that_hangs_has_no_deadline_and_no_ears() {
        let mut stage = Stage::new("at start\n  think 1s\n  hang\n  say never\n");
        stage.pass(2000);
        assert!(stage.player.is_hanging());
        assert_eq!(stage.player.deadline(stage.now), None);
    }

    #[test]
    fn the_same_seed_makes_the_same_choices() {
        let text = "speed 0\nseed 3\non prompt\n  repeat 9\n    pick X a b c\n    say $X\n";
        let played = || {
            let mut stage = Stage::new(text);
            stage.prompt("Go");
            stage.pass(500);
            stage.text()
        };
        assert_eq!(played(), played());
        assert!(played().contains('a') && played().contains('b'));
    }
}
