//! What a gate checks, as it is written.

use std::path::{Component, Path};

/// Nobody waits a whole day for a gate.
const LIMIT_SECONDS_MAX: u64 = 24 * 60 * 60;

/// A gate: one check, and how long it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    pub check: Check,
    pub limit_seconds: Option<u64>,
}

/// What is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// It ends with this exit code.
    Command {
        command: String,
        code: i32,
    },
    /// The file is there and not empty.
    File {
        path: String,
    },
    /// Something in the file matches.
    Regex {
        path: String,
        pattern: String,
    },
    Json {
        path: String,
    },
    /// The file is written in this format.
    Format {
        format: Format,
        path: String,
    },
    /// The file is JSON that fits the schema: another file, or the schema itself.
    Schema {
        path: String,
        schema: String,
    },
    /// Nothing is uncommitted.
    GitClean,
    /// There are commits that the reference lacks.
    GitAhead {
        reference: String,
    },
    /// There are commits since the attempt began.
    GitCommits,
    /// The contract was published for this task, or exists in this version or a later one, and the
    /// files that it names are there.
    Contract {
        title: String,
        version: Option<u32>,
    },
}

/// A format that is looked into beside JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Toml,
    Yaml,
    Csv,
}

/// Says how a gate is written that was written otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a gate: {reason}")]
pub struct BadGate {
    text: String,
    reason: String,
}

impl Gate {
    /// Reads a gate: a command, or a check that is named before a colon.
    pub fn parse(text: &str) -> Result<Self, BadGate> {
        let bad = |reason: &str| BadGate { text: text.to_owned(), reason: reason.to_owned() };
        if text.trim().is_empty() {
            return Err(bad("a gate cannot be empty"));
        }
        let limit = text.strip_prefix("limit:").map(|rest| {
            let (seconds, rest) = rest.split_once(':')?;
            let seconds: u64 = seconds.parse().ok()?;
            (1..=LIMIT_SECONDS_MAX).contains(&seconds).then_some((seconds, rest))
        });
        let (limit_seconds, rest) = match limit {
            None => (None, text),
            Some(Some((seconds, rest))) => (Some(seconds), rest),
            Some(None) => return Err(bad("write `limit:SECONDS:GATE`, at most a day")),
        };
        let check = Check::parse(rest).map_err(|reason| bad(&reason))?;
        Ok(Self { check, limit_seconds })
    }
}

impl Check {
    /// Says whether the hub would run a program that the gate names.
    pub fn runs_command(&self) -> bool {
        match self {
            Self::Command { .. } => true,
            Self::File { .. }
            | Self::Regex { .. }
            | Self::Json { .. }
            | Self::Format { .. }
            | Self::Schema { .. }
            | Self::GitClean
            | Self::GitAhead { .. }
            | Self::GitCommits
            | Self::Contract { .. } => false,
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').unwrap_or(("", text));
        let pair = || rest.split_once(':').filter(|(_, second)| !second.trim().is_empty());
        let command = |command: &str, code| Self::Command { command: command.to_owned(), code };
        let form = |form: &str| format!("write `{form}`");
        Ok(match kind {
            "cmd" => command(rest, 0),
            "exit" => {
                let told = pair().and_then(|(code, rest)| Some((code.parse().ok()?, rest)));
                let (code, rest) = told.ok_or_else(|| form("exit:CODE:COMMAND"))?;
                command(rest, code)
            }
            "file" => Self::File { path: inside(rest)? },
            "json" => Self::Json { path: inside(rest)? },
            "toml" => Self::Format { format: Format::Toml, path: inside(rest)? },
            "yaml" => Self::Format { format: Format::Yaml, path: inside(rest)? },
            "csv" => Self::Format { format: Format::Csv, path: inside(rest)? },
            "regex" => {
                let (path, pattern) = pair().ok_or_else(|| form("regex:PATH:PATTERN"))?;
                Self::Regex { path: inside(path)?, pattern: pattern.to_owned() }
            }
            "schema" => {
                let (path, schema) = pair().ok_or_else(|| form("schema:PATH:SCHEMA"))?;
                let is_file = !schema.trim_start().starts_with('{');
                let schema = if is_file { inside(schema)? } else { schema.to_owned() };
                Self::Schema { path: inside(path)?, schema }
            }
            "git" => match rest.split_once(':') {
                None if rest == "clean" => Self::GitClean,
                None if rest == "commits" => Self::GitCommits,
                Some(("ahead", name)) if !name.is_empty() && !name.starts_with('-') => {
                    Self::GitAhead { reference: name.to_owned() }
                }
                _ => return Err("write `git:clean`, `git:commits` or `git:ahead:REF`".to_owned()),
            },
            "contract" => {
                contract(rest).ok_or_else(|| form("contract:TITLE` or `contract:TITLE@2"))?
            }
            _ => command(text, 0),
        })
    }
}

fn contract(text: &str) -> Option<Check> {
    let versioned = text.rsplit_once('@').and_then(|(title, number)| {
        let version = number.parse().ok().filter(|version| *version > 0)?;
        Some((title, Some(version)))
    });
    let (title, version) = versioned.unwrap_or((text, None));
    let title = title.trim();
    (!title.is_empty()).then(|| Check::Contract { title: title.to_owned(), version })
}

fn inside(path: &str) -> Result<String, String> {
    if lies_inside(path) {
        return Ok(path.to_owned());
    }
    Err("its file must be in the agent's directory; use a command for other files".to_owned())
}

/// Says whether a path, as it is written, names something below the directory that it is relative
/// to. Links are another matter: whoever opens the file looks at those.
pub fn lies_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    parts.peek().is_some()
        && !path.chars().any(char::is_control)
        && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        && Path::new(path).file_name().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Check {
        Gate::parse(text).unwrap().check
    }

    #[test]
    fn a_gate_is_a_command_or_a_named_check() {
        let command = |command: &str, code| Check::Command { command: command.to_owned(), code };
        let text = str::to_owned;
        assert_eq!(check("cargo test"), command("cargo test", 0));
        assert_eq!(check("test a:b"), command("test a:b", 0));
        assert_eq!(check("cmd:file:x"), command("file:x", 0));
        assert_eq!(check("exit:3:sh x:y"), command("sh x:y", 3));
        assert_eq!(check("file:a b"), Check::File { path: text("a b") });
        let csv = Check::Format { format: Format::Csv, path: text("a.csv") };
        assert_eq!(check("csv:a.csv"), csv);
        assert_eq!(check("regex:a:b:c"), Check::Regex { path: text("a"), pattern: text("b:c") });
        assert_eq!(
            check("schema:a.json:{\"type\":1}"),
            Check::Schema { path: text("a.json"), schema: text("{\"type\":1}") }
        );
        assert_eq!(check("git:ahead:main"), Check::GitAhead { reference: text("main") });
        assert_eq!(
            check("contract:users api@2"),
            Check::Contract { title: text("users api"), version: Some(2) }
        );
        assert_eq!(check("contract:a@b"), Check::Contract { title: text("a@b"), version: None });
        let limited = Gate::parse("limit:30:git:clean").unwrap();
        assert_eq!((limited.limit_seconds, limited.check), (Some(30), Check::GitClean));
    }

    #[test]
    fn what_looks_like_a_check_and_is_none_is_told_with_its_form() {
        for (text, words) in [
            ("", "cannot be empty"),
            ("regex:a", "regex:PATH:PATTERN"),
            ("schema:a.json", "schema:PATH:SCHEMA"),
            ("schema:a.json:../s", "must be in"),
            ("exit:x:y", "exit:CODE:COMMAND"),
            ("git:dirty", "git:clean"),
            ("git:ahead:--x", "git:ahead:REF"),
            ("limit:0:ls", "limit:SECONDS:GATE"),
            ("contract:", "contract:TITLE"),
            ("file:/etc/passwd", "must be in"),
            ("file:../x", "must be in"),
            ("json:", "must be in"),
        ] {
            let said = Gate::parse(text).unwrap_err().to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }

    #[test]
    fn only_names_below_lie_inside() {
        for path in ["a", "./a/b", "-dash", "ünï/çödé", "a..b", "...", "a/./b"] {
            assert!(lies_inside(path), "{path}");
        }
        for path in ["", ".", "/", "..", "a/../b", "../a", "/a", "a\0b", "a\nb", "a/.."] {
            assert!(!lies_inside(path), "{path:?}");
        }
    }
}
