//! The schema of all that crosses the socket, and of the lines of the feed, as a text.
//!
//! It is made from the types by a test, since only who reads the schema needs what makes it.

/// A JSON object: `ask`, `from_hub` and `event` are each a whole JSON schema; `requests` says what each
/// request changes, whether it may be repeated, and which answers it gets.
pub const SCHEMA: &str = include_str!("../../assets/api/schema.json");

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;
    use schemars::{JsonSchema, Schema};
    use serde::Serialize;
    use serde_json::ser::{PrettyFormatter, Serializer};
    use serde_json::{Value, json};

    use super::SCHEMA;
    use crate::api::declare::on_the_wire;
    use crate::api::{Ask, FeedLine, FromHub, PROTOCOL, RequestKind, Right};

    /// Set to write the file instead of comparing it.
    const WRITE: &str = "WHEELHOUSE_WRITE";

    #[test]
    fn the_schema_is_that_of_the_types() {
        let is = written(&schema());
        if std::env::var_os(WRITE).is_some() {
            std::fs::write("assets/api/schema.json", is).unwrap();
            return;
        }
        assert!(
            is == SCHEMA,
            "assets/api/schema.json is not what the types say; write it anew with\n\
             {WRITE}=1 cargo test --lib api::schema && {WRITE}=1 cargo test --test it api::"
        );
    }

    /// Returns what each request changes and how it is answered, by the name that permissions use.
    fn requests() -> Value {
        let rows = RequestKind::ALL.iter().map(|kind| kind.right());
        let row = |right: Right| {
            let told = json!({
                "answers": right.replies.iter().map(|reply| on_the_wire(reply)).collect::<Vec<_>>(),
                "change": right.change,
                "repeat": right.repeat,
            });
            (right.request.to_owned(), told)
        };
        Value::Object(rows.map(row).collect())
    }

    fn schema() -> Value {
        let asked = SchemaSettings::draft2020_12().for_deserialize();
        let told = SchemaSettings::draft2020_12().for_serialize();
        json!({
            "protocol": PROTOCOL,
            "ask": of::<Ask>(asked),
            "from_hub": of::<FromHub>(told.clone()),
            "event": of::<FeedLine>(told),
            "requests": requests(),
        })
    }

    /// Returns the text: it is part of the program, so its lines are indented by no more than a blank.
    fn written(schema: &Value) -> String {
        let mut bytes = Vec::new();
        let form = PrettyFormatter::with_indent(b" ");
        schema.serialize(&mut Serializer::with_formatter(&mut bytes, form)).unwrap();
        String::from_utf8(bytes).unwrap() + "\n"
    }

    fn of<T: JsonSchema>(settings: SchemaSettings) -> Schema {
        settings.into_generator().into_root_schema_for::<T>()
    }
}
