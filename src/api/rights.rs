//! What follows from a request's row: whether it takes a key, needs the record, may be repeated.

use super::declare::Repeat;
use super::{Change, Request, RequestKind, Speaker};

impl Request {
    /// Says whether making it once more does no harm when nobody knows if it arrived the first time.
    pub fn is_repeatable(&self) -> bool {
        self.kind().right().repeat == Repeat::Harmless || self.own_key().is_some()
    }

    /// Says whether it is about something that counts only if it is on record.
    pub fn wants_record(&self) -> bool {
        self.kind().right().change == Change::Records
    }

    /// Says whether it only reads what there is: nobody starts a hub for it.
    pub fn only_reads(&self) -> bool {
        self.kind().right().change == Change::Reads
    }

    /// Says whether a key makes sense: it changes something, and under the same key it does so once.
    pub fn takes_key(&self) -> bool {
        // A report has a word of its own.
        self.wants_record() && self.kind() != RequestKind::Report
    }

    /// Returns the request as text, without what may differ when it is made again.
    pub fn essence(&self) -> String {
        let mut request = self.clone();
        request.omit();
        serde_json::to_string(&request).expect("a request is plain data")
    }

    /// Returns the key that a prompt has of its own.
    pub fn own_key(&self) -> Option<&str> {
        if let Self::Dispatch { idempotency_key, .. }
        | Self::DispatchTemplate { idempotency_key, .. } = self
        {
            return idempotency_key.as_deref();
        }
        None
    }
}

/// Returns the table as it stands in the documentation.
pub fn rights_table() -> String {
    let head: Vec<String> = Speaker::ALL.iter().map(ToString::to_string).collect();
    let mut text = format!("| request | {} |\n|---|{}\n", head.join(" | "), "---|".repeat(5));
    for kind in RequestKind::ALL {
        let right = kind.right();
        let cells: Vec<String> =
            Speaker::ALL.iter().map(|speaker| right.of(*speaker).to_string()).collect();
        text += &["| `", right.request, "` | ", &cells.join(" | "), " |\n"].concat();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::api::Ask;
    use crate::api::declare::on_the_wire;
    use crate::model::Reach::{All, Never};
    use crate::model::Token;
    use crate::model::{Environment, Role};
    use crate::protocol::{ReportKind, Status};

    #[test]
    fn the_documentation_shows_this_table() {
        let text = include_str!("../../docs/security.md");
        assert!(
            text.contains(&rights_table()),
            "put this into docs/security.md:\n{}",
            rights_table()
        );
    }

    #[test]
    fn every_row_has_a_name_of_its_own_and_a_person_may_all_that_is_not_an_agents_word() {
        let mut names: Vec<&str> =
            RequestKind::ALL.iter().map(|kind| kind.right().request).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RequestKind::ALL.len());
        for kind in RequestKind::ALL {
            let is_agents = matches!(kind, RequestKind::Report | RequestKind::Hook);
            let expected = if is_agents { Never } else { All };
            assert_eq!(kind.right().of(Speaker::Person), expected, "{kind:?}");
        }
    }

    #[test]
    fn no_agent_types_into_a_pane_or_says_yes_for_a_person() {
        use RequestKind::{Allow, Answer, Consent, Down, Keys, Resize, Resolve, Up};
        for kind in [Keys, Answer, Resize, Consent, Allow, Resolve, Up, Down] {
            for role in Role::ALL {
                assert_eq!(kind.right().of(Speaker::Agent(role)), Never, "{kind:?} {role}");
            }
        }
    }

    #[test]
    fn every_request_of_the_schema_has_a_row() {
        let schema: serde_json::Value = serde_json::from_str(crate::api::SCHEMA).unwrap();
        let ask = &schema["ask"];
        let tags = |branches: &serde_json::Value, tag: &str| -> Vec<(String, Option<String>)> {
            let branches = branches["oneOf"].as_array().unwrap();
            let tag = |branch: &serde_json::Value| {
                let asked = branch["properties"]["ask"]["$ref"].as_str().map(ToOwned::to_owned);
                (branch["properties"][tag]["const"].as_str().unwrap().to_owned(), asked)
            };
            branches.iter().map(tag).collect()
        };
        let mut told = BTreeSet::new();
        for (name, inner) in tags(ask, "request") {
            let Some(inner) = inner else {
                told.insert(name);
                continue;
            };
            let definition = &ask["$defs"][inner.trim_start_matches("#/$defs/")];
            told.extend(tags(definition, "about").iter().map(|(one, _)| format!("{name}.{one}")));
        }
        let rows = RequestKind::ALL.iter().map(|kind| kind.right().request.to_owned());
        assert_eq!(told, rows.collect(), "a request without a row has no permissions");
    }

    #[test]
    fn every_reply_is_a_form_of_an_answer() {
        let schema: serde_json::Value = serde_json::from_str(crate::api::SCHEMA).unwrap();
        let text = schema["from_hub"]["$defs"]["Response"].to_string();
        for kind in RequestKind::ALL {
            assert!(!kind.right().replies.is_empty());
            for reply in kind.right().replies {
                assert!(text.contains(&format!("\"{}\"", on_the_wire(reply))), "{kind:?}: {reply}");
            }
        }
    }

    fn environment(value: &str) -> Environment {
        Environment(BTreeMap::from([("SECRET".to_owned(), value.to_owned())]))
    }

    #[test]
    fn the_variables_of_whoever_asks_are_no_part_of_a_request() {
        let up = |team: &str, value: &str| {
            Request::Up { team: Some(team.to_owned()), environment: environment(value) }.essence()
        };
        assert_eq!(up("crew", "one"), up("crew", "two"));
        assert_ne!(up("crew", "one"), up("other", "one"));
        assert!(!up("crew", "hidden").contains("hidden"));
        let dispatch = |prompt: &str, key: &str| {
            let (agents, prompt) = (vec!["one".to_owned()], prompt.to_owned());
            let idempotency_key = Some(key.to_owned());
            let (anyway, command, no_queue) = (false, false, false);
            Request::Dispatch { agents, prompt, idempotency_key, anyway, command, no_queue }
                .essence()
        };
        assert_eq!(dispatch("x", "k1"), dispatch("x", "k2"));
        assert_ne!(dispatch("x", "k1"), dispatch("y", "k1"));
    }

    #[test]
    fn whatever_changes_something_takes_a_key_or_has_one() {
        let withdraw = Request::Withdraw { receipt: crate::model::ReceiptId(1) };
        assert!(withdraw.takes_key());
        assert!(!Request::Status.takes_key());
        let stop = Request::Stop { agents: Vec::new(), grace_ms: None };
        assert!(!stop.takes_key(), "it is done whatever the record says, and once is enough");
    }

    #[test]
    fn no_field_of_a_request_hides_the_number_of_its_frame() {
        let report = Request::Report {
            call: "c1".into(),
            kind: ReportKind::Status(Status::Done),
            text: "x".into(),
            schema: None,
            tag: None,
        };
        let hook = Request::Hook { call: "c2".into(), said: serde_json::json!({"id": "s"}) };
        let token = Some(Token("secret".into()));
        let hello = Request::Hello { protocol: 1, version: "1".into(), token };
        for request in [report, hook, hello] {
            let ask = Ask { id: 7, key: Some("k".into()), request };
            let text = serde_json::to_string(&ask).unwrap();
            let read: Ask = serde_json::from_str(&text).unwrap();
            assert_eq!((read.id, read.key.as_deref()), (7, Some("k")));
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }
    }
}
