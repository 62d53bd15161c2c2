//! The room of the engine.
