//! Tools that read contracts.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::door::Door;
use super::failure::Failure;
use super::page::{ANSWER_BYTES_MAX, Page, page};
use super::tools::Outcome;
use crate::api::{ContractStatus, Request, Response};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(default, deny_unknown_fields)]
pub(super) struct ListContracts {
    /// Only contracts of this agent.
    publisher: Option<String>,
    /// How many to pass over: the `next_offset` of the answer before.
    offset: usize,
    /// How many to return at most; fewer if they are long.
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct ReadContract {
    /// As `list_contracts` tells it.
    title: String,
    /// The agent that published it, if several did.
    #[serde(default)]
    publisher: Option<String>,
    /// The newest, if none is given.
    #[serde(default)]
    version: Option<u32>,
    /// The line to begin with, counted from zero: the `next_line` of the answer before.
    #[serde(default)]
    from_line: usize,
}

pub(super) fn list_contracts(door: &Door, wanted: ListContracts) -> Outcome {
    let ListContracts { publisher, offset, limit } = wanted;
    let found = ask(door, publisher, None, None)?;
    let heads: Vec<Value> = found.iter().map(head).collect();
    Ok(page("contracts", heads, Page { offset, limit }))
}

pub(super) fn read_contract(door: &Door, wanted: ReadContract) -> Outcome {
    let ReadContract { title, publisher, version, from_line } = wanted;
    let found = ask(door, publisher, Some(title), version)?;
    let [contract] = found.as_slice() else {
        let names: Vec<&str> = found.iter().map(|one| one.publisher.as_str()).collect();
        let message = format!("Several agents published it: {}", names.join(", "));
        return Err(Failure::new(message, "Name one of them as `publisher`"));
    };
    let mut used = 0;
    let lines = contract.body.as_deref().unwrap_or_default().lines().skip(from_line);
    let part: Vec<&str> = lines
        .take_while(|line| {
            let is_first = used == 0;
            used += line.len() + 1;
            is_first || used <= ANSWER_BYTES_MAX
        })
        .collect();
    let mut answer = head(contract);
    let end = from_line.saturating_add(part.len());
    answer["body"] = part.join("\n").into();
    if end < contract.lines {
        answer["next_line"] = end.into();
    }
    let removed = contract.removed.iter().take(20).collect::<Vec<_>>();
    if !removed.is_empty() {
        answer["gone_since_last_version"] = json!(removed);
    }
    Ok(answer)
}

fn ask(
    door: &Door,
    publisher: Option<String>,
    title: Option<String>,
    version: Option<u32>,
) -> Result<Vec<ContractStatus>, Failure> {
    let request = Request::Contracts { publisher, title, version };
    let Response::Contracts { contracts } = door.ask(request)? else {
        return Err(Failure::unexpected());
    };
    Ok(contracts)
}

fn head(contract: &ContractStatus) -> Value {
    json!({
        "title": contract.title,
        "publisher": contract.publisher,
        "version": contract.version,
        "lines": contract.lines,
        "at": contract.at,
    })
}
