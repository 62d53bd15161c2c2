//! Decides when to notify: once for each thing, at most once a minute for each agent, and never for
//! the pane that the user looks at.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Occasion;
use crate::model::{AgentName, Moment};

/// An agent is told of no more often. What happens meanwhile is told once it is over, if it still
/// holds.
const PAUSE: Duration = Duration::from_mins(1);

/// What was told of each agent.
#[derive(Debug, Default)]
pub struct Notifier {
    agents: BTreeMap<AgentName, Known>,
}

#[derive(Debug)]
struct Known {
    occasion: Option<Occasion>,
    /// The person has yet to hear of it.
    is_due: bool,
    told_at: Option<Moment>,
}

impl Notifier {
    /// Takes what an agent is in, and whether the person sees it; says whether they are told now.
    ///
    /// What an agent is in when it is first heard of is no news: another hub has told of it.
    pub fn observe(
        &mut self,
        agent: &AgentName,
        occasion: Option<Occasion>,
        is_seen: bool,
        now: Moment,
    ) -> bool {
        let Some(known) = self.agents.get_mut(agent) else {
            let known = Known { occasion, is_due: false, told_at: None };
            self.agents.insert(agent.clone(), known);
            return false;
        };
        if known.occasion != occasion {
            known.occasion = occasion;
            known.is_due = occasion.is_some();
        }
        // What is seen needs no word, now or later.
        known.is_due &= !is_seen;
        let is_too_soon = known.told_at.is_some_and(|at| now < at + PAUSE);
        if !known.is_due || is_too_soon {
            return false;
        }
        known.is_due = false;
        known.told_at = Some(now);
        true
    }

    /// Returns when something is due that came too soon after the last word.
    pub fn next_deadline(&self) -> Option<Moment> {
        let due = self.agents.values().filter(|known| known.is_due);
        due.filter_map(|known| known.told_at.map(|at| at + PAUSE)).min()
    }

    /// Forgets agents that are no more.
    pub fn keep(&mut self, is_there: impl Fn(&AgentName) -> bool) {
        self.agents.retain(|agent, _| is_there(agent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AgentState;

    const WAITING: Option<Occasion> = Some(Occasion::State(AgentState::Waiting));
    const BLOCKED: Option<Occasion> = Some(Occasion::State(AgentState::Blocked));
    const MINUTE: u64 = 60_000;

    fn one() -> AgentName {
        "one".parse().unwrap()
    }

    /// Returns a notifier that knows the agent at work.
    fn notifier() -> Notifier {
        let mut notifier = Notifier::default();
        assert!(!notifier.observe(&one(), None, false, Moment(0)));
        notifier
    }

    #[test]
    fn each_thing_is_told_once() {
        let mut notifier = notifier();
        assert!(notifier.observe(&one(), WAITING, false, Moment(1)));
        for later in [2, MINUTE, 10 * MINUTE] {
            assert!(!notifier.observe(&one(), WAITING, false, Moment(later)));
        }
        assert_eq!(notifier.next_deadline(), None);
        let other = "two".parse().unwrap();
        assert!(!notifier.observe(&other, None, false, Moment(3)));
        assert!(
            notifier.observe(&other, WAITING, false, Moment(4)),
            "each agent has its own minute"
        );
    }

    #[test]
    fn what_comes_within_the_minute_is_told_after_it_if_it_still_holds() {
        let mut notifier = notifier();
        assert!(notifier.observe(&one(), WAITING, false, Moment(1000)));
        assert!(!notifier.observe(&one(), None, false, Moment(2000)));
        assert!(!notifier.observe(&one(), BLOCKED, false, Moment(3000)));
        assert_eq!(notifier.next_deadline(), Some(Moment(1000 + MINUTE)));
        assert!(!notifier.observe(&one(), BLOCKED, false, Moment(999 + MINUTE)));
        assert!(notifier.observe(&one(), BLOCKED, false, Moment(1000 + MINUTE)));
        assert!(!notifier.observe(&one(), WAITING, false, Moment(1001 + MINUTE)));
        assert!(!notifier.observe(&one(), None, false, Moment(1002 + MINUTE)), "it is over");
        assert_eq!(notifier.next_deadline(), None);
        assert!(!notifier.observe(&one(), None, false, Moment(3 * MINUTE)));
    }

    #[test]
    fn what_is_seen_is_not_told_even_later() {
        let mut notifier = notifier();
        assert!(!notifier.observe(&one(), WAITING, true, Moment(1)));
        assert!(!notifier.observe(&one(), WAITING, false, Moment(2)), "the person looked away");
        assert!(notifier.observe(&one(), BLOCKED, false, Moment(3)));
        assert!(!notifier.observe(&one(), WAITING, false, Moment(4)));
        assert!(!notifier.observe(&one(), WAITING, true, Moment(5)));
        assert!(!notifier.observe(&one(), WAITING, false, Moment(5 * MINUTE)));
    }

    #[test]
    fn what_an_earlier_hub_told_of_is_no_news() {
        let mut notifier = Notifier::default();
        assert!(!notifier.observe(&one(), WAITING, false, Moment(1)));
        assert!(!notifier.observe(&one(), WAITING, false, Moment(MINUTE)));
        notifier.keep(|_| false);
        assert!(!notifier.observe(&one(), BLOCKED, false, Moment(MINUTE)));
    }
}
