//! Starts the scripted agent: reads the script, looks around, and picks a terminal or a pipe.

use std::env;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use rustix::termios::isatty;

use super::outside::Outside;
use super::player::Player;
use super::script::Script;
use super::words::ScriptError;
use super::{clock::Clock, facts, plain, terminal};

/// What an agent does that has no script, or none for this prompt.
const DEFAULT_SCRIPT: &str = include_str!("../../assets/sim/default.sim");

/// Overrides the script's speed, so that a test never waits.
const SPEED: &str = "WHEELHOUSE_SIM_SPEED";
/// Turns on what `report osc` turns on.
const REPORT: &str = "WHEELHOUSE_SIM_REPORT";
/// With `prompt`, the first prompt sets off what `at start` holds.
const START: &str = "WHEELHOUSE_SIM_START";
/// Set only for the child that `detach` leaves behind: how many seconds it stays.
pub(super) const DETACHED: &str = "WHEELHOUSE_SIM_DETACHED";

/// Says why the scripted agent could not go on.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error("`{value}` in `{SPEED}` is not a speed")]
    Speed { value: String },
    #[error("Failed to {what}")]
    System { what: &'static str, source: io::Error },
}

impl SimError {
    /// Returns what can be done about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Script(error) => error.hint(),
            Self::Speed { .. } => format!("Set `{SPEED}` to a number such as 1.0, or to 0"),
            Self::System { .. } => "Run it in a terminal, or give it prompts by a pipe".into(),
        }
    }

    /// Says whether it only means that whoever read the output has had enough.
    pub fn is_reader_gone(&self) -> bool {
        matches!(self, Self::System { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(super) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { what, source: source.into() }
    }
}

/// Plays a script until it ends; without one, answers each prompt with a plausible short job.
///
/// `name` is shown as the agent's title unless the script gives another.
pub fn run(script: Option<&str>, name: &str) -> Result<ExitCode, SimError> {
    if let Some(seconds) = env::var(DETACHED).ok().and_then(|text| text.parse().ok()) {
        return stay_behind(Duration::from_secs(seconds));
    }
    let mut script = Script::parse(script.unwrap_or_default())?;
    if env::var(START).is_ok_and(|value| value == "prompt") {
        script = script.started_by_prompt();
    }
    script.reactions.extend(Script::parse(DEFAULT_SCRIPT)?.reactions);
    if let Ok(value) = env::var(SPEED) {
        let speed = value.parse().ok().filter(|speed| (0.0..=100.0).contains(speed));
        script.settings.speed = speed.ok_or(SimError::Speed { value })?;
    }
    script.settings.reports_state |= env::var(REPORT).is_ok_and(|value| value == "osc");
    let clock = Clock::start();
    let player = Player::new(script, &facts::gather(name), clock.now());
    let outside = Outside::new(name).map_err(SimError::system("prepare for running commands"))?;
    if isatty(io::stdin()) && isatty(io::stdout()) {
        terminal::play(player, outside, clock)
    } else {
        plain::play(player, outside, clock)
    }
}

/// Lives on in a session of its own, whatever becomes of whoever started it.
fn stay_behind(time: Duration) -> Result<ExitCode, SimError> {
    rustix::process::setsid().map_err(SimError::system("leave the session"))?;
    std::thread::sleep(time);
    Ok(ExitCode::SUCCESS)
}
