//! What a hook of a cli says, by the names that its manifest gives.

use regex::Regex;
use serde_json::Value;

use crate::model::{HookEvent, HookMeaning, Hooks};

use super::rules::{RuleError, compile};

/// The id of a conversation goes into a command line later on; nobody's id is longer.
const SESSION_CHARS_MAX: usize = 128;

/// The hooks of a cli, with their patterns compiled.
#[derive(Debug)]
pub struct HookRules {
    cli: String,
    hooks: Hooks,
    /// For each event: what must, and what must not, stand in what the hook says.
    patterns: Vec<(Option<Regex>, Option<Regex>)>,
}

/// What a hook said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookNews {
    pub meaning: HookMeaning,
    /// Such as `claude.Stop`.
    pub rule: String,
    /// The conversation's id.
    pub session: Option<String>,
    /// What was asked of the agent.
    pub prompt: Option<String>,
    /// The agent's last message.
    pub message: Option<String>,
}

impl HookRules {
    /// Compiles the hooks of a cli.
    pub fn new(cli: &str, hooks: &Hooks) -> Result<Self, RuleError> {
        let optional = |name: &str, pattern: &Option<String>| {
            pattern.as_ref().map(|pattern| compile(name, pattern)).transpose()
        };
        let mut patterns = Vec::new();
        for event in &hooks.events {
            let name = format!("{cli}.{}", event.name);
            patterns.push((optional(&name, &event.pattern)?, optional(&name, &event.unless)?));
        }
        Ok(Self { cli: cli.to_owned(), hooks: hooks.clone(), patterns })
    }

    /// Says whether these are the rules of such hooks.
    pub fn are_of(&self, hooks: &Hooks) -> bool {
        self.hooks == *hooks
    }

    /// Returns what the name of the file ends in that the cli is given.
    pub fn file_kind(&self) -> &str {
        &self.hooks.file_kind
    }

    /// Says whether the cli hands over its last message of each turn.
    pub fn hand_over_messages(&self) -> bool {
        let ends =
            |event: &HookEvent| matches!(event.means, HookMeaning::Ended | HookMeaning::Message);
        !self.hooks.fields.message.is_empty() && self.hooks.events.iter().any(ends)
    }

    /// Reads what a hook said; nothing, if it is none of the events that mean something.
    pub fn read(&self, said: &Value) -> Option<HookNews> {
        let fields = &self.hooks.fields;
        let field = |name: &str| said.get(name).and_then(words).map(str::to_owned);
        let name = field(&fields.event)?;
        // Quotes inside of a text are escaped: no message can look like another field.
        let text = said.to_string();
        let fits = |(wanted, unwanted): &(Option<Regex>, Option<Regex>)| {
            wanted.as_ref().is_none_or(|pattern| pattern.is_match(&text))
                && !unwanted.as_ref().is_some_and(|pattern| pattern.is_match(&text))
        };
        let mut events = self.hooks.events.iter().zip(&self.patterns);
        let (event, _) = events.find(|(event, pattern)| event.name == name && fits(pattern))?;
        Some(HookNews {
            meaning: event.means,
            rule: format!("{}.{}", self.cli, event.name),
            session: field(&fields.session).filter(|id| is_session(id)),
            prompt: field(&fields.prompt),
            message: field(&fields.message),
        })
    }

    /// Reads the command that a hook says a dialog is about.
    pub fn read_command(&self, said: &Value) -> Option<String> {
        let news = self.read(said).filter(|news| news.meaning == HookMeaning::Asks);
        let path =
            Some(&self.hooks.fields.command).filter(|path| !path.is_empty() && news.is_some())?;
        let found = path.split('.').try_fold(said, |value, name| value.get(name))?;
        found.as_str().map(str::to_owned)
    }
}

/// Returns a text, or the last one of a list.
fn words(value: &Value) -> Option<&str> {
    value.as_array().map_or(Some(value), |list| list.last()).and_then(Value::as_str)
}

/// Says whether a text can be the id of a conversation, and nothing that a command line minds.
pub(super) fn is_session(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=SESSION_CHARS_MAX).contains(&id.len())
        && id.chars().all(is_plain)
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::HookFields;

    fn rules() -> HookRules {
        let event = |name: &str, means, pattern: Option<&str>, unless: Option<&str>| HookEvent {
            name: name.into(),
            means,
            pattern: pattern.map(str::to_owned),
            unless: unless.map(str::to_owned),
        };
        let events = vec![
            event("Stop", HookMeaning::Ended, None, None),
            event("Note", HookMeaning::Asks, Some(r#""type":"permission""#), None),
            event("Turn", HookMeaning::Message, None, Some(r#""text":"\{\\"title\\""#)),
        ];
        let fields = HookFields {
            event: "event".into(),
            session: "id".into(),
            prompt: "prompt".into(),
            message: "text".into(),
            command: "tool.command".into(),
        };
        HookRules::new("own", &Hooks { fields, events, ..Hooks::default() }).unwrap()
    }

    #[test]
    fn an_event_is_read_by_the_names_of_its_cli() {
        let news = rules().read(&json!({"event": "Stop", "id": "a-1", "text": "fine"})).unwrap();
        assert_eq!((news.meaning, news.rule.as_str()), (HookMeaning::Ended, "own.Stop"));
        assert_eq!(news.session.as_deref(), Some("a-1"));
        assert_eq!(news.message.as_deref(), Some("fine"));
        for other in [json!({"event": "Other"}), json!({}), json!(7), json!({"event": 7})] {
            assert_eq!(rules().read(&other), None, "{other}");
        }
    }

    #[test]
    fn conditions_look_at_fields_and_not_at_quotations_of_them() {
        let rules = rules();
        assert!(rules.read(&json!({"event": "Note", "type": "permission"})).is_some());
        let quoted = json!({"event": "Note", "type": "idle", "text": r#""type":"permission""#});
        assert_eq!(rules.read(&quoted), None);
        assert_eq!(rules.read(&json!({"event": "Turn", "text": r#"{"title": "x"}"#})), None);
        assert!(rules.read(&json!({"event": "Turn", "text": "done"})).is_some());
    }

    #[test]
    fn the_command_of_a_dialog_is_read_word_for_word() {
        let said =
            |event: &str, tool: Value| json!({"event": event, "type": "permission", "tool": tool});
        let command = json!({"command": "a\nb"});
        assert_eq!(rules().read_command(&said("Note", command.clone())).as_deref(), Some("a\nb"));
        assert_eq!(rules().read_command(&said("Stop", command)), None);
        for tool in [json!({}), json!("a"), json!({"command": ["a"]})] {
            assert_eq!(rules().read_command(&said("Note", tool)), None);
        }
    }

    #[test]
    fn an_id_that_a_command_line_would_mind_is_none() {
        for id in ["", "-x", "a b", "a;b", "../x", "ä", &"a".repeat(129)] {
            assert!(!is_session(id), "{id}");
        }
        assert!(is_session("01a1e2fc-b923-7d00") && is_session("ses_4f.x"));
    }
}
