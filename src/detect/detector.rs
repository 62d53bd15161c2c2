//! Watches one pane: output and time in, findings out.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{AgentState, Exit, Moment, Size, Source};
use crate::report::{Report, ReportKind};
use crate::screen::{Screen, Signal};

use super::dialog::{self, Dialog};
use super::explain::Explanation;
use super::finding::{Finding, Shown};
use super::look::judge;
use super::rules::Rules;
use super::schedule::Schedule;
use super::signals::Signals;
use super::state::{Claim, Evidence};
use super::transcript::{Reading, Transcript};
use super::view::View;

/// The last words of a turn may be drawn after its end is known.
const TURN_GRACE: Duration = Duration::from_millis(1500);
/// A program has drawn itself anew by then.
const RESIZE_GRACE: Duration = Duration::from_secs(3);
/// With no output for this long, a program whose output means work says nothing any more.
const SILENCE: Duration = Duration::from_millis(1600);

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

/// What outlives the detector: which reports of a conversation were told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory(Transcript);

/// Watches one pane.
#[derive(Debug)]
pub struct Detector {
    rules: Arc<Rules>,
    options: Options,
    schedule: Schedule,
    signals: Signals,
    transcript: Transcript,
    evidence: Evidence,
    shown: Shown,
    /// A state that has yet to last.
    next: Option<Shown>,
    dialog: Option<Dialog>,
    turn: Turn,
    /// When to look again for what may have been half of a frame.
    second_look: Option<Moment>,
    size: Option<Size>,
    resized_at: Option<Moment>,
}

/// What is known of the turn at hand.
#[derive(Debug, Default)]
struct Turn {
    /// A prompt was submitted, or the agent was seen at work.
    is_open: bool,
    /// Until when its last words may still come.
    open_until: Moment,
    /// The status of the turn has been shown as the agent's state.
    status_was_shown: bool,
    /// The prompt as it was submitted, without blanks.
    prompt: String,
    /// The tag that counts.
    tag: Option<String>,
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
            transcript: Transcript::default(),
            evidence: Evidence::default(),
            shown,
            next: None,
            dialog: None,
            turn: Turn::default(),
            second_look: None,
            size: None,
            resized_at: None,
        }
    }

    /// Takes what the pane shows now, and the signals since the last call. To be called after
    /// output, after a resize and at the deadline.
    pub fn observe(&mut self, screen: &Screen, signals: &[Signal], now: Moment) -> Vec<Finding> {
        let mut has_signals = false;
        for signal in signals.iter().filter(|_| self.options.uses_signals) {
            has_signals |= self.signals.take(signal, &self.rules, now);
        }
        self.schedule.note(screen, has_signals, now);
        let mut findings = Vec::new();
        let is_settling = self.deadline_of_state().is_some_and(|deadline| deadline <= now);
        let has_changed = self.schedule.take(screen, now);
        if has_changed {
            self.evidence.output_at = now;
        }
        if has_changed || is_settling {
            self.look(screen, now, &mut findings);
        }
        findings
    }

    /// Returns the moment at which `observe` has something to do though nothing was written.
    pub fn next_deadline(&self) -> Option<Moment> {
        self.schedule.due().into_iter().chain(self.deadline_of_state()).min()
    }

    /// Notes that the hub submitted a prompt: what follows is its answer.
    pub fn prompt_submitted(&mut self, text: &str, tag: Option<&str>, now: Moment) {
        self.turn.prompt = without_blanks(text);
        self.turn.tag = tag.map(str::to_ascii_lowercase);
        self.evidence.status = None;
        self.begin_turn(now);
    }

    /// Notes what a report with a token, or a hook of the cli, says.
    pub fn claim(
        &mut self,
        source: Source,
        state: AgentState,
        rule: &str,
        line: &str,
        now: Moment,
    ) -> Vec<Finding> {
        let (rule, line) = (rule.to_owned(), line.to_owned());
        self.evidence.claim = Some(Claim { source, state, rule, line, since: now });
        let mut findings = Vec::new();
        self.settle_state(now, &mut findings);
        findings
    }

    /// Notes that the process is gone, and tells what was left to tell.
    pub fn process_exited(&mut self, exit: Exit, screen: &Screen, now: Moment) -> Vec<Finding> {
        let mut findings = Vec::new();
        self.evidence.exit = Some(exit);
        self.look(screen, now, &mut findings);
        findings
    }

    /// Returns the dialog in sight.
    pub fn dialog(&self) -> Option<&Dialog> {
        self.dialog.as_ref()
    }

    pub fn shown(&self) -> &Shown {
        &self.shown
    }

    /// Returns why the state is what it is.
    pub fn explain(&self, now: Moment) -> Explanation {
        let age = now.since(self.shown.since);
        Explanation { shown: self.shown.clone(), age, testimonies: self.evidence.testimonies() }
    }

    /// Returns what a new detector of the same pane needs so as not to tell anything twice.
    pub fn memory(&self) -> Memory {
        Memory(self.transcript.clone())
    }

    /// Goes on where another detector of the same pane ended.
    pub fn remember(&mut self, memory: Memory) {
        self.transcript = memory.0;
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
        let verdict = judge(&self.rules, &view);
        if verdict.as_ref().map(|verdict| (verdict.state, &verdict.rule))
            != self.evidence.verdict.as_ref().map(|verdict| (verdict.state, &verdict.rule))
        {
            self.evidence.verdict_since = now;
        }
        let is_dialog = |state| state == AgentState::Waiting;
        let dialog = verdict.as_ref().filter(|verdict| is_dialog(verdict.state));
        self.dialog = dialog.and_then(|verdict| dialog::read(verdict, &self.rules, &view, screen));
        // Where nothing is recognised, a viewer or another program may cover the conversation; a
        // dialog's entries look like prompts.
        let is_live = match &verdict {
            Some(verdict) => !is_dialog(verdict.state),
            None => self.rules.output_means_working,
        };
        self.evidence.verdict = verdict;
        self.evidence.signal = self.signals.claim().cloned();
        self.watch_work(now);
        let before = self.shown.state;
        self.settle_state(now, findings);
        let has_settled = self.has_settled();
        if is_live {
            self.read_conversation(screen, &view, now);
        }
        self.tell_reports(has_settled, findings);
        self.second_look = self.transcript.next_look(now);
        if has_settled {
            // A status that was just told is the state of the turn that has ended.
            self.settle_state(now, findings);
            self.end_turn(before, now);
        }
        merge_states(findings);
    }

    /// Notes the beginning of a turn as soon as work is seen, or a question about it.
    fn watch_work(&mut self, now: Moment) {
        let wanted = self.evidence.resolve(&self.rules, now).map(|wanted| wanted.state);
        let begins = match self.shown.state {
            AgentState::Working | AgentState::Waiting => {
                !self.turn.is_open && wanted == Some(AgentState::Working)
            }
            AgentState::Starting | AgentState::Unknown | AgentState::Exited => {
                wanted == Some(AgentState::Working)
            }
            AgentState::Idle
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error
            | AgentState::Limited => {
                matches!(wanted, Some(AgentState::Working | AgentState::Waiting))
            }
        };
        if begins {
            self.begin_turn(now);
        }
    }

    fn begin_turn(&mut self, now: Moment) {
        self.turn.is_open = true;
        self.turn.open_until = now + TURN_GRACE;
        self.transcript.turn_began();
        if self.turn.status_was_shown {
            self.evidence.status = None;
            self.turn.status_was_shown = false;
        }
    }

    fn read_conversation(&mut self, screen: &Screen, view: &View, now: Moment) {
        let counts = self.turn.is_open || now < self.turn.open_until;
        if self.size.replace(screen.size()).is_some_and(|size| size != screen.size()) {
            self.resized_at = Some(now);
        }
        let was_resized = !screen.modes().alternate_screen
            && self.resized_at.is_some_and(|at| now.since(at) < RESIZE_GRACE);
        let reading = Reading { now, counts, is_final: self.has_settled(), was_resized };
        self.transcript.look(screen, view, &self.rules, reading);
    }

    fn end_turn(&mut self, before: AgentState, now: Moment) {
        let was_busy = matches!(before, AgentState::Working | AgentState::Waiting);
        if was_busy && self.shown.state != AgentState::Waiting && self.turn.is_open {
            self.turn.is_open = false;
            self.turn.open_until = now + TURN_GRACE;
            self.transcript.turn_ended();
        }
    }

    fn settle_state(&mut self, now: Moment, findings: &mut Vec<Finding>) {
        let resolved = self.evidence.resolve(&self.rules, now);
        let was_starting = self.shown.state == AgentState::Starting;
        let Some(wanted) = resolved.or_else(|| (!was_starting).then(|| self.unknown(now))) else {
            return;
        };
        if wanted.state == self.shown.state {
            self.next = None;
            let since = self.shown.since;
            self.shown = Shown { since, ..wanted };
            return;
        }
        let since = match &self.next {
            Some(next) if next.state == wanted.state => next.since,
            _ => now,
        };
        if now.since(since) < self.evidence.settle(self.shown.state, &wanted, &self.rules) {
            self.next = Some(Shown { since, ..wanted });
            return;
        }
        self.next = None;
        self.turn.status_was_shown |= wanted.source == Source::Line;
        self.shown = wanted;
        findings.push(Finding::State(self.shown.clone()));
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

    fn has_settled(&self) -> bool {
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

    fn tell_reports(&mut self, has_settled: bool, findings: &mut Vec<Finding>) {
        for report in self.transcript.take_due(has_settled) {
            if self.turn.prompt.contains(&without_blanks(&report.raw)) {
                continue;
            }
            let is_foreign = match (&report.tag, &self.turn.tag) {
                (Some(tag), Some(expected)) => tag != expected,
                _ => false,
            };
            if is_foreign {
                findings.push(Finding::Foreign(report));
                continue;
            }
            self.note_status(&report);
            findings.push(Finding::Report(report));
        }
    }

    fn note_status(&mut self, report: &Report) {
        if let ReportKind::Status(_) = report.kind {
            self.evidence.status = Some(report.clone());
            self.turn.status_was_shown = false;
        }
    }

    fn deadline_of_state(&self) -> Option<Moment> {
        let settle = self
            .next
            .as_ref()
            .map(|next| next.since + self.evidence.settle(self.shown.state, next, &self.rules));
        let is_by_silence = self.shown.source == Source::Silence
            && self.shown.state == AgentState::Working
            && self.next.is_none();
        let silence = is_by_silence.then(|| self.evidence.output_at + SILENCE);
        let second = self.second_look;
        settle.into_iter().chain(silence).chain(second).min()
    }
}

/// Of several states found at once only the last was ever shown.
fn merge_states(findings: &mut Vec<Finding>) {
    let last = findings.iter().rposition(|finding| matches!(finding, Finding::State(_)));
    let mut at = 0;
    findings.retain(|finding| {
        let is_kept = !matches!(finding, Finding::State(_)) || Some(at) == last;
        at += 1;
        is_kept
    });
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
