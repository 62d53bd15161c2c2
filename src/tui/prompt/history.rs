//! What was written before, newest last.

/// More than anyone looks through key by key.
pub(super) const PROMPTS_MAX: usize = 200;

/// The prompts of the past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    prompts: Vec<String>,
}

impl History {
    /// Returns a history of these prompts, oldest first.
    pub(crate) fn new(prompts: Vec<String>) -> Self {
        let mut history = Self::default();
        for prompt in prompts {
            history.add(&prompt);
        }
        history
    }

    /// Adds a prompt; nothing, and the same once more, are no news.
    pub(crate) fn add(&mut self, prompt: &str) -> bool {
        let is_news =
            !prompt.trim().is_empty() && self.prompts.last().is_none_or(|last| last != prompt);
        if is_news {
            self.prompts.push(prompt.to_owned());
            let excess = self.prompts.len().saturating_sub(PROMPTS_MAX);
            self.prompts.drain(..excess);
        }
        is_news
    }

    /// Returns the prompt that is so many steps back, counted from one.
    pub(crate) fn back(&self, steps: usize) -> Option<&str> {
        let at = self.prompts.len().checked_sub(steps).filter(|_| steps > 0)?;
        self.prompts.get(at).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_and_old_ones_are_forgotten() {
        let mut history = History::new((0..300).map(|n| n.to_string()).collect());
        assert_eq!((history.back(1), history.back(200)), (Some("299"), Some("100")));
        assert_eq!((history.back(0), history.back(201)), (None, None));
        assert!(!history.add("299") && !history.add("  \n"));
        assert!(history.add("298"));
    }
}
