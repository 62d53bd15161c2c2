//! Finds where in a file a value stands.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::playbook::{Part, Place};

/// Returns where the place is, or as near to it as the file goes.
pub(super) fn locate(file: &DeTable, place: &Place) -> Range<usize> {
    let mut at = 0..0;
    let mut here: Option<&Spanned<DeValue>> = None;
    for part in &place.0 {
        let value = here.map(Spanned::get_ref);
        let table = || value.map_or(Some(file), DeValue::as_table);
        let next = match part {
            Part::Key(key) => table().and_then(|table| table.get(*key)),
            Part::Name(name) => table().and_then(|table| table.get(name.as_str())),
            Part::Index(index) => {
                value.and_then(DeValue::as_array).and_then(|list| list.get(*index))
            }
        };
        let Some(next) = next else { break };
        at = next.span();
        here = Some(next);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_or_the_nearest_around_it() {
        let text = "[[tasks]]\nid = 'a'\n[[tasks]]\nid = 'b'\nneeds = ['x', 'y']\n";
        let table = DeTable::parse(text).unwrap();
        let shown = |place: &Place| text[locate(table.get_ref(), place)].to_owned();
        let task = Place::entry("tasks", 1);
        assert_eq!(shown(&task.clone().key("needs").index(1)), "'y'");
        assert_eq!(shown(&task.clone().key("needs").index(7)), "['x', 'y']");
        assert_eq!(shown(&task.key("owns")), "[[tasks]]");
        assert_eq!(shown(&Place::default().key("vars")), "");
    }
}
