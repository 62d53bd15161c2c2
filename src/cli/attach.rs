//! `wheelhouse attach`, and `wheelhouse` alone in a terminal: the dashboard.

use std::io::{self, IsTerminal, Write};

use super::context::{Context, caller_environment};
use super::failure::Hinted;
use super::{demo, playbook};
use crate::client::{self, ClientError};
use crate::config::{self, Desktop, Origin, Settings};
use crate::model::Size;
use crate::tui::{self, AlertOptions, Cards, Ended, Options, ThemeChoice, TuiError};

/// Opens the dashboard, and says afterwards how to come back.
pub(super) fn attach(context: &mut Context, quiet: bool) -> anyhow::Result<()> {
    if !is_terminal() {
        return Err(Hinted::error(
            "The dashboard needs a terminal",
            "Without one, use `wheelhouse status`, `wheelhouse agent read NAME` and `wheelhouse agent keys NAME KEY…`",
        ));
    }
    let settings = Settings::load(&context.paths)?.settings;
    let options = Options {
        theme: ThemeChoice::Named(settings.dashboard.theme.clone()),
        keys: settings.keys.clone(),
        open_url: own(&settings, "dashboard.open_url", &settings.dashboard.open_url),
        open_path: own(&settings, "dashboard.open_path", &settings.dashboard.open_path),
        cards: match settings.grid.cards {
            config::Cards::Auto => Cards::Auto,
            config::Cards::Never => Cards::Never,
        },
        min_size: Size { rows: settings.pane.min_rows, cols: settings.pane.min_cols },
        alerts: alerts(&settings),
        environment: caller_environment(),
        keep_in: Some(context.paths.state_dir.clone()),
        demo: (!quiet).then(demo::offer),
        playbooks: if quiet { Vec::new() } else { playbook::offers(&settings) },
        ..Options::default()
    };
    let paths = context.paths.clone();
    let hub = move || client::open_stream(&paths).map_err(io::Error::other);
    match tui::run(hub, options).map_err(own_error)? {
        _ if quiet => {}
        // Who ended us by a signal waits for no word, and the terminal may take none.
        Ended::Unheard | Ended::Signalled => {}
        Ended::Detached => {
            writeln!(context.out, "Detached; everything goes on. Come back with `wheelhouse`")?;
        }
        // The dashboard comes back once the run has begun.
        Ended::RunWanted(wish) => return playbook::grant(context, &wish),
        Ended::DemoWanted => demo::demo(false, &mut context.out)?,
        Ended::HubEnded => writeln!(context.out, "The hub was ended")?,
    }
    Ok(())
}

/// Returns what a person has set; what is run for them is not for a project to choose.
fn own(settings: &Settings, key: &str, value: &str) -> String {
    let is_own = settings.origin(key) != Origin::Project;
    if is_own { value.to_owned() } else { String::new() }
}

/// Returns the error with what it has to say about what to type next.
fn own_error(error: TuiError) -> anyhow::Error {
    if let TuiError::Version { hub, is_older, pid } = error {
        let ours = env!("CARGO_PKG_VERSION").to_owned();
        return ClientError::Version { hub, ours, is_older, pid }.into();
    }
    error.into()
}

/// Returns how this terminal is told what the person should hear of.
fn alerts(settings: &Settings) -> AlertOptions {
    let term = std::env::var("TERM").unwrap_or_default();
    let form = settings.notify.terminal.form(&term);
    let is_shown = matches!(settings.notify.desktop, Desktop::Auto | Desktop::Terminal);
    let is_in_tmux = std::env::var_os("TMUX").is_some();
    AlertOptions { form: is_shown.then_some(form), is_in_tmux, rings: settings.notify.bell }
}

pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}
