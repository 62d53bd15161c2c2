//! `wheelhouse events`: the journal as a story, one line for each thing that happened.

use std::io::Write;
use std::thread;
use std::time::Duration;

use clap::Args;

use super::args::Format;
use super::context::Context;
use super::output::Output;
use super::past::{Past, cut_off};
use super::when::{When, when};
use crate::api::{FeedLine, Request};
use crate::client::{self, Connection};
use crate::config::{Paths, plain, plain_json};
use crate::history::RunEnd;
use crate::model::AgentName;
use crate::store::{Journal, Query, Recorded};

/// What is read at once: an entry has at most 64 KiB, so a page at most 16 MiB.
const PAGE: usize = 256;

/// How long nothing is looked for while nobody says that there is something new.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(super) struct EventsArgs {
    /// Keep printing new entries until interrupted
    #[arg(long, short)]
    follow: bool,
    /// Only entries after this number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: u64,
    /// Only entries about this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only entries about this task
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Only kinds with this prefix, such as `dispatch.`
    #[arg(long, value_name = "PREFIX")]
    kind: Option<String>,
    /// Only entries of this run, such as `s1`
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Only entries since this time: in UTC, or how long ago, such as `10m`
    #[arg(long, value_name = "TIME", value_parser = when)]
    since: Option<When>,
    /// Only entries up to this time
    #[arg(long, value_name = "TIME", value_parser = when)]
    until: Option<When>,
    #[command(flatten)]
    format: Format,
}

pub(super) fn events(context: &mut Context, args: &EventsArgs) -> anyhow::Result<()> {
    if args.follow {
        context.out = Box::new(Output::for_a_reader());
    }
    let journal = Journal::open(&context.paths.record())?;
    let mut query = Query {
        after: args.after,
        limit: PAGE,
        agent: args.agent.clone(),
        task: args.task.clone(),
        kind: args.kind.clone(),
        since: args.since.map(When::moment),
        until: args.until.map(When::moment),
        ..Query::default()
    };
    if let Some(run) = &args.run {
        let past = Past::open(context)?;
        let chapter = past.chapter(run)?;
        query.after = query.after.max(chapter.first - 1);
        // What still goes on may be followed.
        query.up_to = (chapter.end != RunEnd::Open).then_some(chapter.last);
    }
    let (mut news, begun_after) = (None, query.after);
    note_cut_off(context, &journal, &query, args.format)?;
    loop {
        let found = journal.entries(&query)?;
        for entry in &found {
            print(context, entry, args.format)?;
            query.after = entry.id;
        }
        if found.len() == PAGE {
            continue;
        }
        if !args.follow {
            if query.after == begun_after && !args.format.json {
                writeln!(context.out, "No entry matches; `wheelhouse events` prints all entries")?;
            }
            return Ok(());
        }
        context.out.flush()?;
        wait_for_news(&mut news, &context.paths);
    }
}

/// Says what of the journal is no longer there, if that was asked for.
fn note_cut_off(
    context: &mut Context,
    journal: &Journal,
    query: &Query,
    format: Format,
) -> anyhow::Result<()> {
    let base = journal.base()?.filter(|base| query.after < base.entry && !format.json);
    let base = base.filter(|base| query.since.is_none_or(|since| since < base.at));
    if let Some(base) = base {
        writeln!(context.out, "{}", cut_off(&base))?;
    }
    Ok(())
}

/// Waits until the hub says that something has changed; where none runs, for a while.
fn wait_for_news(news: &mut Option<Connection>, paths: &Paths) {
    if let Some(connection) = news {
        match connection.receive() {
            Err(error) if !error.is_timeout() => *news = None,
            _ => return,
        }
    }
    thread::sleep(PAUSE);
    *news = subscribe(paths);
}

fn subscribe(paths: &Paths) -> Option<Connection> {
    let mut connection = client::connect_running(paths).ok()?;
    connection.set_patience(PAUSE).ok()?;
    connection.send(Request::Subscribe).ok()?;
    Some(connection)
}

fn print(context: &mut Context, recorded: &Recorded, format: Format) -> anyhow::Result<()> {
    let Recorded { id, ticket, at, entry } = recorded;
    if format.json {
        let line = serde_json::to_string(&FeedLine::new(*id, ticket.0, *at, entry))?;
        writeln!(context.out, "{}", plain_json(&line))?;
        return Ok(());
    }
    let at = at.to_rfc3339();
    let at = at.get(..19).unwrap_or(&at).replace('T', " ");
    let agent = entry.agent.as_ref().map_or("-", AgentName::as_str);
    let (kind, text) = (plain(&entry.kind), plain(&entry.text));
    let line = format!("{id:>6}  {at}  {agent:<12}  {kind:<20}  {text}");
    writeln!(context.out, "{}", line.trim_end())?;
    Ok(())
}
