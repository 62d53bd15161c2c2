//! `wheelhouse report …`: what an agent has to say, without the screen.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::args::{Outcome, ReportVerb, Saying};
use super::dispatch::EXIT_REFUSED;
use super::failure::Hinted;
use crate::api::{Request, Response};
use crate::client::{ClientError, Identity, random_id};
use crate::config::{plain, plain_json};
use crate::protocol::{ReportKind, Status, ends_contract};

/// How long a hub that is just coming back is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// A contract that is longer is no contract, but a file.
const BODY_BYTES_MAX: u64 = 64 * 1024;

pub(super) fn report(verb: ReportVerb, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let Some(identity) = Identity::of_this_process() else {
        return Err(Hinted::error(
            "Only agents can report: WHEELHOUSE_TOKEN or WHEELHOUSE_SOCKET is not set",
            "`wheelhouse up` starts agents with a token; `wheelhouse status` shows their reports",
        ));
    };
    let schema =
        if let ReportVerb::Artifact { schema, .. } = &verb { schema.clone() } else { None };
    let (kind, text, Saying { tag, format }) = said(verb)?;
    let request = Request::Report { call: random_id()?, kind, text, schema, tag };
    let Response::Report(reception) = identity.ask(request, PATIENCE)? else {
        return Err(ClientError::Unexpected.into());
    };
    let (outcome, words) = match (reception.is_new, reception.is_refused) {
        (_, true) => ("refused", "refused"),
        (true, false) => ("accepted", "accepted"),
        (false, false) => ("known", "already known"),
    };
    if format.json {
        let told = json!({
            "outcome": outcome,
            "agent": reception.agent,
            "report": reception.report,
            "reports": reception.reports,
            "what": reception.note,
        });
        writeln!(out, "{}", plain_json(&told.to_string()))?;
    } else {
        let line = reception.report.lines().next().unwrap_or_default().to_owned();
        writeln!(out, "{words}: {}", plain(&line))?;
        if let Some(note) = &reception.note {
            writeln!(out, "{}", plain(note))?;
        }
    }
    Ok(if reception.is_refused { ExitCode::from(EXIT_REFUSED) } else { ExitCode::SUCCESS })
}

/// Returns what was said, in the words of the protocol.
fn said(verb: ReportVerb) -> anyhow::Result<(ReportKind, String, Saying)> {
    let with = |text: String, dash: &str, more: Option<String>| match more {
        Some(more) if !more.trim().is_empty() => format!("{text}{dash}{more}"),
        _ => text,
    };
    Ok(match verb {
        ReportVerb::Done { text, evidence, saying } => {
            (ReportKind::Status(Status::Done), with(text, " + ", evidence), saying)
        }
        ReportVerb::Blocked { text, saying } => (ReportKind::Status(Status::Blocked), text, saying),
        ReportVerb::Error { text, saying } => (ReportKind::Status(Status::Error), text, saying),
        ReportVerb::Progress { step, text, saying } => {
            (progress(&step)?, text.unwrap_or_default(), saying)
        }
        ReportVerb::Build { outcome, text, saying } => {
            let passed = outcome == Outcome::Pass;
            (ReportKind::Build { passed }, text.unwrap_or_default(), saying)
        }
        ReportVerb::Need { thing, from, text, saying } => {
            let from = from.map(|agent| format!("from {agent}"));
            (ReportKind::Need, with(with(thing, " ", from), " — ", text), saying)
        }
        ReportVerb::Contract { title, body, saying } => {
            let body = body.map_or_else(read_body, Ok)?;
            (ReportKind::Contract, contract(&title, &body), saying)
        }
        ReportVerb::Artifact { path, kind, saying, .. } => {
            (ReportKind::Artifact, with(path, " — ", Some(kind)), saying)
        }
    })
}

fn progress(step: &str) -> anyhow::Result<ReportKind> {
    let numbers = step.trim_matches(['[', ']']).split_once('/');
    let number = |text: &str| text.trim().parse::<u32>().ok();
    numbers
        .and_then(|(step, steps)| Some((number(step)?, number(steps)?)))
        .filter(|(step, steps)| step <= steps && *steps > 0)
        .map(|(step, steps)| ReportKind::Progress { step, steps })
        .ok_or_else(|| {
            let message = format!("`{}` is not a step", plain(step));
            Hinted::error(message, "Write it as `3/7`")
        })
}

fn contract(title: &str, body: &str) -> String {
    let mut text = title.to_owned();
    for line in body.lines().take_while(|line| !ends_contract(line)) {
        let _ = write!(text, "\n{line}");
    }
    text
}

/// Reads the body of a contract, unless a person would have to type it.
fn read_body() -> io::Result<String> {
    let mut body = String::new();
    if !io::stdin().is_terminal() {
        io::stdin().take(BODY_BYTES_MAX).read_to_string(&mut body)?;
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saying() -> Saying {
        Saying { tag: None, format: crate::cli::args::Format { json: false } }
    }

    #[test]
    fn what_is_typed_becomes_the_words_of_the_protocol() {
        let text = |verb| said(verb).unwrap().1;
        let done = |evidence: Option<&str>| ReportVerb::Done {
            text: "built".into(),
            evidence: evidence.map(str::to_owned),
            saying: saying(),
        };
        assert_eq!(text(done(Some("12 tests"))), "built + 12 tests");
        assert_eq!(text(done(None)), "built");
        let (thing, from) = ("src/a.rs".to_owned(), Some("db".to_owned()));
        let need = ReportVerb::Need { thing, from, text: Some("types".into()), saying: saying() };
        assert_eq!(text(need), "src/a.rs from db — types");
        assert_eq!(contract("users v1", "GET /users\nEND CONTRACT\nmore"), "users v1\nGET /users");
    }

    #[test]
    fn a_step_is_one_number_of_another() {
        assert_eq!(progress("[3/7]").unwrap(), ReportKind::Progress { step: 3, steps: 7 });
        for wrong in ["", "3", "3/", "a/b", "-1/2", "3/99999999999"] {
            assert!(progress(wrong).is_err(), "{wrong}");
        }
    }
}
