//! `wheelhouse agent explain NAME`: why it is shown in its state.

use std::io::Write;
use std::time::Duration;

use crate::api::{Request, Response};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::table::Table;
use crate::client::ClientError;
use crate::config::plain;

pub(crate) fn explain(context: &mut Context, agent: &str, format: Format) -> anyhow::Result<()> {
    let Response::Explanation(told) = context.ask(Request::Explain { agent: agent.to_owned() })?
    else {
        return Err(ClientError::Unexpected.into());
    };
    if format.json {
        return context.print_json(&told);
    }
    let age = humantime::format_duration(Duration::from_secs(told.age_ms / 1000));
    writeln!(context.out, "{agent} is {}, for {age}", told.state)?;
    writeln!(context.out, "  by {} ({})", told.rule, told.source)?;
    if !told.line.is_empty() {
        writeln!(context.out, "  from: {}", plain(&told.line))?;
    }
    if let Some(reason) = &told.stuck {
        writeln!(context.out, "  stuck: {}", plain(reason))?;
    }
    if let Some(reason) = &told.no_hooks {
        writeln!(context.out, "  no hooks: {}", plain(reason))?;
    }
    if let Some(doubt) = &told.doubt {
        writeln!(context.out, "  doubt: {}", plain(doubt))?;
        writeln!(
            context.out,
            "    `wheelhouse agent record {agent}` makes the recording that shows it"
        )?;
    }
    if let Some(fault) = &told.settings_fault {
        writeln!(context.out, "  by the rules of before, because the settings cannot be used:")?;
        for line in fault.lines() {
            writeln!(context.out, "    {}", plain(line))?;
        }
    }
    if told.testimonies.is_empty() {
        return Ok(());
    }
    writeln!(context.out, "\nWhat each source says:")?;
    let mut table = Table::new(["SOURCE", "STATE", "RULE", "FROM"]);
    for one in told.testimonies {
        let (source, state) = (one.source.to_string(), one.state.to_string());
        table.push([source, state, one.rule, plain(&one.line)]);
    }
    table.print(&mut context.out)?;
    Ok(())
}
