//! `wheelhouse hook CLI`: passes on what a hook of an agent's cli says. Nobody types it.
//!
//! It must never hold up or break the agent: it prints nothing, it always succeeds, and it ends by
//! itself whatever happens.

use std::io::{self, Read};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::api::Request;
use crate::client::{Identity, random_id};

/// Whatever hangs, the agent goes on after this long.
const LIFE: Duration = Duration::from_secs(5);
/// How long a hub that is just coming back is waited for.
const PATIENCE: Duration = Duration::from_millis(4500);
/// A hook that says more says it in vain.
const SAID_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The last message of a turn is rarely longer, and its reports stand at its end.
const TEXT_CHARS_MAX: usize = 256 * 1024;

pub(super) fn hook(said: Option<&str>) -> ExitCode {
    thread::spawn(|| {
        thread::sleep(LIFE);
        std::process::exit(0);
    });
    // Nobody could be told that it failed.
    let _ = pass_on(said);
    ExitCode::SUCCESS
}

fn pass_on(said: Option<&str>) -> Option<()> {
    let identity = Identity::of_this_process()?;
    let said = said.map_or_else(read_input, |said| Ok(said.to_owned())).ok()?;
    let said = serde_json::from_str::<Map<String, Value>>(&said).ok()?;
    let request =
        Request::Hook { call: random_id().ok()?, said: Value::Object(plain_fields(said)) };
    identity.ask(request, PATIENCE).ok()?;
    Some(())
}

fn read_input() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().take(SAID_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Returns what the hub may want to know: not what a tool was given, which can be whole files.
fn plain_fields(said: Map<String, Value>) -> Map<String, Value> {
    let plain = |(name, value): (String, Value)| match value {
        Value::String(text) => Some((name, Value::String(end_of(text)))),
        Value::Null | Value::Bool(_) | Value::Number(_) => Some((name, value)),
        Value::Array(_) | Value::Object(_) => None,
    };
    said.into_iter().filter_map(plain).collect()
}

fn end_of(text: String) -> String {
    let extra = text.chars().count().saturating_sub(TEXT_CHARS_MAX);
    if extra == 0 { text } else { text.chars().skip(extra).collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_plain_fields_are_passed_on_and_of_a_long_text_its_end() {
        let long = format!("{}STATUS: DONE", "x".repeat(TEXT_CHARS_MAX));
        let said = json!({"a": long, "n": 1, "tool_input": {"file": "…"}, "list": [1]});
        let Value::Object(said) = said else { panic!() };
        let kept = plain_fields(said);
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["a", "n"]);
        let text = kept["a"].as_str().unwrap();
        assert_eq!(text.chars().count(), TEXT_CHARS_MAX);
        assert!(text.ends_with("STATUS: DONE"));
    }
}
