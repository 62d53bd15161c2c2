//! Connects to the hub, and starts it if it is not running.

mod agent;
mod call;
mod connection;
mod error;
mod start;

pub use agent::{Identity, random_id};
pub use call::Call;
pub use connection::Connection;
pub use error::ClientError;
pub use start::{ask_at, connect, connect_running, open_stream};
