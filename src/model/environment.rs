//! Environment variables, which may hold secrets and so are never shown.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Variables by name. Their values appear in no log, no error and no debug output.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Environment(pub BTreeMap<String, String>);

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_no_value() {
        let secret = Environment(BTreeMap::from([("KEY".into(), "hunter2".into())]));
        assert_eq!(format!("{secret:?}"), "Environment(1 variables)");
    }
}
