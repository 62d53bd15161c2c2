//! Finds what leads somewhere: addresses, places in files, and the hyperlinks that a program set.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern::SearchPattern;
use super::state::{PaneReading, TextPlace, TextSpan};
use crate::model::ScreenLink;

/// Something that leads somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PaneLink {
    pub span: TextSpan,
    /// What stands on the screen.
    pub text: String,
    pub target: LinkTarget,
}

/// Where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    Address(String),
    File {
        path: String,
        line: Option<u32>,
    },
    /// Of a kind that is never opened.
    Unsafe(String),
}

/// What leads somewhere in plain text.
const FOUND: &str = r#"(?x)
    (?: https?:// | file:// | mailto: ) [^\s<>"'`{}|\\^\x{2500}-\x{259f}]+
    | File \s " [^"]+ ", \s line \s \d+
    | (?: ~?/ | \.{1,2}/ )? [\w@+][\w@.+-]* (?: / [\w@.+-]+ )* \.[A-Za-z]\w* (?: :\d+ (?: :\d+ )? | \(\d+ (?:,\d+)? \) )
"#;

/// A place in a file: the path and the line, in the forms above.
const PLACE: &str = r#"^(?:File "([^"]+)", line (\d+)|(.+?)[:(](\d+)(?:[:,]\d+)?\)?)$"#;

/// These end a sentence around an address more often than the address.
const TRAILING: [char; 8] = ['.', ',', ';', ':', '!', '?', '*', '_'];

/// Links that are listed at once.
const LINKS_MAX: usize = 500;

impl LinkTarget {
    /// Reads an address, as a program set it or as it stands in the text.
    pub(crate) fn of_address(address: &str) -> Self {
        let is_plain = address.chars().all(|c| !c.is_control() && !c.is_whitespace());
        if let Some(rest) = address.strip_prefix("file://").filter(|_| is_plain) {
            // A host may stand before the path; what lies on another one is not found here.
            let path = rest.find('/').map_or("", |at| &rest[at..]);
            let (path, place) = path.split_once('#').unwrap_or((path, ""));
            let line = place.trim_start_matches('L').parse().ok();
            return Self::File { path: decoded(path), line };
        }
        if is_plain && is_safe(address) {
            Self::Address(address.to_owned())
        } else {
            Self::Unsafe(address.to_owned())
        }
    }

    fn of_text(text: &str) -> Option<Self> {
        static PLACES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PLACE).ok());
        if text.contains("://") || text.starts_with("mailto:") {
            return Some(Self::of_address(text));
        }
        let parts = PLACES.as_ref()?.captures(text)?;
        let path = parts.get(1).or(parts.get(3))?.as_str().to_owned();
        let line = parts.get(2).or(parts.get(4)).and_then(|line| line.as_str().parse().ok());
        Some(Self::File { path, line })
    }

    /// Returns it as it is shown and copied.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Address(address) | Self::Unsafe(address) => address.clone(),
            Self::File { path, line: Some(line) } => format!("{path}:{line}"),
            Self::File { path, line: None } => path.clone(),
        }
    }
}

/// Says whether an address may be handed to a program that opens addresses.
pub(crate) fn is_safe(address: &str) -> bool {
    let scheme = address.split(':').next().unwrap_or_default().to_ascii_lowercase();
    matches!(scheme.as_str(), "http" | "https" | "mailto") && !address.starts_with('-')
}

/// Returns what leads somewhere in lines, the newest first: what a program set, then plain text.
pub(crate) fn find_links(
    reading: &PaneReading,
    lines: Range<u64>,
    set: &[(u64, ScreenLink)],
) -> Vec<PaneLink> {
    let mut found: Vec<PaneLink> =
        set.iter().filter_map(|(line, link)| set_link(reading, *line, link)).collect();
    if let Ok(pattern) = SearchPattern::new(FOUND) {
        for span in reading.hits(&pattern, lines) {
            let text = reading.text_in(span);
            let kept = sentence_end(&text);
            let Some(target) = LinkTarget::of_text(&text[..kept]) else { continue };
            let is_known = found.iter().any(|link| link.span.from == span.from);
            if !is_known {
                found.push(PaneLink { span, text: text[..kept].to_owned(), target });
            }
        }
    }
    found.sort_by_key(|link| std::cmp::Reverse(link.span.from));
    let mut seen: Vec<PaneLink> = Vec::new();
    for link in found {
        if seen.len() < LINKS_MAX && seen.iter().all(|other| other.target != link.target) {
            seen.push(link);
        }
    }
    seen
}

/// Returns a hyperlink that a program set, if the line still shows it.
fn set_link(reading: &PaneReading, line: u64, set: &ScreenLink) -> Option<PaneLink> {
    let to = TextPlace { line, col: set.col + set.columns.saturating_sub(1) };
    let span = TextSpan { from: TextPlace { line, col: set.col }, to };
    let text = reading.text_in(span);
    let target = LinkTarget::of_address(&set.target);
    (!text.trim().is_empty()).then_some(PaneLink { span, text, target })
}

/// Returns where an address ends that a sentence goes on behind.
fn sentence_end(text: &str) -> usize {
    let mut kept = text;
    loop {
        let shorter = kept.trim_end_matches(TRAILING);
        let is_unbalanced = |open: char, close: char| {
            shorter.ends_with(close)
                && shorter.matches(close).count() > shorter.matches(open).count()
        };
        let cut = is_unbalanced('(', ')') || is_unbalanced('[', ']');
        let shorter = if cut { &shorter[..shorter.len() - 1] } else { shorter };
        if shorter.len() == kept.len() {
            return kept.len();
        }
        kept = shorter;
    }
}

/// Returns a path without the escapes of an address.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| first == b'%');
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl PaneReading {
    /// Returns the text of a stretch, on one line.
    fn text_in(&self, span: TextSpan) -> String {
        let mut text = String::new();
        for line in span.from.line..=span.to.line {
            let first = if line == span.from.line { span.from.col } else { 0 };
            let last = if line == span.to.line { span.to.col } else { u16::MAX };
            text.push_str(self.cells(line).text_between(first, last));
        }
        text
    }

    /// Returns what leads somewhere from a place, without what a program set.
    pub(crate) fn link_at(&self, place: TextPlace) -> Option<PaneLink> {
        let (from, to) = (self.line_at(place).from.line, self.line_at(place).to.line);
        let links = find_links(self, from..to + 1, &[]);
        links.into_iter().find(|link| link.span.from <= place && place <= link.span.to)
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::reading;
    use super::*;

    fn links(lines: &[&str]) -> Vec<LinkTarget> {
        let reading = reading(0, lines);
        find_links(&reading, 0..24, &[]).into_iter().map(|link| link.target).collect()
    }

    fn file(path: &str, line: u32) -> LinkTarget {
        LinkTarget::File { path: path.to_owned(), line: Some(line) }
    }

    #[test]
    fn addresses_and_places_in_files_are_found_where_they_end() {
        let address = |text: &str| LinkTarget::Address(text.to_owned());
        assert_eq!(links(&["see https://x.dev/a_(b)."]), [address("https://x.dev/a_(b)")]);
        assert_eq!(links(&["(http://localhost:3000/)"]), [address("http://localhost:3000/")]);
        assert_eq!(links(&["error --> src/main.rs:12:5"]), [file("src/main.rs", 12)]);
        assert_eq!(links(&["at ./a-b/c.test.ts(3,4): no"]), [file("./a-b/c.test.ts", 3)]);
        assert_eq!(links(&["  File \"/tmp/x y.py\", line 7, in f"]), [file("/tmp/x y.py", 7)]);
        assert_eq!(links(&["at 12:30:00 all 3/4 tests passed on 127.0.0.1:80"]), []);
        assert_eq!(links(&["a.rs:1", "", "b.rs:2 a.rs:1"]), [file("a.rs", 1), file("b.rs", 2)]);
    }

    #[test]
    fn only_schemes_that_do_no_harm_are_opened() {
        for bad in ["javascript:alert(1)", "ssh://x", "vscode://x", "-https://x", "http://a b", ""]
        {
            assert!(matches!(LinkTarget::of_address(bad), LinkTarget::Unsafe(_)), "{bad}");
        }
        for good in ["https://x.dev", "HTTP://x.dev", "mailto:ada@x.dev"] {
            assert!(matches!(LinkTarget::of_address(good), LinkTarget::Address(_)), "{good}");
        }
        let file = LinkTarget::of_address("file://host/tmp/a%20b.rs#L12");
        assert_eq!(file.words(), "/tmp/a b.rs:12");
    }

    #[test]
    fn what_a_program_set_is_known_by_its_target_and_not_by_its_words() {
        let reading = reading(0, &["click https://good.dev"]);
        let target = "https://other.dev".to_owned();
        let set = [(0, ScreenLink { row: 0, col: 6, columns: 16, target })];
        let found = find_links(&reading, 0..24, &set);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].text, "https://good.dev");
        assert_eq!(found[0].target.words(), "https://other.dev");
    }
}
