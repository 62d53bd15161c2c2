//! Finds the keys that a screen itself names: for stopping what runs, and for taking an entry of a list.

use crate::model::{Key, KeyCode, Modifiers};
use crate::screen::Screen;

/// So many written rows at the bottom may hold a hint; what stands above them is conversation.
const HINT_ROWS: usize = 8;
/// A key and what it does stand no further apart.
const GAP_CHARS: usize = 14;

/// Returns the keys that the screen offers to stop what runs, one after the other.
pub(super) fn offered(screen: &Screen) -> Vec<Key> {
    rows(screen).iter().find_map(|row| stops(row)).unwrap_or_default()
}

/// Says whether the screen offers a key that stops what runs.
pub(super) fn is_offered(screen: &Screen) -> bool {
    rows(screen).iter().any(|row| stops(row).is_some())
}

/// Says whether the screen asks for the same key once more.
pub(super) fn is_awaited(screen: &Screen) -> bool {
    let asks = |row: &String| {
        ["again to interrupt", "again to stop", "again to cancel"].iter().any(|at| row.contains(at))
    };
    rows(screen).iter().any(asks)
}

/// Says whether Enter would take an entry of a list, and not submit the prompt: a row that is no part
/// of the prompt says so.
pub(super) fn completes(screen: &Screen, prompt: &str) -> bool {
    let prompt = prompt.to_lowercase();
    rows(screen).iter().any(|row| takes_entry(row) && !prompt.contains(row.trim()))
}

/// Returns the last written rows, the lowest first, in small letters.
fn rows(screen: &Screen) -> Vec<String> {
    let size = screen.size();
    let rows = (0..size.rows).rev().map(|row| screen.row(row).text().to_lowercase());
    rows.filter(|row| !row.trim().is_empty()).take(HINT_ROWS).collect()
}

fn stops(row: &str) -> Option<Vec<Key>> {
    let control = Modifiers { control: true, ..Modifiers::default() };
    let ctrl_c = Key { code: KeyCode::Char('c'), modifiers: control };
    let names = [
        ("esc", Key::plain(KeyCode::Escape)),
        ("ctrl+c", ctrl_c),
        ("ctrl-c", ctrl_c),
        ("^c", ctrl_c),
    ];
    names.into_iter().find_map(|(name, key)| {
        let is_word = |at: usize| !row[..at].ends_with(char::is_alphanumeric);
        let does = |at: usize| {
            let after: String = row[at + name.len()..].chars().take(GAP_CHARS + 9).collect();
            let verb = ["interrupt", "cancel", "stop", "abort"]
                .iter()
                .filter_map(|verb| after.find(verb))
                .min()?;
            let between = &after[..verb];
            (verb <= GAP_CHARS && !between.contains(['·', '|', '•', ',', '.'])).then_some(())
        };
        let mut places = row.match_indices(name).map(|(at, _)| at).filter(|at| is_word(*at));
        let at = places.find(|at| does(*at).is_some())?;
        // Both of two stand in the row where two are needed.
        let is_double = row[at + name.len()..].trim_start().starts_with(name);
        Some(vec![key; if is_double { 2 } else { 1 }])
    })
}

fn takes_entry(row: &str) -> bool {
    ["enter", "tab", "↵", "⏎"].iter().flat_map(|key| row.match_indices(key)).any(|(at, key)| {
        let after: String = row[at + key.len()..].chars().take(GAP_CHARS).collect();
        let is_word = !row[..at].ends_with(char::is_alphanumeric)
            && !after.starts_with(char::is_alphanumeric);
        let verbs = ["insert", "complete", "autocomplete"];
        let verb = verbs.iter().filter_map(|verb| after.find(verb)).min();
        is_word && verb.is_some_and(|verb| !after[..verb].contains(['·', '|', '•', ',']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_that_stop_are_read_from_hints_alone() {
        let named =
            |row: &str| stops(row).map(|keys| keys.iter().map(ToString::to_string).collect());
        let one = |key: &str| Some(vec![key.to_owned()]);
        assert_eq!(named("(2s • esc to interrupt)"), one("esc"));
        assert_eq!(named("press ctrl+c to stop"), one("ctrl-c"));
        assert_eq!(named("working · 216 b esc esc interrupt"), Some(vec!["esc".to_owned(); 2]));
        for row in ["ctrl+c to exit", "esc clear · ctrl+x stop", "describe the stop", "? for help"]
        {
            assert_eq!(named(row), None::<Vec<String>>, "{row}");
        }
    }

    #[test]
    fn a_list_of_completions_is_known_by_what_enter_does() {
        assert!(takes_entry("  enter/tab insert · esc close · ↑/↓ select"));
        for row in ["enter to send · tab to switch", "press enter to confirm", "a table to insert"]
        {
            assert!(!takes_entry(row), "{row}");
        }
    }
}
