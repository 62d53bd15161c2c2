//! What the rules say about a view.

use crate::model::{AgentState, DialogKind};

use super::rules::{Rules, StateRule};
use super::view::View;

/// What the first matching rule says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) state: AgentState,
    pub(super) kind: Option<DialogKind>,
    pub(super) rule: String,
    pub(super) line: String,
    pub(super) reset: Option<String>,
}

/// Returns the verdict of the first rule that matches.
pub(super) fn judge(rules: &Rules, view: &View) -> Option<Verdict> {
    rules.states.iter().find_map(|rule| apply(rule, view))
}

fn apply(rule: &StateRule, view: &View) -> Option<Verdict> {
    let text = view.region(rule.region)?;
    let captures = rule.pattern.captures(text)?;
    if rule.unless.as_ref().is_some_and(|unless| unless.is_match(text)) {
        return None;
    }
    let found = captures.get(0)?;
    let start = text[..found.start()].rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let reset = captures.name("reset").map(|reset| reset.as_str().trim().to_owned());
    Some(Verdict {
        state: rule.state,
        kind: rule.kind,
        rule: rule.name.clone(),
        line: line.trim().to_owned(),
        reset,
    })
}
