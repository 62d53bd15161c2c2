//! The room of the wire.
