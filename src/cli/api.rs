//! `wheelhouse api schema`: the form of all that crosses the socket, and of the feed.

use std::io::Write;

use clap::{Subcommand, ValueEnum};
use serde_json::Value;

use crate::api::SCHEMA;

#[derive(Debug, Subcommand)]
pub(super) enum ApiVerb {
    /// Print the JSON schema of requests, answers, notices and the lines of `events --json`
    ///
    /// Without a part: one object with all schemas and the protocol version. docs/api.md
    /// explains them.
    Schema {
        /// Only this part
        part: Option<Part>,
    },
}

/// One side of the conversation with a hub, or the feed.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum Part {
    /// What a client sends
    Ask,
    /// What the hub sends: answers and notices
    FromHub,
    /// A line of `wheelhouse events --json`
    Event,
}

pub(super) fn api(verb: &ApiVerb, out: &mut dyn Write) -> anyhow::Result<()> {
    let ApiVerb::Schema { part } = verb;
    let Some(part) = part else {
        out.write_all(SCHEMA.as_bytes())?;
        return Ok(());
    };
    let key = match part {
        Part::Ask => "ask",
        Part::FromHub => "from_hub",
        Part::Event => "event",
    };
    let whole: Value = serde_json::from_str(SCHEMA)?;
    writeln!(out, "{}", serde_json::to_string_pretty(&whole[key])?)?;
    Ok(())
}
