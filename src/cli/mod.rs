//! The room of the cli.
