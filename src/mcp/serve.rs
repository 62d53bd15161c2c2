//! The server on standard input and output.

use std::io;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::Value;

use super::door::Door;
use super::failure::Failure;
use super::page::beginning;
use super::shared::identity;
use super::tools::{Outcome, TOOLS, ToolRow};

/// Nothing that a tool returns is longer; each bounds itself well below.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// The tools that end something which somebody else is at.
const ENDING: [&str; 5] =
    ["cancel_task", "interrupt_agent", "stop_agents", "restart_agents", "remove_agents"];

const INSTRUCTIONS: &str = "Wheelhouse runs a team of coding agents and keeps the record of their work. Start with `whoami`. If you have a task, report with `report_progress` and `report_status`. If you lead, add work with `add_tasks`, follow it with `wait` and `show_task`, and unblock it with `retry_task`. An answer that was cut says how to read on.";

/// Why the server ended before its client did.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    #[error("The server cannot be started")]
    Runtime(#[source] io::Error),
    #[error("The client did not begin as one does: {0}")]
    Begin(String),
    #[error("The connection to the client broke: {0}")]
    Broken(String),
}

/// Serves until the client closes standard input.
pub fn serve(door: Door) -> Result<(), McpError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(McpError::Runtime)?;
    let served = runtime.block_on(async {
        let service = Server { door }.serve(rmcp::transport::io::stdio()).await;
        let service = service.map_err(|error| McpError::Begin(error.to_string()))?;
        service.waiting().await.map_err(|error| McpError::Broken(error.to_string()))
    });
    // A tool that still waits for something must not hold the end up.
    runtime.shutdown_background();
    served.map(drop)
}

struct Server {
    door: Door,
}

impl Server {
    /// Runs what waits for the hub aside.
    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Door) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let door = self.door.clone();
        let done = tokio::task::spawn_blocking(move || work(&door)).await;
        done.unwrap_or_else(|error| {
            Err(Failure::new(format!("The tool failed: {error}"), "Call it again"))
        })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("wheelhouse", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let who = self.aside(identity).await;
        let who = who.map_err(|failure| ErrorData::internal_error(failure.to_string(), None))?;
        let is_allowed = |tool: &&ToolRow| {
            let request = tool.kind.right().request;
            who.may.iter().any(|may| may == request)
        };
        let offered = TOOLS.iter().filter(is_allowed).map(describe).collect();
        Ok(ListToolsResult::with_all_items(offered))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == request.name) else {
            let name: String = request.name.chars().take(64).collect();
            let message = format!("There is no tool `{name}`; `tools/list` names those there are");
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let call = tool.call;
        let outcome: Outcome = self.aside(move |door| call(door, arguments)).await;
        Ok(result(outcome).into())
    }
}

fn describe(tool: &ToolRow) -> Tool {
    let is_ending = ENDING.contains(&tool.name);
    // Some clients ask a person before each call of a tool that may destroy something, and take one
    // that says nothing about it for such a tool.
    let hints = ToolAnnotations::new()
        .read_only(tool.is_reading())
        .destructive(is_ending)
        .open_world(false);
    Tool::new(tool.name, tool.description, (tool.schema)()).with_annotations(hints)
}

fn result(outcome: Outcome) -> CallToolResult {
    match outcome {
        Ok(Value::String(text)) => CallToolResult::success(text_of(&text)),
        Ok(value) => CallToolResult::success(text_of(&value.to_string())),
        // As a result, so that the model reads it and not only its client.
        Err(failure) => CallToolResult::error(text_of(&failure.to_string())),
    }
}

fn text_of(text: &str) -> Vec<ContentBlock> {
    vec![ContentBlock::text(beginning(text, TEXT_BYTES_MAX))]
}
