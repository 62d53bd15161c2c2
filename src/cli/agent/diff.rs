//! `wheelhouse agent diff NAME`: what it has changed, by file and line.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::api::{DiffStatus, Request, Response};
use crate::cli::args::{Comparing, Format};
use crate::cli::context::Context;
use crate::cli::failure::Hinted;
use crate::cli::history::look;
use crate::cli::table::Table;
use crate::client::ClientError;
use crate::config::plain;
use crate::model::{Against, DiffFile, FileHunks};

/// Files whose hunks are asked for at once.
const BATCH: usize = 32;

pub(crate) fn diff(
    context: &mut Context,
    name: &str,
    paths: &[String],
    comparing: &Comparing,
    format: Format,
) -> anyhow::Result<()> {
    let against: Against = comparing.against.parse()?;
    let ask = |paths| Request::Diff { agent: name.to_owned(), against: against.clone(), paths };
    let Response::Diff(mut told) = context.ask(ask(Vec::new()))? else {
        return Err(ClientError::Unexpected.into());
    };
    for path in paths {
        if !told.files.iter().any(|file| lies_in(file, path)) {
            let hint = format!("List the changed files with `wheelhouse agent diff {name} --stat`");
            return Err(Hinted::error(format!("No changes in `{path}`"), hint));
        }
    }
    told.files.retain(|file| paths.is_empty() || paths.iter().any(|path| lies_in(file, path)));
    let mut wanted: Vec<String> = told.files.iter().map(|file| file.path.clone()).collect();
    let mut hunks = Vec::new();
    while !comparing.stat && !wanted.is_empty() {
        let later = wanted.split_off(wanted.len().min(BATCH));
        let Response::Hunks(read) = context.ask(ask(wanted))? else {
            return Err(ClientError::Unexpected.into());
        };
        hunks.extend(read.files);
        wanted = [read.rest, later].concat();
    }
    if format.json {
        return context.print_json(&in_json(&told, &hunks, comparing.stat));
    }
    if comparing.stat {
        return print_files(context, &told);
    }
    let has_color = look().has_color;
    for file in &told.files {
        let lines = hunks.iter().find(|hunks| hunks.path == file.path);
        print_file(&mut context.out, file, lines, has_color)?;
    }
    if told.left_out > 0 {
        let count = told.left_out;
        writeln!(context.out, "{count} more files changed; list some with `--stat PATH…`")?;
    }
    Ok(())
}

/// Says whether a file is this one, or lies in this directory.
fn lies_in(file: &DiffFile, path: &str) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let rest = file.path.strip_prefix(path);
    let is_it = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    matches!(path, "" | ".") || is_it
}

fn in_json(told: &DiffStatus, hunks: &[FileHunks], is_short: bool) -> Value {
    let mut value = json!(told);
    let files = value.get_mut("files").and_then(Value::as_array_mut);
    for file in files.into_iter().flatten().filter(|_| !is_short) {
        let lines = hunks.iter().find(|hunks| file["path"] == hunks.path.as_str());
        file["hunks"] = json!(lines.map(|lines| &lines.hunks));
        file["is_cut"] = json!(lines.is_some_and(|lines| lines.is_cut));
    }
    value
}

fn print_files(context: &mut Context, told: &DiffStatus) -> anyhow::Result<()> {
    let against = plain(&told.against.to_string());
    let commit = told.commit.as_deref().map(|commit| commit.chars().take(12).collect::<String>());
    let commit = commit.unwrap_or_else(|| "nothing committed yet".to_owned());
    let count = told.files.len() + told.left_out;
    let sum = |of: fn(&DiffFile) -> Option<u64>| told.files.iter().filter_map(of).sum::<u64>();
    let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
    let files = if count == 1 { "file" } else { "files" };
    writeln!(context.out, "{count} {files}, +{added} -{removed}, against {against} ({commit})")?;
    if told.files.is_empty() {
        return Ok(());
    }
    writeln!(context.out)?;
    let mut table = Table::new(["", "+", "-", "FILE", ""]);
    for file in &told.files {
        let number = |one: Option<u64>| one.map(|one| one.to_string()).unwrap_or_default();
        let letter = if file.is_untracked { '?' } else { file.change.letter() };
        let old = file.old_path.as_ref().map(|old| format!("{old} → ")).unwrap_or_default();
        table.push([
            letter.to_string(),
            number(file.added),
            number(file.removed),
            format!("{old}{}", file.path),
            file.note.clone().unwrap_or_default(),
        ]);
    }
    table.print(&mut context.out)?;
    Ok(())
}

/// Prints a file the way git does, with whatever could deceive a reader made visible.
fn print_file(
    out: &mut impl Write,
    file: &DiffFile,
    lines: Option<&FileHunks>,
    has_color: bool,
) -> io::Result<()> {
    let paint = |code: &str, text: &str| {
        if has_color { format!("\x1b[{code}m{text}\x1b[m") } else { text.to_owned() }
    };
    let path = plain(&file.path);
    let old = plain(file.old_path.as_ref().unwrap_or(&file.path));
    writeln!(out, "{}", paint("1", &format!("diff --git a/{old} b/{path}")))?;
    match (&file.old_mode, &file.new_mode) {
        (None, Some(mode)) => writeln!(out, "new file mode {mode}")?,
        (Some(mode), None) => writeln!(out, "deleted file mode {mode}")?,
        (Some(old), Some(new)) if old != new => writeln!(out, "old mode {old}\nnew mode {new}")?,
        (Some(_) | None, Some(_) | None) => {}
    }
    if file.old_path.is_some() {
        writeln!(out, "rename from {old}\nrename to {path}")?;
    }
    if let Some(note) = &file.note {
        writeln!(out, "({})", plain(note))?;
    }
    let Some(lines) = lines.filter(|lines| !lines.hunks.is_empty()) else { return Ok(()) };
    let name = |is_there: bool, name: String| if is_there { name } else { "/dev/null".to_owned() };
    writeln!(out, "--- {}", name(file.old_mode.is_some(), format!("a/{old}")))?;
    writeln!(out, "+++ {}", name(file.new_mode.is_some(), format!("b/{path}")))?;
    for hunk in &lines.hunks {
        writeln!(out, "{}", paint("36", &plain(&hunk.to_string())))?;
        for line in &hunk.lines {
            let text: Vec<String> = line.text.split('\t').map(plain).collect();
            let cut = if line.is_cut { "…" } else { "" };
            let text = format!("{}{}{cut}", line.sign(), text.join("\t"));
            match line.sign() {
                '+' => writeln!(out, "{}", paint("32", &text))?,
                '-' => writeln!(out, "{}", paint("31", &text))?,
                _ => writeln!(out, "{text}")?,
            }
            if line.lacks_newline {
                writeln!(out, "\\ No newline at end of file")?;
            }
        }
    }
    if lines.is_cut {
        writeln!(out, "(the rest of this file is too long to show)")?;
    }
    Ok(())
}
