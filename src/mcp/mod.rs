//! The MCP server: what an agent can ask of the hub, as tools (the only room that names rmcp).
//!
//! A tool is a request of the socket, no more: who may call it is the hub's to say, and a tool that
//! the caller's role never may is not offered. Each call opens a connection of its own, so that a
//! hub that died and came back is not noticed. What is returned is bounded, and says how to go on.

mod agents;
mod contracts;
mod door;
mod failure;
mod page;
mod prompts;
mod reports;
mod serve;
mod shared;
mod task_tools;
mod tools;
mod waiting;

pub use door::Door;
pub use serve::{McpError, serve};
pub use tools::{TOOLS, ToolRow, tool_names};
