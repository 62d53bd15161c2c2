//! Records what the panes of all agents show.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use super::file_writer::Files;
use super::recorder::Recorder;
use crate::config::{CastSettings, Paths};
use crate::detect::Finding;
use crate::model::{AgentName, Moment};
use crate::screen::Screen;

/// Who is recorded.
#[derive(Debug)]
pub(in crate::hub) struct Recordings {
    paths: Paths,
    files: Files,
    /// What is kept of each agent; nothing is recorded if nothing may be kept.
    bytes_max: u64,
    recorders: BTreeMap<AgentName, Recorder>,
}

impl Recordings {
    pub(super) fn new(paths: Paths, files: Files) -> Self {
        Self { paths, files, bytes_max: 0, recorders: BTreeMap::new() }
    }

    /// Records from now on as the settings want it.
    pub(super) fn change_settings(&mut self, settings: CastSettings) {
        let bytes_max = if settings.enabled { u64::from(settings.megabytes) << 20 } else { 0 };
        if bytes_max != self.bytes_max {
            self.bytes_max = bytes_max;
            self.recorders.values_mut().for_each(Recorder::flush);
            self.recorders.clear();
        }
    }

    /// Returns the recorder of an agent, if it is to be recorded.
    pub(in crate::hub) fn of(&mut self, agent: &AgentName) -> Option<&mut Recorder> {
        if self.bytes_max == 0 {
            return None;
        }
        if !self.recorders.contains_key(agent) {
            let (paths, title) = (self.paths.agent_casts(agent), agent.to_string());
            let recorder = Recorder::new(self.files.clone(), paths, title, self.bytes_max);
            self.recorders.insert(agent.clone(), recorder);
        }
        self.recorders.get_mut(agent)
    }

    /// Notes that another run of an agent, or another hub, goes on in its pane.
    pub(in crate::hub) fn interrupt(&mut self, agent: &AgentName) {
        if let Some(recorder) = self.of(agent) {
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
    pub(in crate::hub) fn tick<'a>(
        &mut self,
        screen: impl Fn(&AgentName) -> Option<&'a Screen>,
        now: Moment,
    ) {
        let is_due = |recorder: &Recorder| recorder.next_deadline().is_some_and(|at| at <= now);
        for (agent, recorder) in &mut self.recorders {
            match screen(agent) {
                Some(screen) if is_due(recorder) => recorder.tick(screen, now),
                Some(_) => {}
                None => recorder.interrupt(),
            }
        }
    }

    /// Hands over everything, though it could wait.
    pub(in crate::hub) fn flush_all<'a>(
        &mut self,
        screen: impl Fn(&AgentName) -> Option<&'a Screen>,
        now: Moment,
    ) {
        for (agent, recorder) in &mut self.recorders {
            match screen(agent) {
                Some(screen) => recorder.tick(screen, now),
                None => recorder.flush(),
            }
        }
    }

    /// Deletes what was recorded of an agent.
    pub(in crate::hub) fn forget(&mut self, agent: &AgentName) {
        self.recorders.remove(agent);
        let (agent, paths) = (agent.clone(), self.paths.agent_casts(agent));
        self.files.append(0, move || {
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
