//! Makes odd requests of good ones: empty, huge, of other types, too deep, or not there.

use serde_json::{Map, Value, json};

/// Where choices come from: a seed in a test, the input in a fuzz target.
pub(crate) trait Choices {
    /// Returns a number below the limit.
    fn pick(&mut self, limit: usize) -> usize;
}

/// Returns the value with some of it made odd.
pub(crate) fn mangle(value: &Value, choices: &mut impl Choices) -> Value {
    let mut odd = value.clone();
    for _ in 0..=choices.pick(3) {
        strike(&mut odd, choices);
    }
    odd
}

/// Goes down to some place in the value, and puts something odd there.
fn strike(value: &mut Value, choices: &mut impl Choices) {
    if let Value::Object(fields) = value
        && !fields.is_empty()
        && choices.pick(8) > 0
    {
        let at = choices.pick(fields.len());
        let name = fields.keys().nth(at).cloned().unwrap_or_default();
        match (choices.pick(8), fields.get_mut(&name)) {
            (0, _) => drop(fields.remove(&name)),
            (1, _) => drop(fields.insert("odd\0name".to_owned(), Value::Null)),
            (_, Some(field)) => strike(field, choices),
            (_, None) => {}
        }
        return;
    }
    if let Value::Array(items) = value
        && !items.is_empty()
        && choices.pick(4) > 0
    {
        let at = choices.pick(items.len());
        return strike(&mut items[at], choices);
    }
    *value = oddity(value, choices);
}

fn oddity(was: &Value, choices: &mut impl Choices) -> Value {
    match choices.pick(18) {
        0 => Value::Null,
        1 => json!(""),
        2 => json!("x".repeat(1 << (choices.pick(12) + 8))),
        3 => json!("a\0b"),
        4 => json!("\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\n"),
        5 => json!("../../etc/passwd"),
        6 => json!(-1),
        7 => json!(u64::MAX),
        8 => json!(i64::MIN),
        9 => json!(1e308),
        10 => json!(true),
        11 => Value::Array(vec![was.clone(); choices.pick(64)]),
        12 => deep(choices.pick(300)),
        13 => json!({"one": was}),
        14 => json!("t999999999999"),
        15 => json!("漢\u{301}".repeat(choices.pick(5000))),
        16 => json!([]),
        _ => Value::Object(Map::new()),
    }
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inside, _| json!([inside]))
}
