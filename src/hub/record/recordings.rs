//! The recordings of all agents.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use super::file_writer::Files;
use super::recorder::Recorder;
use crate::config::{CastSettings, Paths};
use crate::detect::Finding;
use crate::hub::Hub;
use crate::hub::panes::pane::Pane;
use crate::model::{AgentName, Moment};

/// Who is recorded.
#[derive(Debug, Default)]
pub(in crate::hub) struct Recordings {
    /// What is kept of each agent; nothing is recorded if nothing may be kept.
    bytes_max: u64,
    recorders: BTreeMap<AgentName, Recorder>,
}

impl Recordings {
    /// Records from now on as the settings want it.
    pub(in crate::hub) fn heed(&mut self, settings: CastSettings) {
        let bytes_max = if settings.enabled { u64::from(settings.megabytes) << 20 } else { 0 };
        if bytes_max != self.bytes_max {
            self.bytes_max = bytes_max;
            self.recorders.values_mut().for_each(Recorder::flush);
            self.recorders.clear();
        }
    }

    /// Returns the recorder of an agent, if it is to be recorded.
    pub(in crate::hub) fn of(
        &mut self,
        paths: &Paths,
        files: &Files,
        agent: &AgentName,
    ) -> Option<&mut Recorder> {
        if self.bytes_max == 0 {
            return None;
        }
        if !self.recorders.contains_key(agent) {
            let (paths, title) = (paths.agent_casts(agent), agent.to_string());
            let recorder = Recorder::new(files.clone(), paths, title, self.bytes_max);
            self.recorders.insert(agent.clone(), recorder);
        }
        self.recorders.get_mut(agent)
    }

    /// Notes that another run of an agent, or another hub, goes on in its pane.
    pub(in crate::hub) fn interrupt(&mut self, paths: &Paths, files: &Files, agent: &AgentName) {
        if let Some(recorder) = self.of(paths, files, agent) {
            recorder.interrupt();
            recorder.prepare();
        }
    }

    /// Notes in the recording what was found on the screen.
    pub(in crate::hub) fn mark(&mut self, agent: &AgentName, finding: &Finding, now: Moment) {
        let label = match finding {
            Finding::State(shown) => {
                format!("state {} by {} ({}) {}", shown.state, shown.rule, shown.source, shown.line)
            }
            Finding::Report(report) => format!("report {}", report.raw),
            Finding::Amended(report) => format!("amended report {}", report.raw),
            Finding::TurnEnded => "turn ended".to_owned(),
            Finding::Compacted => "compacted".to_owned(),
            Finding::Foreign(report) => format!("foreign report {}", report.raw),
        };
        if let Some(recorder) = self.recorders.get_mut(agent) {
            recorder.mark(label.trim_end().to_owned(), now);
        }
    }

    pub(in crate::hub) fn next_deadline(&self) -> Option<Moment> {
        self.recorders.values().filter_map(Recorder::next_deadline).min()
    }

    /// Writes what has waited long enough.
    pub(in crate::hub) fn tick(&mut self, panes: &BTreeMap<AgentName, Pane>, now: Moment) {
        let is_due = |recorder: &Recorder| recorder.next_deadline().is_some_and(|at| at <= now);
        for (agent, recorder) in &mut self.recorders {
            match panes.get(agent) {
                Some(pane) if is_due(recorder) => recorder.tick(&pane.screen, now),
                Some(_) => {}
                None => recorder.interrupt(),
            }
        }
    }

    /// Hands over everything, though it could wait.
    pub(in crate::hub) fn flush_all(&mut self, panes: &BTreeMap<AgentName, Pane>, now: Moment) {
        for (agent, recorder) in &mut self.recorders {
            match panes.get(agent) {
                Some(pane) => recorder.tick(&pane.screen, now),
                None => recorder.flush(),
            }
        }
    }

    /// Deletes what was recorded of an agent.
    fn forget(&mut self, paths: &Paths, files: &Files, agent: &AgentName) {
        self.recorders.remove(agent);
        let (agent, paths) = (agent.clone(), paths.agent_casts(agent));
        files.append(0, move || {
            for path in paths {
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        tracing::warn!(%agent, %error, "a recording could not be deleted");
                    }
                    Ok(()) | Err(_) => {}
                }
            }
        });
    }
}

impl Hub {
    /// Deletes the recordings of those agents that are no longer on record.
    pub(in crate::hub) fn forget_casts(&mut self, agents: &[AgentName]) {
        for agent in agents.iter().filter(|agent| self.engine.seat(agent).is_none()) {
            self.casts.forget(&self.paths, self.writer.files(), agent);
        }
    }
}
