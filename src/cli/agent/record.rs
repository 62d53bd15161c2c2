//! `wheelhouse agent record NAME`: hands out the last minutes of its terminal, without secrets.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use crate::cli::args::Recording;
use crate::cli::context::Context;
use crate::cli::failure::Hinted;
use crate::cli::recorded;
use crate::config::plain;
use crate::model::{AgentName, Moment};
use crate::recording::{Cast, redact};

pub(crate) fn record(context: &mut Context, name: &str, wanted: &Recording) -> anyhow::Result<()> {
    recorded::flush(context, name)?;
    let agent: AgentName = name.parse()?;
    let mut cast = recorded::recording(context, &agent)?
        .ok_or_else(|| {
            let hint = "An agent is recorded once it runs, unless `[casts] enabled = false`";
            Hinted::error(format!("Agent `{agent}` has no recording"), hint)
        })?
        .last(wanted.last);
    let blanked = redact(&mut cast);
    let text = cast.write();
    let to_stdout = match &wanted.output {
        Some(file) => file == Path::new("-"),
        None => !wanted.format.json && !io::stdout().is_terminal(),
    };
    if to_stdout {
        context.out.write_all(text.as_bytes())?;
        return Ok(());
    }
    let file = wanted.output.clone().unwrap_or_else(|| file_name(&agent, &cast));
    write(&file, &text).with_context(|| format!("Failed to write `{}`", file.display()))?;
    let seconds = Duration::from_millis(cast.end().0).as_secs();
    if wanted.format.json {
        return context.print_json(&json!({
            "agent": agent,
            "file": file,
            "seconds": seconds,
            "bytes": text.len(),
            "blanked": blanked,
        }));
    }
    let shown = plain(&file.to_string_lossy());
    let out = &mut context.out;
    writeln!(out, "{shown}: {seconds} s, {} bytes, {blanked} characters blanked out", text.len())?;
    writeln!(out, "Check it before you share it: not every secret is recognised")?;
    Ok(())
}

fn file_name(agent: &AgentName, cast: &Cast) -> PathBuf {
    let time = (cast.started + cast.end().since(Moment(0))).to_rfc3339();
    let time: String = time.chars().take(19).filter(char::is_ascii_alphanumeric).collect();
    PathBuf::from(format!("{agent}-{time}.cast"))
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    let options = File::options().create(true).write(true).truncate(true).mode(0o600).to_owned();
    options.open(file)?.write_all(text.as_bytes())
}
