//! Makes typed values of TOML tables by serde, and notes all that is wrong with them.
//!
//! Serde ends at the first error. So what is wrong is told with its place and left out, and the
//! table is read again, until nothing more is wrong with it.

mod fault;
mod key_path;
mod reading;
mod table;
mod value;

pub(super) use fault::KEY;
pub(super) use table::{RawTable, ReadTable, read, unknown_key};
