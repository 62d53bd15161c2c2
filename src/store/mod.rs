//! Keeps the record: a journal of what happened, and the rows that follow from it.
//!
//! A batch is one decision: its entries go into the journal and its rows are changed in one
//! transaction, so that the rows are always the fold of the journal, from its beginning or from where it
//! was cut. The room knows nothing of what
//! the rows mean. Only the hub writes, through [`Store`], which works on a thread of its own; everybody
//! may read, through [`Journal`].

mod append;
mod batch;
mod error;
mod examine;
mod file;
mod fold;
mod journal;
mod prune;
mod queue;
mod schema;
mod thread;

pub use batch::{Batch, Refused, Rows, Ticket};
pub use error::{Difference, Place, StoreError};
pub use journal::{Changed, Journal, LastRow, Query, Recorded};
pub use prune::{Base, Keep};
pub use thread::{Outcome, Store};
