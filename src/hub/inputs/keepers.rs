//! Routes what keepers say: bytes become a screen, and facts become events for the engine.

use crate::api::{Fault, Response};
use crate::engine::{Event, RunEvent};
use crate::hub::Hub;
use crate::hub::inbox::LinkNews;
use crate::keeper::{FromKeeper, Welcome};
use crate::model::{AgentName, Exit, ProcessInfo, RunId, Size};

impl Hub {
    pub(in crate::hub) fn on_keeper(&mut self, agent: &AgentName, run: RunId, news: LinkNews) {
        let Some(run) = self.panes.note_news(agent, run) else { return };
        match news {
            LinkNews::Frame(frame) => self.on_frame(agent, run, frame),
            LinkNews::Lost => {
                self.panes.save_screen(agent, &self.clock);
                self.close_pane(agent);
                self.note_run(agent, run, RunEvent::KeeperLost);
            }
            LinkNews::OutOfReach(reason) => {
                self.answer_without_tree(agent);
                self.note_run(agent, run, RunEvent::OutOfReach { reason });
            }
            LinkNews::NeverCame(reason) => {
                self.close_pane(agent);
                let reason = reason.unwrap_or_else(|| "its keeper did not come up".to_owned());
                self.note_run(agent, run, RunEvent::NeverCame { reason });
            }
        }
    }

    fn on_frame(&mut self, agent: &AgentName, run: RunId, frame: FromKeeper) {
        match frame {
            FromKeeper::Welcome(welcome) => self.on_welcome(agent, &welcome),
            FromKeeper::Output { offset, bytes } => self.on_output(agent, offset, &bytes),
            FromKeeper::Resized { size, .. } => self.resize_screen(agent, size),
            FromKeeper::Exited { exit, .. } => {
                self.inspect_end(agent, exit);
                self.panes.save_screen(agent, &self.clock);
                self.note_run(agent, run, RunEvent::Exited { exit });
            }
            FromKeeper::Stopped { survivors, .. } => {
                if survivors.is_empty() {
                    self.inspect_end(agent, Exit::Unknown);
                }
                self.panes.save_screen(agent, &self.clock);
                self.note_run(agent, run, RunEvent::Stopped { survivors });
            }
            FromKeeper::Failed { reason } => {
                self.note_run(agent, run, RunEvent::StartFailed { reason });
            }
            FromKeeper::Tree(processes) => self.answer_tree(agent, processes),
        }
    }

    fn on_welcome(&mut self, agent: &AgentName, welcome: &Welcome) {
        let (is_far, now) = (self.runner_of(agent).is_some(), self.clock.now());
        let Some(pane) = self.panes.get_mut(agent) else { return };
        pane.attach(welcome, is_far, now);
        let Welcome { run, keeper, process, .. } = *welcome;
        tracing::info!(%agent, %run, keeper = keeper.pid, "attached");
        if let Some(process) = process {
            self.note_run(agent, run, RunEvent::Seen { keeper, process });
        }
        // Where nothing was printed since, what the last hub left is all there is to look at.
        self.inspect(agent, &[], now);
    }

    fn on_output(&mut self, agent: &AgentName, offset: u64, bytes: &[u8]) {
        let now = self.clock.now();
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let Some(taken) = pane.take_output(offset, bytes, now) else { return };
        if let Some(recorder) = self.record.recordings.of(agent) {
            recorder.output(taken.bytes, &taken.signals, pane.screen(), now);
        }
        if taken.is_rebuilt {
            tracing::warn!(%agent, offset, "the emulator failed and was rebuilt");
        }
        self.clients.note_change(agent);
        self.panes.save_screen_if_due(agent, &self.clock);
        self.inspect(agent, &taken.signals, now);
    }

    /// Gives a pane's screen the size that its terminal has at this point of the output.
    fn resize_screen(&mut self, agent: &AgentName, size: Size) {
        let now = self.clock.now();
        // What the old size still shows is read before it is wrapped anew, and then the new one.
        self.inspect(agent, &[], now);
        if let Some(pane) = self.panes.get_mut(agent) {
            pane.resize(size);
            self.clients.note_change(agent);
            if let Some(recorder) = self.record.recordings.of(agent) {
                recorder.resize(size, now);
            }
        }
        self.inspect(agent, &[], now);
    }

    /// Lets go of a run that is over, and of those who wait for something in it.
    pub(in crate::hub) fn close_pane(&mut self, agent: &AgentName) {
        if let Some(asker) = self.panes.close(agent) {
            self.answer(asker, Err(Fault::new(format!("Agent `{agent}` has ended"))));
        }
        self.answer_without_tree(agent);
    }

    fn answer_tree(&mut self, agent: &AgentName, processes: Vec<ProcessInfo>) {
        if let Some(asker) = self.clients.next_for_tree(agent) {
            self.answer(asker, Ok(Response::Tree { processes }));
        }
    }

    /// Gives up on those who wait for the process tree of an agent whose keeper is gone.
    fn answer_without_tree(&mut self, agent: &AgentName) {
        for asker in self.clients.all_for_tree(agent) {
            self.answer(asker, Ok(Response::Tree { processes: Vec::new() }));
        }
    }

    pub(in crate::hub) fn note_run(&mut self, agent: &AgentName, run: RunId, event: RunEvent) {
        self.decide(Event::Run { agent: agent.clone(), run, event });
    }
}
