//! `wheelhouse task add`.

use std::io::{self, Read};

use super::AddArgs;
use super::print::print_done;
use crate::api::{Request, TaskRequest};
use crate::cli::context::Context;
use crate::client::Call;
use crate::model::{TaskSpec, Terms};

pub(crate) fn add(context: &mut Context, arguments: AddArgs) -> anyhow::Result<()> {
    let format = arguments.format;
    let prompt = match arguments.prompt.as_str() {
        "-" => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text)?;
            text
        }
        text => text.to_owned(),
    };
    let agent = arguments.agent.map(|agent| agent.parse()).transpose()?;
    let terms = Terms {
        agent,
        role: arguments.role.map(Into::into),
        requires: arguments.requires,
        owns: arguments.owns,
        gates: arguments.gate,
        priority: arguments.priority,
        attempts_max: arguments.attempts,
        time_limit_ms: arguments.time_limit.map(|seconds| seconds.saturating_mul(1000)),
        turns_max: arguments.turns_max,
        tokens_max: arguments.tokens_max,
        on_failure: arguments.on_failure.into(),
        context: arguments.context.into(),
        verifiers: arguments.verifiers,
        agree: arguments.agree.unwrap_or(arguments.verifiers),
        locks: arguments.lock,
        reduced: arguments.reduced,
        by: None,
    };
    let (title, needs) = (arguments.title, arguments.needs);
    let play = arguments.run.map(|run| run.parse()).transpose()?;
    let spec = TaskSpec { key: None, title, prompt, needs, play, terms };
    let request = TaskRequest::Add { specs: vec![spec] };
    let call = Call::under(arguments.key, Request::Task { ask: request });
    let response = context.call_as_agent(&call)?;
    print_done(context, response, format)
}
