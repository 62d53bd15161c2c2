//! What an agent proves with who it is; never shown.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The secret of one run of one agent. It appears in no log, no error and no debug output.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Token(pub String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_does_not_show_it() {
        assert_eq!(format!("{:?}", Token("hunter2".into())), "Token");
    }
}
