//! What keepers say: bytes become a screen, and facts become events for the engine.

use std::time::Duration;

use super::link::Link;
use super::pane::Pane;
use crate::engine::{Event, RunEvent};
use crate::hub::Hub;
use crate::hub::inbox::LinkNews;
use crate::keeper::{FromKeeper, ToKeeper, Welcome};
use crate::model::{AgentName, Exit, RunId, Size};

/// A pane that nobody has typed into for this long waits its turn like the others.
const URGENCY: Duration = Duration::from_secs(2);

impl Hub {
    pub(in crate::hub) fn on_keeper(&mut self, agent: &AgentName, run: RunId, news: LinkNews) {
        // Output and farewells of an earlier run mean nothing for the one that follows it.
        let is_current = |pane: &&Pane| pane.link.as_ref().is_some_and(|link| link.run == run);
        let Some(pane) = self.panes.get(agent).filter(is_current) else { return };
        pane.link.iter().for_each(Link::note_heard);
        let run = pane.run;
        match news {
            LinkNews::Frame(frame) => self.on_frame(agent, run, frame),
            LinkNews::Lost => {
                self.save_screen(agent);
                self.close_link(agent);
                self.note_run(agent, run, RunEvent::KeeperLost);
            }
            LinkNews::OutOfReach(reason) => {
                self.forsake_tree_askers(agent);
                self.note_run(agent, run, RunEvent::OutOfReach { reason });
            }
            LinkNews::NeverCame(reason) => {
                self.close_link(agent);
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
                self.judge_end(agent, exit);
                self.save_screen(agent);
                self.note_run(agent, run, RunEvent::Exited { exit });
            }
            FromKeeper::Stopped { survivors, .. } => {
                if survivors.is_empty() {
                    self.judge_end(agent, Exit::Unknown);
                }
                self.save_screen(agent);
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
        // A keeper that is not on record knows best which run it keeps.
        pane.run = welcome.run;
        pane.answered = welcome.answered;
        if pane.offset < welcome.kept.start {
            let lost = welcome.kept.start - pane.offset;
            tracing::info!(%agent, lost, "output was overwritten before it could be read");
            pane.offset = welcome.kept.start;
        }
        // What was printed while no hub was there may have gone with words of a hook or a reporter that
        // nobody heard. A line from elsewhere may have taken it in when its hub was gone already.
        let was_still = !is_far && welcome.told == Some(welcome.kept.end);
        let is_adopted = pane.caught_up_at == u64::MAX;
        if let Some(detector) = pane.detector.as_mut().filter(|_| is_adopted) {
            if !was_still {
                detector.forget_claim();
            } else if pane.offset == welcome.kept.end {
                // No output will come to be looked at.
                detector.look_soon(now);
            }
        }
        pane.caught_up_at = pane.caught_up_at.min(welcome.kept.end);
        let Welcome { run, keeper, process, .. } = *welcome;
        tracing::info!(%agent, %run, keeper = keeper.pid, "attached");
        if let Some(process) = process {
            self.note_run(agent, run, RunEvent::Seen { keeper, process });
        }
        // Where nothing was printed since, what the last hub left is all there is to look at.
        self.judge(agent, &[], now);
    }

    /// Feeds output to the screen, and sends what the application asked its terminal for.
    fn on_output(&mut self, agent: &AgentName, offset: u64, bytes: &[u8]) {
        let now = self.clock.now();
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let end = offset + bytes.len() as u64;
        // After a reconnect the first piece may begin before what is already on the screen.
        let known = usize::try_from(pane.offset.saturating_sub(offset)).unwrap_or(usize::MAX);
        let Some(fresh) = bytes.get(known..).filter(|fresh| !fresh.is_empty()) else { return };
        let replayed = pane.answered.saturating_sub(pane.offset.max(offset));
        let replayed = usize::try_from(replayed).unwrap_or(usize::MAX).min(fresh.len());
        let (old, new) = fresh.split_at(replayed);
        let mut rebuilt = pane.screen.feed(old, now).rebuilt;
        let fed = pane.screen.feed(new, now);
        rebuilt |= fed.rebuilt;
        if let Some(recorder) = self.casts.of(&self.paths, self.writer.files(), agent) {
            recorder.output(fresh, &fed.signals, &pane.screen, now);
        }
        pane.offset = end;
        if rebuilt {
            tracing::warn!(%agent, offset, "the emulator failed and was rebuilt");
        }
        if !fed.answers.is_empty() {
            pane.order(&ToKeeper::Input { answers_to: Some(end), bytes: fed.answers });
        }
        if pane.typed_at.is_some_and(|typed| now.since(typed) > URGENCY) {
            pane.typed_at = None;
            if let Some(link) = &pane.link {
                link.set_urgent(false);
            }
        }
        self.views.note_change(agent);
        self.save_screen_if_due(agent, now);
        self.judge(agent, &fed.signals, now);
    }

    /// Gives a pane's screen the size that its terminal has at this point of the output.
    fn resize_screen(&mut self, agent: &AgentName, size: Size) {
        let now = self.clock.now();
        // What the old size still shows is read before it is wrapped anew, and then the new one.
        self.judge(agent, &[], now);
        if let Some(pane) = self.panes.get_mut(agent) {
            pane.screen.resize(size);
            self.views.note_change(agent);
            if let Some(recorder) = self.casts.of(&self.paths, self.writer.files(), agent) {
                recorder.resize(size, now);
            }
        }
        self.judge(agent, &[], now);
    }

    pub(in crate::hub) fn close_link(&mut self, agent: &AgentName) {
        if let Some(pane) = self.panes.get_mut(agent) {
            (pane.link, pane.ear, pane.door) = (None, None, None);
        }
        self.drop_errand(agent);
        self.forsake_tree_askers(agent);
    }

    pub(in crate::hub) fn note_run(&mut self, agent: &AgentName, run: RunId, event: RunEvent) {
        self.decide(Event::Run { agent: agent.clone(), run, event });
    }
}
