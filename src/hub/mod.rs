//! The room of the hub.
