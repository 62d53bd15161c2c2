//! Answers in Markdown, and how each cli draws them.

use std::fmt::Write as _;

/// A piece of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    Prose(String),
    /// Lines that are said.
    Said(Vec<String>),
    /// Lines between fences, perhaps with the name of a language.
    Fence(&'static str, &'static str, Vec<String>),
    Indented(Vec<String>),
    Quotation(Vec<String>),
    /// Items behind a mark, or numbers where there is none.
    List(Option<char>, Vec<String>),
    /// A list in the item of a list.
    Nested(Vec<String>),
    Table(Vec<String>),
    Diff(Vec<String>),
    /// A line that is all code.
    Code(String),
}

/// Returns an answer as its agent wrote it.
pub(crate) fn written(blocks: &[Block]) -> String {
    let all = |lines: &[String], before: &dyn Fn(usize) -> String, after: &str| {
        let line = |(at, line): (usize, &String)| format!("{}{line}{after}\n", before(at));
        lines.iter().enumerate().map(line).collect::<String>()
    };
    let block = |block: &Block| match block {
        Block::Prose(text) => format!("{text}\n"),
        Block::Said(lines) => all(lines, &|_| String::new(), ""),
        Block::Fence(mark, name, lines) => {
            format!("{mark}{name}\n{}{mark}\n", all(lines, &|_| String::new(), ""))
        }
        Block::Indented(lines) => all(lines, &|_| "    ".to_owned(), ""),
        Block::Quotation(lines) => all(lines, &|_| "> ".to_owned(), ""),
        Block::List(Some(mark), lines) => all(lines, &|_| format!("{mark} "), ""),
        Block::List(None, lines) => all(lines, &|at| format!("{}. ", at + 1), ""),
        Block::Nested(lines) => format!("1. so:\n{}", all(lines, &|_| "   - ".to_owned(), "")),
        Block::Table(lines) => {
            format!(
                "| line | so |\n| --- | --- |\n{}",
                all(lines, &|_| "| ".to_owned(), " | yes |")
            )
        }
        Block::Diff(lines) => {
            let sign = |at: usize| if at == 0 { "+" } else { "-" }.to_owned();
            format!("```diff\n{}```\n", all(lines, &sign, ""))
        }
        Block::Code(line) => format!("`{line}`\n"),
    };
    blocks.iter().map(block).collect::<Vec<_>>().join("\n")
}

/// The colour that code has.
const CODE: &str = "\x1b[38;5;114m";

/// A row below the mark of its message: how far it is indented, its text, and its colour.
type Drawn = (usize, String, &'static str);

/// Returns an answer as a cli draws it, below its mark; each row with its colour.
pub(crate) fn drawn(cli: &str, blocks: &[Block], cols: usize) -> Vec<String> {
    let (mark, base) = match cli {
        "claude" => ("● ", 2),
        "codex" => ("• ", 2),
        "gemini" => ("✦ ", 2),
        "opencode" => ("     ", 5),
        _ => ("", 0),
    };
    let mut rows: Vec<Drawn> = Vec::new();
    for block in blocks {
        for (indent, text, colour) in block_rows(cli, block) {
            // Tables are not wrapped.
            let width = if matches!(block, Block::Table(_)) { usize::MAX } else { cols - base - 4 };
            let wrapped = wrap(&text, width, indent).into_iter();
            rows.extend(wrapped.map(|row| (indent, row, colour)));
        }
        rows.push((0, String::new(), ""));
    }
    let place = |(at, (indent, text, colour)): (usize, Drawn)| {
        let lead = if at == 0 { mark.to_owned() } else { " ".repeat(base) };
        if text.is_empty() {
            return text;
        }
        format!("{lead}{}{colour}{text}\x1b[m", " ".repeat(indent))
    };
    rows.into_iter().enumerate().map(place).collect()
}

/// Returns the rows of one block, before they are wrapped.
fn block_rows(cli: &str, block: &Block) -> Vec<Drawn> {
    let plain = |text: String| (0, text, "");
    let all = |lines: &[String], indent: usize, sign: &str| -> Vec<Drawn> {
        lines.iter().map(|line| (indent, format!("{sign}{line}"), "")).collect()
    };
    let bullet = if cli == "codex" { "• " } else { "- " };
    match block {
        Block::Prose(text) => vec![plain(text.clone())],
        Block::Said(lines) => all(lines, 0, ""),
        Block::Fence(mark, name, lines) => code_rows(cli, mark, name, lines, ""),
        Block::Diff(lines) => {
            let sign = |at: usize| if at == 0 { '+' } else { '-' };
            let signed = |(at, line): (usize, &String)| format!("{}{line}", sign(at));
            let lines: Vec<String> = lines.iter().enumerate().map(signed).collect();
            let colour = if matches!(cli, "claude" | "codex") { CODE } else { "" };
            code_rows(cli, "```", "diff", &lines, colour)
        }
        Block::Indented(lines) => {
            all(lines, if matches!(cli, "claude" | "opencode") { 0 } else { 4 }, "")
        }
        Block::Quotation(lines) => {
            let signs = [("claude", "▎ "), ("opencode", "│ ")];
            let sign = signs.iter().find(|(name, _)| *name == cli).map_or("> ", |(_, sign)| sign);
            all(lines, 0, sign)
        }
        Block::List(Some(mark), lines) if cli == "aider" => all(lines, 0, &format!("{mark} ")),
        Block::List(Some(_), lines) => all(lines, usize::from(cli == "gemini"), bullet),
        Block::List(None, lines) => {
            let indent = usize::from(cli == "gemini");
            let item = |(at, line)| (indent, format!("{}. {line}", at + 1), "");
            lines.iter().enumerate().map(item).collect()
        }
        Block::Nested(lines) => [vec![plain("1. so:".to_owned())], all(lines, 3, bullet)].concat(),
        Block::Table(lines) => {
            let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            let cell = |line: &str| match cli {
                "codex" => format!(" {line:width$}    yes"),
                "aider" => format!("| {line} | yes |"),
                _ => format!("│ {line:width$} │ yes │"),
            };
            let cells = ["line"].into_iter().chain(lines.iter().map(String::as_str)).map(cell);
            cells.map(plain).collect()
        }
        Block::Code(line) if cli == "aider" => vec![plain(format!("`{line}`"))],
        Block::Code(line) => vec![(0, line.clone(), CODE)],
    }
}

/// Returns the rows of a block of code: aider keeps its fences, Gemini numbers its lines, the others drop both.
fn code_rows(
    cli: &str,
    mark: &str,
    name: &str,
    lines: &[String],
    colour: &'static str,
) -> Vec<Drawn> {
    let number = |at: usize| if cli == "gemini" { format!(" {} ", at + 1) } else { String::new() };
    let numbered = |(at, line)| (0, format!("{}{line}", number(at)), colour);
    let mut rows: Vec<Drawn> = lines.iter().enumerate().map(numbered).collect();
    if cli == "aider" {
        rows.insert(0, (0, format!("{mark}{name}"), ""));
        rows.push((0, mark.to_owned(), ""));
    }
    rows
}

/// Wraps at blanks.
fn wrap(text: &str, cols: usize, indent: usize) -> Vec<String> {
    if indent + text.chars().count() <= cols {
        return vec![text.to_owned()];
    }
    let lead: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut rows = vec![lead];
    for word in text.split_whitespace() {
        let row = rows.last_mut().unwrap();
        if row.trim().is_empty() {
            row.push_str(word);
        } else if indent + row.chars().count() + 1 + word.chars().count() > cols {
            rows.push(word.to_owned());
        } else {
            write!(row, " {word}").unwrap();
        }
    }
    rows
}

/// Returns the screen of a cli, perhaps with a turn on it, whose answer may be yet to come.
pub(crate) fn screen(cli: &str, turn: Option<&[String]>, is_at_work: bool, cols: usize) -> String {
    let rule = |sign: &str| sign.repeat(cols - 2);
    let answer = turn.unwrap_or_default().join("\r\n");
    let echo = turn.map_or(String::new(), |_| echo_of(cli, cols));
    let text = match cli {
        "claude" => {
            let hint = if is_at_work { "esc to interrupt" } else { "? for shortcuts" };
            let rule = rule("─");
            format!("{echo}{answer}\r\n{rule}\r\n❯ \r\n{rule}\r\n  {hint}")
        }
        "codex" => {
            let work = "• Working (1s • esc to interrupt)";
            let end = if is_at_work { work } else { "  Worked for 1s" };
            format!(
                "{echo}{answer}\r\n{end}\r\n\r\n› Ask Codex to do anything\r\n\r\n  ? for shortcuts"
            )
        }
        "gemini" => {
            let end = if is_at_work { " ⠼ Thinking... (esc to cancel, 1s)" } else { "" };
            let (upper, lower) = (rule("▄"), rule("▀"));
            format!(
                "{echo}{answer}\r\n{end}\r\n{upper}\r\n >   Type your message or @path/to/file\r\n{lower}\r\n ~/proj"
            )
        }
        "opencode" => {
            let (trailer, footer) = if is_at_work {
                ("▣  Build · Fake 1", "   ⬝⬝■■■■■■  esc interrupt")
            } else {
                ("▣  Build · Fake 1 · 1.2s", "   /project   ctrl+p commands")
            };
            let trailer = if turn.is_some() { trailer } else { "" };
            let lower = "▀".repeat(cols - 4);
            format!(
                "\r\n{echo}{answer}\r\n     {trailer}\r\n\r\n  ┃\r\n  ┃\r\n  ┃  Build · Fake 1\r\n  ╹{lower}\r\n{footer}"
            )
        }
        _ => {
            let rule = "─".repeat(cols);
            let tokens = turn.map_or("", |_| "Tokens: 636 sent, 78 received.\r\n");
            let prompt = format!("{tokens}{rule}\r\n> ");
            format!("{echo}{answer}\r\n{}", if is_at_work { "" } else { &prompt })
        }
    };
    let alternate = if cli == "opencode" { 'h' } else { 'l' };
    format!("\x1b[?1049{alternate}\x1b[2J\x1b[H{text}")
}

/// Returns a prompt as a cli shows it above its answer.
fn echo_of(cli: &str, cols: usize) -> String {
    match cli {
        "claude" => "\x1b[48;5;237m❯ Go.\x1b[K\x1b[m\r\n\r\n".to_owned(),
        "codex" => "\x1b[48;5;237m› Go.\x1b[K\x1b[m\r\n\r\n".to_owned(),
        "gemini" => {
            let (upper, lower) = ("▄".repeat(cols - 2), "▀".repeat(cols - 2));
            format!("{upper}\r\n\x1b[48;5;237m > Go.\x1b[K\x1b[m\r\n{lower}\r\n")
        }
        "opencode" => "  ┃\r\n  ┃  Go.\r\n  ┃\r\n\r\n".to_owned(),
        _ => format!("{}\r\n> Go.\r\n\r\n", "─".repeat(cols)),
    }
}
