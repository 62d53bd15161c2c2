//! `wheelhouse runner push|fetch NAME`: takes commits to a place elsewhere, and brings them back.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};

use anyhow::Context as _;
use serde_json::json;

use super::super::args::Format;
use super::super::context::Context;
use super::super::failure::Hinted;
use super::check::way;
use crate::config::plain;
use crate::git;
use crate::model::Place;
use crate::runner::{Received, Sent, Way, read_line};

/// What a login may print before our own words.
const JUNK_LINES_MAX: usize = 1000;

/// Sends a commit with its history; a clone is made where there is none, and one that is there keeps
/// its files.
pub(in super::super) fn push(
    context: &mut Context,
    name: &str,
    commit: &str,
    directory: Option<&str>,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let way = way_with_files(context, name)?;
    let project = context.paths.project.clone();
    let wanted = format!("{commit}^{{commit}}");
    let found = git::run(&project, &["rev-parse", "--verify", "--end-of-options", &wanted])?;
    let found = String::from_utf8_lossy(&found).trim().to_owned();
    context.paths.make_directories()?;
    let bundle = context.paths.state_dir.join(format!("push-{name}.bundle"));
    // A bundle holds names, and so the commit gets one for a moment.
    let own = format!("refs/wheelhouse/push/{name}");
    git::run(&project, &["update-ref", &own, &found])?;
    let text = bundle.display().to_string();
    let made = git::run(&project, &["bundle", "create", "--quiet", &text, &own]);
    git::run(&project, &["update-ref", "-d", &own])?;
    made?;
    let file = File::open(&bundle);
    fs::remove_file(&bundle)?;
    let output = run(&way.receive(directory), Stdio::from(file?), Stdio::piped())?;
    let received: Received = output
        .stdout
        .split(|byte| *byte == b'\n')
        .find_map(read_line)
        .context("The runner did not report a result")?;
    if format.json {
        context.print_json(&received)?;
    } else {
        let place = plain(&received.directory.to_string_lossy());
        let short = received.commit.get(..12).unwrap_or(&received.commit);
        if received.is_new {
            writeln!(context.out, "Made a clone at {short} in {place}")?;
        } else {
            let words =
                "its files are unchanged; update them there with `git merge refs/wheelhouse/base`";
            writeln!(context.out, "Sent {short} to {place}: {words}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Brings every branch back, each under a name of its own that nothing else uses.
pub(in super::super) fn fetch(
    context: &mut Context,
    name: &str,
    directory: Option<&str>,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let way = way_with_files(context, name)?;
    let project = context.paths.project.clone();
    context.paths.make_directories()?;
    let came = context.paths.state_dir.join(format!("fetch-{name}.came"));
    let bundle = context.paths.state_dir.join(format!("fetch-{name}.bundle"));
    let fetched = run(&way.send(directory), Stdio::null(), Stdio::from(File::create(&came)?))
        .and_then(|_| unpack(&came, &bundle))
        .and_then(|()| {
            Ok(git::run(&project, &["bundle", "unbundle", &bundle.display().to_string()])?)
        });
    for file in [&came, &bundle] {
        if file.exists() {
            fs::remove_file(file)?;
        }
    }
    let listed = String::from_utf8_lossy(&fetched?).into_owned();
    let mut refs = Vec::new();
    for (commit, branch) in listed.lines().filter_map(|line| line.split_once(' ')) {
        let Some(branch) = branch.strip_prefix("refs/heads/") else { continue };
        let own = format!("refs/wheelhouse/remote/{name}/{branch}");
        git::run(&project, &["update-ref", &own, commit])?;
        refs.push((own, commit.to_owned()));
    }
    if format.json {
        let listed = refs.iter().map(|(name, commit)| json!({ "ref": name, "commit": commit }));
        context.print_json(&listed.collect::<Vec<_>>())?;
    } else {
        for (name, commit) in refs {
            writeln!(context.out, "{} {}", plain(&commit), plain(&name))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn way_with_files(context: &Context, name: &str) -> anyhow::Result<Way> {
    let way = way(context, name)?;
    match &way.runner.place {
        Place::Image { .. } => Err(Hinted::error(
            format!("Agents of `{name}` work in the project itself"),
            "Nothing to push or fetch: the project is mounted in their containers",
        )),
        Place::Ssh { .. } | Place::Container { .. } | Place::Pod { .. } => Ok(way),
    }
}

/// Runs a command to its end; an error has its own words.
fn run(argv: &[String], input: Stdio, output: Stdio) -> anyhow::Result<Output> {
    let (program, arguments) = argv.split_first().context("a command has a program")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(input).stdout(output).stderr(Stdio::piped());
    let output = command.spawn().and_then(std::process::Child::wait_with_output);
    let output = output.with_context(|| format!("`{program}` cannot be run"))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Hinted::error(said, "See what is missing with `wheelhouse runner check NAME`"))
}

/// Takes the bundle out of what came.
fn unpack(came: &Path, bundle: &Path) -> anyhow::Result<()> {
    let mut input = BufReader::new(File::open(came)?);
    for _ in 0..JUNK_LINES_MAX {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if let Some(Sent { bytes }) = read_line(&line) {
            let copied = std::io::copy(&mut input.take(bytes), &mut File::create(bundle)?)?;
            anyhow::ensure!(
                copied == bytes,
                "The connection broke after {copied} of {bytes} bytes"
            );
            return Ok(());
        }
    }
    anyhow::bail!("The runner sent data that cannot be read")
}
