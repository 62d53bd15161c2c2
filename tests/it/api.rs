//! The API as a product: its schema, its page, and the form on the wire that no change may break.

use std::collections::BTreeSet;
use std::fs;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wheelhouse::api::{Ask, FromHub, SCHEMA};

use super::support::api_text;
use super::support::samples::{features, samples};
use super::support::world::World;

/// Set to write the files instead of comparing them.
const WRITE: &str = "WHEELHOUSE_WRITE";

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn is_writing() -> bool {
    std::env::var_os(WRITE).is_some()
}

#[test]
fn the_page_is_that_of_the_schema() {
    let page = api_text::page(&schema());
    if is_writing() {
        return fs::write("docs/api.md", page).unwrap();
    }
    let told = fs::read_to_string("docs/api.md").unwrap();
    assert!(page == told, "docs/api.md is out of date; {WRITE}=1 cargo test --test it api::");
}

#[test]
fn every_frame_that_was_ever_sent_is_still_understood() {
    check::<Ask>("tests/wire/ask.jsonl", &schema()["ask"]);
    check::<FromHub>("tests/wire/from_hub.jsonl", &schema()["from_hub"]);
}

/// Old frames must be read, and written again with all that they had; each form must have one.
fn check<T: DeserializeOwned + Serialize>(file: &str, schema: &Value) {
    let mut text = fs::read_to_string(file).unwrap_or_default();
    let mut known = BTreeSet::new();
    for line in text.lines() {
        let frame: Value = serde_json::from_str(line).unwrap();
        let read: T = serde_json::from_value(frame.clone())
            .unwrap_or_else(|error| panic!("{file}: {error}: no longer understood: {line}"));
        let written = serde_json::to_value(&read).unwrap();
        assert!(is_within(&frame, &written), "{file}: lost or renamed\n{line}\nis now\n{written}");
        known.extend(features(&frame));
    }
    let mut missing = Vec::new();
    for sample in samples(schema) {
        // In the form in which it is written, which leaves out what need not be said.
        let read: T = serde_json::from_value(sample.clone())
            .unwrap_or_else(|error| panic!("{error}: the schema allows {sample}"));
        let sample = serde_json::to_value(&read).unwrap();
        let shown = features(&sample);
        if !shown.is_subset(&known) {
            known.extend(shown);
            missing.push(sample.to_string());
        }
    }
    if is_writing() {
        for line in &missing {
            text.push_str(line);
            text.push('\n');
        }
        return fs::write(file, text).unwrap();
    }
    let help = "add a frame of each new form with";
    assert!(missing.is_empty(), "{help} {WRITE}=1 cargo test --test it api::\n{missing:#?}");
}

/// Says whether the newer value has all that the older one has; more is no harm.
fn is_within(older: &Value, newer: &Value) -> bool {
    match (older, newer) {
        (Value::Object(older), Value::Object(newer)) => older
            .iter()
            .all(|(name, field)| newer.get(name).is_some_and(|newer| is_within(field, newer))),
        (Value::Array(older), Value::Array(newer)) => {
            older.len() == newer.len() && older.iter().zip(newer).all(|(a, b)| is_within(a, b))
        }
        _ => older == newer,
    }
}

#[test]
fn a_renamed_or_lost_field_is_noticed() {
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let old = value(r#"{"agents": [{"name": "one"}], "id": 1}"#);
    assert!(is_within(&old, &value(r#"{"agents": [{"name": "one", "more": 2}], "id": 1}"#)));
    assert!(!is_within(&old, &value(r#"{"agents": [{"title": "one"}], "id": 1}"#)));
    assert!(!is_within(&old, &value(r#"{"agents": [], "id": 1}"#)));
    assert!(!is_within(&old, &value(r#"{"agents": [{"name": "two"}], "id": 1}"#)));
}

#[test]
fn the_schema_is_printed_and_is_one() {
    let world = World::new();
    let printed: Value = serde_json::from_str(&world.ok(&["api", "schema"])).unwrap();
    assert_eq!(printed, schema());
    for part in ["ask", "from_hub", "event"] {
        jsonschema::meta::validate(&printed[part]).unwrap();
        let only: Value = serde_json::from_str(&world.ok(&["api", "schema", part])).unwrap();
        assert_eq!(only, printed[part]);
    }
    let valid = jsonschema::validator_for(&printed["ask"]).unwrap();
    let ask = |text: &str| valid.is_valid(&serde_json::from_str(text).unwrap());
    assert!(ask(r#"{"id": 1, "request": "read", "agent": "one", "lines": 5, "scrollback": true}"#));
    assert!(!ask(r#"{"id": 1, "request": "read", "agent": 1, "scrollback": true}"#));
    assert!(!ask(r#"{"id": 1, "request": "no such thing"}"#));
    // What the feed prints is what it says that it prints.
    world.ok(&["up", "shell"]);
    let valid = jsonschema::validator_for(&printed["event"]).unwrap();
    let feed = world.ok(&["events", "--json"]);
    assert!(!feed.is_empty());
    for line in feed.lines() {
        assert!(valid.is_valid(&serde_json::from_str(line).unwrap()), "{line}");
    }
}
