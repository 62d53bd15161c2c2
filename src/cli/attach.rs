//! `wheelhouse attach`, and `wheelhouse` alone in a terminal: the dashboard.

use std::io::{self, IsTerminal, Write};

use super::context::{Context, caller_environment};
use super::failure::Hinted;
use super::{demo, playbook};
use crate::client;
use crate::config::{self, Settings};
use crate::model::Size;
use crate::tui::{self, Cards, Ended, Options, ThemeChoice};

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
        cards: match settings.grid.cards {
            config::Cards::Auto => Cards::Auto,
            config::Cards::Never => Cards::Never,
        },
        min_size: Size { rows: settings.pane.min_rows, cols: settings.pane.min_cols },
        environment: caller_environment(),
        keep_in: Some(context.paths.state_dir.clone()),
        demo: (!quiet).then(demo::offer),
        playbooks: if quiet { Vec::new() } else { playbook::offers(&settings) },
        ..Options::default()
    };
    let paths = context.paths.clone();
    let hub = move || client::open_stream(&paths).map_err(io::Error::other);
    match tui::run(hub, options)? {
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

pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}
