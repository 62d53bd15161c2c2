//! Dialogs of Claude Code as it draws them, with tips, words of the agent and reasons around the command.

use wheelhouse::model::Subject;

use super::dialogs::asked;

/// Draws a dialog about a command as Claude Code 2.1.325 draws it: a tip, what the agent says that the
/// command does, the command between two lines, and why it asks.
fn as_drawn(description: &str, command: &str, reason: &str) -> String {
    let line = format!("<grey>{}</>", "╌".repeat(60));
    let tip = "\x1b[1m Tip: auto mode handles these prompts for you</>";
    format!("{tip}\n<grey>{description}</>\n{line}\n{command}\n{line}\n{reason}")
}

const REASON: &str = " This command requires approval";

#[test]
fn the_commands_that_people_approve_are_read_on_dialogs_as_they_are_drawn() {
    for command in [
        "cargo test",
        "cargo test --lib deliver",
        "npm test",
        "python3 -m pytest -q tests",
        "git commit -m 'Fix the thing'",
        "cargo test && touch zz",
    ] {
        let subject = Some(Subject::Command(command.into()));
        let shown = format!(" {command}");
        assert_eq!(asked(&as_drawn(" Runs it", &shown, REASON)), subject, "{command}");
        let rows = format!("   {command}\n<grey>   Runs it</>\n\n{REASON}");
        assert_eq!(asked(&rows), subject, "as 2.1.197 draws it: {command}");
        // What the agent says of it may be of several rows, and may look like a command.
        for words in [" cargo test; rm -rf x", " │ Runs it\n │ and says so"] {
            assert_eq!(asked(&as_drawn(words, &shown, REASON)), subject, "{words}");
        }
    }
}

#[test]
fn what_may_be_more_than_its_row_is_left_to_a_person_on_dialogs_as_they_are_drawn() {
    let line = format!("<grey>{}</>", "╌".repeat(60));
    for (command, reason) in [
        // Wrapped, or of several lines: both look the same.
        (" │ cargo test\n │ rm -rf x", REASON),
        (" cargo test\n rm -rf x", REASON),
        (" │ cargo test", REASON),
        (" cargo test …", REASON),
        // A reason that nobody has seen may be a warning, or the rest of the command.
        (" cargo test", " Contains a hidden newline"),
        (" cargo test", " This command requires approval\n rm -rf x"),
        (" cargo test", " rm -rf x"),
        ("<grey> cargo test</>", REASON),
    ] {
        assert_eq!(asked(&as_drawn(" Runs it", command, reason)), None, "{command} {reason}");
    }
    let forged = as_drawn(" Runs it", &format!(" cargo test\n{line}\n{REASON}\n rm x"), REASON);
    assert_eq!(asked(&forged), None);
    let old = format!("   cargo test\n   rm -rf x\n\n{REASON}");
    assert_eq!(asked(&old), None);
    let cut = format!("   cargo test\n{REASON}\n   rm -rf x");
    assert_eq!(asked(&cut), None);
}
