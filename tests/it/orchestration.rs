//! Whole runs of tasks: what no agent and no crash may bring about, and that all comes to an end.
//!
//! Every run is fixed by its seed: a failure prints the seed that replays it.

use std::collections::BTreeMap;

use wheelhouse::engine::{Phase, Record};
use wheelhouse::model::{
    AgentName, AgentState, NeedState, PlayState, Role, Task, TaskId, TaskState,
};

use super::support::crew::{Fault, World};
use super::support::team::AGENTS;

/// Each takes a quarter of a second; `.ci/long` runs many more.
const SEEDS: u64 = 60;

#[test]
fn no_claim_passes_unchecked_and_every_task_ends_or_waits_for_someone() {
    live(SEEDS);
}

#[test]
#[ignore = "long; `.ci/long` runs it"]
fn no_claim_passes_unchecked_in_a_thousand_runs() {
    live(1000);
}

/// Lives through a run for each seed.
fn live(seeds: u64) {
    let mut ends = BTreeMap::new();
    let (mut events, mut trespasses, mut met, mut stubbed) = (0, 0, 0, 0);
    for seed in 0..seeds {
        let world = World::live(seed, Fault::None);
        world.assert_settled().unwrap();
        events += world.events;
        trespasses += world.engine.trespasses().count();
        met += world.engine.needs().filter(|need| need.state == NeedState::Met).count();
        stubbed += world.stubbed.len();
        for task in world.engine.tasks() {
            *ends.entry(task.state).or_insert(0_u64) += 1;
        }
    }
    assert!(events > seeds * 250, "{events}");
    let enough = usize::try_from(seeds / 40).unwrap();
    assert!(
        trespasses > enough && met > enough && stubbed > enough,
        "{trespasses} {met} {stubbed}"
    );
    // A simulation in which nothing is ever done, or never fails, would show nothing.
    for state in [TaskState::Done, TaskState::Failed] {
        assert!(ends.get(&state).is_some_and(|count| *count > seeds / 4), "{ends:?}");
    }
}

#[test]
fn a_planted_fault_is_found() {
    for fault in [
        Fault::GatesAreNotHeard,
        Fault::EndsAreNotHeard,
        Fault::LooksAreNotHeard,
        Fault::TypingIsNotSaved,
        Fault::NeedsAreNotSaved,
    ] {
        let is_found = |seed: u64| {
            let run = std::panic::catch_unwind(|| World::live(seed, fault).assert_settled());
            !matches!(run, Ok(Ok(())))
        };
        assert!((0..40).any(is_found), "{fault:?} goes unnoticed");
    }
}

#[test]
fn the_same_seed_gives_the_same_story() {
    let story = |seed| format!("{:?}", World::live(seed, Fault::None).engine.record());
    assert_eq!(story(3), story(3));
    assert_ne!(story(3), story(4));
}

impl World {
    /// After calm every task has ended or waits for someone or something that has a name.
    fn assert_settled(&self) -> Result<(), String> {
        let seed = self.seed;
        let items = self.engine.attention();
        for task in self.engine.tasks() {
            let id = task.id;
            let waits = items.iter().any(|item| item.task == Some(id));
            let awaits = |need: &TaskId| {
                let need = self.engine.task(*need).unwrap();
                need.state != TaskState::Done
            };
            let is_settled = match task.state {
                TaskState::Done | TaskState::Failed | TaskState::Cancelled => true,
                TaskState::Pending => task.needs.iter().any(awaits),
                TaskState::Blocked => {
                    waits || self.engine.needs().any(|need| need.task == Some(id))
                }
                TaskState::Running => waits || self.is_held_up(task.open().map(|one| &one.agent)),
                TaskState::Claimed => self.is_looked_at(id),
                TaskState::Ready => waits || self.is_crowded_out(),
                TaskState::Interrupted => false,
            };
            if !is_settled {
                return Err(format!("seed {seed}: {task:#?}\n{items:#?}"));
            }
        }
        for play in self.engine.plays().filter(|play| !play.state.is_over()) {
            if play.state == PlayState::Running && play.stalled.is_some() {
                return Err(format!("seed {seed}: {} stands still unseen", play.id));
            }
        }
        for seat in self.engine.seats() {
            if !matches!(seat.phase, Phase::Running | Phase::Ended(_)) {
                return Err(format!("seed {seed}: {} hangs", seat.member.name));
            }
        }
        let json = |record: &Record| serde_json::to_value(record).unwrap();
        let saved = Record::from_rows(&self.disk).unwrap();
        if json(&self.engine.record()) != json(&saved) {
            return Err(format!("seed {seed}: off record"));
        }
        Ok(())
    }

    /// A quota holds its agent up.
    fn is_held_up(&self, agent: Option<&AgentName>) -> bool {
        let seat = agent.and_then(|agent| self.engine.seat(agent));
        seat.is_some_and(|seat| seat.state == AgentState::Limited)
    }

    /// Someone verifies it, and waits for a person in turn.
    fn is_looked_at(&self, id: TaskId) -> bool {
        let looks = |task: &&Task| task.verifies == Some(id) && !task.state.is_final();
        self.engine.tasks().any(|task| looks(&task))
    }

    /// Every agent that could take it has another task that waits for a person.
    fn is_crowded_out(&self) -> bool {
        AGENTS.iter().filter(|(_, role)| *role != Role::Lead).any(|(agent, _)| {
            self.engine.task_of(&agent.parse().unwrap()).is_some()
                || self.is_held_up(Some(&agent.parse().unwrap()))
        })
    }
}
