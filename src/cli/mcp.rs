//! `wheelhouse mcp`: the tools for agents, on standard input and output.

use super::context::Context;
use crate::mcp::{Door, serve};

pub(super) fn mcp(context: Context) -> anyhow::Result<()> {
    let Context { paths, identity, out } = context;
    // Standard output is the protocol's from here on.
    drop(out);
    let door = identity.map_or_else(|| Door::Person(Box::new(paths)), Door::Agent);
    Ok(serve(door)?)
}
