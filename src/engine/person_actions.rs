//! What people, and agents in their place, ask for beside starting a team, as entries of the story.

use crate::engine::{Engine, PersonDeed};
use crate::model::{AgentName, Command, Entry, Letter, Member, Stage, TaskCommand};

/// What is told of a prompt or of advice.
const WORDS_MAX: usize = 200;

impl Engine {
    /// Notes what came of something that a person had done in a pane.
    pub(super) fn note_deed(
        &mut self,
        agent: &AgentName,
        deed: PersonDeed,
        stage: Stage,
        reason: Option<String>,
    ) {
        let kind = match deed {
            PersonDeed::Answer => "person.answer",
            PersonDeed::Interrupt => "person.interrupt",
        };
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        self.tell(Entry::new(kind, format!("{stage}{reason}")).of(agent));
    }
}

/// Returns what is to be told once a command has been obeyed: what changes the course of a run, and
/// which agent asked for it, if one did.
pub(super) fn entries(command: &Command, by: Option<&AgentName>) -> Vec<Entry> {
    let told = by_person(command);
    let Some(by) = by else { return told };
    told.into_iter().map(|entry| by_agent(entry, by)).collect()
}

fn by_agent(mut entry: Entry, by: &AgentName) -> Entry {
    entry.kind = entry.kind.replacen("person.", "agent.", 1);
    let more = if entry.text.is_empty() { "" } else { ": " };
    entry.text = format!("by {by}{more}{}", entry.text);
    entry
}

fn by_person(command: &Command) -> Vec<Entry> {
    match command {
        Command::Stop { agents, .. } => {
            agents.iter().map(|agent| Entry::new("person.stop", "").of(agent)).collect()
        }
        Command::Restart { members, .. } => {
            let entry = |member: &Member| {
                let word =
                    if member.opening.is_resumed { "person.resume" } else { "person.restart" };
                Entry::new(word, "").of(&member.name)
            };
            members.iter().map(|(member, _)| entry(member)).collect()
        }
        Command::Dispatch { letters, .. } => letters.iter().map(prompt).collect(),
        Command::Withdraw { receipt } => {
            vec![Entry::new("person.withdraw", receipt.to_string())]
        }
        Command::Task(command) => about_tasks(command).into_iter().collect(),
        Command::Workspace(command) => crate::engine::workspaces::requests::told(command),
        // Runs and locks tell of themselves.
        Command::Play(_)
        | Command::Lock(_)
        | Command::Start { .. }
        | Command::Spawn { .. }
        | Command::Forget { .. }
        | Command::Down { .. }
        | Command::Wait { .. } => Vec::new(),
    }
}

fn prompt(letter: &Letter) -> Entry {
    Entry::new("person.prompt", beginning(&letter.text)).of(&letter.agent)
}

fn about_tasks(command: &TaskCommand) -> Option<Entry> {
    Some(match command {
        TaskCommand::Retry { task, advice, agent } => {
            let words = beginning(advice.as_deref().unwrap_or_default());
            let mut entry = Entry::new("person.retry", words).about(*task);
            entry.agent.clone_from(agent);
            entry
        }
        TaskCommand::Cancel { task } => Entry::new("person.cancel", "").about(*task),
        TaskCommand::Claim { task, agent } => Entry::new("person.claim", "").about(*task).of(agent),
        TaskCommand::Consent { from, to } => {
            Entry::new("person.consent", format!("its words may reach {to}")).of(from)
        }
        TaskCommand::Allow { agent } => {
            Entry::new("person.allow", "what it changed of others may stay").of(agent)
        }
        TaskCommand::Meet { need } => Entry::new("person.meet", need.to_string()),
        // A task that is added tells of itself, and what was read or dealt with is no step.
        TaskCommand::Add { .. } | TaskCommand::MarkRead { .. } | TaskCommand::Resolve { .. } => {
            return None;
        }
    })
}

fn beginning(text: &str) -> String {
    let mut words: String = text.chars().take(WORDS_MAX).collect();
    if words.len() < text.len() {
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, Work, name};
    use crate::engine::{Effect, Event, RunEvent};
    use crate::model::{Moment, TaskId};

    /// Returns what was told of people so far.
    fn told(bench: &Bench) -> Vec<String> {
        let saves = bench.seen.iter().filter_map(|effect| {
            let Effect::Save(changes) = effect else { return None };
            Some(&changes.entries)
        });
        let kinds = saves.flatten().map(|entry| entry.kind.clone());
        kinds.filter(|kind| kind.starts_with("person.")).collect()
    }

    fn dispatch(bench: &mut Bench, agent: &str, key: &str) {
        let letter = Letter { agent: name(agent), text: "x".repeat(500), tag: None };
        let _ = bench.ask(Command::Dispatch {
            letters: vec![letter],
            idempotency_key: Some(key.to_owned()),
            manner: crate::model::Manner::default(),
        });
    }

    #[test]
    fn what_a_person_did_is_told_once_and_what_was_refused_is_not() {
        let mut bench = Bench::with_idle(&["one"]);
        assert_eq!(told(&bench), Vec::<String>::new(), "a start tells of itself");
        dispatch(&mut bench, "one", "k");
        dispatch(&mut bench, "one", "k");
        dispatch(&mut bench, "nobody", "other");
        assert_eq!(told(&bench), ["person.prompt"]);
        let _ = bench.add(vec![Work::new("a")]);
        let _ = bench.ask(Command::Task(TaskCommand::Cancel { task: TaskId(1) }));
        let _ = bench.ask(Command::Task(TaskCommand::Cancel { task: TaskId(9) }));
        let _ = bench.stop("one");
        assert_eq!(told(&bench), ["person.prompt", "person.cancel", "person.stop"]);
    }

    #[test]
    fn keys_of_one_visit_are_told_as_one() {
        let mut bench = Bench::with_idle(&["one"]);
        bench.now = Moment(1_000_000);
        for _ in 0..5 {
            let _ = bench.tell("one", RunEvent::PersonTyped);
        }
        assert_eq!(told(&bench), ["person.keys"]);
        bench.now = Moment(2_000_000);
        let _ = bench.tell("one", RunEvent::PersonTyped);
        assert_eq!(told(&bench).len(), 2);
        let answered = RunEvent::PersonActed(PersonDeed::Answer, Stage::Accepted, None);
        let _ = bench.tell("one", answered);
        assert_eq!(told(&bench).last().unwrap(), "person.answer");
    }

    #[test]
    fn a_hub_that_takes_over_says_so_if_anybody_ran() {
        let began = |bench: &Bench| {
            let (mut engine, _) = Engine::recover(bench.engine.record(), Moment(5));
            let effects = engine.handle(Event::Began { seed: 1 }, Moment(5));
            let Some(Effect::Save(changes)) = effects.first() else { return false };
            changes.entries.iter().any(|entry| entry.kind == "hub.back")
        };
        assert!(began(&Bench::with_running(&["one"])));
        assert!(!began(&Bench::new()));
    }
}
