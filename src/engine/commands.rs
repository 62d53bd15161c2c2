//! What happens when someone asks for something.

use crate::engine::journal::Place;
use crate::engine::person_actions;
use crate::engine::waits::{Goal, Wait, Watch};
use crate::engine::{Effect, Engine, Phase, Seat};
use crate::model::{
    AgentName, Command, Done, Ending, Entry, Launch, Member, Moment, PlayId, Refusal, RequestId,
};

impl Engine {
    pub(super) fn obey(
        &mut self,
        request: RequestId,
        command: Command,
        by: Option<&AgentName>,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let (told, receipts) = (person_actions::entries(&command, by), self.receipts);
        let is_prompt = matches!(command, Command::Dispatch { .. });
        let answer = match command {
            Command::Dispatch { letters, idempotency_key, manner } => {
                self.dispatch(letters, idempotency_key.as_deref(), manner, now)
            }
            Command::Withdraw { receipt } => self.withdraw(receipt, now),
            Command::Task(command) => self.obey_about_tasks(command, now, effects),
            Command::Lock(command) => self.obey_about_locks(command, now),
            Command::Workspace(command) => {
                self.tell_all(told);
                return self.obey_about_workspaces(request, command, now, effects);
            }
            Command::Wait { condition } => match self.refuse_condition(&condition) {
                Ok(()) => return self.watches.push(Watch { request, condition }),
                Err(refusal) => Err(refusal),
            },
            Command::Play(_)
            | Command::Start { .. }
            | Command::Spawn { .. }
            | Command::Stop { .. }
            | Command::Restart { .. }
            | Command::Forget { .. }
            | Command::Down { .. } => {
                return self.obey_about_runs(request, command, told, now, effects);
            }
        };
        // A call that was made twice has been obeyed once.
        let is_new = self.receipts > receipts || !is_prompt;
        if answer.is_ok() && is_new {
            self.tell_all(told);
        }
        effects.push(Effect::Answer { request, outcome: answer });
    }

    fn obey_about_runs(
        &mut self,
        request: RequestId,
        command: Command,
        told: Vec<Entry>,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let begun = match command {
            Command::Start { members } => self.start(members, now, effects),
            Command::Spawn { by, terms, member } => {
                self.spawn(&by, terms.as_ref(), *member, now, effects)
            }
            Command::Stop { agents, grace_ms } => self.stop(&agents, grace_ms, now, effects),
            Command::Restart { members, grace_ms } => self.restart(members, grace_ms, now, effects),
            Command::Forget { agents, abandon } => self.forget(&agents, abandon, now, effects),
            Command::Down { force, grace_ms } => self.go_down(force, grace_ms, now, effects),
            Command::Play(command) => self.obey_about_plays(command, now, effects),
            Command::Dispatch { .. }
            | Command::Withdraw { .. }
            | Command::Wait { .. }
            | Command::Task(_)
            | Command::Workspace(_)
            | Command::Lock(_) => return,
        };
        match begun {
            Ok(begun) => {
                self.tell_all(told);
                self.waits.push(begun.into_wait(request));
                self.settle_waits(effects);
                self.answer_out_of_reach(effects);
            }
            Err(refusal) => effects.push(Effect::Answer { request, outcome: Err(refusal) }),
        }
        self.finish_down(effects);
    }

    pub(super) fn start(
        &mut self,
        members: Vec<(Member, Launch)>,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Begun, Refusal> {
        self.refuse_if_going_down()?;
        for (member, _) in &members {
            let taken = self.seats.get(&member.name).filter(|seat| seat.is_live());
            if let Some(seat) = taken.filter(|seat| seat.member.team != member.team) {
                let (agent, team) = (member.name.clone(), seat.member.team.clone());
                return Err(Refusal::NameInUse { agent, team });
            }
        }
        self.retire_others(&members);
        let mut begun = Begun::toward(Goal::Running);
        for (member, launch) in members {
            let agent = member.name.clone();
            match self.seats.get_mut(&agent).map(|seat| (seat.phase, seat)) {
                Some((Phase::Running, _)) => begun.done.unchanged.push(agent),
                Some((Phase::Starting, _)) => begun.pending.push(agent),
                Some((Phase::Stopping | Phase::Leaving(_) | Phase::Sweeping(_), seat)) => {
                    seat.next = Some((member, launch));
                    begun.pending.push(agent);
                }
                Some((Phase::Ended(_), _)) | None => {
                    self.begin(member, launch, now, effects);
                    begun.pending.push(agent);
                }
            }
        }
        Ok(begun)
    }

    /// Takes agents of other teams off the record that were stopped on purpose: they are over.
    fn retire_others(&mut self, members: &[(Member, Launch)]) {
        let is_over = |seat: &Seat| {
            seat.phase == Phase::Ended(Ending::Stopped)
                && members.iter().all(|(member, _)| member.team != seat.member.team)
        };
        let over: Vec<_> = self.seats.extract_if(.., |_, seat| is_over(seat)).collect();
        for (agent, _) in over {
            self.touch_seat(&agent);
        }
    }

    fn stop(
        &mut self,
        agents: &[AgentName],
        grace_ms: u64,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Begun, Refusal> {
        self.refuse_unknown(agents)?;
        let mut begun = Begun::toward(Goal::Ended);
        for agent in agents {
            if self.order_stop(agent, grace_ms, now, effects) {
                begun.pending.push(agent.clone());
            } else {
                begun.done.unchanged.push(agent.clone());
            }
        }
        Ok(begun)
    }

    pub(super) fn restart(
        &mut self,
        members: Vec<(Member, Launch)>,
        grace_ms: u64,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Begun, Refusal> {
        self.refuse_if_going_down()?;
        let mut begun = Begun::toward(Goal::Running);
        for (member, launch) in members {
            let agent = member.name.clone();
            begun.pending.push(agent.clone());
            if self.order_stop(&agent, grace_ms, now, effects) {
                let seat = self.seats.get_mut(&agent).expect("a stop was ordered for this seat");
                seat.next = Some((member, launch));
            } else {
                self.begin(member, launch, now, effects);
            }
        }
        Ok(begun)
    }

    fn forget(
        &mut self,
        agents: &[AgentName],
        abandon: bool,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Begun, Refusal> {
        self.refuse_unknown(agents)?;
        let may_go = |seat: &Seat| !seat.is_live() || (abandon && seat.unreachable.is_some());
        let stays = |agent: &&AgentName| self.seats.get(*agent).is_some_and(|seat| !may_go(seat));
        if let Some(agent) = agents.iter().find(stays) {
            return Err(Refusal::StillRuns { agent: agent.clone() });
        }
        for agent in agents {
            if self.seats.get(agent).is_some_and(Seat::is_live) {
                let words = "given up by a person, though it may still run there";
                self.tell(Entry::new("person.abandon", words).of(agent));
                self.end(agent, Ending::Lost, now, effects);
            }
            self.seats.remove(agent);
            self.touch_seat(agent);
            self.tell(Entry::new("agent.removed", "").of(agent));
            self.tidy(agent, effects);
        }
        Ok(Begun::toward(Goal::Ended))
    }

    fn go_down(
        &mut self,
        force: bool,
        grace_ms: u64,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Begun, Refusal> {
        let busy = self.seats.values().filter(|seat| seat.is_live() && seat.state.may_be_working());
        let agents: Vec<_> = busy.map(|seat| seat.member.name.clone()).collect();
        if !force && !agents.is_empty() {
            return Err(Refusal::StillWorking { agents });
        }
        self.going_down = true;
        self.touch(Place::Hub);
        self.tell(Entry::new("hub.going_down", if force { "by force" } else { "" }));
        let names: Vec<_> = self.seats.keys().cloned().collect();
        let mut begun = Begun::toward(Goal::Ended);
        for agent in names {
            if self.order_stop(&agent, grace_ms, now, effects) {
                begun.pending.push(agent);
            }
        }
        Ok(begun)
    }

    pub(super) fn refuse_if_going_down(&self) -> Result<(), Refusal> {
        if self.going_down { Err(Refusal::GoingDown) } else { Ok(()) }
    }

    pub(super) fn refuse_unknown(&self, agents: &[AgentName]) -> Result<(), Refusal> {
        match agents.iter().find(|agent| !self.seats.contains_key(*agent)) {
            Some(agent) => Err(Refusal::UnknownAgent {
                agent: agent.to_string(),
                known: self.seats.keys().cloned().collect(),
            }),
            None => Ok(()),
        }
    }
}

/// What a command has set going.
pub(super) struct Begun {
    goal: Goal,
    pending: Vec<AgentName>,
    done: Done,
}

impl Begun {
    fn toward(goal: Goal) -> Self {
        Self { goal, pending: Vec::new(), done: Done::default() }
    }

    /// Returns something about a run that waits for nobody.
    pub(super) fn about(play: PlayId, goal: Goal) -> Self {
        let mut begun = Self::toward(goal);
        begun.set_play(play);
        begun
    }

    /// Waits for what another waits for, too.
    pub(super) fn join(&mut self, other: Self) {
        self.pending.extend(other.pending);
        self.done.unchanged.extend(other.done.unchanged);
    }

    /// Returns the agents that have yet to come where they are wanted.
    pub(super) fn pending(&self) -> impl Iterator<Item = &AgentName> {
        self.pending.iter()
    }

    pub(super) fn set_play(&mut self, play: PlayId) {
        self.done.play = Some(play);
    }

    fn into_wait(self, request: RequestId) -> Wait {
        let pending = self.pending.into_iter().collect();
        let (goal, done, failures) = (self.goal, self.done, Vec::new());
        Wait { request, key: None, goal, pending, done, failures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RunEvent;
    use crate::engine::fixture::{Bench, crew, name, seen, stopped};

    fn answer(effects: &[Effect]) -> Option<&Result<Done, Refusal>> {
        effects.iter().find_map(|effect| {
            if let Effect::Answer { outcome, .. } = effect { Some(outcome) } else { None }
        })
    }

    #[test]
    fn a_start_is_on_record_before_it_happens_and_answered_once_it_has() {
        let mut bench = Bench::new();
        let effects = bench.start(&["one"]);
        assert!(matches!(effects[..], [Effect::Save(_), Effect::Start { .. }]), "{effects:?}");
        let effects = bench.tell("one", seen());
        let done = answer(&effects).unwrap().as_ref().unwrap();
        assert_eq!(done.started, [name("one")]);
    }

    #[test]
    fn an_agent_that_runs_is_not_started_again() {
        let mut bench = Bench::with_running(&["one"]);
        let effects = bench.start(&["one"]);
        let done = answer(&effects).unwrap().as_ref().unwrap();
        assert_eq!(done.unchanged, [name("one")]);
        assert_eq!(effects.len(), 1);
    }

    #[test]
    fn two_teams_cannot_have_a_living_agent_of_one_name() {
        let mut bench = Bench::with_running(&["one"]);
        let effects = bench.ask(Command::Start { members: crew(&["two", "one"], "other") });
        assert!(matches!(answer(&effects), Some(Err(Refusal::NameInUse { .. }))));
        assert!(bench.engine.seat(&name("two")).is_none(), "nothing of it was begun");
    }

    #[test]
    fn a_restart_begins_only_when_nothing_of_the_old_run_is_left() {
        let mut bench = Bench::with_running(&["one"]);
        let restart = Command::Restart { members: crew(&["one"], "team"), grace_ms: 1 };
        let begins = |effects: &[Effect]| effects.iter().any(|e| matches!(e, Effect::Start { .. }));
        assert!(!begins(&bench.ask(restart)));
        assert!(!begins(&bench.tell("one", stopped())), "the keeper still holds the lock");
        let effects = bench.tell("one", RunEvent::KeeperLost);
        assert!(begins(&effects));
        assert_eq!(answer(&effects), None, "not before it runs");
        assert!(answer(&bench.tell("one", seen())).unwrap().is_ok());
    }

    #[test]
    fn down_names_who_may_be_working_unless_it_is_forced() {
        let mut bench = Bench::with_running(&["one", "two"]);
        let effects = bench.down(false);
        let Some(Err(refusal)) = answer(&effects) else { panic!("{effects:?}") };
        assert_eq!(refusal.to_string(), "2 agents may still be working: one, two");
        assert!(answer(&bench.down(true)).is_none());
        let refused = bench.start(&["three"]);
        assert!(matches!(answer(&refused), Some(Err(Refusal::GoingDown))));
    }

    #[test]
    fn the_hub_ends_when_the_last_agent_is_down() {
        let mut bench = Bench::with_running(&["one", "two"]);
        let _ = bench.down(true);
        for agent in ["one", "two"] {
            let _ = bench.tell(agent, stopped());
        }
        assert!(!bench.tell("one", RunEvent::KeeperLost).contains(&Effect::EndHub));
        let effects = bench.tell("two", RunEvent::KeeperLost);
        assert!(answer(&effects).unwrap().is_ok());
        assert_eq!(effects.last(), Some(&Effect::EndHub));
    }

    #[test]
    fn only_what_has_ended_can_be_forgotten() {
        let mut bench = Bench::with_running(&["one"]);
        let forget = || Command::Forget { agents: vec![name("one")], abandon: false };
        assert!(matches!(answer(&bench.ask(forget())), Some(Err(Refusal::StillRuns { .. }))));
        let _ = bench.stop("one");
        let _ = bench.tell("one", stopped());
        let _ = bench.tell("one", RunEvent::KeeperLost);
        assert!(answer(&bench.ask(forget())).unwrap().is_ok());
        assert!(bench.engine.seat(&name("one")).is_none());
    }
}
