//! Runs the detector over a recording, and prints what it finds in the recording's time.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::context::Context;
use super::read_cast::read_cast;
use super::show::rules_of;
use crate::config::{plain, plain_json};
use crate::detect::{Detector, Finding, Options, Rules};
use crate::model::Moment;
use crate::recording::{Cast, CastEvent};
use crate::screen::{HistoryLimit, Screen, Signal};

/// What the last screen of a recording means is settled by then.
const AFTERMATH: Duration = Duration::from_secs(3);

/// Prints each change of state and each report.
pub(in super::super) fn test(
    context: &mut Context,
    file: &Path,
    cli: &str,
    screen_only: bool,
    json: bool,
) -> anyhow::Result<()> {
    let rules = rules_of(context, cli)?;
    let cast = read_cast(file)?;
    for (at, finding) in replay(&cast, rules, !screen_only) {
        let seconds = Duration::from_millis(at.0).as_secs_f64();
        match (json, as_json(seconds, &finding)) {
            (true, Some(object)) => {
                writeln!(context.out, "{}", plain_json(&object.to_string()))?;
            }
            (true, None) => {}
            (false, _) => writeln!(context.out, "{seconds:9.3}  {}", plain(&in_words(&finding)))?,
        }
    }
    Ok(())
}

/// Returns what the detector finds, and when.
pub(super) fn replay(cast: &Cast, rules: Arc<Rules>, uses_signals: bool) -> Vec<(Moment, Finding)> {
    let mut screen = Screen::new(cast.size, HistoryLimit::default());
    let mut detector = Detector::new(rules, Options { uses_signals }, Moment(0));
    let mut findings = Vec::new();
    let note = |at: Moment, found: Vec<Finding>, findings: &mut Vec<(Moment, Finding)>| {
        findings.extend(found.into_iter().map(|finding| (at, finding)));
    };
    let mut prompts = cast.prompts().into_iter().peekable();
    for (at, event) in &cast.events {
        while let Some((typed, prompt)) = prompts.next_if(|(typed, _)| typed <= at) {
            // What was due before it was typed says nothing of what becomes of it.
            catch_up(&mut detector, &screen, typed, &mut findings);
            detector.prompt_submitted(&prompt, None, *at);
        }
        catch_up(&mut detector, &screen, *at, &mut findings);
        let signals: Vec<Signal> = match event {
            CastEvent::Output(text) => screen.feed(text.as_bytes(), *at).signals,
            CastEvent::Resize(size) => {
                screen.resize(*size);
                Vec::new()
            }
            CastEvent::Marker(_) => continue,
        };
        note(*at, detector.observe(&screen, &signals, *at), &mut findings);
    }
    catch_up(&mut detector, &screen, end_of(cast), &mut findings);
    findings
}

/// Returns when all that a recording shows is settled.
pub(super) fn end_of(cast: &Cast) -> Moment {
    cast.events.last().map_or(Moment(0), |(at, _)| *at) + AFTERMATH
}

/// Lets the detector work at its deadlines up to a moment.
fn catch_up(
    detector: &mut Detector,
    screen: &Screen,
    until: Moment,
    findings: &mut Vec<(Moment, Finding)>,
) {
    let mut last = Moment(0);
    while let Some(at) = detector.next_deadline().filter(|at| *at <= until) {
        // A deadline that has passed is met now; time never runs backwards.
        let at = at.max(last + Duration::from_millis(1));
        last = at;
        let found = detector.observe(screen, &[], at);
        findings.extend(found.into_iter().map(|finding| (at, finding)));
    }
}

fn as_json(seconds: f64, finding: &Finding) -> Option<Value> {
    match finding {
        Finding::State(shown) => Some(json!({
            "t": seconds,
            "type": "state",
            "state": shown.state,
            "source": shown.source,
            "rule": shown.rule,
            "line": shown.line,
        })),
        Finding::Report(report) => Some(json!({
            "t": seconds,
            "type": "report",
            "kind": report.kind.name(),
            "value": report.kind.value(),
            "text": report.text,
            "tag": report.tag,
        })),
        Finding::Amended(report) => Some(json!({
            "t": seconds,
            "type": "amended",
            "kind": report.kind.name(),
            "value": report.kind.value(),
            "text": report.text,
            "tag": report.tag,
        })),
        Finding::TurnEnded | Finding::Compacted | Finding::Foreign(_) => None,
    }
}

fn in_words(finding: &Finding) -> String {
    match finding {
        Finding::State(shown) => format!("{:8}  {}  {}", shown.state, shown.rule, shown.line),
        Finding::Report(report) => format!("report    {}", report.raw),
        Finding::Amended(report) => format!("amended   {}", report.raw),
        Finding::TurnEnded => "turn ended".to_owned(),
        Finding::Compacted => "compacted".to_owned(),
        Finding::Foreign(report) => format!("foreign   {}", report.raw),
    }
}
