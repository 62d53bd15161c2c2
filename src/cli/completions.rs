//! `wheelhouse completions SHELL`: prints what a shell needs to complete our commands.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Arguments;

pub(super) fn print(shell: Shell) {
    clap_complete::generate(shell, &mut Arguments::command(), "wheelhouse", &mut io::stdout());
}
