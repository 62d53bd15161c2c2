//! Routes what screens show: what their detectors find, and dialogs that stand still.

use crate::api::Notice;
use crate::detect::{Finding, reset_moment};
use crate::engine::RunEvent;
use crate::hub::Hub;
use crate::hub::panes::detection::manifest_of;
use crate::hub::panes::dialogs::resolved;
use crate::hub::panes::state::PaneReading;
use crate::model::{
    AgentName, AgentState, Exit, Manifest, Moment, Place, Question, Reset, RunId, Runner, Source,
    Subject,
};
use crate::screen::Signal;

impl Hub {
    /// Lets the detector of a pane look, and carries what it found on.
    pub(in crate::hub) fn inspect(&mut self, agent: &AgentName, signals: &[Signal], now: Moment) {
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let (found, is_other_dialog) = pane.inspect(signals, self.settings.reporters.enabled, now);
        let run = pane.run();
        if is_other_dialog {
            self.clients.note_status_change();
        }
        self.pass_on(agent, run, Source::Line, found);
        if let Some(pane) = self.panes.get_mut(agent) {
            pane.note_dialog(now);
        }
        self.press_next(agent, now);
        self.note_movement(agent, now);
        self.note_tokens(agent, now);
    }

    /// Lets the detector look for the last time, so that last words count.
    pub(in crate::hub) fn inspect_end(&mut self, agent: &AgentName, exit: Exit) {
        let now = self.clock.now();
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let (run, found) = (pane.run(), pane.inspect_end(exit, now));
        self.pass_on(agent, run, Source::Line, found);
    }

    /// Lets every detector look whose time has come.
    pub(in crate::hub) fn inspect_due(&mut self, now: Moment) {
        for agent in self.panes.inspections_due(now) {
            self.inspect(&agent, &[], now);
        }
    }

    /// Tells the engine when an agent at work shows other words than before.
    fn note_movement(&mut self, agent: &AgentName, now: Moment) {
        let is_at_work = |state| matches!(state, AgentState::Working | AgentState::Starting);
        if !self.engine.seat(agent).is_some_and(|seat| is_at_work(seat.state)) {
            return;
        }
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let run = pane.run();
        if pane.has_moved(now) {
            self.note_run(agent, run, RunEvent::Moved);
        }
    }

    /// Tells the engine what an agent was seen to use, at the end of a turn and now and then in it.
    fn note_tokens(&mut self, agent: &AgentName, now: Moment) {
        let is_at_work =
            self.engine.seat(agent).is_some_and(|seat| seat.state == AgentState::Working);
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let run = pane.run();
        if let Some(tokens) = pane.new_tokens(is_at_work, now) {
            // The next hub goes on from here.
            self.panes.save_reports(agent);
            self.note_run(agent, run, RunEvent::Used { tokens });
        }
    }

    /// Passes on what was found. What must be remembered of it is on the disk before it is on record.
    pub(in crate::hub) fn pass_on(
        &mut self,
        agent: &AgentName,
        run: RunId,
        source: Source,
        findings: Vec<Finding>,
    ) {
        let now = self.clock.now();
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let mut number = pane.note_reports(&findings, source, now);
        self.panes.save_reports_if_changed(agent);
        for finding in findings {
            self.record.recordings.mark(agent, &finding, now);
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
                    self.clients.note_status_change();
                }
                Finding::Report(report) => {
                    number += 1;
                    self.note_run(agent, run, RunEvent::Reported(report.clone()));
                    self.clients.note_status_change();
                    let notice = Notice::Report { agent: agent.clone(), report, source, number };
                    self.clients.tell_subscribers(notice);
                }
                Finding::Amended(report) => {
                    let pane = self.panes.get_mut(agent);
                    let number = pane.map_or(number, |pane| pane.amend_report(&report));
                    self.panes.save_reports(agent);
                    self.note_run(agent, run, RunEvent::Amended(report.clone()));
                    self.clients.note_status_change();
                    let notice = Notice::Report { agent: agent.clone(), report, source, number };
                    self.clients.tell_subscribers(notice);
                }
                Finding::Foreign(report) => {
                    tracing::info!(%agent, line = report.raw, "a report of another attempt");
                }
            }
        }
    }

    /// Passes on what an earlier hub wrote down and the engine's record does not know of.
    pub(in crate::hub) fn repeat_reports(&mut self, agent: &AgentName, run: RunId) {
        let known = self.engine.seat(agent).map_or(0, |seat| seat.reports);
        let missed = self.panes.get_mut(agent).map(|pane| pane.missed_reports(known));
        for report in missed.unwrap_or_default() {
            self.note_run(agent, run, RunEvent::Reported(report));
        }
    }

    /// Tells the engine of dialogs that have stood still for long enough.
    pub(in crate::hub) fn tell_still_dialogs(&mut self, now: Moment) {
        for (agent, run, question) in self.panes.still_dialogs(now) {
            match question {
                Some(question) if matches!(question.subject, Subject::Path(_)) => {
                    self.tell_file_dialog(&agent, run, question);
                }
                question => {
                    let event = question.map_or(RunEvent::AskedPerson, RunEvent::AskedApproval);
                    self.note_run(&agent, run, event);
                }
            }
        }
    }

    /// Tells the engine of a dialog about a file once it is known where that lies, if the dialog is
    /// still open then.
    fn tell_file_dialog(&mut self, agent: &AgentName, run: RunId, question: Question) {
        // Where a link leads elsewhere, nobody sees from here.
        let has_own_files = |runner: &Runner| !matches!(runner.place, Place::Image { .. });
        let is_elsewhere = self.runner_of(agent).is_some_and(has_own_files);
        let seat = self.engine.seat(agent).filter(|_| !is_elsewhere);
        let Some(cwd) = seat.map(|seat| seat.member.cwd.clone()) else {
            return self.note_run(agent, run, RunEvent::AskedPerson);
        };
        let (agent, asked) = (agent.clone(), question.clone());
        let resolve = move || resolved(&cwd, question);
        self.in_background(resolve, move |hub, found| {
            if hub.panes.still_asks(&agent, run, &asked) {
                let found = found.unwrap_or_default();
                let event = found.map_or(RunEvent::AskedPerson, RunEvent::AskedApproval);
                hub.note_run(&agent, run, event);
            }
        });
    }

    /// Returns how an agent's cli shows what it does, and how to talk to it.
    pub(in crate::hub) fn manifest_of(&self, agent: &AgentName) -> Option<&Manifest> {
        let cli = self.engine.seat(agent).map(|seat| seat.member.cli.as_str());
        manifest_of(&self.settings, cli)
    }

    /// Returns how the screen of an agent is read.
    pub(in crate::hub) fn reading_of(&mut self, agent: &AgentName) -> PaneReading {
        let member = self.engine.seat(agent).map(|seat| &seat.member);
        let hooked = member.filter(|member| member.contact.no_hooks.is_none());
        let expects_messages =
            hooked.is_some_and(|member| self.panes.hooks_hand_over_messages(&member.cli));
        let port = member.and_then(|member| member.contact.port);
        let cli = member.map(|member| member.cli.as_str());
        let rules = match self.panes.rules_of(cli, &self.settings) {
            Ok(rules) => rules,
            Err(fault) => {
                self.note_settings_fault(fault);
                None
            }
        };
        PaneReading { rules, expects_messages, port }
    }
}
