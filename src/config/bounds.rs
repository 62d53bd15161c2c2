//! Within which bounds an agent runs: `limits`, `sandbox` and what belongs to it.

use std::fmt;

use crate::model::{Confinement, Limits, Sandbox};

use super::cli::no_zero;
use super::problem::Problems;
use super::reader::{Located, Reader, hundredths};

/// A program cannot do anything with less.
const MEMORY_BYTES_MIN: u64 = 16 * 1024 * 1024;
/// More processors are in no machine.
const CPU_HUNDREDTHS_MAX: u32 = 1024 * 100;
const PROCESSES_MAX: u32 = 1_000_000;

/// What keeps an agent from changing what is not its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SandboxKind {
    None,
    Bubblewrap,
}

impl fmt::Display for SandboxKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Bubblewrap => "bubblewrap",
        })
    }
}

/// Returns the bounds of the agent that the table describes.
pub(super) fn read_bounds(table: &mut Reader, problems: &mut Problems) -> Confinement {
    let limits = table.table("limits", problems).map(|limits| read_limits(limits, problems));
    let kinds = [SandboxKind::None, SandboxKind::Bubblewrap];
    let kind = table.choice("sandbox", &kinds, problems).unwrap_or(SandboxKind::None);
    let is_sandboxed = kind == SandboxKind::Bubblewrap;
    let keys = ["writable", "hidden", "network"];
    if let Some(key) = keys.into_iter().find(|key| table.has(key) && !is_sandboxed) {
        let message = format!("`{key}`{} is about a sandbox, and there is none", table.within());
        problems.error(&table.span_of(key), &message, Some("Add `sandbox = \"bubblewrap\"`"));
    }
    let writable = paths("writable", table, problems);
    let hidden = paths("hidden", table, problems);
    let has_network = table.switch("network", problems).unwrap_or(true);
    let sandbox = Sandbox { writable, hidden, has_network, ..Sandbox::default() };
    Confinement {
        limits: limits.unwrap_or_default(),
        sandbox: Some(sandbox).filter(|_| is_sandboxed),
    }
}

fn read_limits(mut table: Reader, problems: &mut Problems) -> Limits {
    let memory = table.text("memory", problems);
    let memory_bytes = memory.and_then(|text| read_size(&text, problems));
    let cpu_hundredths = table.hundredths("cpu", 1..=CPU_HUNDREDTHS_MAX, problems);
    let processes = table.number("processes", 1..=PROCESSES_MAX, problems);
    table.finish(problems);
    Limits { memory_bytes, cpu_hundredths, processes }
}

/// Sets a limit as it is typed: `memory=4G`, `cpu=1.5` or `processes=512`. An error has a hint.
pub fn set_limit(text: &str, limits: &mut Limits) -> Result<(), (String, String)> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let (is_set, hint) = match name {
        "memory" => {
            limits.memory_bytes = size(value);
            (limits.memory_bytes.is_some(), MEMORY_HINT)
        }
        "cpu" => {
            let count = hundredths(value).and_then(|count| u32::try_from(count).ok());
            limits.cpu_hundredths = count.filter(|count| (1..=CPU_HUNDREDTHS_MAX).contains(count));
            (limits.cpu_hundredths.is_some(), "Write it as `cpu=1.5`")
        }
        "processes" => {
            let count = value.parse().ok().filter(|count| (1..=PROCESSES_MAX).contains(count));
            limits.processes = count;
            (count.is_some(), "Write it as `processes=512`")
        }
        _ => (false, "Use `memory=4G`, `cpu=1.5` or `processes=512`"),
    };
    if is_set { Ok(()) } else { Err((format!("`{text}` is no limit"), hint.to_owned())) }
}

const MEMORY_HINT: &str = "Write it as `512M` or `4G`, at least `16M`";

/// Reads `512M`, `4G` and the like.
fn read_size(text: &Located<String>, problems: &mut Problems) -> Option<u64> {
    let bytes = size(&text.value);
    if bytes.is_none() {
        let message = format!("`{}` is no amount of memory", text.value);
        problems.error(&text.span, &message, Some(MEMORY_HINT));
    }
    bytes
}

fn size(text: &str) -> Option<u64> {
    let word = text.trim();
    let (digits, unit) =
        word.split_at(word.find(|c: char| c.is_alphabetic()).unwrap_or(word.len()));
    let shift = match unit.to_ascii_uppercase().as_str() {
        "K" | "KIB" => 10,
        "M" | "MIB" => 20,
        "G" | "GIB" => 30,
        _ => 0,
    };
    // Hundredths of a unit are as exact as anyone writes.
    let bytes = hundredths(digits).map(|count| (count << shift) / 100);
    bytes.filter(|bytes| shift > 0 && *bytes >= MEMORY_BYTES_MIN)
}

/// Returns paths that are absolute, or below the home directory.
fn paths(key: &'static str, table: &mut Reader, problems: &mut Problems) -> Vec<String> {
    let Some(texts) = table.texts(key, problems) else { return Vec::new() };
    for text in &texts.value {
        no_zero(text, problems);
        let is_found = text.value.starts_with('/') || text.value.starts_with("~/");
        if !is_found {
            let message = format!("`{}` in `{key}` does not say where it begins", text.value);
            problems.error(&text.span, &message, Some("Begin it with `/` or `~/`"));
        }
    }
    texts.value.into_iter().map(|text| text.value).collect()
}
