//! Fresh conversations: whoever takes such a task begins a new one, in a new run of its cli.
//!
//! A run to which nothing was said is as good as a new one. Any other is ended first, and nothing
//! of it is left when the next one begins: that is what a restart proves and a command of the cli
//! does not.

use crate::engine::{Effect, Engine, Seat};
use crate::model::{AgentName, AgentState, Entry, Launch, Member, Moment, Task, TaskId};

/// How to begin a run anew, or why that cannot be.
pub type Plan = Result<Box<(Member, Launch)>, String>;

impl Engine {
    /// Has an agent begin afresh for a task; the shell is asked how.
    pub(in crate::engine) fn renew(
        &mut self,
        id: TaskId,
        agent: &AgentName,
        effects: &mut Vec<Effect>,
    ) {
        let seat = self.seats.get_mut(agent).expect("work goes to known agents");
        seat.renews_for = Some(id);
        let run = seat.run;
        self.tell(Entry::new("agent.renewing", format!("run {run}")).about(id).of(agent));
        effects.push(Effect::Renew { agent: agent.clone(), run });
    }

    /// Ends a run so that the next one begins afresh, unless it has something else to do by now.
    pub(in crate::engine) fn note_plan(
        &mut self,
        agent: &AgentName,
        plan: Plan,
        grace_ms: u64,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let is_busy = self.task_of(agent).is_some() || self.has_open_dispatch(agent);
        let is_wanted = !is_busy && !self.going_down;
        let Some(seat) = self.seats.get_mut(agent) else { return };
        let id = seat.renews_for.filter(|_| is_wanted && seat.may_be_handed_work());
        let Some(id) = id.filter(|id| self.tasks.contains_key(id)) else {
            seat.renews_for = None;
            return;
        };
        match plan {
            Ok(next) => {
                self.order_stop(agent, grace_ms, now, effects);
                let seat = self.seats.get_mut(agent).expect("it was just found");
                seat.next = Some(*next);
            }
            Err(reason) => {
                (seat.renews_for, seat.no_renewal) = (None, Some(reason.clone()));
                self.tell(Entry::new("agent.not_renewed", reason).about(id).of(agent));
            }
        }
    }

    /// Says whether someone is about to begin afresh for a task.
    pub(in crate::engine) fn is_awaiting_renewal(&self, task: &Task) -> bool {
        self.seats.values().any(|seat| seat.renews_for == Some(task.id) && seat.may_yet_come())
    }
}

impl Seat {
    /// Says whether a task may be handed to it, now or after a new beginning.
    pub(in crate::engine) fn can_begin(&self, task: &Task) -> bool {
        !task.wants_fresh() || !self.is_used || self.no_renewal.is_none()
    }

    /// Says whether a task would have it begin afresh first.
    pub(in crate::engine) fn must_renew(&self, task: &Task) -> bool {
        task.wants_fresh() && self.is_used
    }

    /// Says whether it is ending so as to begin anew.
    pub(in crate::engine) fn is_renewing(&self) -> bool {
        self.renews_for.is_some() && self.is_used
    }

    /// A dialog or a limit may keep a new run from coming up for as long as nobody looks at it.
    fn may_yet_come(&self) -> bool {
        match self.state {
            AgentState::Waiting | AgentState::Limited | AgentState::Unknown => false,
            AgentState::Exited => self.next.is_some(),
            AgentState::Starting
            | AgentState::Idle
            | AgentState::Working
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error => self.is_live(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RunEvent;
    use crate::engine::fixture::{Bench, GRACE_MS, Work, crew, name, seen, stopped};
    use crate::model::{AgentState, Command, Context, TaskCommand, TaskState};

    fn fresh(title: &str) -> Work {
        Work::new(title).with(|terms| terms.context = Context::Fresh)
    }

    fn renewals(bench: &Bench) -> Vec<String> {
        let orders = bench.seen.iter().filter_map(|effect| {
            let Effect::Renew { agent, .. } = effect else { return None };
            Some(agent.to_string())
        });
        orders.collect()
    }

    fn use_up(bench: &mut Bench, agent: &str) {
        bench.send(agent, "look around");
        bench.begin(agent);
        bench.did(agent, AgentState::Idle);
    }

    #[test]
    fn a_conversation_that_was_not_used_is_fresh_and_goes_first() {
        let mut bench = Bench::with_idle(&["one", "two"]);
        use_up(&mut bench, "one");
        let _ = bench.add(vec![fresh("a")]);
        assert_eq!(bench.worker(1).as_deref(), Some("two"));
        assert_eq!(renewals(&bench), Vec::<String>::new());
    }

    #[test]
    fn a_used_one_begins_anew_only_when_nothing_of_its_run_is_left() {
        let mut bench = Bench::with_idle(&["one"]);
        use_up(&mut bench, "one");
        let _ = bench.add(vec![fresh("a")]);
        assert_eq!(
            (renewals(&bench), bench.states()),
            (vec!["one".into()], vec![TaskState::Ready])
        );
        let effects = bench.plan("one");
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Stop { .. })), "{effects:?}");
        let begins = |effects: &[Effect]| effects.iter().any(|e| matches!(e, Effect::Start { .. }));
        assert!(!begins(&bench.tell("one", stopped())), "its keeper is still there");
        assert!(begins(&bench.tell("one", RunEvent::KeeperLost)));
        let _ = bench.tell("one", seen());
        assert_eq!(bench.worker(1), None, "it has not come up yet");
        bench.did("one", AgentState::Idle);
        assert_eq!(bench.worker(1).as_deref(), Some("one"));
        assert_eq!(renewals(&bench).len(), 1);
        assert_eq!(bench.engine.task(TaskId(1)).unwrap().open().unwrap().run.0, 2);
    }

    #[test]
    fn one_agent_begins_anew_for_one_task_and_others_stay_as_they_are() {
        let mut bench = Bench::with_idle(&["one", "two", "three"]);
        for agent in ["one", "two", "three"] {
            use_up(&mut bench, agent);
        }
        let _ = bench.add(vec![fresh("a")]);
        bench.did("two", AgentState::Done);
        bench.did("three", AgentState::Done);
        assert_eq!(renewals(&bench), ["one"]);
    }

    #[test]
    fn an_agent_that_got_something_else_to_do_meanwhile_is_left_alone() {
        let mut bench = Bench::with_idle(&["one"]);
        use_up(&mut bench, "one");
        let _ = bench.add(vec![fresh("a")]);
        bench.send("one", "one more thing");
        let effects = bench.plan("one");
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Stop { .. })), "{effects:?}");
    }

    #[test]
    fn who_cannot_begin_anew_is_named_to_a_person() {
        let mut bench = Bench::with_idle(&["one"]);
        use_up(&mut bench, "one");
        let _ = bench.add(vec![fresh("a")]);
        let (plan, grace_ms) = (Err("its file is gone".to_owned()), GRACE_MS);
        let _ = bench.tell("one", RunEvent::Planned { plan, grace_ms });
        assert!(bench.waits_for("unfit", 1));
        let item = bench.engine.attention()[0].clone();
        assert!(item.text.contains("its file is gone"), "{item:?}");
        assert_eq!(renewals(&bench).len(), 1, "it is tried once");
    }

    #[test]
    fn whoever_verifies_is_fresh_too() {
        let mut bench = Bench::with_idle(&["one"]);
        bench.join_as("va", crate::model::Role::Verifier);
        use_up(&mut bench, "va");
        let _ = bench.add(vec![Work::new("a").with(|terms| {
            (terms.verifiers, terms.agree) = (1, 1);
        })]);
        bench.begin("one");
        bench.report("one", 1, "STATUS: DONE — 3 tests pass");
        assert_eq!(renewals(&bench), ["va"]);
        bench.did("one", AgentState::Idle);
        let claim = TaskCommand::Claim { task: TaskId(2), agent: name("va") };
        let refused = bench.ask(Command::Task(claim));
        assert!(matches!(refused[..], [Effect::Answer { outcome: Err(_), .. }]), "{refused:?}");
    }

    #[test]
    fn what_a_team_says_first_leaves_a_conversation_fresh() {
        let mut bench = Bench::new();
        let mut members = crew(&["one"], "team");
        let letter = crate::model::Letter { agent: name("one"), text: "hello".into(), tag: None };
        members[0].0.opening.letter = Some(letter);
        let _ = bench.ask(Command::Start { members });
        let _ = bench.tell("one", seen());
        bench.did("one", AgentState::Idle);
        bench.begin("one");
        bench.did("one", AgentState::Idle);
        let _ = bench.add(vec![fresh("a")]);
        assert_eq!(bench.worker(1).as_deref(), Some("one"));
    }
}
