//! The command that a dialog is about, as the program itself told it beside the screen.
//!
//! A screen cannot tell a row that was wrapped from one that a line of the command ends, and some programs draw
//! what a command says of colours and of the cursor. What was told has every letter; the dialog must show them all.

/// What was told last.
#[derive(Debug, Default)]
pub(super) struct ToldCommand {
    told: Option<String>,
    /// A dialog that shows it was in sight.
    is_asked: bool,
}

impl ToldCommand {
    /// Notes what a program told. Two that look the same cannot be told apart by their dialogs, so neither counts.
    pub(super) fn note(&mut self, command: String) {
        let other = self.told.take().filter(|told| *told != command);
        let is_ambiguous = other.is_some_and(|told| letters(&told) == letters(&command));
        self.told = (!is_ambiguous).then_some(command);
        self.is_asked = false;
    }

    pub(super) fn is_some(&self) -> bool {
        self.told.is_some()
    }

    /// Returns what was told, if it is what these rows show.
    pub(super) fn shown_as(&self, rows: &str) -> Option<&str> {
        let told = self.told.as_deref()?;
        (!told.trim().is_empty() && letters(told) == letters(rows)).then_some(told)
    }

    /// Returns the path that was told, if this is the end of it.
    pub(super) fn path_shown_as(&self, shown: &str) -> Option<&str> {
        let told = self.told.as_deref()?;
        let is_whole = |before: &str| before.is_empty() || before.ends_with('/');
        told.strip_suffix(shown).is_some_and(is_whole).then_some(told)
    }

    /// Notes what was read of the screen: once the dialog is gone, what was told of it holds no longer.
    pub(super) fn heed(&mut self, is_in_sight: bool, is_asked: bool) {
        if !is_in_sight && self.is_asked {
            self.told = None;
        }
        self.is_asked = is_in_sight && (self.is_asked || is_asked);
    }

    /// Forgets it: another turn has begun, or this one is over.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Returns a text without blanks and without the bars that an interface draws beside it.
fn letters(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '│' | '┃')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(commands: &[&str]) -> ToldCommand {
        let mut told = ToldCommand::default();
        for command in commands {
            told.note((*command).to_owned());
        }
        told
    }

    #[test]
    fn rows_are_joined_as_the_command_was_told_and_not_as_they_look() {
        let rows = " │ cargo test --lib\n │ rm -rf x\n";
        assert_eq!(
            told(&["cargo test --lib rm -rf x"]).shown_as(rows),
            Some("cargo test --lib rm -rf x")
        );
        let lines = "cargo test --lib\nrm -rf x";
        assert_eq!(told(&[lines]).shown_as(rows), Some(lines));
        for other in [
            "cargo test --lib",
            "cargo test --lib; rm -rf x",
            "cargo test --lib rm -rf \u{200b}x",
            "",
        ] {
            assert_eq!(told(&[other]).shown_as(rows), None, "{other:?}");
        }
        assert_eq!(ToldCommand::default().shown_as(""), None);
        assert_eq!(told(&[" "]).shown_as(" "), None);
    }

    #[test]
    fn a_path_is_the_one_that_was_told_if_the_dialog_shows_its_end() {
        let told = told(&["/work/src/lib.rs"]);
        for shown in ["src/lib.rs", "/work/src/lib.rs"] {
            assert_eq!(told.path_shown_as(shown), Some("/work/src/lib.rs"));
        }
        for shown in ["rc/lib.rs", "src/main.rs"] {
            assert_eq!(told.path_shown_as(shown), None);
        }
    }

    #[test]
    fn two_commands_that_look_the_same_are_not_told_apart() {
        let told = told(&["cargo test\nrm -rf x", "cargo test rm -rf x"]);
        assert_eq!(told.shown_as("cargo test rm -rf x"), None);
    }

    #[test]
    fn what_was_told_holds_for_one_dialog() {
        let mut told = told(&["cargo test"]);
        told.heed(false, false);
        assert!(told.shown_as("cargo test").is_some(), "it may be told before it is drawn");
        told.heed(true, true);
        told.heed(true, false);
        assert!(told.shown_as("cargo test").is_some());
        told.heed(false, false);
        assert_eq!(told.shown_as("cargo test"), None);
    }
}
