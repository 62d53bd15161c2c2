//! How often the screen of an agent was seen to be misread, and whether that is more than chance.

use serde::{Deserialize, Serialize};

/// So many signs may be chance.
const SIGNS_MIN: u32 = 2;
/// One sign in so many turns may be chance, too.
const TURNS_EACH: u32 = 5;

/// How often the screen of an agent was seen to be misread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RulesFit {
    /// Turns that have ended.
    pub turns: u32,
    /// Times for which nobody knew for long what the screen shows.
    pub unknown: u32,
    /// Dialogs that the cli told of, or that a person answered, and that no rule saw.
    pub dialogs: u32,
    /// Prompts that nobody saw taken.
    pub prompts: u32,
    /// Times at which a hook said one thing and the screen another until the hook was dropped.
    pub contradictions: u32,
    /// Turns at whose end the composer was not the one that the rules know.
    pub composers: u32,
}

impl RulesFit {
    /// Returns how many signs of a misread screen there are.
    pub fn signs(&self) -> u32 {
        self.unknown + self.dialogs + self.prompts + self.contradictions + self.composers
    }

    /// Says whether there are too many of them to be chance.
    pub fn is_doubtful(&self) -> bool {
        self.signs() >= SIGNS_MIN.max(self.turns / TURNS_EACH)
    }

    /// Says in words what was seen; nothing, if that may be chance.
    pub fn doubt(&self) -> Option<String> {
        let counted = [
            (self.dialogs, "a dialog that no rule saw", "dialogs that no rule saw"),
            (self.prompts, "a prompt that nobody saw taken", "prompts that nobody saw taken"),
            (self.contradictions, "a hook against the screen", "hooks against the screen"),
            (self.composers, "an input of another shape", "inputs of another shape"),
            (self.unknown, "a screen that nobody could read", "screens that nobody could read"),
        ];
        let said = counted.into_iter().filter(|(count, ..)| *count > 0);
        let said = said.map(|(count, one, many)| match count {
            1 => one.to_owned(),
            _ => format!("{count} {many}"),
        });
        self.is_doubtful().then(|| said.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sign_is_chance_and_so_are_a_few_in_many_turns() {
        let fit = RulesFit { dialogs: 1, ..RulesFit::default() };
        assert_eq!(fit.doubt(), None);
        let fit = RulesFit { dialogs: 2, unknown: 1, ..RulesFit::default() };
        let doubt = fit.doubt().unwrap();
        assert_eq!(doubt, "2 dialogs that no rule saw, a screen that nobody could read");
        assert_eq!(RulesFit { turns: 40, ..fit }.doubt(), None);
    }
}
