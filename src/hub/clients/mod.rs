//! Serves clients: their connections, what each may ask, and what each is shown.

pub(super) mod alerts;
pub(super) mod askers;
pub(super) mod connection;
pub(super) mod permissions;
pub(super) mod response_size;
pub(super) mod socket;
pub(super) mod state;
pub(super) mod tokens;
pub(super) mod views;
