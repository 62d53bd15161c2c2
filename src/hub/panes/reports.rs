//! Writes down which reports were told: a hub that comes back tells none twice and loses none.
//!
//! What a pane's detector remembers is written before a report is passed on, together with the
//! report itself and the offset of the output up to which all that holds. A hub that comes back
//! reads the output after that offset for reports, and passes on what the one before it wrote down
//! and did not come to pass on. Nothing is synced: after a power cut the agents are gone.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::pane::Pane;
use super::state::Panes;
use crate::detect::{Detector, Finding, Memory};
use crate::model::{AgentName, Moment, RunId, Source};
use crate::protocol::Report;

/// Reports that are kept word for word; the rest is a count.
const REPORTS_KEPT: usize = 64;
/// Calls whose answer may have been lost, so that they come again.
const CALLS_KEPT: usize = 64;

/// What was told of one run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SentReports {
    run: RunId,
    /// All output before this offset has been read for reports.
    pub(super) offset: u64,
    pub(super) count: u64,
    told: VecDeque<Told>,
    /// The ids of the latest calls, and whether they brought something new.
    calls: VecDeque<(String, bool)>,
    memory: Option<Memory>,
    /// The state of the memory that was last written.
    #[serde(skip)]
    written: u64,
}

/// One report that was told.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    number: u64,
    at: Moment,
    source: Source,
    report: Report,
}

impl SentReports {
    /// Reads what an earlier hub wrote of this run.
    fn load(text: &[u8], run: RunId) -> Self {
        let read = serde_json::from_slice::<Self>(text).ok();
        read.filter(|reports| reports.run == run).unwrap_or_default()
    }

    pub(super) fn take_memory(&mut self) -> Option<Memory> {
        self.memory.take()
    }

    /// Returns what came of a call, if it is known.
    fn call(&self, id: &str) -> Option<bool> {
        self.calls.iter().find(|(known, _)| known == id).map(|(_, is_new)| *is_new)
    }

    fn note_call(&mut self, id: String, is_new: bool) {
        self.calls.push_back((id, is_new));
        let extra = self.calls.len().saturating_sub(CALLS_KEPT);
        self.calls.drain(..extra);
    }

    /// Takes over the rest of a report of which the beginning was told.
    fn amend(&mut self, whole: &Report) -> u64 {
        let told = self.told.iter_mut().rev().find(|told| whole.goes_on_from(&told.report));
        let Some(told) = told else { return self.count };
        told.report = whole.clone();
        told.number
    }

    fn note(&mut self, report: &Report, source: Source, at: Moment) {
        self.count += 1;
        self.told.push_back(Told { number: self.count, at, source, report: report.clone() });
        let extra = self.told.len().saturating_sub(REPORTS_KEPT);
        self.told.drain(..extra);
    }
}

impl Pane {
    /// Returns what the file of the reports is to hold.
    fn compose_reports(&mut self) -> serde_json::Result<Vec<u8>> {
        let reports = &mut self.reports;
        (reports.run, reports.offset) = (self.run, self.offset.max(reports.offset));
        reports.memory = self.detector.as_ref().map(Detector::memory);
        let composed = serde_json::to_vec(&reports);
        reports.memory = None;
        composed
    }
}

impl Pane {
    /// Takes note of reports that are about to be passed on, and returns how many there were before.
    pub(in crate::hub) fn note_reports(
        &mut self,
        findings: &[Finding],
        source: Source,
        now: Moment,
    ) -> u64 {
        let before = self.reports.count;
        for finding in findings {
            if let Finding::Report(report) = finding {
                self.reports.note(report, source, now);
            }
        }
        before
    }

    /// Takes over the rest of a report of which the beginning was told, and returns that one's number.
    pub(in crate::hub) fn amend_report(&mut self, whole: &Report) -> u64 {
        self.reports.amend(whole)
    }

    /// Returns what an earlier hub wrote down and did not come to pass on.
    pub(in crate::hub) fn missed_reports(&mut self, known: u64) -> Vec<Report> {
        self.reports.count = self.reports.count.max(known);
        let told = self.reports.told.iter().filter(|told| told.number > known);
        told.map(|told| told.report.clone()).collect()
    }

    /// Takes a call that an agent may repeat, and says whether it is new.
    pub(in crate::hub) fn note_call(&mut self, id: &str) -> bool {
        let is_new = self.reports.call(id).is_none();
        if is_new {
            self.reports.note_call(id.to_owned(), true);
        }
        is_new
    }

    /// Takes a report that an agent made by a call. Returns what follows from it, and whether it is new;
    /// nothing, if nobody reads this pane.
    pub(in crate::hub) fn declare(
        &mut self,
        id: &str,
        report: Report,
        now: Moment,
    ) -> Option<(Vec<Finding>, bool)> {
        if let Some(is_new) = self.reports.call(id) {
            return Some((Vec::new(), is_new));
        }
        let found = self.detector.as_mut()?.declare(report, now);
        let is_new = found.iter().any(|finding| matches!(finding, Finding::Report(_)));
        self.reports.note_call(id.to_owned(), is_new);
        Some((found, is_new))
    }
}

impl Panes {
    pub(in crate::hub) fn save_reports_if_changed(&mut self, agent: &AgentName) {
        let changes = |pane: &Pane| pane.detector.as_ref().map_or(0, Detector::changes);
        let is_changed = |pane: &Pane| changes(pane) != pane.reports.written;
        if let Some(pane) = self.by_agent.get_mut(agent).filter(|pane| is_changed(pane)) {
            pane.reports.written = changes(pane);
            self.save_reports(agent);
        }
    }

    pub(in crate::hub) fn save_reports(&mut self, agent: &AgentName) {
        let Some(pane) = self.by_agent.get_mut(agent) else { return };
        match pane.compose_reports() {
            Ok(bytes) => self.files.replace(self.paths.agent_reports(agent), bytes),
            Err(error) => {
                tracing::warn!(%agent, %error, "what was reported could not be written down");
            }
        }
    }

    /// Returns what earlier hubs told of a run.
    pub(super) fn saved_reports(&self, agent: &AgentName, run: RunId) -> SentReports {
        let text = self.files.read(&self.paths.agent_reports(agent)).ok();
        text.map(|text| SentReports::load(&text, run)).unwrap_or_default()
    }
}
