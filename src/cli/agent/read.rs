//! `wheelhouse agent read NAME`: what its terminal shows, nothing but text.

use std::io::Write;

use serde_json::json;

use crate::api::{Request, Response};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::client::ClientError;
use crate::model::{is_deceptive, is_picture_mark};

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
    /// The Braille pattern without a dot: charts are full of it.
    const BLANK: char = '\u{2800}';
    let mut shown = String::with_capacity(line.len());
    for c in line.chars().map(|c| if c == BLANK { ' ' } else { c }) {
        if c == JOINER || !is_deceptive(c) || is_picture_mark(shown.chars().next_back(), c) {
            shown.push(c);
        }
    }
    shown
}
