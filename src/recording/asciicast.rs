//! The format: a line of JSON about the recording, then one for each event.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::model::{Moment, Size, bare};

/// A recording, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast {
    pub size: Size,
    /// When it began, to the second; zero where it does not tell.
    pub started: Moment,
    pub title: String,
    /// In the time since the recording began.
    pub events: Vec<(Moment, CastEvent)>,
    /// What was typed into the terminal, or answered by it, where the recording tells.
    pub typed: Vec<(Moment, String)>,
}

/// What happened in the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CastEvent {
    Output(String),
    Resize(Size),
    /// A remark about this moment.
    Marker(String),
}

/// Says which line of a recording, from 1, cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Line {0} is not asciicast, version 2")]
pub struct BadLine(pub usize);

/// What is shorter may be the answer to a dialog.
const PROMPT_CHARS_MIN: usize = 6;
/// Of a recording that does not tell its size.
const DEFAULT_SIZE: Size = Size { rows: 24, cols: 80 };

impl Cast {
    /// Reads a recording; events that tell nothing about the screen are passed over.
    pub fn read(text: &str) -> Result<Self, BadLine> {
        let mut lines = text.lines().enumerate();
        let head = lines.next().and_then(|(_, line)| read_header(line)).ok_or(BadLine(1))?;
        let length = |key: &str, other: u16| {
            head[key].as_u64().and_then(|length| u16::try_from(length).ok()).unwrap_or(other)
        };
        let size = Size {
            rows: length("height", DEFAULT_SIZE.rows),
            cols: length("width", DEFAULT_SIZE.cols),
        };
        let (mut events, mut typed) = (Vec::new(), Vec::new());
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let (at, code, data) = read_event(line).ok_or(BadLine(number + 1))?;
            let event = match code.as_str() {
                "o" => CastEvent::Output(data),
                "m" => CastEvent::Marker(data),
                "r" => CastEvent::Resize(read_size(&data).ok_or(BadLine(number + 1))?),
                "i" => {
                    typed.push((at, data));
                    continue;
                }
                _ => continue,
            };
            events.push((at, event));
        }
        let title = head["title"].as_str().unwrap_or_default().to_owned();
        Ok(Self { size, started: start_of(&head), title, events, typed })
    }

    /// Returns the prompts that were typed, each at the moment at which Enter followed it.
    pub fn prompts(&self) -> Vec<(Moment, String)> {
        let mut prompts = Vec::new();
        let mut text = String::new();
        for (at, typed) in &self.typed {
            // A paste and the Enter that submits it are two writes, or one.
            let is_submitted = typed.ends_with('\r');
            text.push_str(&bare(typed));
            if is_submitted {
                let prompt = std::mem::take(&mut text).trim().to_owned();
                if prompt.chars().count() >= PROMPT_CHARS_MIN {
                    prompts.push((*at, prompt));
                }
            }
        }
        prompts
    }

    /// Writes the recording.
    pub fn write(&self) -> String {
        let mut text = header_line(self.size, self.started, &self.title);
        for (at, event) in &self.events {
            event_line(at.since(Moment(0)), event, &mut text);
        }
        text
    }
}

/// Returns the first line of a recording that begins in the second of this moment.
pub fn header_line(size: Size, started: Moment, title: &str) -> String {
    let (width, height, timestamp) = (size.cols, size.rows, started.0 / 1000);
    let head = json!({
        "version": 2,
        "width": width,
        "height": height,
        "timestamp": timestamp,
        "title": title,
        "env": { "TERM": "xterm-256color" },
    });
    format!("{head}\n")
}

/// Adds the line of an event that happened so long after the beginning.
pub fn event_line(at: Duration, event: &CastEvent, text: &mut String) {
    let (code, data) = match event {
        CastEvent::Output(output) => ('o', Value::from(output.as_str())),
        CastEvent::Resize(size) => ('r', Value::from(format!("{}x{}", size.cols, size.rows))),
        CastEvent::Marker(label) => ('m', Value::from(label.as_str())),
    };
    let (seconds, millis) = (at.as_secs(), at.subsec_millis());
    // Writing to a string cannot fail.
    let _ = writeln!(text, "[{seconds}.{millis:03},\"{code}\",{data}]");
}

/// Returns when the recording with this first line began.
pub fn started_at(first_line: &str) -> Option<Moment> {
    read_header(first_line).map(|head| start_of(&head))
}

fn read_header(line: &str) -> Option<Value> {
    serde_json::from_str::<Value>(line).ok().filter(|head| head["version"] == 2)
}

fn start_of(head: &Value) -> Moment {
    Moment(head["timestamp"].as_u64().unwrap_or_default().saturating_mul(1000))
}

/// Reads the time, the kind and the data of an event.
fn read_event(line: &str) -> Option<(Moment, String, String)> {
    let (seconds, code, data): (f64, String, String) = serde_json::from_str(line).ok()?;
    Some((Moment(milliseconds(seconds)?), code, data))
}

fn read_size(text: &str) -> Option<Size> {
    let (cols, rows) = text.split_once('x')?;
    Some(Size { cols: cols.parse().ok()?, rows: rows.parse().ok()? })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in range just before"
)]
fn milliseconds(seconds: f64) -> Option<u64> {
    let milliseconds = (seconds * 1000.0).round();
    (0.0..1e15).contains(&milliseconds).then_some(milliseconds as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let cast = Cast {
            size: Size { rows: 30, cols: 120 },
            started: Moment(1_700_000_000_000),
            title: "backend \"x\"".into(),
            events: vec![
                (Moment(0), CastEvent::Output("\x1b[31mö\r\n\u{0}\u{fffd}".into())),
                (Moment(1501), CastEvent::Resize(Size { rows: 5, cols: 40 })),
                (Moment(61_002), CastEvent::Marker("state working".into())),
            ],
            typed: Vec::new(),
        };
        assert_eq!(Cast::read(&cast.write()).unwrap(), cast);
    }

    #[test]
    fn a_bad_line_is_told_and_foreign_events_are_passed_over() {
        let head = header_line(Size { rows: 2, cols: 2 }, Moment(0), "");
        let read = |events: &str| Cast::read(&format!("{head}{events}")).map(|cast| cast.events);
        assert_eq!(read("[0.1,\"i\",\"x\"]\n\n[1,\"x\",\"y\"]\n"), Ok(Vec::new()));
        assert_eq!(read("[0.1,\"o\",\"x\"]\n[0.2,\"o\""), Err(BadLine(3)));
        assert_eq!(read("[0.1,\"r\",\"x\"]\n"), Err(BadLine(2)));
        assert_eq!(Cast::read("{\"version\":3}"), Err(BadLine(1)));
        assert_eq!(started_at(head.lines().next().unwrap()), Some(Moment(0)));
    }

    #[test]
    fn what_was_typed_before_enter_is_a_prompt() {
        let text = "{\"version\": 2}\n[0.1, \"i\", \"\\u001b[?62c\"]\n\
            [1, \"i\", \"\\u001b[200~Build\\nit now\\u001b[201~\"]\n[1.2, \"i\", \"\\r\"]\n\
            [2, \"i\", \"1\"]\n[2.1, \"i\", \"\\r\"]\n[3, \"i\", \"Go on, please\\r\"]\n";
        let prompts = Cast::read(text).unwrap().prompts();
        let expected = [(Moment(1200), "Build\nit now"), (Moment(3000), "Go on, please")];
        assert_eq!(prompts, expected.map(|(at, prompt)| (at, prompt.to_owned())));
    }
}
