//! Sets the stage, lets the team play, and clears the stage.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::stage::Stage;
use super::story;
use crate::api::{AgentOffer, TeamOffer};
use crate::cli::attach::is_terminal;
use crate::cli::failure::Hinted;
use crate::model::Role;
use crate::sim::DEMO;

/// Returns the demo as a team to choose.
pub(crate) fn offer() -> TeamOffer {
    let agent = |(name, _): &(&str, &str)| AgentOffer {
        name: (*name).to_owned(),
        cli: "sim".to_owned(),
        role: Role::Worker,
        command: vec!["wheelhouse".to_owned(), "sim".to_owned()],
    };
    TeamOffer {
        name: "demo".to_owned(),
        layout: "grid".to_owned(),
        origin: "a throw-away repository".to_owned(),
        agents: DEMO.iter().map(agent).collect(),
        obstacle: None,
    }
}

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
    writeln!(
        out,
        "The demo's team and repository are removed. Start your own team with `wheelhouse`"
    )?;
    Ok(())
}
