//! Takes one event: applies it, then lets everything follow that follows from it.

use std::time::Duration;

use crate::engine::{Effect, Engine, Event, Seat};
use crate::model::{Entry, Moment};

/// A hub that serves nobody and holds no agent ends itself after this long.
const LINGER: Duration = Duration::from_mins(1);

impl Engine {
    /// Takes one event and returns the orders that follow from it.
    #[must_use]
    pub fn handle(&mut self, event: Event, now: Moment) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.handled_at = now;
        match event {
            Event::Asked { request, command, by, key } => {
                self.obey_once(request, command, (by, key), now, &mut effects);
            }
            Event::AskedAgain { request, by, key } => {
                self.answer_again(request, by, &key, &mut effects);
            }
            Event::AskerLeft { request } => {
                self.waits.retain(|wait| wait.request != request);
                self.watches.retain(|watch| watch.request != request);
                self.drop_space_waits(request);
            }
            Event::Run { agent, run, event } => {
                self.note_run(&agent, run, event, now, &mut effects);
            }
            Event::Began { seed } => self.begin_hub(seed, now, &mut effects),
            Event::Gates { task, attempt, checks } => {
                self.note_gates(task, attempt, checks, now, &mut effects);
            }
            Event::StageGates { play, stage, round, checks } => {
                self.note_stage_gates(play, stage, round, &checks, now, &mut effects);
            }
            Event::Surveyed { task, attempt, files } => {
                self.note_survey(task, attempt, &files, now);
            }
            Event::Weighed { task, attempt, path, hash } => {
                self.note_weight(task, attempt, &path, hash);
            }
            Event::Looked { root, changes } => self.note_look(&root, changes, now),
            Event::Workspace { agent, event } => {
                self.note_workspace(&agent, event, now, &mut effects);
            }
            Event::Merged { merge, outcome } => {
                self.note_merged(merge, &outcome, now, &mut effects);
            }
            Event::LookedUp { tasks, dispatches } => self.take_looked_up(tasks, dispatches),
            Event::ClientCame => self.clients += 1,
            Event::ClientLeft => self.clients = self.clients.saturating_sub(1),
            Event::DeadlineReached => {
                self.mark_stuck(now);
                self.stop_expecting(now);
                self.watch_play_limits(now, &mut effects);
                self.watch_limits(now, &mut effects);
                self.end_if_unneeded(now, &mut effects);
            }
        }
        self.tend_locks(now);
        self.weigh_verdicts(now, &mut effects);
        self.leave_limits(now);
        self.hand_out(now, &mut effects);
        while self.follow_plays(now, &mut effects) {
            self.hand_out(now, &mut effects);
        }
        self.deliver_ready(now, &mut effects);
        self.note_workers(now, &mut effects);
        self.order_comparisons(&mut effects);
        self.advance_merges(now, &mut effects);
        self.forget_ended();
        self.note_attention(now);
        self.settle_watches(now, &mut effects);
        self.note_idleness(now);
        if let Some(changes) = self.take_changes() {
            effects.insert(0, Effect::Save(changes));
        }
        self.assert_invariants();
        self.assert_work();
        effects
    }

    /// Returns the moment at which the shell must report `DeadlineReached`.
    pub fn next_deadline(&self) -> Option<Moment> {
        let deadlines = [
            self.linger_deadline(),
            self.stuck_deadline(),
            self.delivery_deadline(),
            self.limits_deadline(),
            self.quota_deadline(),
            self.hand_out_deadline(),
            self.stall_deadline(),
            self.lock_deadline(),
            self.attention_due,
        ];
        deadlines.into_iter().flatten().min()
    }

    fn linger_deadline(&self) -> Option<Moment> {
        self.idle_since.map(|since| since + LINGER)
    }

    fn begin_hub(&mut self, seed: u64, now: Moment, effects: &mut Vec<Effect>) {
        self.tags.seed = seed;
        self.recover_workspaces(now, effects);
        self.recover_merges(effects);
        // What agents did since the last entry nobody saw.
        if self.seats.values().any(Seat::is_live) {
            self.tell(Entry::new("hub.back", "a hub takes over from one that is gone"));
        }
    }

    pub(super) fn note_idleness(&mut self, now: Moment) {
        let is_needed = self.clients > 0
            || self.seats.values().any(Seat::is_live)
            || self.is_busy_with_workspaces();
        self.idle_since = if is_needed { None } else { self.idle_since.or(Some(now)) };
    }

    fn end_if_unneeded(&self, now: Moment, effects: &mut Vec<Effect>) {
        if self.linger_deadline().is_some_and(|deadline| deadline <= now) {
            effects.push(Effect::EndHub);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RunEvent;
    use crate::engine::fixture::{Bench, stopped};
    use crate::model::{AgentState, Source};

    #[test]
    fn a_hub_that_nobody_needs_ends_itself() {
        let mut bench = Bench::with_running(&["one"]);
        let (state, source) = (AgentState::Unknown, Source::Silence);
        let _ = bench.tell("one", RunEvent::Did { state, source });
        assert_eq!(bench.engine.next_deadline(), None, "it holds an agent");
        let _ = bench.stop("one");
        let _ = bench.tell("one", stopped());
        let _ = bench.tell("one", RunEvent::KeeperLost);
        let deadline = bench.engine.next_deadline().unwrap();
        assert_eq!(bench.engine.handle(Event::DeadlineReached, Moment(0)), [], "not yet");
        let effects = bench.engine.handle(Event::DeadlineReached, deadline);
        assert_eq!(effects, [Effect::EndHub]);
    }

    #[test]
    fn a_client_keeps_the_hub() {
        let mut engine = Engine::new(Moment(0));
        let _ = engine.handle(Event::ClientCame, Moment(1));
        assert_eq!(engine.next_deadline(), None);
        let _ = engine.handle(Event::ClientLeft, Moment(2));
        assert_eq!(engine.next_deadline(), Some(Moment(2) + LINGER));
    }
}
