//! The room of the config.
