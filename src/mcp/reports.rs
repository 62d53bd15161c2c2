//! Tools with which an agent says what became of its work.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::door::Door;
use super::failure::Failure;
use super::tools::Outcome;
use crate::api::{Request, Response};
use crate::client::random_id;
use crate::protocol::{ReportKind, Status};

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(rename_all = "lowercase")]
pub(super) enum StatusName {
    Done,
    Blocked,
    Error,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct ReportStatus {
    status: StatusName,
    /// done: what was accomplished. blocked: exactly what is needed. error: what failed, what was
    /// tried, a suggested fix.
    text: String,
    /// With done: what shows it, such as counts, paths, commits, commands and their results.
    #[serde(default)]
    evidence: Option<String>,
    /// The tag from your brief; with one, nothing is counted for another attempt by mistake.
    #[serde(default)]
    tag: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct ReportProgress {
    /// Which step of …
    step: u32,
    /// … how many.
    steps: u32,
    /// What was just completed.
    #[serde(default)]
    text: String,
    /// The tag from your brief; with one, nothing is counted for another attempt by mistake.
    #[serde(default)]
    tag: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct ReportBuild {
    /// Whether all of it passed.
    passed: bool,
    /// The error in a few words.
    #[serde(default)]
    text: String,
    /// The tag from your brief; with one, nothing is counted for another attempt by mistake.
    #[serde(default)]
    tag: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct AskNeed {
    /// A path or thing in another agent's scope.
    thing: String,
    /// Who owns it, if you know.
    #[serde(default)]
    from: Option<String>,
    /// Why you need it.
    #[serde(default)]
    why: Option<String>,
    /// The tag from your brief; with one, nothing is counted for another attempt by mistake.
    #[serde(default)]
    tag: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct PublishContract {
    /// The same title again is a new version.
    title: String,
    /// Its lines; a line `file: PATH` names a file that belongs to it.
    body: String,
    /// The tag from your brief; with one, nothing is counted for another attempt by mistake.
    #[serde(default)]
    tag: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct HandOnArtifact {
    /// Its path, relative to your working directory.
    path: String,
    /// What it is, in a word or two.
    kind: String,
    /// The path of a JSON schema that it must fit.
    #[serde(default)]
    schema: Option<String>,
    /// The tag from your brief; with one, nothing is counted for another attempt by mistake.
    #[serde(default)]
    tag: Option<String>,
}

pub(super) fn report_status(door: &Door, wanted: ReportStatus) -> Outcome {
    let status = match wanted.status {
        StatusName::Done => Status::Done,
        StatusName::Blocked => Status::Blocked,
        StatusName::Error => Status::Error,
    };
    let text = joined(wanted.text, " + ", wanted.evidence);
    say(door, ReportKind::Status(status), text, None, wanted.tag)
}

pub(super) fn report_progress(door: &Door, wanted: ReportProgress) -> Outcome {
    let ReportProgress { step, steps, text, tag } = wanted;
    if step > steps || steps == 0 {
        let message = format!("There is no step {step} of {steps}");
        return Err(Failure::new(message, "Say how many steps there are in all, at least one"));
    }
    say(door, ReportKind::Progress { step, steps }, text, None, tag)
}

pub(super) fn report_build(door: &Door, wanted: ReportBuild) -> Outcome {
    let ReportBuild { passed, text, tag } = wanted;
    say(door, ReportKind::Build { passed }, text, None, tag)
}

pub(super) fn ask_need(door: &Door, wanted: AskNeed) -> Outcome {
    let from = wanted.from.map(|agent| format!("from {agent}"));
    let text = joined(joined(wanted.thing, " ", from), " — ", wanted.why);
    say(door, ReportKind::Need, text, None, wanted.tag)
}

pub(super) fn publish_contract(door: &Door, wanted: PublishContract) -> Outcome {
    let text = format!("{}\n{}", wanted.title, wanted.body);
    say(door, ReportKind::Contract, text, None, wanted.tag)
}

pub(super) fn hand_on_artifact(door: &Door, wanted: HandOnArtifact) -> Outcome {
    let text = joined(wanted.path, " — ", Some(wanted.kind));
    say(door, ReportKind::Artifact, text, wanted.schema, wanted.tag)
}

fn joined(text: String, dash: &str, more: Option<String>) -> String {
    match more {
        Some(more) if !more.trim().is_empty() => format!("{text}{dash}{more}"),
        _ => text,
    }
}

fn say(
    door: &Door,
    kind: ReportKind,
    text: String,
    schema: Option<String>,
    tag: Option<String>,
) -> Outcome {
    let call = random_id().map_err(|error| {
        Failure::new(format!("No id can be made: {error}"), "Call the tool again")
    })?;
    let request = Request::Report { call, kind, text, schema, tag };
    let Response::Report(reception) = door.ask(request)? else {
        return Err(Failure::unexpected());
    };
    let outcome = match (reception.is_new, reception.is_refused) {
        (_, true) => "refused",
        (true, false) => "accepted",
        (false, false) => "known",
    };
    Ok(json!({ "outcome": outcome, "report": reception.report, "note": reception.note }))
}
