//! What reaches the detector beside the screen: prompts, hooks, events, and reports by a call.

use std::time::Duration;

use crate::model::{AgentState, HookMeaning, Moment, Source};
use crate::protocol::{Report, read};
use crate::screen::Signal;

use super::awaited::Awaited;
use super::detector::Detector;
use super::finding::Finding;
use super::fit;
use super::hook::HookNews;
use super::ledger::Channel;
use super::reporter::Told;
use super::state::{Claim, Stance, stance_of};
use super::stream::StreamNews;
use super::telling::Way;
use super::turn::{Progress, without_blanks};

/// The screen shows the end of a turn by then.
const LAST_LOOK: Duration = Duration::from_millis(150);
/// What is shown of a hook's words in an explanation.
const LINE_CHARS_MAX: usize = 120;
/// How the rules of reporters made for other tools begin.
const OTHERS: &str = "reporter.";

impl Detector {
    /// Notes that the hub submitted a prompt: what follows is its answer.
    pub fn prompt_submitted(&mut self, text: &str, tag: Option<&str>, now: Moment) {
        if let Some(unseen) = self.turn.awaited {
            fit::note_unseen_prompt(&mut self.fit, unseen.since(), now);
        }
        self.turn.tag = tag.map(str::to_ascii_lowercase);
        self.begin_prompt(without_blanks(text), now);
        self.turn.awaited = Some(Awaited::new(now));
    }

    /// Notes the command that the cli says it asks permission for.
    pub fn tell_command(&mut self, command: String, now: Moment) {
        self.told_command.note(command);
        self.schedule.wake(now);
    }

    /// Notes what a hook of the cli says.
    pub fn hook(&mut self, news: &HookNews, now: Moment) -> Vec<Finding> {
        let mut findings = Vec::new();
        if !matches!(news.meaning, HookMeaning::Asks | HookMeaning::Message) {
            self.told_command.forget();
        }
        let (claimed, line) = match news.meaning {
            HookMeaning::Session => return findings,
            HookMeaning::Compacted => {
                findings.extend(self.note_compaction());
                return findings;
            }
            HookMeaning::Prompt => {
                self.turn.heard_at = Some(now);
                self.turn.heard.clone_from(&news.prompt);
                self.note_prompt(news.prompt.as_deref().unwrap_or_default(), now);
                (Some(AgentState::Working), &news.prompt)
            }
            HookMeaning::Asks => (Some(AgentState::Waiting), &None),
            HookMeaning::Ended => (Some(AgentState::Idle), &news.message),
            HookMeaning::Failed => (Some(AgentState::Error), &news.message),
            HookMeaning::Message => (None, &news.message),
        };
        if news.meaning != HookMeaning::Prompt
            && let Some(message) = &news.message
        {
            let is_late = self.is_of_earlier_turn(news);
            self.read_message(message, is_late, &mut findings);
            let has_status = !is_late && self.evidence.status.is_some();
            if has_status && self.turn.progress != Progress::Seen {
                self.turn.progress = Progress::ToldAhead(now);
            }
        }
        let line = line.as_deref().unwrap_or_default();
        match claimed {
            Some(state) => {
                findings.extend(self.claim(Source::Hook, state, &news.rule, line, now));
            }
            None => self.resettle(now, &mut findings),
        }
        self.heed_end(news, &mut findings);
        findings
    }

    /// Notes what a trusted source says of the turn; it holds until the program shows otherwise.
    pub fn claim(
        &mut self,
        source: Source,
        state: AgentState,
        rule: &str,
        line: &str,
        now: Moment,
    ) -> Vec<Finding> {
        self.set_claim(source, state, rule, line, now);
        let mut findings = Vec::new();
        self.resettle(now, &mut findings);
        findings
    }

    /// Notes what a reporter made for another tool says of the turn. Like a hook's word it holds
    /// until the program shows otherwise.
    pub fn reported(&mut self, told: &Told, now: Moment) -> Vec<Finding> {
        let mut findings = Vec::new();
        if !self.reporters.admit(told) {
            return findings;
        }
        if let Some(state) = told.state {
            self.set_claim(Source::Hook, state, &told.rule, &told.message, now);
        } else if self.evidence.claim.as_ref().is_some_and(|claim| claim.rule.starts_with(OTHERS)) {
            self.forget_claim();
        }
        self.watch_work(now);
        self.resettle(now, &mut findings);
        findings
    }

    /// Takes a report that the agent made by a call of its own, and tells it unless it is known.
    pub fn declare(&mut self, report: Report, now: Moment) -> Vec<Finding> {
        let mut findings = Vec::new();
        let turn = self.ledger.turn();
        self.tell(report, Way { channel: Channel::Call, turn, is_late: false }, &mut findings);
        self.resettle(now, &mut findings);
        findings
    }

    /// Notes what the events of the cli's own server say, or that they no longer come.
    pub fn stream(&mut self, news: Option<&StreamNews>, now: Moment) -> Vec<Finding> {
        self.signals.take_stream(news, &self.rules, now);
        self.evidence.signal = self.signals.claim(self.evidence.is_recognised()).cloned();
        let mut findings = Vec::new();
        if let Some(message) = news.and_then(|news| news.message.as_deref()) {
            self.read_message(message, false, &mut findings);
        }
        self.watch_work(now);
        self.resettle(now, &mut findings);
        findings
    }

    /// Notes signals without looking: what is on the screen now is older than what is known.
    pub fn hear(&mut self, signals: &[Signal], now: Moment) {
        for signal in signals {
            self.take_signal(signal, now);
        }
    }

    fn set_claim(
        &mut self,
        source: Source,
        state: AgentState,
        rule: &str,
        line: &str,
        now: Moment,
    ) {
        let line = line.lines().last().unwrap_or_default().trim();
        let line = line.chars().filter(|c| !c.is_control()).take(LINE_CHARS_MAX).collect();
        let claim = Claim { source, state, rule: rule.to_owned(), line, since: now };
        let is_same = |before: &Claim| Claim { since: now, ..before.clone() } == claim;
        // What is repeated need not be written down again.
        self.changes += u64::from(!self.evidence.claim.as_ref().is_some_and(is_same));
        self.evidence.claim = Some(claim);
    }

    /// Asks for a look though the program has written nothing.
    pub fn look_soon(&mut self, now: Moment) {
        self.second_look = Some(now + LAST_LOOK);
    }

    /// Drops what a hook or a reporter last said: it is told no longer, or nobody knows what was said
    /// since.
    pub fn forget_claim(&mut self) {
        self.changes += u64::from(self.evidence.claim.take().is_some());
    }

    /// A hook tells of the prompt that the hub submitted, or of one that a person typed.
    fn note_prompt(&mut self, text: &str, now: Moment) {
        if !(self.turn.is_open && self.turn.message.is_none() && self.is_own_prompt(text)) {
            self.turn.tag = None;
            self.begin_prompt(without_blanks(text), now);
        }
    }

    /// Says whether a hook names the prompt of the turn at hand; a cli may add to it, or cut it.
    pub(super) fn is_own_prompt(&self, text: &str) -> bool {
        let (prompt, ours) = (without_blanks(text), &self.turn.prompt);
        !prompt.is_empty()
            && !ours.is_empty()
            && (prompt.contains(ours.as_str()) || ours.contains(&prompt))
    }

    fn begin_prompt(&mut self, prompt: String, now: Moment) {
        self.transcript.note_prompt(&prompt);
        self.general.note_prompt();
        self.turn.prompt = prompt;
        (self.evidence.status, self.turn.status_was_shown) = (None, false);
        self.turn.progress = Progress::Unseen;
        let awaits_echo = self.ledger.note_prompt();
        self.begin_turn(awaits_echo, now);
    }

    /// Reads the agent's last message in full; the screen shows it as well, sooner or later.
    fn read_message(&mut self, message: &str, is_late: bool, findings: &mut Vec<Finding>) {
        if self.turn.message.as_deref() == Some(message) {
            return;
        }
        self.turn.message = Some(message.to_owned());
        self.changes += 1;
        // A program may be told the end of a turn when the next one has begun.
        let turn = self.ledger.turn().saturating_sub(1);
        self.words.note(if is_late { turn } else { self.ledger.turn() }, message);
        for report in read(message) {
            self.tell(report, Way { channel: Channel::Message, turn, is_late }, findings);
        }
    }

    /// Shows what follows from the news, and looks soon for what the screen has yet to show.
    fn resettle(&mut self, now: Moment, findings: &mut Vec<Finding>) {
        let before = self.shown.state;
        self.settle_state(now, findings);
        if stance_of(before) != stance_of(self.shown.state) {
            if stance_of(self.shown.state) == Some(Stance::Ended) {
                self.end_turn(before, now);
            }
            self.second_look = Some(now + LAST_LOOK);
        }
    }
}
