//! Which reports are told, and when each is whole.

use std::time::Duration;

use crate::model::{Moment, Source};
use crate::protocol::{Report, ReportKind};

use super::align::{Due, Outgrown};
use super::detector::Detector;
use super::finding::Finding;
use super::ledger::{Admission, Channel};
use super::state::Told;
use super::transcript::SECOND_LOOK;
use super::turn::without_blanks;
use super::words::Ruling;

/// A screen that still shows work, though the turn is known to have ended, shows its last words by then.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Which way a report came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) channel: Channel,
    /// The earliest turn that it can belong to.
    pub(super) turn: u64,
    /// It belongs to a turn before the one that is awaited: it says nothing of what the agent does.
    pub(super) is_late: bool,
}

impl Detector {
    /// Returns for how long a report that nothing follows must have read the same before it is whole;
    /// nothing while the agent writes on.
    ///
    /// A program that tells the end of its turn beside the screen may have its last words yet to
    /// draw: until its screen shows the end as well, only a long rest says that they are there.
    pub(super) fn rest(&self) -> Option<Duration> {
        if self.evidence.exit.is_some() {
            return Some(Duration::ZERO);
        }
        let is_drawing = self.evidence.shows_work();
        self.has_settled().then_some(if is_drawing { LAST_WORDS } else { SECOND_LOOK })
    }

    pub(super) fn tell_reports(
        &mut self,
        has_settled: bool,
        now: Moment,
        findings: &mut Vec<Finding>,
    ) {
        for outgrown in self.transcript.take_outgrown() {
            self.amend(outgrown, findings);
        }
        // A program that is gone says no more.
        let (words, is_gone) = (&self.words, self.evidence.exit.is_some());
        let mut waits = false;
        let due = self.transcript.take_due(has_settled, &mut |turn| {
            let ruling = words.rule(turn, now);
            waits |= ruling == Ruling::Waits && !is_gone;
            if is_gone && ruling == Ruling::Waits { Ruling::Counts } else { ruling }
        });
        self.words.note_wait(waits, now);
        for Due { turn, is_past, is_read, report } in due {
            let is_refuted = is_read && self.words.refute(&report);
            if !is_refuted && !self.turn.prompt.contains(&without_blanks(&report.raw)) {
                let is_late = is_past && self.awaits_turn();
                self.tell(report, Way { channel: Channel::Screen, turn, is_late }, findings);
            }
        }
    }

    /// Notes whether the cli was told to hand over its last message of each turn.
    pub fn expect_messages(&mut self, is_told: bool) {
        self.words.expect(is_told);
    }

    fn note_status(&mut self, report: &Report, source: Source) {
        if let ReportKind::Status(_) = report.kind {
            self.evidence.status = Some(Told { report: report.clone(), source });
            self.turn.status_was_shown = false;
        }
    }

    /// Tells a report that counts, unless it came another way already.
    pub(super) fn tell(&mut self, report: Report, way: Way, findings: &mut Vec<Finding>) {
        let is_foreign = match (&report.tag, &self.turn.tag) {
            (Some(tag), Some(expected)) => tag != expected,
            _ => false,
        };
        // A call names its run by a token, and the hub has said which attempt that is.
        if is_foreign && way.channel != Channel::Call {
            findings.push(Finding::Foreign(report));
            return;
        }
        self.changes += 1;
        let admission = self.ledger.admit(&report, way.channel, way.turn);
        if admission == Admission::Known {
            return;
        }
        let source = match way.channel {
            Channel::Screen => Source::Line,
            Channel::Message => Source::Hook,
            Channel::Call => Source::Report,
        };
        if !way.is_late {
            self.note_status(&report, source);
        }
        let is_new = admission == Admission::New;
        findings.push(if is_new { Finding::Report(report) } else { Finding::Amended(report) });
    }

    /// Tells the whole of a report whose beginning was told, unless it came another way already.
    fn amend(&mut self, outgrown: Outgrown, findings: &mut Vec<Finding>) {
        let Outgrown { turn, is_past, told, whole } = outgrown;
        if self.ledger.amend(&told, &whole, turn) {
            self.changes += 1;
            if !(is_past && self.awaits_turn()) {
                self.note_status(&whole, Source::Line);
            }
            findings.push(Finding::Amended(whole));
        }
    }
}
