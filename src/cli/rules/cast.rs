//! Reads a recording of a terminal: asciicast, version 2.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use super::super::failure::Hinted;
use crate::model::{Moment, Size};

/// A recording, in order.
pub(super) struct Cast {
    pub(super) size: Size,
    pub(super) events: Vec<(Moment, CastEvent)>,
}

/// What happened in the terminal.
pub(super) enum CastEvent {
    Output(String),
    Resize(Size),
}

/// Of a recording that does not tell its size.
const DEFAULT_SIZE: Size = Size { rows: 24, cols: 80 };

impl Cast {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(file)
            .with_context(|| format!("Failed to read `{}`", file.display()))?;
        let mut lines = text.lines().enumerate();
        let head = lines.next().and_then(|(_, line)| serde_json::from_str::<Value>(line).ok());
        let head = head.filter(|head| head["version"] == 2);
        let head = head.ok_or_else(|| not_a_cast(file, 1))?;
        let length = |key: &str, other: u16| {
            head[key].as_u64().and_then(|length| u16::try_from(length).ok()).unwrap_or(other)
        };
        let size = Size {
            rows: length("height", DEFAULT_SIZE.rows),
            cols: length("width", DEFAULT_SIZE.cols),
        };
        let mut events = Vec::new();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            events.extend(read_event(line).ok_or_else(|| not_a_cast(file, number + 1))?);
        }
        Ok(Self { size, events })
    }
}

/// Reads one event, and returns nothing for those that tell nothing about the screen.
fn read_event(line: &str) -> Option<Vec<(Moment, CastEvent)>> {
    let (seconds, code, data): (f64, String, String) = serde_json::from_str(line).ok()?;
    let at = Moment(milliseconds(seconds)?);
    let event = match code.as_str() {
        "o" => CastEvent::Output(data),
        "r" => {
            let (cols, rows) = data.split_once('x')?;
            CastEvent::Resize(Size { cols: cols.parse().ok()?, rows: rows.parse().ok()? })
        }
        _ => return Some(Vec::new()),
    };
    Some(vec![(at, event)])
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

fn not_a_cast(file: &Path, line: usize) -> anyhow::Error {
    Hinted::error(
        format!("Line {line} of `{}` is not asciicast, version 2", file.display()),
        "Record one with `asciinema rec --format asciicast-v2 FILE.cast`",
    )
}
