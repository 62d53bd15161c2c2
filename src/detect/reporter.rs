//! What reporters made for another tool say: the calls of herdr's hooks and plugins.
//!
//! One JSON object a line: an `id`, a `method` and its `params`, of which `pane_id` says for whom. The
//! state is that of the turn: `working`, `idle`, `blocked` (it wants a person) or `unknown`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::AgentState;

/// A pane has one reporter, or a few; one more takes the place of another.
const SOURCES_MAX: usize = 8;
/// What an explanation shows of a name.
const NAME_CHARS_MAX: usize = 32;
/// The id of a conversation goes into a command line later on; nobody's id is longer.
const SESSION_CHARS_MAX: usize = 128;

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReporterCall {
    /// Goes back with the answer, as it came.
    id: Value,
    /// For whom it speaks; nothing, where the call is about nobody.
    pub pane: Option<String>,
    pub says: ReporterNews,
}

/// What a call says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReporterNews {
    /// What the turn does; nothing: it is not known, or told no longer.
    State(Told),
    /// The conversation's id.
    Session(String),
    /// Nothing that matters here.
    Nothing,
}

/// What a reporter says of the turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub state: Option<AgentState>,
    pub source: String,
    /// Later ones are higher; one that is not comes too late.
    pub seq: Option<u64>,
    /// Such as `reporter.vibe`.
    pub rule: String,
    pub message: String,
    pub session: Option<String>,
}

/// Why a call is not heeded: a word for programs, and one for people.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CallError {
    code: &'static str,
    message: String,
}

#[derive(Deserialize)]
struct RawCall {
    #[serde(default)]
    id: Value,
    method: String,
    #[serde(default)]
    params: Value,
}

impl ReporterCall {
    /// Reads a line; the error comes with the answer to it.
    pub fn read(line: &[u8]) -> Result<Self, Value> {
        let malformed = |error: serde_json::Error| {
            // What is said of it quotes it, escaped twice over.
            let message = format!("That is not a call: {}", short(&error.to_string()));
            refusal(&Value::Null, &CallError { code: "invalid_request", message })
        };
        let RawCall { id, method, params } = serde_json::from_slice(line).map_err(malformed)?;
        let read = || {
            let says = says(&method, &params)?;
            let pane = params["pane_id"].as_str().map(str::to_owned);
            let needs_pane = !matches!(says, ReporterNews::Nothing);
            if needs_pane && pane.is_none() {
                return Err(invalid("`pane_id` is missing"));
            }
            Ok((pane, says))
        };
        match read() {
            Ok((pane, says)) => Ok(Self { id, pane, says }),
            Err(error) => Err(refusal(&id, &error)),
        }
    }

    /// Returns the answer to a call that was heeded.
    pub fn accept(&self) -> Value {
        json!({"id": self.id, "result": {"type": "ok"}})
    }

    /// Returns the answer to what cannot be a call, whatever it says.
    pub fn refuse_line(reason: &str) -> Value {
        let (code, message) = ("invalid_request", reason.to_owned());
        refusal(&Value::Null, &CallError { code, message })
    }

    /// Returns the answer to a call about a pane that nobody knows.
    pub fn refuse_pane(&self) -> Value {
        let message = "No agent that runs has this pane".to_owned();
        refusal(&self.id, &CallError { code: "pane_not_found", message })
    }
}

fn says(method: &str, params: &Value) -> Result<ReporterNews, CallError> {
    let text = |name: &str| params[name].as_str().map(str::to_owned);
    match method {
        "pane.report_agent" => {
            let agent = text("agent").filter(|agent| !agent.is_empty());
            let agent = agent.ok_or_else(|| CallError {
                code: "invalid_agent",
                message: "`agent` must not be empty".to_owned(),
            })?;
            let state = match params["state"].as_str() {
                Some("working") => Some(AgentState::Working),
                Some("idle" | "done") => Some(AgentState::Idle),
                Some("blocked") => Some(AgentState::Waiting),
                Some("unknown") => None,
                _ => return Err(invalid("`state` is idle, working, blocked or unknown")),
            };
            Ok(ReporterNews::State(Told {
                state,
                source: short(&text("source").unwrap_or_default()),
                seq: params["seq"].as_u64(),
                rule: format!("reporter.{}", short(&agent)),
                message: text("message").or_else(|| text("custom_status")).unwrap_or_default(),
                session: session(params),
            }))
        }
        "pane.release_agent" | "pane.clear_agent_authority" => Ok(ReporterNews::State(Told {
            state: None,
            source: short(&text("source").unwrap_or_default()),
            seq: params["seq"].as_u64(),
            rule: "reporter.released".to_owned(),
            message: String::new(),
            session: None,
        })),
        "pane.report_agent_session" => {
            Ok(session(params).map_or(ReporterNews::Nothing, ReporterNews::Session))
        }
        "ping" | "pane.report_metadata" => Ok(ReporterNews::Nothing),
        other => Err(CallError {
            code: "unsupported",
            message: format!("`{}` is not understood here, only reports are", short(other)),
        }),
    }
}

/// Returns an id that can stand in a command line.
fn session(params: &Value) -> Option<String> {
    let id = params["agent_session_id"].as_str()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let is_fit = !id.is_empty() && id.len() <= SESSION_CHARS_MAX && id.chars().all(is_plain);
    (is_fit && !id.starts_with('-')).then(|| id.to_owned())
}

fn short(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect()
}

fn invalid(message: &str) -> CallError {
    CallError { code: "invalid_request", message: message.to_owned() }
}

fn refusal(id: &Value, error: &CallError) -> Value {
    json!({"id": id, "error": {"code": error.code, "message": error.message}})
}

/// The last number of each reporter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reporters {
    last: BTreeMap<String, u64>,
}

impl Reporters {
    /// Says whether a report is not older than one that came before it.
    pub(super) fn admit(&mut self, told: &Told) -> bool {
        let last = self.last.get(&told.source);
        // Who has counted once is not believed without a number.
        let seq = match (told.seq, last) {
            (Some(seq), Some(last)) if seq <= *last => return false,
            (None, Some(_)) => return false,
            (None, None) => return true,
            (Some(seq), _) => seq,
        };
        if last.is_none() && self.last.len() >= SOURCES_MAX {
            self.last.pop_first();
        }
        self.last.insert(told.source.clone(), seq);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As hook scripts and plugins send them.
    fn read(line: &str) -> Result<ReporterCall, Value> {
        ReporterCall::read(line.as_bytes())
    }

    fn told(line: &str) -> Told {
        let ReporterNews::State(told) = read(line).unwrap().says else { panic!("{line}") };
        told
    }

    #[test]
    fn a_report_is_read_as_hooks_send_it() {
        let line = r#"{"id": "herdr:vibe:1790", "method": "pane.report_agent", "params": {"pane_id": "w1:p1",
            "source": "herdr:vibe", "agent": "vibe", "state": "blocked", "seq": 1790, "agent_session_id": "abc-1"}}"#;
        let call = read(line).unwrap();
        assert_eq!(call.pane.as_deref(), Some("w1:p1"));
        assert_eq!(call.accept(), json!({"id": "herdr:vibe:1790", "result": {"type": "ok"}}));
        let told = told(line);
        assert_eq!((told.state, told.rule.as_str()), (Some(AgentState::Waiting), "reporter.vibe"));
        assert_eq!(told.session.as_deref(), Some("abc-1"));
        let line = r#"{"id":"p","method":"pane.report_agent","params":{"pane_id":"w","source":"x","agent":"a","state":"idle","message":"built"}}"#;
        let told = self::told(line);
        assert_eq!((told.state, told.message.as_str()), (Some(AgentState::Idle), "built"));
    }

    #[test]
    fn what_is_about_nobody_or_unknown_is_answered_too() {
        assert_eq!(read(r#"{"id":1,"method":"ping"}"#).unwrap().says, ReporterNews::Nothing);
        let session = r#"{"id":1,"method":"pane.report_agent_session","params":{"pane_id":"w","source":"s","agent":"a","agent_session_id":"s-1"}}"#;
        assert_eq!(read(session).unwrap().says, ReporterNews::Session("s-1".into()));
        let release = r#"{"id":1,"method":"pane.release_agent","params":{"pane_id":"w","source":"s","agent":"a"}}"#;
        assert_eq!(told(release).state, None);
        for (line, code) in [
            ("nonsense", "invalid_request"),
            (r#"{"id":1}"#, "invalid_request"),
            (r#"{"id":1,"method":"pane.send_input","params":{"pane_id":"w"}}"#, "unsupported"),
            (r#"{"id":1,"method":"pane.report_agent","params":{"pane_id":"w"}}"#, "invalid_agent"),
            (
                r#"{"id":1,"method":"pane.report_agent","params":{"agent":"a","state":"idle"}}"#,
                "invalid_request",
            ),
            (
                r#"{"id":1,"method":"pane.report_agent","params":{"pane_id":"w","agent":"a","state":"x"}}"#,
                "invalid_request",
            ),
        ] {
            assert_eq!(read(line).unwrap_err()["error"]["code"], code, "{line}");
        }
    }

    #[test]
    fn an_id_that_could_be_an_option_is_none() {
        for id in ["--help", "a b", "", "a\nb"] {
            assert_eq!(session(&json!({"agent_session_id": id})), None, "{id}");
        }
    }

    #[test]
    fn a_report_that_comes_late_counts_for_nothing() {
        let mut reporters = Reporters::default();
        let told = |source: &str, seq| Told {
            state: None,
            source: source.to_owned(),
            seq,
            rule: String::new(),
            message: String::new(),
            session: None,
        };
        assert!(reporters.admit(&told("a", None)));
        assert!(reporters.admit(&told("a", Some(5))));
        assert!(!reporters.admit(&told("a", Some(5))) && !reporters.admit(&told("a", Some(4))));
        assert!(!reporters.admit(&told("a", None)), "it has counted before");
        assert!(reporters.admit(&told("b", Some(1))) && reporters.admit(&told("a", Some(6))));
        for number in 0..100 {
            assert!(reporters.admit(&told(&number.to_string(), Some(1))));
        }
        assert!(reporters.last.len() <= SOURCES_MAX);
    }
}
