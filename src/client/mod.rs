//! The room of the client.
