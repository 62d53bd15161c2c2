//! Which key means what, from the defaults and the user's own choice.

use std::collections::BTreeMap;

use super::action::{Action, DiffAction, EditAction, KeyScope, ListAction, ReadAction, TaskAction};
use super::bindings::{BINDINGS, KeyBinding};
use crate::model::{Key, KeyCode};

/// Says why the user's keys cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    #[error("There is no action `{name}`; the nearest is `{nearest}`")]
    UnknownAction { name: String, nearest: &'static str },
    #[error("`{key}` of action `{action}` is not a key; the nearest is `{nearest}`")]
    UnknownKey { action: String, key: String, nearest: String },
    #[error("`{key}` is given to both `{first}` and `{second}`")]
    GivenTwice { key: String, first: &'static str, second: &'static str },
    #[error("Action `{0}` needs a key, else there would be no way back")]
    NoWayBack(&'static str),
}

/// Keys and their meanings. A list, because it is short and keeps its order for help.
#[derive(Clone, Debug)]
pub(in crate::tui) struct Keymap {
    bindings: Vec<(Key, &'static KeyBinding)>,
}

impl Keymap {
    /// Returns the defaults with the user's choice over them; a key chosen for one action is taken
    /// from the action that has it by default.
    ///
    /// A terminal inside of tmux never sees the key that tmux takes for itself.
    pub(in crate::tui) fn new(
        chosen: &BTreeMap<String, String>,
        is_in_tmux: bool,
    ) -> Result<Self, KeymapError> {
        let mut own: Vec<(Key, &'static KeyBinding)> = Vec::new();
        for (name, keys) in chosen {
            let meaning = find(name)?;
            for key in parse_keys(name, keys)? {
                let taken = own.iter().find(|(k, m)| *k == key && m.scope == meaning.scope);
                if let Some((_, first)) = taken.filter(|(_, m)| m.name != meaning.name) {
                    let (first, second) = (first.name, meaning.name);
                    return Err(KeymapError::GivenTwice { key: key.to_string(), first, second });
                }
                own.push((key, meaning));
            }
        }
        let mut bindings = Vec::new();
        for meaning in BINDINGS {
            if chosen.contains_key(meaning.name) {
                bindings.extend(own.iter().filter(|(_, m)| m.name == meaning.name).copied());
                continue;
            }
            for key in parse_keys(meaning.name, &usual_keys(meaning, is_in_tmux))? {
                if !own.iter().any(|(k, m)| *k == key && m.scope == meaning.scope) {
                    bindings.push((key, meaning));
                }
            }
        }
        let keymap = Self { bindings };
        keymap.check_the_ways_back()?;
        Ok(keymap)
    }

    /// Returns what a key means in a scope.
    pub(in crate::tui) fn action(&self, scope: KeyScope, key: Key) -> Option<Action> {
        let found = self.bindings.iter().find(|(own, m)| m.scope == scope && *own == key);
        found.map(|(_, meaning)| meaning.action)
    }

    /// Returns what a key means in a list or a question.
    pub(in crate::tui) fn list_action(&self, key: Key) -> Option<ListAction> {
        let Some(Action::Choose(choice)) = self.action(KeyScope::Dialog, key) else { return None };
        Some(choice)
    }

    /// Returns what a key means beside a task.
    pub(in crate::tui) fn task_action(&self, key: Key) -> Option<TaskAction> {
        let Some(Action::Task(tasking)) = self.action(KeyScope::Tasks, key) else { return None };
        Some(tasking)
    }

    /// Returns what a key means in a diff.
    pub(in crate::tui) fn diff_action(&self, key: Key) -> Option<DiffAction> {
        let Some(Action::Review(reviewing)) = self.action(KeyScope::Diff, key) else { return None };
        Some(reviewing)
    }

    /// Returns what a key means beside a prompt; what writes a character means nothing else.
    pub(in crate::tui) fn edit_action(&self, key: Key) -> Option<EditAction> {
        let action = self.action(KeyScope::Prompt, key).filter(|_| !is_text(key));
        let Some(Action::Write(writing)) = action else { return None };
        Some(writing)
    }

    /// Returns the name of the first key of an action, for a hint.
    pub(in crate::tui) fn hint(&self, action: Action) -> Option<String> {
        let found = self.bindings.iter().find(|(_, meaning)| meaning.action == action);
        found.map(|(key, _)| short_name(*key))
    }

    /// Returns the name of the key for a choice beside a text, where letters are part of the text.
    pub(in crate::tui) fn hint_beside_text(&self, choice: ListAction) -> String {
        let is_it = |(key, meaning): &&(Key, &KeyBinding)| {
            meaning.action == Action::Choose(choice) && !is_text(*key)
        };
        let own = self.bindings.iter().find(is_it).map(|(key, _)| *key);
        short_name(own.unwrap_or(Key::plain(match choice {
            ListAction::Up => KeyCode::Up,
            ListAction::Down => KeyCode::Down,
            ListAction::Toggle => KeyCode::Char(' '),
            ListAction::Accept => KeyCode::Enter,
            ListAction::Cancel => KeyCode::Escape,
        })))
    }

    /// Returns what a key means beside a text; the usual keys work there whatever the user chose,
    /// as the chosen ones may be letters.
    pub(in crate::tui) fn list_action_beside_text(&self, key: Key) -> Option<ListAction> {
        if is_text(key) {
            return None;
        }
        self.list_action(key).or(match key.code {
            KeyCode::Up => Some(ListAction::Up),
            KeyCode::Down => Some(ListAction::Down),
            KeyCode::Enter => Some(ListAction::Accept),
            KeyCode::Escape => Some(ListAction::Cancel),
            KeyCode::Char(_)
            | KeyCode::Tab
            | KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Insert
            | KeyCode::Home
            | KeyCode::End
            | KeyCode::PageUp
            | KeyCode::PageDown
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Function(_)
            | KeyCode::Keypad(_) => None,
        })
    }

    /// Returns all keys of a scope as help lists them: keys and what they do.
    pub(in crate::tui) fn help(&self, scope: KeyScope) -> Vec<(String, String)> {
        let mut lines: Vec<(String, String)> = Vec::new();
        if scope == KeyScope::Overview {
            let numbers: Vec<_> = (1..=9).filter_map(|n| self.hint(Action::Select(n))).collect();
            let is_default = numbers.concat() == "123456789";
            let keys = if is_default { "1 … 9".to_owned() } else { numbers.join(" ") };
            lines.push((keys, "select the pane of that number".into()));
        }
        for meaning in BINDINGS.iter().filter(|meaning| meaning.scope == scope) {
            if matches!(meaning.action, Action::Select(_)) {
                continue;
            }
            let own = self.bindings.iter().filter(|(_, m)| m.name == meaning.name);
            let keys: Vec<_> = own.map(|(key, _)| short_name(*key)).collect();
            let keys = if keys.is_empty() { "none".to_owned() } else { keys.join(" ") };
            lines.push((keys, meaning.help.to_owned()));
        }
        lines
    }

    fn check_the_ways_back(&self) -> Result<(), KeymapError> {
        let needed = [
            Action::LeaveTyping,
            Action::Reading(ReadAction::Leave),
            Action::Choose(ListAction::Cancel),
            Action::Write(EditAction::Leave),
            Action::Detach,
        ];
        for meaning in BINDINGS.iter().filter(|meaning| needed.contains(&meaning.action)) {
            // A letter would be written instead of leading back.
            let leads_back = |key: Key| meaning.scope != KeyScope::Prompt || !is_text(key);
            if !self.bindings.iter().any(|(key, m)| m.name == meaning.name && leads_back(*key)) {
                return Err(KeymapError::NoWayBack(meaning.name));
            }
        }
        Ok(())
    }
}

/// Returns the keys of an action unless the user chooses others.
fn usual_keys(meaning: &KeyBinding, is_in_tmux: bool) -> String {
    let keys = meaning.keys.split_whitespace().map(|key| match key {
        TMUX_PREFIX if is_in_tmux && meaning.scope != KeyScope::Reading => LEAVE_IN_TMUX,
        key => key,
    });
    keys.collect::<Vec<_>>().join(" ")
}

/// What leaves a pane; in a tmux it never arrives, as that waits for it.
const TMUX_PREFIX: &str = "ctrl-b";
const LEAVE_IN_TMUX: &str = "ctrl-]";

/// Returns every action with its name, its keys unless the user chooses others, and what it does.
pub fn default_keys() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    BINDINGS.iter().map(|meaning| (meaning.name, meaning.keys, meaning.help))
}

/// Returns a key's name as people draw it.
pub(in crate::tui) fn short_name(key: Key) -> String {
    let arrow = match key.code {
        KeyCode::Up => "↑",
        KeyCode::Down => "↓",
        KeyCode::Left => "←",
        KeyCode::Right => "→",
        KeyCode::PageUp => "pgup",
        KeyCode::PageDown => "pgdn",
        KeyCode::Delete => "del",
        KeyCode::Char(_)
        | KeyCode::Enter
        | KeyCode::Escape
        | KeyCode::Tab
        | KeyCode::Backspace
        | KeyCode::Insert
        | KeyCode::Home
        | KeyCode::End
        | KeyCode::Function(_)
        | KeyCode::Keypad(_) => return key.to_string(),
    };
    let plain = Key::plain(key.code).to_string();
    key.to_string().replace(&plain, arrow)
}

fn find(name: &str) -> Result<&'static KeyBinding, KeymapError> {
    let name = name.replace('-', "_");
    BINDINGS.iter().find(|meaning| meaning.name == name).ok_or_else(|| {
        let names = BINDINGS.iter().map(|meaning| meaning.name);
        let nearest = names.min_by_key(|known| strsim::levenshtein(known, &name));
        KeymapError::UnknownAction { name, nearest: nearest.unwrap_or("help") }
    })
}

fn parse_keys(action: &str, keys: &str) -> Result<Vec<Key>, KeymapError> {
    let parse = |name: &str| {
        name.parse::<Key>().map(normal).map_err(|_| KeymapError::UnknownKey {
            action: action.to_owned(),
            key: name.chars().filter(|c| !c.is_control()).take(32).collect(),
            nearest: nearest_key(name),
        })
    };
    keys.split_whitespace().map(parse).collect()
}

/// Says whether a key writes a character.
pub(in crate::tui) fn is_text(key: Key) -> bool {
    let held = key.modifiers;
    matches!(key.code, KeyCode::Char(_)) && !held.control && !held.alt && !held.meta
}

/// Returns a key of the numeric keypad as the one that writes the same.
pub(in crate::tui) fn off_the_pad(key: Key) -> Key {
    let KeyCode::Keypad(c) = key.code else { return key };
    let code = if c == '\r' { KeyCode::Enter } else { KeyCode::Char(c) };
    Key { code, ..key }
}

/// Brings the two ways to write a capital letter together.
pub(in crate::tui) fn normal(mut key: Key) -> Key {
    if let (KeyCode::Char(c), true) = (key.code, key.modifiers.shift)
        && c.is_alphabetic()
    {
        key.code = KeyCode::Char(c.to_uppercase().next().unwrap_or(c));
        key.modifiers.shift = false;
    }
    if let (KeyCode::Char(c), true) = (key.code, key.modifiers.control) {
        // Old terminals have one byte for both.
        key.code = KeyCode::Char(match c {
            '4' => '\\',
            '5' => ']',
            '6' => '^',
            '7' => '_',
            c => c.to_ascii_lowercase(),
        });
    }
    key
}

fn nearest_key(name: &str) -> String {
    const KNOWN: [&str; 17] = [
        "enter",
        "esc",
        "tab",
        "space",
        "backspace",
        "delete",
        "insert",
        "home",
        "end",
        "pageup",
        "pagedown",
        "up",
        "down",
        "left",
        "right",
        "f1",
        "x",
    ];
    let (held, last) = name.rfind(['-', '+']).map_or(("", name), |at| name.split_at(at + 1));
    let nearest = KNOWN.iter().min_by_key(|known| strsim::levenshtein(known, last));
    let whole = format!("{held}{}", nearest.unwrap_or(&"enter"));
    if whole.parse::<Key>().is_ok() { whole } else { format!("ctrl-{}", nearest.unwrap_or(&"x")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(pairs: &[(&str, &str)]) -> Result<Keymap, KeymapError> {
        keymap(pairs, false)
    }

    fn keymap(pairs: &[(&str, &str)], is_in_tmux: bool) -> Result<Keymap, KeymapError> {
        let chosen = pairs.iter().map(|(a, k)| ((*a).to_owned(), (*k).to_owned())).collect();
        Keymap::new(&chosen, is_in_tmux)
    }

    fn key(name: &str) -> Key {
        name.parse().unwrap()
    }

    #[test]
    fn the_defaults_are_the_keys_that_are_promised() {
        let keymap = chosen(&[]).unwrap();
        let overview = |name| keymap.action(KeyScope::Overview, key(name));
        assert_eq!(overview("3"), Some(Action::Select(3)));
        assert_eq!(overview("enter"), Some(Action::Type));
        assert_eq!(overview("z"), Some(Action::Zoom));
        assert_eq!(overview("?"), Some(Action::Help));
        assert_eq!(overview("q"), Some(Action::Detach));
        assert_eq!(overview("h"), Some(Action::SelectLeft));
        assert_eq!(keymap.action(KeyScope::Typing, key("ctrl-b")), Some(Action::LeaveTyping));
        assert_eq!(overview("d"), Some(Action::Dispatch));
        assert_eq!(overview("b"), Some(Action::Broadcast));
        assert_eq!(overview("a"), Some(Action::Attend));
    }

    #[test]
    fn inside_of_tmux_its_own_key_is_nobodys() {
        let keymap = keymap(&[], true).unwrap();
        assert_eq!(keymap.action(KeyScope::Typing, key("ctrl-]")), Some(Action::LeaveTyping));
        assert_eq!(keymap.action(KeyScope::Typing, key("ctrl-b")), None);
        assert_eq!(keymap.action(KeyScope::Dialog, key("ctrl-b")), None);
        let as_old_terminals_send_it = normal(key("ctrl-5"));
        assert_eq!(as_old_terminals_send_it, key("ctrl-]"));
        let own = self::keymap(&[("leave_typing", "ctrl-b")], true).unwrap();
        assert_eq!(own.action(KeyScope::Typing, key("ctrl-b")), Some(Action::LeaveTyping));
    }

    #[test]
    fn no_two_defaults_share_a_key() {
        let keymap = chosen(&[]).unwrap();
        for (at, (key, meaning)) in keymap.bindings.iter().enumerate() {
            for (other, its) in &keymap.bindings[at + 1..] {
                assert!(key != other || meaning.scope != its.scope, "{key}");
            }
        }
    }

    #[test]
    fn a_chosen_key_replaces_the_defaults_and_is_taken_from_others() {
        let keymap = chosen(&[("zoom", "x f2")]).unwrap();
        assert_eq!(keymap.action(KeyScope::Overview, key("z")), None);
        assert_eq!(keymap.action(KeyScope::Overview, key("x")), Some(Action::Zoom));
        assert_eq!(keymap.action(KeyScope::Overview, key("f2")), Some(Action::Zoom));
        assert_eq!(keymap.hint(Action::Stop), None);
        let help = keymap.help(KeyScope::Overview);
        assert!(help.contains(&("none".into(), "stop the agent".into())));
    }

    #[test]
    fn mistakes_are_named_with_what_was_probably_meant() {
        let message = |pairs| chosen(pairs).unwrap_err().to_string();
        assert_eq!(message(&[("zom", "x")]), "There is no action `zom`; the nearest is `zoom`");
        assert_eq!(
            message(&[("zoom", "ctrl-entr")]),
            "`ctrl-entr` of action `zoom` is not a key; the nearest is `ctrl-enter`"
        );
        assert_eq!(
            message(&[("zoom", "x"), ("stop", "x")]),
            "`x` is given to both `stop` and `zoom`"
        );
        assert_eq!(
            message(&[("leave_typing", "")]),
            "Action `leave_typing` needs a key, else there would be no way back"
        );
        assert_eq!(
            message(&[("leave_prompt", "x")]),
            "Action `leave_prompt` needs a key, else there would be no way back",
            "a letter is written"
        );
    }

    #[test]
    fn capitals_and_shift_mean_the_same() {
        let keymap = chosen(&[("redraw", "shift-r")]).unwrap();
        assert_eq!(keymap.action(KeyScope::Overview, key("R")), Some(Action::Redraw));
    }
}
