//! Gathers the findings and prints them.

use std::io::Write;
use std::process::ExitCode;

use super::finding::{Finding, Level};
use super::{hub, machine, project};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::config::plain;

pub(crate) fn doctor(context: &mut Context, format: Format) -> anyhow::Result<ExitCode> {
    let mut findings = project::examine(&context.paths);
    findings.extend(hub::examine(&context.paths));
    findings.extend(machine::examine(&context.paths));
    present(context, &findings, format)
}

/// Prints what was found, and says whether anything does not work.
pub(crate) fn present(
    context: &mut Context,
    findings: &[Finding],
    format: Format,
) -> anyhow::Result<ExitCode> {
    let is_sick = findings.iter().any(|finding| finding.level == Level::Problem);
    if format.json {
        context.print_json(&findings)?;
    } else {
        for finding in findings {
            print(context, finding)?;
        }
    }
    Ok(if is_sick { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print(context: &mut Context, finding: &Finding) -> anyhow::Result<()> {
    let sign = match finding.level {
        Level::Ok => "ok     ",
        Level::Warning => "warning",
        Level::Problem => "PROBLEM",
    };
    let mut lines = finding.message.lines().map(plain);
    let first = lines.next().unwrap_or_default();
    writeln!(context.out, "{sign}  {:<10} {first}", finding.check)?;
    for line in lines {
        writeln!(context.out, "{:20} {line}", "")?;
    }
    if let Some(hint) = &finding.hint {
        writeln!(context.out, "{:20} → {}", "", plain(hint))?;
    }
    Ok(())
}
