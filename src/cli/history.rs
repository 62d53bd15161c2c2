//! `wheelhouse history`: the runs that were, and what came of one.

use std::io::{self, IsTerminal, Write};

use clap::{Args, ValueEnum};
use serde_json::json;

use super::context::Context;
use super::past::{Past, cut_off};
use crate::config::plain_json;
use crate::history::{self, TextStyle};

/// Columns where nobody says how many there are.
const WIDTH: usize = 100;

#[derive(Debug, Args)]
pub(super) struct HistoryArgs {
    /// The run, such as `s1`; `all` is the whole record [default: list the runs]
    run: Option<String>,
    /// The format; `html` is a single self-contained page
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Form>,
    /// Print JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Md,
    Html,
    Json,
}

pub(super) fn history(context: &mut Context, args: &HistoryArgs) -> anyhow::Result<()> {
    let past = Past::open(context)?;
    let form = if args.json { Form::Json } else { args.format.unwrap_or(Form::Text) };
    let Some(run) = &args.run else { return list(context, &past, form) };
    let story = past.story(past.chapter(run)?)?;
    let text = match form {
        Form::Text => history::text(&story, look()),
        Form::Md => history::markdown(&story),
        Form::Html => history::html(&story),
        Form::Json => return context.print_json(&story),
    };
    context.out.write_all(text.as_bytes())?;
    Ok(())
}

fn list(context: &mut Context, past: &Past, form: Form) -> anyhow::Result<()> {
    let base = past.journal.base()?;
    if form == Form::Json {
        let gone = base.map(|base| json!({ "entry": base.entry, "at": base.at.to_rfc3339() }));
        let text = json!({ "runs": past.chapters, "cut_off": gone }).to_string();
        writeln!(context.out, "{}", plain_json(&text))?;
        return Ok(());
    }
    write!(context.out, "{}", history::list(&past.chapters))?;
    if let Some(base) = base {
        writeln!(context.out, "\n{}", cut_off(&base))?;
    }
    writeln!(
        context.out,
        "\nRead one with `wheelhouse history RUN`, or as a page: `--format html`"
    )?;
    Ok(())
}

/// Returns how text looks where it goes: plain unless a person sees it at once.
pub(super) fn look() -> TextStyle {
    if !io::stdout().is_terminal() {
        return TextStyle { width: WIDTH, has_color: false };
    }
    let told =
        rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    let width = told.filter(|columns| *columns > 0).unwrap_or(WIDTH);
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let has_color = !is_dumb && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    TextStyle { width, has_color }
}
