//! Calls git so that nothing runs which an agent may have planted. Every git call goes through here.

mod aside;
mod call;
mod difference;
mod found;
mod merge;
mod objects;
mod pack;
mod patch;
mod refs;
mod repository;
mod submodules;
mod usage;
mod worktree;

pub use call::{GitError, run};
pub use difference::{Difference, Hunks};
pub use merge::Merged;
pub use objects::{Author, Blob, Staged};
pub use repository::Repository;
pub use submodules::Holder;
pub use usage::Usage;

#[cfg(test)]
mod compared;
#[cfg(test)]
mod planted;
