//! Whether the hub is well, and what it says of its agents.

use std::fs;
use std::path::Path;

use super::finding::Finding;
use crate::api::{AgentStatus, Request, Response, Status};
use crate::cli::failure;
use crate::client::{self, ClientError};
use crate::config::{Paths, secure_dir};
use crate::keeper;
use crate::model::AgentState;
use crate::store::{Journal, StoreError};

/// What to type when somebody waits for a person.
const WAITING: &str = "See what waits for you with `wheelhouse attention`";

pub(super) fn examine(paths: &Paths) -> Vec<Finding> {
    let mut findings = directories(paths);
    findings.extend(unreadable_records(paths));
    findings.push(casts(paths));
    findings.push(record(paths));
    match status(paths) {
        Ok(status) => {
            let (pid, version) = (status.hub.pid, &status.hub.version);
            findings.push(Finding::ok("hub", format!("runs as {pid}, version {version}")));
            findings.extend(status.hub.settings_fault.as_deref().map(settings_of_before));
            findings.extend(status.hub.trouble.as_deref().map(trouble));
            findings.extend(status.agents.iter().filter_map(agent));
            findings.extend(status.agents.iter().filter_map(doubt));
        }
        Err(error) => findings.push(absent(&error, paths)),
    }
    findings
}

fn status(paths: &Paths) -> Result<Status, ClientError> {
    let response = client::connect_running(paths)?.ask(Request::Status)?;
    let Response::Status(status) = response else { return Err(ClientError::Unexpected) };
    Ok(status)
}

fn settings_of_before(fault: &str) -> Finding {
    let message = format!("it goes on with the settings of before\n{fault}");
    Finding::warning(
        "hub",
        message,
        "Correct them; then `wheelhouse config reload` says what changed",
    )
}

fn absent(error: &ClientError, paths: &Paths) -> Finding {
    let is_held = keeper::is_held(&paths.hub_lock());
    let is_absent = matches!(error, ClientError::NotRunning { .. });
    match (is_absent, is_held) {
        (true, false) => Finding::ok("hub", "none runs; the next command that needs one starts it"),
        (true, true) => Finding::problem(
            "hub",
            "its process lives but does not listen",
            format!(
                "Its number is in {}; end it, and the next command starts another",
                paths.hub_lock().display()
            ),
        ),
        (false, _) => Finding::problem("hub", error.to_string(), error.hint().unwrap_or_default()),
    }
}

fn directories(paths: &Paths) -> Vec<Finding> {
    let unsafe_ones = [&paths.state_dir, &paths.runtime_dir]
        .into_iter()
        .filter(|directory| directory.exists())
        .filter_map(|directory| secure_dir(directory).err());
    let hint = "Make it a directory of your own that nobody else can write to";
    unsafe_ones.map(|error| Finding::problem("directory", error.to_string(), hint)).collect()
}

fn unreadable_records(paths: &Paths) -> Option<Finding> {
    let entries = fs::read_dir(&paths.state_dir).into_iter().flatten().flatten();
    let kept: Vec<_> = entries
        .filter(|entry| entry.file_name().to_string_lossy().contains(".unreadable-"))
        .map(|entry| entry.path().display().to_string())
        .collect();
    let first = kept.first()?;
    Some(Finding::warning(
        "record",
        format!("a record could not be read and was kept as {first}"),
        "Look into it, then delete it; agents that lived were taken up all the same",
    ))
}

/// Tells how much room the recordings take.
fn casts(paths: &Paths) -> Finding {
    let entries = fs::read_dir(paths.casts()).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len());
    let (count, bytes) = sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
    let kibibytes = bytes.div_ceil(1024);
    Finding::ok("casts", format!("{count} recordings take {kibibytes} KiB"))
}

/// Looks at the whole record: it must be what its own journal says.
fn record(paths: &Paths) -> Finding {
    let path = paths.record();
    let look = || {
        let journal = Journal::open(&path)?;
        journal.verify()?;
        Ok((journal.last()?, journal.base()?))
    };
    match look() {
        Ok((last, base)) => {
            let cut = base.map(|base| format!(", cut off before {}", base.at.to_rfc3339()));
            let (count, size) = (last.0, size(&path));
            let cut = cut.unwrap_or_default();
            Finding::ok("record", format!("whole, {count} decisions, {size}{cut}"))
        }
        Err(StoreError::Absent(_)) => Finding::ok("record", "none yet; `wheelhouse up` begins one"),
        Err(error) => {
            let words = failure::words(&anyhow::Error::new(error));
            let (message, hint) = words.split_once("\nhint: ").unwrap_or((&words, ""));
            Finding::problem("record", message, hint)
        }
    }
}

/// Returns how much room the record takes, with what has not been folded into it yet.
fn size(path: &Path) -> String {
    let log = path.with_extension("db-wal");
    let bytes = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
    format!("{} KiB", (bytes(path) + bytes(&log)).div_ceil(1024))
}

fn trouble(trouble: &str) -> Finding {
    let hint = "Make room on the disk, and see that it can be written; it heals by itself. \
                Meanwhile agents go on and can be stopped";
    Finding::problem("hub", trouble, hint)
}

/// Tells of an agent that somebody has to look after; what one that is well has to say is no finding.
fn agent(agent: &AgentStatus) -> Option<Finding> {
    let (name, note) = (&agent.name, agent.note.as_ref()?);
    let hint = match agent.state {
        AgentState::Exited => format!(
            "See its last words with `wheelhouse agent read {name}`, start it with `wheelhouse agent start {name}`"
        ),
        _ if agent.unreachable.is_some() => {
            "It is tried again by itself; `wheelhouse runner list` shows what to check".to_owned()
        }
        AgentState::Waiting | AgentState::Blocked | AgentState::Error | AgentState::Limited => {
            WAITING.to_owned()
        }
        _ if agent.stuck || agent.conflict => WAITING.to_owned(),
        AgentState::Starting
        | AgentState::Idle
        | AgentState::Working
        | AgentState::Done
        | AgentState::Unknown => return None,
    };
    Some(Finding::warning("agent", format!("{name} ({}): {note}", agent.state), hint))
}

/// Tells of an agent whose screen was misread more often than by chance.
fn doubt(agent: &AgentStatus) -> Option<Finding> {
    let (name, doubt) = (&agent.name, agent.doubt.as_ref()?);
    let hint = format!("`wheelhouse agent record {name}` makes the recording that shows it");
    Some(Finding::warning("rules", format!("{name}: {doubt}"), hint))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hint(state: &str, is_stuck: bool) -> Option<String> {
        let status = json!({
            "name": "one", "cli": "sim", "role": "worker", "team": "crew", "state": state,
            "source": "line", "stuck": is_stuck, "since": "", "run": 1, "title": "",
            "note": "STATUS: DONE — 3 tests pass",
        });
        agent(&serde_json::from_value(status).unwrap()).and_then(|finding| finding.hint)
    }

    #[test]
    fn only_who_needs_somebody_is_a_finding() {
        for state in ["starting", "idle", "working", "done", "unknown"] {
            assert_eq!(hint(state, false), None, "{state}");
            assert!(hint(state, true).unwrap().contains("attention"), "{state}");
        }
        assert!(hint("blocked", false).unwrap().contains("attention"));
        assert!(hint("exited", false).unwrap().contains("agent start one"));
    }
}
