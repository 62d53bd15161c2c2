//! Agents that agents start: from their team's allowed set, and no more than it allows.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::engine::commands::Begun;
use crate::engine::{Effect, Engine, Seat};
use crate::model::{AgentName, Entry, Launch, Member, Moment, Refusal, Role, SpawnTerms};

const HOUR: Duration = Duration::from_hours(1);

/// When each agent started others; nothing of this outlives the hub.
pub(in crate::engine) type Spawned = BTreeMap<AgentName, VecDeque<Moment>>;

impl Engine {
    /// Starts an agent for another one, which leads it from then on.
    pub(in crate::engine) fn spawn(
        &mut self,
        by: &AgentName,
        terms: Option<&SpawnTerms>,
        (member, launch): (Member, Launch),
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Begun, Refusal> {
        self.refuse_spawn(by, terms, &member, now)?;
        let entry = Entry::new("agent.spawned", format!("by {by}, with {}", member.cli));
        let entry = entry.of(&member.name);
        let begun = self.start(vec![(member, launch)], now, effects)?;
        self.spawned.entry(by.clone()).or_default().push_back(now);
        self.tell(entry);
        Ok(begun)
    }

    fn refuse_spawn(
        &mut self,
        by: &AgentName,
        terms: Option<&SpawnTerms>,
        member: &Member,
        now: Moment,
    ) -> Result<(), Refusal> {
        let refuse = |reason: String| Err(Refusal::NotSpawned { reason });
        let team = &member.team;
        let Some(terms) = terms else {
            return refuse(format!("Team `{team}` lets no agent start others"));
        };
        if !terms.clis.contains(&member.cli) {
            let allowed = terms.clis.join(", ");
            let cli = &member.cli;
            return refuse(format!("Team `{team}` lets agents start {allowed}, not {cli}"));
        }
        if member.role == Role::Orchestrator {
            return refuse("An agent may not start an orchestrator".to_owned());
        }
        let is_counted = |seat: &&Seat| {
            seat.is_live() && seat.member.team == *team && seat.member.started_by().is_some()
        };
        let count = self.seats.values().filter(is_counted).count();
        if count >= terms.agents_max {
            return refuse(format!("Agents of team `{team}` have started {count} others already"));
        }
        let depth = self.depth(by) + 1;
        if depth > terms.depth_max {
            return refuse(format!("Team `{team}` lets nobody start agents {depth} deep"));
        }
        let earlier = self.spawned.entry(by.clone()).or_default();
        while earlier.front().is_some_and(|at| *at + HOUR <= now) {
            earlier.pop_front();
        }
        if earlier.len() >= terms.per_hour_max {
            let count = earlier.len();
            return refuse(format!("Agent `{by}` has started {count} others within an hour"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, crew, name};
    use crate::model::{Added, Command, Reach};

    fn terms() -> SpawnTerms {
        SpawnTerms { clis: vec!["sim".into()], agents_max: 3, depth_max: 2, per_hour_max: 3 }
    }

    fn spawn(bench: &mut Bench, by: &str, agent: &str, terms: Option<SpawnTerms>) -> String {
        let (mut member, launch) = crew(&[agent], "team").remove(0);
        member.added = Some(Added { by: Some(name(by)), ..Added::default() });
        let effects =
            bench.ask(Command::Spawn { by: name(by), terms, member: Box::new((member, launch)) });
        let refused = effects.iter().find_map(|effect| {
            let Effect::Answer { outcome: Err(refusal), .. } = effect else { return None };
            Some(refusal.to_string())
        });
        refused.unwrap_or_default()
    }

    #[test]
    fn agents_are_started_within_what_the_team_allows_and_belong_to_who_started_them() {
        let mut bench = Bench::with_running(&["top", "other"]);
        bench.seat_mut("top").member.role = Role::Orchestrator;
        assert!(spawn(&mut bench, "top", "a", None).contains("lets no agent start"));
        let other = SpawnTerms { clis: vec!["claude".into()], ..terms() };
        assert!(spawn(&mut bench, "top", "a", Some(other)).contains("claude, not sim"));
        assert_eq!(spawn(&mut bench, "top", "a", Some(terms())), "");
        assert_eq!(spawn(&mut bench, "a", "b", Some(terms())), "");
        assert!(spawn(&mut bench, "b", "c", Some(terms())).contains("3 deep"));
        assert_eq!(spawn(&mut bench, "top", "d", Some(terms())), "");
        assert!(spawn(&mut bench, "top", "e", Some(terms())).contains("3 others already"));
        let engine = &bench.engine;
        let reached = engine.reached(&name("top"), Reach::Started);
        assert_eq!(reached, [name("a"), name("b"), name("d")]);
        assert_eq!(engine.reached(&name("a"), Reach::Started), [name("b")]);
        assert_eq!(engine.reached(&name("other"), Reach::Started), []);
    }

    #[test]
    fn nobody_starts_more_than_so_many_within_an_hour() {
        let mut bench = Bench::with_running(&["top"]);
        let terms = SpawnTerms { agents_max: 64, per_hour_max: 2, ..terms() };
        for agent in ["a", "b"] {
            assert_eq!(spawn(&mut bench, "top", agent, Some(terms.clone())), "");
        }
        assert!(spawn(&mut bench, "top", "c", Some(terms.clone())).contains("within an hour"));
        bench.now = bench.now + HOUR;
        assert_eq!(spawn(&mut bench, "top", "c", Some(terms)), "");
    }
}
