//! `wheelhouse agent list`.

use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::status;

pub(crate) fn list(context: &mut Context, format: Format) -> anyhow::Result<()> {
    let agents = status::ask(context)?.agents;
    if format.json { context.print_json(&agents) } else { status::print_agents(context, &agents) }
}
