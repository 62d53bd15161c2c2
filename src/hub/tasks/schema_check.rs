//! Whether a JSON text fits a schema. Nothing outside of the schema is looked up.

use std::path::Path;

use jsonschema::PatternOptions;
use serde_json::Value;

use crate::workspace::inside;

/// A document that is looked into; a larger one is not what a schema is for.
pub(in crate::hub) const DOCUMENT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Schemas are written by hand.
pub(in crate::hub) const SCHEMA_BYTES_MAX: u64 = 256 * 1024;

/// What is told of a document that is wrong in many places.
const ERRORS_MAX: usize = 10;

/// What is told of one value: it may be the whole document.
const ERROR_CHARS_MAX: usize = 300;

/// Says why a file of the workspace does not fit a schema: another file there, or the schema itself.
pub(in crate::hub) fn check(root: &Path, path: &str, schema: &str) -> Result<(), String> {
    let schema = if schema.trim_start().starts_with('{') {
        schema.as_bytes().to_vec()
    } else {
        inside::read(root, schema, SCHEMA_BYTES_MAX).map_err(|why| format!("the schema: {why}"))?
    };
    let text = inside::read(root, path, DOCUMENT_BYTES_MAX)?;
    fits(&schema, &text).map_err(|why| format!("{}: {why}", inside::shown(path)))
}

/// Says why a schema cannot be used.
pub(in crate::hub) fn compile(schema: &[u8]) -> Result<jsonschema::Validator, String> {
    let schema: Value = serde_json::from_slice(schema)
        .map_err(|error| format!("the schema is not JSON: {error}"))?;
    // Patterns of the usual engine can take for ever on purpose.
    let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
    options
        .build(&schema)
        .map_err(|error| format!("the schema cannot be used: {}", cut(&error.to_string())))
}

fn fits(schema: &[u8], text: &[u8]) -> Result<(), String> {
    let validator = compile(schema)?;
    let document: Value =
        serde_json::from_slice(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .take(ERRORS_MAX)
        .map(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "the whole".to_owned() } else { place };
            format!("{place}: {}", cut(&error.to_string()))
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(ERROR_CHARS_MAX);
    if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &[u8] = br#"{"type":"object","required":["port"],
        "properties":{"port":{"type":"integer","maximum":65535},"name":{"pattern":"^[a-z]+$"}}}"#;

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        assert_eq!(fits(SCHEMA, br#"{"port":80,"name":"web"}"#), Ok(()));
        for (text, words) in [
            (&br#"{"port":"x"}"#[..], "/port: "),
            (br#"{"name":"Web"}"#, "/name: "),
            (br#"{"name":"Web"}"#, "port"),
            (b"{", "not JSON"),
            (b"[]", "the whole: "),
        ] {
            let said = fits(SCHEMA, text).unwrap_err();
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn a_schema_looks_nothing_up_and_takes_no_pattern_that_may_run_for_ever() {
        let directory = tempfile::tempdir().unwrap();
        let secret = directory.path().join("s.json");
        std::fs::write(&secret, "{}").unwrap();
        for target in [
            format!("file://{}", secret.display()),
            "http://127.0.0.1:1/s.json".to_owned(),
            "https://example.com/s.json".to_owned(),
        ] {
            let schema = serde_json::json!({ "$ref": target }).to_string();
            let said = fits(schema.as_bytes(), b"{}").unwrap_err();
            assert!(said.contains("cannot be used"), "{said}");
        }
        assert!(fits(br#"{"pattern":"(?=a)"}"#, b"\"a\"").is_err());
        assert!(fits(b"{\"type\":7}", b"1").is_err());
    }

    #[test]
    fn a_long_value_is_cut_in_what_is_told() {
        let text = format!("{{\"port\":\"{}\"}}", "x".repeat(100_000));
        assert!(fits(SCHEMA, text.as_bytes()).unwrap_err().len() < 1000);
    }
}
