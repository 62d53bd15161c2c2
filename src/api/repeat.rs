//! Which requests can be made again when their answer was lost, and by what each is known.

use super::{Request, RunRequest};
use crate::model::Environment;

impl Request {
    /// Says whether a key makes sense: it changes something, and under the same key it does so once.
    pub fn takes_key(&self) -> bool {
        // A report has a word of its own.
        self.wants_record() && !matches!(self, Self::Report { .. })
    }

    /// Returns the request as text, without what may differ when it is made again: the variables of
    /// whoever asks, which may also be secrets, and the key itself.
    pub fn essence(&self) -> String {
        let mut request = self.clone();
        match &mut request {
            Self::Up { environment, .. }
            | Self::Start { environment, .. }
            | Self::Restart { environment, .. }
            | Self::Resume { environment, .. }
            | Self::Run {
                ask: RunRequest::Begin { environment, .. } | RunRequest::Resume { environment, .. },
            } => *environment = Environment::default(),
            Self::Add { agent, environment } => {
                *environment = Environment::default();
                agent.env.0.values_mut().for_each(String::clear);
            }
            Self::Dispatch { idempotency_key, .. }
            | Self::DispatchTemplate { idempotency_key, .. } => *idempotency_key = None,
            Self::Hello { .. }
            | Self::Status
            | Self::Report { .. }
            | Self::Me
            | Self::Hook { .. }
            | Self::Stop { .. }
            | Self::Forget { .. }
            | Self::Down { .. }
            | Self::Read { .. }
            | Self::Withdraw { .. }
            | Self::AwaitReceipts { .. }
            | Self::AwaitAgent { .. }
            | Self::Answer { .. }
            | Self::Interrupt { .. }
            | Self::Keys { .. }
            | Self::Resize { .. }
            | Self::Explain { .. }
            | Self::Reload
            | Self::FlushCast { .. }
            | Self::Diff { .. }
            | Self::Tree { .. }
            | Self::Watch { .. }
            | Self::Subscribe
            | Self::History { .. }
            | Self::Screen { .. }
            | Self::Teams { .. }
            | Self::Clis { .. }
            | Self::Task { .. }
            | Self::Run { ask: RunRequest::Cancel { .. } | RunRequest::List }
            | Self::Lock { .. }
            | Self::Workspace { .. }
            | Self::Contracts { .. }
            | Self::Events { .. } => {}
        }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

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
}
