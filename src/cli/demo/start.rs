//! Sets the stage, lets the team play, and clears the stage.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::stage::Stage;
use super::story;
use crate::cli::attach::is_terminal;
use crate::cli::failure::Hinted;

pub(crate) fn demo(headless: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    if !headless && !is_terminal() {
        return Err(Hinted::error(
            "The demo needs a terminal",
            "Without one, use `wheelhouse demo --headless`",
        ));
    }
    // A signal ends the dashboard or the story; we stay to clear the stage.
    let is_over = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&is_over))?;
    }
    let stage = Stage::build()?;
    if headless {
        return story::tell(&stage, &is_over, out);
    }
    let status = stage.command(&["up", "demo", "--attach", "--quiet"]).status()?;
    anyhow::ensure!(status.success(), "The dashboard ended early");
    writeln!(out, "The demo's team and its repository are gone; your own: `wheelhouse`")?;
    Ok(())
}
