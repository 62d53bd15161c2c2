//! What a played program draws: the interfaces of the real ones, as they were recorded.

use std::fmt::Write as _;

use super::played::{Asked, Played, Shape};

const COLS: usize = 100;
const ROWS: usize = 40;
/// Stands where the cursor goes.
const CURSOR: char = '\u{e000}';

/// Returns the bytes of a whole screen, with the cursor where text would go in.
pub(crate) fn draw(played: &Played) -> String {
    let mut rows: Vec<String> = Vec::new();
    if played.shape == Shape::Gemini {
        rows.extend(["Gemini CLI v0.61.0", "", "Tips for getting started:", ""].map(String::from));
    }
    for prompt in &played.conversation {
        rows.extend(echo(played.shape, prompt));
        rows.push(String::new());
    }
    match &played.asked {
        Some(asked) => rows.extend(dialog(played.shape, asked)),
        None => rows.extend(composer(played)),
    }
    let first = rows.len().saturating_sub(ROWS);
    let mut page = "\x1b[?1049h\x1b[2J\x1b[H".to_owned();
    let mut cursor = (1, 1);
    for (at, row) in rows[first..].iter().enumerate() {
        if let Some((before, _)) = row.split_once(CURSOR) {
            cursor = (at + 1, before.chars().count() + 1);
        }
        write!(page, "\x1b[{};1H{}", at + 1, row.replace(CURSOR, "")).unwrap();
    }
    write!(page, "\x1b[{};{}H", cursor.0, cursor.1).unwrap();
    page
}

fn echo(shape: Shape, prompt: &str) -> Vec<String> {
    let mark = match shape {
        Shape::Claude => "❯ ",
        Shape::Codex => "› ",
        Shape::Gemini => " > ",
        Shape::OpenCode => "  ┃  ",
        Shape::Shell => "$ ",
    };
    let gray = |row: String| format!("\x1b[48;5;237m{row}\x1b[m");
    wrapped(prompt, mark).into_iter().map(gray).collect()
}

/// Returns the lines behind a mark, broken where they would not fit. A bar goes on in all rows.
fn wrapped(text: &str, mark: &str) -> Vec<String> {
    let indent: String = mark.chars().map(|c| if c == '┃' { c } else { ' ' }).collect();
    let mut rows = Vec::new();
    for line in text.split('\n') {
        let letters: Vec<char> = line.chars().collect();
        let parts = letters.chunks(COLS - 8).map(|part| part.iter().collect());
        let parts: Vec<String> = parts.collect();
        rows.extend(if parts.is_empty() { vec![String::new()] } else { parts });
    }
    let row = |(at, row): (usize, String)| format!("{}{row}", if at == 0 { mark } else { &indent });
    rows.into_iter().enumerate().map(row).collect()
}

/// Returns what the box shows, with the cursor behind it.
fn content(played: &Played, hint: &str, placeholder: &str, mark: &str) -> Vec<String> {
    let lines = played.composer.lines().count();
    if played.composer.is_empty() {
        return vec![format!("{mark}{CURSOR}{hint}")];
    }
    if lines >= played.manners.placeholder_lines || played.composer.len() > 2000 {
        return vec![format!("{mark}{}{CURSOR}", placeholder.replace('N', &lines.to_string()))];
    }
    let mut rows = wrapped(&played.composer, mark);
    rows.last_mut().unwrap().push(CURSOR);
    rows
}

fn composer(played: &Played) -> Vec<String> {
    let is_working = played.is_working();
    let line = |c: &str| c.repeat(COLS);
    let mut rows = Vec::new();
    match played.shape {
        Shape::Claude => {
            if is_working {
                rows.extend(["✻ Baking… (2s · ↓ 38 tokens)".to_owned(), String::new()]);
            }
            rows.push(line("─"));
            rows.extend(content(played, "Try \"fix it\"", "[Pasted text #1 +N lines]", "❯ "));
            rows.push(line("─"));
            rows.push(if is_working { "  esc to interrupt" } else { "  ? for shortcuts" }.into());
        }
        Shape::Codex => {
            if is_working {
                rows.extend(["• Working (2s • esc to interrupt)".to_owned(), String::new()]);
            } else if !played.conversation.is_empty() {
                rows.extend(["  Worked for 2s • 01:31".to_owned(), String::new()]);
            }
            let hint = "Ask Codex to do anything";
            rows.extend(content(played, hint, "[Pasted Content 1234 chars]", "› "));
            rows.extend([String::new(), "  gpt-5 · /tmp".into(), "  ? for shortcuts".into()]);
        }
        Shape::Gemini => {
            if is_working {
                rows.push(" ⠹ Thinking... (esc to cancel, 4s)".to_owned());
            }
            rows.extend([line("─"), " Shift+Tab to accept edits".into(), line("▄")]);
            let hint = "  Type your message or @path/to/file";
            rows.extend(content(played, hint, "[Pasted Text: N lines]", " > "));
            rows.extend([line("▀"), " workspace (/directory)".into()]);
        }
        Shape::OpenCode => {
            if !played.conversation.is_empty() && !is_working {
                rows.extend(["     ▣  Build · Fake · 4.5s".to_owned(), String::new()]);
            }
            rows.push("  ┃".into());
            rows.extend(content(played, "Ask anything…", "[Pasted ~N lines]", "  ┃  "));
            rows.extend(["  ┃".into(), "  ┃  Build · Fake 1".into()]);
            rows.push(format!("  ╹{}", "▀".repeat(COLS - 4)));
            rows.push(if is_working { "  ⬝⬝⬝■■■■■  esc interrupt" } else { "  ctrl+p" }.into());
        }
        Shape::Shell => {}
    }
    rows
}

fn dialog(shape: Shape, asked: &Asked) -> Vec<String> {
    let Asked { about, options, mark } = asked;
    let listed = |sign: &str| -> Vec<String> {
        let row = |(at, option): (usize, &String)| {
            let sign = if at == *mark { sign } else { " " };
            format!(" {sign} {}. {option}", at + 1)
        };
        options.iter().enumerate().map(row).collect()
    };
    match shape {
        Shape::Claude => {
            let mut rows = vec!["─".repeat(COLS), " Bash command".into(), String::new()];
            rows.extend([format!("   {about}"), String::new(), " Do you want to proceed?".into()]);
            rows.extend(listed("❯"));
            rows.extend([String::new(), " Esc to cancel · Tab to amend".into()]);
            rows
        }
        Shape::Codex => {
            let mut rows = vec!["  Would you like to run the following command?".into()];
            rows.extend([String::new(), format!("  $ {about}"), String::new()]);
            rows.extend(listed("›").into_iter().map(|row| row[1..].to_owned()));
            rows.extend([String::new(), "  Press enter to confirm or esc to cancel".into()]);
            rows
        }
        Shape::Gemini => {
            let mut rows = vec![format!("╭{}╮", "─".repeat(COLS - 2))];
            let framed = |row: String| format!("│ {row:<96} │");
            rows.push(framed(format!("? Shell {about}")));
            rows.push(framed("Allow execution of [Shell]?".into()));
            rows.extend(listed("●").into_iter().map(framed));
            rows.push(format!("╰{}╯", "─".repeat(COLS - 2)));
            rows
        }
        Shape::OpenCode => {
            let shown = |(at, option): (usize, &String)| {
                let color = if at == *mark { 214 } else { 236 };
                format!("\x1b[48;5;{color}m {option} \x1b[48;5;236m")
            };
            let options: Vec<String> = options.iter().enumerate().map(shown).collect();
            vec![
                "  ┃".into(),
                "  ┃  △ Permission required".into(),
                format!("  ┃  $ {about}"),
                "  ┃".into(),
                format!("  ┃  {}\x1b[m", options.join("  ")),
                "  ┃".into(),
            ]
        }
        Shape::Shell => Vec::new(),
    }
}
