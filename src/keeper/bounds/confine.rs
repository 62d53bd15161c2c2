//! `wheelhouse confine`: sets limits for itself, then becomes the agent's command. Hidden.

use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Command, ExitCode};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// What a shell says of a command that cannot be run.
const EXIT_NOT_RUN: u8 = 126;

/// Binds this process as the words say, and then becomes the command after `--`.
pub fn confine(words: &[String]) -> ExitCode {
    let error = match bind(words) {
        Ok([program, arguments @ ..]) => Command::new(program).args(arguments).exec(),
        Ok([]) => io::Error::other("no command"),
        Err(error) => error,
    };
    // It stands in the agent's pane, where a person reads it.
    drop(writeln!(io::stderr(), "wheelhouse: the agent cannot be kept within its bounds: {error}"));
    ExitCode::from(EXIT_NOT_RUN)
}

fn bind(mut words: &[String]) -> io::Result<&[String]> {
    loop {
        match words {
            [end, command @ ..] if end == "--" => return Ok(command),
            [flag, value, rest @ ..] => {
                set(flag, value)?;
                words = rest;
            }
            [] | [_] => return Err(io::Error::other("the words are cut short")),
        }
    }
}

fn set(flag: &str, value: &str) -> io::Result<()> {
    let number = || value.parse::<u64>().map_err(io::Error::other);
    match flag {
        "--join" => fs::write(Path::new(value).join("cgroup.procs"), process::id().to_string()),
        "--data" => lower(Resource::Data, number()?),
        "--processes" => lower(Resource::Nproc, number()?),
        "--processors" => share_processors(usize::try_from(number()?).unwrap_or(usize::MAX)),
        flag => Err(io::Error::other(format!("unknown word {flag}"))),
    }
}

fn lower(resource: Resource, value: u64) -> io::Result<()> {
    let value = getrlimit(resource).maximum.map_or(value, |most| most.min(value));
    Ok(setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })?)
}

/// Keeps to so many of the processors that we may use; others begin with others.
fn share_processors(count: usize) -> io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|one| allowed.is_set(*one)).collect();
    if all.is_empty() || count >= all.len() {
        return Ok(());
    }
    let first = usize::try_from(process::id()).unwrap_or_default() % all.len();
    let mut chosen = CpuSet::new();
    all.iter().cycle().skip(first).take(count).for_each(|one| chosen.set(*one));
    Ok(sched_setaffinity(None, &chosen)?)
}
