//! `wheelhouse runner check NAME`: says whether agents can run there, and what is missing.

use std::process::ExitCode;

use super::super::args::Format;
use super::super::context::Context;
use super::super::doctor::{Finding, present};
use super::super::failure::Hinted;
use crate::config::{Settings, suggest};
use crate::model::{Place, Runner};
use crate::runner::{Address, FAR_PROTOCOL, LookFailed, Sight, Way, look};

/// What a shell, and `ssh` after it, says of a program that is not there.
const EXIT_NO_PROGRAM: i32 = 127;
/// What `ssh` says when it did not get there at all.
const EXIT_NO_SSH: i32 = 255;

pub(in super::super) fn check(
    context: &mut Context,
    name: &str,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let way = way(context, name)?;
    let program = std::env::current_exe()?;
    let findings = match look(&way.look(&program, &context.paths.project)) {
        Ok(sight) => seen(&way.runner, &sight),
        Err(failed) => vec![unseen(&way.runner, &failed)],
    };
    present(context, &findings, format)
}

/// Returns the way to a place, for no agent in particular.
pub(super) fn way(context: &Context, name: &str) -> anyhow::Result<Way> {
    let settings = Settings::load(&context.paths)?.settings;
    let found = settings.runners().find(|runner| runner.name == name).cloned();
    let runner = found.ok_or_else(|| unknown(&settings, name))?;
    let session = context.paths.session.clone();
    let agent = "check".parse().expect("it is a name");
    Ok(Way { runner, address: Address { session, home: "check".to_owned(), agent } })
}

fn unknown(settings: &Settings, name: &str) -> anyhow::Error {
    let known: Vec<&str> = settings.runners().map(|runner| runner.name.as_str()).collect();
    if name == "local" {
        return Hinted::error("`local` is this machine", "Look at it with `wheelhouse doctor`");
    }
    let hint = if known.is_empty() {
        format!(
            "Describe it in `wheelhouse.toml`: `[runner.{name}]` with `kind = \"ssh\"` and `host`"
        )
    } else {
        suggest(name, known)
    };
    Hinted::error(format!("Unknown runner `{name}`"), hint)
}

/// Says what kept us from looking.
fn unseen(runner: &Runner, failed: &LookFailed) -> Finding {
    let (kind, target) = (runner.place.kind(), runner.place.target());
    if let Some(hint) = image_hint(runner, failed) {
        return Finding::problem("image", failed.to_string(), hint);
    }
    match failed {
        LookFailed::NoTool { program } => {
            Finding::problem("tool", failed.to_string(), format!("Install `{program}`"))
        }
        LookFailed::Silent => Finding::problem(
            "reach",
            failed.to_string(),
            format!("Try `{kind}` by hand, for {target}"),
        ),
        LookFailed::Refused { code: Some(EXIT_NO_SSH), said } if kind == "ssh" => {
            let hint = format!("Try `ssh {target} true`: it must work without a password");
            Finding::problem("reach", said.clone(), hint)
        }
        LookFailed::Refused { code: Some(EXIT_NO_PROGRAM | 126), said } => {
            let hint = format!(
                "Copy this binary there and set its path: `program = \"…\"` in `[runner.{}]`",
                runner.name
            );
            Finding::problem("program", said.clone(), hint)
        }
        LookFailed::Refused { said, .. } => {
            let hint = match &runner.place {
                Place::Ssh { .. } => format!("Try `ssh {target} {} --version`", runner.program),
                Place::Container { engine, .. } => format!(
                    "See whether it runs with `{} ps`, and has `{}`",
                    engine.name(),
                    runner.program
                ),
                Place::Image { engine, .. } => format!("Look at it with `{} info`", engine.name()),
                Place::Pod { .. } => format!("Look at it with `kubectl describe pod {target}`"),
            };
            Finding::problem("reach", said.clone(), hint)
        }
    }
}

/// Returns what to do about an image from which no container comes up that answers.
fn image_hint(runner: &Runner, failed: &LookFailed) -> Option<String> {
    let Place::Image { engine, image } = &runner.place else { return None };
    let pull = format!("`{} pull {image}`", engine.name());
    match failed {
        LookFailed::NoTool { .. } => None,
        LookFailed::Silent => Some(format!("Fetch it first, which may take long: {pull}")),
        // Of a program whose loader or library is not there, engines only tell its name.
        LookFailed::Refused { code, said }
            if matches!(code, Some(EXIT_NO_PROGRAM | 126)) || said.contains("/wheelhouse:") =>
        {
            Some(format!(
                "This binary does not run there. Use an image with the C library that it was built \
                 for, or put one that fits into the image: `program = \"…\"` in `[runner.{}]`",
                runner.name
            ))
        }
        LookFailed::Refused { .. } => {
            Some(format!("See whether {pull} works, and the engine with `{} info`", engine.name()))
        }
    }
}

/// Says what the place has, and what it lacks.
fn seen(runner: &Runner, sight: &Sight) -> Vec<Finding> {
    let ours = env!("CARGO_PKG_VERSION");
    let mut findings = vec![Finding::ok("reach", format!("{runner} answers"))];
    let theirs = &sight.version;
    let place = sight.program.display();
    findings.push(if sight.protocol != FAR_PROTOCOL || theirs != ours {
        let message = format!("wheelhouse is {theirs} there ({place}) and {ours} here");
        Finding::problem("program", message, "Copy this binary there, so that the versions match")
    } else {
        Finding::ok("program", format!("{place}, version {theirs}"))
    });
    if let Some(fault) = &sight.state_fault {
        let hint = "Its user needs a writable home directory";
        findings.push(Finding::problem("state", fault.clone(), hint));
    }
    let directory = sight.directory.display();
    findings.push(match &sight.directory_fault {
        None => Finding::ok("directory", format!("{directory} is writable")),
        Some(fault) => Finding::problem(
            "directory",
            format!("{directory}: {fault}"),
            format!(
                "Make it there, or name another with `directory` in `[runner.{}]`",
                runner.name
            ),
        ),
    });
    let no_git = "Install it there, or give agents there `workspace = \"shared\"`";
    findings.push(match &sight.git {
        Some(version) => Finding::ok("git", version.clone()),
        None => Finding::warning("git", "not there", no_git),
    });
    findings.push(if matches!(runner.place, Place::Image { .. }) {
        Finding::ok("limits", "the engine's own, for each container")
    } else if sight.limits.is_exact() {
        Finding::ok("limits", sight.limits.in_words())
    } else {
        let hint = "Limits for the whole tree need a control group that this user may change";
        Finding::warning("limits", sight.limits.in_words(), hint)
    });
    if sight.kills_on_logout {
        findings.push(Finding::problem(
            "login",
            "processes there end with the last login (KillUserProcesses=yes)",
            "Keep them running: `loginctl enable-linger` there",
        ));
    }
    let path = format!("agents find programs in {}", sight.path);
    findings.push(Finding::ok("path", path));
    findings
}
