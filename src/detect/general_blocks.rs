//! Tells whose words each row is, on a screen of which no rule knows anything.
//!
//! The echo of a prompt is known by the words that were sent. Where those are not known, by the marks that most
//! programs put before it. A tool's output stands behind a bar or a corner. What is left is the agent's own.

use crate::model::BlockKind;
use crate::protocol::starts_report;

use super::blocks::Part;
use super::composer::is_rule;
use super::view::TextRow;

/// So many prompts are remembered; a screen shows no more.
const PROMPTS_MAX: usize = 8;
/// So many letters of a prompt are compared.
const PROMPT_CHARS_MAX: usize = 20_000;
/// Fewer letters are found in any text.
const LETTERS_MIN: usize = 6;
/// A prompt whose first rows are out of sight is known by so many letters of one row.
const MIDDLE_LETTERS_MIN: usize = 10;
/// Mark the echo of a prompt.
const ECHO_MARKS: &[char] = &['❯', '›', '>', '»'];
/// Mark the agent's own message.
pub(super) const OWN_MARKS: &[char] = &['⏺', '●', '•', '✦', '◦', '◆', '◇', '⬥', '✧'];
/// Stand before the first row of what a tool printed; the others are indented further.
const CORNERS: &[char] = &['⎿', '└', '├', '╰', '╭', '┌', '↳', '⤷'];
/// Stand before each row of what a tool printed, or of a quotation.
pub(super) const BARS: &[char] = &['│', '┃', '▌', '▎', '▏', '║', '┊'];

/// Keeps the prompts that were sent, newest last, as their letters.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Prompts(Vec<String>);

impl Prompts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn note(&mut self, prompt: &str) {
        let letters: String = letters(prompt).chars().take(PROMPT_CHARS_MAX).collect();
        if letters.is_empty() {
            return;
        }
        self.0.retain(|known| *known != letters);
        self.0.push(letters);
        let extra = self.0.len().saturating_sub(PROMPTS_MAX);
        self.0.drain(..extra);
    }

    /// Says whether a row is the first of a prompt's echo.
    pub(super) fn begins_in(&self, row: &TextRow) -> bool {
        self.whole_echo(std::slice::from_ref(row)) > 0
    }

    /// Returns how many rows, from the first on, are the echo of a prompt from its beginning on.
    fn whole_echo(&self, rows: &[TextRow]) -> usize {
        // An agent that reports in the words in which it was asked to reports.
        if rows.first().is_none_or(|row| starts_report(&row.text)) {
            return 0;
        }
        self.0.iter().map(|prompt| echo_rows(prompt, rows)).max().unwrap_or(0)
    }

    /// Returns how many rows, from the first on, are the echo of a prompt whose beginning is out of sight.
    fn rest_of_echo(&self, rows: &[TextRow]) -> usize {
        let first = rows.first().map_or("", |row| &row.text);
        if first.trim_start().starts_with(OWN_MARKS) || starts_report(first) {
            return 0;
        }
        let first = letters(first);
        if first.len() < MIDDLE_LETTERS_MIN {
            return 0;
        }
        let rest = |prompt: &String| prompt.find(&first).map(|at| echo_rows(&prompt[at..], rows));
        self.0.iter().rev().filter_map(rest).max().unwrap_or(0)
    }
}

/// Returns how many rows say what the prompt says, from its beginning on.
fn echo_rows(prompt: &str, rows: &[TextRow]) -> usize {
    let mut rest = prompt;
    let mut end = 0;
    for (at, row) in rows.iter().enumerate() {
        let row = letters(&row.text);
        if row.is_empty() {
            continue;
        }
        let common = common_prefix(rest, &row);
        // A program may put the time behind the prompt, or cut it.
        let is_said = common == row.len()
            || (common >= LETTERS_MIN && common * 10 >= row.len() * 6)
            || (common > 0 && common == rest.len());
        let is_short = end == 0 && common < LETTERS_MIN && common < rest.len();
        if !is_said || is_short {
            break;
        }
        rest = &rest[common..];
        end = at + 1;
        if rest.is_empty() {
            break;
        }
    }
    end
}

/// Returns how many bytes both begin with.
fn common_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns for each row what it belongs to.
pub(super) fn classify(rows: &[TextRow], prompts: &Prompts) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::with_capacity(rows.len());
    let mut block = Block::default();
    let mut after_blank = true;
    while parts.len() < rows.len() {
        let at = parts.len();
        let row = &rows[at];
        if at > 0 && rows[at - 1].is_wrapped {
            parts.push(Part { kind: parts[at - 1].kind, is_start: false });
            continue;
        }
        if row.text.trim().is_empty() {
            after_blank = true;
            parts.push(Part { kind: block.kind, is_start: false });
            continue;
        }
        let whole = prompts.whole_echo(&rows[at..]);
        let rest = if whole > 0 || block.is_known { 0 } else { prompts.rest_of_echo(&rows[at..]) };
        if whole + rest > 0 {
            let part = |row| Part { kind: BlockKind::Echo, is_start: row == 0 && whole > 0 };
            parts.extend((0..whole + rest).map(part));
            // Whatever stands below it belongs to somebody else.
            block = Block { kind: BlockKind::Chrome, is_known: true, is_after_echo: true, ..block };
            (block.indent, after_blank) = (0, true);
            continue;
        }
        let said = spoken(&rows[at..]).filter(|_| block.is_named);
        if let Some(said) = said {
            let part = |at| Part { kind: BlockKind::Own, is_start: at == 0 };
            parts.extend((0..said).map(part));
            block.begin(BlockKind::Chrome, 0);
            after_blank = true;
            continue;
        }
        let is_start = block.take(&row.text, after_blank);
        block.is_named = is_name(&row.text);
        // A mark alone begins no turn where the prompts are known: it may be one of a dialog.
        let is_turn = block.kind != BlockKind::Echo || prompts.is_empty();
        parts.push(Part { kind: block.kind, is_start: is_start && is_turn });
        after_blank = false;
    }
    parts
}

/// Returns how many rows stand behind one bar, if the first and the last have nothing but the bar: a panel, and
/// no quotation.
fn spoken(rows: &[TextRow]) -> Option<usize> {
    let bar = rows.first()?.text.trim().chars().next().filter(|bar| BARS.contains(bar))?;
    let is_bar = |row: &&TextRow| row.text.trim_start().starts_with(bar);
    let is_bare = |row: &TextRow| row.text.trim().chars().count() == 1;
    let height = rows.iter().take_while(is_bar).count();
    (height > 2 && is_bare(&rows[0]) && is_bare(&rows[height - 1])).then_some(height)
}

/// Says whether a row is a name with a colon, as stands above what the named one says.
fn is_name(row: &str) -> bool {
    let name = row.strip_suffix(':').unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || "-_./ ".contains(c);
    let begins = name.starts_with(char::is_alphanumeric);
    begins && name.chars().all(is_part) && name.split(' ').count() < 3 && name.len() < 40
}

/// What the rows so far have begun.
#[expect(clippy::struct_excessive_bools, reason = "each is something seen by itself")]
struct Block {
    kind: BlockKind,
    /// It is known where it began.
    is_known: bool,
    /// It is the echo of a prompt in a frame of half blocks, up to the lower one.
    is_framed: bool,
    indent: usize,
    /// Nothing stands between it and the echo of a prompt.
    is_after_echo: bool,
    /// Where a star stands that marks the agent's own messages.
    star: Option<usize>,
    /// The last row was a name with a colon.
    is_named: bool,
}

impl Default for Block {
    fn default() -> Self {
        let kind = BlockKind::Chrome;
        let (is_known, is_framed, is_after_echo) = (false, false, false);
        Self { kind, is_known, is_framed, indent: 0, is_after_echo, star: None, is_named: false }
    }
}

impl Block {
    /// Takes the next row, and says whether it begins a block.
    fn take(&mut self, text: &str, after_blank: bool) -> bool {
        let trimmed = text.trim_start();
        let indent = text.chars().count() - trimmed.chars().count();
        let begins = |marks: &[char]| {
            let rest = trimmed.strip_prefix(marks);
            rest.is_some_and(|rest| {
                rest.is_empty() || rest.starts_with([' ', '\u{a0}', '\u{fe0e}'])
            })
        };
        let is_all = |sign: char| {
            trimmed.chars().count() > 9 && trimmed.chars().all(|c| c == sign || c == ' ')
        };
        if is_all('▄') || is_all('▀') {
            self.is_framed = is_all('▄');
            return self.begin(BlockKind::Echo, indent);
        }
        if self.is_framed {
            return false;
        }
        if is_rule(text) {
            return self.begin(BlockKind::Chrome, indent);
        }
        if begins(OWN_MARKS) {
            return self.begin(BlockKind::Own, indent);
        }
        // A star is the mark of a list, too: what stands right below a prompt begins with the agent's own.
        let is_first = self.is_after_echo && self.kind == BlockKind::Chrome;
        if begins(&['*']) && (is_first || self.star == Some(indent)) && after_blank {
            self.star = Some(indent);
            return self.begin(BlockKind::Own, indent);
        }
        if begins(ECHO_MARKS) && indent < 4 {
            let goes_on = self.kind == BlockKind::Echo && !after_blank;
            return !goes_on && self.begin(BlockKind::Echo, indent);
        }
        let has_bar = trimmed.starts_with(BARS);
        if has_bar || trimmed.starts_with(CORNERS) || trimmed.starts_with("$ ") {
            let goes_on = self.kind == BlockKind::Tool && !after_blank;
            // A row without the bar is no part of what stands behind it.
            let indent = if has_bar { usize::MAX } else { indent };
            return !goes_on && self.begin(BlockKind::Tool, indent);
        }
        match self.kind {
            BlockKind::Own => false,
            // What a tool printed is indented further than its mark.
            BlockKind::Tool if indent > self.indent => false,
            BlockKind::Echo if !after_blank => false,
            BlockKind::Tool | BlockKind::Echo | BlockKind::Chrome => {
                let is_known = self.is_known;
                self.begin(BlockKind::Own, indent);
                self.is_known = is_known;
                is_known
            }
        }
    }

    fn begin(&mut self, kind: BlockKind, indent: usize) -> bool {
        (self.kind, self.indent, self.is_known) = (kind, indent, true);
        self.is_after_echo = false;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str, prompts: &[&str]) -> String {
        let row = |text: &str| TextRow::plain(text);
        let rows: Vec<TextRow> = text.lines().map(row).collect();
        let mut known = Prompts::default();
        for prompt in prompts {
            known.note(prompt);
        }
        let letter = |part: Part| match part.kind {
            BlockKind::Echo => 'e',
            BlockKind::Own => 'o',
            BlockKind::Tool => 't',
            BlockKind::Chrome => 'c',
        };
        let written = |(row, part): (&TextRow, Part)| (!row.text.is_empty()).then(|| letter(part));
        rows.iter().zip(classify(&rows, &known)).filter_map(written).collect()
    }

    #[test]
    fn an_echo_is_known_by_the_words_that_were_sent_whatever_its_mark() {
        let prompt = "Build it.\n\nPrint STATUS: DONE — all built";
        let answer = "● Built.\n\n  STATUS: DONE — all built";
        for echo in [
            "● Build it.\n\n  Print STATUS: DONE — all built",
            "§ Build it.\n§\n§ Print STATUS: DONE —\n§ all built",
            " Build it.\n\n Print STATUS: DONE — all built",
            "▄▄▄▄▄▄▄▄▄▄▄▄\n ❯ Build it.      03:11\n\n Print STATUS: DONE — all built\n▀▀▀▀▀▀▀▀▀▀▀▀",
        ] {
            let seen = kinds(&format!("{echo}\n\n{answer}"), &[prompt]);
            assert_eq!(seen.trim_start_matches('e'), "oo", "{echo}: {seen}");
        }
        // Its first row is out of sight.
        assert_eq!(kinds(&format!("Print STATUS: DONE\n{answer}"), &[prompt]), "eoo");
        // What the agent says again is its own.
        assert_eq!(kinds(&format!("> {prompt}\n\n{prompt}"), &[prompt]).len(), 4);
    }

    #[test]
    fn without_the_words_marks_tell() {
        assert_eq!(kinds("❯ go\n  on\n\n● Done.\n  STATUS: DONE — x", &[]), "eeoo");
        assert_eq!(kinds("> go\n\nDone.\n\nSTATUS: DONE — x", &[]), "eoo");
        assert_eq!(kinds("● Run\n  ⎿ one\n     two\n\n● Good", &[]), "otto");
        assert_eq!(kinds("  ┃ go\n  ┃ on\n\n     Done.\n", &[]), "tto");
    }
}
