//! Checks what people read: short lines, links that lead somewhere, commands that work when pasted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::support::world::World;

const README_LINES_MAX: usize = 100;
const README_COLUMNS_MAX: usize = 120;
const COLUMNS_MAX: usize = 140;

/// Pages that are generated, or list one change a line.
const WIDE: &[&str] = &["docs/api.md", "CHANGELOG.md"];

/// Commands that no person types.
const HIDDEN: &[&str] = &["far", "hook", "watchdog", "confine", "keeper", "hub"];

/// The scripted agent is this much faster than written.
const SIM_SPEED: &str = "20";

fn pages() -> Vec<PathBuf> {
    let mut pages = vec!["README.md".into(), "CONTRIBUTING.md".into(), "CHANGELOG.md".into()];
    for folder in ["docs", "docs/decisions", "docs/internals"] {
        pages.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

/// Returns the links to other files, with what they lead to in there.
fn links(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let own = targets.map(|(target, _)| target).filter(|target| !target.contains("://"));
    own.map(|target| match target.split_once('#') {
        Some((file, heading)) => (file, Some(heading)),
        None => (target, None),
    })
}

/// Returns the names by which the headings of a page can be linked to.
fn headings(text: &str) -> Vec<String> {
    let titles = text.lines().filter(|line| line.starts_with('#'));
    let name = |title: &str| {
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        title.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect()
    };
    titles.map(|title| -> String { name(title) }).map(|name| name.replace(' ', "-")).collect()
}

#[test]
fn the_readme_is_short() {
    let text = fs::read_to_string("README.md").unwrap();
    assert!(text.lines().count() <= README_LINES_MAX, "{} lines", text.lines().count());
    let wide: Vec<&str> =
        text.lines().filter(|line| line.chars().count() > README_COLUMNS_MAX).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn no_line_is_too_wide_to_read() {
    let mut wide = Vec::new();
    for page in pages().into_iter().filter(|page| !WIDE.contains(&page.to_str().unwrap())) {
        let text = fs::read_to_string(&page).unwrap();
        let lines = text.lines().enumerate();
        let too_wide = lines.filter(|(_, line)| line.chars().count() > COLUMNS_MAX);
        wide.extend(too_wide.map(|(number, _)| format!("{}:{}", page.display(), number + 1)));
    }
    assert!(wide.is_empty(), "at most {COLUMNS_MAX} columns: {wide:#?}");
}

#[test]
fn every_link_leads_somewhere() {
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (file, heading) in links(&text) {
            let folder = page.parent().unwrap_or(Path::new(""));
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            assert!(target.exists(), "{} links to {file}, which is not there", page.display());
            if let Some(heading) = heading {
                let there = headings(&fs::read_to_string(&target).unwrap());
                let is_there = there.iter().any(|known| known == heading);
                assert!(is_there, "{} links to {file}#{heading}: {there:?}", page.display());
            }
            count += 1;
        }
    }
    assert!(count > 100, "only {count} links were found");
}

#[test]
fn every_source_file_that_the_architecture_names_is_there() {
    let mut pages = vec![PathBuf::from("docs/architecture.md")];
    pages.extend(fs::read_dir("docs/internals").unwrap().map(|entry| entry.unwrap().path()));
    let (mut missing, mut count) = (Vec::new(), 0);
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let rooms = |word: &str| word.split_once('/').is_some_and(|(room, _)| is_room(room));
        for word in text.split('`').skip(1).step_by(2).filter(|word| rooms(word)) {
            let path = Path::new("src").join(word);
            count += 1;
            if !path.exists() && !path.with_extension("rs").exists() && !has_file(&path) {
                missing.push(format!("{}: {word}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "name the files by their names of today: {missing:#?}");
    assert!(count > 50, "only {count} files are named");
}

/// Says whether the room has a file of this name, in whichever of its folders.
fn has_file(path: &Path) -> bool {
    let room: PathBuf = path.components().take(2).collect();
    let files = super::architecture::rust_files(&room);
    files.iter().any(|file| file.file_stem() == path.file_name())
}

fn is_room(word: &str) -> bool {
    Path::new("src").join(word).join("mod.rs").exists()
}

/// A fenced block of a page.
#[derive(Debug, PartialEq, Eq)]
enum Sample {
    /// Commands to run, and on which line they begin.
    Run(usize, String),
    /// A file to write.
    Write(String, String),
}

/// Returns what a page has its reader do, in order; blocks marked as `not run` are left out.
fn samples(text: &str) -> Vec<Sample> {
    let (mut found, mut mark) = (Vec::new(), None);
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(comment) = line.strip_prefix("<!-- ") {
            mark = comment.strip_suffix(" -->").map(str::to_owned);
        } else if let Some(kind) = line.strip_prefix("```") {
            let body = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
            let body = body.flat_map(|line| [line, "\n"]).collect::<String>();
            let mark = mark.take().unwrap_or_default();
            if let Some(file) = mark.strip_prefix("file: ") {
                found.push(Sample::Write(file.to_owned(), body));
            } else if kind == "sh" && !mark.starts_with("not run: ") {
                found.push(Sample::Run(number + 1, body));
            }
        } else if !line.is_empty() {
            mark = None;
        }
    }
    found
}

/// Follows a page from its beginning to its end in a project of its own.
fn follow(page: &str) {
    let text = fs::read_to_string(format!("docs/{page}.md")).unwrap();
    let samples = samples(&text);
    let is_run = |sample: &Sample| matches!(sample, Sample::Run(..));
    assert!(samples.iter().any(is_run), "{page} has no commands that run");
    let mut world = World::new();
    world.install("home/bin");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", world.path("home/bin").display());
    let variables = [("PATH", path.as_str()), ("WHEELHOUSE_SIM_SPEED", SIM_SPEED)];
    let person =
        ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
    for (name, value) in variables.into_iter().chain(person.map(|name| (name, "reader@example"))) {
        world.set_variable(name, value);
    }
    configure(&world, "");
    let begin = "git init -q -b main . && git commit -q --allow-empty -m 'Begin'";
    assert_eq!(world.shell(begin).code, Some(0));
    for sample in samples {
        match sample {
            Sample::Write(file, body) if file == "config.toml" => configure(&world, &body),
            Sample::Write(file, body) => {
                let file = world.project.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, body).unwrap();
            }
            Sample::Run(line, body) => {
                let said = world.shell(&body);
                assert_eq!(said.code, Some(0), "docs/{page}.md:{line}\n{body}\n{}", said.text());
            }
        }
    }
    world.kill_everything();
}

/// Writes the user's settings, and lets scripted agents work fast.
fn configure(world: &World, text: &str) {
    let folder = world.path("config/wheelhouse");
    fs::create_dir_all(&folder).unwrap();
    let text = format!("{text}\n[env]\npass = [\"WHEELHOUSE_SIM_SPEED\"]\n");
    fs::write(folder.join("config.toml"), text).unwrap();
}

macro_rules! followed {
    ($($test:ident $page:literal),* $(,)?) => {
        const FOLLOWED: &[&str] = &[$($page),*];
        $(#[test] fn $test() { follow($page) })*
    };
}

followed! {
    getting_started_works_when_pasted "getting-started",
    the_dashboard_page_works_when_pasted "dashboard",
    the_page_on_teams_works_when_pasted "teams",
    the_page_on_states_works_when_pasted "states",
    the_page_on_prompts_works_when_pasted "prompts",
    the_page_on_tasks_works_when_pasted "tasks",
    the_page_on_playbooks_works_when_pasted "playbooks",
    the_page_on_workspaces_works_when_pasted "workspaces",
    the_page_on_history_works_when_pasted "history",
    the_page_on_scripting_works_when_pasted "scripting",
    the_page_on_scripted_agents_works_when_pasted "sim",
    troubleshooting_works_when_pasted "troubleshooting",
}

#[test]
fn every_page_with_commands_is_followed() {
    for entry in fs::read_dir("docs").unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let Some(page) = name.strip_suffix(".md") else { continue };
        let text = fs::read_to_string(entry.path()).unwrap();
        let has_commands = samples(&text).iter().any(|sample| matches!(sample, Sample::Run(..)));
        assert_eq!(has_commands, FOLLOWED.contains(&page), "{page}: add it to `followed!`");
        let marks = text.lines().filter_map(|line| line.strip_prefix("<!-- not run: "));
        assert!(
            marks.clone().all(|reason| reason.len() > 10),
            "{page} says why a block is not run"
        );
    }
}

#[test]
fn every_command_that_a_page_names_is_there() {
    let world = World::new();
    let mut helps: BTreeMap<Vec<String>, String> = BTreeMap::new();
    let mut help = |path: &[String]| -> String {
        let ask = || {
            let words: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
            world.ok(&words)
        };
        helps.entry(path.to_vec()).or_insert_with(ask).clone()
    };
    let (mut faults, mut seen) = (Vec::new(), BTreeSet::new());
    for page in pages().into_iter().filter(|page| page != Path::new("CHANGELOG.md")) {
        let text = fs::read_to_string(&page).unwrap();
        let inline = text.split('`').skip(1).step_by(2);
        for snippet in inline.chain(text.lines()).filter(|words| words.starts_with("wheelhouse ")) {
            let mut path: Vec<String> = Vec::new();
            let before_comment = snippet.split('#').next().unwrap_or_default();
            // What stands in quotes is an argument, whatever it looks like.
            let unquoted = before_comment.split('\'').step_by(2).collect::<Vec<_>>().join("x");
            for word in unquoted.split_whitespace().skip(1) {
                let is_plain = word.chars().all(|c| c.is_ascii_lowercase());
                let known = help(&path);
                let commands = known.split("Commands:").nth(1).unwrap_or_default();
                let is_command = |line: &str| line.split_whitespace().next() == Some(word);
                if is_plain && commands.lines().any(is_command) {
                    path.push(word.to_owned());
                } else if path.is_empty() && HIDDEN.contains(&word) {
                    break;
                } else if path.is_empty() && is_plain {
                    faults.push(format!("{}: no command `{word}` in `{snippet}`", page.display()));
                    break;
                } else if word == "--" {
                    break;
                } else if let Some(flag) = word.strip_prefix("--") {
                    let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
                    let flag: String = flag.chars().take_while(is_part).collect();
                    if !known.contains(&format!("--{flag}")) {
                        faults
                            .push(format!("{}: no flag `--{flag}` in `{snippet}`", page.display()));
                    }
                }
            }
            seen.insert(path);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen.len() > 40, "only {} commands were found", seen.len());
}

#[test]
fn the_page_of_settings_is_made_from_the_example() {
    let made = settings_page(&fs::read_to_string("config.example.toml").unwrap());
    if std::env::var_os("WHEELHOUSE_WRITE").is_some() {
        fs::write("docs/configuration.md", &made).unwrap();
    }
    let there = fs::read_to_string("docs/configuration.md").unwrap_or_default();
    let hint = "run `WHEELHOUSE_WRITE=1 cargo test --test it settings_is_made` after a change";
    assert!(there == made, "docs/configuration.md is not that of config.example.toml: {hint}");
}

/// Makes the page of all settings from the example: a heading for each table, an entry for each key.
fn settings_page(example: &str) -> String {
    let mut page = "# Configuration\n\n<!-- file: config.toml -->\n```toml\n[pane]\nscrollback = 20000\n```\n\n\
        This page is made from [config.example.toml](../config.example.toml): every setting, with its default. \
        Tables with\nnames (`[cli.counter]`, `[team.numbers]`, …) show an example. `wheelhouse config check` checks \
        your files,\n`wheelhouse config show` prints what is in effect.\n"
        .to_owned();
    let (mut comment, mut entries) = (String::new(), Vec::<(Vec<String>, String)>::new());
    let (mut is_in_text, mut is_head) = (false, true);
    for line in example.lines() {
        if is_in_text {
            is_in_text = !line.ends_with("'''");
        } else if let Some(text) = line.strip_prefix("# ").filter(|_| !is_head) {
            comment.push_str(if comment.is_empty() { "" } else { " " });
            comment.push_str(text);
        } else if let Some(key) = key_of(line) {
            is_in_text = key.ends_with("'''");
            let key = if is_in_text { format!("{key}…'''") } else { key.to_owned() };
            if key.starts_with('[') {
                write_entries(&mut page, &mut entries);
                write!(page, "\n## `{key}`\n\n").unwrap();
                if !comment.is_empty() {
                    page.push_str(&wrapped(&std::mem::take(&mut comment), ""));
                    page.push('\n');
                }
            } else if let (true, Some((keys, _))) = (comment.is_empty(), entries.last_mut()) {
                keys.push(key);
            } else {
                entries.push((vec![key], std::mem::take(&mut comment)));
            }
        } else if line.is_empty() {
            is_head = false;
            comment.clear();
        }
    }
    write_entries(&mut page, &mut entries);
    page
}

/// Returns the key or the table that a line sets, also where it is commented out.
fn key_of(line: &str) -> Option<&str> {
    let line = line.strip_prefix('#').unwrap_or(line);
    let is_key = |c: char| c.is_ascii_lowercase() || c == '_';
    let is_setting = line.split_once(" = ").is_some_and(|(key, _)| key.chars().all(is_key));
    (line.starts_with('[') || is_setting).then_some(line)
}

fn write_entries(page: &mut String, entries: &mut Vec<(Vec<String>, String)>) {
    for (keys, comment) in entries.drain(..) {
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        let colon = if comment.is_empty() { "" } else { ": " };
        page.push_str(&wrapped(&format!("- {}{colon}{comment}", keys.join(", ")), "  "));
    }
}

/// Breaks a text into lines of at most 120 columns, or longer where a word is.
fn wrapped(text: &str, indent: &str) -> String {
    let (mut made, mut line) = (String::new(), String::new());
    for word in text.split(' ') {
        if !line.trim().is_empty() && line.chars().count() + word.chars().count() >= 120 {
            made.push_str(line.trim_end());
            made.push('\n');
            indent.clone_into(&mut line);
        }
        line.push_str(word);
        line.push(' ');
    }
    made + line.trim_end() + "\n"
}

#[test]
fn samples_are_found_with_their_marks() {
    let text = "<!-- file: a.toml -->\n```toml\nb = 1\n```\n\n```sh\nls\n```\n<!-- not run: no -->\n```sh\nrm\n```\n";
    let wanted = [Sample::Write("a.toml".into(), "b = 1\n".into()), Sample::Run(6, "ls\n".into())];
    assert_eq!(samples(text), wanted);
}
