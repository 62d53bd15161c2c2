//! `wheelhouse config init`: writes a project's first config file.

use std::fs::File;
use std::io::{self, Write};

use anyhow::{Context, Result, bail};

use crate::config::{Paths, STARTER, plain};

/// Writes the starter file into the project, and never over a file that is there.
pub fn init(paths: &Paths, out: &mut dyn Write) -> Result<()> {
    let path = paths.project_config();
    let shown = plain(&path.to_string_lossy());
    match File::options().write(true).create_new(true).open(&path) {
        Ok(mut file) => file.write_all(STARTER.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("`{shown}` is already there\nhint: Check it with `wheelhouse config check`")
        }
        Err(error) => Err(error),
    }
    .with_context(|| format!("Failed to write `{shown}`"))?;
    writeln!(out, "Wrote `{shown}`")?;
    writeln!(out, "Next: edit it, run `wheelhouse config trust`, then `wheelhouse up shells`")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_starter_is_written_once() {
        let world = tempfile::tempdir().unwrap();
        let paths = Paths::find(world.path()).unwrap();
        let mut out = Vec::new();
        init(&paths, &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains("wheelhouse up shells"));
        fs::write(paths.project_config(), "mine").unwrap();
        let error = init(&paths, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("hint: Check it with"), "{error}");
        assert_eq!(fs::read_to_string(paths.project_config()).unwrap(), "mine");
    }
}
