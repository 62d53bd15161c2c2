//! Dialogs that are answered without a person, because rules say so.
//!
//! What is approved, by which rule and why it was asked is on record before the key is pressed.

use std::time::Duration;

use serde_json::json;

use crate::approval::{Rules, Verdict, decide};
use crate::engine::{Effect, Engine, Phase, Seat};
use crate::model::{AgentName, AgentState, Entry, Moment, Question, Stage, Subject};

/// What the story keeps of a dialog: it fits in an entry, and more is not read.
const TEXT_CHARS_MAX: usize = 4096;

/// A dialog has been read and weighed by then, even on a busy machine.
const WEIGHED_WITHIN: Duration = Duration::from_secs(10);

/// An answer that a rule gave has come to something by then.
const ANSWERED_WITHIN: Duration = Duration::from_secs(30);

impl Engine {
    /// Sets which dialogs are answered without a person.
    pub fn set_approvals(&mut self, rules: Rules) {
        self.approvals = rules;
    }

    /// Leaves a dialog that just came to the rules for a moment, if there are any for its agent.
    pub(in crate::engine) fn await_leave(&mut self, agent: &AgentName, now: Moment) {
        let seat = self.seats.get_mut(agent).filter(|seat| seat.state == AgentState::Waiting);
        let Some(seat) = seat else { return };
        let has_rules = self.approvals.may_approve(agent.as_str(), &seat.member.cli);
        seat.rules_until = has_rules.then(|| now + WEIGHED_WITHIN);
    }

    /// Leaves the dialog of an agent to a person.
    pub(in crate::engine) fn call_person(&mut self, agent: &AgentName, now: Moment) {
        if let Some(seat) = self.seats.get_mut(agent) {
            seat.rules_until = None;
            self.attention_due = Some(now);
        }
    }

    /// Returns when the next dialog that was left to the rules is a person's.
    pub(in crate::engine) fn rules_deadline(&self, now: Moment) -> Option<Moment> {
        let left = self.seats.values().filter(|seat| seat.is_left_to_rules(now));
        left.filter_map(|seat| seat.rules_until).min()
    }

    pub(in crate::engine) fn weigh_leave(
        &mut self,
        agent: &AgentName,
        question: Question,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let seat = &self.seats[agent];
        let is_asking = seat.phase == Phase::Running && seat.state == AgentState::Waiting;
        if !is_asking || self.going_down {
            return;
        }
        let who = (agent.as_str(), seat.member.cli.as_str());
        let verdict = decide(&self.approvals, who, &question.subject, &question.text);
        let Verdict::Approve { rules } = verdict else { return self.call_person(agent, now) };
        let (what, said) = match &question.subject {
            Subject::Command(command) => ("command", command),
            Subject::Path(path) => ("path", path),
        };
        let dialog: String = question.text.chars().take(TEXT_CHARS_MAX).collect();
        let words = format!("`{said}`, by {}", rules.join(", "));
        let mut entry = Entry::new("approval.decided", words).of(agent);
        let fingerprint = question.fingerprint;
        entry.data =
            json!({ what: said, "rules": rules, "dialog": dialog, "fingerprint": fingerprint });
        let run = seat.run;
        self.tell(entry);
        if let Some(seat) = self.seats.get_mut(agent) {
            seat.rules_until = Some(now + ANSWERED_WITHIN);
        }
        let agent = agent.clone();
        effects.push(Effect::GiveLeave { agent, run, fingerprint, yes: question.yes });
    }

    pub(in crate::engine) fn note_leave(
        &mut self,
        agent: &AgentName,
        fingerprint: &str,
        stage: Stage,
        reason: Option<String>,
        now: Moment,
    ) {
        // Where it was answered, a dialog that is in sight now is another one.
        if stage == Stage::Accepted {
            self.await_leave(agent, now);
        } else {
            self.call_person(agent, now);
        }
        let kind = format!("approval.{stage}");
        let mut entry = Entry::new(&kind, reason.unwrap_or_default()).of(agent);
        entry.data = json!({ "fingerprint": fingerprint });
        self.tell(entry);
    }
}

impl Seat {
    /// Says whether its dialog is one that rules are about to answer, as far as is known yet.
    pub fn is_left_to_rules(&self, now: Moment) -> bool {
        let is_early = self.rules_until.is_some_and(|until| now < until);
        self.state == AgentState::Waiting && is_early
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::{Criteria, Rule};
    use crate::engine::fixture::Bench;
    use crate::engine::{Event, RunEvent};
    use crate::model::Source;

    fn rule(command: &str) -> Rule {
        let criteria = Criteria { command: Some(command.into()), ..Criteria::default() };
        Rule { place: "wheelhouse.toml:3".into(), criteria }
    }

    fn waiting(rules: Rules) -> Bench {
        let mut bench = Bench::with_running(&["one"]);
        bench.engine.set_approvals(rules);
        let waits = RunEvent::Did { state: AgentState::Waiting, source: Source::Screen };
        let _ = bench.tell("one", waits);
        bench
    }

    fn asked(bench: &mut Bench, command: &str) -> Vec<Effect> {
        let subject = Subject::Command(command.into());
        let text = format!("Bash command\n{command}");
        let question = Question { fingerprint: "f1".into(), subject, text, yes: 0 };
        bench.tell("one", RunEvent::AskedLeave(question))
    }

    fn allowing() -> Rules {
        Rules { approve: vec![rule("cargo test*")], deny: Vec::new() }
    }

    #[test]
    fn without_a_rule_nothing_happens() {
        let mut bench = waiting(Rules::default());
        assert_eq!(asked(&mut bench, "cargo test"), []);
        bench.engine.set_approvals(allowing());
        assert_eq!(asked(&mut bench, "cargo build"), []);
    }

    #[test]
    fn an_approval_is_on_record_with_its_rule_and_dialog_before_it_is_given() {
        let mut bench = waiting(allowing());
        let effects = asked(&mut bench, "cargo test --lib");
        let [Effect::Save(changes), Effect::GiveLeave { fingerprint, yes, .. }] = &effects[..]
        else {
            panic!("{effects:?}")
        };
        assert_eq!((fingerprint.as_str(), *yes), ("f1", 0));
        let entry = &changes.entries[0];
        assert_eq!(entry.kind, "approval.decided");
        assert_eq!(entry.text, "`cargo test --lib`, by wheelhouse.toml:3");
        assert_eq!(entry.agent.as_ref().unwrap().as_str(), "one");
        assert_eq!(entry.data["dialog"], "Bash command\ncargo test --lib");
        assert_eq!(entry.data["rules"][0], "wheelhouse.toml:3");
        let (fingerprint, stage) = ("f1".into(), Stage::Accepted);
        let reason = Some("the dialog is gone".into());
        let effects = bench.tell("one", RunEvent::LeaveGiven { fingerprint, stage, reason });
        let [Effect::Save(changes)] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!(changes.entries[0].kind, "approval.accepted");
    }

    fn calls(bench: &Bench) -> usize {
        bench.engine.attention().len()
    }

    /// Lets the engine's next deadline come.
    fn pass(bench: &mut Bench) {
        bench.now = bench.engine.next_deadline().unwrap();
        let _ = bench.engine.handle(Event::DeadlineReached, bench.now);
    }

    #[test]
    fn nobody_is_called_to_a_dialog_that_a_rule_answers() {
        let mut bench = waiting(allowing());
        assert_eq!(calls(&bench), 0, "it may be one for the rules");
        let _ = asked(&mut bench, "cargo test");
        assert_eq!(calls(&bench), 0);
        let given = |stage| RunEvent::LeaveGiven { fingerprint: "f1".into(), stage, reason: None };
        let _ = bench.tell("one", given(Stage::Accepted));
        assert_eq!(calls(&bench), 0, "what is in sight now was not weighed yet");
        let _ = asked(&mut bench, "cargo test");
        let _ = bench.tell("one", given(Stage::Unknown));
        assert_eq!(calls(&bench), 1, "whether it was answered is for a person to say");
        let works = RunEvent::Did { state: AgentState::Working, source: Source::Screen };
        let _ = bench.tell("one", works);
        assert_eq!(calls(&bench), 0);
        let told = bench.seen.iter().filter_map(|effect| {
            let Effect::Save(changes) = effect else { return None };
            Some(&changes.entries)
        });
        let told = told.flatten().filter(|entry| entry.kind == "attention.dialog").count();
        assert_eq!(told, 1);
    }

    #[test]
    fn a_person_is_called_when_no_rule_acts() {
        let mut bench = waiting(Rules::default());
        assert_eq!(calls(&bench), 1, "without rules, at once");
        let mut other = rule("cargo test*");
        other.criteria.agent = Some("two".into());
        bench = waiting(Rules { approve: vec![other], deny: Vec::new() });
        assert_eq!(calls(&bench), 1, "the rules are for others");
        bench = waiting(allowing());
        let _ = asked(&mut bench, "rm -rf .");
        assert_eq!(calls(&bench), 1, "as soon as it was weighed");
        bench = waiting(allowing());
        let _ = bench.tell("one", RunEvent::AskedPerson);
        assert_eq!(calls(&bench), 1, "it is none that rules are for");
        bench = waiting(allowing());
        pass(&mut bench);
        assert_eq!(calls(&bench), 1, "it could not be read in time");
        bench = waiting(allowing());
        let _ = asked(&mut bench, "cargo test");
        pass(&mut bench);
        assert_eq!(calls(&bench), 1, "nothing came of the answer");
    }

    #[test]
    fn what_is_denied_or_no_longer_asked_is_left_alone() {
        let mut bench = waiting(Rules { deny: vec![rule("--lib")], ..allowing() });
        let effects = asked(&mut bench, "cargo test --lib");
        assert!(!effects.iter().any(|one| matches!(one, Effect::GiveLeave { .. })));
        let works = RunEvent::Did { state: AgentState::Working, source: Source::Screen };
        let _ = bench.tell("one", works);
        assert_eq!(asked(&mut bench, "cargo test"), []);
    }
}
