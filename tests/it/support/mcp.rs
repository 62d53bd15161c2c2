//! A client of the MCP server, as an agent's cli is one: over a child's standard input and output.

use std::process::Stdio;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, Tool};
use rmcp::service::{RoleClient, RunningService};
use serde_json::Value;
use wheelhouse::model::Token;

use super::clock::wait_for;
use super::process::environment;
use super::world::{PROGRAM, World};

/// A tool may wait that long, even on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(2);

/// A server, and the client that talks to it.
pub(crate) struct McpClient {
    runtime: tokio::runtime::Runtime,
    service: Option<RunningService<RoleClient, ()>>,
    child: tokio::process::Child,
}

impl World {
    /// Returns the token of an agent that runs.
    pub(crate) fn token_of(&self, agent: &str) -> Token {
        let mut token = None;
        wait_for("its token", || {
            let entries = self.agent(agent).pid.map(environment).unwrap_or_default();
            let found = entries.iter().find_map(|one| one.strip_prefix("WHEELHOUSE_TOKEN="));
            token = found.map(|token| Token(token.to_owned()));
            token.is_some()
        });
        token.unwrap()
    }

    /// Starts a server for this agent, or for a person.
    pub(crate) fn mcp(&self, agent: Option<&str>) -> McpClient {
        let plain = self.command(&["mcp"]);
        let mut command = tokio::process::Command::new(PROGRAM);
        command.args(plain.get_args()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(agent) = agent {
            command.env("WHEELHOUSE_TOKEN", self.token_of(agent).0);
            command.env("WHEELHOUSE_SOCKET", self.paths().hub_socket());
        }
        command.current_dir(&self.root).stdin(Stdio::piped()).stdout(Stdio::piped());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (child, service) = runtime.block_on(async {
            let mut child = command.kill_on_drop(true).spawn().unwrap();
            let ends = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
            (child, ().serve(ends).await.unwrap())
        });
        McpClient { runtime, service: Some(service), child }
    }
}

impl McpClient {
    pub(crate) fn tools(&self) -> Vec<Tool> {
        let service = self.service.as_ref().unwrap();
        self.runtime.block_on(service.list_all_tools()).unwrap()
    }

    /// Returns what a tool says; an error as the text that an agent reads.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let service = self.service.as_ref().unwrap();
        let answer = self.runtime.block_on(async {
            tokio::time::timeout(PATIENCE, service.call_tool(request)).await.unwrap()
        });
        let answer = answer.map_err(|error| error.to_string())?;
        let texts = answer.content.iter().filter_map(|block| block.as_text());
        let text: String = texts.map(|block| block.text.as_str()).collect();
        if answer.is_error == Some(true) {
            return Err(text);
        }
        Ok(serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// Calls a tool that must succeed.
    pub(crate) fn ok(&self, tool: &str, arguments: Value) -> Value {
        let asked = arguments.to_string();
        self.call(tool, arguments).unwrap_or_else(|said| panic!("{tool} {asked}: {said}"))
    }

    /// Closes the client's end, and returns once the server has ended.
    pub(crate) fn close(mut self) -> std::process::ExitStatus {
        let service = self.service.take().unwrap();
        self.runtime.block_on(async {
            service.cancel().await.unwrap();
            tokio::time::timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap()
        })
    }
}
