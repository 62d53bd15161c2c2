//! Git, called so that nothing runs which an agent may have planted: every call of ours goes
//! through here.

mod aside;
mod call;
mod found;
mod repository;

pub use call::{GitError, run};
pub use repository::Repository;

#[cfg(test)]
mod planted;
