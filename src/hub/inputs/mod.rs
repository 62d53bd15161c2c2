//! Routes what happens outside to the components: clients, keepers, screens, and agents' own words.

pub(super) mod agents;
pub(super) mod clients;
pub(super) mod keepers;
pub(super) mod screens;
