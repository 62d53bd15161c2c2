//! Agents in places that cannot be reached for a while: out of sight is not dead.

use serde::{Deserialize, Serialize};

use crate::engine::waits::Goal;
use crate::engine::{Effect, Engine, Phase, Seat};
use crate::model::{AgentName, AgentState, Ending, Entry, Failure, Moment, Source};

/// Since when nobody reaches the place where an agent runs, and what was last known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreachable {
    pub since: Moment,
    pub reason: String,
    state: AgentState,
    source: Source,
}

impl Engine {
    /// Notes that an agent's place cannot be reached. The run goes on, as far as anyone knows: only
    /// its place can say that it is over.
    pub(in crate::engine) fn note_out_of_reach(
        &mut self,
        agent: &AgentName,
        reason: String,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let seat = self.seats.get_mut(agent).expect("only known seats get out of reach");
        if let Some(known) = &mut seat.unreachable {
            if known.reason != reason {
                known.reason = reason;
                self.touch_seat(agent);
            }
            return;
        }
        let (state, source) = (seat.state, seat.source);
        let words = reason.clone();
        seat.unreachable = Some(Unreachable { since: now, reason, state, source });
        if !seat.is_gone() {
            (seat.state, seat.source, seat.since) = (AgentState::Unknown, Source::Process, now);
        }
        seat.pace.stuck = None;
        self.touch_seat(agent);
        self.tell(Entry::new("agent.unreachable", words).of(agent));
        self.answer_out_of_reach(effects);
    }

    /// Notes that an agent's place is reached again: what it does is as it was, until it is seen
    /// to do something else.
    pub(in crate::engine) fn note_in_reach(&mut self, agent: &AgentName, now: Moment) {
        let Some(seat) = self.seats.get_mut(agent) else { return };
        let Some(before) = seat.unreachable.take() else { return };
        if !seat.is_gone() && before.state != AgentState::Exited {
            (seat.state, seat.source, seat.since) = (before.state, before.source, now);
        }
        seat.pace.take_up(now);
        let words = format!("out of reach since {}", before.since.to_rfc3339());
        self.tell(Entry::new("agent.reached", words).of(agent));
    }

    /// Tells everyone who waits for an agent that is out of reach that this may take long.
    pub(in crate::engine) fn answer_out_of_reach(&mut self, effects: &mut Vec<Effect>) {
        let failures: Vec<Failure> = self.seats.values().filter_map(Seat::out_of_reach).collect();
        for failure in &failures {
            self.miss(Goal::Running, failure, effects);
            self.miss(Goal::Ended, failure, effects);
        }
        // Whoever wanted everything to end knows now what has not.
        if !failures.is_empty() {
            self.going_down = false;
        }
    }
}

impl Seat {
    /// Returns how a run ended that never came. One that was to stop has stopped: nothing went wrong.
    pub(in crate::engine) fn note_absence(&mut self, reason: String) -> Ending {
        if self.phase == Phase::Stopping {
            return Ending::Stopped;
        }
        self.note = Some(reason);
        Ending::Failed
    }

    /// Keeps what an agent does for when it is reached again; says whether that is all to do now.
    pub(in crate::engine) fn is_out_of_sight(&mut self, state: AgentState, source: Source) -> bool {
        if let Some(unreachable) = &mut self.unreachable {
            (unreachable.state, unreachable.source) = (state, source);
        }
        self.unreachable.is_some()
    }

    /// Returns what went wrong with this agent, for whoever asked.
    pub(in crate::engine) fn failure(&self, reason: String) -> Failure {
        let runner = self.member.runner.as_ref().map(|runner| runner.name.clone());
        Failure { runner, ..Failure::new(self.member.name.clone(), reason) }
    }

    fn out_of_reach(&self) -> Option<Failure> {
        let unreachable = self.unreachable.as_ref().filter(|_| self.is_live())?;
        let since = unreachable.since.to_rfc3339();
        let reason = format!(
            "out of reach since {since}, and may still run there ({}); what was asked is done once it \
             is reached again, and `wheelhouse agent remove --abandon {}` gives it up",
            unreachable.reason, self.member.name
        );
        Some(self.failure(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, name, seen, stopped};
    use crate::engine::{Phase, RunEvent};
    use crate::model::{AttentionKind, Command, Refusal};

    fn lose(bench: &mut Bench) -> Vec<Effect> {
        bench.tell("one", RunEvent::OutOfReach { reason: "no route to host".to_owned() })
    }

    fn refusal(effects: &[Effect]) -> Option<String> {
        effects.iter().find_map(|effect| {
            let Effect::Answer { outcome: Err(refusal), .. } = effect else { return None };
            Some(refusal.to_string())
        })
    }

    #[test]
    fn an_agent_out_of_reach_is_not_dead_and_is_as_it_was_when_it_is_back() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        let _ = lose(&mut bench);
        let seat = |bench: &Bench| bench.engine.seat(&name("one")).unwrap().clone();
        assert_eq!((seat(&bench).state, seat(&bench).phase), (AgentState::Unknown, Phase::Running));
        let kinds: Vec<_> = bench.engine.attention().iter().map(|item| item.kind).collect();
        assert_eq!(kinds, [AttentionKind::Unreachable]);
        bench.did("one", AgentState::Working);
        assert_eq!(seat(&bench).state, AgentState::Unknown, "nobody can see that now");
        let _ = bench.tell("one", seen());
        assert_eq!(seat(&bench).state, AgentState::Working);
        assert_eq!(bench.engine.attention().len(), 0);
    }

    #[test]
    fn nobody_waits_for_ever_and_no_second_one_is_started() {
        let mut bench = Bench::with_running(&["one"]);
        let _ = lose(&mut bench);
        let effects = bench.stop("one");
        let told = refusal(&effects).unwrap();
        assert!(told.contains("may still run there (no route to host)"), "{told}");
        let begins = |effects: &[Effect]| effects.iter().any(|e| matches!(e, Effect::Start { .. }));
        assert!(!begins(&bench.start(&["one"])));
        let effects = bench.tell("one", seen());
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Stop { .. })), "{effects:?}");
        let _ = bench.tell("one", stopped());
        assert!(
            begins(&bench.tell("one", RunEvent::KeeperLost)),
            "the start came while it stopped"
        );
    }

    #[test]
    fn a_person_may_give_up_what_is_out_of_reach_and_nothing_else() {
        let mut bench = Bench::with_running(&["one", "two"]);
        let forget = |agent: &str| Command::Forget { agents: vec![name(agent)], abandon: true };
        let effects = bench.ask(forget("two"));
        assert!(refusal(&effects).is_some(), "it is within reach");
        let _ = lose(&mut bench);
        let careful = Command::Forget { agents: vec![name("one")], abandon: false };
        let effects = bench.ask(careful);
        let is_refused = effects.iter().any(|effect| {
            matches!(effect, Effect::Answer { outcome: Err(Refusal::StillRuns { .. }), .. })
        });
        assert!(is_refused, "{effects:?}");
        let _ = bench.ask(forget("one"));
        assert!(bench.engine.seat(&name("one")).is_none());
    }

    #[test]
    fn a_hub_that_comes_back_is_not_held_up_by_what_it_cannot_reach() {
        let mut bench = Bench::with_running(&["one"]);
        bench.crash();
        assert!(bench.engine.is_recovering());
        let _ = lose(&mut bench);
        assert!(!bench.engine.is_recovering());
    }
}
