//! `wheelhouse contract list|show`: the interfaces that agents have published.

use std::io::Write;

use super::args::ContractVerb;
use super::context::Context;
use super::table::Table;
use crate::api::{ContractStatus, Request, Response};
use crate::client::ClientError;
use crate::config::plain;

pub(super) fn contract(context: &mut Context, verb: ContractVerb) -> anyhow::Result<()> {
    match verb {
        ContractVerb::List { publisher, format } => {
            let contracts = ask(context, publisher, None, None)?;
            if format.json { context.print_json(&contracts) } else { list(context, &contracts) }
        }
        ContractVerb::Show { title, publisher, version, format } => {
            let contracts = ask(context, publisher, Some(title), version)?;
            if format.json { context.print_json(&contracts) } else { show(context, &contracts) }
        }
    }
}

fn ask(
    context: &Context,
    publisher: Option<String>,
    title: Option<String>,
    version: Option<u32>,
) -> anyhow::Result<Vec<ContractStatus>> {
    let request = Request::Contracts { publisher, title, version };
    let Response::Contracts { contracts } = context.ask(request)? else {
        return Err(ClientError::Unexpected.into());
    };
    Ok(contracts)
}

fn list(context: &mut Context, contracts: &[ContractStatus]) -> anyhow::Result<()> {
    if contracts.is_empty() {
        writeln!(context.out, "No contracts yet")?;
        return Ok(());
    }
    let mut table = Table::new(["TITLE", "VERSION", "PUBLISHER", "LINES", "AT"]);
    for contract in contracts {
        table.push([
            plain(&contract.title),
            contract.version.to_string(),
            contract.publisher.clone(),
            contract.lines.to_string(),
            contract.at.clone(),
        ]);
    }
    table.print(&mut context.out)?;
    Ok(())
}

fn show(context: &mut Context, contracts: &[ContractStatus]) -> anyhow::Result<()> {
    for contract in contracts {
        let ContractStatus { publisher, title, version, .. } = contract;
        writeln!(context.out, "{} version {version}, by {publisher}", plain(title))?;
        for line in contract.body.iter().flat_map(|body| body.lines()) {
            writeln!(context.out, "  {}", plain(line))?;
        }
        for line in &contract.removed {
            writeln!(context.out, "  gone: {}", plain(line))?;
        }
    }
    Ok(())
}
