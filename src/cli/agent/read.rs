//! `wheelhouse agent read NAME`: what its terminal shows, nothing but text.

use std::io::Write;

use serde_json::json;

use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::client::ClientError;
use crate::model::is_deceptive;
use crate::wire::{Request, Response};

pub(crate) fn read(
    context: &mut Context,
    agent: &str,
    lines: Option<usize>,
    scrollback: bool,
    format: Format,
) -> anyhow::Result<()> {
    let request = Request::Read { agent: agent.to_owned(), lines, scrollback };
    let Response::Text { lines } = context.ask(request)? else {
        return Err(ClientError::Unexpected.into());
    };
    if format.json {
        return context.print_json(&json!({ "agent": agent, "lines": lines }));
    }
    for line in lines {
        writeln!(context.out, "{}", text_only(&line))?;
    }
    Ok(())
}

/// Returns a line of a pane without what would act on the terminal, or hide or reorder its text.
fn text_only(line: &str) -> String {
    const JOINER: char = '\u{200d}';
    line.chars().filter(|c| *c == JOINER || !is_deceptive(*c)).collect()
}
