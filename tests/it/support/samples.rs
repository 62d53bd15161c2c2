//! Values that fit a JSON schema: enough of them that each of its branches is taken by one.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Deeper than any type; a schema that goes on beyond refers to itself.
const DEPTH_MAX: usize = 24;

/// Longer strings stand for any text, and say nothing of the form.
const TELLING_CHARS_MAX: usize = 40;

/// Returns values that take every branch of a whole schema.
pub(crate) fn samples(schema: &Value) -> Vec<Value> {
    Maker { definitions: schema["$defs"].as_object().cloned().unwrap_or_default() }.all(schema, 0)
}

/// Returns what a value shows of its form: which fields it has where, and which words.
pub(crate) fn features(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(value, String::new(), &mut found);
    found
}

fn collect(value: &Value, path: String, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                collect(field, format!("{path}.{name}"), found);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(item, format!("{path}[]"), found);
            }
        }
        Value::String(text) if text.chars().count() <= TELLING_CHARS_MAX => {
            found.insert(format!("{path}={text}"));
            return;
        }
        Value::Null => {
            found.insert(format!("{path}=null"));
            return;
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found.insert(path);
}

struct Maker {
    definitions: Map<String, Value>,
}

impl Maker {
    fn all(&self, schema: &Value, depth: usize) -> Vec<Value> {
        assert!(depth < DEPTH_MAX, "a schema that refers to itself: {schema}");
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap();
            return self.all(&self.definitions[name], depth + 1);
        }
        let branches = ["oneOf", "anyOf"].into_iter().find_map(|key| schema[key].as_array());
        if let Some(branches) = branches {
            let taken = branches.iter().flat_map(|branch| self.all(branch, depth + 1));
            if schema["properties"].is_null() {
                return taken.collect();
            }
            let base = self.objects(schema, depth).into_iter().next().unwrap();
            return taken.map(|branch| merged(&base, &branch)).collect();
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let parts = parts.iter().map(|part| self.all(part, depth + 1).remove(0));
            return vec![parts.fold(json!({}), |whole, part| merged(&whole, &part))];
        }
        if let Some(only) = schema.get("const") {
            return vec![only.clone()];
        }
        if let Some(listed) = schema["enum"].as_array() {
            return listed.clone();
        }
        match &schema["type"] {
            Value::Array(types) => {
                let of = |kind: &Value| self.of_type(kind.as_str().unwrap(), schema, depth);
                types.iter().flat_map(of).collect()
            }
            Value::String(kind) => self.of_type(kind, schema, depth),
            // Anything at all.
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                vec![json!({"any": [1, "thing"]})]
            }
        }
    }

    fn of_type(&self, kind: &str, schema: &Value, depth: usize) -> Vec<Value> {
        match kind {
            "null" => vec![Value::Null],
            "boolean" => vec![json!(true), json!(false)],
            "integer" => vec![json!(7)],
            "number" => vec![json!(1.5)],
            "string" => vec![text(schema)],
            "array" => vec![Value::Array(self.items(schema, depth))],
            "object" => self.objects(schema, depth),
            other => panic!("an unknown type: {other}"),
        }
    }

    fn items(&self, schema: &Value, depth: usize) -> Vec<Value> {
        match schema["prefixItems"].as_array() {
            Some(parts) => parts.iter().map(|part| self.all(part, depth + 1).remove(0)).collect(),
            None => self.all(&schema["items"], depth + 1),
        }
    }

    /// Returns objects with every field, one for each value that a field can have, and one with no
    /// more than it must have.
    fn objects(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let Some(properties) = schema["properties"].as_object() else {
            let by_pattern = schema["patternProperties"].as_object();
            let values = match (&schema["additionalProperties"], by_pattern) {
                (_, Some(patterns)) => {
                    patterns.values().flat_map(|s| self.all(s, depth + 1)).collect()
                }
                (Value::Object(_), None) => self.all(&schema["additionalProperties"], depth + 1),
                _ => vec![json!("value")],
            };
            return vec![json!({"key": values[0]})];
        };
        let fields: Vec<(&String, Vec<Value>)> =
            properties.iter().map(|(name, field)| (name, self.all(field, depth + 1))).collect();
        let count = fields.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
        let whole = |at: usize| -> Map<String, Value> {
            let value = |values: &[Value]| values[at % values.len()].clone();
            fields.iter().map(|(name, values)| ((*name).clone(), value(values))).collect()
        };
        let mut objects: Vec<Value> = (0..count).map(|at| Value::Object(whole(at))).collect();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        if required.len() < fields.len() {
            let mut least = whole(0);
            least.retain(|name, _| required.iter().any(|one| one == name));
            objects.push(Value::Object(least));
        }
        objects
    }
}

fn text(schema: &Value) -> Value {
    if let Some(example) = schema["examples"].get(0) {
        return example.clone();
    }
    let is_letter = schema["maxLength"] == 1;
    match schema["format"].as_str() {
        Some("date-time") => json!("2026-01-02T03:04:05.678Z"),
        _ if is_letter => json!("x"),
        _ => json!("text"),
    }
}

fn merged(one: &Value, other: &Value) -> Value {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else {
        return other.clone();
    };
    let both = one.iter().chain(other);
    Value::Object(both.map(|(name, value)| (name.clone(), value.clone())).collect())
}
