//! `wheelhouse config`: write, check, show and trust the config files.

mod check;
mod describe;
mod init;
mod show;
mod trust;

pub use check::check;
pub use init::init;
pub use show::show;
pub use trust::trust;
