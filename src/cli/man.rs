//! `wheelhouse man`: the manual pages, made from what the commands say of themselves.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::args::Arguments;

/// Prints the page of the program, or writes one for each command into a directory.
pub(super) fn man(directory: Option<&Path>, out: &mut dyn Write) -> anyhow::Result<()> {
    // Without the help command, which has a page for each of the others.
    let mut program = Arguments::command().disable_help_subcommand(true);
    program.build();
    let Some(directory) = directory else {
        Man::new(program).render(out)?;
        return Ok(());
    };
    fs::create_dir_all(directory)
        .with_context(|| format!("Failed to make the directory `{}`", directory.display()))?;
    let mut count = 0;
    write(&program, directory, &mut count)?;
    writeln!(out, "{count} pages in {}", directory.display())?;
    writeln!(out, "Read one with `man {}/wheelhouse.1`", directory.display())?;
    Ok(())
}

/// Writes the page of a command and of all below it.
fn write(command: &Command, directory: &Path, count: &mut usize) -> anyhow::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let path = directory.join(format!("{name}.1"));
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    fs::write(&path, page).with_context(|| format!("Failed to write `{}`", path.display()))?;
    *count += 1;
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    visible.into_iter().try_for_each(|command| write(command, directory, count))
}
