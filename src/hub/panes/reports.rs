//! Which reports were told, on disk: a hub that comes back tells none twice and loses none.
//!
//! What a pane's detector remembers is written before a report is passed on, together with the
//! report itself and the offset of the output up to which all that holds. A hub that comes back
//! reads the output after that offset for reports, and passes on what the one before it wrote down
//! and did not come to pass on. Nothing is synced: after a power cut the agents are gone.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::pane::Pane;
use crate::api::{FromHub, Notice};
use crate::detect::{Detector, Finding, Memory, reset_moment};
use crate::engine::RunEvent;
use crate::hub::Hub;
use crate::model::{AgentName, Moment, Reset, RunId, Source};
use crate::protocol::Report;

/// Reports that are kept word for word; the rest is a count.
const REPORTS_KEPT: usize = 64;
/// Calls whose answer may have been lost, so that they come again.
const CALLS_KEPT: usize = 64;

/// What was told of one run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::hub) struct SentReports {
    run: RunId,
    /// All output before this offset has been read for reports.
    pub(in crate::hub) offset: u64,
    pub(in crate::hub) count: u64,
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
    pub(in crate::hub) fn load(text: &[u8], run: RunId) -> Self {
        let read = serde_json::from_slice::<Self>(text).ok();
        read.filter(|reports| reports.run == run).unwrap_or_default()
    }

    pub(in crate::hub) fn take_memory(&mut self) -> Option<Memory> {
        self.memory.take()
    }

    /// Returns what came of a call, if it is known.
    pub(in crate::hub) fn call(&self, id: &str) -> Option<bool> {
        self.calls.iter().find(|(known, _)| known == id).map(|(_, is_new)| *is_new)
    }

    pub(in crate::hub) fn note_call(&mut self, id: String, is_new: bool) {
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

impl Hub {
    /// Passes on what was found. What must be remembered of it is on the disk before it is on record.
    pub(in crate::hub) fn deliver(
        &mut self,
        agent: &AgentName,
        run: RunId,
        source: Source,
        findings: Vec<Finding>,
    ) {
        let now = self.clock.now();
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let mut number = pane.reports.count;
        for finding in &findings {
            if let Finding::Report(report) = finding {
                pane.reports.note(report, source, now);
            }
        }
        self.save_reports_if_changed(agent);
        for finding in findings {
            self.casts.mark(agent, &finding, now);
            match finding {
                Finding::TurnEnded => self.note_run(agent, run, RunEvent::TurnEnded),
                Finding::Compacted => self.note_run(agent, run, RunEvent::Compacted),
                Finding::State(shown) => {
                    if let Some(text) = shown.reset {
                        let at = reset_moment(&text, now, self.clock.zone());
                        self.note_run(agent, run, RunEvent::Resets(Reset { text, at }));
                    }
                    let (state, source) = (shown.state, shown.source);
                    self.note_run(agent, run, RunEvent::Did { state, source });
                    self.views.note_status_change();
                }
                Finding::Report(report) => {
                    number += 1;
                    self.note_run(agent, run, RunEvent::Reported(report.clone()));
                    self.views.note_status_change();
                    let notice = Notice::Report { agent: agent.clone(), report, source, number };
                    self.views.tell_subscribers(&FromHub::Notice(notice));
                }
                Finding::Amended(report) => {
                    let pane = self.panes.get_mut(agent);
                    let number = pane.map_or(number, |pane| pane.reports.amend(&report));
                    self.save_reports(agent);
                    self.note_run(agent, run, RunEvent::Amended(report.clone()));
                    self.views.note_status_change();
                    let notice = Notice::Report { agent: agent.clone(), report, source, number };
                    self.views.tell_subscribers(&FromHub::Notice(notice));
                }
                Finding::Foreign(report) => {
                    tracing::info!(%agent, line = report.raw, "a report of another attempt");
                }
            }
        }
    }

    pub(in crate::hub) fn save_reports_if_changed(&mut self, agent: &AgentName) {
        let changes = |pane: &Pane| pane.detector.as_ref().map_or(0, Detector::changes);
        let is_changed = |pane: &Pane| changes(pane) != pane.reports.written;
        if let Some(pane) = self.panes.get_mut(agent).filter(|pane| is_changed(pane)) {
            pane.reports.written = changes(pane);
            self.save_reports(agent);
        }
    }

    pub(in crate::hub) fn save_reports(&mut self, agent: &AgentName) {
        let path = self.paths.agent_reports(agent);
        let Some(pane) = self.panes.get_mut(agent) else { return };
        match pane.compose_reports() {
            Ok(bytes) => self.writer.files().replace(path, bytes),
            Err(error) => {
                tracing::warn!(%agent, %error, "what was reported could not be written down");
            }
        }
    }

    /// Passes on what an earlier hub wrote down and the engine's record does not know of.
    pub(in crate::hub) fn repeat_reports(&mut self, agent: &AgentName, run: RunId) {
        let known = self.engine.seat(agent).map_or(0, |seat| seat.reports);
        let Some(pane) = self.panes.get_mut(agent) else { return };
        pane.reports.count = pane.reports.count.max(known);
        let told = pane.reports.told.iter().filter(|told| told.number > known);
        let missed: Vec<Report> = told.map(|told| told.report.clone()).collect();
        for report in missed {
            self.note_run(agent, run, RunEvent::Reported(report));
        }
    }
}
