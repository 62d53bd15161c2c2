//! What every subcommand is given: the project, the hub, and where to print.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::client::{self, ClientError, Connection};
use crate::config::{Paths, environment_of, find_project, plain_json};
use crate::model::Environment;
use crate::wire::{Request, Response};

/// A subcommand's surroundings.
pub(super) struct Context {
    pub(super) paths: Paths,
    pub(super) out: Box<dyn Write>,
}

impl Context {
    pub(super) fn find(project: Option<&Path>) -> anyhow::Result<Self> {
        let project = find_project(project, &std::env::current_dir()?)?;
        Ok(Self { paths: Paths::find(&project)?, out: Box::new(io::stdout().lock()) })
    }

    /// Connects to the hub, and starts it if it is not there.
    pub(super) fn connect(&self) -> Result<Connection, ClientError> {
        client::connect(&self.paths)
    }

    /// Asks the hub one thing; once more, if the hub was lost and asking twice does no harm.
    pub(super) fn ask(&self, request: Request) -> Result<Response, ClientError> {
        let again = request.is_repeatable().then(|| request.clone());
        match (self.connect()?.ask(request), again) {
            (Err(ClientError::Closed | ClientError::Lost(_)), Some(request)) => {
                self.connect()?.ask(request)
            }
            (result, _) => result,
        }
    }

    pub(super) fn print_json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        for line in text.lines() {
            writeln!(self.out, "{}", plain_json(line))?;
        }
        Ok(())
    }
}

/// Returns the environment of whoever typed the command; agents are given a part of it.
pub(super) fn caller_environment() -> Environment {
    environment_of(std::env::vars_os())
}
