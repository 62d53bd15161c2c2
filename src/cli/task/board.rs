//! `wheelhouse task board`.

use std::io::Write;

use crate::api::{Request, Response, TaskRequest, TaskStatus};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::client::ClientError;
use crate::config::plain;
use crate::model::TaskState;

/// The columns of the board: what a task in one of these states is to whoever looks for work.
const COLUMNS: [(&str, &[TaskState]); 4] = [
    ("FREE", &[TaskState::Ready]),
    ("IN HAND", &[TaskState::Running, TaskState::Claimed, TaskState::Interrupted]),
    ("WAITING", &[TaskState::Pending, TaskState::Blocked]),
    ("OVER", &[TaskState::Done, TaskState::Failed, TaskState::Cancelled]),
];

pub(crate) fn board(
    context: &mut Context,
    run: Option<&str>,
    format: Format,
) -> anyhow::Result<()> {
    let Response::Tasks { mut tasks } = context.ask(Request::Task { ask: TaskRequest::List })?
    else {
        return Err(ClientError::Unexpected.into());
    };
    tasks.retain(|task| run.is_none() || task.run.as_deref() == run);
    let of = |states: &[TaskState]| {
        tasks.iter().filter(|task| states.contains(&task.state)).collect::<Vec<&TaskStatus>>()
    };
    if format.json {
        let columns = COLUMNS.map(|(name, states)| {
            (name.to_lowercase().replace(' ', "_"), serde_json::json!(of(states)))
        });
        let board: serde_json::Map<String, serde_json::Value> = columns.into_iter().collect();
        return context.print_json(&board);
    }
    for (name, states) in COLUMNS {
        let cards = of(states);
        writeln!(context.out, "{name} ({})", cards.len())?;
        for card in cards {
            let who = card.agent.as_deref().map(|agent| format!("  {agent}")).unwrap_or_default();
            let note = card.waits_for(&tasks).map(|note| format!("  {note}")).unwrap_or_default();
            let line = format!("  {:<5} {:<9} {}{who}{note}", card.id, card.state, card.title);
            writeln!(context.out, "{}", plain(&line))?;
        }
    }
    Ok(())
}
