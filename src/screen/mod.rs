//! The room of the screen.
