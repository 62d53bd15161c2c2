//! Plays one step after the other, as far as time allows.

use std::collections::VecDeque;
use std::time::Duration;

use crate::model::Moment;

use super::block::{Block, Outcome, Todo};
use super::dialog::{Dialog, Pressed, program};
use super::order::Order;
use super::player::{Activity, Frame, FrameKind, Player};
use super::script::{Act, Approval, ApprovalKind, Condition, Rude, Step, Steps};
use super::ui::TurnState;

/// Steps that are played before the next frame; they make fewer blocks than the `Ui` holds, so
/// that none is lost before it is drawn.
const STEPS_PER_CALL: usize = 50;
/// A round of an endless loop takes at least this long, so that it does not eat a core.
const ROUND_MIN: Duration = Duration::from_millis(10);
/// The time between two words of a message.
const WORD_TIME: Duration = Duration::from_millis(30);
/// A message that grows without end is cut here.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

impl Player {
    /// Plays as far as the script can go at this moment.
    pub(super) fn advance(&mut self, now: Moment) {
        self.expire_notice(now);
        for _ in 0..STEPS_PER_CALL {
            // What was ordered comes before what follows it in the script.
            let has_orders = !self.orders.is_empty();
            if has_orders || !self.finish_activity(now) || !self.next_step(now) {
                break;
            }
        }
        self.spin(now);
    }

    /// Ends what is over by now; says whether the next step may begin.
    fn finish_activity(&mut self, now: Moment) -> bool {
        match &mut self.activity {
            Activity::Ready => true,
            Activity::Until(until) | Activity::Repaint(until) | Activity::Hang(Some(until)) => {
                now >= *until
            }
            Activity::Tool { until, output } => {
                let is_over = now >= *until;
                if is_over {
                    let output = std::mem::take(output);
                    self.ui.close_tool(Outcome::Passed(output));
                }
                is_over
            }
            Activity::Stream { .. } => self.stream(now),
            Activity::Approval(_)
            | Activity::Question
            | Activity::Act
            | Activity::Hang(None)
            | Activity::Over => false,
        }
    }

    /// Shows the words that are due; says whether all are shown.
    fn stream(&mut self, now: Moment) -> bool {
        let pause = self.scaled(WORD_TIME);
        let Activity::Stream { words, next } = &mut self.activity else { return true };
        while *next <= now {
            let Some(word) = words.pop_front() else { return true };
            *next = *next + pause;
            if let Some(Block::Message(text)) = self.ui.blocks.back_mut()
                && text.len() + word.len() <= MESSAGE_BYTES_MAX
            {
                text.push_str(&word);
            }
            if let Some(turn) = &mut self.turn {
                turn.words += 1;
            }
        }
        words.is_empty()
    }

    /// Begins the next step, if there is one.
    fn next_step(&mut self, now: Moment) -> bool {
        self.activity = Activity::Ready;
        let Some(frame) = self.frames.last_mut() else { return false };
        if let Some(step) = frame.steps.get(frame.at).cloned() {
            frame.at += 1;
            self.begin(step, now);
            return true;
        }
        match &mut frame.kind {
            FrameKind::Branch | FrameKind::Repeat(Some(0 | 1)) => {
                self.frames.pop();
            }
            FrameKind::Repeat(times) => {
                *times = times.map(|times| times - 1);
                frame.at = 0;
                if times.is_none() && now.since(frame.began) < ROUND_MIN {
                    self.activity = Activity::Until(frame.began + ROUND_MIN);
                }
                frame.began = now;
            }
            FrameKind::Turn => {
                self.frames.pop();
                self.end_turn(now);
                self.next_prompt(now);
            }
        }
        true
    }

    fn begin(&mut self, step: Step, now: Moment) {
        if opens_turn(&step) {
            self.begin_turn(now);
        }
        match step {
            Step::Think { time, verb } => self.think(time, verb.as_deref(), now),
            Step::Say(text) => {
                let text = self.names.fill(&text);
                self.say(&text, false, now);
            }
            Step::Report(report) => {
                let text = self.names.fill(&report.text(self.names.get("TAG")));
                self.say(&text, true, now);
            }
            Step::Tool { title, time, output } => {
                self.ui.open(Block::Tool {
                    title: self.names.fill(&title),
                    outcome: Outcome::Running,
                });
                let output = output.iter().map(|line| self.names.fill(line)).collect();
                self.activity = Activity::Tool { until: now + self.scaled(time), output };
            }
            Step::Act(act) => self.order_act(&act),
            Step::Approve(approval) => self.approve(&approval),
            Step::Ask { question, options } => {
                let options = options.iter().map(|option| self.names.fill(option)).collect();
                let dialog = Dialog::question(self.names.fill(&question), options);
                self.open_dialog(dialog, Activity::Question);
            }
            Step::Todo(items) => {
                let todo = |text: &String| Todo { text: self.names.fill(text), is_done: false };
                self.ui.todos = items.iter().map(todo).collect();
                self.ui.is_last_open = false;
            }
            Step::Tick(number) => {
                let item = number.checked_sub(1).and_then(|at| self.ui.todos.get_mut(at));
                if let Some(todo) = item {
                    todo.is_done = true;
                }
            }
            Step::Limit(reset) => {
                self.fail(format!("You've hit your session limit · resets {reset}"));
            }
            Step::Error(text) => self.fail(self.names.fill(&text)),
            Step::Wait(time) => self.activity = Activity::Until(now + self.scaled(time)),
            Step::Idle(time) => {
                self.end_turn(now);
                self.activity = Activity::Until(now + self.scaled(time));
                self.next_prompt(now);
            }
            Step::Repeat { times: Some(0), .. } => {}
            Step::Repeat { times, steps } => self.enter(steps, FrameKind::Repeat(times), now),
            Step::If { condition, then, otherwise } => {
                let steps = if self.holds(&condition) { then } else { otherwise };
                self.enter(steps, FrameKind::Branch, now);
            }
            Step::Pick { name, choices } => {
                let choice = self.random.below(choices.len());
                self.names.set(&name, self.names.fill(&choices[choice]));
            }
            Step::Stop => self.stop(now),
            Step::Exit(code) => self.exit(code),
            Step::Rude(rude) => self.misbehave(rude, now),
        }
    }

    fn enter(&mut self, steps: Steps, kind: FrameKind, now: Moment) {
        self.frames.push(Frame { steps, at: 0, kind, began: now });
    }

    fn stop(&mut self, now: Moment) {
        self.leave_frames();
        self.end_turn(now);
        self.next_prompt(now);
    }

    fn think(&mut self, time: Duration, verb: Option<&str>, now: Moment) {
        self.ui.is_last_open = false;
        if let (Some(turn), Some(verb)) = (&mut self.turn, verb) {
            turn.verb = self.names.fill(verb);
        }
        self.activity = Activity::Until(now + self.scaled(time));
    }

    /// Adds a text to the open message, or opens one.
    fn say(&mut self, text: &str, is_report: bool, now: Moment) {
        let Some(turn) = &mut self.turn else { return };
        let follows_report = std::mem::replace(&mut turn.ends_in_report, is_report);
        let is_joined =
            self.ui.is_last_open && matches!(self.ui.blocks.back(), Some(Block::Message(_)));
        let mut words: VecDeque<String> =
            text.split_inclusive([' ', '\n']).map(Into::into).collect();
        if is_joined {
            // Whoever joins wrapped lines would take a direct neighbour for a continuation.
            let gap = if follows_report && is_report { "\n" } else { "\n\n" };
            words.push_front(gap.into());
        } else {
            self.ui.open(Block::Message(String::new()));
        }
        self.activity = Activity::Stream { words, next: now };
    }

    fn fail(&mut self, text: String) {
        self.ui.push(Block::Failure(text));
        if let Some(turn) = &mut self.turn {
            turn.has_failed = true;
        }
    }

    fn order_act(&mut self, act: &Act) {
        let fill = |text: &String| self.names.fill(text);
        let (title, act) = match act {
            Act::Run(command) => (format!("Bash({})", fill(command)), Act::Run(fill(command))),
            Act::Await { path, time } => (
                format!("Read({})", fill(path)),
                Act::Await { path: fill(path), time: self.scaled(*time) },
            ),
            Act::Write { path, text } => (
                format!("Write({})", fill(path)),
                Act::Write { path: fill(path), text: fill(text) },
            ),
            Act::Append { path, text } => (
                format!("Update({})", fill(path)),
                Act::Append { path: fill(path), text: fill(text) },
            ),
            Act::Replace { path, old, new } => (
                format!("Update({})", fill(path)),
                Act::Replace { path: fill(path), old: fill(old), new: fill(new) },
            ),
            Act::Commit { message, paths } => (
                format!("Bash(git commit -m \"{}\")", fill(message)),
                Act::Commit { message: fill(message), paths: paths.iter().map(fill).collect() },
            ),
        };
        self.ui.open(Block::Tool { title, outcome: Outcome::Running });
        self.act += 1;
        self.orders.push(Order::Act { number: self.act, act });
        self.activity = Activity::Act;
    }

    fn approve(&mut self, approval: &Approval) {
        let subject = self.names.fill(&approval.subject);
        let reason = approval.reason.as_ref().map(|reason| self.names.fill(reason));
        let approval = Approval { subject, reason, ..approval.clone() };
        if self.allowed.contains(&permission(&approval)) {
            self.answer = Some((1, "Yes".into()));
        } else {
            let dialog = Dialog::approval(&approval);
            self.open_dialog(dialog, Activity::Approval(approval));
        }
    }

    /// Goes on after a dialog was answered.
    pub(super) fn settle_dialog(&mut self, pressed: Pressed, now: Moment) {
        self.ui.dialog = None;
        self.ui.turn = TurnState::Working;
        let (number, text) = match pressed {
            Pressed::Chosen { number, text } => (number, text),
            Pressed::Cancelled | Pressed::Open => (0, String::new()),
        };
        self.names.set("ANSWER", &text);
        self.answer = Some((number, text));
        let activity = std::mem::replace(&mut self.activity, Activity::Ready);
        if let Activity::Approval(approval) = activity {
            self.settle_approval(&approval, number, now);
        } else if number == 0 {
            self.interrupt(now);
        } else {
            let text = format!("You chose: {}", self.names.get("ANSWER"));
            self.ui.push(Block::Remark(text));
        }
    }

    fn settle_approval(&mut self, approval: &Approval, number: usize, now: Moment) {
        match number {
            1 => {}
            2 => {
                self.allowed.insert(permission(approval));
            }
            _ => {
                let title = match approval.kind {
                    ApprovalKind::Command => format!("Bash({})", approval.subject),
                    ApprovalKind::Create => format!("Write({})", approval.subject),
                    ApprovalKind::Edit => format!("Update({})", approval.subject),
                };
                let outcome = Outcome::Failed(vec!["No, declined by the user".into()]);
                self.ui.push(Block::Tool { title, outcome });
                if approval.stops {
                    self.interrupt(now);
                }
            }
        }
    }

    fn holds(&mut self, condition: &Condition) -> bool {
        match condition {
            Condition::Answer(wanted) => self.answer.as_ref().is_some_and(|(number, text)| {
                number.to_string() == *wanted || text.eq_ignore_ascii_case(wanted)
            }),
            Condition::PromptContains(part) => {
                self.prompt.to_lowercase().contains(&part.to_lowercase())
            }
            Condition::Passed(wanted) => self.has_passed == *wanted,
            Condition::Chance(share) => self.random.below(100) < usize::from(*share),
        }
    }

    fn misbehave(&mut self, rude: Rude, now: Moment) {
        let order = match rude {
            Rude::Ignore(signals) => Order::Ignore(signals),
            Rude::Detach { time, keeps_terminal } => Order::Detach { time, keeps_terminal },
            Rude::Flood { kind, bytes } => Order::Flood { kind, bytes, seed: self.random.next() },
            Rude::Die => Order::Die,
            Rude::Memory(bytes) => Order::Memory(bytes),
            Rude::Raw(text) => Order::Raw(self.names.fill(&text)),
            Rude::Repaint(time) => {
                self.activity = Activity::Repaint(now + self.scaled(time));
                return;
            }
            Rude::Hang(time) => {
                self.activity = Activity::Hang(time.map(|time| now + self.scaled(time)));
                return;
            }
        };
        self.orders.push(order);
    }

    fn scaled(&self, time: Duration) -> Duration {
        let speed = self.script.settings.speed;
        if speed > 0.0 { time.div_f64(speed) } else { Duration::ZERO }
    }
}

/// Says whether a step is work that others see as such.
fn opens_turn(step: &Step) -> bool {
    match step {
        Step::Think { .. }
        | Step::Say(_)
        | Step::Report(_)
        | Step::Tool { .. }
        | Step::Act(_)
        | Step::Approve(_)
        | Step::Ask { .. }
        | Step::Todo(_)
        | Step::Tick(_)
        | Step::Limit(_)
        | Step::Error(_)
        | Step::Rude(Rude::Repaint(_)) => true,
        Step::Wait(_)
        | Step::Idle(_)
        | Step::Repeat { .. }
        | Step::If { .. }
        | Step::Pick { .. }
        | Step::Stop
        | Step::Exit(_)
        | Step::Rude(_) => false,
    }
}

/// Returns what a permission that is given for good is remembered by.
fn permission(approval: &Approval) -> String {
    match approval.kind {
        ApprovalKind::Command => program(&approval.subject),
        ApprovalKind::Create | ApprovalKind::Edit => "edits".into(),
    }
}
