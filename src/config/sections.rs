//! The tables of plain values: `[pane]`, `[stop]` and the like.
//!
//! A table is one struct, and its default is the value of every key that no file sets. A test holds
//! `config.example.toml` against them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toml::de::DeTable;

use super::checks::between;
use super::deserialize::{RawTable, read};
use super::problem::Problems;
use super::reader::Reader;
use super::{Settings, VariablePattern};

/// A line of scrollback costs memory in the hub, for every pane.
const SCROLLBACK_MAX: u32 = 1_000_000;
/// The rows or columns that a terminal may have, as `Size` clamps them.
const LENGTH_MIN: u32 = 2;
const LENGTH_MAX: u32 = 1000;
/// Whoever stops a team waits for as long.
const GRACE_SECONDS_MAX: u32 = 600;
/// Nobody waits longer than a day to hear that nothing moves.
const STUCK_SECONDS_MAX: u32 = 86_400;
/// A recording is read as a whole when it is handed out.
const CAST_MEGABYTES_MAX: u32 = 256;
/// A hundred years, and a tebibyte: more is a slip of the hand.
const RECORD_DAYS_MAX: u32 = 36_500;
const RECORD_MEGABYTES_MAX: u32 = 1 << 20;

/// The terminal of each agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneSettings {
    /// In lines.
    #[serde(deserialize_with = "between::<_, _, 0, SCROLLBACK_MAX>")]
    pub scrollback: u32,
    #[serde(deserialize_with = "between::<_, _, LENGTH_MIN, LENGTH_MAX>")]
    pub min_cols: u16,
    #[serde(deserialize_with = "between::<_, _, LENGTH_MIN, LENGTH_MAX>")]
    pub min_rows: u16,
}

impl Default for PaneSettings {
    fn default() -> Self {
        Self { scrollback: 10_000, min_cols: 80, min_rows: 24 }
    }
}

/// The tiles of the dashboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridSettings {
    pub cards: Cards,
}

/// Whether cards take the place of tiles that got too narrow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cards {
    #[default]
    Auto,
    Never,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DashboardSettings {
    /// A theme's name; `auto` is dark or light, as the terminal is.
    pub theme: String,
    /// What opens an address, with `{}` for it; empty: what the desktop has.
    pub open_url: String,
    /// What opens a place in a file, with `{path}` and `{line}`; empty: `$VISUAL` or `$EDITOR`.
    pub open_path: String,
}

impl Default for DashboardSettings {
    fn default() -> Self {
        Self { theme: "auto".to_owned(), open_url: String::new(), open_path: String::new() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopSettings {
    /// How long an agent may take to end by itself before it is killed.
    #[serde(deserialize_with = "between::<_, _, 0, GRACE_SECONDS_MAX>")]
    pub grace_seconds: u32,
}

impl Default for StopSettings {
    fn default() -> Self {
        Self { grace_seconds: 3 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckSettings {
    /// How long an agent may stand still before it counts as stuck.
    #[serde(deserialize_with = "between::<_, _, 1, STUCK_SECONDS_MAX>")]
    pub after_seconds: u32,
}

impl Default for StuckSettings {
    fn default() -> Self {
        Self { after_seconds: 180 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitSettings {
    /// Whether an agent goes on by itself once the limit has ended that held it up.
    pub resume_after_reset: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CastSettings {
    /// Whether the output of each agent is recorded.
    pub enabled: bool,
    /// How much is kept of each.
    #[serde(deserialize_with = "between::<_, _, 1, CAST_MEGABYTES_MAX>")]
    pub megabytes: u32,
}

impl Default for CastSettings {
    fn default() -> Self {
        Self { enabled: true, megabytes: 8 }
    }
}

/// How much of the journal is kept; zero is without a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordSettings {
    /// What is older goes.
    #[serde(deserialize_with = "between::<_, _, 0, RECORD_DAYS_MAX>")]
    pub days: u32,
    /// What the record may take on the disk; the oldest goes first.
    #[serde(deserialize_with = "between::<_, _, 0, RECORD_MEGABYTES_MAX>")]
    pub megabytes: u32,
}

impl Default for RecordSettings {
    fn default() -> Self {
        Self { days: 180, megabytes: 512 }
    }
}

/// What is made of what agents tell other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReporterSettings {
    /// Whether it is understood.
    pub enabled: bool,
}

impl Default for ReporterSettings {
    fn default() -> Self {
        Self { enabled: true }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvSettings {
    /// Which of the caller's variables every agent gets beside the usual ones.
    pub pass: Vec<VariablePattern>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HubSettings {
    pub scope: Scope,
}

/// Whether the hub gets a systemd scope of its own, so that a log-out does not end it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Where systemd runs for the user.
    #[default]
    Auto,
    Never,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogSettings {
    pub level: LogLevel,
}

/// How much the hub writes into its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

/// A table of plain values.
pub(super) trait Section {
    /// Reads a table over what holds, and returns the keys that it sets.
    fn apply(&mut self, table: Reader<'_>, problems: &mut Problems<'_>) -> Vec<&'static str>;

    /// Returns what holds, key by key.
    fn values(&self) -> Vec<(&'static str, Value)>;
}

impl<T: Serialize + for<'de> Deserialize<'de>> Section for T {
    fn apply(&mut self, mut table: Reader<'_>, problems: &mut Problems<'_>) -> Vec<&'static str> {
        if let Some(value) = table.part_over::<T>(&fields_of(self), problems) {
            *self = value;
        }
        let keys = table.present().collect();
        table.finish(problems);
        keys
    }

    fn values(&self) -> Vec<(&'static str, Value)> {
        let mut fields = fields_of(self);
        let empty = DeTable::new();
        let table = RawTable { table: &empty, span: &(0..0), place: "", below: Some(&fields) };
        let keys = read::<T>(table, &mut Problems::new("".as_ref(), "")).keys;
        keys.iter().map(|key| (*key, fields.remove(*key).unwrap_or_default())).collect()
    }
}

/// Returns a struct's fields by their keys.
pub(super) fn fields_of(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => Map::new(),
    }
}

/// Makes the two lists of sections from one.
macro_rules! sections {
    ($($name:literal: $field:ident),* $(,)?) => {
        impl Settings {
            pub(super) fn sections(&self) -> Vec<(&'static str, &dyn Section)> {
                vec![$(($name, &self.$field)),*]
            }

            pub(super) fn sections_mut(&mut self) -> Vec<(&'static str, &mut dyn Section)> {
                vec![$(($name, &mut self.$field)),*]
            }
        }
    };
}

sections! {
    "pane": pane,
    "grid": grid,
    "dashboard": dashboard,
    "stop": stop,
    "stuck": stuck,
    "limit": limit,
    "casts": casts,
    "record": record,
    "notify": notify,
    "reporters": reporters,
    "env": env,
    "hub": hub,
    "log": log,
    "workspace": workspace,
}

impl Settings {
    /// Returns every plain value with its key: `pane.scrollback`.
    pub fn values(&self) -> Vec<(String, Value)> {
        let named = |(table, section): (&str, &dyn Section)| {
            let values = section.values().into_iter();
            values.map(|(key, value)| (format!("{table}.{key}"), value)).collect::<Vec<_>>()
        };
        self.sections().into_iter().flat_map(named).collect()
    }
}
