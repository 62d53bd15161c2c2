//! What every subcommand is given: the project, the hub, and where to print.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::failure::note;
use super::offline::{Recorded, is_hub_expected};
use super::output::Output;
use crate::api::{Request, Response};
use crate::client::{self, Call, ClientError, Connection, Identity};
use crate::config::{Paths, environment_of, find_project, plain_json, with_own_program};
use crate::model::Environment;

/// How long an agent waits for an answer: someone may hold what it asks for.
const AGENT_PATIENCE: Duration = Duration::from_mins(30);

/// A subcommand's surroundings.
pub(super) struct Context {
    pub(super) paths: Paths,
    /// The agent that runs this command, if one does.
    pub(super) identity: Option<Identity>,
    pub(super) out: Box<dyn Write>,
}

impl Context {
    pub(super) fn find(project: Option<&Path>) -> anyhow::Result<Self> {
        let identity = Identity::of_this_process();
        // An agent belongs to the project of its hub, wherever the tree lies that it works in.
        let own = identity.as_ref().and_then(Identity::project);
        let asked = project.or_else(|| own.as_deref().filter(|own| own.is_dir()));
        let found = find_project(asked, &std::env::current_dir()?)?;
        let paths = Paths::find(&found)?;
        // Whoever names another project than its own is not known there by its token.
        let is_own = |identity: &Identity| {
            let is_its = || own.as_ref().is_some_and(|own| *own == paths.project);
            project.is_none() || identity.socket() == paths.hub_socket() || is_its()
        };
        let identity = identity.filter(is_own);
        Ok(Self { paths, identity, out: Box::new(Output::standard()) })
    }

    /// Connects to the hub, and starts it if it is not there; for the agent that runs this command,
    /// if one does, by its token.
    pub(super) fn connect(&self) -> Result<Connection, ClientError> {
        match &self.identity {
            Some(identity) => identity.connect(),
            None => client::connect(&self.paths),
        }
    }

    /// Connects to the hub if it is there, for whoever runs this command.
    pub(super) fn connect_running(&self) -> Result<Connection, ClientError> {
        match &self.identity {
            Some(identity) => identity.connect(),
            None => client::connect_running(&self.paths),
        }
    }

    /// Asks the hub one thing; once more, if the hub was lost and asking twice does no harm.
    pub(super) fn ask(&self, request: Request) -> Result<Response, ClientError> {
        self.call(&Call::new(request))
    }

    /// Makes a request under its key; once more, if the hub was lost and that does no harm. What only
    /// reads starts no hub: where none runs, the record answers.
    pub(super) fn call(&self, call: &Call) -> Result<Response, ClientError> {
        if call.request().only_reads()
            && self.identity.is_none()
            && let Err(absent @ ClientError::NotRunning { .. }) = self.connect_running()
            && !is_hub_expected(&self.paths)
            && !(is_about_files(call.request()) && Recorded::has_lost(&self.paths))
            && let Some(recorded) = Recorded::read(&self.paths)
        {
            let answer = recorded.answer(&self.paths, call.request()).ok_or(absent)?;
            note(&format!("No hub runs for {}", self.paths.project.display()));
            return answer.map_err(ClientError::Fault);
        }
        self.converse(call).map(|(_, response)| response)
    }

    /// Does the same, and returns the connection, too.
    pub(super) fn converse(&self, call: &Call) -> Result<(Connection, Response), ClientError> {
        let mut connection = self.connect()?;
        match connection.call(call) {
            Err(ClientError::Closed | ClientError::Lost(_)) if call.is_repeatable() => {
                connection = self.connect()?;
                let response = connection.call(call)?;
                Ok((connection, response))
            }
            result => Ok((connection, result?)),
        }
    }

    /// Makes a request for the agent that runs this command, if one does; else for a person.
    pub(super) fn call_as_agent(&self, call: &Call) -> Result<Response, ClientError> {
        match &self.identity {
            Some(identity) => identity.call(call, AGENT_PATIENCE),
            None => self.call(call),
        }
    }

    /// Asks for the agent that runs this command, if one does; else for a person.
    pub(super) fn ask_as_agent(&self, request: Request) -> Result<Response, ClientError> {
        self.call_as_agent(&Call::new(request))
    }

    pub(super) fn print_json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        for line in text.lines() {
            writeln!(self.out, "{}", plain_json(line))?;
        }
        Ok(())
    }
}

/// Returns the name of the agent that runs this command, if one does.
pub(super) fn own_name() -> Option<String> {
    Identity::of_this_process().and_then(|_| std::env::var("WHEELHOUSE_AGENT").ok())
}

/// Returns the environment of whoever typed the command; agents are given a part of it.
pub(super) fn caller_environment() -> Environment {
    let environment = environment_of(std::env::vars_os());
    match std::env::current_exe() {
        Ok(program) => with_own_program(environment, &program),
        Err(_) => environment,
    }
}

/// Says whether a request is about what lies in workspaces.
fn is_about_files(request: &Request) -> bool {
    matches!(request, Request::Workspace { .. } | Request::Diff { .. })
}
