//! The way to the hub: connects to it, and starts it if it is not there.

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
