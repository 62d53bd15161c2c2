//! Requests about prompts, dialogs and interrupts.

use crate::api::{DialogChoice, Fault, Request};
use crate::config::Loaded;
use crate::deliver::Choice;
use crate::hub::Hub;
use crate::hub::agents::planner::Planner;
use crate::hub::clients::askers::{Asker, Reply};
use crate::model::{AgentName, Command, Condition, Letter, Manner};
use crate::protocol::brief;
use crate::template;

/// A longer prompt belongs into a file that the prompt names.
const PROMPT_BYTES_MAX: usize = 1 << 20;

/// It is kept as JSON, where a control character takes six bytes, in a row of at most 2 MiB.
const PROMPT_JSON_BYTES_MAX: usize = 3 << 19;

fn dispatch(letters: Vec<Letter>, manner: Manner) -> Command {
    Command::Dispatch { letters, idempotency_key: None, manner }
}

impl Hub {
    /// Returns the answer, unless it comes later.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are not about prompts")]
    pub(in crate::hub) fn obey_about_prompts(
        &mut self,
        asker: Asker,
        request: Request,
    ) -> Option<Reply> {
        let command = match request {
            // A key of its own counts like that of any request.
            Request::Dispatch { agents, prompt, anyway, command, no_queue, .. } => {
                let manner =
                    Manner { is_confirmed: anyway, is_command: command, is_now_or_never: no_queue };
                // Prompts of one client come in the order in which it sent them.
                if self.plans.is_filling_for(asker.client) {
                    let letters = move |hub: &mut Self, _: &Loaded| hub.letters(&agents, &prompt);
                    self.dispatch_in_turn(asker, letters, manner);
                    return None;
                }
                let letters = self.letters(&agents, &prompt);
                letters.map(|letters| dispatch(letters, manner))
            }
            Request::DispatchTemplate { agents, template, vars, anyway, no_queue, .. } => {
                let manner =
                    Manner { is_confirmed: anyway, is_now_or_never: no_queue, ..Manner::default() };
                let prompt = template::Prompt::Template { name: template, vars };
                let letters = move |hub: &mut Self, loaded: &Loaded| {
                    hub.filled_letters(loaded, &agents, &prompt)
                };
                self.dispatch_in_turn(asker, letters, manner);
                return None;
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
            _ => return None,
        };
        self.command(asker, command)
    }

    /// Addresses a prompt to these agents, or to all that run.
    fn letters(&self, agents: &[String], prompt: &str) -> Result<Vec<Letter>, Fault> {
        refuse_long(prompt)?;
        let letter = |agent| Letter { agent, text: prompt.to_owned(), tag: None };
        Ok(self.addressees(agents)?.into_iter().map(letter).collect())
    }

    /// Addresses what a template says to these agents, to each with a tag of its own.
    fn filled_letters(
        &mut self,
        loaded: &Loaded,
        agents: &[String],
        prompt: &template::Prompt,
    ) -> Result<Vec<Letter>, Fault> {
        let agents = self.addressees(agents)?;
        agents.into_iter().map(|agent| self.filled_letter(loaded, agent, prompt)).collect()
    }

    /// Sends prompts once the templates were read.
    fn dispatch_in_turn(
        &mut self,
        asker: Asker,
        letters: impl FnOnce(&mut Self, &Loaded) -> Result<Vec<Letter>, Fault> + 'static,
        manner: Manner,
    ) {
        self.plans.begin_filling(asker.client);
        self.plan(
            Some(asker),
            |_, _| Ok(|_: &Planner, _: &Loaded| Ok(())),
            move |hub, _, loaded| {
                hub.plans.end_filling(asker.client);
                let letters = loaded.and_then(|(loaded, ())| letters(hub, &loaded));
                hub.command(asker, letters.map(|letters| dispatch(letters, manner)))
            },
        );
    }

    /// Returns a prompt in words, with the protocol in it and a tag of its own.
    pub(in crate::hub) fn filled_letter(
        &mut self,
        loaded: &Loaded,
        agent: AgentName,
        prompt: &template::Prompt,
    ) -> Result<Letter, Fault> {
        let tag = self.draw_tag();
        let rendered = loaded.settings.templates.render(prompt, &tag);
        let text = rendered.map_err(|error| {
            let hint =
                "`wheelhouse template list` names the templates, `template show` their variables";
            Fault::new(error.to_string()).with_hint(hint)
        })?;
        let text = match prompt {
            template::Prompt::Text(_) => format!("{}\n\n{}", text.trim_end(), brief(&tag)),
            template::Prompt::Template { .. } => text,
        };
        refuse_long(&text)?;
        Ok(Letter { agent, text, tag: Some(tag) })
    }

    /// Returns those who are named, or all that run.
    fn addressees(&self, agents: &[String]) -> Result<Vec<AgentName>, Fault> {
        let agents = if agents.is_empty() { self.everyone() } else { self.all_known(agents)? };
        if agents.is_empty() {
            let fault = Fault::new("No agent runs");
            return Err(fault.with_hint("Start a team with `wheelhouse up TEAM`"));
        }
        Ok(agents)
    }

    fn everyone(&self) -> Vec<AgentName> {
        let live = self.engine.seats().filter(|seat| !seat.is_gone());
        live.map(|seat| seat.member.name.clone()).collect()
    }
}

fn refuse_long(prompt: &str) -> Result<(), Fault> {
    let hint = "Write it into a file and name the file";
    if prompt.len() > PROMPT_BYTES_MAX {
        let message = format!("The prompt has more than {PROMPT_BYTES_MAX} bytes");
        return Err(Fault::new(message).with_hint(hint));
    }
    if serde_json::to_string(prompt).is_ok_and(|text| text.len() > PROMPT_JSON_BYTES_MAX) {
        let message = "The prompt is too long for its many control characters";
        return Err(Fault::new(message).with_hint(hint));
    }
    Ok(())
}

fn choice_of(choice: DialogChoice) -> Result<Choice, Fault> {
    match choice {
        DialogChoice::Option(0) => {
            Err(Fault::new("Options count from 1").with_hint("Name one, such as `--option 1`"))
        }
        DialogChoice::Option(number) => Ok(Choice::Option(number - 1)),
        DialogChoice::Approve => Ok(Choice::Approve),
        DialogChoice::Deny => Ok(Choice::Deny),
    }
}
