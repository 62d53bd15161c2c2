//! `wheelhouse config`: write, check, show, take over and trust the config files.

mod approval;
mod check;
mod describe;
mod init;
mod reload;
mod show;
mod trust;

pub use approval::{Trial, approval};
pub use check::check;
pub use init::init;
pub use reload::reload;
pub use show::show;
pub use trust::trust;
