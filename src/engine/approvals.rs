//! Dialogs that are answered without a person, because rules say so.
//!
//! What is approved, by which rule and why it was asked is on record before the key is pressed.

use serde_json::json;

use super::{Effect, Engine, Phase};
use crate::consent::{Rules, Verdict, decide};
use crate::model::{AgentName, AgentState, Entry, Question, Stage, Subject};

/// What the story keeps of a dialog: it fits in an entry, and more is not read.
const TEXT_CHARS_MAX: usize = 4096;

impl Engine {
    /// Sets which dialogs are answered without a person.
    pub fn set_approvals(&mut self, rules: Rules) {
        self.approvals = rules;
    }

    pub(super) fn weigh_leave(
        &mut self,
        agent: &AgentName,
        question: Question,
        effects: &mut Vec<Effect>,
    ) {
        let seat = &self.seats[agent];
        let is_asking = seat.phase == Phase::Running && seat.state == AgentState::Waiting;
        if !is_asking || self.going_down {
            return;
        }
        let who = (agent.as_str(), seat.member.cli.as_str());
        let verdict = decide(&self.approvals, who, &question.subject, &question.text);
        let Verdict::Approve { rules } = verdict else { return };
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
        let agent = agent.clone();
        effects.push(Effect::GiveLeave { agent, run, fingerprint, yes: question.yes });
    }

    pub(super) fn note_leave(
        &mut self,
        agent: &AgentName,
        fingerprint: &str,
        stage: Stage,
        reason: Option<String>,
    ) {
        let kind = format!("approval.{stage}");
        let mut entry = Entry::new(&kind, reason.unwrap_or_default()).of(agent);
        entry.data = json!({ "fingerprint": fingerprint });
        self.tell(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::super::RunEvent;
    use super::super::fixture::Bench;
    use super::*;
    use crate::consent::{Criteria, Rule};
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

    #[test]
    fn what_is_denied_or_no_longer_asked_is_left_alone() {
        let mut bench = waiting(Rules { deny: vec![rule("--lib")], ..allowing() });
        assert_eq!(asked(&mut bench, "cargo test --lib"), []);
        let works = RunEvent::Did { state: AgentState::Working, source: Source::Screen };
        let _ = bench.tell("one", works);
        assert_eq!(asked(&mut bench, "cargo test"), []);
    }
}
