//! Requests about prompts, dialogs and interrupts.

use super::requests::{Answer, Asker};
use super::state::Hub;
use crate::deliver::Choice;
use crate::model::{AgentName, Command, Condition, Letter};
use crate::wire::{DialogChoice, Fault, Request};

/// A longer prompt belongs into a file that the prompt names.
const PROMPT_BYTES_MAX: usize = 1 << 20;

/// It is kept as JSON, where a control character takes six bytes, in a row of at most 2 MiB.
const PROMPT_JSON_BYTES_MAX: usize = 3 << 19;

impl Hub {
    /// Returns the answer, unless it comes later.
    #[expect(clippy::wildcard_enum_match_arm, reason = "it is handed the others nowhere")]
    pub(super) fn obey_about_prompts(&mut self, asker: Asker, request: Request) -> Option<Answer> {
        let command = match request {
            Request::Dispatch { agents, prompt, idempotency_key, anyway } => {
                let letters = self.letters(&agents, &prompt);
                letters.map(|letters| Command::Dispatch {
                    letters,
                    idempotency_key,
                    is_confirmed: anyway,
                })
            }
            Request::Withdraw { receipt } => Ok(Command::Withdraw { receipt }),
            Request::AwaitReceipts { receipts } => {
                Ok(Command::Wait { condition: Condition::Receipts(receipts) })
            }
            Request::AwaitAgent { agent, states } => self
                .known(&agent)
                .map(|agent| Command::Wait { condition: Condition::Agent { agent, states } }),
            Request::Answer { agent, dialog, choice } => {
                let begun = choice_of(choice)
                    .and_then(|choice| self.begin_answer(asker, &agent, &dialog, choice));
                return begun.err().map(Err);
            }
            Request::Interrupt { agent } => {
                return self.begin_interrupt(Some(asker), &agent).err().map(Err);
            }
            // The others have nothing to do with prompts.
            _ => return None,
        };
        self.command(asker, command)
    }

    /// Addresses a prompt to these agents, or to all that run.
    fn letters(&self, agents: &[String], prompt: &str) -> Result<Vec<Letter>, Fault> {
        if prompt.len() > PROMPT_BYTES_MAX {
            let message = format!("The prompt has more than {PROMPT_BYTES_MAX} bytes");
            return Err(Fault::new(message).with_hint("Write it into a file and name the file"));
        }
        if serde_json::to_string(prompt).is_ok_and(|text| text.len() > PROMPT_JSON_BYTES_MAX) {
            let fault = Fault::new("The prompt is too long for its many control characters");
            return Err(fault.with_hint("Write it into a file and name the file"));
        }
        let agents = if agents.is_empty() { self.everyone() } else { self.all_known(agents)? };
        if agents.is_empty() {
            let fault = Fault::new("No agent runs");
            return Err(fault.with_hint("Start a team with `wheelhouse up TEAM`"));
        }
        let letter = |agent| Letter { agent, text: prompt.to_owned(), tag: None };
        Ok(agents.into_iter().map(letter).collect())
    }

    fn everyone(&self) -> Vec<AgentName> {
        let live = self.engine.seats().filter(|seat| !seat.is_gone());
        live.map(|seat| seat.member.name.clone()).collect()
    }
}

fn choice_of(choice: DialogChoice) -> Result<Choice, Fault> {
    match choice {
        DialogChoice::Option(0) => {
            Err(Fault::new("Options are counted from one")
                .with_hint("Name one, such as `--option 1`"))
        }
        DialogChoice::Option(number) => Ok(Choice::Option(number - 1)),
        DialogChoice::Approve => Ok(Choice::Approve),
        DialogChoice::Deny => Ok(Choice::Deny),
    }
}
