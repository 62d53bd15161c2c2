//! Finds what looks like a key, a token or a password in a text.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Tokens that tell themselves by how they begin, which is left to be read.
const TOKENS: &[&str] = &[
    r"\b(?:sk|rk|pk)-(?P<secret>[A-Za-z0-9_-]{16,})",
    r"\b(?:sk|rk|whsec)_(?:live_|test_)?(?P<secret>[A-Za-z0-9]{16,})",
    r"\bgh[pousr]_(?P<secret>[A-Za-z0-9]{16,})",
    r"\bgithub_pat_(?P<secret>[A-Za-z0-9_]{16,})",
    r"\bgl(?:pat|rt|dt|ptt|cbt)-(?P<secret>[A-Za-z0-9_.-]{16,})",
    r"\bxox[abeoprs]-(?P<secret>[A-Za-z0-9-]{10,})",
    r"\bxapp-(?P<secret>[A-Za-z0-9-]{10,})",
    r"\b(?:AKIA|ASIA)(?P<secret>[A-Z0-9]{16})\b",
    r"\bAIza(?P<secret>[A-Za-z0-9_-]{30,})",
    r"\bya29\.(?P<secret>[A-Za-z0-9_-]{20,})",
    r"\b(?:npm|hf|dop_v1|shpat)_(?P<secret>[A-Za-z0-9]{24,})",
    r"\bpypi-(?P<secret>[A-Za-z0-9_-]{24,})",
    r"\bAGE-SECRET-KEY-1(?P<secret>[A-Z0-9]{20,})",
    r"\beyJ(?P<secret>[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)",
    r"(?i)\b(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/=-]{8,})",
];

/// What stands in the place of a secret by its name or its surroundings.
const PLACES: &[&str] = &[
    // NAME=value, as in a shell; `:` and blanks only before a quoted value, as in JSON and code.
    r#"(?i)\b[\w.-]*(?:password|passwd|passphrase|pwd|secret|token|credential|(?:api|[_-])key)["']?=["']?(?P<secret>[^\s"'`;&|)<>]{3,})"#,
    r#"(?i)\b[\w.-]*(?:password|passwd|passphrase|pwd|secret|token|credential|(?:api|[_-])key)["']?\s{0,3}(?::=?|=>?)\s{0,3}["'](?P<secret>[^\s"'`]{3,})["']"#,
    r"(?i)--?(?:password|passwd|token|api-?key|secret|access-key)[ =](?P<secret>[^\s-]\S{2,})",
    r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,200}:(?P<secret>[^\s/@]{1,300})@",
    // What a program puts into the clipboard, in base64.
    r"(?m)^52;[a-z0-9]*;(?P<secret>[A-Za-z0-9+/=]{3,})$",
];

/// What follows is a private key, up to what is no part of one.
const KEY_HEAD: &str = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
const KEY_END: &str = "-----END";
/// A private key is not longer.
const KEY_BYTES_MAX: usize = 16 * 1024;

/// Where a long token goes on when an interface has broken it.
const NEXT_ROW: &str = r"\A[ │┃|]*\n[ │┃|>]*(?P<secret>[A-Za-z0-9_.+/=-]{4,})(?:[\s│┃|]|\z)";

/// A token is never broken into more rows.
const ROWS_MAX: usize = 20;

struct Patterns {
    tokens: Vec<Regex>,
    places: Vec<Regex>,
    key_head: Regex,
    next_row: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let compile = |pattern: &str| Regex::new(pattern).expect("the pattern is tested");
    Patterns {
        tokens: TOKENS.iter().map(|pattern| compile(pattern)).collect(),
        places: PLACES.iter().map(|pattern| compile(pattern)).collect(),
        key_head: compile(KEY_HEAD),
        next_row: compile(NEXT_ROW),
    }
});

/// Returns where in the text the secrets are; they may overlap.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let patterns = &*PATTERNS;
    let found = |pattern: &Regex| -> Vec<Range<usize>> {
        let secret = |captures: regex::Captures| captures.name("secret").map(|found| found.range());
        pattern.captures_iter(text).filter_map(secret).collect()
    };
    let mut ranges = Vec::new();
    for range in patterns.tokens.iter().flat_map(found) {
        if looks_random(&text[range.clone()]) {
            ranges.extend(next_rows(text, range.end, &patterns.next_row));
            ranges.push(range);
        }
    }
    let named = patterns.places.iter().flat_map(found);
    ranges.extend(named.filter(|range| !is_reference(&text[range.clone()])));
    let heads = patterns.key_head.find_iter(text);
    ranges.extend(heads.map(|head| head.end()..key_end(text, head.end())));
    ranges
}

/// Returns where the private key that begins here ends; its end may be out of sight.
fn key_end(text: &str, start: usize) -> usize {
    let is_part =
        |c: char| c.is_ascii_alphanumeric() || c.is_whitespace() || "+/=:,-│┃|>".contains(c);
    let rest = &text[start..];
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let length = rest[..length].find(KEY_END).unwrap_or(length);
    start + rest.floor_char_boundary(length.min(KEY_BYTES_MAX))
}

/// Returns the parts of a token that stand in the rows after its first.
fn next_rows(text: &str, end: usize, next_row: &Regex) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut at = end;
    while parts.len() < ROWS_MAX {
        let found = next_row.captures(&text[at..]).and_then(|captures| captures.name("secret"));
        let Some(part) = found.filter(|part| looks_random(part.as_str())) else { break };
        parts.push(at + part.start()..at + part.end());
        at += part.end();
    }
    parts
}

/// Says whether it is no word that someone would read: letters and digits are mixed.
pub(super) fn looks_random(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// Says whether the value only tells where the secret is to be had, or that there is none.
fn is_reference(value: &str) -> bool {
    let value = value.trim();
    let names = ["process.env", "os.environ", "os.getenv", "env.", "self.", "this.", "config."];
    let words = ["null", "none", "true", "false", "undefined", "string", "str", "redacted"];
    let is_mark = |c: char| matches!(c, '*' | '•' | '.' | 'x' | 'X' | '…');
    value.starts_with(['$', '<', '{', '%', '('])
        || names.iter().any(|name| value.starts_with(name))
        || words.iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.chars().all(is_mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(text: &str) -> String {
        let mut out = text.to_owned();
        let mut ranges = secrets(text);
        ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
        for range in ranges {
            let blank = |c: char| if c.is_whitespace() { c } else { '*' };
            let blanked: String = out[range.clone()].chars().map(blank).collect();
            out.replace_range(range, &blanked);
        }
        out
    }

    #[test]
    fn usual_forms_of_secrets_are_found() {
        // Put together here, so that no scanner takes this file for a leak.
        let body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        let jwt = format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{body}");
        for text in [
            format!("sk-{body}"),
            format!("export KEY sk-ant-api03-{body}-{body}AA"),
            format!("sk-proj-{body}"),
            format!("sk_live_{body}"),
            format!("ghp_{body}"),
            format!("gho_{body}"),
            format!("github_pat_11{body}_{body}"),
            format!("glpat-{body}"),
            format!("xoxb-123456789012-{body}"),
            "id AKIAIOSFODNN7EXAMPLE and".to_owned(),
            format!("AIza{body}"),
            format!("npm_{body}"),
            format!("hf_{body}"),
            jwt,
            format!("Authorization: Bearer {body}"),
            "Authorization: Basic dXNlcjpwYXNzd29yZDE=".to_owned(),
        ] {
            let shown = blanked(&text);
            assert!(!shown.contains(&body[8..20]) && shown.contains("********"), "{shown}");
            assert_eq!(shown.len(), text.len());
        }
    }

    #[test]
    fn what_is_named_as_a_secret_is_found() {
        for text in [
            "password=hunter2",
            "PGPASSWORD=hunter2 psql",
            "GITHUB_TOKEN=hunter2",
            "export STRIPE_SECRET=\"hunter2\"",
            "MY_API_KEY='hunter2'",
            "{\"password\": \"hunter2\"}",
            "api_key: \"hunter2\"",
            "let token = \"hunter2\";",
            "mysql --password=hunter2 -u root",
            "curl --token hunter2",
            "postgres://admin:hunter2@127.0.0.1:5432/db",
            "https://:hunter2@example.com",
            "?user=me&token=hunter2&x=1",
        ] {
            assert!(!blanked(text).contains("hunter2"), "{}", blanked(text));
        }
        assert_eq!(blanked("db://u:hunter2@h/p"), "db://u:*******@h/p");
        assert_eq!(blanked("X_TOKEN=hunter2 ls"), "X_TOKEN=******* ls");
    }

    #[test]
    fn a_private_key_is_found_whole_and_also_when_its_end_is_missing() {
        let lines = "\nMIIEvQIBADANBgkqhkiG9w0\n  BAQEFAASCBKcwggSjAgEA\n";
        let begin = "-----BEGIN OPENSSH PRIVATE KEY-----";
        for end in ["-----END OPENSSH PRIVATE KEY-----\nok.", ""] {
            let shown = blanked(&format!("{begin}{lines}{end}"));
            assert!(!shown.contains("MIIE") && !shown.contains("BAQE"), "{shown}");
            assert_eq!((shown.starts_with(begin), shown.ends_with(end)), (true, true), "{shown}");
        }
        assert!(secrets("-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0\n").is_empty());
    }

    #[test]
    fn a_token_that_an_interface_broke_is_found_to_its_end() {
        let text = "│ sk-ant-api03-a1B2c3D4e5F6g7H8 │\n│ i9J0k1L2m3N4 │\n│ and that is all of it │";
        let shown = blanked(text);
        assert!(!shown.contains("i9J0") && shown.contains("and that is all of it"), "{shown}");
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "commit 3f9a2c1d8b7e6f5a4c3b2d1e0f9a8b7c6d5e4f3a",
            "id 550e8400-e29b-41d4-a716-446655440000",
            "pip install scikit-learn; risk-assessment-of-the-whole-project-2026",
            "class=\"sk-circle-fade-dot-and-more\"",
            "Tokens: 2.1k sent, 100 received. max_tokens=4096",
            "Enter your password: ",
            "password=$PASSWORD token=${TOKEN} key=<your-key>",
            "API_KEY=process.env.API_KEY PASSWORD=****",
            "The token is read from the header; the secret lies elsewhere.",
            "bearer authentication is used",
            "https://example.com:8080/a@b git@github.com:x/y.git",
            "let next_token = lexer.next();",
            "STATUS: DONE — built 6 endpoints, tests pass (23/23)",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "monkey=banana keyboard=qwerty",
            "eyJust a word",
            "52 files; 52;c",
        ] {
            assert_eq!(blanked(text), text);
        }
    }
}
