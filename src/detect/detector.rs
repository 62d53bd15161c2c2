//! Watches one pane: output and time in, findings out.

use std::sync::Arc;
use std::time::Duration;

use crate::model::{AgentState, Exit, Moment, RulesFit, Size, Source};
use crate::screen::{Screen, Signal};

use super::asked::Asked;
use super::dialog::{self, Dialog};
use super::explain::Explanation;
use super::finding::{Finding, Shown, merge_states};
use super::fit::{self, Answers};
use super::general::{BELL, General};
use super::ledger::Ledger;
use super::look::{Verdict, judge};
use super::meter::Meter;
use super::reporter::Reporters;
use super::rules::Rules;
use super::schedule::Schedule;
use super::signals::Signals;
use super::state::{Evidence, STATUS, is_at_work, stance_of};
use super::told_command::ToldCommand;
use super::transcript::{Reading, SECOND_LOOK, Transcript};
use super::turn::{TURN_GRACE, Turn};
use super::view::View;
use super::words::Words;

/// A program has drawn itself anew by then.
pub(super) const RESIZE_GRACE: Duration = Duration::from_secs(3);
/// With no output for this long, a program whose output means work says nothing any more.
const SILENCE: Duration = Duration::from_millis(1600);
/// A program that starts and has shown something nobody knows, and nothing more for this long, will
/// not show anything known either. Slow ones pause for seconds before they draw their interface.
const START_PATIENCE: Duration = Duration::from_secs(10);
/// A program without an interface of its own that has not written a word for this long is not
/// loading any more: it may well wait for input.
const SILENT_START: Duration = Duration::from_secs(20);

/// What a detector may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The program's status and title; else the screen alone.
    pub uses_signals: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { uses_signals: true }
    }
}

/// Watches one pane.
#[derive(Debug)]
pub struct Detector {
    pub(super) rules: Arc<Rules>,
    pub(super) options: Options,
    pub(super) schedule: Schedule,
    pub(super) signals: Signals,
    pub(super) reporters: Reporters,
    pub(super) transcript: Transcript,
    pub(super) ledger: Ledger,
    pub(super) evidence: Evidence,
    pub(super) shown: Shown,
    /// What is shown was never told: it is what an earlier detector showed.
    pub(super) is_news: bool,
    /// A state that has yet to last.
    next: Option<Shown>,
    asked: Asked,
    pub(super) told_command: ToldCommand,
    pub(super) turn: Turn,
    pub(super) words: Words,
    pub(super) meter: Meter,
    /// A sign of a compaction is in sight.
    pub(super) shows_compaction: bool,
    /// When to look again for what may have been half of a frame.
    pub(super) second_look: Option<Moment>,
    pub(super) general: General,
    pub(super) fit: RulesFit,
    pub(super) answers: Answers,
    size: Option<Size>,
    /// Where the last look cut the rows.
    cut: Option<usize>,
    pub(super) resized_at: Option<Moment>,
    /// Counts what changed in the memory, beside the transcript.
    pub(super) changes: u64,
}

impl Detector {
    pub fn new(rules: Arc<Rules>, options: Options, now: Moment) -> Self {
        let shown = Shown {
            state: AgentState::Starting,
            source: Source::Process,
            rule: "process.started".into(),
            line: String::new(),
            reset: None,
            since: now,
        };
        Self {
            rules,
            options,
            schedule: Schedule::default(),
            signals: Signals::default(),
            reporters: Reporters::default(),
            transcript: Transcript::default(),
            ledger: Ledger::default(),
            evidence: Evidence::default(),
            shown,
            is_news: false,
            next: None,
            asked: Asked::default(),
            told_command: ToldCommand::default(),
            turn: Turn::default(),
            words: Words::default(),
            meter: Meter::default(),
            shows_compaction: false,
            second_look: None,
            general: General::default(),
            fit: RulesFit::default(),
            answers: Answers::default(),
            size: None,
            cut: None,
            resized_at: None,
            changes: 0,
        }
    }

    /// Takes what the pane shows now, and the signals since the last call. To be called after
    /// output, after a resize and at the deadline.
    pub fn observe(&mut self, screen: &Screen, signals: &[Signal], now: Moment) -> Vec<Finding> {
        let mut has_signals = false;
        for signal in signals {
            has_signals |= self.take_signal(signal, now);
        }
        self.schedule.note(screen, has_signals, now);
        let mut findings = Vec::new();
        let is_settling = self.deadline_of_state().is_some_and(|deadline| deadline <= now);
        let has_changed = self.schedule.take(screen, now);
        if has_changed {
            self.evidence.output_at = now;
            self.signals.note_output(now);
            self.fit.dialogs += u32::from(self.answers.take(now));
        }
        if has_changed || is_settling {
            self.look(screen, now, &mut findings);
        }
        findings
    }

    /// Reads output that was printed while nobody read, piece by piece: what one piece shows the
    /// next may draw over. What the agent does now, only the last one tells.
    pub fn catch_up(&mut self, screen: &Screen, signals: &[Signal], now: Moment) {
        self.hear(signals, now);
        self.signals.forget_moment();
        let view = View::new(screen, &self.rules);
        let verdict = judge(&self.rules, &view);
        if self.is_live(verdict.as_ref()) && self.cuts_as_before(&view) && !screen.is_held(now) {
            self.read_conversation(screen, &view, now);
        }
        self.meter.look(&self.rules, &view);
    }

    /// Returns the moment at which `observe` has something to do though nothing was written.
    pub fn next_deadline(&self) -> Option<Moment> {
        self.schedule.due().into_iter().chain(self.deadline_of_state()).min()
    }

    /// Notes that the process is gone, and tells what was left to tell.
    pub fn process_exited(&mut self, exit: Exit, screen: &Screen, now: Moment) -> Vec<Finding> {
        let mut findings = Vec::new();
        self.evidence.exit = Some(exit);
        self.look(screen, now, &mut findings);
        findings
    }

    /// Returns the dialog in sight, once it is drawn.
    pub fn dialog(&self) -> Option<&Dialog> {
        self.asked.shown()
    }

    /// Returns when a hook last told that the agent took a prompt.
    pub fn prompt_heard_at(&self) -> Option<Moment> {
        self.turn.heard_at
    }

    /// Returns the prompt that the hook named, if it named one.
    pub fn prompt_heard(&self) -> Option<&str> {
        self.turn.heard.as_deref()
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    pub fn shown(&self) -> &Shown {
        &self.shown
    }

    /// Returns why the state is what it is.
    pub fn explain(&self, now: Moment) -> Explanation {
        let age = now.since(self.shown.since);
        Explanation { shown: self.shown.clone(), age, testimonies: self.evidence.testimonies() }
    }

    /// Reads by other rules from now on, and looks again soon. What is known of the conversation
    /// stays; the title is weighed anew.
    pub fn set_rules(&mut self, rules: Arc<Rules>, title: &str, now: Moment) {
        if Arc::ptr_eq(&self.rules, &rules) {
            return;
        }
        self.rules = rules;
        if self.options.uses_signals && !title.is_empty() {
            self.signals.take(&Signal::Title(title.to_owned()), &self.rules, now);
        }
        self.schedule.wake(now);
    }

    fn look(&mut self, screen: &Screen, now: Moment, findings: &mut Vec<Finding>) {
        let view = View::new(screen, &self.rules);
        let general = self.general.look(&view, screen, self.evidence.output_at, now);
        let ruled = judge(&self.rules, &view);
        let verdict = self.general.combine(ruled, general, &view, &self.rules);
        let stance = |verdict: &Verdict| stance_of(verdict.state);
        if verdict.as_ref().and_then(stance) != self.evidence.verdict.as_ref().and_then(stance) {
            self.evidence.verdict_since = now;
        }
        let is_dialog = |state| state == AgentState::Waiting;
        let dialog = verdict.as_ref().filter(|verdict| is_dialog(verdict.state));
        self.evidence.asked = dialog.map_or(self.evidence.asked, |verdict| verdict.kind);
        let told = &self.told_command;
        let dialog =
            dialog.and_then(|verdict| dialog::read(verdict, &self.rules, &view, screen, told));
        let is_asked = dialog.as_ref().is_some_and(|dialog| dialog.asks.is_some());
        self.told_command.heed(dialog.is_some(), is_asked);
        self.asked.note(dialog, now);
        let is_live = self.is_live(verdict.as_ref());
        let is_whole = self.cuts_as_before(&view) || self.evidence.exit.is_some();
        self.evidence.verdict = verdict;
        self.evidence.signal = self.signals.claim(self.evidence.is_recognised()).cloned();
        self.watch_work(now);
        self.meter.look(&self.rules, &view);
        if self.sees_compaction(&view) {
            findings.extend(self.note_compaction());
        }
        let before = self.shown.state;
        self.settle_state(now, findings);
        let has_settled = self.has_settled();
        // An unfinished frame is followed by a look at the whole of it.
        if is_live && is_whole && !screen.is_held(now) {
            self.read_conversation(screen, &view, now);
        }
        self.tell_reports(has_settled, now, findings);
        let again = Some(now + SECOND_LOOK).filter(|_| !is_whole);
        self.second_look = again.or_else(|| self.transcript.next_look(self.rest(), now));
        if has_settled {
            // A status that was just told is the state of the turn that has ended.
            self.settle_state(now, findings);
            self.end_turn(before, now);
        }
        self.watch_awaited(now, findings);
        merge_states(findings);
    }

    /// Says whether the conversation is in sight. Where nothing is recognised, a viewer or another
    /// program may cover it; a dialog's entries look like prompts.
    fn is_live(&self, verdict: Option<&Verdict>) -> bool {
        match verdict {
            Some(verdict) => verdict.state != AgentState::Waiting || verdict.rule == BELL,
            None => self.rules.output_means_working || self.rules.is_general,
        }
    }

    /// Says whether the rows are cut where they were at the last look. The border that tells where to
    /// cut may be half drawn, and then every row would lose its end.
    fn cuts_as_before(&mut self, view: &View) -> bool {
        let before = std::mem::replace(&mut self.cut, view.cut);
        view.cut.is_none() || view.cut == before
    }

    fn read_conversation(&mut self, screen: &Screen, view: &View, now: Moment) {
        let counts = self.turn.is_open || now < self.turn.open_until;
        if counts && !self.turn.is_open && self.evidence.shows_work() {
            self.turn.open_until = now + TURN_GRACE;
        }
        if self.size.replace(screen.size()).is_some_and(|size| size != screen.size()) {
            self.resized_at = Some(now);
        }
        // Without rules, nothing else tells a turn that is printed once more, as some programs do at their end.
        let is_over = self.rules.is_general && self.transcript.has_ended();
        // What is printed after a turn says nothing new, however long its program takes to draw itself anew.
        let is_drawn_anew = |at: Moment| now.since(at) < RESIZE_GRACE || !self.turn.is_open;
        let was_resized = self.resized_at.is_some_and(is_drawn_anew);
        let may_repeat = is_over || (was_resized && !screen.modes().alternate_screen);
        let (turn, rest) = (self.ledger.turn(), self.rest());
        let reading = Reading { now, turn, counts, rest, may_repeat };
        self.transcript.look(screen, view, &self.rules, reading);
        self.transcript.number_turns(|| {
            self.ledger.note_echo();
            self.ledger.turn()
        });
    }

    pub(super) fn settle_state(&mut self, now: Moment, findings: &mut Vec<Finding>) {
        let resolved = self.evidence.resolve(&self.rules, now);
        let is_starting = self.shown.state == AgentState::Starting
            && self.start_deadline().is_none_or(|deadline| now < deadline);
        let Some(wanted) = resolved.or_else(|| (!is_starting).then(|| self.unknown(now))) else {
            return;
        };
        if wanted.state == self.shown.state {
            self.next = None;
            let since = self.shown.since;
            self.shown = Shown { since, ..wanted };
            if std::mem::take(&mut self.is_news) {
                findings.push(Finding::State(self.shown.clone()));
            }
            return;
        }
        let since = match &self.next {
            Some(next) if next.state == wanted.state => next.since,
            _ => now,
        };
        if now.since(since) < self.evidence.settle(&self.shown, &wanted, &self.rules) {
            self.next = Some(Shown { since, ..wanted });
            return;
        }
        (self.next, self.is_news) = (None, false);
        // Where output alone means work, much stays unknown.
        let knows_all = !self.rules.output_means_working && !self.rules.is_general;
        fit::note_past(&mut self.fit, &self.shown, knows_all, now);
        self.turn.status_was_shown |= wanted.rule == STATUS;
        self.shown = wanted;
        self.turn.awaited = self.turn.awaited.filter(|_| !is_at_work(self.shown.state));
        findings.push(Finding::State(self.shown.clone()));
    }

    /// Returns when a program that starts has been still for too long to show anything known. One
    /// that has an interface to draw is awaited until it draws something; any other may wait for
    /// input without a word.
    fn start_deadline(&self) -> Option<Moment> {
        let shown_at = Some(self.evidence.output_at).filter(|at| *at != Moment::default());
        let begun_at = Some(self.shown.since).filter(|_| self.rules.output_means_working);
        let silent = begun_at.map(|at| at + SILENT_START);
        shown_at.map(|at| at + START_PATIENCE).or(silent)
    }

    fn unknown(&self, now: Moment) -> Shown {
        Shown {
            state: AgentState::Unknown,
            source: Source::Silence,
            rule: format!("{}.none", self.rules.cli),
            line: String::new(),
            reset: None,
            since: now,
        }
    }

    pub(super) fn has_settled(&self) -> bool {
        match self.shown.state {
            AgentState::Working | AgentState::Starting | AgentState::Unknown => false,
            AgentState::Idle
            | AgentState::Waiting
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error
            | AgentState::Limited
            | AgentState::Exited => self.next.is_none(),
        }
    }

    fn deadline_of_state(&self) -> Option<Moment> {
        let settle = self
            .next
            .as_ref()
            .map(|next| next.since + self.evidence.settle(&self.shown, next, &self.rules));
        let is_by_silence = self.shown.source == Source::Silence
            && self.shown.state == AgentState::Working
            && self.next.is_none();
        let silence = is_by_silence.then(|| self.evidence.output_at + SILENCE);
        let claim = self.evidence.claim_deadline();
        // A screen that says itself that the program starts may do so for as long as it likes.
        let is_starting = self.shown.state == AgentState::Starting
            && self.next.is_none()
            && !self.evidence.shows_start();
        let start = self.start_deadline().filter(|_| is_starting);
        let looks = [
            self.asked.deadline(),
            self.second_look,
            self.awaited_deadline(),
            self.general.deadline(),
            self.words.deadline(),
        ];
        [settle, silence, claim, start].into_iter().chain(looks).flatten().min()
    }
}
