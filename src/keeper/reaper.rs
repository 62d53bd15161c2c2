//! Waits for the keeper, then ends what it left behind.

use std::env;
use std::io;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{WaitOptions, wait};

use super::reap::{exit, reap};
use super::{KeeperArgs, KeeperError, process};
use crate::model::Exit;

/// Between two looks at a tree that is being killed; it grows while something cannot be killed.
const LOOK_FIRST: Duration = Duration::from_millis(1);
const LOOK_LAST: Duration = Duration::from_secs(1);

/// Runs the reaper: its standard input and output are the keeper's, which it starts.
pub fn reap_leftovers(args: &KeeperArgs) -> ExitCode {
    match watch(args) {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}

fn watch(args: &KeeperArgs) -> Result<ExitCode, KeeperError> {
    process::adopt_orphans().map_err(KeeperError::Watch)?;
    let failed = |source| KeeperError::Start { verb: "keeper", source };
    let program = env::current_exe().map_err(failed)?;
    let mut command: Command = args.command(&program, "keeper");
    command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let keeper = command.spawn().map_err(failed)?.id();
    let code = match wait_for(keeper).map_err(KeeperError::Watch)? {
        Exit::Code(code) => u8::try_from(code).unwrap_or(super::EXIT_BROKEN),
        Exit::Signal(_) | Exit::Unknown => super::EXIT_BROKEN,
    };
    end_the_rest();
    Ok(ExitCode::from(code))
}

/// Waits without a timer. As long as the keeper lives, it is the only child.
fn wait_for(keeper: u32) -> io::Result<Exit> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if u32::try_from(pid.as_raw_pid()) == Ok(keeper) => {
                return Ok(exit(status));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Kills without end: as long as something lives, the lock that this process shares stays held.
fn end_the_rest() {
    let mut pause = LOOK_FIRST;
    while !reap(None).is_childless {
        process::kill_tree();
        if reap(None).is_childless {
            return;
        }
        thread::sleep(pause);
        pause = (pause * 11 / 10).min(LOOK_LAST);
    }
}
