//! `wheelhouse reviver|reaper|keeper|watchdog|confine|far`: the processes behind agents. Nobody types them.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::keeper::{self, KeeperArgs};
use crate::model::{AgentName, RunId, SessionName};
use crate::runner;

/// The words were not those that a hub uses.
const EXIT_USAGE: u8 = 64;

/// Becomes one of an agent's processes if the words ask for it.
pub(super) fn main(words: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let words: Vec<String> = words.skip(1).map_while(|word| word.into_string().ok()).collect();
    let (verb, rest) = words.split_first()?;
    let become_it = match verb.as_str() {
        "reviver" => keeper::revive,
        "reaper" => keeper::reap_leftovers,
        "keeper" => keeper::keep,
        "watchdog" => return Some(keeper::watchdog()),
        "confine" => return Some(keeper::confine(rest)),
        "far" => return Some(runner::far(rest)),
        _ => return None,
    };
    Some(arguments(rest).map_or(ExitCode::from(EXIT_USAGE), |arguments| become_it(&arguments)))
}

fn arguments(words: &[String]) -> Option<KeeperArgs> {
    let [session_flag, session, agent_flag, agent, run_flag, run] = words else { return None };
    let is_right = session_flag == "--session" && agent_flag == "--agent" && run_flag == "--run";
    let agent: AgentName = agent.parse().ok()?;
    let run = RunId(run.parse().ok()?);
    is_right.then(|| KeeperArgs { session: SessionName(session.clone()), agent, run })
}
