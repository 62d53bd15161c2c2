//! When an agent may get its next prompt.

use std::time::Duration;

use crate::engine::{Engine, Phase, Seat};
use crate::model::{AgentName, AgentState, Entry, Moment, ReceiptId, RunId, Source};

/// A person who has not pressed a key for this long has stopped typing.
const TYPING_PAUSE: Duration = Duration::from_secs(4);

/// How long after a moment that turned out not to be safe the next one is looked for.
const HELD_PAUSE: Duration = Duration::from_secs(2);

/// An agent that took a prompt is seen at work by then, or its turn was too short to be seen.
const TURN_PATIENCE: Duration = Duration::from_secs(10);

/// One that tells beside its screen what it does tells of every turn, however short. On a busy machine a
/// program that hands the prompt to a server of its own does that many seconds later.
const TOLD_PATIENCE: Duration = Duration::from_secs(30);

/// When the next prompt may be typed, as far as this seat goes; nothing of this outlives the hub.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Not before this: a person types, or the last moment was not a safe one.
    not_before: Moment,
    /// A prompt was accepted, and the work on it has not been seen yet.
    turn_expected_until: Option<Moment>,
    /// The work on the prompt that was submitted last, or its end, was seen: that may be known before it
    /// is known that the prompt was accepted.
    turn_was_seen: bool,
    /// Its program has told beside the screen what it does.
    tells_itself: bool,
    /// The limit that held it up has ended.
    is_reset: bool,
}

impl Engine {
    pub(in crate::engine) fn hold(&mut self, agent: &AgentName, now: Moment) {
        self.hold_for(agent, HELD_PAUSE, now);
    }

    /// Types nothing for so long.
    pub(in crate::engine) fn hold_for(&mut self, agent: &AgentName, pause: Duration, now: Moment) {
        if let Some(seat) = self.seats.get_mut(agent) {
            seat.readiness.not_before = now + pause;
        }
    }

    /// Expects the turn of a prompt that was accepted, unless something of it was seen already.
    pub(in crate::engine) fn expect_turn(
        &mut self,
        agent: &AgentName,
        prompt: ReceiptId,
        now: Moment,
    ) {
        let prompt = self.dispatches.get(&prompt);
        // Many commands have no turn.
        let is_command = prompt.is_some_and(|prompt| prompt.manner.is_command);
        let has_begun =
            |seat: &Seat| matches!(seat.state, AgentState::Working | AgentState::Waiting);
        let seat = self.seats.get_mut(agent).filter(|seat| !has_begun(seat));
        if let Some(seat) = seat.filter(|seat| !seat.readiness.turn_was_seen) {
            let is_told = seat.readiness.tells_itself && !is_command;
            let patience = if is_told { TOLD_PATIENCE } else { TURN_PATIENCE };
            seat.readiness.turn_expected_until = Some(now + patience);
        }
    }

    /// Notes that a prompt is being submitted: what is seen from now on may be the work on it.
    pub(in crate::engine) fn begin_turn(&mut self, agent: &AgentName) {
        if let Some(seat) = self.seats.get_mut(agent) {
            seat.readiness.turn_was_seen = false;
        }
    }

    /// Notes that a person pressed a key in an agent's pane.
    pub(in crate::engine) fn note_typing(&mut self, agent: &AgentName, now: Moment) {
        let Some(seat) = self.seats.get_mut(agent) else { return };
        let is_first = seat.readiness.not_before <= now;
        seat.readiness.not_before = now + TYPING_PAUSE;
        if is_first {
            self.tell(Entry::new("person.keys", "typed into its pane").of(agent));
        }
        self.use_conversation(agent);
    }

    /// Notes one more key of a person who is typing already, and says whether it is one: that is all there
    /// is to it then. The first after a pause is an event (`PersonTyped`), and what follows from it.
    pub fn note_next_key(&mut self, agent: &AgentName, run: RunId, now: Moment) -> bool {
        let is_typed_into =
            |seat: &Seat| seat.run == run && seat.is_used && now < seat.readiness.not_before;
        let seat = self.seats.get_mut(agent).filter(|seat| is_typed_into(seat));
        seat.map(|seat| seat.readiness.not_before = now + TYPING_PAUSE).is_some()
    }

    /// Gives up on turns that were too short to be seen.
    pub(in crate::engine) fn stop_expecting(&mut self, now: Moment) {
        for seat in self.seats.values_mut() {
            let until = &mut seat.readiness.turn_expected_until;
            *until = until.filter(|until| now < *until);
        }
    }
}

impl Readiness {
    pub(in crate::engine) fn earliest(&self) -> Moment {
        self.turn_expected_until.unwrap_or_default().max(self.not_before)
    }

    /// Says whether a prompt was accepted and the work on it has yet to be seen.
    pub(in crate::engine) fn expects_turn(&self, now: Moment) -> bool {
        self.turn_expected_until.is_some_and(|until| now < until)
    }

    /// Returns until when a turn is expected.
    pub(in crate::engine) fn turn_expected_until(&self) -> Option<Moment> {
        self.turn_expected_until
    }

    /// Notes who says what the agent does.
    pub(in crate::engine) fn note_source(&mut self, source: Source) {
        self.tells_itself |= matches!(source, Source::Hook | Source::Signal);
    }

    /// Notes what the agent is seen to do: the turn that was expected may have begun. A prompt that
    /// was taken ends what the last turn had come to, and for a moment nothing may be recognised.
    pub(in crate::engine) fn note_turn(&mut self, state: AgentState) {
        self.is_reset = false;
        match state {
            AgentState::Working
            | AgentState::Waiting
            | AgentState::Done
            | AgentState::Blocked
            | AgentState::Error
            | AgentState::Limited
            | AgentState::Exited => self.note_turn_end(),
            AgentState::Idle | AgentState::Starting | AgentState::Unknown => {}
        }
    }

    /// Notes that the turn that was expected has been seen, or has ended unseen.
    pub(in crate::engine) fn note_turn_end(&mut self) {
        (self.turn_expected_until, self.turn_was_seen) = (None, true);
    }

    /// Says whether the limit that held the agent up has ended.
    pub(in crate::engine) fn is_reset(&self) -> bool {
        self.is_reset
    }

    pub(in crate::engine) fn note_reset(&mut self) {
        self.is_reset = true;
    }
}

impl Seat {
    /// Says whether the agent shows that it would take a prompt.
    fn accepts_prompts(&self) -> bool {
        match self.state {
            AgentState::Idle | AgentState::Done | AgentState::Blocked | AgentState::Error => true,
            AgentState::Starting
            | AgentState::Working
            | AgentState::Waiting
            | AgentState::Limited
            | AgentState::Unknown
            | AgentState::Exited => false,
        }
    }

    /// Returns when it may get its next prompt, as far as time goes.
    pub(in crate::engine) fn earliest_prompt(&self) -> Moment {
        self.readiness.earliest()
    }

    pub(in crate::engine) fn may_take(&self, is_confirmed: bool) -> bool {
        let is_blind = match self.state {
            AgentState::Unknown => is_confirmed,
            AgentState::Limited => is_confirmed || self.readiness.is_reset,
            AgentState::Starting
            | AgentState::Idle
            | AgentState::Working
            | AgentState::Waiting
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error
            | AgentState::Exited => false,
        };
        self.phase == Phase::Running && (self.accepts_prompts() || is_blind)
    }
}
