//! The life of a run: started, seen, stopped, ended; and what follows each step.

use crate::engine::agents::readiness::Readiness;
use crate::engine::agents::unrecorded_agents::stranger;
use crate::engine::journal::Place;
use crate::engine::waits::Goal;
use crate::engine::{Effect, Engine, Pace, Phase, RunEvent, Seat};
use crate::model::{
    AgentName, AgentState, Ending, Entry, Exit, Failure, Launch, Member, Moment, Opening,
    ProcessId, ProcessInfo, RunId, Source,
};

/// The grace of a stop whose first order may not have arrived.
const REPEATED_STOP_GRACE_MS: u64 = 3_000;

impl Engine {
    /// Starts a new run of an agent that has none alive.
    pub(in crate::engine) fn begin(
        &mut self,
        mut member: Member,
        launch: Launch,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let agent = member.name.clone();
        // Until the new run is seen, the last conversation is the one to be taken up.
        let before = self.seats.get(&agent).map(|seat| &seat.member);
        member.conversation = before
            .filter(|before| before.cli == member.cli)
            .and_then(|before| before.conversation.clone());
        let (letter, plot) = (member.opening.letter.take(), member.plot.take());
        let is_used = member.opening.is_resumed;
        let renews_for = self.seats.get(&agent).and_then(|seat| seat.renews_for);
        let run = self.seats.get(&agent).map_or_else(RunId::default, |seat| seat.run).next();
        let seat = Seat {
            member,
            run,
            phase: Phase::Starting,
            state: AgentState::Starting,
            source: Source::Process,
            since: now,
            pace: Pace::default(),
            is_to_stop: false,
            rules_until: None,
            readiness: Readiness::default(),
            reports: 0,
            is_used,
            tokens: None,
            reset: None,
            renews_for,
            no_renewal: None,
            unreachable: None,
            keeper: None,
            process: None,
            note: None,
            next: None,
            held: None,
        };
        self.seats.insert(agent.clone(), seat);
        self.touch_seat(&agent);
        self.tell(Entry::new("agent.starting", format!("run {run}")).of(&agent));
        if let Some(letter) = letter {
            self.enqueue_first(letter, run, now);
        }
        match plot {
            Some(plot) => self.settle_in(&agent, *plot, launch, now, effects),
            None => effects.push(Effect::Start { agent, run, launch }),
        }
    }

    /// Orders a stop, and says whether there is anything to stop.
    pub(in crate::engine) fn order_stop(
        &mut self,
        agent: &AgentName,
        grace_ms: u64,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(seat) = self.seats.get_mut(agent).filter(|seat| seat.is_live()) else {
            return false;
        };
        seat.next = None;
        // Nothing of it runs yet: it has waited for its workspace.
        if seat.held.take().is_some() {
            self.end(agent, Ending::Stopped, now, effects);
            return false;
        }
        match seat.phase {
            Phase::Starting | Phase::Running | Phase::Stopping => {
                seat.phase = Phase::Stopping;
                seat.since = now;
                let run = seat.run;
                self.touch_seat(agent);
                self.tell(Entry::new("agent.stopping", format!("run {run}")).of(agent));
                effects.push(Effect::Stop { agent: agent.clone(), run, grace_ms });
            }
            // These are on their way out already.
            Phase::Leaving(_) | Phase::Sweeping(_) | Phase::Ended(_) => {}
        }
        true
    }

    pub(in crate::engine) fn note_run(
        &mut self,
        agent: &AgentName,
        run: RunId,
        event: RunEvent,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        if let RunEvent::Seen { keeper, process } = event {
            return self.note_seen(agent, run, (keeper, process), now, effects);
        }
        let Some(seat) = self.seats.get_mut(agent) else { return };
        if seat.run != run || !seat.is_live() {
            return;
        }
        match event {
            RunEvent::Seen { .. } => {}
            RunEvent::OutOfReach { reason } => {
                self.note_out_of_reach(agent, reason, now, effects);
            }
            RunEvent::Did { state, source } => {
                self.note_doing(agent, (state, source), now, effects);
            }
            event @ (RunEvent::Resets(_)
            | RunEvent::Used { .. }
            | RunEvent::Compacted
            | RunEvent::Planned { .. }) => self.note_terms(agent, event, now, effects),
            RunEvent::Reported(report) => {
                self.note_report(agent, &report, now);
                self.react(agent, &report, now, effects);
            }
            RunEvent::TurnEnded => seat.readiness.note_turn_end(),
            RunEvent::Amended(report) => self.amend(agent, &report, now, effects),
            RunEvent::Conversed { id } => self.note_conversation(agent, id),
            RunEvent::Moved => self.note_move(agent, now),
            RunEvent::Wrote { tree } => self.note_write(agent, &tree, effects),
            RunEvent::PersonTyped => self.note_typing(agent, now),
            RunEvent::AskedLeave(question) => self.weigh_leave(agent, question, now, effects),
            RunEvent::AskedPerson => self.call_person(agent, now),
            RunEvent::LeaveGiven { fingerprint, stage, reason } => {
                self.note_leave(agent, &fingerprint, stage, reason, now);
            }
            RunEvent::PersonActed(deed, stage, why) => self.note_deed(agent, deed, stage, why),
            RunEvent::Delivery { receipt, stage, reason } => {
                self.note_delivery(agent, receipt, stage, reason, now);
                self.note_prompt(receipt, now);
            }
            RunEvent::NeverCame { reason } => {
                let ending = seat.note_absence(reason);
                self.end(agent, ending, now, effects);
            }
            RunEvent::StartFailed { reason } => {
                seat.note = Some(reason);
                self.leave(agent, Ending::Failed, now);
                effects.push(Effect::Release { agent: agent.clone(), run });
            }
            RunEvent::Exited { exit } => {
                seat.note_vain_resumption(exit);
                seat.note_failed_setup(exit, self.workspaces.get(agent));
                self.leave(agent, Ending::Finished(exit), now);
                effects.push(Effect::Release { agent: agent.clone(), run });
            }
            RunEvent::Stopped { survivors } if survivors.is_empty() => {
                self.leave(agent, Ending::Stopped, now);
            }
            RunEvent::Stopped { survivors } => self.keep_for_survivors(agent, survivors, effects),
            RunEvent::KeeperLost => self.note_loss(agent, now, effects),
            RunEvent::Swept { survivors } => {
                if !survivors.is_empty() {
                    seat.note = Some(format!("left alive: {}", names(&survivors)));
                }
                if let Phase::Sweeping(ending) = seat.phase {
                    self.end(agent, ending, now, effects);
                }
            }
        }
    }

    fn note_conversation(&mut self, agent: &AgentName, id: String) {
        let seat = self.seats.get_mut(agent).expect("only known seats converse");
        seat.member.conversation = Some(id.clone());
        seat.member.opening = Opening::default();
        self.touch_seat(agent);
        self.tell(Entry::new("agent.conversation", id).of(agent));
    }

    /// Notes what an agent does, and what follows from that for a run that has just begun.
    fn note_doing(
        &mut self,
        agent: &AgentName,
        (state, source): (AgentState, Source),
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let seat = self.seats.get_mut(agent).expect("only known seats do something");
        if seat.is_out_of_sight(state, source) {
            return;
        }
        let never_came_up = seat.state == AgentState::Starting && state == AgentState::Unknown;
        if seat.note_coming_up(state) {
            self.touch_seat(agent);
        }
        self.note_state(agent, state, source, now);
        if never_came_up {
            self.refuse_waiting(agent, now);
        }
        self.interrupt_again(agent, effects);
        self.orient_compacted(agent, effects);
    }

    /// Notes what bears on the terms of an agent's task.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the others are about its life and its words"
    )]
    fn note_terms(
        &mut self,
        agent: &AgentName,
        event: RunEvent,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        match event {
            RunEvent::Resets(reset) => self.note_reset(agent, reset),
            RunEvent::Used { tokens } => self.note_tokens(agent, tokens, now, effects),
            RunEvent::Compacted => self.note_compaction(agent, effects),
            RunEvent::Planned { plan, grace_ms } => {
                self.note_plan(agent, plan, grace_ms, now, effects);
            }
            _ => {}
        }
    }

    /// Notes that the agent's tree is gone, and only its keeper is still there.
    fn leave(&mut self, agent: &AgentName, ending: Ending, now: Moment) {
        let seat = self.seats.get_mut(agent).expect("only runs of known seats leave");
        let ending = match seat.phase {
            Phase::Stopping => Ending::Stopped,
            Phase::Leaving(earlier) | Phase::Sweeping(earlier) => earlier,
            Phase::Starting | Phase::Running | Phase::Ended(_) => ending,
        };
        seat.phase = Phase::Leaving(ending);
        seat.unreachable = None;
        seat.state = AgentState::Exited;
        seat.source = Source::Process;
        seat.pace.stuck = None;
        seat.since = now;
        let words = format!("run {}: {ending}, nothing of it is left alive", seat.run);
        self.touch_seat(agent);
        self.want_look(agent);
        self.want_comparison(agent);
        self.interrupt_task(agent, now);
        self.tell(Entry::new("agent.left", words).of(agent));
    }

    /// The keeper is gone: either the run is over, or it is to be seen what is left of it.
    fn note_loss(&mut self, agent: &AgentName, now: Moment, effects: &mut Vec<Effect>) {
        let seat = self.seats.get_mut(agent).expect("only keepers of known seats are lost");
        let ending = match seat.phase {
            Phase::Leaving(ending) => return self.end(agent, ending, now, effects),
            Phase::Stopping => Ending::Stopped,
            Phase::Sweeping(ending) => ending,
            Phase::Starting | Phase::Running | Phase::Ended(_) => Ending::Lost,
        };
        seat.phase = Phase::Sweeping(ending);
        seat.unreachable = None;
        let run = seat.run;
        self.touch_seat(agent);
        self.interrupt_task(agent, now);
        let words = format!("run {run}: its keeper is gone");
        self.tell(Entry::new("agent.lost", words).of(agent));
        effects.push(Effect::Sweep { agent: agent.clone(), run });
    }

    /// A keeper that lives is believed over the record: it holds the agent's kernel lock.
    fn note_seen(
        &mut self,
        agent: &AgentName,
        run: RunId,
        (keeper, process): (ProcessId, ProcessId),
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let seat = self.seats.entry(agent.clone()).or_insert_with(|| stranger(agent, run, now));
        seat.run = run;
        (seat.keeper, seat.process) = (Some(keeper), Some(process));
        self.note_in_reach(agent, now);
        let seat = self.seats.get_mut(agent).expect("it was taken in above");
        let phase = seat.phase;
        if matches!(phase, Phase::Starting | Phase::Sweeping(_) | Phase::Ended(_)) {
            seat.phase = Phase::Running;
            if seat.state == AgentState::Exited {
                seat.state = AgentState::Starting;
            }
        }
        self.touch_seat(agent);
        self.want_look(agent);
        self.want_comparison(agent);
        self.resume_task(agent, run, now);
        let words = format!("run {run}, process {}", process.pid);
        self.tell(Entry::new("agent.seen", words).of(agent));
        self.inspect_deliveries(agent, effects);
        match phase {
            // The order may have died with an earlier hub; a keeper obeys it once.
            Phase::Stopping => {
                let (agent, grace_ms) = (agent.clone(), REPEATED_STOP_GRACE_MS);
                effects.push(Effect::Stop { agent, run, grace_ms });
            }
            // So may its release.
            Phase::Leaving(_) => effects.push(Effect::Release { agent: agent.clone(), run }),
            Phase::Running | Phase::Starting | Phase::Sweeping(_) | Phase::Ended(_) => {
                self.reach(agent, Goal::Running, effects);
            }
        }
    }

    /// Ends a run of which nothing is left, and begins what was to follow it.
    pub(in crate::engine) fn end(
        &mut self,
        agent: &AgentName,
        ending: Ending,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let seat = self.seats.get_mut(agent).expect("only runs of known seats end");
        seat.phase = Phase::Ended(ending);
        seat.unreachable = None;
        if seat.state != AgentState::Exited {
            seat.state = AgentState::Exited;
            seat.since = now;
        }
        let reason = seat.note.clone().unwrap_or_else(|| ending.to_string());
        let words = format!("run {}: {reason}", seat.run);
        let failure = seat.failure(reason);
        let next = seat.next.take().filter(|_| !self.going_down);
        self.touch_seat(agent);
        self.tell(Entry::new("agent.ended", words).of(agent));
        self.forsake_dispatches(agent, next.is_some(), now);
        self.release_task(agent, ending, now);
        self.reach(agent, Goal::Ended, effects);
        if let Some((member, launch)) = next {
            self.begin(member, launch, now, effects);
        } else {
            self.miss(Goal::Running, &failure, effects);
            self.tidy(agent, effects);
        }
        self.finish_down(effects);
    }

    /// Tells those who wait that a stop did not succeed; the run stays, so that it can be tried again.
    fn keep_for_survivors(
        &mut self,
        agent: &AgentName,
        survivors: Vec<ProcessInfo>,
        effects: &mut Vec<Effect>,
    ) {
        let reason = format!("could not be stopped, left alive: {}", names(&survivors));
        let seat = self.seats.get_mut(agent).expect("only runs of known seats are stopped");
        seat.note = Some(reason.clone());
        seat.next = None;
        let failure = Failure { survivors, ..seat.failure(reason) };
        self.going_down = false;
        self.touch(Place::Hub);
        self.miss(Goal::Ended, &failure, effects);
        self.miss(Goal::Running, &failure, effects);
    }

    /// Ends the hub once everything that was to go down is down.
    pub(in crate::engine) fn finish_down(&mut self, effects: &mut Vec<Effect>) {
        let is_busy = self.seats.values().any(Seat::is_live) || self.is_busy_with_workspaces();
        if !self.going_down || is_busy {
            return;
        }
        self.going_down = false;
        self.touch(Place::Hub);
        self.tell(Entry::new("hub.down", "everything has ended"));
        effects.push(Effect::EndHub);
    }
}

impl Seat {
    /// Notes that the run is seen to have begun as it was told to: from here on its conversation
    /// is the one to be taken up again. Says whether that is news.
    fn note_coming_up(&mut self, state: AgentState) -> bool {
        let Member { opening, conversation, .. } = &mut self.member;
        let is_news = state.has_come_up() && *opening != Opening::default();
        if is_news && let Some(id) = std::mem::take(opening).conversation {
            *conversation = Some(id);
        }
        is_news
    }

    /// Says whether its last run was to take a conversation up and ended before it did.
    pub fn did_not_resume(&self) -> bool {
        let has_ended_by_itself = matches!(self.phase, Phase::Ended(Ending::Finished(_)));
        self.member.opening.is_resumed && has_ended_by_itself
    }

    /// Says why a run ended that was to take a conversation up and never got there.
    fn note_vain_resumption(&mut self, exit: Exit) {
        let Member { name, conversation, opening, .. } = &self.member;
        if opening.is_resumed && self.phase != Phase::Stopping {
            let id = conversation.as_deref().unwrap_or_default();
            self.note = Some(format!(
                "it did not take up its conversation {id} ({}): `wheelhouse agent resume {name} \
                 --brief` starts afresh and tells it where it stands",
                Ending::Finished(exit)
            ));
        }
    }
}

fn names(processes: &[ProcessInfo]) -> String {
    let name = |info: &ProcessInfo| format!("{} ({})", info.id.pid, info.name);
    processes.iter().map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, name, seen, stopped};
    use crate::engine::{Event, Record};
    use crate::model::Exit;

    fn phase(bench: &Bench, agent: &str) -> Phase {
        bench.engine.seat(&name(agent)).unwrap().phase
    }

    #[test]
    fn an_exit_is_not_an_intent() {
        let mut bench = Bench::with_running(&["one", "two", "three"]);
        let exit = RunEvent::Exited { exit: Exit::Signal(9) };
        let effects = bench.tell("one", exit.clone());
        assert!(matches!(effects[..], [Effect::Save(_), Effect::Release { .. }]), "{effects:?}");
        let _ = bench.tell("one", RunEvent::KeeperLost);
        assert_eq!(phase(&bench, "one"), Phase::Ended(Ending::Finished(Exit::Signal(9))));

        let _ = bench.stop("two");
        let _ = bench.tell("two", exit);
        assert_eq!(phase(&bench, "two"), Phase::Leaving(Ending::Stopped));

        let _ = bench.tell("three", RunEvent::KeeperLost);
        assert_eq!(phase(&bench, "three"), Phase::Sweeping(Ending::Lost));
    }

    #[test]
    fn a_lost_run_is_over_only_when_its_leftovers_are_killed() {
        let mut bench = Bench::with_running(&["one"]);
        let effects = bench.tell("one", RunEvent::KeeperLost);
        assert!(matches!(effects[..], [Effect::Save(_), Effect::Sweep { .. }]), "{effects:?}");
        let _ = bench.tell("one", RunEvent::Swept { survivors: Vec::new() });
        assert_eq!(phase(&bench, "one"), Phase::Ended(Ending::Lost));
    }

    #[test]
    fn a_run_that_was_stopped_before_it_came_has_not_failed() {
        let mut bench = Bench::new();
        let _ = bench.start(&["one"]);
        let _ = bench.stop("one");
        let _ = bench.tell("one", RunEvent::NeverCame { reason: "stopped before".to_owned() });
        assert_eq!(phase(&bench, "one"), Phase::Ended(Ending::Stopped));
        assert_eq!(bench.engine.seat(&name("one")).unwrap().note, None);
    }

    #[test]
    fn stopped_is_not_said_while_something_survives() {
        let mut bench = Bench::with_running(&["one"]);
        let _ = bench.stop("one");
        let undead = ProcessInfo {
            id: ProcessId { pid: 9, started: 9 },
            parent: 1,
            name: "undead".to_owned(),
            cpu_ms: 0,
            memory_bytes: 0,
        };
        let effects = bench.tell("one", RunEvent::Stopped { survivors: vec![undead] });
        let Some(Effect::Answer { outcome: Err(refusal), .. }) = effects.last() else {
            panic!("{effects:?}")
        };
        assert!(refusal.to_string().contains("9 (undead)"), "{refusal}");
        assert_eq!(phase(&bench, "one"), Phase::Stopping);
    }

    #[test]
    fn news_of_an_earlier_run_changes_nothing() {
        let mut bench = Bench::with_running(&["one"]);
        let agent = name("one");
        let stale = Event::Run { agent, run: RunId(0), event: stopped() };
        assert_eq!(bench.engine.handle(stale, bench.now), []);
        assert_eq!(phase(&bench, "one"), Phase::Running);
    }

    #[test]
    fn after_a_crash_nothing_is_believed_until_its_keeper_answers() {
        let mut bench = Bench::with_running(&["one", "two"]);
        let _ = bench.stop("two");
        let (engine, effects) = Engine::recover(bench.engine.record(), bench.now);
        assert!(effects.iter().all(|effect| matches!(effect, Effect::Adopt { .. })));
        bench.engine = engine;
        let _ = bench.tell("one", RunEvent::KeeperLost);
        assert_eq!(phase(&bench, "one"), Phase::Sweeping(Ending::Lost));
        let effects = bench.tell("two", seen());
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Stop { .. })), "{effects:?}");
    }

    #[test]
    fn a_keeper_that_is_not_on_record_is_taken_in() {
        let (engine, _) = Engine::recover(Record::default(), Moment(0));
        let mut bench = Bench::new();
        bench.engine = engine;
        let event = Event::Run { agent: name("stray"), run: RunId(5), event: seen() };
        let _ = bench.engine.handle(event, bench.now);
        let seat = bench.engine.seat(&name("stray")).unwrap();
        assert_eq!((seat.run, seat.phase), (RunId(5), Phase::Running));
    }
}
