//! `wheelhouse hub`: becomes the project's hub. Nobody types it.

use std::io::{self, Write};
use std::process::ExitCode;

use super::failure;
use crate::api::BUSY;
use crate::config::Paths;
use crate::hub::{self, HubError};

pub(super) fn hub(paths: Paths) -> anyhow::Result<ExitCode> {
    match hub::run(paths) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(HubError::Busy) => {
            io::stdout().write_all(BUSY.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            // Whoever started us reads this; without a reader it is lost, and the log has it.
            let error = anyhow::Error::new(error);
            let _ = writeln!(io::stdout(), "{}", failure::words(&error));
            Err(error)
        }
    }
}
