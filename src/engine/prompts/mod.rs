//! Prompts: what is queued for each agent, what became of it, and the texts that the hub itself sends.

pub(super) mod hub_prompts;
pub(super) mod prompt;
pub(super) mod prompt_texts;
pub(super) mod queue;
