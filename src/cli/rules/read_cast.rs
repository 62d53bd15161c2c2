//! Reads a recording from a file.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use super::super::failure::Hinted;
use crate::recording::{BadLine, Cast};

pub(super) fn read_cast(file: &Path) -> anyhow::Result<Cast> {
    let text =
        fs::read_to_string(file).with_context(|| format!("Failed to read `{}`", file.display()))?;
    Cast::read(&text).map_err(|BadLine(line)| {
        Hinted::error(
            format!("Line {line} of `{}` is not asciicast, version 2", file.display()),
            "Take one of an agent with `wheelhouse agent record NAME --output FILE.cast`",
        )
    })
}
