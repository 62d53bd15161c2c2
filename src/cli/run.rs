//! From what was typed to what is done.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use super::args::{AgentVerb, Arguments, ConfigVerb, RulesVerb, RunnerVerb, TemplateVerb, Verb};
use super::context::Context;
use super::output::{Output, is_reader_gone};
use super::task::TaskVerb;
use super::{
    agent, all, api, attach, attention, completions, config, contract, demo, dispatch, doctor,
    down, events, failure, history, hook, hub, keeper, lock, man, mcp, overview, playbook, replay,
    report, rules, runner, sim, skill, status, task, template, up, wait, whoami, workspace,
};

/// Something went wrong; standard error says what.
const EXIT_FAILURE: u8 = 1;

/// Runs the program.
pub fn main() -> ExitCode {
    // A keeper is as small as can be: it does not load what it takes to read a command line.
    if let Some(code) = keeper::main(std::env::args_os()) {
        return code;
    }
    let arguments = Arguments::parse();
    let (code, failed) = match obey(arguments) {
        // What is still held back comes out now: at the end of the process nobody would hear that it cannot.
        Ok(code) => (code, Output::standard().flush().err().map(anyhow::Error::from)),
        Err(error) if is_reader_gone(&error) => (ExitCode::SUCCESS, None),
        Err(error) => (ExitCode::from(EXIT_FAILURE), Some(error)),
    };
    match failed {
        Some(error) if !is_reader_gone(&error) => {
            failure::report(&error);
            ExitCode::from(EXIT_FAILURE)
        }
        _ => code,
    }
}

/// Does what needs no project, and hands on what does.
fn obey(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Some(Verb::Completions { shell }) => completions::print(shell, &mut Output::standard())?,
        Some(Verb::Api(verb)) => api::api(&verb, &mut Output::standard())?,
        Some(Verb::Man { to }) => man::man(to.as_deref(), &mut Output::standard())?,
        Some(Verb::Sim { script }) => return sim::sim(script.as_deref()),
        Some(Verb::Demo { headless }) => demo::demo(headless, &mut Output::for_a_reader())?,
        Some(Verb::Report(verb)) => return report::report(verb, &mut Output::standard()),
        Some(Verb::Skill { role, format }) => skill::skill(role, format, &mut Output::standard())?,
        Some(Verb::Hook { cli: _, said }) => return Ok(hook::hook(said.as_deref())),
        verb => return obey_in_project(arguments.project.as_deref(), verb),
    }
    Ok(ExitCode::SUCCESS)
}

fn obey_in_project(project: Option<&Path>, verb: Option<Verb>) -> anyhow::Result<ExitCode> {
    let mut context = Context::find(project)?;
    match verb {
        None if attach::is_terminal() => attach::attach(&mut context, false)?,
        None => overview::show(&mut context)?,
        Some(Verb::Up { team, attach: false, format, .. }) => up::up(&mut context, team, format)?,
        Some(Verb::Up { team, quiet, .. }) => {
            up::start(&context, team)?;
            attach::attach(&mut context, quiet)?;
        }
        Some(Verb::Attach) => attach::attach(&mut context, false)?,
        Some(Verb::Down { force, format }) => down::down(&mut context, force, format)?,
        Some(Verb::Events(args)) => events::events(&mut context, &args)?,
        Some(Verb::History(args)) => history::history(&mut context, &args)?,
        Some(Verb::Replay(args)) => replay::replay(&mut context, &args)?,
        Some(Verb::Status { format }) => status::status(&mut context, format)?,
        Some(Verb::All { format }) => all::all(&mut context, format)?,
        Some(Verb::Dispatch { agent, sending, format }) => {
            return dispatch::dispatch(&mut context, vec![agent], sending, format);
        }
        Some(Verb::Broadcast { sending, to, format }) => {
            return dispatch::dispatch(&mut context, to, sending, format);
        }
        Some(Verb::Withdraw { receipt, format }) => {
            dispatch::withdraw(&mut context, receipt, format)?;
        }
        Some(Verb::Wait { agent, task, receipt, states, timeout, format }) => {
            let what = wait::What { agent, task, receipt };
            return wait::wait(&mut context, what, &states, timeout, format);
        }
        Some(Verb::Agent(AgentVerb::Answer { name, choosing, format })) => {
            return agent::answer(&mut context, name, choosing, format);
        }
        Some(Verb::Agent(AgentVerb::Interrupt { name, format })) => {
            return agent::interrupt(&mut context, name, format);
        }
        Some(Verb::Task(verb)) => return task_verb(&mut context, verb),
        Some(Verb::Attention { read, resolve, format }) => {
            attention::attention(&mut context, read, resolve, format)?;
        }
        Some(Verb::Agent(verb)) => agent_verb(&mut context, verb)?,
        Some(Verb::Doctor { format }) => return doctor::doctor(&mut context, format),
        Some(Verb::Config(verb)) => return config_verb(&mut context, verb),
        Some(Verb::Rules(verb)) => rules_verb(&mut context, verb)?,
        Some(Verb::Run(args)) => return playbook::run(&mut context, *args),
        Some(Verb::Runner(verb)) => return runner_verb(&mut context, verb),
        Some(Verb::Lock(verb)) => return lock::lock(&mut context, verb),
        Some(Verb::Workspace(verb)) => return workspace::workspace(&mut context, verb),
        Some(Verb::Template(verb)) => template_verb(&mut context, verb)?,
        Some(Verb::Contract(verb)) => contract::contract(&mut context, verb)?,
        Some(Verb::Whoami { format }) => whoami::whoami(&mut context, format)?,
        Some(Verb::Mcp) => mcp::mcp(context)?,
        Some(Verb::Hub { session: _ }) => return hub::hub(context.paths),
        Some(
            Verb::Completions { .. }
            | Verb::Api(_)
            | Verb::Man { .. }
            | Verb::Sim { .. }
            | Verb::Demo { .. }
            | Verb::Report(_)
            | Verb::Skill { .. }
            | Verb::Hook { .. },
        ) => {
            unreachable!("these need no project and are done above")
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn agent_verb(context: &mut Context, verb: AgentVerb) -> anyhow::Result<()> {
    match verb {
        AgentVerb::List { format } => agent::list(context, format),
        AgentVerb::Add(new) => agent::add(context, new),
        AgentVerb::Start { names, format } => agent::start(context, names, format),
        AgentVerb::Stop { names, grace, format } => agent::stop(context, names, grace, format),
        AgentVerb::Restart { names, resume: false, grace, format, .. } => {
            agent::restart(context, names, grace, format)
        }
        AgentVerb::Restart { names, resume: true, brief, grace, format }
        | AgentVerb::Resume { names, brief, grace, format } => {
            agent::resume(context, names, brief, grace, format)
        }
        AgentVerb::Remove { names, abandon, format } => {
            agent::remove(context, names, abandon, format)
        }
        AgentVerb::Read { name, lines, scrollback, format } => {
            agent::read(context, &name, lines, scrollback, format)
        }
        AgentVerb::Keys { name, keys } => agent::keys(context, name, &keys),
        AgentVerb::Explain { name, format } => agent::explain(context, &name, format),
        AgentVerb::Record { name, recording } => agent::record(context, &name, &recording),
        AgentVerb::Diff { name, paths, comparing, format } => {
            agent::diff(context, &name, &paths, &comparing, format)
        }
        AgentVerb::Tree { name, format } => agent::tree(context, name, format),
        AgentVerb::Answer { .. } | AgentVerb::Interrupt { .. } => {
            unreachable!("these have exit codes of their own and are done above")
        }
    }
}

fn task_verb(context: &mut Context, verb: TaskVerb) -> anyhow::Result<ExitCode> {
    match verb {
        TaskVerb::Add(arguments) => task::add(context, *arguments),
        TaskVerb::List { all, format } => task::list(context, all, format),
        TaskVerb::Board { run, format } => task::board(context, run.as_deref(), format),
        TaskVerb::Show { task, format } => task::show(context, task, format),
        TaskVerb::Retry { task, advice, agent, format } => {
            task::retry(context, task, advice, agent, format)
        }
        TaskVerb::Cancel { task, format } => task::cancel(context, task, format),
        TaskVerb::Claim { task, agent, format } => task::claim(context, task, agent, format),
        TaskVerb::Consent { from, to } => task::consent(context, from, to),
        TaskVerb::Allow { agent } => task::allow(context, agent),
        TaskVerb::Meet { need } => task::meet(context, need),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn rules_verb(context: &mut Context, verb: RulesVerb) -> anyhow::Result<()> {
    match verb {
        RulesVerb::Test { file, agent: Some(agent), screen_only, format, suggest: _ } => {
            rules::test(context, &file, &agent, screen_only, format.json)
        }
        RulesVerb::Test { file, agent: None, screen_only, format, suggest: _ } => {
            rules::suggest(context, &file, screen_only, format.json)
        }
        RulesVerb::Show { cli, format } => rules::show(context, &cli, format.json),
    }
}

fn runner_verb(context: &mut Context, verb: RunnerVerb) -> anyhow::Result<ExitCode> {
    match verb {
        RunnerVerb::Check { name, format } => runner::check(context, &name, format),
        RunnerVerb::Push { name, commit, directory, format } => {
            runner::push(context, &name, &commit, directory.as_deref(), format)
        }
        RunnerVerb::Fetch { name, directory, format } => {
            runner::fetch(context, &name, directory.as_deref(), format)
        }
        RunnerVerb::List { format } => runner::list(context, format).map(|()| ExitCode::SUCCESS),
    }
}

fn template_verb(context: &mut Context, verb: TemplateVerb) -> anyhow::Result<()> {
    match verb {
        TemplateVerb::List { format } => template::list(context, format),
        TemplateVerb::Show { name, format } => template::show(context, &name, format),
        TemplateVerb::Render { name, vars, format } => {
            template::render(context, &name, vars.by_name(), format)
        }
    }
}

fn config_verb(context: &mut Context, verb: ConfigVerb) -> anyhow::Result<ExitCode> {
    let (paths, out) = (&context.paths, &mut context.out);
    let is_well = match verb {
        ConfigVerb::Init => config::init(paths, out).map(|()| true)?,
        ConfigVerb::Check { format } => config::check(paths, format.json, out)?,
        ConfigVerb::Show { format } => config::show(paths, format.json, out).map(|()| true)?,
        ConfigVerb::Approval { command, path, agent, cli, format } => {
            let trial = config::Trial { agent, cli, command, path };
            let is_approved = config::approval(paths, trial, format.json, out)?;
            let code = if is_approved { 0 } else { dispatch::EXIT_REFUSED };
            return Ok(ExitCode::from(code));
        }
        ConfigVerb::Reload { format } => config::reload(paths, format.json, out).map(|()| true)?,
        ConfigVerb::Trust { yes, format } => {
            let mut input = io::stdin().lock();
            let terminal = io::stdin().is_terminal().then_some(&mut input as &mut dyn BufRead);
            config::trust(paths, yes, format.json, terminal, out).map(|()| true)?
        }
    };
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}
