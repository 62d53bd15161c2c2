//! `wheelhouse completions SHELL`: prints what a shell needs to complete our commands.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Arguments;

pub(super) fn print(shell: Shell, out: &mut dyn Write) -> io::Result<()> {
    // What makes it panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "wheelhouse", &mut script);
    out.write_all(&script)
}
