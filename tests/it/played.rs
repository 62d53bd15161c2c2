//! A program that is played: it takes keys, and draws a screen like one of the real ones.

use std::sync::Arc;
use std::time::Duration;

use wheelhouse::deliver::{
    Delivery, DeliveryStage, DialogAnswer, Interrupt, PaneAction, PaneSnapshot,
};
use wheelhouse::detect::{Detector, Options, Rules, Sight};
use wheelhouse::model::{Manifest, Moment, Size};
use wheelhouse::screen::{HistoryLimit, Screen};

use super::acted::{manifest, rules};
use super::played_draw::draw;

/// Whose interface it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Claude,
    Codex,
    Gemini,
    OpenCode,
    Shell,
}

pub(crate) const BOXES: [Shape; 4] = [Shape::Claude, Shape::Codex, Shape::Gemini, Shape::OpenCode];

/// What it does well and badly.
#[expect(clippy::struct_excessive_bools, reason = "each is a fault of its own")]
#[derive(Clone, Debug)]
pub(crate) struct Manners {
    pub(crate) echo_ms: u64,
    /// So many presses of Enter make a new line.
    pub(crate) newlines: usize,
    /// Enter clears the box, and nothing comes of it.
    pub(crate) forgets: bool,
    /// It shows nothing of what is typed.
    pub(crate) is_blind: bool,
    /// It writes without a pause.
    pub(crate) is_restless: bool,
    pub(crate) work_ms: u64,
    /// So many presses of the interrupting key are needed.
    pub(crate) stubbornness: usize,
    /// The mark in a dialog stays where it is.
    pub(crate) mark_is_stuck: bool,
    /// An interrupted prompt stands in the composer again.
    pub(crate) puts_back: bool,
    /// Enter in a dialog does nothing.
    pub(crate) enter_is_lost: bool,
    /// Each frame stands half drawn on the screen for so long.
    pub(crate) torn_ms: u64,
    /// A paste of so many lines is shown by a placeholder.
    pub(crate) placeholder_lines: usize,
}

/// A dialog with a mark.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) about: String,
    pub(crate) options: Vec<String>,
    pub(crate) mark: usize,
}

type Plan = (Moment, Box<dyn FnOnce(&mut Played)>);

/// The program, its pane, and what was typed into it.
pub(crate) struct Played {
    pub(crate) shape: Shape,
    pub(crate) manners: Manners,
    pub(crate) rules: Arc<Rules>,
    pub(crate) manifest: Manifest,
    pub(crate) screen: Screen,
    pub(crate) detector: Detector,
    pub(crate) now: Moment,
    pub(crate) composer: String,
    pub(crate) conversation: Vec<String>,
    pub(crate) asked: Option<Asked>,
    pub(crate) works_until: Option<Moment>,
    pub(crate) has_room: bool,
    pub(crate) heard_at: Option<Moment>,
    /// The prompt that the hook named.
    pub(crate) heard: Option<String>,
    pub(crate) typed_at: Option<Moment>,
    /// How long the disk takes to put a stage on record, in milliseconds.
    pub(crate) record_ms: u64,
    /// Each write of the machine.
    pub(crate) writes: Vec<Vec<u8>>,
    /// What was typed while a dialog was open, and what that was about.
    pub(crate) typed_at_dialogs: Vec<(String, Vec<u8>)>,
    /// The prompts that it took.
    pub(crate) taken: Vec<String>,
    /// The options that were chosen.
    pub(crate) chosen: Vec<String>,
    /// Interrupting keys that it got.
    pub(crate) interrupts: usize,
    /// What a paste has brought so far.
    paste: Option<Vec<u8>>,
    plans: Vec<Plan>,
}

/// The machines have the same handles.
pub(crate) trait Machine {
    fn look(&mut self, scene: &PaneSnapshot, now: Moment) -> Vec<PaneAction>;
    fn deadline(&self) -> Option<Moment>;
    /// Is told that what it told is on record.
    fn recorded(&mut self, now: Moment);
}

macro_rules! machine {
    ($($name:ty, $recorded:expr);*) => {$(
        impl Machine for $name {
            fn look(&mut self, scene: &PaneSnapshot, now: Moment) -> Vec<PaneAction> {
                self.observe(scene, now)
            }

            fn deadline(&self) -> Option<Moment> {
                self.next_deadline()
            }

            fn recorded(&mut self, now: Moment) {
                let recorded: fn(&mut Self, Moment) = $recorded;
                recorded(self, now);
            }
        }
    )*};
}

// Answers and interrupts wait for no record.
machine!(Delivery, Self::note_recorded; DialogAnswer, |_, _| {}; Interrupt, |_, _| {});

impl Played {
    pub(crate) fn new(shape: Shape) -> Self {
        let cli = match shape {
            Shape::Claude => "claude",
            Shape::Codex => "codex",
            Shape::Gemini => "gemini",
            Shape::OpenCode => "opencode",
            Shape::Shell => "shell",
        };
        let rules = rules(cli);
        let manners = Manners {
            echo_ms: 30,
            newlines: 0,
            forgets: false,
            is_blind: false,
            is_restless: false,
            work_ms: 2000,
            stubbornness: 1,
            mark_is_stuck: false,
            puts_back: false,
            enter_is_lost: false,
            torn_ms: 0,
            placeholder_lines: 6,
        };
        let size = Size { rows: 40, cols: 100 };
        let mut played = Self {
            shape,
            manners,
            manifest: manifest(cli),
            screen: Screen::new(size, HistoryLimit::default()),
            detector: Detector::new(Arc::clone(&rules), Options::default(), Moment(0)),
            rules,
            now: Moment(1000),
            composer: String::new(),
            conversation: Vec::new(),
            asked: None,
            works_until: None,
            has_room: true,
            heard_at: None,
            heard: None,
            typed_at: None,
            record_ms: 0,
            writes: Vec::new(),
            typed_at_dialogs: Vec::new(),
            taken: Vec::new(),
            chosen: Vec::new(),
            interrupts: 0,
            paste: None,
            plans: Vec::new(),
        };
        if shape == Shape::Shell {
            played.write("user@host:~$ ");
        } else {
            played.write("\x1b[?2004h");
            played.redraw();
        }
        played.pass(3000);
        played
    }

    /// Plans something for later.
    pub(crate) fn later(&mut self, milliseconds: u64, what: impl FnOnce(&mut Self) + 'static) {
        self.plans.push((self.now + Duration::from_millis(milliseconds), Box::new(what)));
    }

    /// Lets time pass without a machine.
    pub(crate) fn pass(&mut self, milliseconds: u64) {
        let until = self.now + Duration::from_millis(milliseconds);
        while let Some(at) = self.next_own().filter(|at| *at <= until) {
            self.go_on(at);
        }
        self.now = until;
    }

    /// Lets a machine do its work, and returns the stages that it told.
    pub(crate) fn run(&mut self, machine: &mut impl Machine) -> Vec<DeliveryStage> {
        let mut stages = Vec::new();
        let end = self.now + Duration::from_mins(2);
        let mut idle_turns = 0;
        let mut recorded_at = None;
        while self.now < end {
            if recorded_at.is_some_and(|at| at <= self.now) {
                recorded_at = None;
                machine.recorded(self.now);
            }
            let acts = machine.look(&self.scene(), self.now);
            let before = self.now;
            for act in acts {
                idle_turns = 0;
                match act {
                    PaneAction::Stage(stage) => {
                        let disk = Duration::from_millis(self.record_ms);
                        recorded_at = stage.awaits_record().then_some(self.now + disk);
                        stages.push(stage);
                    }
                    PaneAction::Write(bytes) => self.take(&bytes),
                }
            }
            if stages.last().is_some_and(DeliveryStage::is_final) {
                break;
            }
            let times = [self.next_own(), machine.deadline(), recorded_at];
            let Some(next) = times.into_iter().flatten().min() else { break };
            self.go_on(next.max(self.now));
            idle_turns = if self.now == before { idle_turns + 1 } else { 0 };
            assert!(idle_turns < 50, "a deadline that lies behind keeps the hub busy");
        }
        stages
    }

    pub(crate) fn scene(&self) -> PaneSnapshot<'_> {
        PaneSnapshot {
            screen: &self.screen,
            rules: &self.rules,
            shown: self.detector.shown(),
            prompt_heard_at: self.heard_at,
            prompt_heard: self.heard.as_deref(),
            awaits_turn: self.detector.awaits_turn(),
            typed_at: self.typed_at,
            has_room: self.has_room,
        }
    }

    pub(crate) fn sight(&self) -> Sight {
        Sight::new(&self.screen, &self.rules)
    }

    /// Returns how often Enter was pressed, each time as a write of its own.
    pub(crate) fn presses(&self) -> usize {
        self.writes.iter().filter(|bytes| *bytes == b"\r").count()
    }

    /// Returns all that was typed but for Enter.
    pub(crate) fn typed(&self) -> Vec<u8> {
        self.writes.iter().filter(|bytes| *bytes != b"\r").flatten().copied().collect()
    }

    pub(crate) fn ask(&mut self, about: &str, options: &[&str]) {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        self.asked = Some(Asked { about: about.to_owned(), options, mark: 0 });
        self.redraw();
    }

    pub(crate) fn write(&mut self, text: &str) {
        let signals = self.screen.feed(text.as_bytes(), self.now).signals;
        self.detector.observe(&self.screen, &signals, self.now);
    }

    pub(crate) fn redraw(&mut self) {
        if self.shape != Shape::Shell {
            let page = draw(self);
            if self.manners.torn_ms == 0 {
                return self.write(&page);
            }
            let cuts: Vec<usize> = page.match_indices("\x1b[").map(|(at, _)| at).collect();
            let (half, rest) = page.split_at(cuts[cuts.len() / 2]);
            self.write(half);
            let rest = rest.to_owned();
            self.later(self.manners.torn_ms, move |played| played.write(&rest));
        }
    }

    pub(crate) fn is_working(&self) -> bool {
        self.works_until.is_some_and(|until| self.now < until)
    }

    fn next_own(&self) -> Option<Moment> {
        let plan = self.plans.iter().map(|plan| plan.0).min();
        plan.into_iter().chain(self.detector.next_deadline()).min()
    }

    /// Goes on to a moment, and does what was planned for it.
    fn go_on(&mut self, at: Moment) {
        self.now = self.now.max(at);
        while let Some(index) = self.plans.iter().position(|plan| plan.0 <= self.now) {
            let (_, what) = self.plans.remove(index);
            what(self);
        }
        self.detector.observe(&self.screen, &[], self.now);
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Some(asked) = &self.asked {
            self.typed_at_dialogs.push((asked.about.clone(), bytes.to_vec()));
        }
        self.writes.push(bytes.to_vec());
        let was_pasting = self.paste.is_some();
        let starts = bytes.starts_with(b"\x1b[200~");
        if starts || was_pasting {
            let paste = self.paste.get_or_insert_default();
            paste.extend_from_slice(if starts { &bytes[6..] } else { bytes });
            if let Some(whole) = paste.strip_suffix(b"\x1b[201~") {
                let text = String::from_utf8(whole.to_vec()).unwrap();
                self.paste = None;
                self.insert(&text);
            }
            return;
        }
        match bytes {
            b"\r" => self.enter(),
            b"\x03" if !self.is_working() && !self.composer.is_empty() => {
                self.composer.clear();
                self.later(self.manners.echo_ms, Self::redraw);
            }
            b"\x1b" | b"\x03" => self.interrupt(),
            b"\x1b[A" | b"\x1b[D" => self.move_mark(-1),
            b"\x1b[B" | b"\x1b[C" => self.move_mark(1),
            text => self.insert(std::str::from_utf8(text).unwrap()),
        }
    }

    fn insert(&mut self, text: &str) {
        if let Some(asked) = &mut self.asked
            && let Some(number) = text.parse::<usize>().ok().filter(|_| !asked.options.is_empty())
        {
            asked.mark = number - 1;
            return self.enter();
        }
        self.composer.push_str(text);
        if self.manners.is_blind {
            return;
        }
        let echo = text.to_owned();
        self.later(self.manners.echo_ms, move |played| match played.shape {
            Shape::Shell => played.write(&echo),
            Shape::Claude | Shape::Codex | Shape::Gemini | Shape::OpenCode => played.redraw(),
        });
    }

    fn enter(&mut self) {
        self.later(self.manners.echo_ms, |played| {
            if played.asked.as_ref().is_some_and(|asked| !asked.options.is_empty()) {
                if played.manners.enter_is_lost {
                    return played.redraw();
                }
                let asked = played.asked.take().unwrap();
                played.chosen.push(asked.options[asked.mark].clone());
                return played.redraw();
            }
            if played.manners.newlines > 0 {
                played.manners.newlines -= 1;
                played.composer.push('\n');
                return played.redraw();
            }
            let text = std::mem::take(&mut played.composer);
            if played.manners.forgets {
                return played.redraw();
            }
            if played.shape == Shape::Shell {
                return played.run_line(text);
            }
            if !text.is_empty() {
                played.conversation.push(text.clone());
                played.taken.push(text);
                let until = played.now + Duration::from_millis(played.manners.work_ms);
                played.works_until = Some(until);
                played.later(played.manners.work_ms, Self::redraw);
            }
            played.redraw();
        });
    }

    /// Runs a line as a shell does: a new row, and the prompt again when it is done.
    fn run_line(&mut self, text: String) {
        self.taken.push(text);
        self.asked = None;
        self.write("\r\n");
        self.later(self.manners.work_ms, |played| played.write("user@host:~$ "));
    }

    fn interrupt(&mut self) {
        self.interrupts += 1;
        if self.is_working() && self.interrupts >= self.manners.stubbornness {
            self.works_until = None;
            if self.manners.puts_back && self.composer.is_empty() {
                self.composer = self.conversation.pop().unwrap_or_default();
            }
        }
        self.later(self.manners.echo_ms, Self::redraw);
    }

    fn move_mark(&mut self, by: isize) {
        let is_stuck = self.manners.mark_is_stuck;
        if let Some(asked) = self.asked.as_mut().filter(|_| !is_stuck) {
            let last = asked.options.len() - 1;
            asked.mark = asked.mark.saturating_add_signed(by).min(last);
        }
        self.later(self.manners.echo_ms, Self::redraw);
    }
}
