//! Parts of what is too long for one answer.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// What one answer holds at most: an agent pays for each word of it.
pub(super) const ANSWER_BYTES_MAX: usize = 24 * 1024;

/// Where to go on in a list.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(default, deny_unknown_fields)]
pub(super) struct Page {
    /// How many to pass over: the `next_offset` of the answer before.
    pub(super) offset: usize,
    /// How many to return at most; fewer if they are long.
    pub(super) limit: Option<usize>,
}

/// Returns a part of a list under a name, with how many there are and where the rest begins.
pub(super) fn page(name: &str, items: Vec<Value>, page: Page) -> Value {
    let total = items.len();
    let mut used = 0;
    let part: Vec<Value> = items
        .into_iter()
        .skip(page.offset)
        .take(page.limit.unwrap_or(50).clamp(1, 200))
        .take_while(|item| {
            let is_first = used == 0;
            used += item.to_string().len() + 1;
            is_first || used <= ANSWER_BYTES_MAX
        })
        .collect();
    let end = page.offset.saturating_add(part.len());
    let mut answer = json!({ name: part, "total": total });
    if end < total {
        answer["next_offset"] = end.into();
    }
    answer
}

/// Returns the beginning of a text, and says so where it is cut.
pub(super) fn beginning(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes_max);
    format!("{}… [{} more bytes]", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_comes_in_parts_that_miss_nothing() {
        let long = "x".repeat(ANSWER_BYTES_MAX / 3);
        let all: Vec<Value> = (0..10).map(|n| json!({ "n": n, "text": long })).collect();
        let mut seen = Vec::new();
        let mut offset = 0;
        loop {
            let answer = page("items", all.clone(), Page { offset, limit: None });
            assert!(answer.to_string().len() < 2 * ANSWER_BYTES_MAX);
            let items = answer["items"].as_array().unwrap();
            assert!(!items.is_empty());
            seen.extend(items.iter().map(|item| item["n"].as_u64().unwrap()));
            let Some(next) = answer["next_offset"].as_u64() else { break };
            offset = usize::try_from(next).unwrap();
        }
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
        let beyond = page("items", all, Page { offset: usize::MAX, limit: Some(0) });
        assert_eq!(beyond, json!({ "items": [], "total": 10 }));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(beginning("äöü", 3), "ä… [4 more bytes]");
        assert_eq!(beginning("äöü", 6), "äöü");
    }
}
