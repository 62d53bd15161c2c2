//! The record that survives: a journal of what happened, and the rows that follow from it.
//!
//! A batch is one decision: its entries go into the journal and its rows are changed in one
//! transaction, so that the rows are always the fold of the journal. The room knows nothing of what
//! the rows mean. Only the hub writes, through [`Store`], which works on a thread of its own; everybody
//! may read, through [`Journal`].

mod append;
mod batch;
mod error;
mod examine;
mod file;
mod fold;
mod journal;
mod queue;
mod schema;
mod thread;

pub use batch::{Batch, Refused, Rows, Ticket};
pub use error::{Difference, Place, StoreError};
pub use journal::{Changed, Journal, Query, Recorded};
pub use thread::{Outcome, Store};
