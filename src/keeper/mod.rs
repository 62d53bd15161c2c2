//! The room of the keeper.
