//! `wheelhouse wait --task ID`.

use std::process::ExitCode;
use std::time::Duration;

use super::print::print_done;
use crate::api::{Request, TaskRequest};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::failure;
use crate::client::ClientError;
use crate::model::TaskState;

/// The task has ended otherwise.
const EXIT_REFUSED: u8 = 3;
/// It has not come to it in time.
const EXIT_LATE: u8 = 5;

pub(crate) fn wait(
    context: &mut Context,
    task: &str,
    states: &[TaskState],
    timeout: Option<u64>,
    format: Format,
) -> anyhow::Result<ExitCode> {
    loop {
        let ask = TaskRequest::Wait { task: task.to_owned(), states: states.to_vec() };
        let mut connection = context.connect()?;
        if let Some(seconds) = timeout {
            // No time at all would mean for ever.
            connection.set_patience(Duration::from_secs(seconds.max(1)))?;
        }
        match connection.ask(Request::Task { ask }) {
            Ok(response) => {
                print_done(context, response, format)?;
                return Ok(ExitCode::SUCCESS);
            }
            Err(error @ ClientError::Fault(_)) => {
                failure::report(&error.into());
                return Ok(ExitCode::from(EXIT_REFUSED));
            }
            Err(error) if error.is_timeout() => {
                let message = format!("Task `{task}` did not reach the state in time");
                let hint = format!("See its state with `wheelhouse task show {task}`");
                failure::report(&failure::Hinted::error(message, hint));
                return Ok(ExitCode::from(EXIT_LATE));
            }
            // The hub comes back, and knows where the task stands.
            Err(ClientError::Closed | ClientError::Lost(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
