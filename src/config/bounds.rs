//! Within which bounds an agent runs: `limits`, `sandbox` and what belongs to it.

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};

use crate::model::{Confinement, Limits, Sandbox};

use super::checks::{NoZero, TextCheck, between, checks, texts};
use super::problem::Problems;
use super::reader::Reader;

/// A program cannot do anything with less.
const MEMORY_BYTES_MIN: u64 = 16 * 1024 * 1024;
/// More processors are in no machine.
const CPU_HUNDREDTHS_MAX: u32 = 1024 * 100;
const PROCESSES_MAX: u32 = 1_000_000;

/// What keeps an agent from changing what is not its own.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SandboxKind {
    None,
    Bubblewrap,
}

/// What an agent's table says of its bounds.
#[derive(Deserialize)]
struct BoundsTable {
    #[serde(default)]
    limits: LimitsTable,
    sandbox: Option<SandboxKind>,
    #[serde(default, deserialize_with = "texts::<_, Writable>")]
    writable: Vec<String>,
    #[serde(default, deserialize_with = "texts::<_, Hidden>")]
    hidden: Vec<String>,
    network: Option<bool>,
}

/// What an agent and all that it starts may use together.
#[derive(Default, Deserialize)]
struct LimitsTable {
    #[serde(default, deserialize_with = "memory")]
    memory: Option<u64>,
    #[serde(default, deserialize_with = "cpu")]
    cpu: Option<u32>,
    #[serde(default, deserialize_with = "between::<_, _, 1, PROCESSES_MAX>")]
    processes: Option<u32>,
}

checks! {
    Writable => |text| without_beginning(text, "writable");
    Hidden => |text| without_beginning(text, "hidden");
}

/// Says what is wrong with a path that is neither absolute nor below the home directory.
fn without_beginning(text: &str, key: &str) -> Option<String> {
    let begins = text.starts_with('/') || text.starts_with("~/");
    let message = format!("`{text}` in `{key}` does not say where it begins");
    NoZero::fault(text)
        .or_else(|| (!begins).then(|| format!("{message}\nhint: Begin it with `/` or `~/`")))
}

/// Returns the bounds of the agent that the table describes.
pub(super) fn read_bounds(table: &mut Reader, problems: &mut Problems) -> Confinement {
    let Some(found) = table.part::<BoundsTable>(problems) else { return Confinement::default() };
    let is_sandboxed = found.sandbox == Some(SandboxKind::Bubblewrap);
    let keys = ["writable", "hidden", "network"];
    if let Some(key) = keys.into_iter().find(|key| table.has(key) && !is_sandboxed) {
        let message = format!("`{key}`{} is about a sandbox, and there is none", table.within());
        problems.error(&table.span_of(key), &message, Some("Add `sandbox = \"bubblewrap\"`"));
    }
    let BoundsTable { limits: LimitsTable { memory, cpu, processes }, .. } = found;
    let limits = Limits { memory_bytes: memory, cpu_hundredths: cpu, processes };
    let has_network = found.network.unwrap_or(true);
    let BoundsTable { writable, hidden, .. } = found;
    let sandbox = Sandbox { writable, hidden, has_network, ..Sandbox::default() };
    Confinement { limits, sandbox: Some(sandbox).filter(|_| is_sandboxed) }
}

fn memory<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let told = || format!("`{text}` is no amount of memory\nhint: {MEMORY_HINT}");
    size(&text).map(Some).ok_or_else(|| D::Error::custom(told()))
}

/// Reads a number of processors, which may have two decimals, in hundredths.
fn cpu<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let count = hundredths(&f64::deserialize(deserializer)?.to_string());
    let count = count.and_then(|count| u32::try_from(count).ok());
    let fitting = count.filter(|count| (1..=CPU_HUNDREDTHS_MAX).contains(count));
    let wanted = format!("a number from 0.01 to {}", CPU_HUNDREDTHS_MAX / 100);
    let told = || D::Error::invalid_value(Unexpected::Other("number"), &wanted.as_str());
    fitting.map(Some).ok_or_else(told)
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

/// Returns a number with up to two decimals as a whole one.
fn hundredths(digits: &str) -> Option<u64> {
    let (whole, decimals) = digits.trim().split_once('.').unwrap_or((digits.trim(), ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = !whole.is_empty() && whole.len() <= 9 && decimals.len() <= 2;
    let text = format!("{whole}{decimals:0<2}");
    text.parse().ok().filter(|_| fits && is_number(&text))
}
