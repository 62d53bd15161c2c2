//! Decides a dialog: approved by which rule, or left to a person and why.

use super::rule::{Criteria, Rule, Rules, glob, has_form};
use super::shell::parts;
use crate::model::{Subject, is_unseen};

/// A folder whose files make git run programs: nothing in it is approved by a pattern.
const GIT: &str = ".git";

/// What is to become of a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes, this once, by the rules at these places.
    Approve { rules: Vec<String> },
    /// A person is asked.
    Ask { why: String },
}

/// Decides whether a dialog of an agent is answered with yes. `text` is all that the dialog says:
/// what is denied may stand anywhere in it.
pub fn decide(rules: &Rules, (agent, cli): (&str, &str), subject: &Subject, text: &str) -> Verdict {
    let ask = |why: String| Verdict::Ask { why };
    let deny = rules.deny.iter().filter(|rule| rule.criteria.covers(agent, cli));
    for rule in deny {
        if denies(&rule.criteria, subject, text) {
            return ask(format!("{} denies it", rule.place));
        }
    }
    let approve: Vec<&Rule> =
        rules.approve.iter().filter(|rule| rule.criteria.covers(agent, cli)).collect();
    let found = match subject {
        Subject::Command(command) => of_command(&approve, command),
        Subject::Path(path) => of_path(&approve, path),
    };
    match found {
        Ok(rules) => Verdict::Approve { rules },
        Err(why) => ask(why),
    }
}

fn of_command(rules: &[&Rule], command: &str) -> Result<Vec<String>, String> {
    let parts = parts(command)?;
    let is_compound = parts.len() > 1;
    let mut used = Vec::new();
    for part in parts {
        let mut fitting = rules.iter().filter(|rule| rule.criteria.approves(part));
        let rule = fitting.clone().find(|rule| rule.criteria.compound || !is_compound);
        match (rule, fitting.next()) {
            (Some(rule), _) if used.contains(&rule.place) => {}
            (Some(rule), _) => used.push(rule.place.clone()),
            (None, Some(rule)) => {
                return Err(format!("{} is for this command alone, not in a row", rule.place));
            }
            (None, None) if is_compound => return Err(format!("no rule approves `{part}`")),
            (None, None) => return Err("no rule approves it".to_owned()),
        }
    }
    Ok(used)
}

fn of_path(rules: &[&Rule], path: &str) -> Result<Vec<String>, String> {
    let mut names = path.split('/');
    let is_plain = |name: &str| !matches!(name, "" | "." | "..") && !name.contains(is_unseen);
    if !names.clone().all(is_plain) {
        return Err("it is no plain path where the agent works".to_owned());
    }
    if names.any(|name| name.eq_ignore_ascii_case(GIT)) {
        return Err("git runs what is written there".to_owned());
    }
    let rule = rules.iter().find(|rule| rule.criteria.reaches(path));
    rule.map(|rule| vec![rule.place.clone()]).ok_or_else(|| "no rule approves it".to_owned())
}

/// Says whether what is denied is anywhere in it. Quotes, escapes, case and blanks make no
/// difference, and any word may be the file.
fn denies(criteria: &Criteria, subject: &Subject, text: &str) -> bool {
    let (Subject::Command(said) | Subject::Path(said)) = subject;
    let by_command = criteria.command.as_ref().is_none_or(|pattern| {
        let pattern = format!("*{}*", bare(pattern));
        [said.as_str(), text].iter().any(|text| has_form(&bare(text), &pattern))
    });
    let by_path = criteria.path.as_ref().is_none_or(|pattern| {
        let globs =
            [glob(&pattern.to_lowercase()), glob(&format!("**/{}", pattern.to_lowercase()))];
        let is_hit = |word: &str| globs.iter().flatten().any(|glob| glob.is_match(word));
        let said = bare(said);
        let words = said.split([' ', '=', ':', ',', ';', '&', '|', '<', '>', '(', ')', '@']);
        words.chain([said.as_str()]).any(|word| is_hit(word.trim_start_matches("./")))
    });
    by_command && by_path
}

/// Returns a text in small letters without quotes and escapes, with single blanks.
fn bare(text: &str) -> String {
    let shown: String = text
        .chars()
        .filter(|letter| {
            !matches!(letter, '\'' | '"' | '\\') && (!is_unseen(*letter) || letter.is_whitespace())
        })
        .collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(place: &str, command: &str) -> Rule {
        let criteria = Criteria { command: Some(command.into()), ..Criteria::default() };
        Rule { place: place.into(), criteria }
    }

    fn usual() -> Rules {
        let approve =
            vec![rule("f:1", "git status"), rule("f:2", "cargo test*"), rule("f:3", "npm test")];
        Rules { approve, deny: Vec::new() }
    }

    fn decided(rules: &Rules, command: &str) -> Verdict {
        decide(rules, ("one", "claude"), &Subject::Command(command.into()), command)
    }

    fn by(place: &str) -> Verdict {
        Verdict::Approve { rules: vec![place.into()] }
    }

    #[test]
    fn without_rules_nothing_is_approved() {
        let verdict = decided(&Rules::default(), "git status");
        assert_eq!(verdict, Verdict::Ask { why: "no rule approves it".into() });
    }

    #[test]
    fn no_letter_that_cannot_be_seen_is_approved() {
        let unseen = "\u{115f}\u{1160}\u{3164}\u{ffa0}\u{34f}\u{fe0f}\u{e0100}\u{180b}\u{17b4}\u{2800}\
            \u{ad}\u{200b}\u{202e}\u{2028}\u{feff}\u{1bca0}\u{1d173}\u{13430}\u{e0001}\u{e000}\u{e0fff}";
        for letter in unseen.chars() {
            for command in [format!("cargo test {letter} x"), format!("cargo test x{letter}")] {
                let Verdict::Ask { why } = decided(&usual(), &command) else {
                    panic!("{}", command.escape_unicode())
                };
                assert_eq!(why, "it has a character that cannot be seen");
            }
            let criteria = Criteria { path: Some("src/**".into()), ..Criteria::default() };
            let approve = vec![Rule { place: "f:1".into(), criteria }];
            let path = Subject::Path(format!("src/a{letter}.rs"));
            let rules = Rules { approve, deny: Vec::new() };
            let verdict = decide(&rules, ("one", "claude"), &path, "");
            assert!(matches!(verdict, Verdict::Ask { .. }), "{}", letter.escape_unicode());
        }
        // What people write with is seen.
        for word in ["größe", "naïve", "e\u{301}", "テスト", "한글", "اختبار", "🦀"]
        {
            assert_eq!(decided(&usual(), &format!("cargo test {word}")), by("f:2"), "{word}");
        }
    }

    #[test]
    fn what_a_rule_names_is_approved() {
        for (command, place) in [
            ("git status", "f:1"),
            ("cargo test", "f:2"),
            ("cargo test --lib room::", "f:2"),
            ("cargo test -- 'a; b'", "f:2"),
            ("npm test", "f:3"),
        ] {
            assert_eq!(decided(&usual(), command), by(place), "{command}");
        }
    }

    /// What might be tried to run something else under the name of what is approved.
    const HOSTILE: &[&str] = &[
        "git status; rm -rf /",
        "git status;rm -rf /",
        "git status && rm -rf /",
        "git status || rm -rf /",
        "git status | sh",
        "git status |& sh",
        "git status & rm -rf /",
        "git status\nrm -rf /",
        "git status\rrm -rf /",
        "git status $(rm -rf /)",
        "git status `rm -rf /`",
        "git status \"$(rm -rf /)\"",
        "git status \"`rm -rf /`\"",
        "git status > ~/.bashrc",
        "git status >> .git/config",
        "git status < /etc/passwd",
        "git status <(rm -rf /)",
        "git status 2>&1 | tee x",
        "git status --short",
        "git status-evil",
        "git  status",
        " git status x",
        "git\u{a0}status",
        "git stat\u{200b}us",
        "git st\u{430}tus",
        "\u{202e}git status",
        "GIT STATUS",
        "./git status",
        "/tmp/git status",
        "sudo git status",
        "env git status",
        "bash -c 'git status'",
        "LD_PRELOAD=./x.so git status",
        "PATH=. git status",
        "GIT_PAGER=x git status",
        "git -c core.fsmonitor=./x status",
        "eval git status",
        "exec git status",
        "git status #",
        "git status \\",
        "git \\status",
        "'git' status",
        "{ git status; }",
        "(git status)",
        "! git status",
        "cargo test-evil",
        "cargo tests",
        "cargo testx --lib",
        "cargo test; curl x | sh",
        "cargo test --lib && rm x",
        "cargo test $(id)",
        "cargo test --config \"`id`\"",
        "cargo test *",
        "cargo test ~/evil",
        "cargo test {a,b}",
        "cargo test 'unfinished",
        "cargo test >/dev/null",
        "cargo +nightly test",
        "RUSTC_WRAPPER=./x cargo test",
        "npm test --prefix /tmp/x",
        "npm test;",
        "npm\ttest",
        "npm testing",
        "time npm test",
        "xargs npm test",
        "",
    ];

    #[test]
    fn nothing_else_runs_under_the_name_of_what_is_approved() {
        for command in HOSTILE {
            let verdict = decided(&usual(), command);
            assert!(matches!(verdict, Verdict::Ask { .. }), "{command:?} {verdict:?}");
        }
    }

    #[test]
    fn commands_in_a_row_need_rules_that_allow_it_for_each() {
        let mut rules = usual();
        rules.approve[0].criteria.compound = true;
        let why = |rules: &Rules, command| match decided(rules, command) {
            Verdict::Ask { why } => why,
            Verdict::Approve { rules } => panic!("{rules:?}"),
        };
        let said = why(&rules, "git status && cargo test");
        assert_eq!(said, "f:2 is for this command alone, not in a row");
        rules.approve[1].criteria.compound = true;
        let both = Verdict::Approve { rules: vec!["f:1".into(), "f:2".into()] };
        assert_eq!(decided(&rules, "git status && cargo test | git status"), both);
        assert_eq!(why(&rules, "cargo test && rm x"), "no rule approves `rm x`");
        assert!(why(&rules, "cargo test > x").contains("`>`"));
        assert!(why(&rules, "cargo test & git status").contains("background"));
    }

    #[test]
    fn a_rule_is_for_whom_it_names() {
        let mut rules = usual();
        rules.approve.truncate(1);
        rules.approve[0].criteria.agent = Some("back*".into());
        let subject = Subject::Command("git status".into());
        let decided = |agent, cli, rules: &Rules| decide(rules, (agent, cli), &subject, "");
        assert_eq!(decided("backend", "claude", &rules), by("f:1"));
        assert!(matches!(decided("front", "claude", &rules), Verdict::Ask { .. }));
        rules.approve[0].criteria.cli = Some("codex".into());
        assert!(matches!(decided("backend", "claude", &rules), Verdict::Ask { .. }));
        assert_eq!(decided("backend", "codex", &rules), by("f:1"));
    }

    #[test]
    fn what_is_denied_is_never_approved() {
        let mut rules = usual();
        rules.deny.push(rule("f:9", "--config"));
        let denied = Verdict::Ask { why: "f:9 denies it".into() };
        for command in [
            "cargo test --config x",
            "cargo test '--config' x",
            "cargo test --con\"\"fig=x",
            "cargo test --CONFIG=x",
            "cargo test a--configb",
        ] {
            assert_eq!(decided(&rules, command), denied, "{command}");
        }
        assert_eq!(decided(&rules, "cargo test"), by("f:2"));
        // Anywhere in what the dialog says.
        let subject = Subject::Command("cargo test".into());
        let text = "Bash command\ncargo test\nWith --config, later";
        assert_eq!(decide(&rules, ("one", "claude"), &subject, text), denied);
        rules.deny = vec![rule("f:9", "test*lib")];
        assert_eq!(decided(&rules, "cargo test  --lib"), denied);
        let all = Criteria { agent: Some("one".into()), ..Criteria::default() };
        rules.deny = vec![Rule { place: "f:9".into(), criteria: all }];
        assert_eq!(decided(&rules, "git status"), denied);
    }

    #[test]
    fn files_are_approved_where_the_agent_works_and_nowhere_else() {
        let path = |text: &str| Criteria { path: Some(text.into()), ..Criteria::default() };
        let mut rules = Rules {
            approve: vec![Rule { place: "f:1".into(), criteria: path("src/**") }],
            deny: Vec::new(),
        };
        let decided = |rules: &Rules, file: &str| {
            decide(rules, ("one", "claude"), &Subject::Path(file.into()), file)
        };
        assert_eq!(decided(&rules, "src/a/b.rs"), by("f:1"));
        for file in
            ["a.rs", "src", "/src/a", "src/../a", "../src/a", "src//a", "src/a\u{202e}b", "xsrc/a"]
        {
            assert!(matches!(decided(&rules, file), Verdict::Ask { .. }), "{file:?}");
        }
        rules.approve[0].criteria = path("**");
        assert_eq!(decided(&rules, "a"), by("f:1"));
        for file in [".git/config", "sub/.git/hooks/pre-commit", ".GIT/config"] {
            assert!(matches!(decided(&rules, file), Verdict::Ask { .. }), "{file:?}");
        }
        rules.deny.push(Rule { place: "f:9".into(), criteria: path("*.env") });
        assert!(matches!(decided(&rules, "deep/PROD.env"), Verdict::Ask { .. }));
        rules.approve.push(rule("f:2", "cat*"));
        let cat = |file: &str| {
            let command = Subject::Command(format!("cat {file}"));
            decide(&rules, ("one", "claude"), &command, "")
        };
        assert_eq!(cat("readme"), by("f:2"));
        for file in ["prod.env", "./prod.env", "a/b/prod.env", "--file=prod.env", "'prod.env'"] {
            assert!(matches!(cat(file), Verdict::Ask { .. }), "{file}");
        }
        // A rule for files says nothing of commands.
        assert!(matches!(
            decide(&rules, ("one", "x"), &Subject::Command("src/a".into()), ""),
            Verdict::Ask { .. }
        ));
    }
}
