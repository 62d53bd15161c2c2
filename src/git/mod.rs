//! Git, called so that nothing runs which an agent may have planted: every call of ours goes
//! through here.

mod aside;
mod call;
mod found;
mod merge;
mod objects;
mod refs;
mod repository;
mod worktree;

pub use call::{GitError, run};
pub use merge::Merged;
pub use objects::{Author, Blob, Staged};
pub use repository::Repository;

#[cfg(test)]
mod planted;
