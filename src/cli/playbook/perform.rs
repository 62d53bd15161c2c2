//! `wheelhouse run`: begins a run, takes one up again, ends one, lists them.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use super::super::args::{Format, RunArgs, StandIn};
use super::super::context::{Context, caller_environment};
use super::super::failure::{self, Hinted};
use super::super::table::Table;
use super::super::{attach, playbook};
use super::dry_run::check_script;
use super::follow::{Follow, follow};
use crate::api::{Request, Response, RunRequest, RunStatus};
use crate::client::{Call, ClientError, random_id};
use crate::config::{
    ConfigError, Hash, LoadedPlaybook, Settings, built_in_playbooks, load_playbook, plain,
    preview_playbook,
};
use crate::model::{AgentName, PlayId, PlayOrder, RequestKey};
use crate::playbook::scripts;
use crate::store::{Journal, Query};
use crate::tui::{PlaybookOffer, RunWish};

/// What was typed cannot be run.
const EXIT_USAGE: u8 = 2;

/// A hub that dies while it is asked to begin is asked again; one that dies each time is broken.
const ASKED_MAX: u32 = 5;

pub(in super::super) fn run(context: &mut Context, args: RunArgs) -> anyhow::Result<ExitCode> {
    if args.list {
        list(context, args.format)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(run) = args.cancel {
        ask(context, None, RunRequest::Cancel { run: run.clone() })?;
        writeln!(context.out, "Cancelled run {run}; its agents keep running")?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(asked) = &args.playbook else { return take_up(context, &args) };
    let vars = args.vars.clone().by_name();
    if args.dry_run {
        let told = playbook::dry_run(context, asked, &vars, args.with, args.format);
        return refused(told.map(|()| ExitCode::SUCCESS));
    }
    let order = match order(context, asked, &vars, args.with, args.key.as_ref()) {
        Err(error) => return refused(Err(error)),
        Ok(order) => order,
    };
    refuse_blind(&args)?;
    let after = last_entry(context);
    let (order, environment) = (Box::new(order), caller_environment());
    let id = ask(context, args.key.clone(), RunRequest::Begin { order, environment })?;
    go_on(context, id, after, &args)
}

/// Tells of a playbook that cannot be run, for which there is an exit code of its own.
fn refused(result: anyhow::Result<ExitCode>) -> anyhow::Result<ExitCode> {
    match result {
        Err(error) if error.downcast_ref::<ConfigError>().is_some() => {
            failure::report(&error);
            Ok(ExitCode::from(EXIT_USAGE))
        }
        result => result,
    }
}

/// Returns the playbooks that a dashboard offers.
pub(in super::super) fn offers(settings: &Settings) -> Vec<PlaybookOffer> {
    let offer = |name: &'static str| {
        let playbook = preview_playbook(name, settings)?;
        let vars = playbook.vars.iter().map(|(name, variable)| {
            (name.clone(), variable.what.clone(), variable.default.clone())
        });
        Some(PlaybookOffer {
            name: playbook.name.clone(),
            purpose: playbook.purpose.clone(),
            pattern: playbook.pattern,
            agents: playbook.agents.iter().map(|agent| agent.name.to_string()).collect(),
            waves: playbook.waves(),
            vars: vars.collect(),
        })
    };
    built_in_playbooks().filter_map(offer).collect()
}

/// Begins the run that a person chose in the dashboard, and opens the dashboard on it.
pub(in super::super) fn grant(context: &mut Context, wish: &RunWish) -> anyhow::Result<()> {
    let stand_in = wish.is_rehearsal.then_some(StandIn::Sim);
    let order = Box::new(order(context, &wish.playbook, &wish.vars, stand_in, None)?);
    ask(context, None, RunRequest::Begin { order, environment: caller_environment() })?;
    attach::attach(context, false)
}

/// Goes on with a run that was interrupted.
fn take_up(context: &mut Context, args: &RunArgs) -> anyhow::Result<ExitCode> {
    let run = args.resume.clone().unwrap_or_default();
    refuse_blind(args)?;
    if let Some(over) = runs(context)?.into_iter().find(|one| one.id == run && one.state.is_over())
    {
        let id = over.id.parse()?;
        let mut follow = Follow::new(over, args);
        return follow.end(context, id);
    }
    let after = last_entry(context);
    let id = ask(context, None, RunRequest::Resume { run, environment: caller_environment() })?;
    go_on(context, id, after, args)
}

fn refuse_blind(args: &RunArgs) -> anyhow::Result<()> {
    if args.headless || attach::is_terminal() {
        return Ok(());
    }
    let hint = "Without one, use `wheelhouse run … --headless`, with `--json` for scripts";
    Err(Hinted::error("The dashboard needs a terminal", hint))
}

fn go_on(
    context: &mut Context,
    id: PlayId,
    after: u64,
    args: &RunArgs,
) -> anyhow::Result<ExitCode> {
    if !args.headless {
        attach::attach(context, false)?;
        return Ok(ExitCode::SUCCESS);
    }
    let found = runs(context)?.into_iter().find(|run| run.id == id.to_string());
    let Some(status) = found else { return Err(ClientError::Unexpected.into()) };
    follow(context, Follow::new(status, args), after, args.timeout.map(Duration::from_secs))
}

/// Asks the hub about a run; again, if it died over it: what was asked twice is done once.
pub(super) fn ask(
    context: &Context,
    key: Option<RequestKey>,
    ask: RunRequest,
) -> anyhow::Result<PlayId> {
    let call = Call::under(key, Request::Run { ask });
    for _ in 1..ASKED_MAX {
        match context.call(&call) {
            Err(ClientError::Closed | ClientError::Lost(_)) => {}
            result => return play_of(&result?),
        }
    }
    play_of(&context.call(&call)?)
}

fn play_of(response: &Response) -> anyhow::Result<PlayId> {
    let Response::Done(done) = response else { return Err(ClientError::Unexpected.into()) };
    Ok(done.play.ok_or(ClientError::Unexpected)?)
}

pub(super) fn runs(context: &Context) -> anyhow::Result<Vec<RunStatus>> {
    let Response::Runs { runs } = context.ask(Request::Run { ask: RunRequest::List })? else {
        return Err(ClientError::Unexpected.into());
    };
    Ok(runs)
}

/// Returns the number of the last thing that happened; what comes is told from there on.
fn last_entry(context: &Context) -> u64 {
    let query = Query { limit: 1, newest: true, ..Query::default() };
    let journal = Journal::open(&context.paths.record()).ok();
    let last = journal.and_then(|journal| journal.entries(&query).ok());
    last.and_then(|last| last.last().map(|entry| entry.id)).unwrap_or_default()
}

fn order(
    context: &Context,
    asked: &str,
    vars: &BTreeMap<String, String>,
    with: Option<StandIn>,
    key: Option<&RequestKey>,
) -> anyhow::Result<PlayOrder> {
    let settings = Settings::load(&context.paths)?.settings;
    let directory = std::env::current_dir()?;
    let loaded = load_playbook(asked, &directory, vars, &settings, with.is_some())?;
    let LoadedPlaybook { playbook, vars, script, hash } = loaded;
    let scripts: BTreeMap<AgentName, String> = match with {
        Some(StandIn::Sim) => {
            check_script(script.as_deref())?;
            let made = scripts(&playbook);
            let names = playbook.agents.iter().map(|agent| &agent.name);
            let play =
                |name: &AgentName| script.clone().or_else(|| made.get(name.as_str()).cloned());
            names.filter_map(|name| Some((name.clone(), play(name)?))).collect()
        }
        None => BTreeMap::new(),
    };
    // The same call under the same key is the same order.
    let call = match key {
        Some(key) => Hash::of(key.to_string().as_bytes()).to_string(),
        None => random_id()?,
    };
    Ok(playbook.order(call, (hash, vars), scripts, &settings.templates)?)
}

fn list(context: &mut Context, format: Format) -> anyhow::Result<()> {
    let runs = runs(context)?;
    if format.json {
        return context.print_json(&runs);
    }
    if runs.is_empty() {
        writeln!(context.out, "No runs yet. Start one with `wheelhouse run PLAYBOOK`")?;
        return Ok(());
    }
    let mut table = Table::new(["RUN", "STATE", "PLAYBOOK", "PATTERN", "NOTE"]);
    for run in &runs {
        table.push([
            run.id.clone(),
            run.state.to_string(),
            plain(&run.playbook),
            run.pattern.to_string(),
            plain(run.note.as_deref().unwrap_or_default()),
        ]);
    }
    table.print(&mut context.out)?;
    Ok(())
}
