//! `wheelhouse attention`: what waits for a person, the most urgent first.

use std::io::Write;

use super::args::Format;
use super::context::Context;
use super::table::Table;
use crate::api::{AttentionStatus, Request, Response, TaskRequest};
use crate::client::ClientError;

pub(super) fn attention(
    context: &mut Context,
    read: bool,
    resolve: Vec<String>,
    format: Format,
) -> anyhow::Result<()> {
    if read {
        context.ask(Request::Task { ask: TaskRequest::MarkRead { items: Vec::new() } })?;
    }
    if !resolve.is_empty() {
        context.ask(Request::Task { ask: TaskRequest::Resolve { items: resolve } })?;
    }
    let request = Request::Task { ask: TaskRequest::Attention };
    let Response::Attention { items } = context.ask(request)? else {
        return Err(ClientError::Unexpected.into());
    };
    if format.json {
        return context.print_json(&items);
    }
    if items.is_empty() {
        writeln!(context.out, "Nothing needs you")?;
        return Ok(());
    }
    print_items(context, &items)
}

pub(super) fn print_items(context: &mut Context, items: &[AttentionStatus]) -> anyhow::Result<()> {
    let mut table = Table::new(["ITEM", "KIND", "AGENT", "TASK", "WHAT", "WHAT TO DO"]);
    for item in items {
        let mark = if item.read { "" } else { "*" };
        table.push([
            format!("{}{mark}", item.id),
            item.kind.to_string(),
            item.agent.clone().unwrap_or_default(),
            item.task.clone().unwrap_or_default(),
            item.text.clone(),
            item.hint.clone().unwrap_or_default(),
        ]);
    }
    table.print(&mut context.out)?;
    Ok(())
}
