//! Defines a rule, and what it covers.

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;

/// All rules that hold; what is denied is never approved, whatever else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    pub approve: Vec<Rule>,
    pub deny: Vec<Rule>,
}

/// One rule, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Such as `wheelhouse.toml:12`.
    pub place: String,
    pub criteria: Criteria,
}

/// What a rule says. What it leaves out, it does not ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Criteria {
    /// Names of agents, with `*`.
    pub agent: Option<String>,
    /// Names of clis, with `*`.
    pub cli: Option<String>,
    /// To approve: the words of a command; a `*` at the end stands for any further ones. To deny:
    /// what may not stand anywhere in it; a `*` stands for anything.
    pub command: Option<String>,
    /// Files, relative to where the agent works.
    pub path: Option<String>,
    /// The command may be one of several in a row, each of which must be approved.
    pub compound: bool,
}

/// Says what is wrong with a rule: the key, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub key: &'static str,
    pub message: &'static str,
    pub hint: &'static str,
}

impl Rules {
    /// Says whether nothing is approved.
    pub fn is_empty(&self) -> bool {
        self.approve.is_empty()
    }

    /// Says whether a rule approves anything of this agent.
    pub fn may_approve(&self, agent: &str, cli: &str) -> bool {
        self.approve.iter().any(|rule| rule.criteria.covers(agent, cli))
    }
}

impl Criteria {
    /// Returns what is wrong with it as a rule that approves.
    pub fn fault_to_approve(&self) -> Option<Fault> {
        let fault = |key, message, hint| Some(Fault { key, message, hint });
        match (&self.command, &self.path) {
            (None, None) => fault(
                "command",
                "A rule that approves must say what",
                "Add `command = \"cargo test*\"` or `path = \"src/**\"`",
            ),
            (Some(_), Some(_)) => fault(
                "path",
                "A rule approves a command or a file, not both",
                "Write two rules: one with `command`, one with `path`",
            ),
            (Some(command), None) if !names_program(command) => fault(
                "command",
                "Only whole words can be approved, and `*` stands for the words after them",
                "Begin with the program, and end with `*` if anything may follow: `cargo test*`",
            ),
            (None, Some(_)) if self.compound => {
                fault("compound", "Only commands can be made of several", "Leave `compound` out")
            }
            (Some(_), None) | (None, Some(_)) => self.fault_of_patterns(),
        }
    }

    /// Returns what is wrong with it as a rule that denies.
    pub fn fault_to_deny(&self) -> Option<Fault> {
        let fault = |key, message, hint| Some(Fault { key, message, hint });
        if self.compound {
            return fault("compound", "A denial holds for any command", "Leave `compound` out");
        }
        let all = [&self.agent, &self.cli, &self.command, &self.path];
        if all.into_iter().all(Option::is_none) {
            let hint = "Add `command`, `path`, `agent` or `cli`";
            return fault("command", "A denial must say whom or what it is for", hint);
        }
        self.fault_of_patterns()
    }

    fn fault_of_patterns(&self) -> Option<Fault> {
        let named = [
            ("agent", &self.agent),
            ("cli", &self.cli),
            ("command", &self.command),
            ("path", &self.path),
        ];
        let is_blank = |text: &String| text.trim_matches([' ', '*']).is_empty();
        let hint = "Leave it out where it does not matter";
        let blank = named
            .iter()
            .find(|(key, value)| *key != "path" && value.as_ref().is_some_and(is_blank));
        if let Some((key, _)) = blank {
            return Some(Fault { key, message: "It says nothing", hint });
        }
        let path = self.path.as_deref()?;
        let climbs = path.split('/').any(|part| part == "..");
        if path.is_empty() || path.starts_with(['/', '~']) || climbs || glob(path).is_none() {
            return Some(Fault {
                key: "path",
                message: "This is no pattern of files where the agent works",
                hint: "Write it relative to that directory, such as `src/**`",
            });
        }
        None
    }

    /// Says whether the rule is for this agent.
    pub(super) fn covers(&self, agent: &str, cli: &str) -> bool {
        let fits = |pattern: &Option<String>, name: &str| {
            pattern.as_ref().is_none_or(|pattern| has_form(name, pattern))
        };
        fits(&self.agent, agent) && fits(&self.cli, cli)
    }

    /// Says whether a simple command is the one that the rule approves, word by word.
    pub(super) fn approves(&self, command: &str) -> bool {
        let Some(pattern) = &self.command else { return false };
        let wanted = pattern.trim_end_matches('*').trim_matches(' ');
        match command.strip_prefix(wanted) {
            Some("") => true,
            Some(rest) => pattern.ends_with('*') && rest.starts_with(' '),
            None => false,
        }
    }

    /// Says whether the file is one that the rule is about.
    pub(super) fn reaches(&self, path: &str) -> bool {
        let glob = self.path.as_deref().and_then(glob);
        glob.is_some_and(|glob| glob.is_match(path))
    }
}

/// Says whether a pattern begins with a program and has `*` at most once, at its end.
fn names_program(pattern: &str) -> bool {
    let words = pattern.strip_suffix('*').unwrap_or(pattern);
    let is_clean = !words.contains(['*', '\n', '\t']);
    is_clean && !words.trim().is_empty() && words.trim_start() == words
}

/// Returns the pattern of a path; `*` and `?` stay within one name, `**` does not.
pub(super) fn glob(pattern: &str) -> Option<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().ok()?;
    Some(glob.compile_matcher())
}

/// Says whether a text has the form of a pattern, in which `*` stands for anything.
pub(super) fn has_form(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (text, pattern) in [
            ("a", "a"),
            ("abc", "a*"),
            ("abc", "*c"),
            ("abcabc", "a*b*c"),
            ("", "*"),
            ("aa", "a*a"),
        ] {
            assert!(has_form(text, pattern), "{text} {pattern}");
        }
        for (text, pattern) in
            [("b", "a"), ("a", "a*a"), ("ab", "*a"), ("abc", "a*d*c"), ("ab", "a")]
        {
            assert!(!has_form(text, pattern), "{text} {pattern}");
        }
    }

    #[test]
    fn a_rule_that_would_approve_too_much_is_none() {
        let command = |text: &str| Criteria { command: Some(text.into()), ..Criteria::default() };
        for bad in ["", " ", "*", "* test", "cargo * test", " cargo", "cargo test**"] {
            assert!(command(bad).fault_to_approve().is_some(), "{bad:?}");
        }
        for good in ["git status", "cargo test*", "cargo test *", "npm test"] {
            assert_eq!(command(good).fault_to_approve(), None, "{good}");
        }
        let path = |text: &str| Criteria { path: Some(text.into()), ..Criteria::default() };
        for bad in ["", "/etc/**", "../x", "a/../b", "~/x", "a[", "src/../../x"] {
            assert_eq!(path(bad).fault_to_approve().map(|fault| fault.key), Some("path"), "{bad}");
        }
        assert_eq!(path("src/**").fault_to_approve(), None);
        assert_eq!(Criteria::default().fault_to_approve().unwrap().key, "command");
        let both = Criteria { path: Some("a".into()), ..command("a") };
        assert_eq!(both.fault_to_approve().unwrap().key, "path");
        assert!(Criteria::default().fault_to_deny().is_some());
        assert!(Criteria { compound: true, ..command("rm") }.fault_to_deny().is_some());
        assert_eq!(command("*rm*").fault_to_deny(), None);
        assert_eq!(
            Criteria { cli: Some("*".into()), ..command("a") }.fault_to_deny().unwrap().key,
            "cli"
        );
    }
}
