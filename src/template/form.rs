//! Renders forms: texts that become a program's own settings.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::{Error, ErrorKind, Value};

use super::fault::Fault;
use super::fill::{environment, fault};

/// What a form is filled in with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    Flag(bool),
    Text(String),
    List(Vec<Self>),
    Table(BTreeMap<String, Self>),
}

/// Says why there is nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// The form itself says that what is asked for cannot be had.
    #[error("{0}")]
    Refused(String),
    #[error("The form is broken on its line {}: {fault}", fault.line)]
    Broken { fault: Fault },
}

impl Slot {
    /// Returns the texts as a list.
    pub fn texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self::List(texts.into_iter().map(|text| Self::Text(text.to_owned())).collect())
    }

    /// Returns a table of these.
    pub fn table<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Table(entries.into_iter().map(|(name, slot)| (name.to_owned(), slot)).collect())
    }
}

/// Returns the form with its blanks filled in.
///
/// Beside conditions and loops it has `|json`, which quotes a text or a list of texts, `|join(…)`,
/// and `cannot("…")`, by which a form says that what is asked for cannot be had.
pub fn fill_form(text: &str, slots: &Slot) -> Result<String, FormError> {
    let refused = Arc::new(Mutex::new(None));
    let mut environment = environment();
    environment.add_filter("json", json);
    environment.add_filter("join", join);
    let told = Arc::clone(&refused);
    environment.add_function("cannot", move |reason: String| -> Result<Value, Error> {
        *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        Err(ErrorKind::InvalidOperation.into())
    });
    environment.render_str(text, value(slots)).map_err(|error| {
        let mut reason = refused.lock().unwrap_or_else(PoisonError::into_inner);
        match reason.take() {
            Some(reason) => FormError::Refused(reason),
            None => FormError::Broken { fault: fault(&error) },
        }
    })
}

fn value(slot: &Slot) -> Value {
    match slot {
        Slot::Flag(flag) => Value::from(*flag),
        Slot::Text(text) => Value::from(text.as_str()),
        Slot::List(slots) => slots.iter().map(value).collect(),
        Slot::Table(slots) => {
            let entries = slots.iter().map(|(name, slot)| (name.clone(), value(slot)));
            Value::from(entries.collect::<BTreeMap<String, Value>>())
        }
    }
}

fn json(value: &Value) -> Result<String, Error> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    if let Some(text) = value.as_str() {
        return Ok(quoted(text));
    }
    let texts = value.try_iter()?.map(|item| item.as_str().map(quoted));
    let texts: Option<Vec<String>> = texts.collect();
    let texts = texts.ok_or_else(|| Error::from(ErrorKind::InvalidOperation))?;
    Ok(format!("[{}]", texts.join(",")))
}

fn join(value: &Value, between: &str) -> Result<String, Error> {
    let texts: Vec<String> = value.try_iter()?.map(|item| item.to_string()).collect();
    Ok(texts.join(between))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_quotes_what_it_is_given() {
        let slots = Slot::table([
            ("name", Slot::Text("a\"b\nc".to_owned())),
            ("words", Slot::texts(["x", "{{ y }}"])),
            ("is_on", Slot::Flag(true)),
        ]);
        let text =
            "{% if is_on %}{{ name|json }} {{ words|json }} {{ words|join(\",\") }}{% endif %}";
        assert_eq!(fill_form(text, &slots).unwrap(), r#""a\"b\nc" ["x","{{ y }}"] x,{{ y }}"#);
    }

    #[test]
    fn a_form_says_what_cannot_be_had() {
        let slots = Slot::table([("mode", Slot::Text("all".to_owned()))]);
        let text = "{% if mode == \"all\" %}{{ cannot(\"it has no such mode\") }}{% endif %}";
        let refused = FormError::Refused("it has no such mode".to_owned());
        assert_eq!(fill_form(text, &slots), Err(refused));
        let broken = fill_form("{{ nothing }}", &slots);
        assert!(matches!(broken, Err(FormError::Broken { .. })), "{broken:?}");
    }
}
