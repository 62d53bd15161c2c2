//! `wheelhouse agent tree NAME`: an agent's processes, with what they use.

use crate::api::{Request, Response};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::table::Table;
use crate::client::ClientError;

pub(crate) fn tree(context: &mut Context, agent: String, format: Format) -> anyhow::Result<()> {
    let Response::Tree { processes } = context.ask(Request::Tree { agent })? else {
        return Err(ClientError::Unexpected.into());
    };
    if format.json {
        return context.print_json(&processes);
    }
    let mut table = Table::new(["PID", "PARENT", "CPU", "MEMORY", "PROGRAM"]);
    for process in processes {
        table.push([
            process.id.pid.to_string(),
            process.parent.to_string(),
            format!("{}.{:02} s", process.cpu_ms / 1000, process.cpu_ms % 1000 / 10),
            format!("{} KiB", process.memory_bytes / 1024),
            process.name,
        ]);
    }
    table.print(&mut context.out)?;
    Ok(())
}
