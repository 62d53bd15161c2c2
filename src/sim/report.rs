//! Writes the lines of the protocol that workers report in.

use super::script::Report;

impl Report {
    /// Returns the report's lines, with the attempt's tag after the keyword if there is one.
    pub(super) fn text(&self, tag: &str) -> String {
        let tag = if tag.is_empty() { String::new() } else { format!("({tag})") };
        match self {
            Self::Status { word, text } => format!("STATUS{tag}: {word} — {text}"),
            Self::Progress { step, text } => format!("PROGRESS{tag}: [{step}] — {text}"),
            Self::Build { failure: None } => format!("BUILD{tag}: PASS"),
            Self::Build { failure: Some(error) } => format!("BUILD{tag}: FAIL — {error}"),
            Self::Need { thing, from: Some(agent), why } => {
                format!("NEED{tag}: {thing} from {agent} — {why}")
            }
            Self::Need { thing, from: None, why } => format!("NEED{tag}: {thing} — {why}"),
            Self::Contract { title, body } => {
                format!("CONTRACT{tag}: {title}\n{}\nEND CONTRACT", body.trim_end())
            }
            Self::Artifact { path, kind } => format!("ARTIFACT{tag}: {path} — {kind}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_report_has_its_line() {
        let done = Report::Status { word: "DONE", text: "built + 3 tests pass".into() };
        assert_eq!(done.text("k7f3"), "STATUS(k7f3): DONE — built + 3 tests pass");
        assert_eq!(Report::Build { failure: None }.text(""), "BUILD: PASS");
        let why = "schema of users".to_owned();
        let need = Report::Need { thing: "src/db.rs".into(), from: Some("database".into()), why };
        assert_eq!(need.text(""), "NEED: src/db.rs from database — schema of users");
        let contract = Report::Contract { title: "GET /users".into(), body: "[User]\n".into() };
        assert_eq!(contract.text("a1b2"), "CONTRACT(a1b2): GET /users\n[User]\nEND CONTRACT");
    }
}
